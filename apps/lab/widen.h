/* lab/widen.h - the problem of a world's next step with more contacts than the world would detect.
 *
 * The problems of the paper petra-2009 contain every pair up to a distance epsilon. The paper does not give epsilon,
 * but it gives the number of contacts, from which epsilon follows. */
#ifndef TALUS_LAB_WIDEN_H
#define TALUS_LAB_WIDEN_H

#include "cli/cli.h"

/* Creates a world with the bodies, shapes, materials, gravity, step length, threads and default friction model of
 * `world`, its compliance, on the cpu backend and without impulses. Settings for pairs of materials, joints and motions of driven
 * bodies are not copied; all other settings, such as the tolerance, are defaults. The next step of *out has
 * as many contacts as possible up to `contacts`; *envelope receives the setting TalusWorldDef.envelope that gives them.
 * Fails, with *out NULL, if envelope 0 gives more, or envelope 128 not more. */
TalusStatus widen_world(const TalusWorld *world, int contacts, TalusWorld **out, double *envelope);

#endif
