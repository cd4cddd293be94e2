/* evaluate BED POSITIONS [--check]: how well a final state respects the contacts.
 *
 * The one judge for all engines: it sees centres only, never what an engine says of itself. Depths
 * are over the radius; the mean is over overlapping contacts, sphere on sphere and sphere on wall.
 * A body is lost when its centre has left the box through a wall or is not a number; lost bodies
 * count in nothing else. Bed height is the 95th percentile of the tops, which a few stray spheres on
 * the surface do not move; mean_z is the mean height of the centres.
 *
 * --check compares the grid's answer with that of all pairs. */
#include "bed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Overlaps {
    long count;
    double sum, max; /* metres */
} Overlaps;

/* Cells of one diameter. Indices are clamped, so that a body far above the bed costs no memory;
 * clamping is monotone, hence touching bodies stay in neighbouring cells. */
typedef struct Grid {
    int nx, nz;
    double size, half_width;
    int *first; /* cells + 1: where each cell's bodies start in order */
    int *order;
} Grid;

static void add_overlap(Overlaps *overlaps, double depth)
{
    if (!(depth > 0))
        return;
    overlaps->count++;
    overlaps->sum += depth;
    overlaps->max = fmax(overlaps->max, depth);
}

static int is_lost(const Bed *bed, const double *p)
{
    double w = bed->half_width;
    return !(isfinite(p[2]) && p[2] > 0 && fabs(p[0]) < w && fabs(p[1]) < w);
}

/* Moves the bodies that are still there to the front and returns their number. */
static int drop_lost(const Bed *bed, double *x)
{
    int kept = 0;
    for (int i = 0; i < bed->n; i++)
        if (!is_lost(bed, x + 3 * i))
            memmove(x + 3 * kept++, x + 3 * i, 3 * sizeof(double));
    return kept;
}

static void wall_overlaps(const Bed *bed, int n, const double *x, Overlaps *overlaps)
{
    double reach = bed->half_width - bed->radius;
    for (int i = 0; i < n; i++) {
        add_overlap(overlaps, bed->radius - x[3 * i + 2]);
        for (int k = 0; k < 2; k++)
            add_overlap(overlaps, fabs(x[3 * i + k]) - reach); /* opposite walls: one at a time */
    }
}

static void pair_overlap(const double *a, const double *b, double radius, Overlaps *overlaps)
{
    double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    add_overlap(overlaps, 2 * radius - sqrt(dx * dx + dy * dy + dz * dz));
}

static void all_pairs(double radius, int n, const double *x, Overlaps *overlaps)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            pair_overlap(x + 3 * i, x + 3 * j, radius, overlaps);
}

static int clamp(double value, int limit)
{
    return value < 0 ? 0 : value >= limit ? limit - 1 : (int)value;
}

static int cell_index(const Grid *grid, int ix, int iy, int iz)
{
    return (iz * grid->nx + iy) * grid->nx + ix;
}

static void cell_of(const Grid *grid, const double *p, int cell[3])
{
    cell[0] = clamp((p[0] + grid->half_width) / grid->size, grid->nx);
    cell[1] = clamp((p[1] + grid->half_width) / grid->size, grid->nx);
    cell[2] = clamp(p[2] / grid->size, grid->nz);
}

static int body_cell(const Grid *grid, const double *p)
{
    int cell[3];
    cell_of(grid, p, cell);
    return cell_index(grid, cell[0], cell[1], cell[2]);
}

static void grid_free(Grid *grid)
{
    free(grid->first);
    free(grid->order);
}

/* A counting sort of the bodies by cell. */
static int grid_build(Grid *grid, const Bed *bed, int n, const double *x)
{
    grid->size = 2 * bed->radius;
    grid->half_width = bed->half_width;
    grid->nx = (int)(2 * bed->half_width / grid->size) + 1;
    grid->nz = 4 + 4 * n / (grid->nx * grid->nx);
    int cells = grid->nx * grid->nx * grid->nz;
    grid->first = calloc((size_t)cells + 2, sizeof(int));
    grid->order = calloc((size_t)n + 1, sizeof(int));
    if (!grid->first || !grid->order) {
        grid_free(grid);
        return 0;
    }
    int *next = grid->first + 1; /* filling advances next[c] to the start of cell c + 1 */
    for (int i = 0; i < n; i++)
        next[body_cell(grid, x + 3 * i) + 1]++;
    for (int c = 0; c < cells; c++)
        next[c + 1] += next[c];
    for (int i = 0; i < n; i++)
        grid->order[next[body_cell(grid, x + 3 * i)]++] = i;
    return 1;
}

static void cell_overlaps(const Grid *grid, const double *x, int i, int cell, double radius,
                          Overlaps *overlaps)
{
    for (int k = grid->first[cell]; k < grid->first[cell + 1]; k++)
        if (grid->order[k] < i)
            pair_overlap(x + 3 * i, x + 3 * grid->order[k], radius, overlaps);
}

static void body_overlaps(const Grid *grid, const double *x, int i, double radius,
                          Overlaps *overlaps)
{
    int c[3];
    cell_of(grid, x + 3 * i, c);
    for (int iz = c[2] - 1; iz <= c[2] + 1; iz++)
        for (int iy = c[1] - 1; iy <= c[1] + 1; iy++)
            for (int ix = c[0] - 1; ix <= c[0] + 1; ix++)
                if (ix >= 0 && iy >= 0 && iz >= 0 && ix < grid->nx && iy < grid->nx &&
                    iz < grid->nz)
                    cell_overlaps(grid, x, i, cell_index(grid, ix, iy, iz), radius, overlaps);
}

static int grid_pairs(const Bed *bed, int n, const double *x, Overlaps *overlaps)
{
    Grid grid;
    if (!grid_build(&grid, bed, n, x))
        return 0;
    for (int i = 0; i < n; i++)
        body_overlaps(&grid, x, i, bed->radius, overlaps);
    grid_free(&grid);
    return 1;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts z in place. */
static void heights(int n, double *z, double *mean, double *percentile95)
{
    *mean = *percentile95 = 0;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++)
        *mean += z[i] / n;
    qsort(z, (size_t)n, sizeof *z, compare_doubles);
    *percentile95 = z[(int)(0.95 * (n - 1))];
}

static int same_as_all_pairs(const Bed *bed, int n, const double *x, const Overlaps *found)
{
    Overlaps all = {0, 0, 0};
    wall_overlaps(bed, n, x, &all);
    all_pairs(bed->radius, n, x, &all);
    return all.count == found->count && all.max == found->max &&
           fabs(all.sum - found->sum) <= 1e-12 * all.sum;
}

/* z is scratch space for n heights. */
static int evaluate(const Bed *bed, double *x, double *z, int check)
{
    int n = drop_lost(bed, x);
    Overlaps overlaps = {0, 0, 0};
    wall_overlaps(bed, n, x, &overlaps);
    if (!grid_pairs(bed, n, x, &overlaps))
        return 1;
    if (check && !same_as_all_pairs(bed, n, x, &overlaps)) {
        fprintf(stderr, "evaluate: grid and all pairs disagree\n");
        return 1;
    }
    double mean_z, top;
    for (int i = 0; i < n; i++)
        z[i] = x[3 * i + 2];
    heights(n, z, &mean_z, &top);
    double mean = overlaps.count ? overlaps.sum / (double)overlaps.count : 0;
    printf("n=%d lost=%d overlaps=%ld pen_mean=%.4e pen_max=%.4e height=%.5f mean_z=%.5f\n", bed->n,
           bed->n - n, overlaps.count, mean / bed->radius, overlaps.max / bed->radius,
           top + bed->radius, mean_z);
    return 0;
}

int main(int argc, char **argv)
{
    int check = argc == 4 && strcmp(argv[3], "--check") == 0;
    if (argc != 3 + check) {
        fprintf(stderr, "usage: evaluate BED POSITIONS [--check]\n");
        return 2;
    }
    Bed bed;
    if (!bed_read(argv[1], &bed))
        return 1;
    double *x = malloc(3 * sizeof(double) * (size_t)bed.n);
    double *z = malloc(sizeof(double) * (size_t)bed.n);
    int status = 1;
    if (x && z && positions_read(argv[2], bed.n, x))
        status = evaluate(&bed, x, z, check);
    free(x);
    free(z);
    bed_free(&bed);
    return status;
}
