/* geometry/adjacency.c - links the sides of triangles that share an edge (adjacency.h). */
#include "geometry/adjacency.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Merges the sorted runs begin .. middle - 1 and middle .. end - 1 of `from` into `to`. */
static void merge_runs(const TalusKeyed *from, TalusKeyed *to, size_t begin, size_t middle,
                       size_t end)
{
    size_t left = begin, right = middle;
    for (size_t k = begin; k < end; k++) {
        bool take_left = left < middle && (right >= end || from[left].key <= from[right].key);
        to[k] = take_left ? from[left++] : from[right++];
    }
}

void talus_sort_keyed(TalusKeyed *item, TalusKeyed *spare, size_t count)
{
    TalusKeyed *from = item, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = middle + width < count ? middle + width : count;
            merge_runs(from, to, begin, middle, end);
        }
        TalusKeyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != item)
        memcpy(item, from, count * sizeof *item);
}

/* Sort key of an edge: its vertices, the lower first, whichever way the side runs. */
static uint64_t make_edge_key(const int32_t *triangle, int32_t side)
{
    uint32_t a = (uint32_t)talus_side_start(triangle, side),
             b = (uint32_t)talus_side_end(triangle, side);
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Sets across[] so that the sides of each edge, which follow each other in `item`, form a ring. */
static void link_edges(const TalusKeyed *item, size_t count, int32_t *across)
{
    for (size_t begin = 0; begin < count;) {
        size_t end = begin + 1;
        while (end < count && item[end].key == item[begin].key)
            end++;
        for (size_t k = begin; k < end; k++)
            across[item[k].value] = item[k + 1 < end ? k + 1 : begin].value;
        if (end == begin + 1)
            across[item[begin].value] = -1;
        begin = end;
    }
}

TalusStatus talus_link_sides(const int32_t *triangle, int triangles, int32_t *across)
{
    size_t sides = 3 * (size_t)triangles;
    TalusKeyed *item;
    TALUS_TRY(TALUS_ALLOC(item, 2 * sides, "edges of a mesh"));
    for (size_t s = 0; s < sides; s++) {
        item[s].key = make_edge_key(triangle, (int32_t)s);
        item[s].value = (int32_t)s;
    }
    talus_sort_keyed(item, item + sides, sides);
    link_edges(item, sides, across);
    talus_release(item);
    return TALUS_OK;
}

/* Start vertex of a side; its end vertex if its triangle counts as reversed. */
static int32_t oriented_start(const int32_t *triangle, const uint8_t *reversed, int32_t side)
{
    return reversed && reversed[side / 3] ? talus_side_end(triangle, side)
                                          : talus_side_start(triangle, side);
}

bool talus_side_is_balanced(const int32_t *triangle, const int32_t *across, const uint8_t *reversed,
                            int32_t side)
{
    int balance = 1;
    int32_t from = oriented_start(triangle, reversed, side), other = across[side];
    if (other < 0)
        return false;
    for (int k = 1; other != side; k++) {
        if (k == TALUS_EDGE_TRIANGLES)
            return false;
        balance += oriented_start(triangle, reversed, other) == from ? 1 : -1;
        other = across[other];
    }
    return balance == 0;
}
