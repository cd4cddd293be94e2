/* support/cuda.h - for tests of the cuda backend, which are skipped where there is none. */
#ifndef TALUS_TESTS_SUPPORT_CUDA_H
#define TALUS_TESTS_SUPPORT_CUDA_H

#include "backend/backend.h"

#include "test.h"

static const TalusBackend *cuda; /* NULL: not here; main asks for it */

/* The context of a test program's own operators, and one that has nothing else, for operations on vectors. */
static TalusContext *cuda_own;

static inline TalusContext *cuda_context(void)
{
    if (!cuda_own)
        CHECK_OK(cuda->context_create(&cuda_own));
    return cuda_own;
}

/* At the end of main: the context holds memory. */
static inline int cuda_test_result(void)
{
    if (cuda_own)
        cuda->context_destroy(cuda_own);
    return talus_test_result();
}

static inline const TalusOperator *cuda_op(void)
{
    static TalusOperator op;
    op.context = cuda_context();
    return &op;
}

static inline TalusStatus cuda_mirror(const TalusOperator *host, TalusOperator *op)
{
    op->context = cuda_context();
    return cuda->op.mirror(host, op);
}

#define NEEDS_CUDA()             \
    do {                         \
        if (!cuda)               \
            SKIP(talus_error()); \
    } while (0)

#endif
