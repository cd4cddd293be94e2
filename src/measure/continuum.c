/* measure/continuum.c - coarse-graining: spreads bodies and contacts over the cells of a grid.
 *
 * Each layer of cells (one k) is the work of one thread, which visits all bodies and contacts in their order and adds
 * those that reach the layer; so each sum has one order, whatever the number of threads. In periodic space all images of a
 * body or contact that reach the layer are added. */
#include "measure/images.h"
#include "measure/segment.h"
#include "measure/sums.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <string.h>

enum { CELLS_MAX = 1 << 28, LAYERS_PER_TASK = 1 };

struct TalusContinuum {
    TalusGridDef def;
    TalusAxis axis[3];
    unsigned quantities, sums, data;  /* bits */
    int offset[TALUS_SUMS];           /* of each sum among the components of a cell */
    int first[TALUS_SUM_SOURCES + 1]; /* of each source */
    int stride;                       /* components of a cell */
    int assemblies;                   /* number added */
    double *cell;                     /* [cells][stride] */
    double *mean, *slope;             /* scratch of each layer: weights along x, y, z */
    double *line, *flux;              /* [cells]: weights of one line and of its divergence */
};

/* ---- making ---- */

static TalusStatus check_def(const TalusGridDef *def)
{
    double cells = 1.0;
    for (int k = 0; k < 3; k++) {
        const double lo = talus_along(def->lo, k), hi = talus_along(def->hi, k);
        if (!(isfinite(lo) && isfinite(hi) && lo < hi))
            return talus_reject("grid: from %g to %g along %c; expected finite and ascending", lo,
                                hi, 'x' + k);
        if (def->cells[k] < 1)
            return talus_reject("grid: %d cells along %c; expected 1 or more", def->cells[k],
                                'x' + k);
        cells *= def->cells[k];
    }
    if (!(def->width > 0.0 && isfinite(def->width)))
        return talus_reject("grid: width %g; expected a length above 0", def->width);
    if (cells > CELLS_MAX)
        return talus_reject("grid: %g cells; at most %d", cells, CELLS_MAX);
    return TALUS_OK;
}

/* Lays out the components of a cell: those of the sums that the fields need. */
static void lay_out(TalusContinuum *c)
{
    for (int q = 0; q < TALUS_QUANTITIES; q++) {
        if (!(c->quantities >> q & 1))
            continue;
        c->sums |= talus_quantity_sums((TalusQuantity)q);
        c->data |= talus_quantity_row((TalusQuantity)q).data;
    }
    for (int kind = 0; kind < TALUS_SUMS; kind++) {
        c->offset[kind] = c->stride;
        c->stride += c->sums >> kind & 1 ? talus_sum_components((TalusSumKind)kind) : 0;
        c->first[talus_sum_source((TalusSumKind)kind) + 1] = c->stride;
    }
}

static TalusStatus allocate(TalusContinuum *c)
{
    const size_t layers = (size_t)c->axis[2].cells;
    const size_t area = (size_t)c->axis[0].cells * (size_t)c->axis[1].cells;
    const size_t edges = layers * ((size_t)c->axis[0].cells + (size_t)c->axis[1].cells + 1);
    TALUS_TRY(TALUS_ALLOC(c->cell, layers * area * (size_t)c->stride, "continuum"));
    TALUS_TRY(TALUS_ALLOC(c->mean, edges, "continuum"));
    TALUS_TRY(TALUS_ALLOC(c->slope, edges, "continuum"));
    TALUS_TRY(TALUS_ALLOC(c->line, layers * area, "continuum"));
    return TALUS_ALLOC(c->flux, layers * area, "continuum");
}

TalusStatus talus_continuum_create(const TalusGridDef *def, unsigned quantities,
                                   TalusContinuum **out)
{
    TalusContinuum *c = NULL;
    *out = NULL;
    TALUS_TRY(check_def(def));
    TALUS_TRY(TALUS_ALLOC(c, 1, "continuum"));
    c->def = *def;
    c->quantities = quantities;
    for (int k = 0; k < 3; k++) {
        const double lo = talus_along(def->lo, k), hi = talus_along(def->hi, k);
        c->axis[k] = (TalusAxis){lo, (hi - lo) / def->cells[k], def->width, def->cells[k]};
    }
    lay_out(c);
    const TalusStatus status = allocate(c);
    if (status == TALUS_OK)
        *out = c;
    else
        talus_continuum_destroy(c);
    return status;
}

void talus_continuum_destroy(TalusContinuum *c)
{
    if (c)
        TALUS_RELEASE(c->cell, c->mean, c->slope, c->line, c->flux, c);
}

void talus_continuum_clear(TalusContinuum *c)
{
    const size_t cells =
        (size_t)c->axis[0].cells * (size_t)c->axis[1].cells * (size_t)c->axis[2].cells;
    memset(c->cell, 0, cells * (size_t)c->stride * sizeof *c->cell);
    c->assemblies = 0;
}

TalusGridDef talus_continuum_grid(const TalusContinuum *c)
{
    return c->def;
}

/* ---- one layer of cells ---- */

/* The layer that a thread works on. */
typedef struct Layer {
    const TalusContinuum *c;
    const TalusAssembly *assembly;
    int k;
    double *mean[3], *slope[3]; /* weights of a point, by cell; those along z have one element */
    double *line, *flux;        /* weights of a line, by cell of the layer */
} Layer;

static Layer open_layer(const TalusContinuum *c, const TalusAssembly *assembly, int k)
{
    const int nx = c->axis[0].cells, ny = c->axis[1].cells;
    const size_t edge = (size_t)k * (size_t)(nx + ny + 1),
                 area = (size_t)k * (size_t)nx * (size_t)ny;
    double *mean = c->mean + edge, *slope = c->slope + edge;
    return (Layer){.c = c,
                   .assembly = assembly,
                   .k = k,
                   .mean = {mean, mean + nx, mean + nx + ny - k},
                   .slope = {slope, slope + nx, slope + nx + ny - k},
                   .line = c->line + area,
                   .flux = c->flux + area};
}

/* True if some sum of the grid is spread from this source. */
static bool has(const Layer *layer, TalusSumSource source)
{
    return layer->c->first[source + 1] > layer->c->first[source];
}

/* Returns the components of cell (i, j) of the layer. */
static double *cell_at(const Layer *layer, int i, int j)
{
    const TalusContinuum *c = layer->c;
    const size_t row = (size_t)layer->k * (size_t)c->axis[1].cells + (size_t)j;
    return c->cell + (row * (size_t)c->axis[0].cells + (size_t)i) * (size_t)c->stride;
}

/* Returns the images of what lies between a and b whose kernels reach the layer. */
static TalusImages find_images(const Layer *layer, TalusVec3 a, TalusVec3 b)
{
    const TalusGridDef *def = &layer->c->def;
    const TalusAxis *z = &layer->c->axis[2];
    const TalusVec3 low = {talus_min(a.x, b.x), talus_min(a.y, b.y), talus_min(a.z, b.z)};
    const TalusVec3 high = {talus_max(a.x, b.x), talus_max(a.y, b.y), talus_max(a.z, b.z)};
    const TalusVec3 width = {def->width, def->width, def->width};
    const TalusVec3 lo = {def->lo.x, def->lo.y, talus_axis_edge(z, layer->k)};
    const TalusVec3 hi = {def->hi.x, def->hi.y, talus_axis_edge(z, layer->k + 1)};
    return talus_find_images(&layer->assembly->period, talus_sub(low, width),
                             talus_add(high, width), lo, hi);
}

static TalusVec3 image_at(const Layer *layer, const TalusImages *images, int n, TalusVec3 x)
{
    return talus_image_at(&layer->assembly->period, images, n, x);
}

/* Returns the cells of the layer that kernels between a and b reach, along x (0), y (1) or z (2). */
static TalusCells reach_of(const Layer *layer, int axis, TalusVec3 a, TalusVec3 b)
{
    if (axis == 2)
        return (TalusCells){layer->k, layer->k + 1};
    const double x = talus_along(a, axis), y = talus_along(b, axis);
    return talus_axis_reach(&layer->c->axis[axis], talus_min(x, y), talus_max(x, y));
}

/* Writes the products a b: xx xy xz yx yy yz zx zy zz. */
static void multiply(TalusVec3 a, TalusVec3 b, double out[9])
{
    for (int n = 0; n < 9; n++)
        out[n] = talus_along(a, n / 3) * talus_along(b, n % 3);
}

/* ---- points ---- */

/* Adds weight times value[count] to the components of a cell. */
static void add_values(double *cell, double weight, const double *value, int count)
{
    for (int n = 0; n < count; n++)
        cell[n] += weight * value[n];
}

/* Spreads the values of a source around one image of a point. */
static void spread_image(const Layer *layer, TalusVec3 x, TalusSumSource source,
                         const double *value)
{
    const TalusContinuum *c = layer->c;
    const int first = c->first[source], count = c->first[source + 1] - first;
    TalusCells reach[3];
    for (int k = 0; k < 3; k++) {
        reach[k] = reach_of(layer, k, x, x);
        talus_axis_means(&c->axis[k], talus_along(x, k), reach[k], layer->mean[k]);
    }
    for (int j = reach[1].first; j < reach[1].end; j++) {
        const double row = layer->mean[2][layer->k] * layer->mean[1][j];
        for (int i = reach[0].first; i < reach[0].end; i++)
            add_values(cell_at(layer, i, j) + first, row * layer->mean[0][i], value, count);
    }
}

/* Spreads the values of a source around a point. */
static void spread_point(const Layer *layer, TalusVec3 x, TalusSumSource source,
                         const double *value)
{
    const TalusImages images = find_images(layer, x, x);
    for (int n = 0; n < talus_count_images(&images); n++)
        spread_image(layer, image_at(layer, &images, n, x), source, value);
}

/* ---- lines ---- */

/* Adds to layer->line, for each cell in reach, `weight` times the mean of the kernel around y, whose weights along the axes
 * are in layer->mean. */
static void add_to_line(const Layer *layer, double weight, const TalusCells reach[3])
{
    for (int j = reach[1].first; j < reach[1].end; j++) {
        const double row = weight * layer->mean[2][layer->k] * layer->mean[1][j];
        double *line = layer->line + (size_t)j * (size_t)layer->c->axis[0].cells;
        for (int i = reach[0].first; i < reach[0].end; i++)
            line[i] += row * layer->mean[0][i];
    }
}

/* Adds the derivative of the same mean along `along` to layer->flux. */
static void add_to_flux(const Layer *layer, TalusVec3 along, double weight,
                        const TalusCells reach[3])
{
    const double *const *mean = (const double *const *)layer->mean;
    const double *const *slope = (const double *const *)layer->slope;
    const double mean_z = weight * mean[2][layer->k], slope_z = weight * slope[2][layer->k];
    for (int j = reach[1].first; j < reach[1].end; j++) {
        const double along_x = along.x * mean_z * mean[1][j];
        const double across = along.y * mean_z * slope[1][j] + along.z * slope_z * mean[1][j];
        double *flux = layer->flux + (size_t)j * (size_t)layer->c->axis[0].cells;
        for (int i = reach[0].first; i < reach[0].end; i++)
            flux[i] += along_x * slope[0][i] + across * mean[0][i];
    }
}

/* Adds a node of Gauss's rule at y. */
static void add_node(const Layer *layer, TalusVec3 y, TalusVec3 along, double weight,
                     const TalusCells reach[3])
{
    const TalusAxis *axis = layer->c->axis;
    for (int k = 0; k < 3; k++)
        talus_axis_means(&axis[k], talus_along(y, k), reach[k], layer->mean[k]);
    if (has(layer, TALUS_SPREAD_LINES))
        add_to_line(layer, weight, reach);
    if (!has(layer, TALUS_SPREAD_ENDS))
        return;
    for (int k = 0; k < 3; k++)
        talus_axis_slopes(&axis[k], talus_along(y, k), reach[k], layer->slope[k]);
    add_to_flux(layer, along, weight, reach);
}

/* Sets layer->line in the cells in reach to the mean over the cell of integral_0^1 W(x - start - s along) ds, and
 * layer->flux to that of its derivative along the line. */
static void integrate_line(const Layer *layer, TalusSegment line, const TalusCells reach[3])
{
    const TalusContinuum *c = layer->c;
    for (int j = reach[1].first; j < reach[1].end; j++)
        for (int i = reach[0].first; i < reach[0].end; i++) {
            const size_t at = (size_t)j * (size_t)c->axis[0].cells + (size_t)i;
            layer->line[at] = layer->flux[at] = 0.0;
        }
    if (!talus_segment_clip(&line, c->axis, reach[2]))
        return;
    for (double s = line.from, end; s < line.to; s = end) {
        end = talus_segment_next(&line, c->axis, s);
        const double middle = 0.5 * (s + end), half = 0.5 * (end - s);
        for (int n = 0; n < TALUS_GAUSS_NODES; n++) {
            const double at = middle + half * talus_gauss_node[n];
            add_node(layer, talus_madd(line.start, at, line.along), line.along,
                     half * talus_gauss_weight[n], reach);
        }
    }
}

/* Spreads the stress and the divergence of a force along one image of a line. */
static void spread_line_image(const Layer *layer, TalusVec3 start, TalusVec3 along,
                              const double stress[9], const double force[3])
{
    const TalusContinuum *c = layer->c;
    const TalusVec3 end = talus_add(start, along);
    TalusCells reach[3];
    for (int k = 0; k < 3; k++)
        reach[k] = reach_of(layer, k, start, end);
    integrate_line(layer, (TalusSegment){start, along, 0.0, 1.0}, reach);
    for (int j = reach[1].first; j < reach[1].end; j++)
        for (int i = reach[0].first; i < reach[0].end; i++) {
            const size_t at = (size_t)j * (size_t)c->axis[0].cells + (size_t)i;
            double *cell = cell_at(layer, i, j);
            add_values(cell + c->first[TALUS_SPREAD_LINES], layer->line[at], stress,
                       c->first[TALUS_SPREAD_LINES + 1] - c->first[TALUS_SPREAD_LINES]);
            add_values(cell + c->first[TALUS_SPREAD_ENDS], layer->flux[at], force,
                       c->first[TALUS_SPREAD_ENDS + 1] - c->first[TALUS_SPREAD_ENDS]);
        }
}

/* Spreads the force on a body along the line from its centre to the contact point. */
static void spread_line(const Layer *layer, TalusVec3 start, TalusVec3 arm, TalusVec3 force)
{
    const double f[3] = {force.x, force.y, force.z};
    const TalusImages images = find_images(layer, start, talus_add(start, arm));
    double stress[9];
    multiply(force, arm, stress);
    for (int n = 0; n < talus_count_images(&images); n++)
        spread_line_image(layer, image_at(layer, &images, n, start), arm, stress, f);
}

/* ---- bodies and contacts ---- */

/* Appends `count` values of a sum, if the grid has it, and returns the end. */
static double *append(const TalusContinuum *c, TalusSumKind kind, const double *value, double *end)
{
    if (!(c->sums >> kind & 1))
        return end;
    const int count = talus_sum_components(kind);
    memcpy(end, value, (size_t)count * sizeof *value);
    return end + count;
}

static double *append_vector(const TalusContinuum *c, TalusSumKind kind, TalusVec3 vector,
                             double *end)
{
    const double value[3] = {vector.x, vector.y, vector.z};
    return append(c, kind, value, end);
}

/* Writes scale a a: xx yy zz xy yz xz. */
static void square(TalusVec3 a, double scale, double out[6])
{
    const double all[6] = {a.x * a.x, a.y * a.y, a.z * a.z, a.x * a.y, a.y * a.z, a.x * a.z};
    for (int n = 0; n < 6; n++)
        out[n] = scale * all[n];
}

/* Writes the values of body i, an image of which lies at x, to value[]. */
static void pack_body(const Layer *layer, int i, TalusVec3 x, double *value)
{
    const TalusAssembly *a = layer->assembly;
    const TalusGridDef *grid = &layer->c->def;
    const TalusVec3 none = {0, 0, 0}, middle = talus_scale(0.5, talus_add(grid->lo, grid->hi));
    const double mass = a->mass[i];
    const TalusVec3 momentum = a->velocity ? talus_scale(mass, a->velocity[i]) : none;
    const TalusVec3 spin = a->spin ? talus_scale(mass, a->spin[i]) : none;
    const TalusVec3 r = talus_sub(x, middle);
    double *end = value, flux[6], extent[6], shear[9];
    square(a->velocity ? a->velocity[i] : none, mass, flux);
    square(r, mass, extent);
    multiply(momentum, r, shear);
    end = append(layer->c, TALUS_SUM_MASS, &mass, end);
    end = append(layer->c, TALUS_SUM_VOLUME, &a->volume[i], end);
    end = append_vector(layer->c, TALUS_SUM_MOMENTUM, momentum, end);
    end = append_vector(layer->c, TALUS_SUM_SPIN, spin, end);
    end = append(layer->c, TALUS_SUM_FLUX, flux, end);
    end = append_vector(layer->c, TALUS_SUM_PLACE, talus_scale(mass, r), end);
    end = append(layer->c, TALUS_SUM_EXTENT, extent, end);
    end = append(layer->c, TALUS_SUM_SHEAR, shear, end);
    if (a->power)
        (void)append(layer->c, TALUS_SUM_POWER, &a->power[i], end);
}

static void spread_body(const Layer *layer, int i)
{
    const TalusVec3 x = layer->assembly->position[i];
    const TalusImages images = find_images(layer, x, x);
    double value[TALUS_SUM_COMPONENTS];
    for (int n = 0; n < talus_count_images(&images); n++) {
        const TalusVec3 at = image_at(layer, &images, n, x);
        pack_body(layer, i, at, value);
        spread_image(layer, at, TALUS_SPREAD_BODIES, value);
    }
}

/* Spreads what lies at the contact point: number, normal, force of the boundary. */
static void spread_contact_point(const Layer *layer, const TalusAssemblyContact *contact)
{
    const TalusVec3 at = talus_add(layer->assembly->position[contact->a], contact->arm_a);
    const double loaded = talus_dot(contact->force, contact->normal) > 0.0;
    const TalusVec3 boundary = contact->b < 0 ? talus_neg(contact->force) : talus_vec3(0, 0, 0);
    double value[TALUS_SUM_COMPONENTS], *end = value, fabric[6];
    square(contact->normal, loaded, fabric);
    end = append(layer->c, TALUS_SUM_CONTACTS, &loaded, end);
    end = append(layer->c, TALUS_SUM_FABRIC, fabric, end);
    (void)append_vector(layer->c, TALUS_SUM_BOUNDARY, boundary, end);
    spread_point(layer, at, TALUS_SPREAD_POINTS, value);
}

static void spread_force(const Layer *layer, TalusVec3 centre, TalusVec3 force)
{
    const double value[3] = {force.x, force.y, force.z};
    spread_point(layer, centre, TALUS_SPREAD_CENTRES, value);
}

/* Spreads the force of a contact on one of its bodies. */
static void spread_side(const Layer *layer, int body, TalusVec3 arm, TalusVec3 force)
{
    const TalusVec3 centre = layer->assembly->position[body];
    if (has(layer, TALUS_SPREAD_CENTRES))
        spread_force(layer, centre, force);
    if (has(layer, TALUS_SPREAD_LINES) || has(layer, TALUS_SPREAD_ENDS))
        spread_line(layer, centre, arm, force);
}

static void spread_contact(const Layer *layer, const TalusAssemblyContact *contact)
{
    if (has(layer, TALUS_SPREAD_POINTS))
        spread_contact_point(layer, contact);
    spread_side(layer, contact->a, contact->arm_a, talus_neg(contact->force));
    if (contact->b >= 0)
        spread_side(layer, contact->b, contact->arm_b, contact->force);
}

typedef struct Addition {
    const TalusContinuum *c;
    const TalusAssembly *assembly;
} Addition;

static void add_layers(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Addition *addition = context;
    (void)chunk;
    for (int64_t k = begin; k < end; k++) {
        const Layer layer = open_layer(addition->c, addition->assembly, (int)k);
        for (int i = 0; has(&layer, TALUS_SPREAD_BODIES) && i < addition->assembly->body_count; i++)
            spread_body(&layer, i);
        for (int i = 0; i < addition->assembly->contact_count; i++)
            spread_contact(&layer, &addition->assembly->contact[i]);
    }
}

TalusStatus talus_continuum_add(TalusContinuum *c, const TalusAssembly *assembly, TalusPool *pool)
{
    Addition addition = {c, assembly};
    if (c->data & ~assembly->data)
        return talus_reject("continuum: some fields need data that the assembly lacks");
    if (!talus_has_few_images(&assembly->period, c->def.lo, c->def.hi, 2.0 * c->def.width))
        return talus_reject("grid: its box has more than %d images of each body; expected one of "
                            "fewer periods",
                            TALUS_IMAGES_MAX);
    talus_parallel(pool, c->axis[2].cells, LAYERS_PER_TASK, add_layers, &addition);
    c->assemblies++;
    return TALUS_OK;
}

void talus_continuum_get(const TalusContinuum *c, TalusQuantity quantity, int i, int j, int k,
                         double out[TALUS_QUANTITY_COMPONENTS])
{
    const Layer layer = {.c = c, .k = k};
    const double *cell = cell_at(&layer, i, j), *sum[TALUS_SUMS];
    for (int kind = 0; kind < TALUS_SUMS; kind++)
        sum[kind] = cell + c->offset[kind];
    talus_quantity_compute(quantity, sum, c->assemblies, out);
}
