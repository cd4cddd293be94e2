/* base/turn.h - cosines and sines of parts of a turn, the same on every IEEE platform. */
#ifndef TALUS_BASE_TURN_H
#define TALUS_BASE_TURN_H

/* cos and sin of a number of full turns, to a few units in the last place without libm; multiples
 * of a quarter turn are exact. |turns| below 2^50. */
void talus_turn(double turns, double *c, double *s);

#endif
