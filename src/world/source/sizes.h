/* world/source/sizes.h - distributions of sizes as curves of classes, and sizes drawn from them.
 *
 * A curve is that of a sieve analysis: edges of classes, and the share of bodies, by number, below each edge. Within a
 * class equal widths hold equal numbers of bodies or, by mass, equal masses. A uniform distribution is one class, a table
 * of sieves its own; another distribution is cut into many, with its own shares at all edges. */
#ifndef TALUS_WORLD_SOURCE_SIZES_H
#define TALUS_WORLD_SOURCE_SIZES_H

#include <talus/sizes.h>

typedef struct TalusSizeCurve {
    bool by_mass;
    int classes;
    double *edge;  /* [classes + 1], ascending */
    double *below; /* [classes + 1]: from 0 to 1, never falling; in the same block as `edge` */
} TalusSizeCurve;

/* Makes the curve of a distribution, to be cleared. On failure, also of the def's numbers, *curve is empty. */
TalusStatus talus_size_curve_make(const TalusSizeDef *def, TalusSizeCurve *curve);
void talus_size_curve_clear(TalusSizeCurve *curve);
/* Returns the size below which the share u of the bodies lies, 0 <= u < 1. */
double talus_size_curve_quantile(const TalusSizeCurve *curve, double u);
TalusSizeRange talus_size_curve_range(const TalusSizeCurve *curve);
/* Draws `count` sizes from number `first` on. */
void talus_size_curve_draw(const TalusSizeCurve *curve, uint64_t seed, int64_t first, int64_t count,
                           double *out);

#endif
