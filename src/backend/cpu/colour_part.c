/* backend/cpu/colour_part.c - greedy colouring by falling priority (backend/priority.h) of the contacts of several ranks.
 *
 * A body's owner has all contacts of it, and so its queue (colour_parallel.c). Contacts between bodies of one rank are
 * coloured by that rank as soon as they are first in both queues. A contact between bodies of two ranks is coloured by both,
 * in rounds: owners tell which contact is first in each body's queue and which colours are taken there, and both ranks
 * see whether it is first in both queues. The colours are those of the whole problem, whatever the number of ranks and threads. A
 * round colours at least the contact of highest priority that is left; chains of falling hashes that cross from rank to
 * rank are short, so that a dozen rounds do. */
#include "backend/cpu/colour.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

static TalusStatus reserve(const TalusOperator *op, TalusColouring *c)
{
    const size_t blocks = (size_t)op->blocks + 1, bodies = (size_t)op->bodies + 1;
    TALUS_TRY(TALUS_GROW(c->class_of, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->place, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->part.contact_count, bodies, 0, "contacts of bodies"));
    TALUS_TRY(TALUS_GROW(c->part.shared, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->part.waiting, blocks, 0, "colours"));
    TALUS_TRY(TALUS_GROW(c->part.front, bodies, 0, "colours"));
    return talus_colour_reserve_queues(op, c);
}

/* Gets the numbers of contacts of bodies from their owners, and marks the shared contacts. */
static void mark_shared(const TalusOperator *op, TalusColouring *c)
{
    for (int b = 0; b < op->bodies; b++)
        c->part.contact_count[b] = talus_body_contact_count(op, b);
    talus_halo_exchange(op->halo, c->part.contact_count, sizeof *c->part.contact_count);
    for (int i = 0; i < op->blocks; i++)
        c->part.shared[i] = talus_contact_is_shared(op, i);
}

/* Returns the number of shared contacts that wait for a class, which it lists. */
static int list_waiting(const TalusOperator *op, TalusColouring *c)
{
    int count = 0;
    for (int i = 0; i < op->blocks; i++)
        if (c->part.shared[i] && c->class_of[i] != CLASS_HEAVY)
            c->part.waiting[count++] = i;
    return count;
}

/* ---- rounds ---- */

/* Returns how owners name contact i at its body a (side 0) or b (1). */
static TalusColourFront name_contact(const TalusOperator *op, int i, int side)
{
    const TalusContactKeys keys = talus_contact_keys(op);
    return (TalusColourFront){.other = talus_body_number(&op->numbers, op->pair[i][1 - side]),
                              .index = talus_pair_index(&keys, i)};
}

/* Tells other ranks about the queues of own bodies, and learns about those of the halo. */
static void exchange_fronts(const TalusOperator *op, TalusColouring *c)
{
    const TalusHalo *halo = op->halo;
    for (int k = 0; k < halo->send_start[halo->neighbours]; k++) {
        const int body = halo->send_body[k], i = talus_colour_first(c, body);
        TalusColourFront front = {.other = UINT64_MAX};
        if (i >= 0)
            front = name_contact(op, i, op->pair[i][1] == body);
        front.used = c->queue[body].used;
        c->part.front[body] = front;
    }
    talus_halo_exchange(op->halo, c->part.front, sizeof *c->part.front);
}

/* True if contact i was first in the queues of both bodies when these were told; then *taken are the colours that were
 * taken there. */
static bool is_ready(const TalusOperator *op, const TalusColouring *c, int i, uint64_t *taken)
{
    *taken = 0;
    for (int side = 0; side < 2; side++) {
        if (!talus_colour_writes(op, i, side))
            continue;
        const TalusColourFront *front = &c->part.front[op->pair[i][side]];
        const TalusColourFront name = name_contact(op, i, side);
        if (front->other != name.other || front->index != name.index)
            return false;
        *taken |= front->used;
    }
    return true;
}

/* Colours the shared contacts that need not wait for others, and what waited for them. Returns the number of contacts that
 * have their class now; *waiting is the number of shared contacts without a class. */
static int64_t colour_ready(const TalusOperator *op, TalusColouring *c, int *waiting)
{
    int64_t coloured = 0;
    int left = 0;
    for (int k = 0; k < *waiting; k++) {
        const int i = c->part.waiting[k];
        uint64_t taken;
        if (is_ready(op, c, i, &taken))
            coloured += talus_colour_shared(op, c, i, taken);
        else
            c->part.waiting[left++] = i;
    }
    *waiting = left;
    return coloured;
}

/* Colours all contacts. A round that colours nothing, which a full stack may cause (colour_parallel.c), is followed by
 * a pass over all. */
static TalusStatus colour_all(const TalusOperator *op, TalusColouring *c)
{
    int64_t left = op->blocks - talus_colour_start(op, c);
    int waiting = list_waiting(op, c);
    int64_t all[2] = {1,
                      0}; /* of all ranks: contacts without a class; coloured in the last round */
    while (all[0] > 0) {
        int64_t coloured = all[1] == 0 ? talus_colour_pass(op, c) : 0;
        exchange_fronts(op, c);
        coloured += colour_ready(op, c, &waiting);
        left -= coloured;
        all[0] = left;
        all[1] = coloured;
        TALUS_TRY(talus_comm_add_counts(op->halo->comm, all, 2));
    }
    return TALUS_OK;
}

TalusStatus talus_colour_part(const TalusOperator *op, TalusColouring *c)
{
    TALUS_TRY(talus_comm_agree(op->halo->comm, reserve(op, c)));
    mark_shared(op, c);
    TALUS_TRY(colour_all(op, c));
    talus_colour_number(op, c);
    double colours = c->colours;
    talus_comm_find_maxima(op->halo->comm, &colours, 1);
    if (!(colours >= 0.0))
        return talus_comm_agree(op->halo->comm, TALUS_OK); /* the communicator is broken */
    c->colours = (int)colours;
    return TALUS_OK;
}
