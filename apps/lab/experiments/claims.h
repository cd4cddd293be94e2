/* lab/experiments/claims.h - statements of papers, each judged from results by a stated rule.
 *
 * An experiment adds its claims to its set of results, which shows them as a table; `talus reproduce` collects those of
 * all papers. A verdict is computed, never written by hand. */
#ifndef TALUS_LAB_EXPERIMENTS_CLAIMS_H
#define TALUS_LAB_EXPERIMENTS_CLAIMS_H

#include "lab/lab.h"

typedef enum ClaimVerdict {
    CLAIM_HOLDS,
    CLAIM_IN_PART,
    CLAIM_FAILS,
    CLAIM_UNJUDGED, /* a result that the rule needs is missing, or no result bears on the statement */
    CLAIM_VERDICTS
} ClaimVerdict;

typedef struct Claim {
    const char *subject;   /* case or model that the statement is about; NULL: none */
    const char *statement; /* what the paper states */
    const char *rule;      /* when the verdict is "holds" and, if it can be, "in part" */
} Claim;

/* Returns "holds", "holds in part", "does not hold" or "not judged". */
const char *claim_verdict_name(ClaimVerdict verdict);
/* Returns CLAIM_HOLDS or CLAIM_FAILS. */
ClaimVerdict claim_if(bool holds);
/* Returns CLAIM_HOLDS, CLAIM_IN_PART or CLAIM_FAILS. */
ClaimVerdict claim_if_whole(bool holds, bool in_part);
/* Returns CLAIM_UNJUDGED if fewer than `all` cases could be judged; else CLAIM_HOLDS if the statement holds in all of
 * them, CLAIM_IN_PART if in some, CLAIM_FAILS if in none. */
ClaimVerdict claim_if_all(int holding, int judged, int all);
/* Returns CLAIM_HOLDS if each value is larger than the one before, CLAIM_IN_PART if the first is the smallest, else
 * CLAIM_FAILS. */
ClaimVerdict claim_if_rising(const double *values, int count);

/* Adds a claim with its verdict and the formatted finding to set->claims. */
void claims_add(LabSet *set, const Claim *claim, ClaimVerdict verdict, const char *format, ...)
    CLI_PRINTF(4, 5);
/* Counts the claims of a set with each verdict; [CLAIM_VERDICTS]. */
void claims_count(const LabSet *set, int counts[CLAIM_VERDICTS]);

#endif
