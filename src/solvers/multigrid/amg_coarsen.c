/* solvers/multigrid/amg_coarsen.c - chooses the rows of the next level: by Ruge and Stueben's splitting of strongly
 * coupled rows (Ruge and Stueben 1987; Briggs, Henson and McCormick 2000, ch. 8), or as the rows that separate
 * clusters. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- strong couplings ---- */

/* Strength of a coupling with entry a, by the parameter `strong`. */
static double coupling_strength(const TalusAmgParams *p, double a)
{
    return p->strong == AMG_ABSOLUTE ? fabs(a) : -a;
}

/* True if the entry a_ij counts as a coupling: it is off the diagonal, and j takes part in the coarsening and is of the
 * same kind as i. */
static bool is_coupling(const TalusAmgLevel *l, int i, int j)
{
    return i != j && l->taken[j] && l->kind[i] == l->kind[j];
}

/* Strength from which on a coupling of row i with a positive strength is strong: theta times the largest one. */
static double row_threshold(const TalusAmgLevel *l, const TalusAmgParams *p, int i)
{
    double max = 0.0;
    for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
        if (is_coupling(l, i, l->a.column[k]))
            max = fmax(max, coupling_strength(p, l->a.value[k]));
    return p->theta * max;
}

/* True if entry k of row i is a coupling that is strong with the threshold `least` of its row. */
static bool is_strong(const TalusAmgLevel *l, const TalusAmgParams *p, int i, int32_t k,
                      double least)
{
    double strength = coupling_strength(p, l->a.value[k]);
    return is_coupling(l, i, l->a.column[k]) && strength > 0.0 && strength >= least;
}

TalusStatus talus_amg_find_strong(const TalusAmgLevel *l, const TalusAmgParams *p, TalusSparse *out)
{
    const TalusSparse *a = &l->a;
    int32_t at = 0;
    TALUS_TRY(talus_sparse_alloc(out, a->rows, a->rows, (size_t)talus_sparse_entries(a),
                                 "strong couplings"));
    for (int i = 0; i < a->rows; i++) {
        double least = row_threshold(l, p, i);
        for (int32_t k = a->start[i]; l->taken[i] && k < a->start[i + 1]; k++)
            if (is_strong(l, p, i, k, least)) {
                out->column[at] = a->column[k];
                out->value[at++] = a->value[k];
            }
        out->start[i + 1] = at;
    }
    return TALUS_OK;
}

/* ---- the splitting ---- */

/* Values of l->coarse[i] while rows are chosen; number_coarse_rows() then replaces COARSE by the row's index on the
 * next level. */
enum { UNDECIDED = -3, FINE = -1, COARSE = 0 };

/* Priority queue of the undecided rows. The value of a row is the number of undecided rows that strongly depend on it,
 * plus twice the number of fine rows that do. Rows of equal value form a doubly linked list that begins at head[value];
 * -1 ends a list. */
typedef struct Queue {
    int32_t *head, *next, *previous, *value;
    int32_t top; /* no list with a larger value has rows */
} Queue;

/* Inserts row i at the head of the list of its value. */
static void queue_insert(Queue *q, int32_t i)
{
    int32_t v = q->value[i];
    q->next[i] = q->head[v];
    q->previous[i] = -1;
    if (q->head[v] >= 0)
        q->previous[q->head[v]] = i;
    q->head[v] = i;
    q->top = v > q->top ? v : q->top;
}

/* Removes row i from the list of its value; `top` stays. */
static void queue_remove(Queue *q, int32_t i)
{
    if (q->previous[i] >= 0)
        q->next[q->previous[i]] = q->next[i];
    else
        q->head[q->value[i]] = q->next[i];
    if (q->next[i] >= 0)
        q->previous[q->next[i]] = q->previous[i];
}

/* Adds `by` to the value of row i and moves the row to the list of its new value. */
static void queue_change_value(Queue *q, int32_t i, int by)
{
    queue_remove(q, i);
    q->value[i] += by;
    queue_insert(q, i);
}

/* Removes a row of the largest value from the queue and returns it. Returns -1 if the largest value is 0 or the queue
 * is empty: then no undecided or fine row depends on the rows left, and they can become fine. */
static int32_t queue_take_top(Queue *q)
{
    while (q->top > 0 && q->head[q->top] < 0)
        q->top--;
    int32_t i = q->head[q->top];
    if (i >= 0)
        queue_remove(q, i);
    return q->top > 0 ? i : -1;
}

/* Allocates an empty queue for n rows; row i of `back` lists the rows that strongly depend on i. */
static TalusStatus queue_allocate(Queue *q, int n, const TalusSparse *back)
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

/* Makes row i coarse and the undecided rows that depend on i fine. Raises by 1 the value of each row on which a new
 * fine row depends, and lowers by 1 the value of each row on which i depends. */
static void make_coarse(Queue *q, int32_t *coarse, int32_t i, const TalusSparse *strong,
                        const TalusSparse *back)
{
    coarse[i] = COARSE;
    for (int32_t k = back->start[i]; k < back->start[i + 1]; k++) {
        int32_t j = back->column[k];
        if (coarse[j] != UNDECIDED)
            continue;
        coarse[j] = FINE;
        queue_remove(q, j);
        for (int32_t m = strong->start[j]; m < strong->start[j + 1]; m++)
            if (coarse[strong->column[m]] == UNDECIDED)
                queue_change_value(q, strong->column[m], 1);
    }
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        if (coarse[strong->column[k]] == UNDECIDED)
            queue_change_value(q, strong->column[k], -1);
}

/* First pass: makes the row of largest value COARSE, and those that depend on it FINE, until all values left are 0. The
 * rows left and rows that take no part become FINE. */
static TalusStatus split_first_pass(TalusAmgLevel *l, const TalusSparse *strong)
{
    int n = l->a.rows;
    Queue q = {0};
    TalusSparse back = {0};
    TALUS_TRY(talus_sparse_transpose(strong, &back));
    TalusStatus status = queue_allocate(&q, n, &back);
    for (int32_t i = n - 1; status == TALUS_OK && i >= 0; i--) {
        l->coarse[i] = l->taken[i] ? UNDECIDED : FINE;
        q.value[i] = back.start[i + 1] - back.start[i];
        if (l->taken[i])
            queue_insert(&q, i);
    }
    if (status == TALUS_OK)
        for (int32_t i = queue_take_top(&q); i >= 0; i = queue_take_top(&q))
            make_coarse(&q, l->coarse, i, strong, &back);
    for (int i = 0; i < n; i++)
        l->coarse[i] = l->coarse[i] == COARSE ? COARSE : FINE;
    talus_release(q.head);
    talus_sparse_clear(&back);
    return status;
}

/* True if row j strongly depends on a coarse row k with mark[k] == i: one on which row i depends too. */
static bool has_marked_neighbour(const TalusAmgLevel *l, const TalusSparse *strong, int j,
                                 const int32_t *mark, int32_t i)
{
    for (int32_t k = strong->start[j]; k < strong->start[j + 1]; k++)
        if (l->coarse[strong->column[k]] == COARSE && mark[strong->column[k]] == i)
            return true;
    return false;
}

/* Second pass, for the fine row i: i and every fine row on which it depends must depend on a common coarse row. The
 * first neighbour without a common coarse row becomes coarse. If a second neighbour has none either, row i becomes
 * coarse instead, and the first one fine again. */
static void split_second_pass_row(TalusAmgLevel *l, const TalusSparse *strong, int32_t i,
                                  int32_t *mark)
{
    int32_t added = -1;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        if (l->coarse[strong->column[k]] == COARSE)
            mark[strong->column[k]] = i;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++) {
        int32_t j = strong->column[k];
        if (l->coarse[j] == COARSE || has_marked_neighbour(l, strong, j, mark, i))
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

/* Second pass: makes further rows coarse, so that fine rows that depend on each other share a coarse row. */
static TalusStatus split_second_pass(TalusAmgLevel *l, const TalusSparse *strong)
{
    int n = l->a.rows;
    int32_t *mark;
    TALUS_TRY(TALUS_ALLOC(mark, (size_t)n, "coarsening"));
    for (int i = 0; i < n; i++)
        mark[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (l->coarse[i] == FINE && strong->start[i + 1] > strong->start[i])
            split_second_pass_row(l, strong, i, mark);
    talus_release(mark);
    return TALUS_OK;
}

/* Writes the index on the next level, in order of rows, to l->coarse of the coarse rows. Returns their number. */
static int number_coarse_rows(TalusAmgLevel *l)
{
    int count = 0;
    for (int i = 0; i < l->a.rows; i++)
        if (l->coarse[i] == COARSE)
            l->coarse[i] = count++;
    return count;
}

TalusStatus talus_amg_split_rows(TalusAmgLevel *l, const TalusSparse *strong, int passes,
                                 int *count)
{
    TALUS_TRY(split_first_pass(l, strong));
    if (passes > 1)
        TALUS_TRY(split_second_pass(l, strong));
    *count = number_coarse_rows(l);
    return TALUS_OK;
}

/* ---- clusters ---- */

/* Grows cluster number `own` breadth first from the row `seed`, to at most `size` undecided rows, which become fine and
 * are listed in `list`. Returns the number of rows. No undecided row is coupled to another cluster, since the undecided
 * neighbours of each cluster are made coarse (fence_in). */
static int grow_cluster(TalusAmgLevel *l, int32_t seed, int size, int32_t own, int32_t *cluster,
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

/* Makes the undecided neighbours of a cluster coarse, so that later clusters are not coupled to it. */
static void fence_in(TalusAmgLevel *l, const int32_t *list, int members)
{
    for (int at = 0; at < members; at++)
        for (int32_t k = l->a.start[list[at]]; k < l->a.start[list[at] + 1]; k++)
            if (l->coarse[l->a.column[k]] == UNDECIDED)
                l->coarse[l->a.column[k]] = COARSE;
}

TalusStatus talus_amg_form_clusters(TalusAmgLevel *l, int size, int32_t *cluster, int *count)
{
    int32_t *list, own = 0;
    TALUS_TRY(TALUS_ALLOC(list, (size_t)size, "clusters"));
    for (int i = 0; i < l->a.rows; i++) {
        l->coarse[i] = l->taken[i] ? UNDECIDED : FINE;
        cluster[i] = -1;
    }
    for (int32_t i = 0; i < l->a.rows; i++)
        if (l->coarse[i] == UNDECIDED)
            fence_in(l, list, grow_cluster(l, i, size, own++, cluster, list));
    *count = number_coarse_rows(l);
    talus_release(list);
    return TALUS_OK;
}
