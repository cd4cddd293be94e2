/* comm/stream.c - items of all ranks, in the order of ranks, come to one of them in bounded pieces. */
#include "comm/stream.h"

#include "base/memory.h"

TalusStatus talus_comm_find_spans(TalusComm *comm, TalusSpan *span, int spans)
{
    const int size = talus_comm_size(comm), rank = talus_comm_rank(comm);
    int64_t *count;
    TALUS_TRY(talus_comm_agree(comm, TALUS_ALLOC(count, (size_t)(size * spans), "spans")));
    for (int k = 0; k < spans; k++) {
        count[rank * spans + k] = span[k].count;
        span[k].before = span[k].all = 0;
    }
    const TalusStatus status = talus_comm_add_counts(comm, count, size * spans);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < spans; k++) {
            span[k].before += r < rank ? count[r * spans + k] : 0;
            span[k].all += count[r * spans + k];
        }
    talus_release(count);
    return status;
}

/* Puts what has come into the sink, in the order of senders. */
static TalusStatus put_messages(const TalusInbox *inbox, const TalusByteSink *sink)
{
    for (int m = 0; m < inbox->count; m++)
        TALUS_TRY(sink->put(sink->context, inbox->message[m].data, inbox->message[m].bytes));
    return TALUS_OK;
}

TalusStatus talus_comm_stream_to(TalusComm *comm, int root, TalusSpan span, size_t element,
                                 TalusFillFn *fill, const void *context, const TalusByteSink *sink)
{
    const int64_t fit = TALUS_STREAM_BYTES / (int64_t)element, most = fit > 0 ? fit : 1;
    const int64_t end = span.before + span.count;
    const size_t items = (size_t)(span.count < most ? span.count : most);
    unsigned char *buffer = NULL;
    TalusInbox inbox = {0};
    TalusStatus written = TALUS_OK;
    TalusStatus status =
        talus_comm_agree(comm, TALUS_ALLOC(buffer, items * element + 1, "pieces of a file"));
    for (int64_t begin = 0; status == TALUS_OK && begin < span.all; begin += most) {
        const int64_t first = begin > span.before ? begin : span.before;
        const int64_t last = begin + most < end ? begin + most : end;
        TalusMessage message = {.data = buffer, .rank = root};
        if (last > first) {
            fill(context, first - span.before, last - first, buffer);
            message.bytes = (size_t)(last - first) * element;
        }
        status = talus_comm_route(comm, &message, last > first, &inbox);
        if (status == TALUS_OK && written == TALUS_OK && talus_comm_rank(comm) == root)
            written = put_messages(&inbox, sink);
    }
    talus_release(buffer);
    talus_inbox_clear(&inbox);
    return status == TALUS_OK ? written : status;
}

TalusStatus talus_comm_stream(TalusComm *comm, TalusSpan span, size_t element, TalusFillFn *fill,
                              const void *context, const TalusByteSink *sink)
{
    return talus_comm_stream_to(comm, 0, span, element, fill, context, sink);
}
