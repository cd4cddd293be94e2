/* comm/stream.c - items of all ranks, in the order of ranks, come to one of them in bounded pieces, or from one of them to
 * all. */
#include "comm/stream.h"

#include "base/memory.h"

TalusStatus talus_comm_find_spans(TalusComm *comm, TalusSpan *span, int spans)
{
    const int size = talus_comm_size(comm), rank = talus_comm_rank(comm);
    int64_t *count;
    TalusStatus status =
        talus_comm_agree(comm, TALUS_ALLOC(count, (size_t)(size * spans), "spans"));
    for (int k = 0; status == TALUS_OK && k < spans; k++) {
        count[rank * spans + k] = span[k].count;
        span[k].before = span[k].all = 0;
    }
    TALUS_THEN(status, talus_comm_add_counts(comm, count, size * spans));
    for (int r = 0; status == TALUS_OK && r < size; r++)
        for (int k = 0; k < spans; k++) {
            span[k].before += r < rank ? count[r * spans + k] : 0;
            span[k].all += count[r * spans + k];
        }
    talus_release(count);
    return status;
}

/* Returns the number of items that are sent at once. */
static int64_t items_of_piece(size_t element)
{
    const int64_t fit = TALUS_STREAM_BYTES / (int64_t)element;
    return fit > 0 ? fit : 1;
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
    const int64_t most = items_of_piece(element);
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

/* ---- from rank 0 ---- */

TalusSpan talus_even_span(int64_t all, int ranks, int rank)
{
    const int64_t begin = all * rank / ranks, end = all * (rank + 1) / ranks;
    return (TalusSpan){.before = begin, .count = end - begin, .all = all};
}

/* The smallest r with all (r + 1) / ranks >= at + 1. */
int talus_even_rank(int64_t all, int ranks, int64_t at)
{
    return (int)(((at + 1) * ranks - 1) / all);
}

/* Items that go from rank 0 to the ranks. */
typedef struct Spread {
    TalusComm *comm;
    TalusSpan own; /* this rank's piece */
    size_t element;
    TalusMessage *message; /* [ranks] */
    unsigned char *buffer;
} Spread;

/* Lists the messages of rank 0 with the items begin to end - 1, which are in the buffer. */
static int address_items(Spread *s, int64_t begin, int64_t end)
{
    const int size = talus_comm_size(s->comm), last = talus_even_rank(s->own.all, size, end - 1);
    int messages = 0;
    for (int r = talus_even_rank(s->own.all, size, begin); r <= last; r++) {
        const TalusSpan span = talus_even_span(s->own.all, size, r);
        const int64_t from = span.before > begin ? span.before : begin;
        const int64_t to = span.before + span.count < end ? span.before + span.count : end;
        if (r > 0 && to > from)
            s->message[messages++] =
                (TalusMessage){.data = s->buffer + (size_t)(from - begin) * s->element,
                               .bytes = (size_t)(to - from) * s->element,
                               .rank = r};
    }
    return messages;
}

/* Sends the items begin to end - 1, and takes those of this rank. */
static TalusStatus pass_items(Spread *s, int64_t begin, int64_t end, TalusTakeFn *take,
                              void *context)
{
    const int64_t from = s->own.before > begin ? s->own.before : begin;
    const int64_t last = s->own.before + s->own.count, to = last < end ? last : end;
    const size_t bytes = to > from ? (size_t)(to - from) * s->element : 0;
    if (talus_comm_rank(s->comm) == 0) {
        const int messages = address_items(s, begin, end);
        TALUS_TRY(talus_comm_exchange(s->comm, s->message, messages, NULL, 0));
    } else {
        const TalusMessage message = {.data = s->buffer, .bytes = bytes, .rank = 0};
        TALUS_TRY(talus_comm_exchange(s->comm, NULL, 0, &message, bytes > 0));
    }
    /* of rank 0 the buffer has those of lower ranks, that is none, in front */
    return bytes > 0 ? take(context, from - s->own.before, to - from, s->buffer) : TALUS_OK;
}

TalusStatus talus_comm_spread(TalusComm *comm, int64_t count, int64_t all, size_t element,
                              const TalusByteSource *source, TalusTakeFn *take, void *context)
{
    const int size = talus_comm_size(comm), rank = talus_comm_rank(comm);
    const int64_t most = items_of_piece(element);
    const size_t items = (size_t)(count < most ? count : most);
    Spread s = {.comm = comm, .own = talus_even_span(all, size, rank), .element = element};
    TalusStatus status = TALUS_ALLOC(s.message, (size_t)size, "messages");
    TALUS_THEN(status, TALUS_ALLOC(s.buffer, items * element + 1, "pieces of a file"));
    for (int64_t begin = 0;; begin += most) {
        const int64_t end = begin + most < count ? begin + most : count;
        if (status == TALUS_OK && rank == 0 && end > begin)
            status = source->get(source->context, s.buffer, (size_t)(end - begin) * element);
        status = talus_comm_agree(comm, status); /* also of what was taken before */
        if (status != TALUS_OK || end <= begin)
            break;
        status = pass_items(&s, begin, end, take, context);
    }
    TALUS_RELEASE(s.message, s.buffer);
    return status;
}
