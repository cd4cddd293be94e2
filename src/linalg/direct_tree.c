/* linalg/direct_tree.c - groups rows with the same neighbours into blocks, builds the tree of fronts over the blocks
 * and expands it to rows. */
#include "linalg/direct_tree.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Rows of the matrix, their neighbours, and the blocks into which they are grouped. */
typedef struct Blocks {
    int rows, count;
    int32_t *near_start, *near;     /* [rows + 1]: neighbours of each row, without itself */
    int32_t *block;                 /* [rows]: block of a row; -1: none yet */
    int32_t *weight, *first;        /* [count]: number of rows of a block; its first row */
    int32_t *member_start, *member; /* [count + 1]: rows of each block, rising */
    int32_t *mark;        /* [rows]: last row whose neighbours included this one; later by block */
    int32_t *next, *head; /* [rows]: lists of rows by hash % rows; next is also work space */
    uint32_t *hash;       /* [rows]: hash of a row's neighbours */
    TalusBlockMatrix graph; /* neighbours of each block: start and column only, not sorted */
} Blocks;

static void release_blocks(Blocks *b)
{
    TALUS_RELEASE(b->near_start, b->near, b->block, b->weight, b->first, b->mark, b->member_start,
                  b->member, b->next, b->head, b->hash);
    talus_block_matrix_clear(&b->graph);
}

/* Allocates all arrays; fails if the matrix is too large to be ordered. */
static TalusStatus reserve_blocks(Blocks *b, const TalusSparse *lower)
{
    size_t n = (size_t)lower->rows, entries = (size_t)lower->start[lower->rows];
    int32_t **const arrays[] = {&b->block,  &b->weight, &b->first, &b->mark,
                                &b->member, &b->next,   &b->head};
    if (2 * entries > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "direct solver: %zu entries, more than the %d that can be ordered",
                          entries, INT32_MAX / 2);
    b->rows = lower->rows;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        TALUS_TRY(TALUS_ALLOC(*arrays[i], n, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(b->hash, n, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(b->near_start, n + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(b->member_start, n + 1, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(b->near, 2 * entries, "elimination order"));
    TALUS_TRY(TALUS_ALLOC(b->graph.start, n + 1, "elimination order"));
    return TALUS_ALLOC(b->graph.column, 2 * entries, "elimination order");
}

/* Turns counts of items, at start[i + 1], into the index of the first item of each list, at start[i]. */
static void counts_to_starts(int count, int32_t *start)
{
    for (int i = 0; i < count; i++)
        start[i + 1] += start[i];
}

/* Fills near_start and near from the lower triangle. */
static void list_neighbours(Blocks *b, const TalusSparse *lower)
{
    int32_t *fill = b->next;
    for (int i = 0; i < b->rows; i++)
        for (int32_t e = lower->start[i]; e < lower->start[i + 1]; e++)
            if (lower->column[e] != i) {
                b->near_start[i + 1]++;
                b->near_start[lower->column[e] + 1]++;
            }
    counts_to_starts(b->rows, b->near_start);
    memcpy(fill, b->near_start, (size_t)b->rows * sizeof *fill);
    for (int i = 0; i < b->rows; i++)
        for (int32_t e = lower->start[i]; e < lower->start[i + 1]; e++) {
            int j = lower->column[e];
            if (j == i)
                continue;
            b->near[fill[i]++] = j;
            b->near[fill[j]++] = i;
        }
}

/* ---- blocks of rows ---- */

/* Returns a hash of a row's index; the hash of a set of rows is the sum. */
static uint32_t hash_row(uint32_t x)
{
    x *= 0x9e3779b1u;
    return x ^ x >> 15;
}

/* True if rows i and j have the same neighbours; mark_neighbours(b, j, closed) must have been called. With `closed`,
 * every row counts as its own neighbour. */
static bool same_neighbours(const Blocks *b, int i, int j, bool closed)
{
    int32_t begin = b->near_start[j], count = b->near_start[j + 1] - begin;
    if (b->hash[i] != b->hash[j] || b->near_start[i + 1] - b->near_start[i] != count)
        return false;
    for (int32_t e = b->near_start[i]; e < b->near_start[i + 1]; e++)
        if (b->mark[b->near[e]] != j)
            return false;
    return !closed || b->mark[i] == j;
}

/* Sets mark of the neighbours of row j to j; with `closed` also that of j itself. */
static void mark_neighbours(const Blocks *b, int j, bool closed)
{
    for (int32_t e = b->near_start[j]; e < b->near_start[j + 1]; e++)
        b->mark[b->near[e]] = j;
    if (closed)
        b->mark[j] = j;
}

/* Joins rows that have no block yet and have the same neighbours into new blocks. With `closed`, every row counts as
 * its own neighbour. Rows with the same hash % rows are in one list, rising. */
static void join_rows(Blocks *b, bool closed)
{
    for (int i = 0; i < b->rows; i++) {
        b->head[i] = b->mark[i] = -1;
        b->hash[i] = closed ? hash_row((uint32_t)i) : 0;
        for (int32_t e = b->near_start[i]; e < b->near_start[i + 1]; e++)
            b->hash[i] += hash_row((uint32_t)b->near[e]);
    }
    for (int i = b->rows - 1; i >= 0; i--) {
        int32_t *head = &b->head[b->hash[i] % (uint32_t)b->rows];
        b->next[i] = *head;
        *head = i;
    }
    for (int j = 0; j < b->rows; j++) {
        if (b->block[j] >= 0)
            continue;
        bool marked = false;
        for (int i = b->next[j]; i >= 0; i = b->next[i]) {
            if (b->block[i] >= 0 || b->hash[i] != b->hash[j])
                continue;
            if (!marked)
                mark_neighbours(b, j, closed);
            marked = true;
            if (!same_neighbours(b, i, j, closed))
                continue;
            if (b->block[j] < 0) {
                b->first[b->count] = j;
                b->block[j] = b->count++;
            }
            b->block[i] = b->block[j];
        }
    }
}

/* Assigns every row to a block and lists the rows of each block. */
static void find_blocks(Blocks *b)
{
    for (int i = 0; i < b->rows; i++)
        b->block[i] = -1;
    join_rows(b, true);  /* rows coupled to one another */
    join_rows(b, false); /* rows not coupled; the zeros between them are stored */
    for (int i = 0; i < b->rows; i++) {
        if (b->block[i] < 0) {
            b->first[b->count] = i;
            b->block[i] = b->count++;
        }
        b->weight[b->block[i]]++;
        b->member_start[b->block[i] + 1]++;
    }
    counts_to_starts(b->count, b->member_start);
    memcpy(b->next, b->member_start, (size_t)b->count * sizeof *b->next);
    for (int i = 0; i < b->rows; i++)
        b->member[b->next[b->block[i]]++] = i;
}

/* Lists the neighbours of each block in b->graph: the blocks of its first row's neighbours, as all rows of a block have
 * the same neighbours outside the block. */
static void set_graph(Blocks *b)
{
    int32_t at = 0;
    b->graph.blocks = b->count;
    for (int i = 0; i < b->count; i++)
        b->mark[i] = -1;
    for (int i = 0; i < b->count; i++) {
        int row = b->first[i];
        b->mark[i] = i;
        for (int32_t e = b->near_start[row]; e < b->near_start[row + 1]; e++) {
            int j = b->block[b->near[e]];
            if (b->mark[j] != i) {
                b->mark[j] = i;
                b->graph.column[at++] = j;
            }
        }
        b->graph.start[i + 1] = at;
    }
}

/* ---- rows of the tree ---- */

/* Appends the rows of a block to t->list at index *at, which moves on. */
static void append_rows(const Blocks *b, int block, TalusFrontTree *t, int64_t *at)
{
    for (int32_t m = b->member_start[block]; m < b->member_start[block + 1]; m++)
        t->list[(*at)++] = b->member[m];
}

/* Lists for each block b the fronts that contain b but do not eliminate it: (*use)[(*start)[b] .. (*start)[b + 1]),
 * rising. */
static TalusStatus list_uses(const TalusFrontTree *f, int blocks, int32_t **start, int32_t **use)
{
    TALUS_TRY(TALUS_ALLOC(*start, (size_t)blocks + 1, "fronts"));
    TALUS_TRY(TALUS_ALLOC(*use, (size_t)f->list_start[f->count], "fronts"));
    int32_t *fill = *start;
    for (int k = 0; k < f->count; k++)
        for (int64_t e = f->list_start[k] + f->pivots[k]; e < f->list_start[k + 1]; e++)
            fill[f->list[e] + 1]++;
    counts_to_starts(blocks, fill);
    int32_t total = fill[blocks];
    for (int k = f->count - 1; k >= 0; k--) /* fills each list from its end */
        for (int64_t e = f->list_start[k] + f->pivots[k]; e < f->list_start[k + 1]; e++)
            (*use)[--fill[f->list[e] + 1]] = k;
    memmove(fill, fill + 1, (size_t)blocks * sizeof *fill);
    fill[blocks] = total;
    return TALUS_OK;
}

/* Appends the rows of each block, in order of elimination, to all fronts that contain the block. The rows of every
 * front are then in order of elimination, pivots first. */
static TalusStatus fill_rows(const Blocks *b, const TalusFrontTree *f, const int32_t *start,
                             const int32_t *use, TalusFrontTree *t)
{
    int64_t *at;
    TALUS_TRY(TALUS_ALLOC(at, (size_t)f->count, "fronts"));
    for (int k = 0; k < f->count; k++)
        at[k] = t->list_start[k];
    for (int k = 0; k < f->count; k++)
        for (int32_t p = 0; p < f->pivots[k]; p++) {
            int block = f->list[f->list_start[k] + p];
            append_rows(b, block, t, &at[k]);
            for (int32_t u = start[block]; u < start[block + 1]; u++)
                append_rows(b, block, t, &at[use[u]]);
        }
    talus_release(at);
    return TALUS_OK;
}

/* Makes t, the tree over rows, from f, the same tree over blocks. */
static TalusStatus expand_to_rows(const Blocks *b, const TalusFrontTree *f, TalusFrontTree *t)
{
    int32_t *start = NULL, *use = NULL;
    t->count = f->count;
    TALUS_TRY(TALUS_ALLOC(t->parent, (size_t)f->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->pivots, (size_t)f->count, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->list_start, (size_t)f->count + 1, "fronts"));
    TALUS_TRY(TALUS_ALLOC(t->front_of, (size_t)b->rows, "fronts"));
    memcpy(t->parent, f->parent, (size_t)f->count * sizeof *t->parent);
    for (int k = 0; k < f->count; k++) {
        t->list_start[k + 1] = t->list_start[k];
        for (int64_t e = f->list_start[k]; e < f->list_start[k + 1]; e++) {
            int32_t rows = b->weight[f->list[e]];
            t->list_start[k + 1] += rows;
            t->pivots[k] += e < f->list_start[k] + f->pivots[k] ? rows : 0;
        }
    }
    for (int i = 0; i < b->rows; i++)
        t->front_of[i] = f->front_of[b->block[i]];
    TALUS_TRY(TALUS_ALLOC(t->list, (size_t)t->list_start[t->count], "fronts"));
    TalusStatus status = list_uses(f, b->count, &start, &use);
    TALUS_THEN(status, fill_rows(b, f, start, use, t));
    TALUS_RELEASE(start, use);
    return status;
}

TalusStatus talus_row_tree_create(const TalusSparse *lower, TalusFrontTree *out)
{
    Blocks b = {0};
    TalusFrontTree fronts = {0};
    *out = (TalusFrontTree){0};
    TalusStatus status = reserve_blocks(&b, lower);
    if (status == TALUS_OK) {
        list_neighbours(&b, lower);
        find_blocks(&b);
        set_graph(&b);
        status = talus_front_tree_create(&b.graph, b.weight, &fronts);
    }
    TALUS_THEN(status, expand_to_rows(&b, &fronts, out));
    talus_front_tree_clear(&fronts);
    release_blocks(&b);
    if (status != TALUS_OK)
        talus_front_tree_clear(out);
    return status;
}
