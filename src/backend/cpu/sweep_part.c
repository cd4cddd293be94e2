/* backend/cpu/sweep_part.c - coloured sweeps over a rank's part of a problem: what ranks tell each other, and when.
 *
 * A contact between bodies of two ranks is swept by both, from the same numbers. Before a colour each of the two sends the
 * velocity of its body in every such contact of that colour. A body's owner has all its contacts, so that its velocity is
 * up to date there; copies elsewhere are old between two colours in which they are needed. All contacts of a colour are
 * independent, and terms of the sum of changes are counted once, so that a sweep has the bits that it has on one rank.
 *
 * Contacts without a colour are swept in the order of the whole list. Contacts that share no body that impulses move may
 * as well be swept at the same time; each contact has a level, one above the highest of the contacts before it that share such a body
 * with it. Ranks sweep level by level. Few problems have such contacts; each rank finds the levels from a list of all of them.
 * The heavy contacts that change together need one exchange. */
#include "backend/cpu/sweep.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

/* A contact without a colour, as all ranks know it. */
typedef struct TailRecord {
    uint64_t a, b; /* numbers of its bodies */
    int32_t run;
    int32_t level; /* sent: bit 0, 1: impulses move a, b */
} TailRecord;

/* The contacts without a colour of all ranks, in the order of the whole list. */
typedef struct Tail {
    TailRecord *record;
    int64_t count;
} Tail;

/* The highest level so far of the contacts of a body. */
typedef struct BodyLevel {
    uint64_t number;
    int32_t level;
} BodyLevel;

static TailRecord make_record(const TalusOperator *op, int i)
{
    const int32_t *pair = op->pair[i];
    return (TailRecord){talus_body_number(&op->numbers, pair[0]),
                        talus_body_number(&op->numbers, pair[1]), talus_contact_run(op, i),
                        (talus_body_yields(op, pair[0]) ? 1 : 0) |
                            (talus_body_yields(op, pair[1]) ? 2 : 0)};
}

/* By run, then by first body: all contacts of a first body come from one rank, which qsort must not change. So it sorts
 * pointers, and equal ones by address. */
static int compare_records(const void *x, const void *y)
{
    const TailRecord *p = *(const TailRecord *const *)x, *q = *(const TailRecord *const *)y;
    if (p->run != q->run)
        return p->run < q->run ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p < q ? -1 : p > q;
}

static int compare_numbers(const void *x, const void *y)
{
    const uint64_t *p = x, *q = y;
    return *p < *q ? -1 : *p > *q;
}

/* Puts the records that came from all ranks in the order of the whole list. */
static TalusStatus sort_records(const TalusInbox *inbox, Tail *tail)
{
    const TailRecord **place;
    int64_t count = 0;
    TALUS_TRY(TALUS_ALLOC(place, (size_t)tail->count + 1, "contacts without a colour"));
    for (int m = 0; m < inbox->count; m++) {
        const TailRecord *record = inbox->message[m].data;
        const int64_t records = (int64_t)(inbox->message[m].bytes / sizeof *record);
        for (int64_t k = 0; k < records; k++)
            place[count++] = record + k;
    }
    qsort(place, (size_t)count, sizeof *place, compare_records);
    for (int64_t k = 0; k < count; k++)
        tail->record[k] = *place[k];
    talus_release(place);
    return TALUS_OK;
}

/* Tells all ranks the records that this rank counts, and gets those of all. */
static TalusStatus gather_tail(const TalusOperator *op, const uint8_t *is_tail, Tail *tail)
{
    TalusComm *comm = op->halo->comm;
    TalusInbox inbox = {0};
    TailRecord *own = NULL;
    TalusMessage *message = NULL;
    size_t count = 0;
    TalusStatus status = TALUS_ALLOC(own, (size_t)op->blocks + 1, "contacts without a colour");
    TALUS_THEN(status, TALUS_ALLOC(message, (size_t)comm->size, "messages"));
    TALUS_THEN(status,
               TALUS_ALLOC(tail->record, (size_t)tail->count + 1, "contacts without a colour"));
    status = talus_comm_agree(comm, status);
    for (int i = 0; status == TALUS_OK && i < op->blocks; i++)
        if (is_tail[i] && talus_contact_counts(op, i))
            own[count++] = make_record(op, i);
    for (int r = 0; status == TALUS_OK && r < comm->size; r++)
        message[r] = (TalusMessage){own, count * sizeof *own, r};
    TALUS_THEN(status, talus_comm_route(comm, message, comm->size, &inbox));
    TALUS_THEN(status, talus_comm_agree(comm, sort_records(&inbox, tail)));
    talus_inbox_clear(&inbox);
    TALUS_RELEASE(own, message);
    return status;
}

static BodyLevel *find_level(BodyLevel *body, int64_t count, uint64_t number)
{
    return bsearch(&number, body, (size_t)count, sizeof *body, compare_numbers);
}

/* Replaces the bits of each record by its level. Returns the number of levels. */
static int number_levels(Tail *tail, BodyLevel *body, int64_t bodies)
{
    int levels = 0;
    for (int64_t k = 0; k < tail->count; k++) {
        TailRecord *r = &tail->record[k];
        BodyLevel *of[2] = {r->level & 1 ? find_level(body, bodies, r->a) : NULL,
                            r->level & 2 ? find_level(body, bodies, r->b) : NULL};
        r->level = 0;
        for (int side = 0; side < 2; side++)
            if (of[side] && of[side]->level > r->level)
                r->level = of[side]->level;
        for (int side = 0; side < 2; side++)
            if (of[side])
                of[side]->level = r->level + 1;
        levels = r->level + 1 > levels ? r->level + 1 : levels;
    }
    return levels;
}

/* Finds the levels of all records. */
static TalusStatus find_levels(Tail *tail, int *levels)
{
    BodyLevel *body;
    TALUS_TRY(TALUS_ALLOC(body, 2 * (size_t)tail->count + 1, "contacts without a colour"));
    for (int64_t k = 0; k < tail->count; k++) {
        body[2 * k] = (BodyLevel){tail->record[k].a, 0};
        body[2 * k + 1] = (BodyLevel){tail->record[k].b, 0};
    }
    /* `number` comes first in a BodyLevel */
    qsort(body, 2 * (size_t)tail->count, sizeof *body, compare_numbers);
    int64_t bodies = 0;
    for (int64_t k = 0; k < 2 * tail->count; k++)
        if (k == 0 || body[k].number != body[bodies - 1].number)
            body[bodies++] = body[k];
    *levels = number_levels(tail, body, bodies);
    talus_release(body);
    return TALUS_OK;
}

/* Sets the phases of this rank's contacts without a colour, which come in the order of the whole list. */
static TalusStatus place_tail(const TalusOperator *op, const uint8_t *is_tail, const Tail *tail,
                              SweepPart *part)
{
    int64_t at = 0;
    for (int i = 0; i < op->blocks; i++) {
        if (!is_tail[i])
            continue;
        const TailRecord own = make_record(op, i);
        while (at < tail->count && (tail->record[at].run != own.run ||
                                    tail->record[at].a != own.a || tail->record[at].b != own.b))
            at++;
        if (at == tail->count)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "sweep: contact %d is not in the order of body numbers", i);
        part->phase[i] = part->colours + tail->record[at++].level;
    }
    return TALUS_OK;
}

/* Finds the levels of the contacts in is_tail; there are none on most problems. */
static TalusStatus plan_tail(const TalusOperator *op, const uint8_t *is_tail, SweepPart *part)
{
    Tail tail = {0};
    for (int i = 0; i < op->blocks; i++)
        tail.count += is_tail[i] && talus_contact_counts(op, i);
    part->levels = 0;
    TALUS_TRY(talus_comm_add_counts(op->halo->comm, &tail.count, 1));
    if (tail.count == 0)
        return TALUS_OK;
    TalusStatus status = gather_tail(op, is_tail, &tail);
    TALUS_THEN(status, talus_comm_agree(op->halo->comm, find_levels(&tail, &part->levels)));
    TALUS_THEN(status, talus_comm_agree(op->halo->comm, place_tail(op, is_tail, &tail, part)));
    talus_release(tail.record);
    return status;
}

/* ---- messages ---- */

/* Fills neighbour[bodies] from the halo. */
static void find_neighbours(const TalusOperator *op, SweepPart *part)
{
    const TalusHalo *halo = op->halo;
    for (int b = 0; b < op->bodies; b++)
        part->neighbour[b] = -1;
    for (int k = 0; k < halo->neighbours; k++)
        for (int j = halo->receive_start[k]; j < halo->receive_start[k + 1]; j++)
            part->neighbour[halo->receive_body[j]] = k;
}

/* Returns the slot of SweepBodies to which the shared contact i belongs. */
static int slot_of(const TalusOperator *op, const SweepPart *part, int i, int own_side)
{
    return part->phase[i] * op->halo->neighbours + part->neighbour[op->pair[i][1 - own_side]];
}

/* Counts, for received false, the bodies that this rank sends by slot, else those that it receives, or writes them to
 * their places. `next`: [slots], counts or places. */
static void go_through_shared(const TalusOperator *op, const SweepPart *part, bool received,
                              int32_t *next, int32_t *body)
{
    for (int i = 0; i < op->blocks; i++) {
        if (!talus_contact_is_shared(op, i))
            continue;
        const int own = op->halo->owned[op->pair[i][0]] ? 0 : 1, side = received ? 1 - own : own;
        if (!talus_colour_writes(op, i, side))
            continue; /* its velocity never changes */
        const int at = next[slot_of(op, part, i, own)]++;
        if (body)
            body[at] = op->pair[i][side];
    }
}

/* Fills one list of bodies. */
static TalusStatus list_bodies(const TalusOperator *op, const SweepPart *part, bool received,
                               SweepBodies *list)
{
    const int slots = part->phases * op->halo->neighbours;
    TALUS_TRY(TALUS_GROW(list->start, (size_t)slots + 2, 0, "messages"));
    memset(list->start, 0, ((size_t)slots + 2) * sizeof *list->start);
    go_through_shared(op, part, received, list->start + 2, NULL);
    for (int k = 2; k < slots + 2; k++)
        list->start[k] += list->start[k - 1];
    TALUS_TRY(TALUS_GROW(list->body, (size_t)list->start[slots + 1] + 1, 0, "messages"));
    go_through_shared(op, part, received, list->start + 1, list->body);
    return TALUS_OK;
}

/* Returns the largest number of bodies in a phase. */
static int largest_phase(const SweepPart *part, const SweepBodies *list, int neighbours)
{
    int largest = 0;
    for (int p = 0; p < part->phases; p++) {
        int count = list->start[(p + 1) * neighbours] - list->start[p * neighbours];
        largest = count > largest ? count : largest;
    }
    return largest;
}

static TalusStatus plan_messages(const TalusOperator *op, SweepPart *part)
{
    const int neighbours = op->halo->neighbours;
    const size_t record = sizeof *op->body;
    find_neighbours(op, part);
    TALUS_TRY(list_bodies(op, part, false, &part->send));
    TALUS_TRY(list_bodies(op, part, true, &part->receive));
    TALUS_TRY(TALUS_GROW(part->message, 2 * (size_t)neighbours + 1, 0, "messages"));
    const int sent = largest_phase(part, &part->send, neighbours);
    const int received = largest_phase(part, &part->receive, neighbours);
    TALUS_TRY(TALUS_GROW(part->out, (size_t)sent * record + 1, 0, "messages"));
    return TALUS_GROW(part->in, (size_t)received * record + 1, 0, "messages");
}

/* Counts the exchanges of each phase over all ranks. */
static TalusStatus count_exchanges(const TalusOperator *op, SweepPart *part)
{
    const int neighbours = op->halo->neighbours;
    for (int p = 0; p < part->phases; p++)
        part->exchanges[p] =
            part->send.start[(p + 1) * neighbours] - part->send.start[p * neighbours];
    return talus_comm_add_counts(op->halo->comm, part->exchanges, part->phases);
}

/* ---- the plan ---- */

static TalusStatus reserve_plan(TalusSweep *sweep, uint8_t **is_tail)
{
    const TalusOperator *op = sweep->op;
    if (!sweep->part)
        TALUS_TRY(TALUS_ALLOC(sweep->part, 1, "sweeps of a part"));
    TALUS_TRY(TALUS_GROW(sweep->part->neighbour, (size_t)op->bodies + 1, 0, "neighbours"));
    TALUS_TRY(TALUS_GROW(sweep->part->phase, (size_t)op->blocks + 1, 0, "colours"));
    TALUS_TRY(TALUS_GROW(sweep->part->tail, (size_t)op->blocks + 1, 0, "colours"));
    TALUS_TRY(TALUS_GROW(sweep->part->uncounted, (size_t)op->blocks + 1, 0, "colours"));
    return TALUS_ALLOC(*is_tail, (size_t)op->blocks + 1, "colours");
}

/* Sets the phases of all contacts but those in is_tail, which it marks: they have this class or a higher one, up to
 * `last`. */
static void set_phases(const TalusSweep *sweep, int first, int last, uint8_t *is_tail)
{
    SweepPart *part = sweep->part;
    for (int i = 0; i < sweep->op->blocks; i++) {
        const int class = sweep->colouring.class_of[i];
        part->phase[i] = class;
        is_tail[i] = class >= first && class <= last;
    }
}

/* Sets the phase of the heavy contacts that change together. */
static TalusStatus set_heavy_phase(const TalusSweep *sweep, bool together)
{
    SweepPart *part = sweep->part;
    int64_t count = 0;
    for (int i = 0; together && i < sweep->op->blocks; i++) {
        if (sweep->colouring.class_of[i] != CLASS_HEAVY)
            continue;
        part->phase[i] = part->colours + part->levels;
        count++;
    }
    part->phases = part->colours + part->levels + 1;
    TALUS_TRY(talus_comm_add_counts(sweep->op->halo->comm, &count, 1));
    part->has_heavy = count > 0;
    return TALUS_OK;
}

TalusStatus talus_sweep_plan_part(TalusSweep *sweep, bool heavy_together)
{
    const TalusOperator *op = sweep->op;
    uint8_t *is_tail = NULL;
    if (!op->halo)
        return TALUS_OK;
    TalusStatus status = talus_comm_agree(op->halo->comm, reserve_plan(sweep, &is_tail));
    SweepPart *part = sweep->part;
    if (status == TALUS_OK) {
        part->colours = sweep->colouring.colours;
        set_phases(sweep, CLASS_OVERFLOW, heavy_together ? CLASS_OVERFLOW : CLASS_HEAVY, is_tail);
        status = plan_tail(op, is_tail, part);
    }
    TALUS_THEN(status, set_heavy_phase(sweep, heavy_together));
    if (status == TALUS_OK) {
        status = plan_messages(op, part);
        TALUS_THEN(status, TALUS_GROW(part->exchanges, (size_t)part->phases + 1, 0, "messages"));
        TALUS_THEN(status, TALUS_GROW(part->tail_start, (size_t)part->levels + 2, 0, "levels"));
        status = talus_comm_agree(op->halo->comm, status);
    }
    TALUS_THEN(status, count_exchanges(op, part));
    talus_release(is_tail);
    return status;
}

void talus_sweep_sort_tail(TalusSweep *sweep, const int32_t *contact, int count, int32_t first)
{
    SweepPart *part = sweep->part;
    int32_t *start = part->tail_start;
    memset(start, 0, ((size_t)part->levels + 2) * sizeof *start);
    for (int k = 0; k < count; k++)
        start[part->phase[contact[k]] - part->colours + 2]++;
    for (int level = 2; level <= part->levels + 1; level++)
        start[level] += start[level - 1];
    for (int k = 0; k < count; k++)
        part->tail[start[part->phase[contact[k]] - part->colours + 1]++] = first + k;
}

void talus_sweep_part_destroy(SweepPart *part)
{
    if (part)
        TALUS_RELEASE(part->exchanges, part->send.start, part->send.body, part->receive.start,
                      part->receive.body, part->message, part->out, part->in, part->neighbour,
                      part->phase, part->tail, part->tail_start, part->uncounted, part);
}

/* ---- during a sweep ---- */

/* Sets the messages of one direction for records of `bytes` each. Returns their number. */
static int lay_out_messages(const TalusHalo *halo, const SweepBodies *list, int phase, size_t bytes,
                            unsigned char *data, TalusMessage *message)
{
    const int32_t *start = list->start + (size_t)phase * (size_t)halo->neighbours;
    int count = 0;
    for (int k = 0; k < halo->neighbours; k++)
        if (start[k + 1] > start[k])
            message[count++] =
                (TalusMessage){data + (size_t)(start[k] - start[0]) * bytes,
                               (size_t)(start[k + 1] - start[k]) * bytes, halo->send[k].rank};
    return count;
}

void talus_sweep_bring(const TalusSweep *sweep, int phase, void *velocity, size_t bytes)
{
    SweepPart *part = sweep->op->halo ? sweep->part : NULL;
    unsigned char *record = velocity;
    if (!part || part->exchanges[phase] == 0)
        return;
    const TalusHalo *halo = sweep->op->halo;
    const int neighbours = halo->neighbours;
    const int32_t *sent = part->send.start + (size_t)phase * (size_t)neighbours;
    const int32_t *received = part->receive.start + (size_t)phase * (size_t)neighbours;
    const int sends = sent[neighbours] - sent[0], receives = received[neighbours] - received[0];
    TalusMessage *send = part->message, *receive = send + neighbours;
    for (int k = 0; k < sends; k++)
        memcpy(part->out + (size_t)k * bytes, record + (size_t)part->send.body[sent[0] + k] * bytes,
               bytes);
    const int out = lay_out_messages(halo, &part->send, phase, bytes, part->out, send);
    const int in = lay_out_messages(halo, &part->receive, phase, bytes, part->in, receive);
    if (talus_comm_exchange(halo->comm, send, out, receive, in) != TALUS_OK)
        memset(part->in, 0xff, (size_t)receives * bytes); /* all bits 1: NaN, of either width */
    for (int k = 0; k < receives; k++)
        memcpy(record + (size_t)part->receive.body[received[0] + k] * bytes,
               part->in + (size_t)k * bytes, bytes);
}
