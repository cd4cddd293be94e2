/* world/ranks/cells.c - the cells that bodies touch (cells.h), in a hash table with open addresses. */
#include "world/ranks/cells.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>

/* Cells are numbered from -CELL_LIMIT to CELL_LIMIT along each axis, in KEY_BITS bits; the outermost are unbounded.
 * FIRST_PLACES: places of the smallest table. */
enum { KEY_BITS = 21, CELL_LIMIT = (1 << (KEY_BITS - 1)) - 1, FIRST_PLACES = 1024 };

/* ---- the grid ---- */

TalusCellGrid talus_cell_grid_make(const TalusPeriod *period, double edge)
{
    TalusCellGrid g = {.edge = {edge, edge, edge}};
    for (int axis = 0; axis < 3; axis++) {
        const double from = talus_along(period->lo, axis);
        const double side = talus_along(period->hi, axis) - from;
        if (!period->on[axis])
            continue;
        g.from[axis] = from;
        g.around[axis] = (int64_t)fmin(fmax(floor(side / edge), 1.0), CELL_LIMIT);
        g.edge[axis] = side / (double)g.around[axis];
    }
    if (period->tilt != 0.0)
        g.lean = period->tilt / (period->hi.y - period->lo.y);
    return g;
}

/* Returns the number of the cell that contains x along an axis; any for NaN. */
static int64_t cell_at(const TalusCellGrid *g, int axis, double x)
{
    const double at = floor((x - g->from[axis]) / g->edge[axis]);
    if (!(at > -CELL_LIMIT))
        return -CELL_LIMIT;
    return at < CELL_LIMIT ? (int64_t)at : CELL_LIMIT;
}

/* Returns a box, along the axes of the grid, around one along those of space. */
static TalusReachBox lean_box(const TalusCellGrid *g, TalusReachBox box)
{
    const double lo = g->lean * (box.lo.y - g->from[1]), hi = g->lean * (box.hi.y - g->from[1]);
    if (g->lean != 0.0) {
        box.lo.x -= fmax(lo, hi);
        box.hi.x -= fmin(lo, hi);
    }
    return box;
}

TalusCellRange talus_cells_of_box(const TalusCellGrid *g, const TalusReachBox *in_space)
{
    const TalusReachBox box = lean_box(g, *in_space);
    TalusCellRange c;
    for (int axis = 0; axis < 3; axis++) {
        c.lo[axis] = cell_at(g, axis, talus_along(box.lo, axis));
        c.hi[axis] = cell_at(g, axis, talus_along(box.hi, axis));
        if (g->around[axis] && c.hi[axis] - c.lo[axis] >= g->around[axis])
            c.hi[axis] = c.lo[axis] + g->around[axis] - 1;
    }
    return c;
}

int64_t talus_count_cells(const TalusCellRange *c)
{
    int64_t count = 1;
    for (int axis = 0; axis < 3 && count < TALUS_MANY_CELLS; axis++)
        count *= c->hi[axis] - c->lo[axis] + 1;
    return count < TALUS_MANY_CELLS ? count : TALUS_MANY_CELLS;
}

/* Returns one number for the cell with these numbers along the axes. */
static uint64_t key_of(const TalusCellGrid *g, const int64_t at[3])
{
    uint64_t key = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t around = g->around[axis];
        const int64_t k = around ? (at[axis] % around + around) % around : at[axis];
        key = key << KEY_BITS | (uint64_t)(k + CELL_LIMIT);
    }
    return key;
}

/* True if the cell is one of the range; along a period all are. */
static bool is_in_range(const TalusCellGrid *g, const TalusCellRange *range, uint64_t key)
{
    for (int axis = 2; axis >= 0; axis--, key >>= KEY_BITS) {
        const int64_t k = (int64_t)(key & ((UINT64_C(1) << KEY_BITS) - 1)) - CELL_LIMIT;
        if (!g->around[axis] && (k < range->lo[axis] || k > range->hi[axis]))
            return false;
    }
    return true;
}

/* ---- the table ---- */

/* Returns the place of the cell with this key, or the free place where it belongs; there is a free one. */
static uint64_t find_place(const TalusCellTable *t, uint64_t key)
{
    uint64_t at = talus_hash_mix(key) & t->mask;
    while (t->place[at] >= 0 && t->key[t->place[at]] != key)
        at = (at + 1) & t->mask;
    return at;
}

/* Doubles the number of places. */
static TalusStatus add_places(TalusCellTable *t)
{
    const uint64_t places = t->place ? 2 * (t->mask + 1) : FIRST_PLACES;
    TALUS_TRY(TALUS_GROW(t->place, (size_t)places, 0, "cells of a halo"));
    t->mask = places - 1;
    for (uint64_t k = 0; k < places; k++)
        t->place[k] = -1;
    for (int64_t c = 0; c < t->cells; c++)
        t->place[find_place(t, t->key[c])] = (int32_t)c;
    return TALUS_OK;
}

/* Makes room for some more cells and touches, and keeps half of the places free. */
static TalusStatus reserve_cells(TalusCellTable *t, int64_t more)
{
    const size_t have = (size_t)t->cells, cells = have + (size_t)more;
    const size_t touched = (size_t)t->touches;
    TALUS_TRY(TALUS_GROW(t->key, cells, have, "cells of a halo"));
    TALUS_TRY(TALUS_GROW(t->asks, cells, have, "cells of a halo"));
    TALUS_TRY(TALUS_GROW(t->touch, touched + (size_t)more, touched, "cells of a halo"));
    while (!t->place || 2 * (uint64_t)cells > t->mask)
        TALUS_TRY(add_places(t));
    return TALUS_OK;
}

/* Adds a body to the cell with this key. */
static void add_touch(TalusCellTable *t, uint64_t key, int32_t body, bool is_free)
{
    const uint64_t at = find_place(t, key);
    if (t->place[at] < 0) {
        t->place[at] = (int32_t)t->cells;
        t->key[t->cells] = key;
        t->asks[t->cells++] = 0;
    }
    const int32_t cell = t->place[at];
    t->asks[cell] |= is_free;
    t->touch[t->touches++] = (TalusCellTouch){cell, body};
}

TalusStatus talus_cell_table_add(TalusCellTable *t, int32_t body, bool is_free,
                                 const TalusReachBox *box)
{
    const TalusCellRange c = talus_cells_of_box(&t->grid, box);
    int64_t at[3];
    TALUS_TRY(reserve_cells(t, talus_count_cells(&c)));
    for (at[0] = c.lo[0]; at[0] <= c.hi[0]; at[0]++)
        for (at[1] = c.lo[1]; at[1] <= c.hi[1]; at[1]++)
            for (at[2] = c.lo[2]; at[2] <= c.hi[2]; at[2]++)
                add_touch(t, key_of(&t->grid, at), body, is_free);
    return TALUS_OK;
}

TalusStatus talus_cell_table_list(TalusCellTable *t)
{
    TALUS_TRY(TALUS_ALLOC(t->start, (size_t)t->cells + 2, "cells of a halo"));
    TALUS_TRY(TALUS_ALLOC(t->body, (size_t)t->touches + 1, "cells of a halo"));
    int32_t *next =
        t->start + 1; /* while bodies are listed: where the next one of cell c goes is next[c] */
    for (int64_t k = 0; k < t->touches; k++)
        t->start[t->touch[k].cell + 2]++;
    for (int64_t c = 0; c < t->cells; c++)
        t->start[c + 2] += t->start[c + 1];
    for (int64_t k = 0; k < t->touches; k++)
        t->body[next[t->touch[k].cell]++] = t->touch[k].body;
    return TALUS_OK;
}

int64_t talus_cell_table_ask(const TalusCellTable *t, const TalusReachBox *box, uint64_t *out)
{
    const TalusCellRange range = talus_cells_of_box(&t->grid, box);
    int64_t count = 0;
    for (int64_t c = 0; c < t->cells; c++)
        if (t->asks[c] && is_in_range(&t->grid, &range, t->key[c]))
            out[count++] = t->key[c];
    return count;
}

int32_t talus_cell_table_find(const TalusCellTable *t, uint64_t key, const int32_t **body)
{
    if (t->cells == 0)
        return 0;
    const int32_t cell = t->place[find_place(t, key)];
    if (cell < 0)
        return 0;
    *body = t->body + t->start[cell];
    return t->start[cell + 1] - t->start[cell];
}

void talus_cell_table_clear(TalusCellTable *t)
{
    TALUS_RELEASE(t->key, t->asks, t->start, t->body, t->touch, t->place);
    *t = (TalusCellTable){0};
}
