/* io/surface/surface_orient.c - consistent windings of triangles.
 *
 * Two triangles agree if they traverse their common edge in opposite directions. From the first triangle of each
 * connected part, agreement is propagated over edges that exactly two triangles share; the minority of the part's
 * triangles is reversed. Then a part is closed if all its edges are balanced (talus_side_is_balanced). A closed part in
 * which triangles were reversed is reversed as a whole if its volume is negative and it stays closed. Other closed parts
 * may have negative volume: cavities in a solid, which keep their orientation. Only if the closed parts together have
 * negative volume are all triangles of the file reversed. */
#include "base/memory.h"
#include "geometry/adjacency.h"
#include "io/surface/surface.h"

#include <string.h>

/* Side 3 t + k, k = 0 to 2, is that of triangle t from its corner k to the next. */
typedef struct Windings {
    TalusSoup *soup;
    int32_t *across;  /* [sides]: next side on the same edge; -1: none */
    int32_t *part;    /* [triangles]: first triangle of its part, -1 if not reached */
    int32_t *queue;   /* [triangles]: in the order in which they are reached, part by part */
    uint8_t *turn;    /* [triangles]: 1 if to be reversed */
    TalusVec3 origin; /* centre of the bounds */
    TalusSurface *out;
} Windings;

/* A connected part of the surface. */
typedef struct Part {
    int first, count, turned; /* queue[first .. first + count - 1]; number to be reversed */
    bool twisted;             /* is not orientable */
} Part;

/* Sets *other to the side on the same edge; false unless the edge has exactly two sides. *agree is true if the two run
 * in opposite directions. */
static bool pair_of(const Windings *w, int32_t side, int32_t *other, bool *agree)
{
    *other = w->across[side];
    if (*other < 0 || w->across[*other] != side)
        return false;
    const int32_t *t = w->soup->triangle;
    *agree = talus_side_start(t, side) == talus_side_end(t, *other);
    return true;
}

/* Returns six times the volume of the tetrahedron of a triangle, reversed if turn says so, and w->origin; negative if
 * the triangle faces the origin. */
static double volume_under(const Windings *w, int32_t t)
{
    const int32_t *v = w->soup->triangle + 3 * (size_t)t;
    TalusVec3 a = talus_sub(w->soup->vertex[v[0]], w->origin),
              b = talus_sub(w->soup->vertex[v[1]], w->origin),
              c = talus_sub(w->soup->vertex[v[2]], w->origin);
    double six = talus_dot(a, talus_cross(b, c));
    return w->turn[t] ? -six : six;
}

/* Appends the unreached neighbours of triangle t to the queue, with turn[] so that they agree with t. The part is
 * twisted if a reached neighbour cannot agree. */
static void visit(Windings *w, Part *part, int32_t t, int *tail)
{
    for (int k = 0; k < 3; k++) {
        int32_t other;
        bool agree;
        if (!pair_of(w, 3 * t + k, &other, &agree))
            continue;
        uint8_t turn = (uint8_t)(agree ? w->turn[t] : !w->turn[t]);
        int32_t u = other / 3;
        if (w->part[u] >= 0) {
            part->twisted = part->twisted || w->turn[u] != turn;
            continue;
        }
        w->part[u] = w->part[t];
        w->turn[u] = turn;
        w->queue[(*tail)++] = u;
    }
}

/* Finds the part of triangle `seed`, whose triangles take the places of queue from `first` on. */
static Part reach(Windings *w, int32_t seed, int first)
{
    Part part = {.first = first};
    int tail = first;
    w->part[seed] = seed;
    w->queue[tail++] = seed;
    for (int head = first; head < tail; head++)
        visit(w, &part, w->queue[head], &tail);
    part.count = tail - first;
    for (int k = first; k < tail; k++)
        part.turned += w->turn[w->queue[k]];
    return part;
}

static void turn_part(Windings *w, Part *part)
{
    for (int k = part->first; k < part->first + part->count; k++)
        w->turn[w->queue[k]] ^= 1;
    part->turned = part->count - part->turned;
}

/* Chooses which triangles of a part are reversed: none if it is twisted, else the minority. */
static void choose_turns(Windings *w, Part *part)
{
    if (part->twisted) { /* not orientable, as a Moebius strip: keep the file's winding */
        for (int k = part->first; k < part->first + part->count; k++)
            w->turn[w->queue[k]] = 0;
        part->turned = 0;
        w->out->twisted++;
    }
    if (2 * part->turned > part->count)
        turn_part(w, part);
}

/* True if all edges of a part are balanced under turn[], which other parts may contribute to. */
static bool is_closed(const Windings *w, const Part *part)
{
    for (int k = part->first; k < part->first + part->count; k++)
        for (int32_t side = 3 * w->queue[k]; side < 3 * w->queue[k] + 3; side++)
            if (!talus_side_is_balanced(w->soup->triangle, w->across, w->turn, side))
                return false;
    return true;
}

/* Reverses a repaired part of negative volume, unless that would open it, and adds it to the counts and the volume. */
static void settle(Windings *w, Part *part)
{
    double six = 0.0;
    bool closed = is_closed(w, part);
    for (int k = part->first; closed && k < part->first + part->count; k++)
        six += volume_under(w, w->queue[k]);
    if (part->turned > 0 && six < 0.0) {
        turn_part(w, part);
        if (is_closed(w, part))
            six = -six;
        else /* it is closed only together with others */
            turn_part(w, part);
    }
    w->out->parts++;
    w->out->closed_parts += closed;
    w->out->turned += part->turned;
    w->out->volume += six / 6.0;
}

/* Returns the part whose triangles take the places of queue from `first` on, after all parts were reached. */
static Part part_from(const Windings *w, int first)
{
    Part part = {.first = first};
    int32_t seed = w->queue[first];
    for (int k = first; k < w->soup->triangles && w->part[w->queue[k]] == seed; k++) {
        part.count++;
        part.turned += w->turn[w->queue[k]];
    }
    return part;
}

/* Counts open edges and edges of more than two sides. `across` links the sides of an edge to a ring that ascends except
 * at its last side, by which the edge is counted once. */
static void count_edges(const Windings *w)
{
    for (int32_t side = 0; side < 3 * w->soup->triangles; side++) {
        int32_t other = w->across[side];
        w->out->open_edges += other < 0;
        w->out->crowded_edges += other >= 0 && other < side && w->across[other] != side;
    }
}

/* Reverses the triangles with turn 1 or, if the volume is negative, the others, so that the volume becomes positive. */
static void swap_corners(Windings *w)
{
    bool inverted = w->out->volume < 0.0;
    w->out->inverted = inverted;
    w->out->volume = fabs(w->out->volume);
    for (int t = 0; t < w->soup->triangles; t++) {
        int32_t *v = w->soup->triangle + 3 * (size_t)t;
        if ((bool)w->turn[t] == inverted)
            continue;
        int32_t swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
}

static TalusStatus orient(Windings *w)
{
    size_t count = (size_t)w->soup->triangles;
    TALUS_TRY(TALUS_ALLOC(w->across, 3 * count, "edges"));
    TALUS_TRY(TALUS_ALLOC(w->part, count, "parts"));
    TALUS_TRY(TALUS_ALLOC(w->queue, count, "parts"));
    TALUS_TRY(TALUS_ALLOC(w->turn, count, "windings"));
    TALUS_TRY(talus_link_sides(w->soup->triangle, w->soup->triangles, w->across));
    memset(w->part, 0xff, count * sizeof *w->part);
    int first = 0;
    for (int32_t t = 0; t < w->soup->triangles; t++) {
        if (w->part[t] >= 0)
            continue;
        Part part = reach(w, t, first);
        choose_turns(w, &part);
        first += part.count;
    }
    for (int next = 0; next < w->soup->triangles;) {
        Part part = part_from(w, next);
        settle(w, &part);
        next += part.count;
    }
    count_edges(w);
    swap_corners(w);
    return TALUS_OK;
}

TalusStatus talus_surface_orient(TalusSoup *soup, TalusSurface *out)
{
    Windings w = {
        .soup = soup, .out = out, .origin = talus_scale(0.5, talus_add(out->lo, out->hi))};
    TalusStatus status = orient(&w);
    TALUS_RELEASE(w.across, w.part, w.queue, w.turn);
    return status;
}
