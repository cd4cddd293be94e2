/* A problem, its copy on the device, and a sweep of Gauss-Seidel there. */
#ifndef TALUS_TEST_CUDA_SWEEP_H
#define TALUS_TEST_CUDA_SWEEP_H

#include "support/cuda.h"
#include "support/problems.h"
#include "support/test.h"

#include "base/rng.h"
#include "problem/problem.h"
#ifdef TALUS_HAVE_CUDA
#include "backend/cuda/cuda.h"
#endif

#include <stdlib.h>
#include <string.h>

/* As in backend/cuda/sweep/sweep.h. */
enum { HEAVY_CONTACTS = 40, HEAVY_CLASS = 80, ITEM = 128 };

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *op; /* the host's */
    TalusOperator device;
    int n;
    double *gamma;  /* starting values */
    double *vector; /* on the device */
    size_t room;
    TalusSweep *sweep;
    uint32_t *contact, *class_of; /* order of the sweep */
} Case;

static inline Case open_case(TestProblem test)
{
    Case c = {.test = test};
    TalusRng rng = talus_rng_from_seed(7);
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.n = c.op->rows * c.op->blocks;
    c.gamma = calloc((size_t)c.n + 1, sizeof(double));
    for (int k = 0; k < c.n; k++)
        c.gamma[k] = 0.01 * (talus_rng_uniform(&rng) - 0.3);
    c.contact = calloc((size_t)c.op->blocks + 1, sizeof *c.contact);
    c.class_of = calloc((size_t)c.op->blocks + 1, sizeof *c.class_of);
    CHECK_OK(cuda_mirror(c.op, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    CHECK_OK(cuda->vector.reserve(cuda_op(), &c.vector, &c.room, (size_t)c.n, "test vector"));
    cuda->vector.put(cuda_op(), c.vector, c.gamma, (size_t)c.n);
    return c;
}

static inline void close_case(Case *c)
{
    cuda->sweep.destroy(c->sweep);
    cuda->vector.release(c->vector);
    cuda->op.mirror_clear(&c->device);
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
    free(c->gamma);
    free(c->contact);
    free(c->class_of);
}

static inline bool begin(Case *c, const TalusSweepOptions *options)
{
    if (!CHECK_OK(cuda->sweep.prepare(&c->device, options, c->vector, &c->sweep)))
        return false;
#ifdef TALUS_HAVE_CUDA
    cu_sweep_order(c->sweep, c->contact, c->class_of);
#endif
    return true;
}

static inline TalusSweepOptions coloured(void)
{
    return (TalusSweepOptions){.order = TALUS_ORDER_COLOURED,
                               .metric = TALUS_METRIC_ANISOTROPIC,
                               .omega = 1.0,
                               .rho = 1.0};
}

/* The bowl's small spheres on a large one that no impulse moves. */
static inline TestProblem make_anchored_bowl(int count, double mu, double compliance)
{
    TestProblem p = make_bowl(count, mu, compliance);
    ((double *)p.def.inv_mass)[0] = 0.0;
    ((TalusSym3 *)p.def.inv_inertia)[0] = (TalusSym3){0};
    return p;
}

/* Spheres, other bodies, a heavy sphere, a heavy body that is none, an immovable sphere with more contacts than there
 * are colours; with friction and without. */
enum { PROBLEMS = 10 };

static inline TestProblem make_problem(int k)
{
    static const HeapOptions heaps[] = {{3, 5, 5, 4, 0.4, 0.0, 0.0},
                                        {4, 5, 4, 4, 0.0, 0.02, 0.0},
                                        {5, 4, 4, 3, 0.5, 0.03, 0.5},
                                        {6, 4, 3, 3, 0.0, 0.0, 0.5}};
    if (k < 4)
        return make_heap(&heaps[k]);
    if (k < 6)
        return k == 4 ? make_bowl(200, 0.3, 0.0) : make_bowl(150, 0.0, 0.001);
    if (k >= 8)
        return k == 8 ? make_anchored_bowl(100, 0.3, 0.0) : make_anchored_bowl(100, 0.0, 0.001);
    TestProblem p = make_bowl(k == 6 ? 60 : 120, 0.3, 0.0);
    ((double *)p.def.radius)[0] = 0.0; /* no sphere any more: contacts of the general form */
    return p;
}

#endif
