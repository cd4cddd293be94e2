/* lab/lab_list.c - parses lists of solvers: NAME:key=value,key=value,NAME,... */
#include "lab.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* True if the text up to the next comma is "key=value", a parameter of the solver named before it; false for "NAME" and
 * "NAME:key=value". */
static bool is_parameter(const char *text)
{
    size_t length = strcspn(text, ",");
    const char *equals = memchr(text, '=', length), *colon = memchr(text, ':', length);
    return equals && (!colon || colon > equals);
}

/* Adds a solver; if it is listed already, notes that in list->twice instead. */
static TalusStatus add_solver(LabList *list, const char *item)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->item[i], item) == 0) {
            list->twice = item;
            return TALUS_OK;
        }
    if (list->count == LAB_SOLVERS)
        return talus_reject("--solver: more than %d solvers", LAB_SOLVERS);
    list->item[list->count++] = item;
    return TALUS_OK;
}

/* Adds all solvers of this build except "auto", which only chooses among them, and except those already listed, which
 * do not count as named twice. */
static TalusStatus add_all_solvers(LabList *list)
{
    const char *twice = list->twice;
    for (int i = 0; i < talus_solver_count(); i++) {
        TalusSolverRow row = talus_solver_row(i);
        if (strcmp(row.name, "auto") != 0 && !row.missing)
            TALUS_TRY(add_solver(list, row.name));
    }
    list->twice = twice;
    return TALUS_OK;
}

/* Cuts list->text at the commas between solvers, in place, and adds each solver. */
static TalusStatus split_list(LabList *list)
{
    char *item = list->text;
    for (;;) {
        char *end = item + strcspn(item, ",");
        while (*end && is_parameter(end + 1))
            end += 1 + strcspn(end + 1, ",");
        bool last = *end == '\0';
        *end = '\0';
        if (*item == '\0')
            return talus_reject("--solver: an empty name; expected NAME[:key=value,...][,NAME...]");
        TALUS_TRY(strcmp(item, "all") == 0 ? add_all_solvers(list) : add_solver(list, item));
        if (last)
            return TALUS_OK;
        item = end + 1;
    }
}

/* Fails for a solver with a wrong name or parameter, or one too long for LabResult.solver, before anything runs. */
static TalusStatus check_solvers(const LabList *list)
{
    for (int i = 0; i < list->count; i++) {
        TalusSolver *solver;
        if (strlen(list->item[i]) >= LAB_TEXT)
            return talus_reject("--solver %.40s...: longer than %d characters", list->item[i],
                                LAB_TEXT - 1);
        TALUS_TRY(talus_solver_create(list->item[i], &solver));
        talus_solver_destroy(solver);
    }
    return TALUS_OK;
}

TalusStatus lab_list_parse(const char *text, LabList *out)
{
    size_t size = strlen(text) + 1;
    out->count = 0;
    out->twice = NULL;
    TALUS_TRY(TALUS_ALLOC(out->text, size, "list of solvers"));
    memcpy(out->text, text, size);
    TALUS_TRY(split_list(out));
    return check_solvers(out);
}

bool lab_has_solver(const char *spec)
{
    int index = talus_solver_find(spec);
    return index >= 0 && !talus_solver_row(index).missing;
}

void lab_list_clear(LabList *list)
{
    talus_release(list->text);
    list->text = NULL;
    list->count = 0;
}
