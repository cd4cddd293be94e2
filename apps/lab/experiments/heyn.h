/* lab/experiments/heyn.h - shared by heyn.c (the experiments), heyn_claims.c (the statements of heyn-2 and heyn-3),
 * heyn_figures.c (the paper's figures) and heyn_faces.c (the equations of faces). */
#ifndef TALUS_LAB_EXPERIMENTS_HEYN_H
#define TALUS_LAB_EXPERIMENTS_HEYN_H

#include "experiment.h"

/* ---- heyn_faces.c ---- */

/* Adds to heyn-1 a table and a statement on how accurately the factors of GPMINRES-P solve the equations of faces that
 * the solver (NAME[:key=value,...]) meets on the first problem; a note, if that fails. All iterations are
 * divided by `divisor`. Leaves the impulses of the last of these runs in the problem. */
void heyn_add_faces(LabSet *set, const char *solver, int divisor);

/* ---- heyn_claims.c ---- */

/* What a rule finds: the verdict, and the figures behind it in words. */
typedef struct HeynFinding {
    ClaimVerdict verdict;
    char text[LAB_TEXT];
} HeynFinding;

HeynFinding heyn_make_finding(ClaimVerdict verdict, const char *format, ...) CLI_PRINTF(2, 3);
/* Returns the finding that a run is missing: not judged. */
HeynFinding heyn_find_missing_run(void);
/* Adds a claim judged by the paper's parameters, with what ours give. */
void heyn_add_claim(LabSet *set, const Claim *claim, const HeynFinding *paper,
                    const HeynFinding *ours);

/* Adds the paper's statements on the beds of heyn-2 and of heyn-3. All iterations were divided by `divisor`. */
void heyn_add_bed_claims(LabSet *set, int divisor);
void heyn_add_mass_claims(LabSet *set, int divisor);

/* ---- heyn_figures.c ---- */

/* Iterations that tables and statements show. */
enum { HEYN_MARKS = 5 };
extern const int heyn_marks[HEYN_MARKS];

/* Returns the row of the trace with the iterate that the solver would return after this iteration: of spg the one of
 * smallest residual (24) so far, as P-SPG-FB returns its best iterate; of others the last. */
const double *heyn_find_returned_row(const LabResult *r, int iteration);
/* Returns the gap: objective at an iteration minus the optimum `best`, over the optimum's magnitude. */
double heyn_get_gap(const LabResult *r, int iteration, double best);
/* Returns the iterations until the gap of the objective from the optimum `best` is at most `gap`; INFINITY: never. */
double heyn_count_iterations_to(const LabResult *r, double best, double gap);
/* Returns the maximum change of the number of open contacts from one row of the trace to the next, after iteration
 * 10. */
double heyn_find_largest_jump(const LabResult *r);
/* Returns the first iteration of the trace from which on the number of open contacts stays within 1 % of that at the
 * end. */
double heyn_find_settled_iteration(const LabResult *r);

/* Figures of the paper, named `figure`, with a curve for each label that has a result on the problem, the first if none
 * is named. Those over iterations are of the iterate that heyn_find_returned_row returns. */
LabFigure *heyn_add_gap_figure(LabSet *set, int problem, const char *figure,
                               const char *const *labels, int count);
void heyn_add_residual_figure(LabSet *set, int problem, const char *figure,
                              const char *const *labels, int count);
void heyn_add_active_figure(LabSet *set, int problem, const char *const *labels, int count);
LabFigure *heyn_add_impulse_figure(LabSet *set, const char *const *labels, int count);
void heyn_add_complementarity_figure(LabSet *set, const char *const *labels, int count);

#endif
