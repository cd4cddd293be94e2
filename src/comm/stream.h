/* comm/stream.h - items of all ranks, in the order of ranks, come to one of them in bounded pieces, or from one of them to
 * all. */
#ifndef TALUS_COMM_STREAM_H
#define TALUS_COMM_STREAM_H

#include "base/sink.h"
#include "base/source.h"
#include "comm/comm.h"

/* Items of a rank among those of all: `count`, behind the `before` of lower ranks. */
typedef struct TalusSpan {
    int64_t before, count, all;
} TalusSpan;

/* Writes the items first to first + count - 1 of this rank. */
typedef void TalusFillFn(const void *context, int64_t first, int64_t count, void *out);

/* Bytes of a piece, unless one item is longer. */
enum { TALUS_STREAM_BYTES = 1 << 22 };

/* Sets span[k].before and .all from span[k].count, on all ranks. */
TalusStatus talus_comm_find_spans(TalusComm *comm, TalusSpan *span, int spans);

/* Rank `root` puts the items of all ranks, of `element` bytes each, into the sink. All ranks call this together; others' sinks
 * are not used. A failure of the sink is returned on that rank alone, once all ranks are through. */
TalusStatus talus_comm_stream_to(TalusComm *comm, int root, TalusSpan span, size_t element,
                                 TalusFillFn *fill, const void *context, const TalusByteSink *sink);
/* The same to rank 0. */
TalusStatus talus_comm_stream(TalusComm *comm, TalusSpan span, size_t element, TalusFillFn *fill,
                              const void *context, const TalusByteSink *sink);

/* ---- from rank 0 ---- */

/* Returns the piece of a rank among pieces of equal length, which differ by at most 1, of less than 2^31 items. */
TalusSpan talus_even_span(int64_t all, int ranks, int rank);
/* Returns the rank whose piece has item `at`. */
int talus_even_rank(int64_t all, int ranks, int64_t at);

/* Takes the items first to first + count - 1 of this rank. */
typedef TalusStatus TalusTakeFn(void *context, int64_t first, int64_t count, const void *items);

/* Rank 0 gets the first `count` of `all` items, of `element` bytes each, from the source, and each rank takes those in its
 * even piece of all. All ranks call this together; a failure of any is one of all, once it returns. */
TalusStatus talus_comm_spread(TalusComm *comm, int64_t count, int64_t all, size_t element,
                              const TalusByteSource *source, TalusTakeFn *take, void *context);

#endif
