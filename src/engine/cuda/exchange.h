/* engine/cuda/exchange.h - page-locked memory of the host, and arrays that grow with their content: for what ranks send each
 * other (exchange.cu, reach.cu, slots.cu). */
#ifndef TALUS_ENGINE_CUDA_EXCHANGE_H
#define TALUS_ENGINE_CUDA_EXCHANGE_H

#include "engine/cuda/engine.h"

/* Make the memory hold at least `bytes` bytes, with undefined contents; free it. The stream must not use it any more. */
TalusStatus cu_pinned_reserve(CuPinned *memory, size_t bytes, const char *what);
void cu_pinned_clear(CuPinned *memory);

/* Makes the array hold at least `need` elements; the first `keep` stay. */
template <class T>
static inline TalusStatus cu_grow(TalusEngine *e, CuArray<T> *array, int64_t need, int64_t keep,
                                  const char *what)
{
    CuArray<T> larger;
    if (array->at && need <= (int64_t)array->capacity)
        return TALUS_OK;
    larger.capacity = array->capacity; /* grows from there */
    TALUS_TRY(larger.reserve(need, what));
    if (array->at)
        cu_copy(e->cu, larger.at, array->at, (size_t)keep * sizeof *array->at);
    array->clear(); /* waits for the copy */
    *array = larger;
    return TALUS_OK;
}

#endif
