/* linalg/sparse.c - building, transposing and multiplying sparse matrices. */
#include "linalg/sparse.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

TalusStatus talus_sparse_alloc(TalusSparse *out, int rows, int columns, size_t entries,
                               const char *what)
{
    *out = (TalusSparse){.rows = rows, .columns = columns};
    if (entries > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%s: %zu entries, more than the %d that fit", what,
                          entries, INT32_MAX);
    TalusStatus status = TALUS_ALLOC(out->start, (size_t)rows + 1, what);
    TALUS_THEN(status, TALUS_ALLOC(out->column, entries, what));
    TALUS_THEN(status, TALUS_ALLOC(out->value, entries, what));
    if (status != TALUS_OK)
        talus_sparse_clear(out);
    return status;
}

void talus_sparse_clear(TalusSparse *a)
{
    TALUS_RELEASE(a->start, a->column, a->value);
    *a = (TalusSparse){0};
}

int32_t talus_sparse_entries(const TalusSparse *a)
{
    return a->start ? a->start[a->rows] : 0;
}

/* Turns the numbers of entries of rows, in start[i + 1], into the starts of rows. */
static void counts_to_starts(int32_t *start, int rows)
{
    for (int i = 0; i < rows; i++)
        start[i + 1] += start[i];
}

/* Restores the starts of rows after a fill that advanced the start of each row to the row's end. */
static void restore_starts(int32_t *start, int rows)
{
    memmove(start + 1, start, (size_t)rows * sizeof *start);
    start[0] = 0;
}

TalusStatus talus_sparse_transpose(const TalusSparse *a, TalusSparse *out)
{
    int32_t entries = talus_sparse_entries(a);
    TALUS_TRY(talus_sparse_alloc(out, a->columns, a->rows, (size_t)entries, "transposed matrix"));
    for (int32_t k = 0; k < entries; k++)
        out->start[a->column[k] + 1]++;
    counts_to_starts(out->start, out->rows);
    for (int i = 0; i < a->rows; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
            int32_t at = out->start[a->column[k]]++;
            out->column[at] = i;
            out->value[at] = a->value[k];
        }
    restore_starts(out->start, out->rows);
    return TALUS_OK;
}

/* Adds up entries with the same column in each row, columns rising, and closes the gaps. */
static void sum_duplicates(TalusSparse *a)
{
    int32_t kept = 0, begin = 0;
    for (int i = 0; i < a->rows; i++) {
        int32_t end = a->start[i + 1], first = kept;
        for (int32_t k = begin; k < end; k++)
            if (kept > first && a->column[kept - 1] == a->column[k]) {
                a->value[kept - 1] += a->value[k];
            } else {
                a->column[kept] = a->column[k];
                a->value[kept++] = a->value[k];
            }
        begin = end;
        a->start[i + 1] = kept;
    }
}

int32_t talus_sparse_diagonal(const TalusSparse *a, int row)
{
    for (int32_t e = a->start[row]; e < a->start[row + 1]; e++)
        if (a->column[e] == row)
            return e;
    return -1;
}

/* Two stable counting sorts, by column and then by row, leave duplicates in the order given. */
TalusStatus talus_sparse_from_triplets(const TalusTriplets *t, TalusSparse *out, const char *what)
{
    TalusSparse by_column;
    *out = (TalusSparse){0};
    TALUS_TRY(talus_sparse_alloc(&by_column, t->columns, t->rows, t->count, what));
    for (size_t k = 0; k < t->count; k++)
        by_column.start[t->column[k] + 1]++;
    counts_to_starts(by_column.start, t->columns);
    for (size_t k = 0; k < t->count; k++) {
        int32_t at = by_column.start[t->column[k]]++;
        by_column.column[at] = t->row[k];
        by_column.value[at] = t->value[k];
    }
    restore_starts(by_column.start, t->columns);
    TalusStatus status = talus_sparse_transpose(&by_column, out);
    if (status == TALUS_OK)
        sum_duplicates(out);
    talus_sparse_clear(&by_column);
    return status;
}

void talus_sparse_add_product(const TalusSparse *a, double s, const double *x, double *y)
{
    for (int i = 0; i < a->rows; i++) {
        double sum = 0.0;
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] += s * sum;
    }
}

void talus_sparse_add_transposed_product(const TalusSparse *a, double s, const double *x, double *y)
{
    for (int i = 0; i < a->rows; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            y[a->column[k]] += s * a->value[k] * x[i];
}

bool talus_sparse_equal(const TalusSparse *a, const TalusSparse *t)
{
    size_t entries = (size_t)talus_sparse_entries(a);
    return a->rows == t->rows && a->columns == t->columns &&
           entries == (size_t)talus_sparse_entries(t) &&
           memcmp(a->start, t->start, ((size_t)a->rows + 1) * sizeof *a->start) == 0 &&
           memcmp(a->column, t->column, entries * sizeof *a->column) == 0 &&
           memcmp(a->value, t->value, entries * sizeof *a->value) == 0;
}

double talus_sparse_extract(const TalusSparse *a, const int32_t *position, const int32_t *row,
                            int count, double regularise, TalusSparse *out)
{
    double largest = 0.0;
    int32_t at = 0;
    out->rows = out->columns = count;
    for (int i = 0; i < count; i++) {
        for (int32_t k = a->start[row[i]]; k < a->start[row[i] + 1]; k++) {
            if (position[a->column[k]] < 0)
                continue;
            bool diagonal = a->column[k] == row[i];
            if (diagonal && a->value[k] > largest)
                largest = a->value[k];
            out->column[at] = position[a->column[k]];
            out->value[at++] = diagonal ? a->value[k] * (1.0 + regularise) : a->value[k];
        }
        out->start[i + 1] = at;
    }
    return largest;
}
