/* solvers/multigrid/amg_coarsen.c - chooses the rows of the next level: Ruge and Stueben's splitting of strongly
 * coupled rows (Ruge and Stueben 1987; Briggs, Henson and McCormick 2000, ch. 8), or clusters and separators. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- strong couplings ---- */

static double weight(const TalusAmgParams *p, double a)
{
    return p->strong == AMG_ABSOLUTE ? fabs(a) : -a;
}

/* True if the entry a_ij counts as a coupling: j takes part in the coarsening and is of the same kind as i. */
static bool coupled(const TalusAmgLevel *l, int i, int j)
{
    return i != j && l->taken[j] && l->kind[i] == l->kind[j];
}

static double row_threshold(const TalusAmgLevel *l, const TalusAmgParams *p, int i)
{
    double max = 0.0;
    for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
        if (coupled(l, i, l->a.column[k]))
            max = fmax(max, weight(p, l->a.value[k]));
    return p->theta * max;
}

TalusStatus talus_amg_strong(const TalusAmgLevel *l, const TalusAmgParams *p, TalusSparse *out)
{
    const TalusSparse *a = &l->a;
    int32_t at = 0;
    TALUS_TRY(talus_sparse_alloc(out, a->rows, a->rows, (size_t)talus_sparse_entries(a),
                                 "strong couplings"));
    for (int i = 0; i < a->rows; i++) {
        double least = l->taken[i] ? row_threshold(l, p, i) : 0.0;
        for (int32_t k = a->start[i]; least > 0.0 && k < a->start[i + 1]; k++)
            if (coupled(l, i, a->column[k]) && weight(p, a->value[k]) >= least) {
                out->column[at] = a->column[k];
                out->value[at++] = a->value[k];
            }
        out->start[i + 1] = at;
    }
    return TALUS_OK;
}

/* ---- the splitting ---- */

/* Values of l->coarse while rows are chosen; number() then replaces COARSE by the index on the next level. */
enum { UNDECIDED = -3, FINE = -1, COARSE = 0 };

/* Undecided rows, sorted by value: the number of undecided rows that strongly depend on the row, plus twice that of
 * fine ones. Rows of equal value form a doubly linked list from head[value]; -1 ends it. */
typedef struct Queue {
    int32_t *head, *next, *previous, *value;
    int32_t top;
} Queue;

static void enter(Queue *q, int32_t i)
{
    int32_t v = q->value[i];
    q->next[i] = q->head[v];
    q->previous[i] = -1;
    if (q->head[v] >= 0)
        q->previous[q->head[v]] = i;
    q->head[v] = i;
    q->top = v > q->top ? v : q->top;
}

static void leave(Queue *q, int32_t i)
{
    if (q->previous[i] >= 0)
        q->next[q->previous[i]] = q->next[i];
    else
        q->head[q->value[i]] = q->next[i];
    if (q->next[i] >= 0)
        q->previous[q->next[i]] = q->previous[i];
}

static void revalue(Queue *q, int32_t i, int by)
{
    leave(q, i);
    q->value[i] += by;
    enter(q, i);
}

/* Removes and returns the first row with the largest value; -1 if that value is 0 or there is none: no undecided or
 * fine row depends on the rows left, which become fine. */
static int32_t take_top(Queue *q)
{
    while (q->top > 0 && q->head[q->top] < 0)
        q->top--;
    int32_t i = q->head[q->top];
    if (i >= 0)
        leave(q, i);
    return q->top > 0 ? i : -1;
}

static TalusStatus queue_create(Queue *q, int n, const TalusSparse *back)
{
    int32_t longest = 0;
    for (int i = 0; i < n; i++) {
        int32_t length = back->start[i + 1] - back->start[i];
        longest = length > longest ? length : longest;
    }
    size_t lists = 2 * (size_t)longest + 2;
    TALUS_TRY(TALUS_ALLOC(q->head, lists + 3 * (size_t)n, "coarsening"));
    q->next = q->head + lists;
    q->previous = q->next + n;
    q->value = q->previous + n;
    for (size_t v = 0; v < lists; v++)
        q->head[v] = -1;
    return TALUS_OK;
}

/* Makes row i coarse and the undecided rows that depend on it fine. Raises the value of rows on which these depend,
 * lowers that of rows on which i depends. */
static void decide(Queue *q, int32_t *coarse, int32_t i, const TalusSparse *strong,
                   const TalusSparse *back)
{
    coarse[i] = COARSE;
    for (int32_t k = back->start[i]; k < back->start[i + 1]; k++) {
        int32_t j = back->column[k];
        if (coarse[j] != UNDECIDED)
            continue;
        coarse[j] = FINE;
        leave(q, j);
        for (int32_t m = strong->start[j]; m < strong->start[j + 1]; m++)
            if (coarse[strong->column[m]] == UNDECIDED)
                revalue(q, strong->column[m], 1);
    }
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        if (coarse[strong->column[k]] == UNDECIDED)
            revalue(q, strong->column[k], -1);
}

/* Splits the rows that take part into COARSE and FINE by value, greedily; all others become FINE. */
static TalusStatus first_pass(TalusAmgLevel *l, const TalusSparse *strong)
{
    int n = l->a.rows;
    Queue q = {0};
    TalusSparse back = {0};
    TALUS_TRY(talus_sparse_transpose(strong, &back));
    TalusStatus status = queue_create(&q, n, &back);
    for (int32_t i = n - 1; status == TALUS_OK && i >= 0; i--) {
        l->coarse[i] = l->taken[i] ? UNDECIDED : FINE;
        q.value[i] = back.start[i + 1] - back.start[i];
        if (l->taken[i])
            enter(&q, i);
    }
    if (status == TALUS_OK)
        for (int32_t i = take_top(&q); i >= 0; i = take_top(&q))
            decide(&q, l->coarse, i, strong, &back);
    for (int i = 0; i < n; i++)
        l->coarse[i] = l->coarse[i] == COARSE ? COARSE : FINE;
    talus_release(q.head);
    talus_sparse_clear(&back);
    return status;
}

/* True if row j has a strong coarse neighbour that is marked by i. */
static bool shares(const TalusAmgLevel *l, const TalusSparse *strong, int j, const int32_t *mark,
                   int32_t i)
{
    for (int32_t k = strong->start[j]; k < strong->start[j + 1]; k++)
        if (l->coarse[strong->column[k]] == COARSE && mark[strong->column[k]] == i)
            return true;
    return false;
}

/* Two fine rows that depend on each other must share a coarse row. The first neighbour without one becomes coarse. If a
 * second lacks one too, row i becomes coarse instead. */
static void second_pass_row(TalusAmgLevel *l, const TalusSparse *strong, int32_t i, int32_t *mark)
{
    int32_t added = -1;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        if (l->coarse[strong->column[k]] == COARSE)
            mark[strong->column[k]] = i;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++) {
        int32_t j = strong->column[k];
        if (l->coarse[j] == COARSE || shares(l, strong, j, mark, i))
            continue;
        if (added >= 0) {
            l->coarse[added] = FINE;
            l->coarse[i] = COARSE;
            return;
        }
        added = j;
        l->coarse[j] = COARSE;
        mark[j] = i;
    }
}

static TalusStatus second_pass(TalusAmgLevel *l, const TalusSparse *strong)
{
    int n = l->a.rows;
    int32_t *mark;
    TALUS_TRY(TALUS_ALLOC(mark, (size_t)n, "coarsening"));
    for (int i = 0; i < n; i++)
        mark[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (l->coarse[i] == FINE && strong->start[i + 1] > strong->start[i])
            second_pass_row(l, strong, i, mark);
    talus_release(mark);
    return TALUS_OK;
}

/* Numbers the coarse rows in order. Returns their count. */
static int number(TalusAmgLevel *l)
{
    int count = 0;
    for (int i = 0; i < l->a.rows; i++)
        if (l->coarse[i] == COARSE)
            l->coarse[i] = count++;
    return count;
}

TalusStatus talus_amg_split(TalusAmgLevel *l, const TalusSparse *strong, int passes, int *count)
{
    TALUS_TRY(first_pass(l, strong));
    if (passes > 1)
        TALUS_TRY(second_pass(l, strong));
    *count = number(l);
    return TALUS_OK;
}

/* ---- clusters ---- */

/* Grows one cluster, number `own`, from `seed` breadth first, to at most `size` rows in `list`. Returns their number.
 * Undecided rows are never next to another cluster: fence() has made its neighbours coarse. */
static int grow(TalusAmgLevel *l, int32_t seed, int size, int32_t own, int32_t *cluster,
                int32_t *list)
{
    int members = 0;
    list[members++] = seed;
    cluster[seed] = own;
    l->coarse[seed] = FINE;
    for (int at = 0; at < members; at++)
        for (int32_t k = l->a.start[list[at]]; k < l->a.start[list[at] + 1] && members < size;
             k++) {
            int32_t j = l->a.column[k];
            if (l->coarse[j] != UNDECIDED)
                continue;
            l->coarse[j] = FINE;
            cluster[j] = own;
            list[members++] = j;
        }
    return members;
}

/* Makes the undecided neighbours of a cluster coarse, which separates it from others. */
static void fence(TalusAmgLevel *l, const int32_t *list, int members)
{
    for (int at = 0; at < members; at++)
        for (int32_t k = l->a.start[list[at]]; k < l->a.start[list[at] + 1]; k++)
            if (l->coarse[l->a.column[k]] == UNDECIDED)
                l->coarse[l->a.column[k]] = COARSE;
}

TalusStatus talus_amg_clusters(TalusAmgLevel *l, int size, int32_t *cluster, int *count)
{
    int32_t *list, own = 0;
    TALUS_TRY(TALUS_ALLOC(list, (size_t)size, "clusters"));
    for (int i = 0; i < l->a.rows; i++) {
        l->coarse[i] = l->taken[i] ? UNDECIDED : FINE;
        cluster[i] = -1;
    }
    for (int32_t i = 0; i < l->a.rows; i++)
        if (l->coarse[i] == UNDECIDED)
            fence(l, list, grow(l, i, size, own++, cluster, list));
    *count = number(l);
    talus_release(list);
    return TALUS_OK;
}
