/* backend/cuda/ops/vector.cu - vectors of the device: memory, copies, sums and combinations.
 *
 * Memory bandwidth limits all kernels. Sums are binned (device/reduce.h), with one term for each block. */
#include "backend/cuda/ops/operator.h"
#include "backend/random.h"

/* Returns the length of the operator's vectors. */
static int64_t length_of(const TalusOperator *op)
{
    return (int64_t)op->rows * op->blocks;
}

/* ---- memory ---- */

TalusStatus cu_vector_reserve(const TalusOperator *, double **vector, size_t *capacity, size_t n,
                              const char *what)
{
    return CU_RESERVE(*vector, *capacity, n, what);
}

void cu_vector_release(double *vector)
{
    cu_release(vector);
}

void cu_vector_put(const TalusOperator *op, double *vector, const double *host, size_t n)
{
    cu_put(cu_context_of(op), vector, host, n * sizeof *vector);
}

void cu_vector_get(const TalusOperator *op, double *host, const double *vector, size_t n)
{
    cu_get(cu_context_of(op), host, vector, n * sizeof *host);
}

void cu_vector_copy(const TalusOperator *op, double *to, const double *from, size_t n)
{
    cu_copy(cu_context_of(op), to, from, n * sizeof *to);
}

void cu_vector_zero(const TalusOperator *op, double *vector, size_t n)
{
    cu_zero(cu_context_of(op), vector, n * sizeof *vector);
}

/* ---- random numbers ---- */

static __global__ void randomise_kernel(int64_t n, int rows, TalusContactKeys keys, double *x)
{
    int64_t i = item_index();
    if (i < n)
        x[i] = talus_random_entry(talus_random_key(&keys, (int)(i / rows)), (int)(i % rows));
}

void cu_vector_randomise(const TalusOperator *op, double *x)
{
    launch(cu_context_of(op), randomise_kernel, blocks_for(length_of(op)), THREADS, length_of(op),
           op->rows, talus_contact_keys(op), x);
}

/* ---- sums ---- */

/* Maximum number of vectors whose inner products with one y are summed in one kernel. */
enum { TOGETHER = 8 };

/* Kernel argument: vectors x, and for combinations their factors a and their number. */
struct Vectors {
    const double *x[TALUS_VECTORS];
    double a[TALUS_VECTORS];
    int count;
};

/* totals[k] = x[k]'y for k < COUNT; does the work of a kernel. */
template <int ROWS, int COUNT>
static __device__ inline void sum_dots(CuTallies tallies, double *totals, int blocks,
                                       const Vectors &vectors, const double *y)
{
    sum_items<COUNT, 0>(tallies, totals, 0, blocks, 0.0, [&](int64_t i, double(&sums)[COUNT]) {
        double of_y[ROWS];
        load_block(y, i, of_y);
        for (int k = 0; k < COUNT; k++)
            for (int j = 0; j < ROWS; j++)
                sums[k] += vectors.x[k][i * ROWS + j] * of_y[j];
    });
}

template <int ROWS>
static __global__ void dot_one(CuTallies tallies, double *totals, int blocks, Vectors vectors,
                               const double *y)
{
    sum_dots<ROWS, 1>(tallies, totals, blocks, vectors, y);
}

template <int ROWS>
static __global__ void dot_several(CuTallies tallies, double *totals, int blocks, Vectors vectors,
                                   const double *y)
{
    sum_dots<ROWS, TOGETHER>(tallies, totals, blocks, vectors, y);
}

double cu_vector_dot(const TalusOperator *op, const double *x, const double *y)
{
    double sum = 0.0;
    cu_vector_dots(op, 1, &x, y, &sum);
    return sum;
}

void cu_vector_dots(const TalusOperator *op, int count, const double *const *x, const double *y,
                    double *sums)
{
    for (int first = 0; first < count; first += TOGETHER) {
        Vectors vectors;
        double *totals = cu_context_of(op)->totals + first;
        for (int k = 0; k < TOGETHER; k++) /* repeats the last vector if there are fewer */
            vectors.x[k] = x[first + k < count ? first + k : count - 1];
        if (first + 1 == count)
            LAUNCH_ROWS(launch_sums, op, dot_one, op->blocks, totals, op->blocks, vectors, y);
        else
            LAUNCH_ROWS(launch_sums, op, dot_several, op->blocks, totals, op->blocks, vectors, y);
    }
    if (count)
        cu_totals_get(cu_context_of(op), count, sums);
}

/* ---- combinations ---- */

static __global__ void axpby_kernel(int64_t n, double a, const double *x, double b, double *y)
{
    int64_t i = item_index();
    if (i < n)
        y[i] = a * x[i] + b * y[i];
}

void cu_vector_axpby(const TalusOperator *op, double a, const double *x, double b, double *y)
{
    launch(cu_context_of(op), axpby_kernel, blocks_for(length_of(op)), THREADS, length_of(op), a, x,
           b, y);
}

static __global__ void combine_kernel(int64_t n, Vectors vectors, double *out)
{
    int64_t i = item_index();
    if (i >= n)
        return;
    double sum = 0.0;
    for (int k = 0; k < vectors.count; k++)
        sum += vectors.a[k] * vectors.x[k][i];
    out[i] = sum;
}

void cu_vector_combine(const TalusOperator *op, int count, const double *const *x, const double *a,
                       double *out)
{
    Vectors vectors;
    vectors.count = count;
    for (int k = 0; k < count; k++) {
        vectors.x[k] = x[k];
        vectors.a[k] = a[k];
    }
    launch(cu_context_of(op), combine_kernel, blocks_for(length_of(op)), THREADS, length_of(op),
           vectors, out);
}
