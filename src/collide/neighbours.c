/* collide/neighbours.c - the list of neighbours (neighbours.h): whether it holds, and the pairs in contact among it. */
#include "collide/neighbours.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/search.h"

#include <limits.h>

enum {
    GRAIN = 2048,       /* bodies of a chunk */
    PAIR_GRAIN = 4096,  /* pairs of a chunk; a multiple of 64, the pairs of a word of marks */
    MOTION_SAMPLE = 64, /* bodies whose mean motion is D */
    MAX_PAUSE = 32      /* detections */
};

/* ---- whether the list holds ---- */

/* Arguments of the loops that check the list. */
typedef struct Check {
    TalusGrid *grid;
    const TalusNeighbours *list;
    TalusVec3 motion; /* D of neighbours.h, in units */
    atomic_bool covered;
} Check;

/* Role of the body in slot i, whose fat radius is `fat`. */
static uint8_t role_of(const TalusBodyView *v, uint32_t i, float fat)
{
    if (fat == 0.0f)
        return 0;
    return (uint8_t)(TALUS_ROLE_IN_GRID | (talus_is_free(v, i) ? TALUS_ROLE_FREE : 0) |
                     (fat > 0.0f ? TALUS_ROLE_SPHERE : 0));
}

/* Measures bodies begin .. end - 1 and checks whether the list covers them. */
static void check_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Check *c = context;
    TalusGrid *grid = c->grid;
    bool covered = true;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        float fat = talus_grid_measure_body(grid, (uint32_t)i);
        const TalusGridBody *then = &c->list->body[i];
        grid->fat[i] = fat;
        covered &= role_of(grid->bodies, (uint32_t)i, fat) == c->list->role[i];
        if (fat == 0.0f)
            continue;
        TalusVec3 x = talus_scale(grid->per_unit, grid->bodies->position[i]);
        TalusVec3 moved = talus_sub(talus_sub(x, talus_vec3(then->x, then->y, then->z)), c->motion);
        covered &= fabs((double)fat) + talus_norm(moved) <= then->fat;
    }
    if (!covered)
        atomic_store(&c->covered, false);
}

/* Checks whether pairs begin .. end - 1 of free spheres are in the order of ids: other bodies may have taken slots. */
static void check_order_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Check *c = context;
    const uint32_t *rank = c->grid->bodies->rank;
    const TalusPair *pair = c->list->spheres.pair;
    bool sorted = true;
    (void)chunk;
    for (int64_t k = begin; k < end; k++) {
        TalusKey key = talus_pair_key(rank, pair[k].a, pair[k].b, 0);
        sorted &= key.a < key.b;
        if (k > 0)
            sorted &= talus_key_less(talus_pair_key(rank, pair[k - 1].a, pair[k - 1].b, 0), key);
    }
    if (!sorted)
        atomic_store(&c->covered, false);
}

/* Returns the mean motion since the list was made, of some free bodies, in units. */
static TalusVec3 mean_motion(const TalusGrid *grid, const TalusNeighbours *list)
{
    TalusVec3 sum = {0.0, 0.0, 0.0};
    int stride = list->slots / MOTION_SAMPLE + 1, count = 0;
    for (int i = 0; i < list->slots; i += stride) {
        const TalusGridBody *then = &list->body[i];
        TalusVec3 x = talus_scale(grid->per_unit, grid->bodies->position[i]);
        if (!(list->role[i] & TALUS_ROLE_FREE))
            continue;
        sum = talus_add(sum, talus_sub(x, talus_vec3(then->x, then->y, then->z)));
        count++;
    }
    return count ? talus_scale(1.0 / count, sum) : sum;
}

/* Gives the grid the bodies and the parameters of the list. */
static void restore_grid(TalusBroad *broad, const TalusBodyView *bodies,
                         const TalusDetectOptions *options)
{
    const TalusNeighbours *list = &broad->neighbours;
    TalusGrid *grid = &broad->grid;
    grid->bodies = bodies;
    grid->options = options;
    grid->with_skin = false;
    grid->sampled = list->sampled;
    grid->drift = list->drift;
    grid->unit = list->unit;
    grid->per_unit = 1.0 / list->unit;
    grid->large = list->large;
    grid->image = NULL;
    grid->image_count = 0;
    grid->fit.clipped = 0;
}

TalusStatus talus_neighbours_cover(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                   const TalusDetectOptions *options, bool *covered)
{
    TalusNeighbours *list = &broad->neighbours;
    TalusGrid *grid = &broad->grid;
    *covered = false;
    if (list->slots == 0 || list->slots != bodies->count || bodies->period)
        return TALUS_OK;
    restore_grid(broad, bodies, options);
    TALUS_TRY(TALUS_GROW(grid->fat, (size_t)bodies->count, 0, "fat radii"));
    /* other slots have no walls as long as their roles are those of the list */
    TalusSlots off_grid = {list->off_grid, list->off_grid_count};
    TALUS_TRY(talus_grid_collect_walls(grid, &off_grid));
    Check check = {grid, list, {0.0, 0.0, 0.0}, true};
    if (list->all_free)
        check.motion = mean_motion(grid, list);
    talus_grid_start_check(grid);
    talus_parallel(pool, bodies->count, GRAIN, check_bodies_chunk, &check);
    if (talus_grid_check_bodies(grid) != TALUS_OK)
        return TALUS_OK; /* a new grid, of another unit, says whether there is a fault */
    if (atomic_load(&check.covered) && (bodies->rank || list->ranked))
        talus_parallel(pool, list->spheres.count, PAIR_GRAIN, check_order_chunk, &check);
    *covered = atomic_load(&check.covered);
    return TALUS_OK;
}

/* ---- a new list ---- */

bool talus_neighbours_due(TalusBroad *broad, const TalusBodyView *bodies)
{
    TalusNeighbours *list = &broad->neighbours;
    if (bodies->period)
        return false;
    if (list->slots > 0) { /* the list has just ceased to hold */
        list->next_pause = list->uses > 1 ? 0 : 2 * list->next_pause + 1;
        if (list->next_pause > MAX_PAUSE)
            list->next_pause = MAX_PAUSE;
        list->pause = list->next_pause;
        list->slots = 0;
    }
    if (list->pause == 0)
        return true;
    list->pause--;
    return false;
}

void talus_neighbours_give_up(TalusBroad *broad)
{
    broad->neighbours.slots = 0;
    broad->neighbours.pause = MAX_PAUSE;
}

/* Copies what checks of the list need of bodies begin .. end - 1. */
static void take_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusBroad *broad = context;
    const TalusGrid *grid = &broad->grid;
    TalusNeighbours *list = &broad->neighbours;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusVec3 x = talus_scale(grid->per_unit, grid->bodies->position[i]);
        /* the factor guards the check against rounding */
        list->body[i] =
            (TalusGridBody){x.x, x.y, x.z, fabs((double)grid->fat[i]) * (1.0 - 0x1p-20)};
        list->role[i] = role_of(grid->bodies, (uint32_t)i, grid->fat[i]);
    }
}

/* Sets all_free and the slots off the grid from the roles. */
static TalusStatus survey_roles(TalusNeighbours *list, int slots)
{
    int off_grid = 0;
    list->all_free = true;
    for (int i = 0; i < slots; i++) {
        off_grid += list->role[i] == 0;
        list->all_free &= list->role[i] == 0 || (list->role[i] & TALUS_ROLE_FREE);
    }
    TALUS_TRY(TALUS_GROW(list->off_grid, (size_t)off_grid, 0, "neighbours"));
    list->off_grid_count = 0;
    for (int i = 0; list->off_grid_count < off_grid; i++)
        if (list->role[i] == 0)
            list->off_grid[list->off_grid_count++] = (uint32_t)i;
    return TALUS_OK;
}

/* Exchanges the pairs of two lists. */
static void exchange_pairs(TalusPairList *p, TalusPairList *q)
{
    TalusPair *pair = p->pair;
    int64_t count = p->count;
    p->pair = q->pair;
    p->count = q->count;
    q->pair = pair;
    q->count = count;
}

void talus_neighbours_exchange(TalusBroad *broad)
{
    exchange_pairs(&broad->neighbours.spheres, &broad->run[TALUS_RUN_SPHERES]);
    exchange_pairs(&broad->neighbours.others, &broad->run[TALUS_RUN_GENERAL]);
}

TalusStatus talus_neighbours_take(TalusBroad *broad, TalusPool *pool)
{
    TalusNeighbours *list = &broad->neighbours;
    const TalusGrid *grid = &broad->grid;
    int slots = grid->bodies->count;
    size_t pairs = (size_t)broad->run[TALUS_RUN_SPHERES].count;
    list->slots = 0;
    if (grid->sampled == 0) { /* no body is free */
        talus_neighbours_give_up(broad);
        return TALUS_OK;
    }
    TALUS_TRY(TALUS_GROW(list->body, (size_t)slots, 0, "neighbours"));
    TALUS_TRY(TALUS_GROW(list->role, (size_t)slots, 0, "neighbours"));
    TALUS_TRY(TALUS_GROW(list->mark, pairs / 64 + 1, 0, "neighbours"));
    TALUS_TRY(TALUS_GROW(list->chunk, pairs / PAIR_GRAIN + 1, 0, "neighbours"));
    talus_parallel(pool, slots, GRAIN, take_bodies_chunk, broad);
    TALUS_TRY(survey_roles(list, slots));
    TALUS_TRY(talus_search_sort(broad, pool, &broad->run[TALUS_RUN_SPHERES]));
    list->uses = 0;
    list->drift = grid->drift;
    list->unit = grid->unit;
    list->large = grid->large;
    list->sampled = grid->sampled;
    list->ranked = grid->bodies->rank != NULL;
    list->slots = slots;
    return TALUS_OK;
}

/* ---- pairs in contact ---- */

/* True if the fat spheres of two bodies overlap; sets *distance2, the square of the distance of their centres, in
 * units. */
static inline bool fat_spheres_overlap(const TalusGrid *grid, TalusPair pair, double *distance2)
{
    const TalusVec3 *x = grid->bodies->position;
    TalusVec3 d = talus_scale(grid->per_unit, talus_sub(x[pair.b], x[pair.a]));
    double fat = fabs((double)grid->fat[pair.a]) + fabs((double)grid->fat[pair.b]);
    *distance2 = talus_dot(d, d);
    return *distance2 < fat * fat;
}

/* True if two free spheres of the list are a contact to be found. */
static inline bool is_contact(const TalusSearch *s, TalusPair pair)
{
    const TalusBodyView *v = s->grid->bodies;
    const uint8_t *around = s->broad->around;
    double distance2, per_unit = s->grid->per_unit * (1.0 - 0x1p-20);
    if (!fat_spheres_overlap(s->grid, pair, &distance2))
        return false;
    if (around && !around[pair.a] && !around[pair.b])
        return false;
    if (v->filter && !talus_may_meet(v->filter, pair.a, pair.b))
        return false;
    if (v->halo > 0 && !talus_search_is_own(v, pair))
        return false;
    return talus_search_is_sure(s, distance2, v->radius[pair.a] * per_unit,
                                v->radius[pair.b] * per_unit) ||
           talus_spheres_within_envelope_unwrapped(v, s->grid->options, pair.a, pair.b);
}

/* Marks the contacts among pairs begin .. end - 1 of free spheres, and counts them. */
static void mark_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusBroad *broad = context;
    TalusNeighbours *list = &broad->neighbours;
    TalusSearch s;
    int64_t marked = 0;
    talus_search_start(&s, broad);
    for (int64_t first = begin; first < end; first += 64) {
        int64_t last = first + 64 < end ? first + 64 : end;
        uint64_t mark = 0;
        for (int64_t k = first; k < last; k++) {
            uint64_t hit = is_contact(&s, list->spheres.pair[k]);
            mark |= hit << (k - first);
            marked += (int64_t)hit;
        }
        list->mark[first / 64] = mark;
    }
    list->chunk[chunk] = marked;
}

/* Writes the marked pairs among begin .. end - 1 to the first run. */
static void write_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusBroad *broad = context;
    const TalusNeighbours *list = &broad->neighbours;
    TalusPair *out = broad->run[TALUS_RUN_SPHERES].pair + list->chunk[chunk];
    for (int64_t first = begin; first < end; first += 64)
        for (uint64_t mark = list->mark[first / 64]; mark; mark &= mark - 1)
            *out++ = list->spheres.pair[first + __builtin_ctzll(mark)];
}

/* Writes the contacts of free spheres to the first run, in the order of the list, which is sorted. */
static TalusStatus find_spheres(TalusBroad *broad, TalusPool *pool)
{
    TalusNeighbours *list = &broad->neighbours;
    TalusPairList *run = &broad->run[TALUS_RUN_SPHERES];
    int64_t pairs = list->spheres.count, sum = 0;
    talus_parallel(pool, pairs, PAIR_GRAIN, mark_chunk, broad);
    for (int64_t c = 0; c < talus_chunks(pairs, PAIR_GRAIN); c++) {
        int64_t marked = list->chunk[c];
        list->chunk[c] = sum;
        sum += marked;
    }
    TALUS_TRY(TALUS_GROW(run->pair, (size_t)sum, 0, "pairs"));
    run->count = sum;
    if (sum > 0)
        talus_parallel(pool, pairs, PAIR_GRAIN, write_chunk, broad);
    return TALUS_OK;
}

/* Adds the pairs among begin .. end - 1 of the other pairs whose fat spheres overlap. */
static void search_others_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusBroad *broad = context;
    TalusSearch s;
    double distance2;
    (void)chunk;
    talus_search_start(&s, broad);
    for (int64_t k = begin; k < end; k++) {
        TalusPair pair = broad->neighbours.others.pair[k];
        if ((!broad->around || broad->around[pair.a] || broad->around[pair.b]) &&
            fat_spheres_overlap(s.grid, pair, &distance2))
            talus_search_add_others(&s, pair.a, pair.b);
    }
    talus_search_finish(&s);
}

/* Adds the pairs of bodies begin .. end - 1 and the walls near them. */
static void search_walls_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusBroad *broad = context;
    const TalusGrid *grid = &broad->grid;
    TalusSearch s;
    (void)chunk;
    talus_search_start(&s, broad);
    for (int64_t i = begin; i < end; i++)
        if (grid->fat[i] != 0.0f && (!broad->around || broad->around[i]))
            talus_search_walls(&s, (uint32_t)i,
                               talus_scale(grid->per_unit, grid->bodies->position[i]),
                               fabs((double)grid->fat[i]));
    talus_search_finish(&s);
}

/* Searches for pairs of the second and third run. */
static void search_other_runs(TalusBroad *broad, TalusPool *pool)
{
    talus_parallel(pool, broad->neighbours.others.count, PAIR_GRAIN, search_others_chunk, broad);
    if (broad->grid.walls > 0)
        talus_parallel(pool, broad->grid.bodies->count, GRAIN, search_walls_chunk, broad);
}

TalusStatus talus_neighbours_find(TalusBroad *broad, TalusPool *pool)
{
    broad->neighbours.uses += broad->neighbours.uses < INT_MAX;
    TALUS_TRY(talus_search_all(broad, pool, search_other_runs));
    for (int run = TALUS_RUN_SPHERE_FIXED; run < TALUS_RUNS && !broad->around; run++)
        TALUS_TRY(talus_search_sort(broad, pool, &broad->run[run]));
    return find_spheres(broad, pool);
}

void talus_neighbours_clear(TalusNeighbours *list)
{
    TALUS_RELEASE(list->spheres.pair, list->others.pair, list->body, list->role, list->off_grid,
                  list->mark, list->chunk);
}
