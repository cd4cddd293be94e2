/* measure/axis.h - the cells of a grid along one axis, and the means of the kernel over them. */
#ifndef TALUS_MEASURE_AXIS_H
#define TALUS_MEASURE_AXIS_H

#include "measure/kernel.h"

#include <math.h>
#include <talus/math.h>

typedef struct TalusAxis {
    double lo, cell, width; /* start of the first cell; length of a cell; width w of the kernel */
    int cells;
} TalusAxis;

/* A range of cells, [first, end). */
typedef struct TalusCells {
    int first, end;
} TalusCells;

/* Returns the edge between cells i - 1 and i. */
static inline double talus_axis_edge(const TalusAxis *axis, int i)
{
    return axis->lo + i * axis->cell;
}

/* Returns the cells of the grid that kernels centred in [low, high] reach. */
static inline TalusCells talus_axis_reach(const TalusAxis *axis, double low, double high)
{
    const double first = floor((low - axis->width - axis->lo) / axis->cell);
    const double last = floor((high + axis->width - axis->lo) / axis->cell);
    return (TalusCells){(int)talus_max(0.0, talus_min(first, axis->cells)),
                        (int)talus_max(0.0, talus_min(last + 1.0, axis->cells))};
}

/* Writes the means over these cells of the kernel centred at y, 1/m. */
static inline void talus_axis_means(const TalusAxis *axis, double y, TalusCells cells, double *mean)
{
    const double scale = 1.0 / axis->width;
    double below = talus_kernel_below((talus_axis_edge(axis, cells.first) - y) * scale);
    for (int i = cells.first; i < cells.end; i++) {
        const double above = talus_kernel_below((talus_axis_edge(axis, i + 1) - y) * scale);
        mean[i] = (above - below) / axis->cell;
        below = above;
    }
}

/* Writes the means over these cells of the kernel's derivative along the axis, 1/m2: its fluxes through the two ends of
 * the cell. */
static inline void talus_axis_slopes(const TalusAxis *axis, double y, TalusCells cells,
                                     double *slope)
{
    const double scale = 1.0 / axis->width;
    double below = scale * talus_kernel((talus_axis_edge(axis, cells.first) - y) * scale);
    for (int i = cells.first; i < cells.end; i++) {
        const double above = scale * talus_kernel((talus_axis_edge(axis, i + 1) - y) * scale);
        slope[i] = (above - below) / axis->cell;
        below = above;
    }
}

#endif
