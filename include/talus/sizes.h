/* talus/sizes.h - distributions of the sizes of bodies: definition and random numbers.
 *
 * A size is the radius of a sphere, or the scale of a shape: mass grows as its cube. Drawn sizes have the same bits on
 * every platform. Number i depends on the seed and on i alone, so that any piece of a sequence can be drawn by itself. */
#ifndef TALUS_SIZES_H
#define TALUS_SIZES_H

#include <talus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TalusSizeKind {
    TALUS_SIZES_UNIFORM,   /* from min to max */
    TALUS_SIZES_NORMAL,    /* mean, deviation */
    TALUS_SIZES_LOGNORMAL, /* median; deviation of the natural logarithm of the size */
    TALUS_SIZES_WEIBULL, /* share below r: 1 - exp(-(r / scale)^exponent); by mass: Rosin-Rammler */
    TALUS_SIZES_SIEVE,   /* a table of sieves */
    TALUS_SIZES_KINDS
} TalusSizeKind;

/* NORMAL, LOGNORMAL and WEIBULL are cut off below `min` and above `max`, and the rest is drawn in the same proportions.
 * Where min or max is 0, the smallest or the largest thousandth is cut off. */
typedef struct TalusSizeDef {
    uint32_t cookie; /* set by talus_size_def_default, not in a zeroed struct */
    TalusSizeKind kind;
    bool by_mass;    /* shares are of the mass of all bodies; false: of their number */
    double min, max; /* UNIFORM: 0 < min <= max; not of SIEVE */
    double mean, median, deviation, scale, exponent;
    /* SIEVE: sieve_count pairs (size, share of what is smaller), at least 2. Sizes ascend; shares go from 0 to 1 and never
     * fall. Between two sieves, shares grow in proportion to size. */
    const double *sieve;
    int sieve_count;
} TalusSizeDef;

/* Returns a def of kind UNIFORM, by number, whose numbers are 0. */
TALUS_API TalusSizeDef talus_size_def_default(void);

/* What is drawn. */
typedef struct TalusSizeRange {
    double min, max; /* smallest and largest size */
    double mean;     /* mean size of a body */
    double
        mean_cube; /* mean of the cube of a body's size: its mean mass is density times shape's volume times this */
} TalusSizeRange;

/* Fails with TALUS_ERR_ARGUMENT if the def is no distribution of sizes above 0. */
TALUS_API TalusStatus talus_sizes_range(const TalusSizeDef *def, TalusSizeRange *range);
/* Draws `count` sizes from number `first` on. */
TALUS_API TalusStatus talus_sizes_draw(const TalusSizeDef *def, uint64_t seed, int64_t first,
                                       int64_t count, double *out);

#ifdef __cplusplus
}
#endif

#endif
