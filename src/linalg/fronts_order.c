/* linalg/fronts_order.c - minimum degree elimination, and the resulting tree of fronts.
 *
 * The quotient graph holds the neighbours of every remaining block: other blocks, and elements. An element is the list
 * of blocks that an eliminated block couples to each other. Eliminating block p makes all its neighbours one new
 * element, which absorbs the elements that contain p; their fronts become children of p's front. A neighbour whose only
 * neighbour is now the new element has no other coupling and is eliminated in the same front. Neighbours that have
 * become indistinguishable, that is coupled to the same blocks and elements, stay so: one block represents the others
 * from then on, and its degree does not count them (Liu 1985; Amestoy, Davis & Duff 1996). The lists of blocks of the
 * fronts are made afterwards, from the pattern and the tree. */
#include "linalg/fronts.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* A front absorbs a child if at most this fraction of the entries of the merged pivot rows are then added zeros. */
static const double MERGE_SHARE = 0.05;

/* The quotient graph during elimination, and the fronts made so far. */
typedef struct Graph {
    const TalusBlockMatrix *a;
    int n;
    int32_t *near;             /* neighbours of block i from a->start[i]: elements, then blocks */
    int32_t *elements, *total; /* [n]: number of elements in `near`; of elements and blocks */
    int32_t *weight, *members; /* [n]: number of rows and of blocks that a block represents */
    int32_t *representative;   /* [n]: the block that represents this block, or -1 */
    int32_t *degree;           /* [n]; -1 once eliminated or represented */
    int32_t *head, *next, *previous; /* lists of blocks by degree; -1: none */
    int32_t *mark;   /* [2 n]: stamp given last to a block; from n on, to an element */
    int32_t *member; /* [n]: last element that contains the block */
    int32_t *bucket; /* [n]: by hash of the neighbours, first block of a list, or -1 */
    int32_t stamp;   /* the stamp given last */
    int least;       /* lower bound of all degrees */

    int count; /* number of fronts so far */
    /* By front, which is also an element. border: blocks of the element, which are the blocks of the front beyond
     * its pivots. parent: the element that absorbed it, or -1. pivots: number of blocks that it eliminates. */
    int32_t *border_start, *border, *parent, *pivots;
    int32_t *border_rows; /* [n]: rows of a front beyond its pivots */
    int32_t *front_of;    /* [n]: front that eliminates a block */
} Graph;

static void release_graph(Graph *g)
{
    TALUS_RELEASE(g->near, g->elements, g->total, g->weight, g->members, g->representative,
                  g->degree, g->head, g->next, g->previous, g->mark, g->member, g->bucket,
                  g->border_start, g->border, g->parent, g->pivots, g->border_rows, g->front_of);
}

/* ---- blocks by degree: number of rows of all their neighbours ---- */

/* Puts block i into the list of its degree. */
static void enlist_block(Graph *g, int i)
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

/* Takes block i out of the list of its degree. */
static void delist_block(Graph *g, int i)
{
    if (g->previous[i] >= 0)
        g->next[g->previous[i]] = g->next[i];
    else
        g->head[g->degree[i]] = g->next[i];
    if (g->next[i] >= 0)
        g->previous[g->next[i]] = g->previous[i];
}

/* Allocates the graph, fills it with the pattern of g->a, and lists all blocks by degree. */
static TalusStatus init_graph(Graph *g, const int32_t *weight)
{
    size_t n = (size_t)g->n, rows = 0;
    int32_t **const arrays[] = {&g->elements,       &g->total,      &g->weight, &g->members,
                                &g->representative, &g->degree,     &g->next,   &g->member,
                                &g->previous,       &g->bucket,     &g->parent, &g->pivots,
                                &g->front_of,       &g->border_rows};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        TALUS_TRY(TALUS_ALLOC(*arrays[i], n, "elimination order"));
    for (size_t i = 0; i < n; i++) {
        g->weight[i] = weight ? weight[i] : 1;
        rows += (size_t)g->weight[i];
        g->members[i] = 1;
        g->representative[i] = g->member[i] = g->bucket[i] = -1;
    }
    TALUS_TRY(TALUS_ALLOC(g->mark, 2 * n, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(g->head, rows + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(g->border_start, n + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(g->near, (size_t)g->a->start[g->n], "elimination order"));
    for (size_t d = 0; d <= rows; d++)
        g->head[d] = -1;
    for (int i = g->n - 1; i >= 0; i--) { /* ties: the first block first */
        int32_t *near = g->near + g->a->start[i];
        for (int32_t k = g->a->start[i]; k < g->a->start[i + 1]; k++)
            if (g->a->column[k] != i) {
                near[g->total[i]++] = g->a->column[k];
                g->degree[i] += g->weight[g->a->column[k]];
            }
        enlist_block(g, i);
    }
    return TALUS_OK;
}

/* ---- one elimination ---- */

/* Appends block i to the new element, number g->count, unless i is in that element already, eliminated or
 * represented. */
static void add_to_border(Graph *g, int i, int32_t *count)
{
    if (g->member[i] == g->count || g->degree[i] < 0)
        return;
    g->member[i] = g->count;
    g->border[(*count)++] = i;
}

/* Eliminates p: makes the element number g->count of its neighbours, and makes the elements that contain p children of
 * the new element. */
static TalusStatus make_element(Graph *g, int p)
{
    const int32_t *near = g->near + g->a->start[p];
    int32_t count = g->border_start[g->count];
    /* each block of an element takes at most two stamps, which have 32 bits */
    if ((int64_t)count + g->n > INT32_MAX / 2)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "factor: %d blocks have elements of more than %d in all", g->n,
                          INT32_MAX / 2);
    TALUS_TRY(TALUS_GROW(g->border, (size_t)(count + g->n), (size_t)count, "fronts"));
    g->degree[p] = -1;
    g->front_of[p] = g->count;
    g->pivots[g->count] = g->members[p];
    g->parent[g->count] = -1;
    for (int32_t k = 0; k < g->elements[p]; k++) {
        int e = near[k];
        g->parent[e] = g->count;
        for (int32_t b = g->border_start[e]; b < g->border_start[e + 1]; b++)
            add_to_border(g, g->border[b], &count);
    }
    for (int32_t k = g->elements[p]; k < g->total[p]; k++)
        add_to_border(g, near[k], &count);
    g->border_start[g->count + 1] = count;
    return TALUS_OK;
}

/* Removes from the neighbours of i the absorbed elements and the blocks that are in the new element, eliminated or
 * represented, and adds the new element as the last element. There is room for the new element, as i is in it because
 * of p or of an absorbed element, and that neighbour is removed. */
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

/* Returns the number of rows coupled to block i outside the new element. */
static int count_others(Graph *g, int i)
{
    const int32_t *near = g->near + g->a->start[i];
    int others = 0;
    g->stamp++;
    for (int32_t k = g->elements[i]; k < g->total[i]; k++) {
        g->mark[near[k]] = g->stamp;
        others += g->weight[near[k]];
    }
    for (int32_t k = 0; k + 1 < g->elements[i]; k++) /* the last element is the new one */
        for (int32_t b = g->border_start[near[k]]; b < g->border_start[near[k] + 1]; b++) {
            int j = g->border[b];
            if (g->mark[j] != g->stamp && g->member[j] != g->count && g->degree[j] >= 0) {
                g->mark[j] = g->stamp;
                others += g->weight[j];
            }
        }
    return others;
}

/* ---- indistinguishable blocks ---- */

/* Stamps the neighbours of i: block j at mark[j], element e at mark[n + e]. */
static void mark_neighbours(Graph *g, int i)
{
    const int32_t *near = g->near + g->a->start[i];
    g->stamp++;
    for (int32_t k = 0; k < g->total[i]; k++)
        g->mark[near[k] + (k < g->elements[i] ? g->n : 0)] = g->stamp;
}

/* True if all neighbours of i have the current stamp. */
static bool has_marked_neighbours(const Graph *g, int i)
{
    const int32_t *near = g->near + g->a->start[i];
    for (int32_t k = 0; k < g->total[i]; k++)
        if (g->mark[near[k] + (k < g->elements[i] ? g->n : 0)] != g->stamp)
            return false;
    return true;
}

/* Returns the bucket of block i: the sum of its neighbours' indices modulo n, the same for indistinguishable blocks. */
static int32_t *bucket_of(const Graph *g, int i)
{
    const int32_t *near = g->near + g->a->start[i];
    uint32_t sum = 0;
    for (int32_t k = 0; k < g->total[i]; k++)
        sum += (uint32_t)near[k];
    return &g->bucket[sum % (uint32_t)g->n];
}

/* Makes block i represent j from now on. */
static void represent_block(Graph *g, int i, int j)
{
    g->weight[i] += g->weight[j];
    g->members[i] += g->members[j];
    g->representative[j] = i;
    g->degree[j] = -1;
}

/* Joins indistinguishable blocks of the new element, border[begin .. end), and removes represented blocks from it.
 * Returns the new end. The blocks are in no list of degrees at this time, so `next` links the lists of the buckets. */
static int32_t join_indistinguishable(Graph *g, int32_t begin, int32_t end)
{
    int32_t kept = begin;
    for (int32_t b = begin; b < end; b++) {
        int i = g->border[b];
        int32_t *bucket = bucket_of(g, i);
        g->next[i] = *bucket;
        *bucket = i;
    }
    for (int32_t b = begin; b < end; b++) {
        int i = g->border[b];
        if (g->degree[i] < 0)
            continue;
        g->border[kept++] = i;
        int32_t *bucket = bucket_of(g, i);
        bool marked = false;
        for (int j = *bucket; j >= 0; j = g->next[j]) {
            if (j == i || g->degree[j] < 0 || g->total[j] != g->total[i] ||
                g->elements[j] != g->elements[i])
                continue;
            if (!marked)
                mark_neighbours(g, i);
            marked = true;
            if (has_marked_neighbours(g, j))
                represent_block(g, i, j);
        }
    }
    for (int32_t b = begin; b < kept; b++)
        *bucket_of(g, g->border[b]) = -1;
    return kept;
}

/* Makes a front: eliminates p and its neighbours without other couplings, joins indistinguishable neighbours and
 * updates the degrees of the rest. */
static TalusStatus make_front(Graph *g, int p)
{
    TALUS_TRY(make_element(g, p));
    int32_t begin = g->border_start[g->count], end = g->border_start[g->count + 1], kept = begin;
    for (int32_t b = begin; b < end; b++) {
        int i = g->border[b];
        delist_block(g, i);
        rewrite_neighbours(g, i);
        if (g->total[i] == 1) {
            g->degree[i] = -1;
            g->front_of[i] = g->count;
            g->pivots[g->count] += g->members[i];
        } else {
            g->border[kept++] = i;
        }
    }
    kept = join_indistinguishable(g, begin, kept);
    g->border_start[g->count + 1] = kept;
    int rows = 0;
    for (int32_t b = begin; b < kept; b++)
        rows += g->weight[g->border[b]];
    g->border_rows[g->count] = rows;
    for (int32_t b = begin; b < kept; b++) {
        int i = g->border[b];
        g->degree[i] = rows - g->weight[i] + count_others(g, i);
        enlist_block(g, i);
    }
    g->count++;
    return TALUS_OK;
}

/* Makes fronts, each from a block of least degree, until all blocks are eliminated. */
static TalusStatus eliminate_all(Graph *g)
{
    g->least = 0;
    for (int left = g->n; left > 0;) {
        while (g->head[g->least] < 0)
            g->least++;
        int p = g->head[g->least];
        delist_block(g, p);
        TALUS_TRY(make_front(g, p));
        left -= g->pivots[g->count - 1];
    }
    return TALUS_OK;
}

/* ---- the tree ---- */

/* Assigns represented blocks to the fronts of their representatives. */
static void resolve_representatives(Graph *g)
{
    for (int i = 0; i < g->n; i++) {
        int stands = i;
        while (g->representative[stands] >= 0)
            stands = g->representative[stands];
        for (int j = i, next; j != stands; j = next) {
            next = g->representative[j];
            g->representative[j] = stands;
        }
        g->front_of[i] = g->front_of[stands];
    }
}

/* Merges fronts into their parents where MERGE_SHARE allows. Children are visited before parents, so a front has the
 * pivots of all its merged children when it is visited. Writes into[front]: the front that it was merged into in the
 * end, or itself; rows[front]: number of rows of its pivots. */
static void merge_fronts(Graph *g, const int32_t *weight, int32_t *into, int32_t *rows)
{
    for (int f = 0; f < g->count; f++) {
        into[f] = f;
        rows[f] = 0;
    }
    for (int i = 0; i < g->n; i++)
        rows[g->front_of[i]] += weight ? weight[i] : 1;
    for (int f = 0; f < g->count; f++) {
        int p = g->parent[f];
        if (p < 0)
            continue;
        double own = rows[f], bound = g->border_rows[f], whole = rows[p] + g->border_rows[p];
        double zeros = own * (whole - bound), all = own * (own + whole) + rows[p] * whole;
        if (zeros <= MERGE_SHARE * all) {
            into[f] = p;
            rows[p] += rows[f];
        }
    }
    for (int f = g->count - 1; f >= 0; f--)
        into[f] = into[into[f]];
}

/* Numbers the fronts that were not merged in postorder, so that every subtree is contiguous; merged fronts get -1.
 * Returns the number of remaining fronts. `work`: 3 numbers per front. */
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

/* State of the filling of TalusFrontTree.list. */
typedef struct List {
    int32_t *mark; /* [n]: last front that listed a block */
    size_t count;  /* number of blocks listed so far */
} List;

/* Appends the block to the list of the front if a later front eliminates the block and it is not yet in the list. */
static void append_if_eliminated_later(TalusFrontTree *t, List *l, int front, int block)
{
    if (t->front_of[block] > front && l->mark[block] != front) {
        l->mark[block] = front;
        t->list[l->count++] = block;
    }
}

/* Lists the blocks of front k: its pivots (`pivot`), then those neighbours of pivots and blocks of children that later
 * fronts eliminate. */
static TalusStatus list_front(TalusFrontTree *t, const TalusBlockMatrix *a, int k,
                              const int32_t *pivot, const int32_t *child, const int32_t *sibling,
                              List *l)
{
    size_t begin = l->count, pivots = (size_t)t->pivots[k];
    TALUS_TRY(TALUS_GROW(t->list, begin + (size_t)a->blocks, begin, "fronts"));
    memcpy(t->list + begin, pivot, pivots * sizeof *pivot);
    l->count += pivots;
    for (size_t p = 0; p < pivots; p++)
        for (int32_t e = a->start[pivot[p]]; e < a->start[pivot[p] + 1]; e++)
            append_if_eliminated_later(t, l, k, a->column[e]);
    for (int c = child[k]; c >= 0; c = sibling[c])
        for (int64_t e = t->list_start[c] + t->pivots[c]; e < t->list_start[c + 1]; e++)
            append_if_eliminated_later(t, l, k, t->list[e]);
    if (l->count > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "factor: %d blocks have fronts of %zu in all",
                          a->blocks, l->count);
    t->list_start[k + 1] = (int64_t)l->count;
    return TALUS_OK;
}

/* Fills the block lists of all fronts. `work` has room for 3 count + 2 blocks numbers. */
static TalusStatus fill_lists(TalusFrontTree *t, const TalusBlockMatrix *a, int32_t *work)
{
    int32_t *child = work, *sibling = child + t->count, *first = sibling + t->count;
    int32_t *pivot = first + t->count;
    List list = {.mark = pivot + a->blocks};
    for (int k = t->count - 1; k >= 0; k--)
        child[k] = -1;
    for (int k = t->count - 1; k >= 0; k--)
        if (t->parent[k] >= 0) {
            sibling[k] = child[t->parent[k]];
            child[t->parent[k]] = k;
        }
    for (int i = 0; i < a->blocks; i++) {
        t->pivots[t->front_of[i]]++;
        list.mark[i] = -1;
    }
    for (int k = 0, at = 0; k < t->count; at += t->pivots[k++])
        first[k] = at;
    for (int i = 0; i < a->blocks; i++)
        pivot[first[t->front_of[i]]++] = i;
    for (int k = 0; k < t->count; k++)
        TALUS_TRY(list_front(t, a, k, pivot + first[k] - t->pivots[k], child, sibling, &list));
    return TALUS_OK;
}

/* Makes the tree of fronts from the elimination: merges small fronts, numbers the rest and lists their blocks. `work`:
 * 5 numbers per block. */
static TalusStatus build_tree(Graph *g, const int32_t *weight, int32_t *work, TalusFrontTree *t)
{
    int32_t *into = work, *number = work + g->count;
    resolve_representatives(g);
    merge_fronts(g, weight, into, number);
    t->count = number_fronts(g, into, number, work + 2 * g->count);
    TALUS_TRY(TALUS_ALLOC(t->parent, (size_t)t->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->pivots, (size_t)t->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->list_start, (size_t)t->count + 1, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->front_of, (size_t)g->n, "fronts"));
    for (int f = 0; f < g->count; f++)
        if (number[f] >= 0)
            t->parent[number[f]] = g->parent[f] < 0 ? -1 : number[into[g->parent[f]]];
    for (int i = 0; i < g->n; i++)
        t->front_of[i] = number[into[g->front_of[i]]];
    return fill_lists(t, g->a, work);
}

void talus_front_tree_clear(TalusFrontTree *t)
{
    TALUS_RELEASE(t->parent, t->pivots, t->list_start, t->list, t->front_of);
    *t = (TalusFrontTree){0};
}

TalusStatus talus_front_tree_create(const TalusBlockMatrix *a, const int32_t *weight,
                                    TalusFrontTree *out)
{
    Graph g = {.a = a, .n = a->blocks};
    int32_t *work = NULL;
    *out = (TalusFrontTree){0};
    TalusStatus status = init_graph(&g, weight);
    TALUS_THEN(status, eliminate_all(&g));
    TALUS_THEN(status, TALUS_ALLOC(work, 5 * (size_t)g.n, "fronts"));
    TALUS_THEN(status, build_tree(&g, weight, work, out));
    talus_release(work);
    release_graph(&g);
    if (status != TALUS_OK)
        talus_front_tree_clear(out);
    return status;
}
