/* lab/widen.h - the problem of a world's next step with more contacts than the world would watch.
 *
 * petra-2009 takes every pair up to a distance epsilon into its problems, which it does not give; the
 * number of contacts, which it does, tells how large it was. */
#ifndef TALUS_CLI_WIDEN_H
#define TALUS_CLI_WIDEN_H

#include "cli/cli.h"

/* A world with the bodies, materials, gravity, step and friction of `world`, on the cpu backend, whose next
 * step has as many contacts as can be had without exceeding `contacts`; *envelope is what that takes, as a
 * share of a body's size. Impulses start from zero. What is set for pairs of materials is not taken over. */
TalusStatus widen_world(const TalusWorld *world, int contacts, TalusWorld **out, double *envelope);

#endif
