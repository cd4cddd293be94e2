/* lab/experiments/heyn.h - shared by heyn.c (the experiments) and heyn_faces.c (the equations of faces). */
#ifndef TALUS_CLI_HEYN_H
#define TALUS_CLI_HEYN_H

#include "experiment.h"

/* Adds to heyn-1 a table and a statement on how accurately the factors of GPMINRES-P solve the equations of faces that
 * the solver (NAME[:key=value,...]) meets on the first problem; a note, if that fails. All iterations are
 * divided by `divisor`. Leaves the impulses of the last of these runs in the problem. */
void heyn_add_faces(LabSet *set, const char *solver, int divisor);

#endif
