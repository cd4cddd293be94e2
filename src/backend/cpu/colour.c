/* backend/cpu/colour.c - greedy colouring by falling priority (backend/priority.h).
 *
 * Several threads colour many contacts by colour_parallel.c, which gives the same classes but takes twice the work;
 * several ranks colour theirs by colour_part.c. Here
 * contacts are sorted by priority in linear time, by a counting sort by the leading bits into about one bucket for each
 * contact, then by insertion within buckets, and coloured in that order. */
#include "backend/cpu/colour.h"

#include "backend/cpu/cpu.h"
#include "backend/priority.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <string.h>

/* Number of contacts from which several threads colour them. */
enum { PARALLEL_FROM = 16384 };

_Static_assert((int)HEAVY_CONTACTS < (int)TALUS_PAIR_INDICES,
               "priorities of contacts with colours");

/* ---- order ---- */

/* Sorts the contacts order[0] to order[count - 1] by talus_coloured_before, by insertion. */
static void sort_bucket(const TalusOperator *op, const uint64_t *priority, int32_t *order,
                        int count)
{
    for (int k = 1; k < count; k++) {
        int32_t i = order[k];
        int to = k;
        for (; to > 0 && talus_coloured_before(op, priority, i, order[to - 1]); to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
}

/* Returns the number of leading bits of a priority that choose its bucket: about one bucket for each contact. */
static int bucket_bits(const TalusOperator *op)
{
    int bits = 1;
    while (bits < 30 && 1 << bits < op->blocks)
        bits++;
    return bits;
}

/* True if several threads colour the contacts. */
static bool is_parallel(const TalusOperator *op)
{
    return op->blocks >= PARALLEL_FROM && talus_pool_threads(op->pool) > 1;
}

/* Sets the arrays that serve to find the classes to parts of `block`. Returns the bytes of the whole; block NULL: only
 * these. */
static size_t lay_out(const TalusOperator *op, unsigned char *block, TalusColouring *c)
{
    size_t used = 0, blocks = (size_t)op->blocks, buckets = (size_t)1 << bucket_bits(op);
    c->priority = talus_take_memory(block, &used, blocks, sizeof *c->priority);
    c->order = talus_take_memory(block, &used, blocks, sizeof *c->order);
    c->bucket = talus_take_memory(block, &used, buckets + 1, sizeof *c->bucket);
    return used;
}

/* Fills c->order with the contacts by falling priority. */
static void sort_by_priority(const TalusOperator *op, TalusColouring *c)
{
    const int bits = bucket_bits(op), buckets = 1 << bits, shift = 64 - bits;
    const TalusContactKeys keys = talus_contact_keys(op);
    int32_t *start = c->bucket + 1;
    memset(c->bucket, 0, ((size_t)buckets + 1) * sizeof *c->bucket);
    for (int i = 0; i < op->blocks; i++) {
        c->priority[i] = talus_contact_priority(&keys, i);
        start[~c->priority[i] >> shift]++;
    }
    for (int k = 0, sum = 0; k < buckets; k++) {
        int count = start[k];
        start[k] = sum;
        sum += count;
    }
    for (int i = 0; i < op->blocks; i++) /* start[k] becomes the end of bucket k */
        c->order[start[~c->priority[i] >> shift]++] = i;
    for (int k = 0; k < buckets; k++)
        sort_bucket(op, c->priority, c->order + c->bucket[k], c->bucket[k + 1] - c->bucket[k]);
}

/* ---- colours ---- */

/* Bits of TalusColouring.used beside those of the colours: what else the choice of a class asks about a body, in the
 * word that it reads anyway. */
#define BODY_IS_HEAVY (UINT64_C(1) << CLASS_HEAVY)
#define BODY_STAYS (UINT64_C(1) << CLASS_OVERFLOW) /* impulses do not move the body */

/* Frees all colours at all bodies. */
static void start_bodies(const TalusOperator *op, TalusColouring *c)
{
    for (int b = 0; b < op->bodies; b++)
        c->used[b] = (talus_body_is_heavy(op, b) ? BODY_IS_HEAVY : 0) |
                     (talus_body_yields(op, b) ? 0 : BODY_STAYS);
}

/* Returns the class of contact i: CLASS_HEAVY if one of its bodies is heavy; else the lowest colour that is free at
 * both bodies, which it marks as used there; CLASS_OVERFLOW if no colour is free. */
static int choose_class(const TalusOperator *op, TalusColouring *c, int i)
{
    int32_t a = op->pair[i][0], b = op->pair[i][1];
    const uint64_t used_a = c->used[a], used_b = b >= 0 ? c->used[b] : BODY_STAYS;
    if ((used_a | used_b) & BODY_IS_HEAVY)
        return CLASS_HEAVY;
    bool sphere = talus_contact_run(op, i) < 2; /* as talus_colour_writes */
    bool a_written = sphere || !(used_a & BODY_STAYS);
    bool b_written = b >= 0 && (sphere || !(used_b & BODY_STAYS));
    uint64_t taken = (a_written ? used_a : 0) | (b_written ? used_b : 0);
    uint64_t open = ~taken & ((UINT64_C(1) << COLOURS) - 1);
    if (!open)
        return CLASS_OVERFLOW;
    uint64_t bit = open & (~open + 1);
    if (a_written)
        c->used[a] |= bit;
    if (b_written)
        c->used[b] |= bit;
    return __builtin_ctzll(open);
}

/* Fills c->count with the number of contacts of each class and run, c->place with each contact's index among these, and
 * c->colours. */
static void number_contacts(const TalusOperator *op, TalusColouring *c)
{
    memset(c->count, 0, sizeof c->count);
    c->colours = 0;
    for (int i = 0; i < op->blocks; i++) {
        int class = c->class_of[i], run = class < COLOURS ? talus_contact_run(op, i) : 2;
        c->place[i] = c->count[class][run]++;
        if (class < COLOURS && class >= c->colours)
            c->colours = class + 1;
    }
}

size_t talus_colour_work_bytes(const TalusOperator *op)
{
    TalusColouring sizes;
    return op->halo || is_parallel(op) ? talus_colour_parallel_bytes(op)
                                       : lay_out(op, NULL, &sizes);
}

TalusStatus talus_colour_contacts(const TalusOperator *op, TalusColouring *c)
{
    size_t blocks = (size_t)op->blocks, bodies = (size_t)op->bodies;
    if (op->halo)
        return talus_colour_part(op, c);
    TALUS_TRY(TALUS_GROW(c->class_of, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->place, blocks, 0, "colours"));
    if (is_parallel(op))
        return talus_colour_in_parallel(op, c);
    TALUS_TRY(TALUS_GROW(c->work, talus_colour_work_bytes(op), 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->used, bodies, 0, "colours"));
    lay_out(op, c->work, c);
    sort_by_priority(op, c);
    start_bodies(op, c);
    for (int k = 0; k < op->blocks; k++)
        c->class_of[c->order[k]] = (uint8_t)choose_class(op, c, c->order[k]);
    number_contacts(op, c);
    return TALUS_OK;
}

void talus_colouring_clear(TalusColouring *c)
{
    TALUS_RELEASE(c->class_of, c->place, c->used, c->work, c->coloured, c->count_of,
                  c->part.contact_count, c->part.shared, c->part.waiting, c->part.front);
}
