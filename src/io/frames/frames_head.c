/* io/frames/frames_head.c - heads, the data common to many frames: taken from a world, copied, compared; the grid of
 * positions, measured from the first frame. */
#include "base/memory.h"
#include "base/order.h"
#include "io/frames/frames.h"
#include "world/state.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Minimum number of grid steps per median radius. Lean frames have fewer: their bodies are so many that each is only a
 * few pixels wide. */
enum { QUANTA = 128, QUANTA_LEAN = 48 };

/* If more than one body in FEW has a radius below 1 / MUCH_SMALLER of the median, the grid is finer: it then has at
 * least QUANTA / MUCH_SMALLER steps (lean: QUANTA_LEAN / MUCH_SMALLER) per Radii.small. */
enum { FEW = 100, MUCH_SMALLER = 8 };

void talus_frames_head_clear(TalusHeadStore *store)
{
    talus_head_free_figures(&store->figure, store->head.shape_count);
    talus_arena_clear(&store->arena);
    *store = (TalusHeadStore){0};
}

/* ---- copies ---- */

/* Copies text (NULL: "") into the arena and replaces bytes that are not UTF-8, which JSON forbids, by '?'. This is done
 * here and not when writing, so that a head read back from a file compares equal to the one written. */
static TalusStatus copy_text(TalusArena *arena, const char *text, const char **out)
{
    char *copy;
    text = text ? text : "";
    TALUS_TRY(talus_arena_copy_text(arena, text, strlen(text), &copy));
    *out = copy;
    for (char *end = copy + strlen(text); copy < end;) {
        size_t length = talus_utf8_length(copy, (size_t)(end - copy));
        if (length == 0)
            *copy = '?';
        copy += length ? length : 1;
    }
    return TALUS_OK;
}

/* Allocates the lists of shapes and materials in the arena, for the caller to fill, and sets them in store->head. */
static TalusStatus allocate_tables(TalusHeadStore *store, int shapes, int materials,
                                   TalusShapeDef **shape, TalusFramesMaterial **material)
{
    TALUS_TRY(TALUS_ARENA_ALLOC(&store->arena, *shape, shapes));
    TALUS_TRY(TALUS_ARENA_ALLOC(&store->arena, *material, materials));
    store->head.shapes = *shape;
    store->head.shape_count = shapes;
    store->head.materials = *material;
    store->head.material_count = materials;
    return TALUS_OK;
}

/* Copies the ranges of bodies into the arena and sets them in store->head. */
static TalusStatus copy_entries(TalusHeadStore *store, const TalusFramesEntry *from, int count)
{
    TalusFramesEntry *entry;
    TALUS_TRY(TALUS_ARENA_ALLOC(&store->arena, entry, count));
    for (int i = 0; i < count; i++) {
        entry[i] = from[i];
        TALUS_TRY(copy_text(&store->arena, from[i].name, &entry[i].name));
    }
    store->head.entries = entry;
    store->head.entry_count = count;
    return TALUS_OK;
}

/* Copies all members but the figures; texts, shapes and materials go into the arena of `out`. */
static TalusStatus copy_members(const TalusFramesHead *head, TalusHeadStore *out)
{
    TalusShapeDef *shape;
    TalusFramesMaterial *material;
    out->head = *head;
    out->head.figures = NULL; /* talus_frames_head_pack makes them again */
    TALUS_TRY(copy_text(&out->arena, head->title, &out->head.title));
    TALUS_TRY(copy_text(&out->arena, head->scene, &out->head.scene));
    TALUS_TRY(allocate_tables(out, head->shape_count, head->material_count, &shape, &material));
    for (int i = 0; i < head->shape_count; i++)
        TALUS_TRY(talus_head_copy_shape(&out->arena, &head->shapes[i], &shape[i]));
    for (int i = 0; i < head->material_count; i++) {
        material[i] = head->materials[i];
        TALUS_TRY(copy_text(&out->arena, head->materials[i].name, &material[i].name));
    }
    return copy_entries(out, head->entries, head->entry_count);
}

TalusStatus talus_frames_head_copy(const TalusFramesHead *head, TalusHeadStore *out)
{
    talus_frames_head_clear(out);
    TalusStatus status = copy_members(head, out);
    if (status != TALUS_OK)
        talus_frames_head_clear(out);
    return status;
}

/* ---- from a world ---- */

/* Does the work of talus_frames_head_of_world on an empty `out`, which may be half filled on failure. */
static TalusStatus fill_from_world(const TalusWorld *world, const TalusFramesDef *def,
                                   const TalusSnapshot *first, TalusHeadStore *out)
{
    TalusShapeDef *shape;
    TalusFramesMaterial *material;
    int shapes = talus_world_shape_count(world), materials = talus_world_material_count(world);
    TALUS_TRY(copy_text(&out->arena, def ? def->title : "", &out->head.title));
    TALUS_TRY(copy_text(&out->arena, def ? def->scene : "", &out->head.scene));
    TALUS_TRY(copy_entries(out, def ? def->entries : NULL, def ? def->entry_count : 0));
    TALUS_TRY(allocate_tables(out, shapes, materials, &shape, &material));
    for (int i = 0; i < shapes; i++) {
        TalusShapeDef from = talus_world_shape(world, i);
        TALUS_TRY(talus_head_copy_shape(&out->arena, &from, &shape[i]));
    }
    for (int i = 0; i < materials; i++) {
        TalusMaterialDef from = talus_world_material(world, i);
        material[i] = (TalusFramesMaterial){.friction = from.friction, .density = from.density};
        TALUS_TRY(copy_text(&out->arena, from.name, &material[i].name));
    }
    out->head.gravity = talus_world_gravity(world);
    out->head.period = talus_world_period(world);
    out->head.flow = world->cell.now.cell.last;
    out->head.step = talus_world_step_length(world);
    out->head.floor = NAN;
    if (first)
        TALUS_TRY(talus_frames_head_set_grid(&out->head, first, NULL));
    out->head.quantum = 0.0;
    return TALUS_OK;
}

TalusStatus talus_frames_head_of_world(const TalusWorld *world, const TalusFramesDef *def,
                                       const TalusSnapshot *first, TalusHeadStore *out)
{
    talus_frames_head_clear(out);
    TalusStatus status = fill_from_world(world, def, first, out);
    if (status != TALUS_OK)
        talus_frames_head_clear(out);
    return status;
}

/* ---- comparison ---- */

static bool same_vector(TalusVec3 a, TalusVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_material(const TalusFramesMaterial *a, const TalusFramesMaterial *b)
{
    return a->friction == b->friction && a->density == b->density && strcmp(a->name, b->name) == 0;
}

/* True if both are periodic along the same axes, with equal lo and hi there, and the same tilt. */
static bool same_period(const TalusPeriod *a, const TalusPeriod *b)
{
    const double *a_lo = &a->lo.x, *a_hi = &a->hi.x, *b_lo = &b->lo.x, *b_hi = &b->hi.x;
    for (int k = 0; k < 3; k++)
        if (!a->on[k] != !b->on[k] || (a->on[k] && (a_lo[k] != b_lo[k] || a_hi[k] != b_hi[k])))
            return false;
    return a->tilt == b->tilt;
}

static bool same_flow(const TalusGradient *a, const TalusGradient *b)
{
    return a->xx == b->xx && a->yy == b->yy && a->zz == b->zz && a->xy == b->xy;
}

bool talus_frames_heads_equal(const TalusFramesHead *a, const TalusFramesHead *b)
{
    if (a->shape_count != b->shape_count || a->material_count != b->material_count ||
        a->step != b->step || !same_vector(a->gravity, b->gravity) ||
        !same_period(&a->period, &b->period) || !same_flow(&a->flow, &b->flow))
        return false;
    for (int i = 0; i < a->shape_count; i++)
        if (!talus_head_shapes_equal(&a->shapes[i], &b->shapes[i]))
            return false;
    for (int i = 0; i < a->material_count; i++)
        if (!same_material(&a->materials[i], &b->materials[i]))
            return false;
    return true;
}

/* ---- the grid ---- */

TalusVec3 talus_frames_up_direction(const TalusFramesHead *head)
{
    double norm = talus_norm(head->gravity);
    return norm > 0.0 ? talus_scale(-1.0 / norm, head->gravity) : talus_vec3(0.0, 0.0, 1.0);
}

/* Measures of the radii of bodies, m. */
typedef struct Radii {
    double median, small; /* small: about 1 / FEW of the bodies have a smaller radius */
} Radii;

/* Returns how many of the ascending numbers are at most x. */
static int64_t count_up_to(const double *sorted, size_t count, double x)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}

/* Sets *out to the number of rank `k`, from 0, among those of all ranks, which are positive and ascend on each: by halving
 * of the bits, which have the order of the numbers. */
static TalusStatus find_ranked(const double *sorted, size_t count, int64_t k, TalusComm *comm,
                               double *out)
{
    const double largest = DBL_MAX;
    uint64_t low = 0, high;
    memcpy(&high, &largest, sizeof high);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        double x;
        memcpy(&x, &middle, sizeof x);
        int64_t up_to = count_up_to(sorted, count, x);
        TALUS_TRY(talus_comm_add_counts(comm, &up_to, 1));
        if (up_to > k)
            high = middle;
        else
            low = middle + 1;
    }
    memcpy(out, &low, sizeof low);
    return TALUS_OK;
}

/* Sets the measures of ascending radii, of all ranks. */
static TalusStatus rank_radii(const double *sorted, size_t count, TalusComm *comm, Radii *out)
{
    int64_t all = (int64_t)count;
    *out = (Radii){1.0, 1.0};
    TALUS_TRY(talus_comm_add_counts(comm, &all, 1));
    if (all == 0)
        return TALUS_OK;
    TALUS_TRY(find_ranked(sorted, count, all / 2, comm, &out->median));
    return find_ranked(sorted, count, all / FEW, comm, &out->small);
}

/* Measures the radii of bodies with an extent (radius > 0), with `moving` only of those that are not fixed. Both radii
 * are 1 if there are no such bodies. */
static TalusStatus measure_radii(const TalusSnapshot *s, bool moving, TalusComm *comm, Radii *out)
{
    double *radius;
    size_t count = 0;
    TALUS_TRY(talus_comm_agree(comm, TALUS_ALLOC(radius, (size_t)s->body_count + 1, "radii")));
    for (int i = 0; i < s->body_count; i++)
        if (s->radius[i] > 0.0 && !(moving && s->fixed[i]))
            radius[count++] = s->radius[i];
    qsort(radius, count, sizeof *radius, talus_compare_doubles);
    const TalusStatus status = rank_radii(radius, count, comm, out);
    talus_release(radius);
    return status;
}

/* Returns the largest number <= x with four significant bits, for x > 0. Its 32-bit multiples are exact doubles. */
static double round_to_four_bits(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(floor(16.0 * fraction), exponent - 4);
}

/* Returns the grid step: see QUANTA and MUCH_SMALLER. */
static double choose_quantum(Radii sizes, bool lean)
{
    double radius = fmin(sizes.median, MUCH_SMALLER * sizes.small);
    return round_to_four_bits(radius / (lean ? QUANTA_LEAN : QUANTA));
}

/* Returns the origin of the grid: the low corner of the box around all bodies with an extent, rounded down to a grid
 * step; 0 if there are none. */
static TalusVec3 find_grid_origin(const TalusSnapshot *s, double quantum, TalusComm *comm)
{
    TalusVec3 low = talus_vec3(INFINITY, INFINITY, INFINITY);
    for (int i = 0; i < s->body_count; i++) {
        double r = s->radius[i];
        if (!(r > 0.0))
            continue;
        low.x = fmin(low.x, s->position[i].x - r);
        low.y = fmin(low.y, s->position[i].y - r);
        low.z = fmin(low.z, s->position[i].z - r);
    }
    talus_comm_find_minima(comm, &low.x, 3);
    if (!isfinite(low.x + low.y + low.z))
        return talus_vec3(0.0, 0.0, 0.0);
    return talus_vec3(quantum * floor(low.x / quantum), quantum * floor(low.y / quantum),
                      quantum * floor(low.z / quantum));
}

TalusStatus talus_frames_head_set_grid(TalusFramesHead *head, const TalusSnapshot *first,
                                       TalusComm *comm)
{
    TalusVec3 up = talus_frames_up_direction(head);
    double low = INFINITY;
    for (int i = 0; i < first->body_count; i++)
        if (!first->fixed[i])
            low = fmin(low, talus_dot(up, first->position[i]));
    talus_comm_find_minima(comm, &low, 1);
    bool moving = low < INFINITY;
    Radii sizes;
    TALUS_TRY(measure_radii(first, moving, comm, &sizes));
    head->radius = sizes.median;
    head->quantum = choose_quantum(sizes, head->lean);
    head->origin = find_grid_origin(first, head->quantum, comm);
    head->floor = moving ? low : NAN;
    return talus_comm_agree(comm, TALUS_OK);
}
