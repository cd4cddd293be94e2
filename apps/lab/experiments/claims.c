/* lab/experiments/claims.c - the table of a paper's statements and their verdicts. */
#include "claims.h"

#include "base/status.h"

#include <stdarg.h>
#include <string.h>

enum { VERDICT_COLUMN = 1 }; /* of the table */

const char *claim_verdict_name(ClaimVerdict verdict)
{
    static const char *const names[CLAIM_VERDICTS] = {"holds", "holds in part", "does not hold",
                                                      "not judged"};
    return names[verdict];
}

ClaimVerdict claim_if(bool holds)
{
    return holds ? CLAIM_HOLDS : CLAIM_FAILS;
}

ClaimVerdict claim_if_whole(bool holds, bool in_part)
{
    return holds ? CLAIM_HOLDS : in_part ? CLAIM_IN_PART : CLAIM_FAILS;
}

ClaimVerdict claim_if_all(int holding, int judged, int all)
{
    return judged < all ? CLAIM_UNJUDGED : claim_if_whole(holding == all, holding > 0);
}

ClaimVerdict claim_if_rising(const double *values, int count)
{
    bool rising = true, first = true;
    for (int i = 1; i < count; i++) {
        rising = rising && values[i] > values[i - 1];
        first = first && values[i] > values[0];
    }
    return claim_if_whole(rising, first);
}

void claims_add(LabSet *set, const Claim *claim, ClaimVerdict verdict, const char *format, ...)
{
    char text[LAB_TEXT];
    TALUS_FORMAT(text, format);
    if (!set->claims)
        set->claims = lab_set_add_table(set, LAB_CLAIMS_TITLE, "statement\tverdict\tfound\trule");
    lab_table_add_cell(set->claims, "%s%s%s", claim->subject ? claim->subject : "",
                       claim->subject ? ": " : "", claim->statement);
    lab_table_add_cell(set->claims, "%s", claim_verdict_name(verdict));
    lab_table_add_cell(set->claims, "%s", text);
    lab_table_add_cell(set->claims, "%s", claim->rule);
}

void claims_count(const LabSet *set, int counts[CLAIM_VERDICTS])
{
    memset(counts, 0, CLAIM_VERDICTS * sizeof *counts);
    const LabTable *t = set->claims;
    for (int i = t ? t->columns : 0; t && i < t->cells; i += t->columns)
        for (int v = 0; v < CLAIM_VERDICTS; v++)
            counts[v] +=
                strcmp(t->cell[i + VERDICT_COLUMN], claim_verdict_name((ClaimVerdict)v)) == 0;
}
