/* problem/gather.c - the whole problem from the parts of all ranks (gather.h).
 *
 * Every rank sends rank 0 the bodies that it owns, and its contacts, those that it does not count without their data. The
 * lists of all ranks have the order of one whole list. Rank 0 merges them: a contact comes next if it comes next in the lists
 * of both ranks that have it, first that of the lowest run and first body. Contacts in the order of body numbers, as those on
 * the host are, so come in that order. All others come in an order in which the contacts of each body have theirs, as the
 * owner of the body has all of them; no bit of a solve by products depends on more. All ranks have the blocks of joints, the
 * last of their parts and of the whole; rank 0 takes its own. */
#include "problem/gather.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "problem/problem.h"

#include <stdlib.h>
#include <string.h>

/* A body as it is sent. */
typedef struct BodyRecord {
    uint64_t number;
    double body[8], inertia[6], length;
} BodyRecord;

/* A contact as it is sent by a rank that has it. */
typedef struct KeyRecord {
    uint64_t a, b; /* numbers of its bodies; b: 0 for the fixed world */
    int32_t run;
    int32_t counts; /* 1: its DataRecord is sent, too */
} KeyRecord;

/* What else the problem knows of a contact; entries that the problem lacks are 0. */
typedef struct DataRecord {
    double frame[4], arm[6], lever[2], slip[2], bias, mu, compliance, moment_mu[2], estimate,
        diagonal[2];
    double gamma[TALUS_ROWS];
    TalusBlockModel model;
} DataRecord;

/* A contact of the whole list, as rank 0 sorts them: its records in the messages. */
typedef struct Place {
    const KeyRecord *key;
    const DataRecord *data;
} Place;

/* A contact as a rank has it. */
typedef struct Copy {
    Place place; /* data: NULL unless that rank counts the contact */
    int message;
    int64_t at; /* index among the contacts of all messages, one after the other */
} Copy;

/* What rank 0 has got. */
typedef struct Arrived {
    TalusInbox bodies, keys, data;
    const BodyRecord **body; /* [body_count], by number */
    int64_t body_count;
    Place *place; /* [place_count], the whole list */
    int64_t place_count;
    int64_t *
        first; /* [keys.count + 1]: of each message, the first of its contacts among those of all */
    int32_t *contact; /* [first[keys.count]]: where in the whole list each of them is */
} Arrived;

/* ---- what a rank sends ---- */

/* Marks the bodies that this rank sends, those of its blocks that it owns: copies of other bodies may be old. */
static void mark_bodies(const TalusOperator *op, uint8_t *sends)
{
    for (int i = 0; i < op->blocks; i++)
        for (int side = 0; side < 2; side++)
            if (op->pair[i][side] >= 0)
                sends[op->pair[i][side]] = op->halo->owned[op->pair[i][side]];
}

static size_t pack_bodies(const TalusProblem *p, const uint8_t *sends, BodyRecord *record)
{
    const TalusOperator *op = &p->op;
    size_t count = 0;
    for (int b = 0; b < op->bodies; b++) {
        if (!sends[b])
            continue;
        BodyRecord *r = &record[count++];
        *r = (BodyRecord){.number = talus_body_number(&op->numbers, b), .length = p->length[b]};
        memcpy(r->body, op->body[b], sizeof r->body);
        if (op->inverse_inertia)
            memcpy(r->inertia, op->inverse_inertia[b], sizeof r->inertia);
    }
    return count;
}

static KeyRecord make_key(const TalusOperator *op, int i)
{
    return (KeyRecord){talus_body_number(&op->numbers, op->pair[i][0]),
                       talus_body_number(&op->numbers, op->pair[i][1]),
                       (i >= op->list_end[0]) + (i >= op->list_end[1]),
                       talus_contact_counts(op, i)};
}

static void pack_data(const TalusProblem *p, const double *gamma, int i, DataRecord *r)
{
    const TalusOperator *op = &p->op;
    const int general = i - op->sphere_sphere - op->sphere_fixed;
    memset(r, 0, sizeof *r);
    memcpy(r->frame, op->frame[i], sizeof r->frame);
    r->bias = op->unshifted ? op->unshifted[i] : op->bias[i];
    r->mu = op->mu[i];
    if (general >= 0)
        memcpy(r->arm, op->arm[general], sizeof r->arm);
    if (op->slip)
        memcpy(r->slip, op->slip[i], sizeof r->slip);
    if (op->compliance)
        r->compliance = op->compliance[i];
    if (op->model)
        r->model = op->model[i];
    if (op->estimate)
        r->estimate = op->estimate[i];
    memcpy(r->diagonal, op->diagonal[i], sizeof r->diagonal);
    if (op->moment_mu) {
        memcpy(r->moment_mu, op->moment_mu[i], sizeof r->moment_mu);
        memcpy(r->lever, op->lever[general], sizeof r->lever);
    }
    memcpy(r->gamma, gamma + (size_t)i * (size_t)op->rows, (size_t)op->rows * sizeof *gamma);
}

/* Packs all contacts. Returns the number of those that this rank counts. */
static size_t pack_contacts(const TalusProblem *p, const double *gamma, KeyRecord *key,
                            DataRecord *data)
{
    size_t counted = 0;
    for (int i = 0; i < talus_first_joint(&p->op); i++) {
        key[i] = make_key(&p->op, i);
        if (key[i].counts)
            pack_data(p, gamma, i, &data[counted++]);
    }
    return counted;
}

static TalusStatus send_to_root(TalusComm *comm, void *data, size_t bytes, TalusInbox *inbox)
{
    const TalusMessage message = {data, bytes, 0};
    return talus_comm_route(comm, &message, 1, inbox);
}

/* Sends everything to rank 0. */
static TalusStatus send_part(const TalusProblem *p, const double *gamma, Arrived *arrived)
{
    const TalusOperator *op = &p->op;
    TalusComm *comm = op->halo->comm;
    BodyRecord *body = NULL;
    KeyRecord *key = NULL;
    DataRecord *data = NULL;
    uint8_t *sends = NULL;
    TalusStatus status = TALUS_ALLOC(sends, (size_t)op->bodies + 1, "bodies for rank 0");
    TALUS_THEN(status, TALUS_ALLOC(body, (size_t)op->bodies + 1, "bodies for rank 0"));
    TALUS_THEN(status, TALUS_ALLOC(key, (size_t)op->blocks + 1, "contacts for rank 0"));
    TALUS_THEN(status, TALUS_ALLOC(data, (size_t)op->blocks + 1, "contacts for rank 0"));
    status = talus_comm_agree(comm, status);
    if (status == TALUS_OK) {
        mark_bodies(op, sends);
        const size_t bodies = pack_bodies(p, sends, body);
        const size_t counted = pack_contacts(p, gamma, key, data);
        status = send_to_root(comm, body, bodies * sizeof *body, &arrived->bodies);
        TALUS_THEN(status, send_to_root(comm, key, (size_t)talus_first_joint(op) * sizeof *key,
                                        &arrived->keys));
        TALUS_THEN(status, send_to_root(comm, data, counted * sizeof *data, &arrived->data));
    }
    TALUS_RELEASE(sends, body, key, data);
    return status;
}

/* ---- on rank 0 ---- */

static int compare_bodies(const void *x, const void *y)
{
    const BodyRecord *p = *(const BodyRecord *const *)x, *q = *(const BodyRecord *const *)y;
    return p->number < q->number ? -1 : p->number > q->number;
}

/* Copies of one contact, and of others between the same bodies, one after the other; those of a message in their order. */
static int compare_copies(const void *x, const void *y)
{
    const Copy *p = x, *q = y;
    const KeyRecord *k = p->place.key, *l = q->place.key;
    if (k->run != l->run)
        return k->run < l->run ? -1 : 1;
    if (k->a != l->a)
        return k->a < l->a ? -1 : 1;
    if (k->b != l->b)
        return k->b < l->b ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

static int64_t records_of(const TalusInbox *inbox, int message, size_t bytes)
{
    return (int64_t)(inbox->message[message].bytes / bytes);
}

/* Lists the bodies by number. A body that nothing moves may come from several ranks. */
static TalusStatus sort_bodies(Arrived *in)
{
    int64_t count = 0;
    for (int m = 0; m < in->bodies.count; m++)
        count += records_of(&in->bodies, m, sizeof(BodyRecord));
    TALUS_TRY(TALUS_ALLOC(in->body, (size_t)count + 1, "bodies of all ranks"));
    count = 0;
    for (int m = 0; m < in->bodies.count; m++) {
        const BodyRecord *record = in->bodies.message[m].data;
        for (int64_t k = 0; k < records_of(&in->bodies, m, sizeof *record); k++)
            in->body[count++] = record + k;
    }
    qsort(in->body, (size_t)count, sizeof *in->body, compare_bodies);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || in->body[k]->number != in->body[in->body_count - 1]->number)
            in->body[in->body_count++] = in->body[k];
    return TALUS_OK;
}

/* Returns the data that came from a rank. */
static const DataRecord *data_of(const TalusInbox *data, int rank)
{
    for (int m = 0; m < data->count; m++)
        if (data->message[m].rank == rank)
            return data->message[m].data;
    return NULL;
}

/* ---- the list of all contacts ---- */

/* Lists the contacts of all messages, sorted. */
static void list_copies(const Arrived *in, Copy *copy)
{
    for (int m = 0; m < in->keys.count; m++) {
        const KeyRecord *key = in->keys.message[m].data;
        const DataRecord *data = data_of(&in->data, in->keys.message[m].rank);
        for (int64_t at = in->first[m]; at < in->first[m + 1]; at++, key++)
            copy[at] = (Copy){{key, key->counts ? data++ : NULL}, m, at};
    }
    qsort(copy, (size_t)in->first[in->keys.count], sizeof *copy, compare_copies);
}

static bool same_bodies(const KeyRecord *k, const KeyRecord *l)
{
    return k->run == l->run && k->a == l->a && k->b == l->b;
}

/* Numbers the contacts: writes the number of each copy to in->contact, and the place of each number to `place`. Of several
 * contacts between two bodies the k-th of one rank is the k-th of the other. */
static TalusStatus number_contacts(Arrived *in, const Copy *copy, Place *place)
{
    const int64_t count = in->first[in->keys.count];
    for (int64_t i = 0, end; i < count; i = end) {
        int64_t counted = in->place_count, others = counted;
        for (end = i; end < count && same_bodies(copy[i].place.key, copy[end].place.key); end++) {
            const bool counts = copy[end].place.data != NULL;
            in->contact[copy[end].at] = (int32_t)(counts ? counted : others);
            if (counts)
                place[counted++] = copy[end].place;
            else
                others++;
        }
        if (others > in->place_count && others != counted)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "problem: ranks have different contacts between bodies %llu and %llu",
                              (unsigned long long)copy[i].place.key->a,
                              (unsigned long long)copy[i].place.key->b);
        in->place_count = counted;
    }
    return TALUS_OK;
}

/* The merge of all lists. */
typedef struct Merge {
    const Arrived *in;
    const Place *place;    /* by number */
    int64_t *next;         /* [keys.count]: first contact of each message that has not come yet */
    int8_t *missing;       /* by number: lists in which the contact is not the next one yet */
    int32_t *index;        /* by number: where the contact is in the whole list */
    const KeyRecord *last; /* contact that came last; NULL: none has */
} Merge;

/* Notes that another contact is the next one of a message. */
static void arrive(Merge *g, int m)
{
    if (g->next[m] < g->in->first[m + 1])
        g->missing[g->in->contact[g->next[m]]]--;
}

/* True if contact k comes before b, both of which may come next: it is between the bodies of the last one, since contacts
 * of two bodies follow each other (backend/priority.h), or it is of a lower run or first body. */
static bool comes_before(const Merge *g, const KeyRecord *k, const KeyRecord *b)
{
    if (g->last && same_bodies(k, g->last))
        return true;
    if (!b || (g->last && same_bodies(b, g->last)))
        return !b;
    return k->run < b->run || (k->run == b->run && k->a < b->a);
}

/* Returns the number of the next contact of the whole list; -1: there is none. */
static int32_t find_next(const Merge *g)
{
    int32_t best = -1;
    for (int m = 0; m < g->in->keys.count; m++) {
        if (g->next[m] == g->in->first[m + 1])
            continue;
        const int32_t number = g->in->contact[g->next[m]];
        if (g->missing[number] == 0 &&
            comes_before(g, g->place[number].key, best < 0 ? NULL : g->place[best].key))
            best = number;
    }
    return best;
}

/* Writes the whole list to `to`, and the places of its contacts to g->index. */
static TalusStatus merge_lists(Merge *g, Place *to)
{
    const Arrived *in = g->in;
    for (int64_t at = 0; at < in->first[in->keys.count]; at++)
        g->missing[in->contact[at]]++;
    for (int m = 0; m < in->keys.count; m++) {
        g->next[m] = in->first[m];
        arrive(g, m);
    }
    for (int32_t k = 0; k < in->place_count; k++) {
        const int32_t number = find_next(g);
        if (number < 0)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "problem: the contacts of ranks are not in one order");
        to[k] = g->place[number];
        g->last = to[k].key;
        g->index[number] = k;
        for (int m = 0; m < in->keys.count; m++)
            if (g->next[m] < in->first[m + 1] && in->contact[g->next[m]] == number) {
                g->next[m]++;
                arrive(g, m);
            }
    }
    return TALUS_OK;
}

/* Merges the numbered contacts, and replaces their numbers by their places in the whole list. */
static TalusStatus order_contacts(Arrived *in, const Place *place)
{
    const size_t count = (size_t)in->place_count + 1;
    Merge g = {.in = in, .place = place};
    TalusStatus status = TALUS_ALLOC(g.next, (size_t)in->keys.count + 1, "contacts of all ranks");
    TALUS_THEN(status, TALUS_ALLOC(g.missing, count, "contacts of all ranks"));
    TALUS_THEN(status, TALUS_ALLOC(g.index, count, "contacts of all ranks"));
    TALUS_THEN(status, TALUS_ALLOC(in->place, count, "contacts of all ranks"));
    TALUS_THEN(status, merge_lists(&g, in->place));
    for (int64_t at = 0; status == TALUS_OK && at < in->first[in->keys.count]; at++)
        in->contact[at] = g.index[in->contact[at]];
    TALUS_RELEASE(g.next, g.missing, g.index);
    return status;
}

/* Lists the contacts in the order of the whole problem. */
static TalusStatus sort_contacts(Arrived *in)
{
    Copy *copy = NULL;
    Place *place = NULL;
    TALUS_TRY(TALUS_ALLOC(in->first, (size_t)in->keys.count + 1, "contacts of all ranks"));
    for (int m = 0; m < in->keys.count; m++)
        in->first[m + 1] = in->first[m] + records_of(&in->keys, m, sizeof(KeyRecord));
    const size_t count = (size_t)in->first[in->keys.count] + 1;
    TalusStatus status = TALUS_ALLOC(in->contact, count, "contacts of all ranks");
    TALUS_THEN(status, TALUS_ALLOC(copy, count, "contacts of all ranks"));
    TALUS_THEN(status, TALUS_ALLOC(place, count, "contacts of all ranks"));
    if (status == TALUS_OK)
        list_copies(in, copy);
    TALUS_THEN(status, number_contacts(in, copy, place));
    TALUS_THEN(status, order_contacts(in, place));
    TALUS_RELEASE(copy, place);
    return status;
}

/* ---- the whole problem ---- */

/* Returns the index of the body with this number, -1 for the fixed world; -2: there is none. */
static int32_t find_body(const Arrived *in, uint64_t number)
{
    const BodyRecord wanted = {.number = number}, *key = &wanted;
    if (number == 0)
        return -1;
    const BodyRecord **found =
        bsearch(&key, in->body, (size_t)in->body_count, sizeof *in->body, compare_bodies);
    return found ? (int32_t)(found - in->body) : -2;
}

static TalusProblemSizes sizes_of(const TalusProblem *part, const Arrived *in)
{
    const TalusOperator *op = &part->op;
    TalusProblemSizes sizes = {.bodies = (int)in->body_count,
                               .general = op->blocks - talus_first_joint(op),
                               .joints = op->joints,
                               .rows = op->rows,
                               .compliance = op->compliance != NULL,
                               .slip = op->slip != NULL,
                               .models = op->model != NULL,
                               .inertias = op->inverse_inertia != NULL};
    int *const compact[3] = {&sizes.sphere_sphere, &sizes.sphere_fixed, &sizes.general};
    for (int64_t k = 0; k < in->place_count; k++) {
        const int run = in->place[k].key->run;
        ++*(op->rows < 6 ? compact[run] : &sizes.general);
        if (op->rows == 6 && run < 2)
            sizes.first_runs[run]++;
    }
    return sizes;
}

static TalusStatus fill_bodies(const Arrived *in, TalusProblem *p)
{
    talus_release(p->part_number);
    TALUS_TRY(TALUS_ALLOC(p->part_number, (size_t)in->body_count + 1, "body numbers"));
    for (int64_t b = 0; b < in->body_count; b++) {
        const BodyRecord *r = in->body[b];
        memcpy(p->op.body[b], r->body, sizeof r->body);
        if (p->op.inverse_inertia)
            memcpy(p->op.inverse_inertia[b], r->inertia, sizeof r->inertia);
        p->length[b] = r->length;
        p->part_number[b] = r->number;
    }
    p->op.numbers = (TalusBodyNumbers){.id = p->part_number};
    return TALUS_OK;
}

/* Fills block i from its records. */
static TalusStatus fill_block(const Arrived *in, const KeyRecord *key, const DataRecord *r,
                              TalusProblem *p, int i)
{
    TalusOperator *op = &p->op;
    const int general = i - op->sphere_sphere - op->sphere_fixed;
    op->pair[i][0] = find_body(in, key->a);
    op->pair[i][1] = find_body(in, key->b);
    if (op->pair[i][0] < -1 || op->pair[i][1] < -1)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "problem: no rank owns a body of block %d, between bodies %llu and %llu",
                          i, (unsigned long long)key->a, (unsigned long long)key->b);
    memcpy(op->frame[i], r->frame, sizeof r->frame);
    op->bias[i] = r->bias;
    op->mu[i] = r->mu;
    if (general >= 0)
        memcpy(op->arm[general], r->arm, sizeof r->arm);
    if (op->slip)
        memcpy(op->slip[i], r->slip, sizeof r->slip);
    if (op->compliance)
        op->compliance[i] = r->compliance;
    if (op->model)
        op->model[i] = r->model;
    if (op->moment_mu) {
        memcpy(op->moment_mu[i], r->moment_mu, sizeof r->moment_mu);
        memcpy(op->lever[general], r->lever, sizeof r->lever);
    }
    memcpy(p->gamma + (size_t)i * (size_t)op->rows, r->gamma, (size_t)op->rows * sizeof *p->gamma);
    return TALUS_OK;
}

/* Fills the blocks of joints from those of the part. */
static TalusStatus fill_joints(const TalusProblem *part, const double *gamma, const Arrived *in,
                               TalusProblem *p)
{
    for (int i = (int)in->place_count, from = talus_first_joint(&part->op); i < p->op.blocks;
         i++, from++) {
        const KeyRecord key = make_key(&part->op, from);
        DataRecord data;
        pack_data(part, gamma, from, &data);
        TALUS_TRY(fill_block(in, &key, &data, p, i));
    }
    return TALUS_OK;
}

/* Fills the whole problem from the sorted records. */
static TalusStatus fill_whole(const TalusProblem *part, const double *gamma, const Arrived *in,
                              TalusProblem *p)
{
    const TalusProblemSizes sizes = sizes_of(part, in);
    TALUS_TRY(talus_problem_resize(p, &sizes));
    TALUS_TRY(fill_bodies(in, p));
    for (int i = 0; i < (int)in->place_count; i++)
        TALUS_TRY(fill_block(in, in->place[i].key, in->place[i].data, p, i));
    TALUS_TRY(fill_joints(part, gamma, in, p));
    TALUS_TRY(talus_problem_finish(p));
    for (int i = 0; i < (int)in->place_count; i++) {
        const DataRecord *data = in->place[i].data;
        memcpy(p->op.diagonal[i], data->diagonal, sizeof data->diagonal);
        if (p->op.estimate)
            p->op.estimate[i] = data->estimate;
    }
    return TALUS_OK;
}

/* Lists where the contacts of a rank are in the whole list; joints follow. */
static TalusStatus find_contacts(const Arrived *in, int rank, int64_t joints, TalusGathered *of)
{
    int64_t begin = 0, end = 0;
    for (int m = 0; m < in->keys.count; m++)
        if (in->keys.message[m].rank == rank) {
            begin = in->first[m];
            end = in->first[m + 1];
        }
    TALUS_TRY(TALUS_ALLOC(of->index, (size_t)(end - begin + joints) + 1, "contacts of ranks"));
    for (int64_t at = begin; at < end; at++)
        of->index[of->count++] = in->contact[at];
    for (int64_t k = 0; k < joints; k++)
        of->index[of->count++] = (int32_t)(in->place_count + k);
    return TALUS_OK;
}

static TalusStatus make_whole(const TalusProblem *part, const double *gamma, Arrived *in,
                              TalusGather *g)
{
    const int64_t joints = part->op.blocks - talus_first_joint(&part->op);
    if (g->comm->rank > 0)
        return TALUS_OK;
    TALUS_TRY(sort_bodies(in));
    TALUS_TRY(sort_contacts(in));
    TALUS_TRY(talus_problem_create_empty(part->op.pool, &g->whole));
    TALUS_TRY(fill_whole(part, gamma, in, g->whole));
    TALUS_TRY(TALUS_ALLOC(g->of, (size_t)g->comm->size, "contacts of ranks"));
    for (int r = 0; r < g->comm->size; r++)
        TALUS_TRY(find_contacts(in, r, joints, &g->of[r]));
    return TALUS_OK;
}

TalusStatus talus_gather_create(const TalusProblem *part, const double *gamma, TalusGather **out)
{
    Arrived in = {0};
    TalusGather *g = NULL;
    TalusComm *comm = part->op.halo->comm;
    *out = NULL;
    TALUS_TRY(talus_comm_agree(comm, TALUS_ALLOC(g, 1, "the whole problem")));
    g->comm = comm;
    g->rows = part->op.rows;
    TalusStatus status = send_part(part, gamma, &in);
    TALUS_THEN(status, talus_comm_agree(comm, make_whole(part, gamma, &in, g)));
    talus_inbox_clear(&in.bodies);
    talus_inbox_clear(&in.keys);
    talus_inbox_clear(&in.data);
    TALUS_RELEASE(in.body, in.place, in.first, in.contact);
    if (status != TALUS_OK) {
        talus_gather_destroy(g);
        return status;
    }
    *out = g;
    return TALUS_OK;
}

void talus_gather_destroy(TalusGather *g)
{
    if (!g)
        return;
    for (int r = 0; g->of && r < g->comm->size; r++)
        talus_release(g->of[r].index);
    talus_problem_destroy(g->whole);
    TALUS_RELEASE(g->of, g);
}

/* ---- back ---- */

/* Makes the messages to all ranks; data: their entries one after the other. */
static TalusStatus pack_entries(const TalusGather *g, const double *all, double **data,
                                TalusMessage **message)
{
    const size_t rows = (size_t)g->rows;
    size_t count = 0;
    if (g->comm->rank > 0)
        return TALUS_OK;
    for (int r = 0; r < g->comm->size; r++)
        count += (size_t)g->of[r].count;
    TALUS_TRY(TALUS_ALLOC(*data, count * rows + 1, "impulses of all ranks"));
    TALUS_TRY(TALUS_ALLOC(*message, (size_t)g->comm->size, "messages"));
    double *next = *data;
    for (int r = 0; r < g->comm->size; r++) {
        const TalusGathered *of = &g->of[r];
        (*message)[r] = (TalusMessage){next, (size_t)of->count * rows * sizeof *next, r};
        for (int64_t k = 0; k < of->count; k++, next += rows)
            memcpy(next, all + (size_t)of->index[k] * rows, rows * sizeof *next);
    }
    return TALUS_OK;
}

TalusStatus talus_gather_deal(const TalusGather *g, const double *all, double *out)
{
    double *data = NULL;
    TalusMessage *message = NULL;
    TalusInbox inbox = {0};
    TalusStatus status = talus_comm_agree(g->comm, pack_entries(g, all, &data, &message));
    TALUS_THEN(status,
               talus_comm_route(g->comm, message, g->comm->rank == 0 ? g->comm->size : 0, &inbox));
    if (status == TALUS_OK && inbox.count > 0 && inbox.message[0].bytes > 0)
        memcpy(out, inbox.message[0].data, inbox.message[0].bytes);
    talus_inbox_clear(&inbox);
    TALUS_RELEASE(data, message);
    return status;
}
