/* support/cuda.h - for tests of the cuda backend, which are skipped where there is none. */
#ifndef TALUS_TESTS_SUPPORT_CUDA_H
#define TALUS_TESTS_SUPPORT_CUDA_H

#include "backend/backend.h"

#include "test.h"

static const TalusBackend *cuda; /* set by main; NULL: not in this build, or no device */

/* Context of all operators that the test program makes itself; created by cuda_context on first use. */
static TalusContext *cuda_own;

static inline TalusContext *cuda_context(void)
{
    if (!cuda_own)
        CHECK_OK(cuda->context_create(&cuda_own));
    return cuda_own;
}

/* In place of talus_test_result at the end of main: destroys the context first, whose memory would count as lost. */
static inline int cuda_test_result(void)
{
    if (cuda_own)
        cuda->context_destroy(cuda_own);
    return talus_test_result();
}

/* Operator with a context and nothing else, for operations on vectors. */
static inline const TalusOperator *cuda_op(void)
{
    static TalusOperator op;
    op.context = cuda_context();
    return &op;
}

/* Copies an operator of the host to the device, in the context above. */
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
