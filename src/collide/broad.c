/* collide/broad.c - searches the grid and the walls for pairs of bodies (broad.h). */
#include "collide/broad.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/errors.h"

#include <string.h>

/* MAX_RANGES: nine rows, each cut in two where the grid folds, and one more, as add_range writes empty ranges, too. */
enum { GRAIN = 512, RENAME_GRAIN = 4096, BUFFER = 128, HITS = 256, BATCH = 128, MAX_RANGES = 19 };

/* Search of one chunk of bodies. The fat sphere of a body has its radius plus a margin, so that those of two bodies in
 * contact overlap; lengths are in TalusGrid.unit. Pairs go through small buffers into the shared lists, in an order
 * that depends on the threads; sorting removes that. */
typedef struct Search {
    TalusBroad *broad;
    const TalusGrid *grid;
    double envelope, rest; /* options->envelope; 2 h times the reference speed, in units */
    TalusPair buffer[TALUS_RUNS][BUFFER];
    int buffered[TALUS_RUNS];
    uint32_t hit[HITS]; /* entries whose fat spheres overlap the current entry's */
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

static void flush(Search *s, int run)
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

static inline void add(Search *s, int run, uint32_t a, uint32_t b)
{
    if (s->buffered[run] == BUFFER)
        flush(s, run);
    TalusPair pair = {a, b};
    s->buffer[run][s->buffered[run]++] = pair;
}

/* Adds a pair of free spheres. */
static inline void add_spheres(Search *s, uint32_t a, uint32_t b)
{
    bool in_order = talus_ranks_before(s->grid->bodies->rank, a, b);
    add(s, TALUS_RUN_SPHERES, in_order ? a : b, in_order ? b : a);
}

/* Adds a pair that is not two free spheres, with a free body first: that of the lower id if both are free. Adds none if
 * neither is. */
static void add_other(Search *s, uint32_t a, uint32_t b)
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
    add(s, sphere_fixed ? TALUS_RUN_SPHERE_FIXED : TALUS_RUN_GENERAL, a, b);
}

/* Adds the pair of entries i and j, whose fat spheres overlap: two free spheres if their gap is below the envelope, any
 * other two bodies always (add_other), for the narrow phase to decide. Most pairs of spheres are so near that speeds
 * need no evaluation; the factor 1 - 2^-18 guards that shortcut against rounding. */
static inline void meet(Search *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if ((a | b) & TALUS_NOT_MOVING_SPHERE) {
        add_other(s, a & ~TALUS_NOT_MOVING_SPHERE, b & ~TALUS_NOT_MOVING_SPHERE);
        return;
    }
    const TalusGridBody *p = &grid->body[i], *q = &grid->body[j];
    double dx = q->x - p->x, dy = q->y - p->y, dz = q->z - p->z;
    double ra = grid->radius[i], rb = grid->radius[j];
    double sure = (ra + rb + s->envelope * (ra < rb ? ra : rb) + s->rest) * (1.0 - 0x1p-18);
    if (dx * dx + dy * dy + dz * dz < sure * sure ||
        talus_spheres_meet(grid->bodies, grid->options, a, b))
        add_spheres(s, a, b);
}

/* As meet, in periodic space. Images repeat a pair at the same relative position; it is taken once, where no axis is
 * shifted in both entries. */
static void meet_image(Search *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if (grid->image[i] & grid->image[j])
        return;
    if ((a | b) & TALUS_NOT_MOVING_SPHERE)
        add_other(s, a & ~TALUS_NOT_MOVING_SPHERE, b & ~TALUS_NOT_MOVING_SPHERE);
    else if (talus_spheres_reach(grid->bodies, grid->options,
                                 talus_body_distance(grid->bodies, a, b), a, b))
        add_spheres(s, a, b);
}

static inline void meet_hits(Search *s, uint32_t i, int hits)
{
    if (s->grid->image) {
        for (int k = 0; k < hits; k++)
            meet_image(s, i, s->hit[k]);
        return;
    }
    for (int k = 0; k < hits; k++)
        meet(s, i, s->hit[k]);
}

/* Tests entry i against all entries of the ranges: pairs with overlapping fat spheres go to meet. The inner loop has no
 * branch on the outcome of a test, which cannot be predicted; it collects hits, evaluated afterwards. */
static void scan(Search *s, uint32_t i, const Range *range, int ranges)
{
    const TalusGridBody *body = s->grid->body;
    const TalusGridBody me = body[i];
    int hits = 0;
    for (int r = 0; r < ranges; r++) {
        for (uint32_t begin = range[r].begin, end = range[r].end; begin < end;) {
            uint32_t stop = end - begin > BATCH ? begin + BATCH : end;
            if (hits > HITS - BATCH) {
                meet_hits(s, i, hits);
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
    meet_hits(s, i, hits);
}

/* Writes a range after `ranges` others; an empty one does not count. Returns the number of ranges. */
static int add_range(Range *range, int ranges, uint32_t begin, uint32_t end)
{
    range[ranges].begin = begin;
    range[ranges].end = end;
    return ranges + (begin < end);
}

/* Appends the entries of the cells x_low .. x_high of row (y, z) as one range, or as two if x_low > x_high, where the
 * row folds. Returns the number of ranges. */
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

/* Folds a cell coordinate of -1 .. cells into the periodic 0 .. cells - 1. */
static int64_t folded(int64_t k, int64_t cells)
{
    return k < 0 ? k + cells : k < cells ? k : k - cells;
}

/* Writes the ranges of entries in the 3x3x3 cells around `cell`; with `half`, only the cell itself and the 13
 * neighbours that follow it, so that each pair is seen once. The first range of a half starts with the cell itself.
 * Returns the number of ranges. */
static int neighbours(const TalusGrid *grid, const TalusLevel *level, uint32_t cell, bool half,
                      Range range[MAX_RANGES])
{
    const int64_t *n = level->cells;
    uint32_t local = cell - level->first, across = local / (uint32_t)n[0];
    int64_t x = local % (uint32_t)n[0], y = across % (uint32_t)n[1], z = across / (uint32_t)n[1];
    int64_t x_low = folded(x - 1, n[0]), x_high = folded(x + 1, n[0]);
    int ranges = 0;
    for (int k = half ? 4 : 0; k < 9; k++)
        ranges = add_row(grid, level, folded(y + k % 3 - 1, n[1]), folded(z + k / 3 - 1, n[2]),
                         half && k == 4 ? x : x_low, x_high, range, ranges);
    return ranges;
}

/* Tests entry i against a coarser level. A partner's fat radius is at most edge / 2, so its centre is at most fat +
 * edge / 2 away: two or three cells along each axis, because fat is at most edge / 4. */
static void search_coarser_level(Search *s, uint32_t i, const TalusLevel *level)
{
    const TalusGridBody *me = &s->grid->body[i];
    double reach = me->fat + 0.5 * level->edge;
    int64_t x_low = talus_fold(level, 0, talus_cell_of(level, me->x - reach));
    int64_t x_high = talus_fold(level, 0, talus_cell_of(level, me->x + reach));
    int64_t y_low = talus_cell_of(level, me->y - reach);
    int64_t y_high = talus_cell_of(level, me->y + reach);
    int64_t z_low = talus_cell_of(level, me->z - reach);
    int64_t z_high = talus_cell_of(level, me->z + reach);
    Range range[MAX_RANGES];
    int ranges = 0;
    for (int64_t z = z_low; z <= z_high; z++) {
        int64_t folded_z = talus_fold(level, 2, z);
        for (int64_t y = y_low; y <= y_high; y++)
            ranges = add_row(s->grid, level, talus_fold(level, 1, y), folded_z, x_low, x_high,
                             range, ranges);
    }
    scan(s, i, range, ranges);
}

/* Adds the walls near the body of entry i; in periodic space, near its image that is nearest to the wall. Against a
 * wall of size 0 the envelope contains envelope * size of the body, but fat contains only half of that. The other half
 * is at most envelope * fat / 2, because size <= fat. */
static void search_walls(Search *s, uint32_t i)
{
    const TalusGrid *grid = s->grid;
    const TalusBodyView *v = grid->bodies;
    const TalusGridBody *me = &grid->body[i];
    uint32_t body = grid->entry[i].b & ~TALUS_NOT_MOVING_SPHERE;
    double reach = me->fat * (1.0 + 0.5 * s->envelope);
    for (int w = 0; w < grid->walls; w++) {
        const TalusWall *wall = &grid->wall[w];
        TalusVec3 x = {me->x, me->y, me->z};
        if (v->period) {
            x = talus_add(v->position[wall->body], talus_body_distance(v, wall->body, body));
            x = talus_scale(grid->per_unit, x);
        }
        if (talus_near_wall(v, wall, x, reach + wall->margin, grid->unit, true))
            add_other(s, body, wall->body);
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

static void begin_search(Search *s, TalusBroad *broad)
{
    s->broad = broad;
    s->grid = &broad->grid;
    s->envelope = s->grid->options->envelope;
    s->rest = s->grid->options->h * (2.0 * s->grid->options->reference_speed) / s->grid->unit;
    memset(s->buffered, 0, sizeof s->buffered);
}

/* Tests entries begin .. end - 1 against later entries of their cell, the 13 cells that follow it, coarser levels and,
 * except for images, walls. */
static void search_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    Search s;
    begin_search(&s, context);
    Range range[MAX_RANGES];
    uint32_t cell = UINT32_MAX;
    int ranges = 0, level = 0;
    for (uint32_t i = (uint32_t)begin; i < (uint32_t)end; i++) {
        if (s.grid->entry[i].a != cell) {
            cell = s.grid->entry[i].a;
            level = level_of_cell(s.grid, cell);
            ranges = neighbours(s.grid, &s.grid->level[level], cell, true, range);
        }
        range[0].begin = i + 1; /* earlier bodies have been tested against i */
        scan(&s, i, range, ranges);
        for (int l = 0; l < level; l++)
            search_coarser_level(&s, i, &s.grid->level[l]);
        if (!s.grid->image || s.grid->image[i] == 0)
            search_walls(&s, i);
    }
    for (int run = 0; run < TALUS_RUNS; run++)
        flush(&s, run);
}

/* As search_chunk, but finds at least the pairs with a body of the subset `around`. Bodies of the subset search all 27
 * cells around them in their level, and walls. All bodies search the coarser levels, because a body of the subset does
 * not search the finer ones. */
static void search_around_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    Search s;
    begin_search(&s, context);
    for (uint32_t i = (uint32_t)begin; i < (uint32_t)end; i++) {
        int level = level_of_cell(s.grid, s.grid->entry[i].a);
        bool asked = s.broad->around[s.grid->entry[i].b & ~TALUS_NOT_MOVING_SPHERE];
        for (int l = 0; l < level; l++)
            search_coarser_level(&s, i, &s.grid->level[l]);
        if (!asked)
            continue;
        Range range[MAX_RANGES];
        scan(&s, i, range,
             neighbours(s.grid, &s.grid->level[level], s.grid->entry[i].a, false, range));
        search_walls(&s, i);
    }
    for (int run = 0; run < TALUS_RUNS; run++)
        flush(&s, run);
}

/* Fills broad->run, unsorted; searches again with more capacity if a list was too short. */
static TalusStatus search(TalusBroad *broad, TalusPool *pool)
{
    for (bool enough = false; !enough;) {
        for (int run = 0; run < TALUS_RUNS; run++)
            atomic_store(&broad->run[run].found, 0);
        talus_parallel(pool, broad->grid.members, GRAIN,
                       broad->around ? search_around_chunk : search_chunk, broad);
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

typedef struct Renaming {
    TalusPair *pair;
    const uint32_t *name;
} Renaming;

static void rename_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Renaming *r = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        r->pair[i] = (TalusPair){r->name[r->pair[i].a], r->name[r->pair[i].b]};
}

/* Replaces bodies by their names: slots by ranks, or ranks by slots. Names NULL: slots are in the order of ranks. */
static void rename_bodies(TalusPool *pool, const TalusPairList *list, const uint32_t *name)
{
    Renaming renaming = {list->pair, name};
    if (name)
        talus_parallel(pool, list->count, RENAME_GRAIN, rename_chunk, &renaming);
}

/* Sorts a run. The grid is no longer needed: its scratch memory and cell starts are reused. */
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
    TALUS_TRY(talus_sort_pairs(&scratch->sorter, pool, list->pair, (TalusPair *)scratch->block,
                               list->count, range, grid->start));
    talus_sort_within(pool, list->pair, grid->start, range);
    rename_bodies(pool, list, grid->bodies->at_rank);
    return TALUS_OK;
}

TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options)
{
    broad->around = NULL;
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options));
    TALUS_TRY(search(broad, pool));
    for (int run = 0; run < TALUS_RUNS; run++)
        TALUS_TRY(sort_run(broad, pool, &broad->run[run]));
    return TALUS_OK;
}

TalusStatus talus_broad_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                               const TalusDetectOptions *options, const uint8_t *around)
{
    broad->around = around;
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options));
    return search(broad, pool);
}

void talus_broad_clear(TalusBroad *broad)
{
    for (int run = 0; run < TALUS_RUNS; run++)
        talus_release(broad->run[run].pair);
    talus_grid_clear(&broad->grid);
    talus_release(broad->scratch.block);
    talus_sorter_clear(&broad->scratch.sorter);
}
