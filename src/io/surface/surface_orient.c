/* io/surface/surface_orient.c - consistent windings of triangles.
 *
 * Two triangles agree if they traverse their common edge in opposite directions. A part is a set of triangles connected
 * by edges that exactly two triangles share. In each part, the triangles that do not agree with its first triangle are
 * reversed or, if those are the majority, all others. A part that is not orientable stays as the file has it.
 *
 * A part is closed if all its edges are balanced (talus_side_is_balanced). A closed part in which triangles were
 * reversed is reversed once more as a whole if its volume is negative and it stays closed. Other closed parts may have
 * a negative volume, as cavities in a solid, and keep their orientation. If the closed parts together have a negative
 * volume, all triangles of the file are reversed. */
#include "base/memory.h"
#include "geometry/adjacency.h"
#include "io/surface/surface.h"

#include <string.h>

/* Side 3 t + k, k = 0 to 2, is the directed edge of triangle t from its corner k to the next corner. */
typedef struct Windings {
    TalusSoup *soup;
    int32_t *across;  /* [sides]: next side on the same edge; -1: none */
    int32_t *part;    /* [triangles]: first triangle of its part; -1: not yet reached */
    int32_t *queue;   /* [triangles]: triangles in the order of being reached, part by part */
    uint8_t *reverse; /* [triangles]: 1 if to be reversed */
    TalusVec3 origin; /* centre of the bounds */
    TalusSurface *out;
} Windings;

/* A connected part of the surface. */
typedef struct Part {
    int first, count; /* its triangles are queue[first .. first + count - 1] */
    int turned;       /* number of its triangles to be reversed */
    bool twisted;     /* true if the part is not orientable */
} Part;

/* Sets *other to the other side on the edge of `side`; false unless the edge has exactly two sides. *agree is true if
 * the two sides run in opposite directions. */
static bool find_other_side(const Windings *w, int32_t side, int32_t *other, bool *agree)
{
    *other = w->across[side];
    if (*other < 0 || w->across[*other] != side)
        return false;
    const int32_t *t = w->soup->triangle;
    *agree = talus_side_start(t, side) == talus_side_end(t, *other);
    return true;
}

/* Returns six times the volume of the tetrahedron of w->origin and a triangle, taken as reversed if reverse[t] is 1;
 * negative if the triangle faces the origin. */
static double six_volumes_under(const Windings *w, int32_t t)
{
    const int32_t *v = w->soup->triangle + 3 * (size_t)t;
    TalusVec3 a = talus_sub(w->soup->vertex[v[0]], w->origin),
              b = talus_sub(w->soup->vertex[v[1]], w->origin),
              c = talus_sub(w->soup->vertex[v[2]], w->origin);
    double six = talus_dot(a, talus_cross(b, c));
    return w->reverse[t] ? -six : six;
}

/* Appends the neighbours of triangle t that are not yet reached to the queue, and sets their reverse[] so that they
 * agree with t. Sets part->twisted if a neighbour reached before does not agree. */
static void reach_neighbours(Windings *w, Part *part, int32_t t, int *tail)
{
    for (int k = 0; k < 3; k++) {
        int32_t other;
        bool agree;
        if (!find_other_side(w, 3 * t + k, &other, &agree))
            continue;
        uint8_t reverse = (uint8_t)(agree ? w->reverse[t] : !w->reverse[t]);
        int32_t u = other / 3;
        if (w->part[u] >= 0) {
            part->twisted = part->twisted || w->reverse[u] != reverse;
            continue;
        }
        w->part[u] = w->part[t];
        w->reverse[u] = reverse;
        w->queue[(*tail)++] = u;
    }
}

/* Finds all triangles connected with triangle `seed`; stores them in queue from index `first` on. */
static Part reach_part(Windings *w, int32_t seed, int first)
{
    Part part = {.first = first};
    int tail = first;
    w->part[seed] = seed;
    w->queue[tail++] = seed;
    for (int head = first; head < tail; head++)
        reach_neighbours(w, &part, w->queue[head], &tail);
    part.count = tail - first;
    for (int k = first; k < tail; k++)
        part.turned += w->reverse[w->queue[k]];
    return part;
}

/* Inverts reverse[] of all triangles of a part, and the count of those in the part. */
static void flip_part_reversals(Windings *w, Part *part)
{
    for (int k = part->first; k < part->first + part->count; k++)
        w->reverse[w->queue[k]] ^= 1;
    part->turned = part->count - part->turned;
}

/* Chooses which triangles of a part are reversed: none if the part is twisted, which is counted, else the minority. */
static void choose_reversals(Windings *w, Part *part)
{
    if (part->twisted) { /* not orientable, as a Moebius strip: keep the file's winding */
        for (int k = part->first; k < part->first + part->count; k++)
            w->reverse[w->queue[k]] = 0;
        part->turned = 0;
        w->out->twisted++;
    }
    if (2 * part->turned > part->count)
        flip_part_reversals(w, part);
}

/* True if all edges of a part are balanced, with triangles reversed as reverse[] says. Triangles of other parts at an
 * edge count too. */
static bool is_closed(const Windings *w, const Part *part)
{
    for (int k = part->first; k < part->first + part->count; k++)
        for (int32_t side = 3 * w->queue[k]; side < 3 * w->queue[k] + 3; side++)
            if (!talus_side_is_balanced(w->soup->triangle, w->across, w->reverse, side))
                return false;
    return true;
}

/* Inverts reverse[] of all triangles of a part if some are to be reversed, the volume is negative and the part stays
 * closed. Adds the part to the counts and to the volume in w->out. */
static void orient_part(Windings *w, Part *part)
{
    double six = 0.0;
    bool closed = is_closed(w, part);
    for (int k = part->first; closed && k < part->first + part->count; k++)
        six += six_volumes_under(w, w->queue[k]);
    if (part->turned > 0 && six < 0.0) {
        flip_part_reversals(w, part);
        if (is_closed(w, part))
            six = -six;
        else /* undo: reversed, the part would be open */
            flip_part_reversals(w, part);
    }
    w->out->parts++;
    w->out->closed_parts += closed;
    w->out->turned += part->turned;
    w->out->volume += six / 6.0;
}

/* Returns the part whose triangles begin at index `first` of queue; all parts must have been reached. */
static Part find_part_at(const Windings *w, int first)
{
    Part part = {.first = first};
    int32_t seed = w->queue[first];
    for (int k = first; k < w->soup->triangles && w->part[w->queue[k]] == seed; k++) {
        part.count++;
        part.turned += w->reverse[w->queue[k]];
    }
    return part;
}

/* Counts edges of one side (open) and of more than two (crowded). `across` links the sides of an edge to a ring, in
 * which only the last side has a successor with a lower index: this side counts the edge. */
static void count_edges(const Windings *w)
{
    for (int32_t side = 0; side < 3 * w->soup->triangles; side++) {
        int32_t other = w->across[side];
        w->out->open_edges += other < 0;
        w->out->crowded_edges += other >= 0 && other < side && w->across[other] != side;
    }
}

/* Reverses the triangles with reverse[t] = 1 or, if the volume is negative, those with 0, so that the volume becomes
 * positive. */
static void reverse_triangles(Windings *w)
{
    bool inverted = w->out->volume < 0.0;
    w->out->inverted = inverted;
    w->out->volume = fabs(w->out->volume);
    for (int t = 0; t < w->soup->triangles; t++) {
        int32_t *v = w->soup->triangle + 3 * (size_t)t;
        if ((bool)w->reverse[t] == inverted)
            continue;
        int32_t swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
}

/* Finds the parts, chooses which triangles to reverse, fills w->out and reverses them. */
static TalusStatus orient_parts(Windings *w)
{
    size_t count = (size_t)w->soup->triangles;
    TALUS_TRY(TALUS_ALLOC(w->across, 3 * count, "edges"));
    TALUS_TRY(TALUS_ALLOC(w->part, count, "parts"));
    TALUS_TRY(TALUS_ALLOC(w->queue, count, "parts"));
    TALUS_TRY(TALUS_ALLOC(w->reverse, count, "windings"));
    TALUS_TRY(talus_link_sides(w->soup->triangle, w->soup->triangles, w->across));
    memset(w->part, 0xff, count * sizeof *w->part);
    int first = 0;
    for (int32_t t = 0; t < w->soup->triangles; t++) {
        if (w->part[t] >= 0)
            continue;
        Part part = reach_part(w, t, first);
        choose_reversals(w, &part);
        first += part.count;
    }
    for (int next = 0; next < w->soup->triangles;) {
        Part part = find_part_at(w, next);
        orient_part(w, &part);
        next += part.count;
    }
    count_edges(w);
    reverse_triangles(w);
    return TALUS_OK;
}

TalusStatus talus_surface_orient(TalusSoup *soup, TalusSurface *out)
{
    Windings w = {
        .soup = soup, .out = out, .origin = talus_scale(0.5, talus_add(out->lo, out->hi))};
    TalusStatus status = orient_parts(&w);
    TALUS_RELEASE(w.across, w.part, w.queue, w.reverse);
    return status;
}
