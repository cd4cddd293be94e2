/* collide/broad.c - searches the grid and the walls for pairs of bodies (broad.h). */
#include "collide/broad.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/errors.h"

#include <string.h>

enum {
    GRAIN = 512,         /* entries of a chunk */
    RENAME_GRAIN = 4096, /* pairs of a chunk that are renamed */
    BUFFER = 128,        /* pairs of a run that a chunk buffers */
    HITS = 256,          /* capacity of Search.hit */
    BATCH = 128,         /* entries tested before the capacity of Search.hit is checked */
    /* Nine rows of cells, each cut in two where the grid folds; and one, because add_range writes empty ranges too. */
    MAX_RANGES = 19
};

/* Search of one chunk of the grid's entries. The fat sphere of a body has the fat radius (grid.h): if two bodies are in
 * contact, their fat spheres overlap. Lengths are in TalusGrid.unit. Pairs go through small buffers into the shared
 * lists broad->run, in an order that depends on the threads; sort_run sorts them later. */
typedef struct Search {
    TalusBroad *broad;
    const TalusGrid *grid;
    double envelope;     /* options->envelope */
    double speed_margin; /* 2 h times the reference speed, in units */
    TalusPair buffer[TALUS_RUNS][BUFFER];
    int buffered[TALUS_RUNS]; /* number of pairs in each buffer */
    uint32_t hit[HITS];       /* entries whose fat spheres overlap the current entry's */
} Search;

/* Contiguous entries of the grid. */
typedef struct Range {
    uint32_t begin, end;
} Range;

/* Removes pairs that the filter excludes from a buffer. */
static void filter_buffer(Search *s, int run)
{
    const TalusFilter *f = s->grid->bodies->filter;
    TalusPair *pair = s->buffer[run];
    int kept = 0;
    for (int k = 0; k < s->buffered[run]; k++)
        if (talus_may_meet(f, pair[k].a, pair[k].b))
            pair[kept++] = pair[k];
    s->buffered[run] = kept;
}

/* Filters the buffer of a run, appends it to the shared list and empties it. Pairs beyond the list's capacity are only
 * counted. */
static void flush_buffer(Search *s, int run)
{
    TalusPairList *list = &s->broad->run[run];
    if (s->grid->bodies->filter)
        filter_buffer(s, run);
    size_t count = (size_t)s->buffered[run];
    size_t at = (size_t)atomic_fetch_add(&list->found, (long long)count);
    s->buffered[run] = 0;
    size_t capacity = TALUS_CAPACITY(list->pair);
    if (at >= capacity)
        return; /* still counted: the search is repeated with enough capacity */
    size_t unused = capacity - at;
    memcpy(list->pair + at, s->buffer[run], (count < unused ? count : unused) * sizeof(TalusPair));
}

/* Adds a pair to the buffer of a run, flushing it first if it is full. */
static inline void add_pair(Search *s, int run, uint32_t a, uint32_t b)
{
    if (s->buffered[run] == BUFFER)
        flush_buffer(s, run);
    TalusPair pair = {a, b};
    s->buffer[run][s->buffered[run]++] = pair;
}

/* Adds a pair of free spheres, the one with the lower id first. */
static inline void add_sphere_pair(Search *s, uint32_t a, uint32_t b)
{
    bool in_order = talus_ranks_before(s->grid->bodies->rank, a, b);
    add_pair(s, TALUS_RUN_SPHERES, in_order ? a : b, in_order ? b : a);
}

/* Adds a pair of bodies that are not both free spheres, to the run where it belongs. A free body comes first: if both
 * are free, the one with the lower id. A pair without a free body is not added. */
static void add_other_pair(Search *s, uint32_t a, uint32_t b)
{
    const TalusBodyView *v = s->grid->bodies;
    if (!talus_is_free(v, a) && !talus_is_free(v, b))
        return;
    if (!talus_is_free(v, a) || (talus_is_free(v, b) && talus_ranks_before(v->rank, b, a))) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    bool sphere_fixed =
        v->mobility[b] == TALUS_MOBILITY_FIXED && talus_body_kind(v, a) == TALUS_SHAPE_SPHERE;
    add_pair(s, sphere_fixed ? TALUS_RUN_SPHERE_FIXED : TALUS_RUN_GENERAL, a, b);
}

/* Adds the pair of entries i and j, whose fat spheres overlap. Two free spheres are added only if their gap is below
 * their envelope; about any other two bodies the narrow phase decides (add_other_pair). Spheres nearer than `sure` are
 * in contact whatever their speeds, which saves evaluating those; the factor 1 - 2^-18 guards this test against
 * rounding. */
static inline void add_entries(Search *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if ((a | b) & TALUS_NOT_FREE_SPHERE) {
        add_other_pair(s, a & ~TALUS_NOT_FREE_SPHERE, b & ~TALUS_NOT_FREE_SPHERE);
        return;
    }
    const TalusGridBody *p = &grid->body[i], *q = &grid->body[j];
    double dx = q->x - p->x, dy = q->y - p->y, dz = q->z - p->z;
    double ra = grid->radius[i], rb = grid->radius[j];
    double sure = (ra + rb + s->envelope * (ra < rb ? ra : rb) + s->speed_margin) * (1.0 - 0x1p-18);
    if (dx * dx + dy * dy + dz * dz < sure * sure ||
        talus_spheres_within_envelope_unwrapped(grid->bodies, grid->options, a, b))
        add_sphere_pair(s, a, b);
}

/* As add_entries, in periodic space. Images repeat a pair at the same relative position: the pair is added only from
 * the two entries that are shifted along no common axis. */
static void add_entries_periodic(Search *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if (grid->image[i] & grid->image[j])
        return;
    if ((a | b) & TALUS_NOT_FREE_SPHERE)
        add_other_pair(s, a & ~TALUS_NOT_FREE_SPHERE, b & ~TALUS_NOT_FREE_SPHERE);
    else if (talus_spheres_within_envelope(grid->bodies, grid->options,
                                           talus_vector_between(grid->bodies, a, b), a, b))
        add_sphere_pair(s, a, b);
}

/* Adds the pairs of entry i with the entries hit[0 .. hits - 1]. */
static inline void add_hits(Search *s, uint32_t i, int hits)
{
    if (s->grid->image) {
        for (int k = 0; k < hits; k++)
            add_entries_periodic(s, i, s->hit[k]);
        return;
    }
    for (int k = 0; k < hits; k++)
        add_entries(s, i, s->hit[k]);
}

/* Tests entry i against all entries of the ranges and passes those with overlapping fat spheres to add_hits. The
 * outcome of a test cannot be predicted, so the inner loop collects hits without a branch. */
static void scan_ranges(Search *s, uint32_t i, const Range *range, int ranges)
{
    const TalusGridBody *body = s->grid->body;
    const TalusGridBody me = body[i];
    int hits = 0;
    for (int r = 0; r < ranges; r++) {
        for (uint32_t begin = range[r].begin, end = range[r].end; begin < end;) {
            uint32_t stop = end - begin > BATCH ? begin + BATCH : end;
            if (hits > HITS - BATCH) {
                add_hits(s, i, hits);
                hits = 0;
            }
            for (uint32_t j = begin; j < stop; j++) {
                double dx = body[j].x - me.x, dy = body[j].y - me.y, dz = body[j].z - me.z;
                double fat = me.fat + body[j].fat;
                s->hit[hits] = j;
                hits += dx * dx + dy * dy + dz * dz < fat * fat;
            }
            begin = stop;
        }
    }
    add_hits(s, i, hits);
}

/* Writes a range to range[ranges]. Returns the new number of ranges: an empty range does not count. */
static int add_range(Range *range, int ranges, uint32_t begin, uint32_t end)
{
    range[ranges].begin = begin;
    range[ranges].end = end;
    return ranges + (begin < end);
}

/* Appends the entries of the cells x_low .. x_high of row (y, z) as one range, or as two if x_low > x_high, where the
 * row folds. Returns the new number of ranges. */
static int add_row(const TalusGrid *grid, const TalusLevel *level, int64_t y, int64_t z,
                   int64_t x_low, int64_t x_high, Range *range, int ranges)
{
    int64_t row = (z * level->cells[1] + y) * level->cells[0];
    const uint32_t *start = grid->start + level->first + row;
    if (x_low <= x_high)
        return add_range(range, ranges, start[x_low], start[x_high + 1]);
    ranges = add_range(range, ranges, start[x_low], start[level->cells[0]]);
    return add_range(range, ranges, start[0], start[x_high + 1]);
}

/* Folds a neighbour's cell coordinate, -1 .. cells, into the periodic range 0 .. cells - 1. */
static int64_t fold_neighbour(int64_t k, int64_t cells)
{
    return k < 0 ? k + cells : k < cells ? k : k - cells;
}

/* Finds the ranges of entries in the 3x3x3 cells around `cell`. With `half`: only in the cell itself, which the first
 * range starts with, and in the 13 neighbours that follow it, so that each pair is tested once. Returns the number of
 * ranges. */
static int find_neighbour_ranges(const TalusGrid *grid, const TalusLevel *level, uint32_t cell,
                                 bool half, Range range[MAX_RANGES])
{
    const int64_t *n = level->cells;
    uint32_t local = cell - level->first, across = local / (uint32_t)n[0];
    int64_t x = local % (uint32_t)n[0], y = across % (uint32_t)n[1], z = across / (uint32_t)n[1];
    int64_t x_low = fold_neighbour(x - 1, n[0]), x_high = fold_neighbour(x + 1, n[0]);
    int ranges = 0;
    for (int k = half ? 4 : 0; k < 9; k++)
        ranges = add_row(grid, level, fold_neighbour(y + k % 3 - 1, n[1]),
                         fold_neighbour(z + k / 3 - 1, n[2]), half && k == 4 ? x : x_low, x_high,
                         range, ranges);
    return ranges;
}

/* Tests entry i against a coarser level. A partner's fat radius is at most edge / 2, so its centre is at most fat +
 * edge / 2 away, where fat is the fat radius of entry i: two or three cells along each axis, because fat is at most
 * edge / 4. */
static void search_coarser_level(Search *s, uint32_t i, const TalusLevel *level)
{
    const TalusGridBody *me = &s->grid->body[i];
    double reach = me->fat + 0.5 * level->edge;
    int64_t x_low = talus_fold_cell(level, 0, talus_cell_coordinate(level, me->x - reach));
    int64_t x_high = talus_fold_cell(level, 0, talus_cell_coordinate(level, me->x + reach));
    int64_t y_low = talus_cell_coordinate(level, me->y - reach);
    int64_t y_high = talus_cell_coordinate(level, me->y + reach);
    int64_t z_low = talus_cell_coordinate(level, me->z - reach);
    int64_t z_high = talus_cell_coordinate(level, me->z + reach);
    Range range[MAX_RANGES];
    int ranges = 0;
    for (int64_t z = z_low; z <= z_high; z++) {
        int64_t folded_z = talus_fold_cell(level, 2, z);
        for (int64_t y = y_low; y <= y_high; y++)
            ranges = add_row(s->grid, level, talus_fold_cell(level, 1, y), folded_z, x_low, x_high,
                             range, ranges);
    }
    scan_ranges(s, i, range, ranges);
}

/* Adds the pairs of the body of entry i with the walls near it; in periodic space, near the body's image that is
 * nearest to the wall. The envelope with a wall of size 0 contains envelope * size of the body, but the fat radius
 * contains only half of that. The other half is at most envelope * fat / 2, because size <= fat. */
static void search_walls(Search *s, uint32_t i)
{
    const TalusGrid *grid = s->grid;
    const TalusBodyView *v = grid->bodies;
    const TalusGridBody *me = &grid->body[i];
    uint32_t body = grid->entry[i].b & ~TALUS_NOT_FREE_SPHERE;
    double reach = me->fat * (1.0 + 0.5 * s->envelope);
    for (int w = 0; w < grid->walls; w++) {
        const TalusWall *wall = &grid->wall[w];
        TalusVec3 x = {me->x, me->y, me->z};
        if (v->period) {
            x = talus_add(v->position[wall->body], talus_vector_between(v, wall->body, body));
            x = talus_scale(grid->per_unit, x);
        }
        if (talus_is_near_wall(v, wall, x, reach + wall->margin, grid->unit, true))
            add_other_pair(s, body, wall->body);
    }
}

/* Index of the level to which a cell belongs. */
static int level_of_cell(const TalusGrid *grid, uint32_t cell)
{
    int l = grid->levels - 1;
    while (grid->level[l].first > cell)
        l--;
    return l;
}

/* Prepares a search with empty buffers. */
static void init_search(Search *s, TalusBroad *broad)
{
    s->broad = broad;
    s->grid = &broad->grid;
    s->envelope = s->grid->options->envelope;
    s->speed_margin =
        s->grid->options->h * (2.0 * s->grid->options->reference_speed) / s->grid->unit;
    memset(s->buffered, 0, sizeof s->buffered);
}

/* Tests entries begin .. end - 1 against later entries of their cell, the 13 cells that follow it, coarser levels and
 * walls (images are not tested against walls). */
static void search_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    Search s;
    init_search(&s, context);
    Range range[MAX_RANGES];
    uint32_t cell = UINT32_MAX;
    int ranges = 0, level = 0;
    for (uint32_t i = (uint32_t)begin; i < (uint32_t)end; i++) {
        if (s.grid->entry[i].a != cell) {
            cell = s.grid->entry[i].a;
            level = level_of_cell(s.grid, cell);
            ranges = find_neighbour_ranges(s.grid, &s.grid->level[level], cell, true, range);
        }
        range[0].begin = i + 1; /* earlier bodies have been tested against i */
        scan_ranges(&s, i, range, ranges);
        for (int l = 0; l < level; l++)
            search_coarser_level(&s, i, &s.grid->level[l]);
        if (!s.grid->image || s.grid->image[i] == 0)
            search_walls(&s, i);
    }
    for (int run = 0; run < TALUS_RUNS; run++)
        flush_buffer(&s, run);
}

/* As search_chunk, but finds at least the pairs with a body of the subset `around`. Bodies of the subset search all 27
 * cells around them in their level, and walls. All bodies search the coarser levels, because a body of the subset does
 * not search the finer ones. */
static void search_around_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    Search s;
    init_search(&s, context);
    for (uint32_t i = (uint32_t)begin; i < (uint32_t)end; i++) {
        int level = level_of_cell(s.grid, s.grid->entry[i].a);
        bool in_subset = s.broad->around[s.grid->entry[i].b & ~TALUS_NOT_FREE_SPHERE];
        for (int l = 0; l < level; l++)
            search_coarser_level(&s, i, &s.grid->level[l]);
        if (!in_subset)
            continue;
        Range range[MAX_RANGES];
        scan_ranges(
            &s, i, range,
            find_neighbour_ranges(s.grid, &s.grid->level[level], s.grid->entry[i].a, false, range));
        search_walls(&s, i);
    }
    for (int run = 0; run < TALUS_RUNS; run++)
        flush_buffer(&s, run);
}

/* Fills the lists broad->run, unsorted. If a list is too short for its pairs, grows it and searches again. */
static TalusStatus search_pairs(TalusBroad *broad, TalusPool *pool)
{
    for (bool enough = false; !enough;) {
        for (int run = 0; run < TALUS_RUNS; run++)
            atomic_store(&broad->run[run].found, 0);
        if (broad->around)
            talus_parallel(pool, broad->grid.members, GRAIN, search_around_chunk, broad);
        else
            talus_parallel(pool, broad->grid.members, GRAIN, search_chunk, broad);
        enough = true;
        for (int run = 0; run < TALUS_RUNS; run++) {
            TalusPairList *list = &broad->run[run];
            list->count = atomic_load(&list->found);
            TALUS_TRY(talus_check_pair_count((double)list->count, INT32_MAX));
            enough = enough && (size_t)list->count <= TALUS_CAPACITY(list->pair);
            TALUS_TRY(TALUS_GROW(list->pair, (size_t)list->count, 0, "pairs"));
        }
    }
    return TALUS_OK;
}

/* Arguments of rename_chunk. */
typedef struct BodyRenaming {
    TalusPair *pair;
    const uint32_t *name; /* by old number of a body: its new number */
} BodyRenaming;

/* Renames the bodies of pairs begin .. end - 1. */
static void rename_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BodyRenaming *r = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        r->pair[i] = (TalusPair){r->name[r->pair[i].a], r->name[r->pair[i].b]};
}

/* Replaces the bodies of all pairs by name[body]: slots by ranks, or ranks by slots. NULL: leaves the pairs as they
 * are, because slots are ranks. */
static void rename_bodies(TalusPool *pool, const TalusPairList *list, const uint32_t *name)
{
    BodyRenaming renaming = {list->pair, name};
    if (name)
        talus_parallel(pool, list->count, RENAME_GRAIN, rename_chunk, &renaming);
}

/* Sorts the pairs of a run by the ranks of (a, b). Overwrites the scratch memory and cell starts of the grid, which is
 * no longer needed. */
static TalusStatus sort_run(TalusBroad *broad, TalusPool *pool, TalusPairList *list)
{
    TalusScratch *scratch = &broad->scratch;
    TalusGrid *grid = &broad->grid;
    uint32_t range = (uint32_t)grid->bodies->count;
    if (list->count == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(scratch->block, (size_t)list->count * sizeof(TalusPair), 0, "pairs"));
    TALUS_TRY(TALUS_GROW(grid->start, (size_t)range + 1, 0, "pair starts"));
    rename_bodies(pool, list, grid->bodies->rank);
    TALUS_TRY(talus_sort_pairs_by_a(&scratch->sorter, pool, list->pair, (TalusPair *)scratch->block,
                                    list->count, range, grid->start));
    talus_sort_pairs_by_b(pool, list->pair, grid->start, range);
    rename_bodies(pool, list, grid->bodies->at_rank);
    return TALUS_OK;
}

TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options)
{
    broad->around = NULL;
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options));
    TALUS_TRY(search_pairs(broad, pool));
    for (int run = 0; run < TALUS_RUNS; run++)
        TALUS_TRY(sort_run(broad, pool, &broad->run[run]));
    return TALUS_OK;
}

TalusStatus talus_broad_find_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                    const TalusDetectOptions *options, const uint8_t *around)
{
    broad->around = around;
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options));
    return search_pairs(broad, pool);
}

void talus_broad_clear(TalusBroad *broad)
{
    for (int run = 0; run < TALUS_RUNS; run++)
        talus_release(broad->run[run].pair);
    talus_grid_clear(&broad->grid);
    talus_release(broad->scratch.block);
    talus_sorter_clear(&broad->scratch.sorter);
}
