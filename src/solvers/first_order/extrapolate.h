/* solvers/first_order/extrapolate.h - Anderson acceleration of a fixed-point map y -> h(y), safeguarded.
 *
 * With f = h - y and the differences dF, dH of the last `memory` iterations (type II, notation of Walker and Ni 2011)
 *     c = argmin |f - dF c|,    y' = h - dH c + stride (f - dF c).
 * The Gram matrix of dF is scaled to a unit diagonal, and `regular` is added to it. Columns of dF that are rounding of
 * h are omitted, and coefficients whose sizes add up to more than 1e5 are not used (c = 0).
 *
 * stride is 0 unless the differences explain next to nothing of f: |f - dF c|^2 > 0.9999 |f|^2. An iteration that
 * drifts, towards a distant solution or without end on an infeasible problem, has a constant f, which no combination of
 * differences gives. While it drifts, stride is 1, 2, 4, ..., at most 65536.
 *
 * An extrapolation that increases |f| by more than `factor` is rejected: the next point is h of the point before, the
 * plain step, and the memory is emptied.
 *
 * y may have two parts, each a vector of the problem's size. */
#ifndef TALUS_SOLVERS_FIRST_ORDER_EXTRAPOLATE_H
#define TALUS_SOLVERS_FIRST_ORDER_EXTRAPOLATE_H

#include "solvers/driver/best.h"

/* Largest numbers of stored differences and of parts of y. */
enum { TALUS_EXTRAPOLATE_MEMORY = 30, TALUS_EXTRAPOLATE_PARTS = 2 };

/* One part of y. The caller writes h = h(y) for the given y. talus_extrapolate_next may exchange y with f_prev and h
 * with h_prev, and these with df and dh: read the pointers anew after each call. */
typedef struct TalusExtrapolated {
    double *y, *h;           /* current point and its image */
    double *f_prev, *h_prev; /* h - y and h of the point before */
    double *df[TALUS_EXTRAPOLATE_MEMORY], *dh[TALUS_EXTRAPOLATE_MEMORY]; /* columns of dF and dH */
    TalusVectors memory;
} TalusExtrapolated;

typedef struct TalusExtrapolation {
    TalusExtrapolated part[TALUS_EXTRAPOLATE_PARTS];
    int parts, memory;      /* memory 0: plain iteration */
    double regular, factor; /* see above; set by the caller after talus_extrapolate_begin */
    double gram[TALUS_EXTRAPOLATE_MEMORY][TALUS_EXTRAPOLATE_MEMORY]; /* Gram matrix dF'dF */
    int count, next;             /* differences stored; index at which the next one is stored */
    double stride;               /* number of steps taken at once along a constant f */
    double last;                 /* |f| of the last accepted point */
    bool extrapolated, has_last; /* y is an extrapolation; f_prev and h_prev are set */
} TalusExtrapolation;

typedef enum TalusExtrapolateStep {
    TALUS_EXTRAPOLATE_ON,      /* y is the next point */
    TALUS_EXTRAPOLATE_BACK,    /* y is h of the point before; the memory is empty */
    TALUS_EXTRAPOLATE_EXPANDED /* |f| grew in a plain step: y is h, and the memory is empty */
} TalusExtrapolateStep;

/* Reserves the vectors and empties the memory. The caller then sets regular, factor and y. */
TalusStatus talus_extrapolate_begin(TalusExtrapolation *e, TalusSolve *solve, int parts,
                                    int memory);
/* Drops the stored differences and |f| of the last point. To be called when y was set by the caller or the map has
 * changed. */
void talus_extrapolate_empty_memory(TalusExtrapolation *e);
/* Replaces y by the next point, computed from y, h(y) and the stored differences; see TalusExtrapolateStep. */
TalusExtrapolateStep talus_extrapolate_next(TalusExtrapolation *e, TalusSolve *solve);

#endif
