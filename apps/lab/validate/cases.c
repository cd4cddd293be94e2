/* lab/validate/cases.c - the list of cases, in the order in which they run. */
#include "validate.h"

#include <string.h>

/* Cases of one file. */
typedef struct Group {
    const ValidateCase *cases;
    const int *count;
} Group;

static const Group groups[] = {{validate_sliding, &validate_sliding_count},
                               {validate_rolling, &validate_rolling_count},
                               {validate_statics, &validate_statics_count},
                               {validate_impacts, &validate_impacts_count},
                               {validate_tops, &validate_tops_count},
                               {validate_machines, &validate_machines_count},
                               {validate_structures, &validate_structures_count},
                               {validate_packings, &validate_packings_count},
                               {validate_silos, &validate_silos_count},
                               {validate_slopes, &validate_slopes_count},
                               {validate_collapses, &validate_collapses_count},
                               {validate_shearing, &validate_shearing_count},
                               {validate_heaps, &validate_heaps_count},
                               {validate_craters, &validate_craters_count}};

int validate_case_count(void)
{
    int count = 0;
    for (int i = 0; i < LAB_COUNT(groups); i++)
        count += *groups[i].count;
    return count;
}

const ValidateCase *validate_get_case(int index)
{
    int group = 0;
    while (index >= *groups[group].count)
        index -= *groups[group++].count;
    return &groups[group].cases[index];
}

const ValidateCase *validate_find_case(const char *name)
{
    for (int i = 0; i < validate_case_count(); i++)
        if (strcmp(validate_get_case(i)->name, name) == 0)
            return validate_get_case(i);
    return NULL;
}
