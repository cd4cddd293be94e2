/* linalg/block_matrix.c - builds a block matrix (block_matrix.h) from a scalar sparse matrix, and multiplies by it. */
#include "linalg/block_matrix.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Pattern of blocks, as compressed block rows. */
typedef struct Pattern {
    int32_t *start, *column;
} Pattern;

static void release_pattern(Pattern *p)
{
    TALUS_RELEASE(p->start, p->column);
    *p = (Pattern){0};
}

void talus_block_matrix_clear(TalusBlockMatrix *a)
{
    TALUS_RELEASE(a->start, a->column, a->mirror, a->value);
    *a = (TalusBlockMatrix){0};
}

static TalusStatus alloc_pattern(Pattern *p, int n, size_t capacity)
{
    TALUS_TRY(TALUS_ALLOC(p->start, (size_t)n + 1, "block pattern"));
    return TALUS_ALLOC(p->column, capacity, "block pattern");
}

/* Lists for each block row, in `out`, the block columns in which A has an entry, and the diagonal; not sorted. */
static TalusStatus gather_pattern(const TalusSparse *a, int size, int32_t *mark, Pattern *out)
{
    int n = a->rows / size;
    int32_t count = 0;
    TALUS_TRY(alloc_pattern(out, n, (size_t)a->start[a->rows] + (size_t)n));
    for (int i = 0; i < n; i++)
        mark[i] = -1;
    for (int i = 0; i < n; i++) {
        mark[i] = i;
        out->column[count++] = i;
        for (int32_t k = a->start[size * i]; k < a->start[size * (i + 1)]; k++) {
            int32_t j = a->column[k] / size;
            if (mark[j] != i) {
                mark[j] = i;
                out->column[count++] = j;
            }
        }
        out->start[i + 1] = count;
    }
    return TALUS_OK;
}

/* Sets `out` to the transposed pattern of p, with sorted columns; columns of p may be in any order. */
static TalusStatus transpose_pattern(const Pattern *p, int n, Pattern *out)
{
    TALUS_TRY(alloc_pattern(out, n, (size_t)p->start[n]));
    for (int32_t k = 0; k < p->start[n]; k++)
        out->start[p->column[k] + 1]++;
    for (int i = 0; i < n; i++)
        out->start[i + 1] += out->start[i];
    for (int i = 0; i < n; i++)
        for (int32_t k = p->start[i]; k < p->start[i + 1]; k++)
            out->column[out->start[p->column[k]]++] = i;
    memmove(out->start + 1, out->start, (size_t)n * sizeof *out->start);
    out->start[0] = 0;
    return TALUS_OK;
}

/* Sets each row of `out` to the union of the columns of a and b, not sorted. */
static TalusStatus unite_patterns(const Pattern *a, const Pattern *b, int n, int32_t *mark,
                                  Pattern *out)
{
    const Pattern *const both[2] = {a, b};
    int32_t count = 0;
    TALUS_TRY(alloc_pattern(out, n, (size_t)a->start[n] + (size_t)b->start[n]));
    for (int i = 0; i < n; i++)
        mark[i] = -1;
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++)
            for (int32_t k = both[side]->start[i]; k < both[side]->start[i + 1]; k++) {
                int32_t j = both[side]->column[k];
                if (mark[j] != i) {
                    mark[j] = i;
                    out->column[count++] = j;
                }
            }
        out->start[i + 1] = count;
    }
    return TALUS_OK;
}

/* Finds the block pattern of A + A' with the whole diagonal, columns rising. */
static TalusStatus find_pattern(const TalusSparse *a, int size, int32_t *mark, Pattern *out)
{
    Pattern own = {0}, turned = {0}, united = {0};
    int n = a->rows / size;
    TalusStatus status = gather_pattern(a, size, mark, &own);
    TALUS_THEN(status, transpose_pattern(&own, n, &turned));
    TALUS_THEN(status, unite_patterns(&own, &turned, n, mark, &united));
    if (status == TALUS_OK)
        status = transpose_pattern(&united, n,
                                   out); /* the pattern is symmetric: transposing only sorts it */
    release_pattern(&own);
    release_pattern(&turned);
    release_pattern(&united);
    return status;
}

/* Sets mirror[k], for each entry k = (i, j), to the index of the entry (j, i). As i rises, the entries (j, i) of each
 * row j are met in their stored order; seen[j] counts them. */
static void find_mirrors(TalusBlockMatrix *m, int32_t *seen)
{
    memset(seen, 0, (size_t)m->blocks * sizeof *seen);
    for (int i = 0; i < m->blocks; i++)
        for (int32_t k = m->start[i]; k < m->start[i + 1]; k++) {
            int32_t j = m->column[k];
            m->mirror[k] = m->start[j] + seen[j]++;
        }
}

/* Adds the entries of A to their blocks; block_index[j] is the index of block (i, j) of the current block row i. */
static void fill_values(const TalusSparse *a, TalusBlockMatrix *m, int32_t *block_index)
{
    const int s = m->size;
    for (int i = 0; i < m->blocks; i++) {
        for (int32_t k = m->start[i]; k < m->start[i + 1]; k++)
            block_index[m->column[k]] = k;
        for (int r = 0; r < s; r++)
            for (int32_t e = a->start[s * i + r]; e < a->start[s * i + r + 1]; e++) {
                size_t at = (size_t)block_index[a->column[e] / s] * (size_t)(s * s);
                m->value[at + (size_t)(s * r + a->column[e] % s)] += a->value[e];
            }
    }
}

/* Fills pattern, mirrors and values of m, which has its sizes. `work`: one number per block row. */
static TalusStatus build_matrix(const TalusSparse *a, TalusBlockMatrix *m, int32_t *work)
{
    Pattern pattern = {0};
    size_t square = (size_t)m->size * (size_t)m->size;
    TalusStatus status = find_pattern(a, m->size, work, &pattern);
    m->start = pattern.start;
    m->column = pattern.column;
    TALUS_TRY(status);
    size_t entries = (size_t)m->start[m->blocks];
    TALUS_TRY(TALUS_ALLOC(m->mirror, entries, "block matrix"));
    TALUS_TRY(TALUS_ALLOC(m->value, entries * square, "block matrix"));
    find_mirrors(m, work);
    fill_values(a, m, work);
    return TALUS_OK;
}

TalusStatus talus_block_matrix_create(const TalusSparse *a, int size, TalusBlockMatrix *out)
{
    int32_t *work;
    *out = (TalusBlockMatrix){.blocks = a->rows / size, .size = size};
    TALUS_TRY(TALUS_ALLOC(work, (size_t)out->blocks, "block matrix"));
    TalusStatus status = build_matrix(a, out, work);
    talus_release(work);
    if (status != TALUS_OK)
        talus_block_matrix_clear(out);
    return status;
}

/* y = A x + q for blocks of three rows. */
static void apply_blocks_of_three(const TalusBlockMatrix *a, const double *x, const double *q,
                                  double *y)
{
    for (int i = 0; i < a->blocks; i++) {
        double s0 = q[3 * i], s1 = q[3 * i + 1], s2 = q[3 * i + 2];
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
            const double *v = a->value + 9 * (size_t)k, *z = x + 3 * (size_t)a->column[k];
            s0 += v[0] * z[0] + v[1] * z[1] + v[2] * z[2];
            s1 += v[3] * z[0] + v[4] * z[1] + v[5] * z[2];
            s2 += v[6] * z[0] + v[7] * z[1] + v[8] * z[2];
        }
        y[3 * i] = s0;
        y[3 * i + 1] = s1;
        y[3 * i + 2] = s2;
    }
}

void talus_block_matrix_apply(const TalusBlockMatrix *a, const double *x, const double *q,
                              double *y)
{
    const int s = a->size;
    if (s == 3) {
        apply_blocks_of_three(a, x, q, y);
        return;
    }
    for (int i = 0; i < a->blocks; i++)
        for (int r = 0; r < s; r++) {
            double sum = q[s * i + r];
            for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
                for (int c = 0; c < s; c++)
                    sum += a->value[(size_t)k * (size_t)(s * s) + (size_t)(s * r + c)] *
                           x[s * a->column[k] + c];
            y[s * i + r] = sum;
        }
}
