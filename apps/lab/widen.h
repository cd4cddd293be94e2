/* lab/widen.h - the problem of a world's next step with more contacts than the world would detect.
 *
 * The problems of the paper petra-2009 contain every pair up to a distance epsilon. The paper does not give epsilon,
 * but it gives the number of contacts, from which epsilon follows. */
#ifndef TALUS_CLI_WIDEN_H
#define TALUS_CLI_WIDEN_H

#include "cli/cli.h"

/* Creates a world with the bodies, materials, gravity, step and friction of `world`, on the cpu backend. Its next
 * step has as many contacts as possible up to `contacts`; *envelope receives the largest gap of a contact for that,
 * relative to a body's size. Impulses start from zero. Settings for pairs of materials are not copied. */
TalusStatus widen_world(const TalusWorld *world, int contacts, TalusWorld **out, double *envelope);

#endif
