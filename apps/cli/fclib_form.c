/* fclib_form.c - prints in which form of FCLIB, global or local, a problem was written. */
#include "cli.h"

/* Returns 0 for a problem given by a matrix, or if the problem cannot be exported. */
static int count_compliant_contacts(TalusProblem *problem)
{
    TalusProblemDef def;
    int count = 0;
    if (talus_problem_export(problem, &def) != TALUS_OK)
        return 0;
    for (int i = 0; def.contacts && i < def.contact_count; i++)
        count += def.contacts[i].compliance > 0.0;
    return count;
}

void cli_print_fclib_form(FILE *out, const char *prefix, const char *path, const TalusFclib *fclib,
                          TalusProblem *problem)
{
    int compliant = count_compliant_contacts(problem);
    fprintf(out, "%s%s: FCLIB's %s form: ", prefix, path, fclib->global ? "global" : "local");
    if (fclib->global)
        fprintf(out, "%d degrees of freedom\n", talus_fclib_dofs(fclib));
    else
        fprintf(out, "W of %d rows and %d entries\n", fclib->W.rows, fclib->W.start[fclib->W.rows]);
    if (compliant > 0)
        fprintf(out,
                "%s%s: W contains the compliance of %d contact%s, for which the global form has no "
                "place\n",
                prefix, path, compliant, compliant == 1 ? "" : "s");
}
