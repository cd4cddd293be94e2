/* Cells of tables of results, and verdicts on the statements of papers. */
#ifndef TALUS_TESTS_CLAIM_CELLS_H
#define TALUS_TESTS_CLAIM_CELLS_H

#include "lab/lab.h"
#include "support/test.h"

#include <string.h>

/* Returns the cell in the row whose first cell is `name`, under the heading `column`, of the first table whose title
 * begins with `title`; "" if there is none. */
static inline const char *cell_of(const LabSet *set, const char *title, const char *name,
                                  const char *column)
{
    for (int i = 0; i < set->table_count; i++) {
        const LabTable *t = set->tables[i];
        if (strncmp(t->title, title, strlen(title)) != 0)
            continue;
        for (int c = 0; c < t->columns; c++)
            for (int k = t->columns; strcmp(t->cell[c], column) == 0 && k < t->cells;
                 k += t->columns)
                if (strcmp(t->cell[k], name) == 0)
                    return t->cell[k + c];
    }
    return "";
}

/* verdict "": the statement is not among those of the set. */
static inline void check_verdict(const LabSet *set, const char *statement, const char *verdict)
{
    if (!CHECK_STR(cell_of(set, LAB_CLAIMS_TITLE, statement, "verdict"), verdict))
        printf("  %s: %s\n", statement, cell_of(set, LAB_CLAIMS_TITLE, statement, "found"));
}

#endif
