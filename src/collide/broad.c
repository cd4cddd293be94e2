/* collide/broad.c - searches the grid and the walls for pairs of bodies (broad.h). */
#include "collide/search.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/neighbours.h"
#include "comm/comm.h"

enum {
    GRAIN = 512, /* entries of a chunk */
    HITS = 256,  /* capacity of hit[] in scan_ranges */
    BATCH = 128, /* entries tested before that capacity is checked */
    /* Nine rows of cells, each cut in two where the grid folds; and one, because add_range writes empty ranges too. */
    MAX_RANGES = 19
};

/* Contiguous entries of the grid. */
typedef struct Range {
    uint32_t begin, end;
} Range;

/* Adds the pair of entries i and j, whose fat spheres overlap. Two free spheres are added only if their gap is below
 * their envelope; about any other two bodies the narrow phase decides. */
static inline void add_entries(TalusSearch *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if ((a | b) & TALUS_NOT_FREE_SPHERE) {
        talus_search_add_others(s, a & ~TALUS_NOT_FREE_SPHERE, b & ~TALUS_NOT_FREE_SPHERE);
        return;
    }
    const TalusGridBody *p = &grid->body[i], *q = &grid->body[j];
    double dx = q->x - p->x, dy = q->y - p->y, dz = q->z - p->z;
    if (talus_search_is_sure(s, dx * dx + dy * dy + dz * dz, grid->radius[i], grid->radius[j]) ||
        talus_spheres_within_envelope_unwrapped(grid->bodies, grid->options, a, b))
        talus_search_add_spheres(s, a, b);
}

/* As add_entries, for a list of neighbours: all pairs with a free body are candidates. */
static inline void add_candidates(TalusSearch *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if (!((a | b) & TALUS_NOT_FREE_SPHERE)) {
        talus_search_add_spheres(s, a, b);
        return;
    }
    a &= ~TALUS_NOT_FREE_SPHERE;
    b &= ~TALUS_NOT_FREE_SPHERE;
    if (talus_is_free(grid->bodies, a) || talus_is_free(grid->bodies, b))
        talus_search_add(s, TALUS_RUN_GENERAL, a, b);
}

/* As add_entries, in periodic space. Images repeat a pair at the same relative position: the pair is added only from
 * the two entries that are shifted along no common axis. */
static void add_entries_periodic(TalusSearch *s, uint32_t i, uint32_t j)
{
    const TalusGrid *grid = s->grid;
    uint32_t a = grid->entry[i].b, b = grid->entry[j].b;
    if (grid->image[i] & grid->image[j])
        return;
    if ((a | b) & TALUS_NOT_FREE_SPHERE)
        talus_search_add_others(s, a & ~TALUS_NOT_FREE_SPHERE, b & ~TALUS_NOT_FREE_SPHERE);
    else if (talus_spheres_within_envelope(grid->bodies, grid->options,
                                           talus_vector_between(grid->bodies, a, b), a, b))
        talus_search_add_spheres(s, a, b);
}

/* Adds the pairs of entry i with the entries hit[0 .. hits - 1]. */
static inline void add_hits(TalusSearch *s, uint32_t i, const uint32_t *hit, int hits)
{
    for (int k = 0; k < hits; k++) {
        if (s->broad->candidates)
            add_candidates(s, i, hit[k]);
        else if (s->grid->image)
            add_entries_periodic(s, i, hit[k]);
        else
            add_entries(s, i, hit[k]);
    }
}

/* Tests entry i against all entries of the ranges and passes those with overlapping fat spheres to add_hits. The
 * outcome of a test cannot be predicted, so the inner loop collects hits without a branch. */
static void scan_ranges(TalusSearch *s, uint32_t i, const Range *range, int ranges)
{
    const TalusGridBody *body = s->grid->body;
    const TalusGridBody me = body[i];
    uint32_t hit[HITS];
    int hits = 0;
    for (int r = 0; r < ranges; r++) {
        for (uint32_t begin = range[r].begin, end = range[r].end; begin < end;) {
            uint32_t stop = end - begin > BATCH ? begin + BATCH : end;
            if (hits > HITS - BATCH) {
                add_hits(s, i, hit, hits);
                hits = 0;
            }
            for (uint32_t j = begin; j < stop; j++) {
                double dx = body[j].x - me.x, dy = body[j].y - me.y, dz = body[j].z - me.z;
                double fat = me.fat + body[j].fat;
                hit[hits] = j;
                hits += dx * dx + dy * dy + dz * dz < fat * fat;
            }
            begin = stop;
        }
    }
    add_hits(s, i, hit, hits);
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
static void search_coarser_level(TalusSearch *s, uint32_t i, const TalusLevel *level)
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

/* Index of the level to which a cell belongs. */
static int level_of_cell(const TalusGrid *grid, uint32_t cell)
{
    int l = grid->levels - 1;
    while (grid->level[l].first > cell)
        l--;
    return l;
}

/* Adds the pairs of entry i and the walls near it. */
static void search_walls(TalusSearch *s, uint32_t i)
{
    const TalusGridBody *me = &s->grid->body[i];
    talus_search_walls(s, s->grid->entry[i].b & ~TALUS_NOT_FREE_SPHERE,
                       talus_vec3(me->x, me->y, me->z), me->fat);
}

/* Tests entries begin .. end - 1 against later entries of their cell, the 13 cells that follow it, coarser levels and
 * walls (images are not tested against walls, nor are candidates searched there). */
static void search_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    TalusSearch s;
    talus_search_start(&s, context);
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
        if (!s.broad->candidates && (!s.grid->image || s.grid->image[i] == 0))
            search_walls(&s, i);
    }
    talus_search_finish(&s);
}

/* As search_chunk, but finds at least the pairs with a body of the subset `around`. Bodies of the subset search all 27
 * cells around them in their level, and walls. All bodies search the coarser levels, because a body of the subset does
 * not search the finer ones. */
static void search_around_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    TalusSearch s;
    talus_search_start(&s, context);
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
    talus_search_finish(&s);
}

/* Searches all entries of the grid. */
static void search_grid(TalusBroad *broad, TalusPool *pool)
{
    if (broad->around)
        talus_parallel(pool, broad->grid.members, GRAIN, search_around_chunk, broad);
    else
        talus_parallel(pool, broad->grid.members, GRAIN, search_chunk, broad);
}

/* Finds the pairs by a search of a new grid. */
static TalusStatus find_in_grid(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                const TalusDetectOptions *options)
{
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options, false));
    return talus_search_all(broad, pool, search_grid);
}

/* Makes the list of neighbours: the candidates of a search with wider fat radii. */
static TalusStatus make_neighbours(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                   const TalusDetectOptions *options)
{
    TALUS_TRY(talus_grid_build(&broad->grid, pool, &broad->scratch, bodies, options, true));
    broad->candidates = true;
    talus_neighbours_exchange(broad);
    TalusStatus status = talus_search_all(broad, pool, search_grid);
    if (status == TALUS_OK)
        status = talus_neighbours_take(broad, pool);
    talus_neighbours_exchange(broad);
    broad->candidates = false;
    return status;
}

/* Sets *covered: true if the lists of neighbours of all ranks contain all pairs in contact. Ranks make new lists together:
 * a rank that made one by itself would keep the others waiting, each time another one. */
static TalusStatus cover_on_all_ranks(TalusBroad *broad, TalusPool *pool,
                                      const TalusBodyView *bodies,
                                      const TalusDetectOptions *options, bool *covered)
{
    TalusStatus status = talus_neighbours_cover(broad, pool, bodies, options, covered);
    TALUS_TRY(talus_comm_agree(bodies->comm, status));
    *covered = !talus_comm_any(bodies->comm, !*covered);
    return TALUS_OK;
}

/* Sets *covered: true if the list of neighbours, made anew if that pays, contains all pairs in contact. */
static TalusStatus cover_with_neighbours(TalusBroad *broad, TalusPool *pool,
                                         const TalusBodyView *bodies,
                                         const TalusDetectOptions *options, bool *covered)
{
    TALUS_TRY(cover_on_all_ranks(broad, pool, bodies, options, covered));
    if (*covered || !talus_neighbours_due(broad, bodies))
        return TALUS_OK;
    TalusStatus status = make_neighbours(broad, pool, bodies, options);
    if (status != TALUS_OK) {
        talus_neighbours_give_up(broad);
        /* a search without a list needs fewer pairs, or says what is wrong */
        return status == TALUS_ERR_MEMORY ? status : TALUS_OK;
    }
    return talus_neighbours_cover(broad, pool, bodies, options, covered);
}

TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options)
{
    bool covered;
    broad->around = NULL;
    TALUS_TRY(cover_with_neighbours(broad, pool, bodies, options, &covered));
    if (covered)
        return talus_neighbours_find(broad, pool);
    TALUS_TRY(find_in_grid(broad, pool, bodies, options));
    for (int run = 0; run < TALUS_RUNS; run++)
        TALUS_TRY(talus_search_sort(broad, pool, &broad->run[run]));
    return TALUS_OK;
}

TalusStatus talus_broad_find_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                    const TalusDetectOptions *options, const uint8_t *around)
{
    bool covered;
    TALUS_TRY(talus_neighbours_cover(broad, pool, bodies, options, &covered));
    broad->around = around;
    return covered ? talus_neighbours_find(broad, pool)
                   : find_in_grid(broad, pool, bodies, options);
}

void talus_broad_clear(TalusBroad *broad)
{
    for (int run = 0; run < TALUS_RUNS; run++)
        talus_release(broad->run[run].pair);
    talus_grid_clear(&broad->grid);
    talus_neighbours_clear(&broad->neighbours);
    talus_release(broad->scratch.block);
    talus_sorter_clear(&broad->scratch.sorter);
}
