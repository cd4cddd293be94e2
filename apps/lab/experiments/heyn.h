/* lab/experiments/heyn.h - shared by heyn.c (the experiments), heyn_figures.c (the paper's figures) and heyn_faces.c (the
 * equations of faces). */
#ifndef TALUS_LAB_EXPERIMENTS_HEYN_H
#define TALUS_LAB_EXPERIMENTS_HEYN_H

#include "experiment.h"

/* Adds to heyn-1 a table and a statement on how accurately the factors of GPMINRES-P solve the equations of faces that
 * the solver (NAME[:key=value,...]) meets on the first problem; a note, if that fails. All iterations are
 * divided by `divisor`. Leaves the impulses of the last of these runs in the problem. */
void heyn_add_faces(LabSet *set, const char *solver, int divisor);

/* Returns the row of the trace with the iterate that the solver would return after this iteration: of spg the one of
 * smallest residual (24) so far, as P-SPG-FB returns its best iterate; of others the last. */
const double *heyn_find_returned_row(const LabResult *r, int iteration);
/* Returns the gap: objective at an iteration minus the optimum `best`, over the optimum's magnitude. */
double heyn_get_gap(const LabResult *r, int iteration, double best);

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
