/* base/sink.h - where bytes go that come in pieces, in order, such as a file. */
#ifndef TALUS_BASE_SINK_H
#define TALUS_BASE_SINK_H

#include <talus/base.h>

typedef TalusStatus TalusPutFn(void *context, const void *bytes, size_t size);

typedef struct TalusByteSink {
    TalusPutFn *put;
    void *context;
} TalusByteSink;

#endif
