/* base/turn.c - cosine and sine by reduction to an eighth of a turn and Taylor sums. */
#include "base/turn.h"

#include <math.h>

/* 2 pi. */
#define TURN 6.28318530717958647692

/* sin_small and cos_small: Taylor sums for |x| <= pi/4; the first omitted term is below 1e-17. */
static double sin_small(double x)
{
    double y = x * x, sum = 1.0;
    for (int n = 17; n >= 3; n -= 2)
        sum = 1.0 - y / (double)(n * (n - 1)) * sum;
    return x * sum;
}

static double cos_small(double x)
{
    double y = x * x, sum = 1.0;
    for (int n = 18; n >= 2; n -= 2)
        sum = 1.0 - y / (double)(n * (n - 1)) * sum;
    return sum;
}

void talus_cos_sin_turns(double turns, double *c, double *s)
{
    double quarters = floor(4.0 * turns + 0.5);
    double x = (turns - 0.25 * quarters) * TURN; /* the difference is exact */
    double cx = cos_small(x), sx = sin_small(x);
    int quadrant = (int)(quarters - 4.0 * floor(0.25 * quarters));
    *c = quadrant == 0 ? cx : quadrant == 1 ? -sx : quadrant == 2 ? -cx : sx;
    *s = quadrant == 0 ? sx : quadrant == 1 ? cx : quadrant == 2 ? -sx : -cx;
}
