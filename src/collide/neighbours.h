/* collide/neighbours.h - a list of neighbours, kept from detection to detection: the pairs of bodies that may be in
 * contact while no body has moved or sped up much since the list was made.
 *
 * A list is made by a search of the grid in which the fat radius R_i of each body contains a skin. It has all pairs
 * with |x_a - x_b| < R_a + R_b. Later the positions are x' and the fat radii without skin r'_i. With any vector D, two
 * bodies whose fat spheres overlap now were at most
 *     r'_a + |x'_a - x_a - D| + r'_b + |x'_b - x_b - D|
 * apart. So the list contains all pairs in contact if r'_i + |x'_i - x_i - D| <= R_i for every body. D is the mean
 * motion of some bodies, if all in the grid are free, else 0: a bed may fall as a whole.
 *
 * A detection with a list that holds tests its pairs only, and finds exactly what a search of the grid finds: whether a
 * list is used, and which, changes the speed and never the result. Walls are tested as always. In periodic space there
 * are no lists. Nor is there one if it would have more than TALUS_NEIGHBOURS pairs for each body, as where many bodies
 * that a filter keeps apart are in one place. */
#ifndef TALUS_COLLIDE_NEIGHBOURS_H
#define TALUS_COLLIDE_NEIGHBOURS_H

#include "collide/broad.h"

enum { TALUS_NEIGHBOURS = 32 }; /* largest mean number of pairs for each body of the grid */

/* Bits of TalusNeighbours.role; 0: the slot is dead or its body a wall. */
enum { TALUS_ROLE_IN_GRID = 1, TALUS_ROLE_FREE = 2, TALUS_ROLE_SPHERE = 4 };

/* Prepares the grid for talus_neighbours_find: walls, fat radii. Sets *covered: true if the list contains all pairs in
 * contact; false also if a body has faulty numbers. Fails if a free body has a shape for walls only, or memory is
 * lacking. */
TalusStatus talus_neighbours_cover(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                   const TalusDetectOptions *options, bool *covered);
/* Ends the present list, which does not cover the bodies. Returns true if a new one is due now: a list that served one
 * detection only is followed by a pause. Call it once for each such detection. */
bool talus_neighbours_due(TalusBroad *broad, const TalusBodyView *bodies);
/* Ends the list, and makes none for some detections. */
void talus_neighbours_give_up(TalusBroad *broad);
/* Exchanges the pairs of the list for those of broad->run, before a search for candidates and after it: so each array
 * keeps the length that it needs. */
void talus_neighbours_exchange(TalusBroad *broad);
/* Makes a list of the candidates in broad->run, found in a grid with skin, which must be unchanged. */
TalusStatus talus_neighbours_take(TalusBroad *broad, TalusPool *pool);
/* Finds the pairs of the list that may be in contact, and the walls near bodies, and writes them to broad->run as
 * talus_broad_find or, with broad->around, as talus_broad_find_around does. Needs a list that covers the bodies. */
TalusStatus talus_neighbours_find(TalusBroad *broad, TalusPool *pool);
/* Releases the memory of the list; its pointers stay set. */
void talus_neighbours_clear(TalusNeighbours *list);

#endif
