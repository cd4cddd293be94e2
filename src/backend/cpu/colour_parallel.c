/* backend/cpu/colour_parallel.c - greedy colouring by falling priority (backend/priority.h) by several threads.
 *
 * Each body has a queue of its contacts by falling priority. A contact that is the first in the queues of both bodies
 * takes the lowest colour that is free at both, and leaves the queues. No other contact can then touch these bodies, so
 * threads need no locks, and whatever their order, contacts get the colours that one thread would give them by falling
 * priority. Some contact is always first in both queues: the one of highest priority that is left. The thread that takes
 * a contact out of its queues looks at those that are first there next; sequentially consistent operations on `first`
 * ensure that of two threads that make the same contact ready at the same time, at least one sees it. */
#include "backend/cpu/colour.h"
#include "backend/cpu/cpu.h"

#include "backend/incidence.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <string.h>

/* GRAIN: contacts per chunk. QUEUE_GRAIN: queues per chunk. Queues up to SHORT are sorted by insertion. STACK: contacts
 * that a thread has taken and not coloured yet, at most. */
enum { GRAIN = 4096, QUEUE_GRAIN = 1024, SHORT = 64, STACK = 256 };

/* In place of a class: the contact has none yet; a thread has taken it. */
enum { NO_CLASS = 255, TAKEN = 254 };

/* Arguments of the loops. */
typedef struct Pass {
    const TalusOperator *op;
    TalusColouring *c;
} Pass;

/* ---- queues ---- */

/* TalusIncidenceFn: contacts that need a colour are in the queues of the bodies that their loops write. */
static int32_t queue_entry(const void *context, const TalusOperator *op, int i, int side)
{
    const uint8_t *class_of = context;
    return class_of[i] == NO_CLASS && talus_colour_writes(op, i, side) ? i : -1;
}

/* Moves queue[at] down the heap queue[0 .. count - 1], whose top is the contact that comes last. */
static void sift_down(const Pass *p, int32_t *queue, int at, int count)
{
    for (int child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count &&
            talus_coloured_before(p->op, p->c->priority, queue[child], queue[child + 1]))
            child++;
        if (!talus_coloured_before(p->op, p->c->priority, queue[at], queue[child]))
            return;
        int32_t moved = queue[at];
        queue[at] = queue[child];
        queue[child] = moved;
    }
}

/* Sorts a long queue, that of a large sphere that impulses do not move, as a heap. */
static void sort_long_queue(const Pass *p, int32_t *queue, int count)
{
    for (int k = count / 2; k-- > 0;)
        sift_down(p, queue, k, count);
    for (int last = count - 1; last > 0; last--) {
        int32_t moved = queue[0];
        queue[0] = queue[last];
        queue[last] = moved;
        sift_down(p, queue, 0, last);
    }
}

static void sort_queue(const Pass *p, int32_t *queue, int count)
{
    if (count > SHORT) {
        sort_long_queue(p, queue, count);
        return;
    }
    for (int k = 1; k < count; k++) {
        int32_t i = queue[k];
        int to = k;
        for (; to > 0 && talus_coloured_before(p->op, p->c->priority, i, queue[to - 1]); to--)
            queue[to] = queue[to - 1];
        queue[to] = i;
    }
}

/* Sorts the queues of bodies [begin, end), and frees all colours there. */
static void sort_queues(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *p = context;
    TalusColouring *c = p->c;
    (void)chunk;
    for (int64_t b = begin; b < end; b++) {
        int begin_of = c->start[b], end_of = c->start[b + 1];
        sort_queue(p, c->order + begin_of, end_of - begin_of);
        c->queue[b] = (TalusColourQueue){.at = begin_of, .end = end_of};
        atomic_init(&c->queue[b].first, begin_of < end_of ? c->order[begin_of] : -1);
    }
}

/* talus_body_is_heavy in the whole problem. */
static bool is_heavy(const Pass *p, int body)
{
    if (p->op->halo)
        return body >= 0 && p->c->part.contact_count[body] > HEAVY_CONTACTS;
    return talus_body_is_heavy(p->op, body);
}

/* Sets the priorities of contacts [begin, end), and the class of those of heavy bodies. */
static void start_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *p = context;
    const TalusOperator *op = p->op;
    const TalusContactKeys keys = talus_contact_keys(op);
    int heavy = 0;
    for (int i = (int)begin; i < end; i++) {
        bool heavy_body = is_heavy(p, op->pair[i][0]) || is_heavy(p, op->pair[i][1]);
        p->c->priority[i] = talus_contact_priority(&keys, i);
        p->c->class_of[i] = heavy_body ? CLASS_HEAVY : NO_CLASS;
        heavy += heavy_body;
    }
    p->c->coloured[chunk] = heavy;
}

/* ---- colours ---- */

/* Returns the contact that is the first in a body's queue; -1: the queue is empty. What the contact before it wrote is
 * then visible. */
static int32_t first_of(const TalusColouring *c, int32_t body)
{
    return atomic_load(&c->queue[body].first);
}

/* Takes the first contact out of a body's queue. */
static void advance_queue(const Pass *p, int32_t body)
{
    TalusColourQueue *q = &p->c->queue[body];
    int32_t next = ++q->at < q->end ? p->c->order[q->at] : -1;
    atomic_store(&q->first, next);
}

/* True if another rank has the contact, too: it takes part in deciding on the class (colour_part.c). */
static bool is_shared(const Pass *p, int i)
{
    return p->op->halo && p->c->part.shared[i];
}

/* True if contact i is the first in the queues of both bodies and this call takes it, which only one call does. */
static bool take_contact(const Pass *p, int i)
{
    if (is_shared(p, i))
        return false;
    for (int side = 0; side < 2; side++)
        if (talus_colour_writes(p->op, i, side) && first_of(p->c, p->op->pair[i][side]) != i)
            return false;
    uint8_t none = NO_CLASS;
    return __atomic_compare_exchange_n(&p->c->class_of[i], &none, TAKEN, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* True if contact i is in the queue of its body a (side 0) or b (1): it is written there, and this rank has all contacts
 * of the body. */
static bool is_queued(const Pass *p, int i, int side)
{
    return talus_colour_writes(p->op, i, side) &&
           (!p->op->halo || p->op->halo->owned[p->op->pair[i][side]]);
}

/* Sets the class of contact i, which is taken: the lowest colour that is not among `taken`, CLASS_OVERFLOW if all are.
 * Then takes it out of the queues. */
static void set_class(const Pass *p, int i, uint64_t taken)
{
    const TalusOperator *op = p->op;
    TalusColouring *c = p->c;
    uint64_t open = ~taken & ((UINT64_C(1) << COLOURS) - 1), colour = open & (~open + 1);
    __atomic_store_n(&c->class_of[i], open ? (uint8_t)__builtin_ctzll(open) : CLASS_OVERFLOW,
                     __ATOMIC_RELAXED);
    for (int side = 0; side < 2; side++)
        if (is_queued(p, i, side)) {
            c->queue[op->pair[i][side]].used |= colour;
            advance_queue(p, op->pair[i][side]);
        }
}

/* Returns the colours that are taken at the bodies of contact i. */
static uint64_t taken_colours(const Pass *p, int i)
{
    uint64_t taken = 0;
    for (int side = 0; side < 2; side++)
        if (talus_colour_writes(p->op, i, side))
            taken |= p->c->queue[p->op->pair[i][side]].used;
    return taken;
}

/* Colours contact i, which is taken and must avoid the colours `taken`, then those that waited for it last, and so on.
 * Returns their number. A contact for which the stack has no room is left to a later pass. */
static int colour_from(const Pass *p, int i, uint64_t taken)
{
    int32_t stack[STACK];
    int height = 0, coloured = 0;
    for (stack[height++] = i; height > 0; coloured++) {
        i = stack[--height];
        set_class(p, i, coloured == 0 ? taken : taken_colours(p, i));
        for (int side = 0; side < 2; side++) {
            if (!is_queued(p, i, side))
                continue;
            int32_t next = first_of(p->c, p->op->pair[i][side]);
            if (next >= 0 && height < STACK && take_contact(p, next))
                stack[height++] = next;
        }
    }
    return coloured;
}

/* Colours the contacts [begin, end) that need not wait, and what follows from them. */
static void colour_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *p = context;
    int coloured = 0;
    for (int i = (int)begin; i < end; i++)
        if (__atomic_load_n(&p->c->class_of[i], __ATOMIC_RELAXED) == NO_CLASS && take_contact(p, i))
            coloured += colour_from(p, i, taken_colours(p, i));
    p->c->coloured[chunk] = coloured;
}

/* Returns the sum of `coloured` over all chunks. */
static int64_t count_coloured(const Pass *p)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < talus_chunks(p->op->blocks, GRAIN); k++)
        sum += p->c->coloured[k];
    return sum;
}

int64_t talus_colour_pass(const TalusOperator *op, TalusColouring *c)
{
    Pass pass = {op, c};
    talus_parallel(op->pool, op->blocks, GRAIN, colour_chunk, &pass);
    return count_coloured(&pass);
}

int64_t talus_colour_shared(const TalusOperator *op, TalusColouring *c, int i, uint64_t taken)
{
    const Pass pass = {op, c};
    return colour_from(&pass, i, taken);
}

int32_t talus_colour_first(const TalusColouring *c, int body)
{
    return first_of(c, body);
}

/* ---- numbers ---- */

/* Returns the run in which contact i of a class counts. */
static int counted_run(const TalusOperator *op, int i, int class)
{
    return class < COLOURS ? talus_contact_run(op, i) : 2;
}

/* Counts contacts [begin, end) by class and run. */
static void count_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *p = context;
    int32_t(*count)[3] = p->c->count_of[chunk];
    memset(count, 0, sizeof p->c->count_of[chunk]);
    for (int i = (int)begin; i < end; i++)
        count[p->c->class_of[i]][counted_run(p->op, i, p->c->class_of[i])]++;
}

/* Numbers contacts [begin, end) within their class and run, from the numbers in count_of on. */
static void number_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *p = context;
    int32_t(*next)[3] = p->c->count_of[chunk];
    for (int i = (int)begin; i < end; i++)
        p->c->place[i] = next[p->c->class_of[i]][counted_run(p->op, i, p->c->class_of[i])]++;
}

void talus_colour_number(const TalusOperator *op, TalusColouring *c)
{
    Pass pass = {op, c};
    const int64_t chunks = talus_chunks(op->blocks, GRAIN);
    talus_parallel(op->pool, op->blocks, GRAIN, count_chunk, &pass);
    c->colours = 0;
    for (int class = 0; class < CLASSES; class ++)
        for (int run = 0; run < 3; run++) {
            int32_t sum = 0;
            for (int64_t k = 0; k < chunks; k++) {
                int32_t count = c->count_of[k][class][run];
                c->count_of[k][class][run] = sum;
                sum += count;
            }
            c->count[class][run] = sum;
            if (sum > 0 && class < COLOURS)
                c->colours = class + 1;
        }
    talus_parallel(op->pool, op->blocks, GRAIN, number_chunk, &pass);
}

/* ---- the whole ---- */

/* Sets the arrays that serve to find the classes to parts of `block`. Returns the bytes of the whole; block NULL: only
 * these. */
static size_t lay_out(const TalusOperator *op, unsigned char *block, TalusColouring *c)
{
    size_t used = 0, blocks = (size_t)op->blocks, bodies = (size_t)op->bodies;
    c->priority = talus_take_memory(block, &used, blocks, sizeof *c->priority);
    c->order = talus_take_memory(block, &used, 2 * blocks, sizeof *c->order);
    c->start = talus_take_memory(block, &used, bodies + 2, sizeof *c->start);
    c->queue = talus_take_memory(block, &used, bodies, sizeof *c->queue);
    return used;
}

size_t talus_colour_parallel_bytes(const TalusOperator *op)
{
    TalusColouring sizes;
    return lay_out(op, NULL, &sizes);
}

TalusStatus talus_colour_reserve_queues(const TalusOperator *op, TalusColouring *c)
{
    TALUS_TRY(TALUS_GROW(c->work, talus_colour_parallel_bytes(op), 0, "colours"));
    lay_out(op, c->work, c);
    const size_t chunks = (size_t)talus_chunks(op->blocks, GRAIN);
    TALUS_TRY(TALUS_GROW(c->coloured, chunks, 0, "colours"));
    return TALUS_GROW(c->count_of, chunks, 0, "colours");
}

int64_t talus_colour_start(const TalusOperator *op, TalusColouring *c)
{
    Pass pass = {op, c};
    talus_parallel(op->pool, op->blocks, GRAIN, start_contacts, &pass);
    talus_list_incidences(op, queue_entry, c->class_of, c->start, c->order);
    talus_parallel(op->pool, op->bodies, QUEUE_GRAIN, sort_queues, &pass);
    return count_coloured(&pass);
}

TalusStatus talus_colour_in_parallel(const TalusOperator *op, TalusColouring *c)
{
    TALUS_TRY(talus_colour_reserve_queues(op, c));
    int64_t left = op->blocks - talus_colour_start(op, c);
    while (left > 0) /* mostly one pass does */
        left -= talus_colour_pass(op, c);
    talus_colour_number(op, c);
    return TALUS_OK;
}
