/* comm/line.c - the ends of pieces, by halving. */
#include "comm/line.h"

#include "base/memory.h"

/* A line while it is cut. The weight of all places below first[p] is too little for the pieces before p; that of all below
 * first[p] + 2^bit is enough, once 2^bit has been tried. */
typedef struct Cut {
    TalusComm *comm;
    int64_t *before; /* [items + 1]: weight of this rank's items before each */
    int64_t *below;  /* [parts]: weight of all ranks' items below what is tried */
    int64_t all;     /* weight of all items */
    int parts;
} Cut;

/* Returns the number of items at places below `place`. */
static int64_t count_below(const TalusLineItem *item, int64_t items, uint64_t place)
{
    int64_t low = 0, high = items;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (item[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The weight that the pieces before p are to have. */
static int64_t share_before(const Cut *c, int p)
{
    return c->all / c->parts * p + c->all % c->parts * p / c->parts;
}

/* Tries 2^bit more for all ends. */
static TalusStatus try_bit(Cut *c, const TalusLineItem *item, int64_t items, int bit,
                           uint64_t *first)
{
    const uint64_t step = UINT64_C(1) << bit;
    for (int p = 1; p < c->parts; p++)
        c->below[p] = c->before[count_below(item, items, first[p] + step)];
    TALUS_TRY(talus_comm_add_counts(c->comm, c->below + 1, c->parts - 1));
    for (int p = 1; p < c->parts; p++)
        if (c->below[p] < share_before(c, p))
            first[p] += step;
    return TALUS_OK;
}

static TalusStatus find_ends(Cut *c, const TalusLineItem *item, int64_t items, uint64_t *first)
{
    c->all = c->before[items];
    TALUS_TRY(talus_comm_add_counts(c->comm, &c->all, 1));
    for (int bit = 62; bit >= 0 && c->parts > 1; bit--)
        TALUS_TRY(try_bit(c, item, items, bit, first));
    for (int p = 1; p < c->parts; p++)
        first[p] += share_before(c, p) >
                    0; /* from the last place that is too little to the first that is enough */
    return TALUS_OK;
}

TalusStatus talus_line_cut(TalusComm *comm, const TalusLineItem *item, int64_t items, int parts,
                           uint64_t *first)
{
    Cut c = {.comm = comm, .parts = parts};
    TalusStatus status = TALUS_ALLOC(c.before, (size_t)items + 1, "weights");
    TALUS_THEN(status, TALUS_ALLOC(c.below, (size_t)parts, "weights"));
    status = talus_comm_agree(comm, status);
    for (int64_t k = 0; status == TALUS_OK && k < items; k++)
        c.before[k + 1] = c.before[k] + item[k].weight;
    for (int p = 0; p < parts; p++)
        first[p] = 0;
    TALUS_THEN(status, find_ends(&c, item, items, first));
    TALUS_RELEASE(c.before, c.below);
    return status;
}

int talus_line_find_piece(const uint64_t *first, int parts, uint64_t place)
{
    int low = 1, high = parts;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (first[middle] <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}
