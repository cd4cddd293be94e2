/* base/turn.h - cosine and sine of fractions of a turn, the same on every IEEE platform. */
#ifndef TALUS_BASE_TURN_H
#define TALUS_BASE_TURN_H

/* cos and sin of `turns` full turns, |turns| < 2^50, without libm: to a few last digits, exact at quarter turns. */
void talus_cos_sin_turns(double turns, double *c, double *s);

#endif
