/* problem/fronts_order.c - elimination of least degree, and the tree of fronts that it gives.
 *
 * The quotient graph holds, for every block that is left, its neighbours: other blocks, and elements,
 * each the list of blocks that a block eliminated before has tied together. Eliminating p makes one
 * element of all its neighbours, which takes up the elements that p was in: they are the children of
 * p's front. A neighbour that is left with that element alone has no other coupling and is eliminated
 * in the same front. Blocks that share their neighbours, as contacts of the same two bodies do, thus
 * go together. */
#include "problem/fronts.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* A front takes up a child when the zeros that it stores for that are no more than this share of
 * the two. */
static const double MERGE_SHARE = 0.05;

typedef struct Graph {
    const TalusBlockMatrix *a;
    const int32_t *weight; /* [n]: rows of each block; NULL: as many for all */
    int n;
    int rows;                        /* of all blocks */
    int32_t *near;                   /* per block at a->start: elements, then blocks */
    int32_t *elements, *total;       /* [n]: how many of each kind, and of both */
    int32_t *degree;                 /* [n]; -1 once eliminated */
    int32_t *head, *next, *previous; /* blocks by degree */
    int32_t *mark, *member;          /* [n]: stamp; the element being made */
    int32_t stamp;
    int least; /* no block has a lower degree */

    int count;                                      /* fronts so far */
    int32_t *bound_start, *bound, *parent, *pivots; /* fronts are elements */
    int32_t *front_of;                              /* [n] */
    size_t bound_room;
} Graph;

static void close_graph(Graph *g)
{
    void *const owned[] = {g->near,  g->elements, g->total,  g->degree,  g->head,
                           g->next,  g->previous, g->mark,   g->member,  g->bound_start,
                           g->bound, g->parent,   g->pivots, g->front_of};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        talus_release(owned[i]);
}

static int weight_of(const Graph *g, int i)
{
    return g->weight ? g->weight[i] : 1;
}

/* ---- blocks by degree: rows of all their neighbours ---- */

static void enlist(Graph *g, int i)
{
    int d = g->degree[i];
    g->next[i] = g->head[d];
    g->previous[i] = -1;
    if (g->head[d] >= 0)
        g->previous[g->head[d]] = i;
    g->head[d] = i;
    if (d < g->least)
        g->least = d;
}

static void delist(Graph *g, int i)
{
    if (g->previous[i] >= 0)
        g->next[g->previous[i]] = g->next[i];
    else
        g->head[g->degree[i]] = g->next[i];
    if (g->next[i] >= 0)
        g->previous[g->next[i]] = g->previous[i];
}

static TalusStatus open_graph(Graph *g)
{
    size_t n = (size_t)g->n;
    int32_t **const arrays[] = {&g->elements, &g->total,  &g->degree, &g->next,   &g->previous,
                                &g->mark,     &g->member, &g->parent, &g->pivots, &g->front_of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        TALUS_TRY(TALUS_ALLOC(*arrays[i], n, "elimination order"));
    for (int i = 0; i < g->n; i++)
        g->rows += weight_of(g, i);
    TALUS_TRY(TALUS_ALLOC(g->head, (size_t)g->rows + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(g->bound_start, n + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(g->near, (size_t)g->a->start[g->n], "elimination order"));
    for (int d = 0; d <= g->rows; d++)
        g->head[d] = -1;
    for (int i = g->n - 1; i >= 0; i--) { /* the first block first among equals */
        int32_t *near = g->near + g->a->start[i];
        for (int32_t k = g->a->start[i]; k < g->a->start[i + 1]; k++)
            if (g->a->column[k] != i) {
                near[g->total[i]++] = g->a->column[k];
                g->degree[i] += weight_of(g, g->a->column[k]);
            }
        g->member[i] = -1;
        enlist(g, i);
    }
    return TALUS_OK;
}

/* ---- one elimination ---- */

static void add_bound(Graph *g, int i, int32_t *count)
{
    if (g->member[i] == g->count || g->degree[i] < 0)
        return;
    g->member[i] = g->count;
    g->bound[(*count)++] = i;
}

/* The element that eliminating p makes; the elements that it takes up become its children. */
static TalusStatus make_element(Graph *g, int p)
{
    const int32_t *near = g->near + g->a->start[p];
    int32_t count = g->bound_start[g->count];
    TALUS_TRY(
        TALUS_RESERVE(g->bound, g->bound_room, (size_t)(count + g->n), (size_t)count, "fronts"));
    g->degree[p] = -1;
    g->front_of[p] = g->count;
    g->pivots[g->count] = 1;
    g->parent[g->count] = -1;
    for (int32_t k = 0; k < g->elements[p]; k++) {
        int e = near[k];
        g->parent[e] = g->count;
        for (int32_t b = g->bound_start[e]; b < g->bound_start[e + 1]; b++)
            add_bound(g, g->bound[b], &count);
    }
    for (int32_t k = g->elements[p]; k < g->total[p]; k++)
        add_bound(g, near[k], &count);
    g->bound_start[g->count + 1] = count;
    return TALUS_OK;
}

/* Neighbours of i that the new element holds too go, and the element comes. There is room for it: i
 * got into the element by one of those that go. */
static void rewrite_neighbours(Graph *g, int i)
{
    int32_t *near = g->near + g->a->start[i], kept = 0;
    for (int32_t k = 0; k < g->elements[i]; k++)
        if (g->parent[near[k]] < 0)
            near[kept++] = near[k];
    int32_t total = kept;
    for (int32_t k = g->elements[i]; k < g->total[i]; k++)
        if (g->member[near[k]] != g->count && g->degree[near[k]] >= 0)
            near[total++] = near[k];
    near[total] = near[kept];
    near[kept] = g->count;
    g->elements[i] = kept + 1;
    g->total[i] = total + 1;
}

/* Rows coupled to i beyond the new element. */
static int count_others(Graph *g, int i)
{
    const int32_t *near = g->near + g->a->start[i];
    int others = 0;
    g->stamp++;
    for (int32_t k = g->elements[i]; k < g->total[i]; k++) {
        g->mark[near[k]] = g->stamp;
        others += weight_of(g, near[k]);
    }
    for (int32_t k = 0; k + 1 < g->elements[i]; k++) /* the last one is the new */
        for (int32_t b = g->bound_start[near[k]]; b < g->bound_start[near[k] + 1]; b++) {
            int j = g->bound[b];
            if (g->mark[j] != g->stamp && g->member[j] != g->count) {
                g->mark[j] = g->stamp;
                others += weight_of(g, j);
            }
        }
    return others;
}

static int bound_rows(const Graph *g, int front)
{
    int rows = 0;
    for (int32_t b = g->bound_start[front]; b < g->bound_start[front + 1]; b++)
        rows += weight_of(g, g->bound[b]);
    return rows;
}

static TalusStatus eliminate(Graph *g, int p)
{
    TALUS_TRY(make_element(g, p));
    int32_t begin = g->bound_start[g->count], end = g->bound_start[g->count + 1], kept = begin;
    for (int32_t b = begin; b < end; b++) {
        int i = g->bound[b];
        delist(g, i);
        rewrite_neighbours(g, i);
        if (g->total[i] == 1) {
            g->degree[i] = -1;
            g->front_of[i] = g->count;
            g->pivots[g->count]++;
        } else {
            g->bound[kept++] = i;
        }
    }
    g->bound_start[g->count + 1] = kept;
    int bound = bound_rows(g, g->count);
    for (int32_t b = begin; b < kept; b++) {
        int i = g->bound[b];
        g->degree[i] = bound - weight_of(g, i) + count_others(g, i);
        enlist(g, i);
    }
    g->count++;
    return TALUS_OK;
}

static TalusStatus eliminate_all(Graph *g)
{
    g->least = 0;
    for (int left = g->n; left > 0;) {
        while (g->head[g->least] < 0)
            g->least++;
        int p = g->head[g->least];
        delist(g, p);
        TALUS_TRY(eliminate(g, p));
        left -= g->pivots[g->count - 1];
    }
    return TALUS_OK;
}

/* ---- the tree ---- */

/* Children come before parents, so a front has all its own pivots when its turn comes. `into` is the
 * front that has taken up another, or that itself; `rows` those of a front's pivots. */
static void merge_fronts(Graph *g, int32_t *into, int32_t *rows)
{
    for (int f = 0; f < g->count; f++) {
        into[f] = f;
        rows[f] = 0;
    }
    for (int i = 0; i < g->n; i++)
        rows[g->front_of[i]] += weight_of(g, i);
    for (int f = 0; f < g->count; f++) {
        int p = g->parent[f];
        if (p < 0)
            continue;
        double own = rows[f], bound = bound_rows(g, f);
        double whole = rows[p] + bound_rows(g, p);
        double zeros = own * (whole - bound), all = own * (own + whole) + rows[p] * whole;
        if (zeros <= MERGE_SHARE * all) {
            into[f] = p;
            g->pivots[p] += g->pivots[f];
            rows[p] += rows[f];
        }
    }
    for (int f = g->count - 1; f >= 0; f--)
        into[f] = into[into[f]];
}

/* Numbers the fronts that are left so that every subtree is one run; `number` of the others is -1. */
static int number_fronts(const Graph *g, const int32_t *into, int32_t *number, int32_t *work)
{
    int32_t *child = work, *sibling = work + g->count, *stack = work + 2 * g->count;
    int count = 0, depth = 0;
    for (int f = 0; f < g->count; f++) {
        child[f] = -1;
        number[f] = -1;
    }
    for (int f = g->count - 1; f >= 0; f--) {
        if (into[f] != f)
            continue;
        int p = g->parent[f] < 0 ? -1 : into[g->parent[f]];
        if (p >= 0) {
            sibling[f] = child[p];
            child[p] = f;
        } else {
            stack[depth++] = f;
        }
    }
    while (depth > 0) {
        int f = stack[depth - 1], c = child[f];
        if (c >= 0) {
            child[f] = sibling[c];
            stack[depth++] = c;
        } else {
            number[f] = count++;
            depth--;
        }
    }
    return count;
}

static void fill_lists(const Graph *g, const int32_t *into, const int32_t *number,
                       TalusFrontTree *t)
{
    for (int f = 0; f < g->count; f++) {
        int k = number[f];
        if (k < 0)
            continue;
        t->parent[k] = g->parent[f] < 0 ? -1 : number[into[g->parent[f]]];
        t->list_start[k + 1] = g->pivots[f] + g->bound_start[f + 1] - g->bound_start[f];
    }
    for (int k = 0; k < t->count; k++)
        t->list_start[k + 1] += t->list_start[k];
    for (int i = 0; i < g->n; i++) {
        int k = number[into[g->front_of[i]]];
        t->front_of[i] = k;
        t->list[t->list_start[k] + t->pivots[k]++] = i;
    }
    for (int f = 0; f < g->count; f++) {
        int k = number[f];
        size_t bound = (size_t)(g->bound_start[f + 1] - g->bound_start[f]);
        if (k >= 0)
            memcpy(t->list + t->list_start[k] + t->pivots[k], g->bound + g->bound_start[f],
                   bound * sizeof *t->list);
    }
}

static TalusStatus build_tree(Graph *g, int32_t *work, TalusFrontTree *t)
{
    int32_t *into = work, *number = work + g->count;
    merge_fronts(g, into, number);
    t->count = number_fronts(g, into, number, work + 2 * g->count);
    size_t room = (size_t)g->n;
    for (int f = 0; f < g->count; f++)
        room += number[f] >= 0 ? (size_t)(g->bound_start[f + 1] - g->bound_start[f]) : 0;
    TALUS_TRY(TALUS_ALLOC(t->parent, (size_t)t->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->pivots, (size_t)t->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->list_start, (size_t)t->count + 1, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->list, room, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->front_of, (size_t)g->n, "fronts"));
    fill_lists(g, into, number, t);
    return TALUS_OK;
}

void talus_front_tree_clear(TalusFrontTree *t)
{
    talus_release(t->parent);
    talus_release(t->pivots);
    talus_release(t->list_start);
    talus_release(t->list);
    talus_release(t->front_of);
    *t = (TalusFrontTree){0};
}

TalusStatus talus_front_tree_create(const TalusBlockMatrix *a, const int32_t *weight,
                                    TalusFrontTree *out)
{
    Graph g = {.a = a, .weight = weight, .n = a->blocks};
    int32_t *work = NULL;
    *out = (TalusFrontTree){0};
    TalusStatus status = open_graph(&g);
    if (status == TALUS_OK)
        status = eliminate_all(&g);
    if (status == TALUS_OK)
        status = TALUS_ALLOC(work, 5 * (size_t)g.count, "fronts");
    if (status == TALUS_OK)
        status = build_tree(&g, work, out);
    talus_release(work);
    close_graph(&g);
    if (status != TALUS_OK)
        talus_front_tree_clear(out);
    return status;
}
