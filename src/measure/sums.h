/* measure/sums.h - the sums of a cell, from which all fields follow (fields.c). Each is linear in bodies and contacts. */
#ifndef TALUS_MEASURE_SUMS_H
#define TALUS_MEASURE_SUMS_H

#include <talus/measure.h>

/* What a sum is spread from: centres of bodies; contact points; centres of the bodies of a contact; the lines from these
 * to the contact point; the ends of these lines, by the derivative along them. */
typedef enum TalusSumSource {
    TALUS_SPREAD_BODIES,
    TALUS_SPREAD_POINTS,
    TALUS_SPREAD_CENTRES,
    TALUS_SPREAD_LINES,
    TALUS_SPREAD_ENDS,
    TALUS_SUM_SOURCES
} TalusSumSource;

/* The sums, in the order of their sources. */
typedef enum TalusSumKind {
    TALUS_SUM_MASS,     /* m */
    TALUS_SUM_VOLUME,   /* volume of the body */
    TALUS_SUM_MOMENTUM, /* m v */
    TALUS_SUM_SPIN,     /* m w */
    TALUS_SUM_FLUX,     /* m v v: xx yy zz xy yz xz */
    TALUS_SUM_PLACE,    /* m r, with r the position from the middle of the grid */
    TALUS_SUM_EXTENT,   /* m r r: xx yy zz xy yz xz */
    TALUS_SUM_SHEAR,    /* m v r */
    TALUS_SUM_POWER,    /* power dissipated */
    TALUS_SUM_CONTACTS, /* 1 per loaded contact */
    TALUS_SUM_FABRIC,   /* n n per loaded contact */
    TALUS_SUM_BOUNDARY, /* force of the boundary */
    TALUS_SUM_FORCE,    /* force on the body, at its centre */
    TALUS_SUM_STRESS,   /* force times arm, along the arm */
    TALUS_SUM_DIVERGENCE,
    TALUS_SUMS
} TalusSumKind;

enum { TALUS_SUM_COMPONENTS = 58 }; /* of all sums */

/* Returns the number of components of a sum. */
static inline int talus_sum_components(TalusSumKind kind)
{
    static const int components[TALUS_SUMS] = {1, 1, 3, 3, 6, 3, 6, 9, 1, 1, 6, 3, 3, 9, 3};
    return components[kind];
}

static inline TalusSumSource talus_sum_source(TalusSumKind kind)
{
    return kind < TALUS_SUM_CONTACTS  ? TALUS_SPREAD_BODIES
           : kind < TALUS_SUM_FORCE   ? TALUS_SPREAD_POINTS
           : kind < TALUS_SUM_STRESS  ? TALUS_SPREAD_CENTRES
           : kind == TALUS_SUM_STRESS ? TALUS_SPREAD_LINES
                                      : TALUS_SPREAD_ENDS;
}

/* Returns the bits (1 << TALUS_SUM_...) of the sums that a field is made of. */
unsigned talus_quantity_sums(TalusQuantity quantity);
/* Computes a field from the sums of a cell: `sum` has a pointer to the components of each sum that the field needs, over
 * `count` assemblies. */
void talus_quantity_compute(TalusQuantity quantity, const double *const sum[TALUS_SUMS],
                            double count, double out[TALUS_QUANTITY_COMPONENTS]);

#endif
