/* lab/experiments/correlation.c - the correlation of two figures. */
#include "correlation.h"

#include <math.h>

void correlation_add(Correlation *c, double x, double y)
{
    c->n += 1.0;
    c->x += x;
    c->y += y;
    c->xx += x * x;
    c->xy += x * y;
    c->yy += y * y;
}

double correlation_get(const Correlation *c)
{
    double xy = c->n * c->xy - c->x * c->y;
    double xx = c->n * c->xx - c->x * c->x, yy = c->n * c->yy - c->y * c->y;
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : NAN;
}
