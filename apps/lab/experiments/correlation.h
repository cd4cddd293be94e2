/* lab/experiments/correlation.h - the correlation of two figures, point by point. */
#ifndef TALUS_LAB_EXPERIMENTS_CORRELATION_H
#define TALUS_LAB_EXPERIMENTS_CORRELATION_H

/* Sums over points (x, y); all zeros: none. */
typedef struct Correlation {
    double n, x, y, xx, xy, yy;
} Correlation;

void correlation_add(Correlation *c, double x, double y);
/* Returns the correlation of x and y; NAN if one of them does not vary. */
double correlation_get(const Correlation *c);

#endif
