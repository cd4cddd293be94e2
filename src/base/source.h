/* base/source.h - where bytes come from in pieces, in order, such as a file. */
#ifndef TALUS_BASE_SOURCE_H
#define TALUS_BASE_SOURCE_H

#include <talus/base.h>

/* Writes the next `size` bytes; fails if there are fewer. */
typedef TalusStatus TalusGetFn(void *context, void *bytes, size_t size);

typedef struct TalusByteSource {
    TalusGetFn *get;
    void *context;
} TalusByteSource;

#endif
