/* support/cuda.h - for tests of the cuda backend, which are skipped where there is none. */
#ifndef TALUS_TESTS_SUPPORT_CUDA_H
#define TALUS_TESTS_SUPPORT_CUDA_H

#include "backend/backend.h"

#include "test.h"

static const TalusBackend *cuda; /* NULL: not here; main asks for it */

#define NEEDS_CUDA()             \
    do {                         \
        if (!cuda)               \
            SKIP(talus_error()); \
    } while (0)

#endif
