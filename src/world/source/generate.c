/* world/source/generate.c - the generators of world/source/generate.h. */
#include "world/source/generate.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#define TURN 6.28318530717958647692 /* 2 pi, rad */

/* ---- rotations ---- */

/* q = (1 + z.n, z x n) normalised, with n the unit direction; for n = -z half a turn about x. */
TalusQuat talus_quat_from_z(TalusVec3 direction)
{
    TalusVec3 n = talus_normalize(direction, talus_vec3(0, 0, 1));
    TalusQuat half = {1.0 + n.z, -n.y, n.x, 0.0};
    if (half.w * half.w + n.x * n.x + n.y * n.y == 0.0) {
        TalusQuat down = {0.0, 1.0, 0.0, 0.0};
        return down;
    }
    return talus_quat_normalize(half);
}

TalusQuat talus_quat_about(TalusVec3 axis, double turns)
{
    double c, s;
    talus_cos_sin_turns(0.5 * turns, &c, &s);
    TalusVec3 v = talus_scale(s, talus_normalize(axis, talus_vec3(0, 0, 1)));
    TalusQuat q = {c, v.x, v.y, v.z};
    return q;
}

/* ---- lattice ---- */

/* Returns a random number, uniform in [-1, 1). */
static double random_shift(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

/* Returns the middle of a cell of the lattice. */
static TalusVec3 cell_middle(const TalusLattice *l, int64_t cell)
{
    int64_t ix = cell % l->cells[0], iy = cell / l->cells[0] % l->cells[1];
    int64_t iz = cell / l->cells[0] / l->cells[1];
    return talus_vec3(l->lo.x + l->spacing.x * ((double)ix + 0.5),
                      l->lo.y + l->spacing.y * ((double)iy + 0.5),
                      l->lo.z + l->spacing.z * ((double)iz + 0.5));
}

void talus_generate_lattice(const TalusLattice *l, int64_t first, int64_t count, TalusVec3 *out)
{
    TalusRng rng = talus_rng_from_seed(l->seed);
    TalusVec3 shift_range =
        talus_scale(l->jitter, talus_madd(talus_scale(0.5, l->spacing), -1, l->half));
    talus_rng_skip(&rng, 3 * (uint64_t)first); /* drawn only with jitter, when they matter */
    for (int64_t i = 0; i < count; i++) {
        out[i] = cell_middle(l, first + i);
        if (l->jitter > 0.0) {
            out[i].x += shift_range.x * random_shift(&rng);
            out[i].y += shift_range.y * random_shift(&rng);
            out[i].z += shift_range.z * random_shift(&rng);
        }
    }
}

/* ---- layers ---- */

/* Returns the largest number of bodies on the k-th circle (radius k spacings) with chords of at least one spacing; 1 in
 * the middle (k = 0). */
static int64_t circle_capacity(int64_t k)
{
    if (k == 0)
        return 1;
    int64_t n = (int64_t)(TURN * (double)k);
    double c, s;
    do {
        talus_cos_sin_turns(0.5 / (double)n, &c, &s);
    } while (2.0 * (double)k * s < 1.0 - 1e-14 && --n > 1); /* 1e-14 keeps six for k = 1 */
    return n;
}

/* Returns the number of rows, a spacing apart, on a length of `reach` spacings; 0 if that is negative. At most 65,536:
 * then a layer has more positions than an int counts. */
static int64_t count_rows(double reach)
{
    return reach >= 0.0 ? (int64_t)(reach < 65535.0 ? reach : 65535.0) + 1 : 0;
}

/* Returns the number of circles of a layer, the middle point included. */
static int64_t count_circles(const TalusLayers *l)
{
    return count_rows((l->radius - l->size) / l->spacing);
}

/* Returns the number of columns of a grid: centres lie a spacing apart from -(half - size) to half - size. */
static int64_t count_columns(const TalusLayers *l, int axis)
{
    return count_rows(2.0 * (l->half[axis] - l->size) / l->spacing * (1.0 + 1e-12));
}

/* Returns the number of positions in one layer. */
static int64_t layer_capacity(const TalusLayers *l)
{
    if (l->radius <= 0.0)
        return count_columns(l, 0) * count_columns(l, 1);
    int64_t places = 0;
    for (int64_t k = 0; k < count_circles(l); k++)
        places += circle_capacity(k);
    return places;
}

int64_t talus_layers_capacity(const TalusLayers *l, int64_t repeat)
{
    int64_t places = layer_capacity(l);
    return places > 0 && repeat > INT64_MAX / places ? INT64_MAX : places * repeat;
}

typedef struct LayerWriter {
    const TalusLayers *layers;
    TalusRng rng;
    int64_t skip;        /* positions of the layer still to pass over */
    int64_t count, used; /* positions to write; positions written so far */
    double z;            /* height of the layer's middle above layers->bottom */
    TalusVec3 *out;      /* [count] */
} LayerWriter;

/* Returns how many of the next `places` positions are passed over, and counts them as passed. */
static int64_t pass_over(LayerWriter *w, int64_t places)
{
    int64_t passed = w->skip < places ? w->skip : places;
    w->skip -= passed;
    return passed;
}

/* Writes the position (x, y) of the layer, with jitter: neighbours move by at most half the gap between them, so they
 * never meet. A horizontal shift that would leave the region is left out. */
static void put_position(LayerWriter *w, double x, double y)
{
    const TalusLayers *l = w->layers;
    double across = l->jitter * 0.5 * (l->spacing - 2.0 * l->size);
    double up = l->jitter * 0.5 * (l->rise - 2.0 * l->height), z = w->z;
    if (l->jitter > 0.0) {
        double c, s, turn = talus_rng_uniform(&w->rng), reach = talus_rng_uniform(&w->rng);
        talus_cos_sin_turns(turn, &c, &s);
        TalusVec3 to = talus_vec3(x + across * reach * c, y + across * reach * s, 0.0);
        bool inside = l->radius > 0.0 ? talus_norm(to) <= l->radius - l->size
                                      : fabs(to.x) <= l->half[0] - l->size &&
                                            fabs(to.y) <= l->half[1] - l->size;
        if (inside) {
            x = to.x;
            y = to.y;
        }
        z += up * random_shift(&w->rng);
    }
    w->out[w->used++] = talus_add(l->bottom, talus_vec3(x, y, z));
}

/* Writes the positions of a layer of circles, at most until w->count is reached. */
static void put_circles(LayerWriter *w, int64_t layer)
{
    const TalusLayers *l = w->layers;
    for (int64_t k = 0; k < count_circles(l) && w->used < w->count; k++) {
        int64_t n = circle_capacity(k);
        for (int64_t i = pass_over(w, n); i < n && w->used < w->count; i++) {
            double c, s, r = (double)k * l->spacing;
            talus_cos_sin_turns(((double)i + (layer % 2 ? 0.5 : 0.0)) / (double)n, &c, &s);
            put_position(w, r * c, r * s);
        }
    }
}

/* Writes the positions of a layer of a grid, at most until w->count is reached. */
static void put_grid(LayerWriter *w)
{
    const TalusLayers *l = w->layers;
    int64_t nx = count_columns(l, 0), ny = count_columns(l, 1);
    for (int64_t j = 0; j < ny && w->used < w->count; j++)
        for (int64_t i = pass_over(w, nx); i < nx && w->used < w->count; i++)
            put_position(w, l->spacing * ((double)i - 0.5 * (double)(nx - 1)),
                         l->spacing * ((double)j - 0.5 * (double)(ny - 1)));
}

void talus_generate_layers(const TalusLayers *l, int64_t first, int64_t count, TalusVec3 *out)
{
    const int64_t places = layer_capacity(l);
    LayerWriter w = {.layers = l,
                     .rng = talus_rng_from_seed(l->seed),
                     .skip = first % places,
                     .count = count,
                     .out = out};
    talus_rng_skip(&w.rng, 3 * (uint64_t)first); /* drawn only with jitter, when they matter */
    for (int64_t layer = first / places; w.used < count; layer++) {
        w.z = l->rise * ((double)layer + 0.5);
        if (l->radius > 0.0)
            put_circles(&w, layer);
        else
            put_grid(&w);
    }
}

/* ---- fill ---- */

const int talus_fill_tries = 10000;

/* Linked lists of spheres by grid cell. A cell is at least as wide as the largest diameter, so that spheres that
 * overlap a sphere have their centres in its own or the 26 neighbouring cells. */
typedef struct FillGrid {
    TalusVec3 lo;
    double width;  /* of a cell, m */
    int64_t n[3];  /* cells along each axis */
    int64_t *head; /* by cell: 1 + index of its first sphere; 0: none */
    int64_t *next; /* by sphere: 1 + index of the next one in its cell; 0: none */
} FillGrid;

/* Returns the index, along one axis, of the cell that contains x, at least 0 and below n. */
static int64_t cell_index(double x, double lo, double width, int64_t n)
{
    int64_t i = (int64_t)((x - lo) / width);
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Sets lo, width and n of the grid over the region, of extents `size`. Cells are at least 2 `largest` wide and are
 * widened until there are at most 4 per body and 64 more, however small the bodies are in their region. */
static void size_grid(FillGrid *grid, const TalusFill *fill, TalusVec3 size, int64_t count,
                      double largest)
{
    grid->lo = fill->radius > 0.0 ? talus_sub(fill->lo, talus_vec3(fill->radius, fill->radius, 0.0))
                                  : fill->lo;
    grid->width = 2.0 * largest;
    for (;; grid->width *= 1.5) {
        double sides[3] = {size.x, size.y, size.z}, total = 1.0;
        for (int k = 0; k < 3; k++) {
            double n = floor(sides[k] / grid->width);
            grid->n[k] = n < 1.0 ? 1 : n < 1e6 ? (int64_t)n : 1000000;
            total *= n < 1.0 ? 1.0 : n;
        }
        if (!(total > 4.0 * (double)count + 64.0))
            return;
    }
}

/* True if a sphere of radius r at p overlaps none of the spheres in the grid; x and radius: of those spheres. */
static bool is_position_free(const FillGrid *g, TalusVec3 p, double r, const TalusVec3 *x,
                             const double *radius)
{
    int64_t c[3] = {cell_index(p.x, g->lo.x, g->width, g->n[0]),
                    cell_index(p.y, g->lo.y, g->width, g->n[1]),
                    cell_index(p.z, g->lo.z, g->width, g->n[2])};
    for (int64_t k = c[2] > 0 ? c[2] - 1 : 0; k <= c[2] + 1 && k < g->n[2]; k++)
        for (int64_t j = c[1] > 0 ? c[1] - 1 : 0; j <= c[1] + 1 && j < g->n[1]; j++)
            for (int64_t i = c[0] > 0 ? c[0] - 1 : 0; i <= c[0] + 1 && i < g->n[0]; i++)
                for (int64_t b = g->head[(k * g->n[1] + j) * g->n[0] + i]; b; b = g->next[b - 1]) {
                    TalusVec3 d = talus_sub(p, x[b - 1]);
                    double touch = r + radius[b - 1];
                    if (talus_dot(d, d) < touch * touch)
                        return false;
                }
    return true;
}

/* Returns a random number, uniform in [lo, hi). */
static double random_between(TalusRng *rng, double lo, double hi)
{
    return lo + (hi - lo) * talus_rng_uniform(rng);
}

/* Returns a random centre, uniform over those with which a sphere of radius r lies in the region. */
static TalusVec3 random_centre(TalusRng *rng, const TalusFill *fill, double r)
{
    double z = random_between(rng, fill->lo.z + r, fill->hi.z - r);
    if (fill->radius <= 0.0) {
        double x = random_between(rng, fill->lo.x + r, fill->hi.x - r);
        return talus_vec3(x, random_between(rng, fill->lo.y + r, fill->hi.y - r), z);
    }
    double c, s, reach = (fill->radius - r) * sqrt(talus_rng_uniform(rng));
    talus_cos_sin_turns(talus_rng_uniform(rng), &c, &s);
    return talus_vec3(fill->lo.x + reach * c, fill->lo.y + reach * s, z);
}

/* True if a sphere of radius r fits into the region, of extents `size`. */
static bool fits_sphere(const TalusFill *fill, TalusVec3 size, double r)
{
    double across = fill->radius > 0.0 ? 2.0 * fill->radius : size.x < size.y ? size.x : size.y;
    return across >= 2.0 * r && size.z >= 2.0 * r;
}

/* Enters sphere `index`, whose centre x[index] is set, in the grid. */
static void enter_sphere(FillGrid *g, int64_t index, const TalusVec3 *x)
{
    int64_t cell = (cell_index(x[index].z, g->lo.z, g->width, g->n[2]) * g->n[1] +
                    cell_index(x[index].y, g->lo.y, g->width, g->n[1])) *
                       g->n[0] +
                   cell_index(x[index].x, g->lo.x, g->width, g->n[0]);
    g->next[index] = g->head[cell];
    g->head[cell] = index + 1;
}

/* Tries random positions for sphere `index`; writes the first free one to x[index] and enters the sphere in the grid.
 * False if none was free. */
static bool place_sphere(FillGrid *g, TalusRng *rng, const TalusFill *fill, int64_t index,
                         const double *radius, TalusVec3 *x)
{
    for (int t = 0; t < talus_fill_tries; t++) {
        TalusVec3 p = random_centre(rng, fill, radius[index]);
        if (!is_position_free(g, p, radius[index], x, radius))
            continue;
        x[index] = p;
        enter_sphere(g, index, x);
        return true;
    }
    return false;
}

/* Places the spheres with again[i] above 0 one by one, the others being where x[] has them; again NULL: all. Stops at a
 * sphere that finds no free position. */
static void place_spheres(FillGrid *g, const TalusFill *fill, int64_t count, const double *radius,
                          const int64_t *again, TalusVec3 *x, int64_t *placed)
{
    TalusRng rng = talus_rng_from_seed(fill->seed);
    for (int64_t i = 0; again && i < count; i++)
        if (again[i] == 0)
            enter_sphere(g, i, x);
    for (int64_t i = 0; i < count; i++) {
        if (again && again[i] == 0)
            continue;
        if (!place_sphere(g, &rng, fill, i, radius, x))
            return;
        ++*placed;
    }
}

static TalusStatus fill_region(const TalusFill *fill, int64_t count, const double *radius,
                               const int64_t *again, TalusVec3 *x, int64_t *placed)
{
    TalusVec3 size = talus_sub(fill->hi, fill->lo);
    if (fill->radius > 0.0)
        size.x = size.y = 2.0 * fill->radius;
    *placed = 0;
    if (count == 0 || !fits_sphere(fill, size, radius[0]))
        return TALUS_OK;
    FillGrid g = {0};
    size_grid(&g, fill, size, count, radius[0]);
    TalusStatus status = TALUS_ALLOC(g.head, (size_t)(g.n[0] * g.n[1] * g.n[2]), "fill grid");
    TALUS_THEN(status, TALUS_ALLOC(g.next, (size_t)count, "fill grid"));
    if (status == TALUS_OK)
        place_spheres(&g, fill, count, radius, again, x, placed);
    TALUS_RELEASE(g.head, g.next);
    return status;
}

TalusStatus talus_generate_fill(const TalusFill *fill, int64_t count, const double *radius,
                                TalusVec3 *out, int64_t *placed)
{
    return fill_region(fill, count, radius, NULL, out, placed);
}

TalusStatus talus_generate_fill_again(const TalusFill *fill, int64_t count, const double *radius,
                                      const int64_t *again, TalusVec3 *x, int64_t *placed)
{
    return fill_region(fill, count, radius, again, x, placed);
}
