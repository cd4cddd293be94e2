/* backend/cuda/sweep/colour.cu - colours and order of the contacts for a Gauss-Seidel sweep: no two contacts of one
 * colour share a body that impulses move; the matrix does not couple two blocks of one colour of an explicit problem.
 *
 * In rounds: every contact without a colour offers its priority, a hash of its key (backend/priority.h), to its bodies;
 * a contact that is the highest at both takes the lowest colour free at both. Such contacts share no body, so the
 * result does not depend on threads: it is that of first fit by falling priority, as on the host. Two contacts of a
 * body with the same priority, which is possible though hardly ever so, are noticed, and all is done again with the
 * contacts' ranks in the host's order, no two of which are equal, as priorities. Then the contacts are sorted by class.
 *
 * Per round and contact: 4 B read; without a colour 8 B more, two atomic maxima and two words read back. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/sweep/sweep.h"
#include "backend/priority.h"

static_assert((int)HEAVY_CONTACTS < (int)TALUS_PAIR_INDICES, "priorities of contacts with colours");

/* Rounds between two checks by the host. The round is the highest part of a priority, so `best` of an earlier round is
 * always exceeded and is cleared once per batch only. */
enum { BATCH = 8 };

/* Returns the priority of block i of an explicit matrix: hash and index in 28 and 32 bits; no two are equal. */
static __device__ inline unsigned long long block_priority(uint32_t i)
{
    unsigned long long x = (i + 1ull) * 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x >> 36 << 32 | i;
}

/* What the priorities of contacts depend on. */
struct Priorities {
    TalusContactKeys keys;
    const uint32_t
        *rank; /* [contacts]: rank_by_priority, no two equal; NULL: priorities are hashes */
};

/* Returns the priority of contact i: round, in 4 bits, then rank or hash, in 60. */
static __device__ inline unsigned long long contact_priority(Priorities of, int64_t i, int round)
{
    unsigned long long low = of.rank ? of.rank[i] : talus_contact_priority(&of.keys, (int)i) >> 4;
    return (unsigned long long)round << 60 | low;
}

/* True if the body has more than HEAVY_CONTACTS contacts. */
static __device__ inline bool is_heavy(const CuView<double> &c, int body)
{
    return body >= 0 && c.incidence_start[body + 1] - c.incidence_start[body] > HEAVY_CONTACTS;
}

/* Writes the first class of each contact: CLASS_HEAVY if one of its bodies is heavy, else `open`; with the bit
 * CLASS_ITEM if the contact is heavy or not of spheres. */
static __global__ void set_first_classes(CuView<double> c, uint32_t open, uint32_t *class_of)
{
    int64_t i = item_index();
    if (i >= c.blocks)
        return;
    int2 pair = c.pair[i];
    bool heavy = is_heavy(c, pair.x) || is_heavy(c, pair.y);
    uint32_t kind = heavy || i >= c.spheres ? CLASS_ITEM : 0;
    class_of[i] = kind | (heavy ? (uint32_t)CLASS_HEAVY : open);
}

/* True if contact i, which may be an item, is not coloured yet. */
static __device__ inline bool has_no_colour(const uint32_t *class_of, int64_t i)
{
    return (class_of[i] & CLASS_NONE) == CLASS_NONE;
}

/* Returns the body if contacts compete for it, else -1: for the fixed world, and if impulses do not move the body.
 * Sweeps leave such a body as it is, so any number of its contacts may have one colour. */
static __device__ inline int contested_body(const CuView<double> &c, int body)
{
    bool competes =
        body >= 0 &&
        impulses_move(c.body[body], c.inverse_inertia ? c.inverse_inertia[body] : nullptr);
    return competes ? body : -1;
}

/* Returns contested_body of both bodies of contact i. */
static __device__ inline int2 contested_bodies(const CuView<double> &c, int64_t i)
{
    return make_int2(contested_body(c, c.pair[i].x), contested_body(c, c.pair[i].y));
}

/* Raises best[body] to the highest priority of the uncoloured contacts that compete for the body. *tied = 1 if another
 * one has offered the same. */
static __global__ void offer_priorities(CuView<double> c, Priorities of, const uint32_t *class_of,
                                        int round, unsigned long long *best, int32_t *tied)
{
    int64_t i = item_index();
    if (i >= c.blocks || !has_no_colour(class_of, i))
        return;
    int2 pair = contested_bodies(c, i);
    unsigned long long mine = contact_priority(of, i, round);
    if (pair.x >= 0 && atomicMax(&best[pair.x], mine) == mine)
        *tied = 1;
    if (pair.y >= 0 && atomicMax(&best[pair.y], mine) == mine)
        *tied = 1;
}

/* Returns the lowest colour whose bit is clear in a and in b, two words each (NULL: no bit set); CLASS_HEAVY if all
 * colours are taken. */
static __device__ inline int lowest_free(const unsigned long long *a, const unsigned long long *b)
{
    for (int w = 0; w < 2; w++) {
        unsigned long long open = ~((a ? a[w] : 0ull) | (b ? b[w] : 0ull));
        int colour = 64 * w + __ffsll((long long)open) - 1;
        if (open)
            return colour < CLASS_HEAVY ? colour : CLASS_HEAVY;
    }
    return CLASS_HEAVY;
}

/* Colours each contact that has the highest priority at its bodies and sets the colour's bit in their `used`; makes it
 * heavy if no colour is free. *left = 1 if some contact has no colour after the last round of a batch. */
static __global__ void take_colours(CuView<double> c, Priorities of, int round,
                                    const unsigned long long *best, unsigned long long *used,
                                    uint32_t *class_of, int32_t *left)
{
    int64_t i = item_index();
    if (i >= c.blocks || !has_no_colour(class_of, i))
        return;
    int2 pair = contested_bodies(c, i);
    unsigned long long mine = contact_priority(of, i, round);
    if ((pair.x >= 0 && best[pair.x] != mine) || (pair.y >= 0 && best[pair.y] != mine)) {
        if (round == BATCH)
            *left = 1;
        return;
    }
    unsigned long long *a = pair.x >= 0 ? used + 2 * (int64_t)pair.x : nullptr;
    unsigned long long *b = pair.y >= 0 ? used + 2 * (int64_t)pair.y : nullptr;
    int colour = lowest_free(a, b);
    if (a)
        a[colour / 64] |= 1ull << colour % 64;
    if (b)
        b[colour / 64] |= 1ull << colour % 64;
    uint32_t kind = colour == CLASS_HEAVY ? (uint32_t)CLASS_ITEM : class_of[i] & CLASS_ITEM;
    class_of[i] = kind | (uint32_t)colour;
}

/* Colours the contacts of class CLASS_NONE (with or without CLASS_ITEM) by ranks, or by hashes if rank is NULL. *tied:
 * true if two contacts of a body have the same priority; the classes are then of no use. */
static TalusStatus colour_contacts(const TalusOperator *op, const uint32_t *rank, SweepOrder *o,
                                   bool *tied)
{
    CuView<double> c = cu_view(op);
    const Priorities of = {talus_contact_keys(op), rank};
    int32_t state[2] = {op->blocks > 0, 0}; /* whether contacts are left without a colour; tied */
    unsigned blocks = blocks_for(op->blocks);
    TALUS_TRY(o->best.reserve(op->bodies, "colouring"));
    TALUS_TRY(o->used.reserve(2 * (int64_t)op->bodies, "colouring"));
    cu_zero(cu_context_of(op), o->used, 2 * (size_t)op->bodies * sizeof *o->used.at);
    while (state[0] && !state[1]) {
        cu_zero(cu_context_of(op), o->best, (size_t)op->bodies * sizeof *o->best.at);
        cu_zero(cu_context_of(op), o->start_at, sizeof state);
        for (int round = 1; round <= BATCH; round++) {
            launch(cu_context_of(op), offer_priorities, blocks, THREADS, c, of, o->class_of.at,
                   round, o->best.at, o->start_at.at + 1);
            launch(cu_context_of(op), take_colours, blocks, THREADS, c, of, round, o->best.at,
                   o->used.at, o->class_of.at, o->start_at.at);
        }
        cu_get(cu_context_of(op), state, o->start_at, sizeof state);
        TALUS_TRY(
            cu_check(cu_context_of(op))); /* on a failed device the state would never change */
    }
    *tied = state[1] != 0;
    return TALUS_OK;
}

/* ---- ties ---- */

/* Parts of the key by which contacts are ranked, the least significant first. */
enum { BY_SECOND_BODY, BY_FIRST_BODY, BY_PRIORITY, PARTS };

/* key[k] = that part of contact order[k]. Of two contacts with the same priority that with the lower numbers counts as
 * the higher one. */
static __global__ void make_keys(int64_t n, TalusContactKeys keys, int part, const uint32_t *order,
                                 uint64_t *key)
{
    int64_t k = item_index();
    if (k >= n)
        return;
    int i = (int)order[k];
    key[k] = part == BY_PRIORITY
                 ? talus_contact_priority(&keys, i)
                 : ~talus_body_number(&keys.numbers, keys.pair[i][part == BY_SECOND_BODY]);
}

/* out[k] = n - 1 - k. */
static __global__ void number_descending(int64_t n, uint32_t *out)
{
    int64_t k = item_index();
    if (k < n)
        out[k] = (uint32_t)(n - 1 - k);
}

/* place[order[k]] = k. */
static __global__ void invert_order(int64_t n, const uint32_t *order, uint32_t *place)
{
    int64_t k = item_index();
    if (k < n)
        place[order[k]] = (uint32_t)k;
}

/* o->sorted = rank of each contact, the reverse of the host's order (comes_first of cpu/colour.c): the contact that the
 * host takes first has the highest rank, n - 1. Stable sorts by one part after the other. */
static TalusStatus rank_by_priority(const TalusOperator *op, SweepOrder *o)
{
    CuContext *cu = cu_context_of(op);
    const int64_t n = op->blocks;
    CuArray<uint64_t> key, sorted;
    TalusStatus status = key.reserve(n, "order of contacts");
    status = status == TALUS_OK ? sorted.reserve(n, "order of contacts") : status;
    launch(cu, number_descending, blocks_for(n), THREADS, n, o->place.at);
    for (int part = 0; part < PARTS && status == TALUS_OK; part++) {
        launch(cu, make_keys, blocks_for(n), THREADS, n, talus_contact_keys(op), part, o->place.at,
               key.at);
        status = cu_sort64(cu, key, sorted, o->place, o->contact, n, 64);
        cu_copy(cu, o->place, o->contact, (size_t)n * sizeof *o->place.at);
    }
    launch(cu, invert_order, blocks_for(n), THREADS, n, o->place.at, o->sorted.at);
    cu_wait(cu);
    cu_clear(key, sorted);
    return status == TALUS_OK ? cu_check(cu) : status;
}

/* ---- blocks of an explicit matrix ---- */

/* Rounds after which the remaining blocks are swept one by one: dense matrices would take a round per block. */
enum { MATRIX_ROUNDS = 64 };

/* A block's state: its class in the low 8 bits, in the next 8 the round in which it got that class, then CLASH. */
enum { CLASH = 1 << 16 };

/* True if a block was coloured before this round: colours of this round do not count, so that the order of threads does
 * not matter. */
static __device__ inline bool coloured_before(uint32_t state, int round)
{
    return (state & 0xff) != CLASS_NONE && (int)(state >> 8) < round;
}

/* True if block i has the highest priority among the blocks coupled to it that had no colour before this round; then
 * the bits of `taken` are the colours of the other coupled blocks. */
static __device__ inline bool is_highest(const TalusOperator &op, const uint32_t *state, int i,
                                         int round, unsigned long long taken[2])
{
    unsigned long long mine = block_priority((uint32_t)i);
    for (int32_t k = op.row_start[i * op.rows]; k < op.row_start[(i + 1) * op.rows]; k++) {
        int j = op.column[k] / op.rows;
        if (j == i)
            continue;
        if (coloured_before(state[j], round)) {
            uint32_t colour = state[j] & 0xff;
            taken[colour / 64] |= 1ull << colour % 64;
        } else if (block_priority((uint32_t)j) > mine) {
            return false;
        }
    }
    return true;
}

/* Gives each uncoloured block that is_highest its lowest_free colour. */
static __global__ void colour_blocks(TalusOperator op, int round, uint32_t *state)
{
    int64_t i = item_index();
    unsigned long long taken[2] = {0ull, 0ull};
    if (i >= op.blocks || state[i] != CLASS_NONE)
        return;
    if (!is_highest(op, state, (int)i, round, taken))
        return;
    state[i] = (uint32_t)round << 8 | (uint32_t)lowest_free(taken, nullptr);
}

/* Sets the bit CLASH in the state of each block whose rows couple it to another block of its colour. Only a matrix that
 * is not symmetric has such blocks: the rows of the other one lack the opposite entries. */
static __global__ void mark_clashes(TalusOperator op, uint32_t *state)
{
    int64_t i = item_index();
    if (i >= op.blocks)
        return;
    uint32_t colour = state[i] & 0xff;
    for (int32_t k = op.row_start[i * op.rows]; k < op.row_start[(i + 1) * op.rows]; k++) {
        int j = op.column[k] / op.rows;
        if (j != i && (state[j] & 0xff) == colour)
            state[i] |= CLASH;
    }
}

/* With `to` = CLASS_NONE sets all states to uncoloured; else leaves each block's class alone in its state and gives the
 * class `to` to blocks that are uncoloured or clash. */
static __global__ void set_classes(int blocks, uint32_t to, uint32_t *state)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    uint32_t colour = state[i] & 0xff;
    state[i] = to == CLASS_NONE || colour == CLASS_NONE || state[i] & CLASH ? to : colour;
}

/* ---- the order ---- */

/* out[i] = i. */
static __global__ void number_ascending(int64_t n, uint32_t *out)
{
    int64_t i = item_index();
    if (i < n)
        out[i] = (uint32_t)i;
}

/* start[c] = first place in the order with a class of c or more; n if there is none. `sorted`: classes in order. */
static __global__ void find_starts(int64_t n, const uint32_t *sorted, int32_t *start)
{
    int64_t i = item_index();
    if (i > n)
        return;
    uint32_t from = i ? sorted[i - 1] + 1 : 0, to = i < n ? sorted[i] : (uint32_t)CLASSES;
    for (uint32_t c = from; c <= to; c++)
        start[c] = (int32_t)i;
}

static TalusStatus reserve_order(int64_t n, SweepOrder *o)
{
    TALUS_TRY(o->class_of.reserve(n, "classes of contacts"));
    TALUS_TRY(o->contact.reserve(n, "order of contacts"));
    TALUS_TRY(o->place.reserve(n, "order of contacts"));
    TALUS_TRY(o->sorted.reserve(n, "order of contacts"));
    return o->start_at.reserve(CLASSES + 1, "colours");
}

/* Sorts the contacts by class and fills contact, start_at and start of the order. */
static TalusStatus sort_by_class(const TalusOperator *op, SweepOrder *o)
{
    const int64_t n = op->blocks;
    launch(cu_context_of(op), number_ascending, blocks_for(n), THREADS, n, o->place.at);
    TALUS_TRY(cu_sort32(cu_context_of(op), o->class_of, o->sorted, o->place, o->contact, n, 8));
    launch(cu_context_of(op), find_starts, blocks_for(n + 1), THREADS, n, o->sorted.at,
           o->start_at.at);
    cu_get(cu_context_of(op), o->start, o->start_at, sizeof o->start);
    return cu_check(cu_context_of(op));
}

TalusStatus cu_order_contacts(const TalusOperator *op, bool coloured, SweepOrder *o)
{
    bool tied = coloured;
    TALUS_TRY(reserve_order(op->blocks, o));
    for (int attempt = 0; attempt == 0 || tied; attempt++) {
        launch(cu_context_of(op), set_first_classes, blocks_for(op->blocks), THREADS, cu_view(op),
               coloured ? (uint32_t)CLASS_NONE : 0u, o->class_of.at);
        if (coloured)
            TALUS_TRY(colour_contacts(op, attempt > 0 ? o->sorted.at : nullptr, o, &tied));
        if (tied)
            TALUS_TRY(rank_by_priority(op, o));
    }
    return sort_by_class(op, o);
}

TalusStatus cu_order_blocks(const TalusOperator *op, SweepOrder *o)
{
    unsigned blocks = blocks_for(op->blocks);
    TALUS_TRY(reserve_order(op->blocks, o));
    launch(cu_context_of(op), set_classes, blocks, THREADS, op->blocks, (uint32_t)CLASS_NONE,
           o->class_of.at);
    for (int round = 1; round <= MATRIX_ROUNDS; round++)
        launch(cu_context_of(op), colour_blocks, blocks, THREADS, *op, round, o->class_of.at);
    launch(cu_context_of(op), mark_clashes, blocks, THREADS, *op, o->class_of.at);
    launch(cu_context_of(op), set_classes, blocks, THREADS, op->blocks, (uint32_t)CLASS_HEAVY,
           o->class_of.at);
    return sort_by_class(op, o);
}

void cu_order_clear(SweepOrder *o)
{
    cu_clear(o->class_of, o->contact, o->place, o->sorted, o->best, o->used, o->start_at);
}
