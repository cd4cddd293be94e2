/* lab/experiments/pospisil_lemmas.h - Lemmas 2 and 4 of pospisil-2015, judged by random problems. */
#ifndef TALUS_LAB_EXPERIMENTS_POSPISIL_LEMMAS_H
#define TALUS_LAB_EXPERIMENTS_POSPISIL_LEMMAS_H

#include "claims.h"

/* Adds a table of small random problems and the verdicts on the two lemmas; takes well under a second. `solver`: of the
 * paper's parameters. */
TalusStatus pospisil_add_lemmas(LabSet *set, const char *solver);

#endif
