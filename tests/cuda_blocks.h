/* A problem on the CPU and on the cuda backend, vectors on both, and the comparison of the two: spheres and
 * other bodies, explicit matrices, one and three rows, in a metric and without, with blocks at the apex, on
 * the mantle, inside, without friction, huge and denormal. */
#ifndef TALUS_TEST_CUDA_BLOCKS_H
#define TALUS_TEST_CUDA_BLOCKS_H

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/rng.h"
#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
/* ---- a problem on both backends, and vectors for it ---- */

typedef enum Kind { PLAIN, FACES, HUGE_ONES, KINDS } Kind;

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *op; /* the host's */
    TalusOperator device;
    TalusMetricBlock *metric; /* NULL: none */
    double *device_metric;
    size_t metric_room;
    Kind kind;
    int rows, blocks, n;
    double *x, *g, *d; /* x in the set */
} Case;

/* A vector's two copies. */
typedef struct Both {
    double *host, *device;
    size_t room;
} Both;

static inline double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

static inline const TalusMetricBlock *metric_of(const Case *c)
{
    return (const TalusMetricBlock *)c->metric;
}

static inline const TalusMetricBlock *device_metric_of(const Case *c)
{
    return (const TalusMetricBlock *)c->device_metric;
}

static inline double mu_of(const Case *c, int i)
{
    return c->rows == 1 ? 0.0 : c->metric ? c->metric[i][2] : c->op->mu[i];
}

/* Blocks of many sizes, with zeros, axes and signs of zero among them. */
static inline double *make_vector(const Case *c, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = vector(c->n);
    for (int i = 0; i < c->blocks; i++)
        for (int k = 0; k < c->rows; k++) {
            double *e = &x[i * c->rows + k];
            *e = talus_rng_uniform(&rng) - 0.4;
            if (c->kind == PLAIN)
                continue;
            if (i % 7 == (int)(seed % 3))
                *e = i % 2 ? -0.0 : 0.0;
            else if (i % 11 == 1 && k > 0)
                *e = 0.0;
            else if (i % 13 == 2)
                *e *= 1e-310;
            else if (i % 13 == 3)
                *e *= 1e-150;
            else if (c->kind == HUGE_ONES && i % 13 == 4)
                *e *= 1e100;
        }
    return x;
}

static inline void make_metric(Case *c)
{
    TalusRng rng = talus_rng_from_seed(77);
    c->metric = calloc((size_t)c->blocks, sizeof *c->metric);
    for (int i = 0; i < c->blocks; i++) {
        double *m = c->metric[i];
        m[0] = 0.5 + talus_rng_uniform(&rng);
        m[1] = 0.5 + talus_rng_uniform(&rng);
        m[2] = c->rows == 3 ? c->op->mu[i] * m[0] / m[1] : 0.0;
        m[3] = 1.0 / (1.0 + m[2] * m[2]);
    }
    size_t n = 4 * (size_t)c->blocks;
    CHECK_OK(cuda->vector.reserve(cuda_op(), &c->device_metric, &c->metric_room, n, "metric"));
    cuda->vector.put(cuda_op(), c->device_metric, c->metric[0], n);
}

static inline TestProblem make_problem(int rows, bool matrix)
{
    if (matrix)
        return make_explicit(52, 260, rows);
    TestProblem test = make_heap(&(HeapOptions){51, 5, 5, 4, rows == 3 ? 0.4 : 0.0, 0.02, 0.3});
    TalusContactDef *contacts = (TalusContactDef *)test.def.contacts;
    for (int i = 0; i < test.def.contact_count; i += 3)
        contacts[i].mu = 0.0;
    return test;
}

static inline Case make_case(int rows, bool matrix, bool scaled, Kind kind)
{
    Case c = {.test = make_problem(rows, matrix), .kind = kind};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    CHECK_INT(c.rows, rows);
    CHECK(c.blocks > 256); /* more than one block of threads */
    CHECK_OK(cuda_mirror(c.op, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    if (scaled)
        make_metric(&c);
    c.x = make_vector(&c, 61);
    c.g = make_vector(&c, 62);
    c.d = make_vector(&c, 63);
    for (int i = 0; i < c.blocks; i++)
        verify_project(rows, mu_of(&c, i), c.x + i * rows);
    return c;
}

static inline void free_case(Case *c)
{
    CHECK_OK(cuda->check(cuda_context()));
    cuda->vector.release(c->device_metric);
    cuda->op.mirror_clear(&c->device);
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
    free(c->metric);
    free(c->x);
    free(c->g);
    free(c->d);
}

static inline void for_cases(bool only_scaled, void (*check)(Case *c))
{
    for (int form = 0; form < 8 * KINDS; form++) {
        bool scaled = form & 4;
        if (only_scaled && !scaled)
            continue;
        Case c = make_case(form & 1 ? 3 : 1, form & 2, scaled, (Kind)(form / 8));
        check(&c);
        free_case(&c);
    }
}

static inline Both make_both(const Case *c, const double *values)
{
    Both v = {.host = vector(c->n)};
    if (values)
        memcpy(v.host, values, (size_t)c->n * sizeof *values);
    CHECK_OK(cuda->vector.reserve(cuda_op(), &v.device, &v.room, (size_t)c->n, "test"));
    cuda->vector.put(cuda_op(), v.device, v.host, (size_t)c->n);
    return v;
}

static inline void free_both(Both *v)
{
    cuda->vector.release(v->device);
    free(v->host);
}

/* Sets both copies to the host's. */
static inline void settle(const Case *c, const Both *v)
{
    cuda->vector.put(cuda_op(), v->device, v->host, (size_t)c->n);
}

/* ---- comparing ---- */

static inline double largest(const double *v, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

/* Both copies, block by block, to 1e-12 of the block's numbers, of which a and b hold the rest; beside
 * that they may differ by `none`. */
static inline bool near_blocks(const Case *c, const Both *v, const double *a, const double *b,
                               double none)
{
    double *got = vector(c->n), worst = 0.0;
    const int rows = c->rows;
    cuda->vector.get(cuda_op(), got, v->device, (size_t)c->n);
    for (int i = 0; i < c->blocks; i++) {
        const double *host = v->host + i * rows;
        double size = fmax(largest(host, rows),
                           fmax(largest(a + i * rows, rows), largest(b + i * rows, rows)));
        for (int k = 0; k < rows; k++) {
            double off = fabs(got[i * rows + k] - host[k]);
            if (!(off <= 1e-12 * size + none))
                worst = isnan(off) ? NAN : fmax(worst, off / size);
        }
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12);
}

static inline bool same_blocks(const Case *c, const Both *v, const double *a, const double *b)
{
    return near_blocks(c, v, a, b, 0.0);
}

/* Both copies to 1e-12 of the largest number in the vector: operations with a product. */
static inline bool same_vector(const Case *c, const Both *v)
{
    double *got = vector(c->n), worst = 0.0, size = largest(v->host, c->n);
    cuda->vector.get(cuda_op(), got, v->device, (size_t)c->n);
    for (int k = 0; k < c->n; k++) {
        double off = fabs(got[k] - v->host[k]);
        worst = isnan(off) || isnan(worst) ? NAN : fmax(worst, off);
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12 * size);
}

static inline bool same_sum(double got, double expected)
{
    return got == expected || CHECK_NEAR(got, expected, 1e-11 * fabs(expected));
}

#endif
