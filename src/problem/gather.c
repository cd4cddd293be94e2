/* problem/gather.c - the whole problem from the parts of all ranks (gather.h).
 *
 * Every rank sends rank 0 the bodies that it owns, and its contacts, those that it does not count without their data. Rank
 * 0 sorts the counted ones by run and first body: all contacts of a first body come from one rank, in their order. The
 * contacts of a rank are then found in that list one after the other, since they have its order. All ranks have the blocks of
 * joints, the last of their parts and of the whole; rank 0 takes its own. */
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
    double frame[4], arm[6], lever[2], bias, mu, compliance, moment_mu[2], estimate;
    double gamma[TALUS_ROWS];
    TalusBlockModel model;
} DataRecord;

/* A contact of the whole list, as rank 0 sorts them: its records in the messages. */
typedef struct Place {
    const KeyRecord *key;
    const DataRecord *data;
} Place;

/* What rank 0 has got. */
typedef struct Arrived {
    TalusInbox bodies, keys, data;
    const BodyRecord **body; /* [body_count], by number */
    int64_t body_count;
    Place *place; /* [place_count], the whole list */
    int64_t place_count;
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
    if (op->compliance)
        r->compliance = op->compliance[i];
    if (op->model)
        r->model = op->model[i];
    if (op->estimate)
        r->estimate = op->estimate[i];
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

/* By run, then by first body, then as they came. */
static int compare_places(const void *x, const void *y)
{
    const KeyRecord *p = ((const Place *)x)->key, *q = ((const Place *)y)->key;
    if (p->run != q->run)
        return p->run < q->run ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p < q ? -1 : p > q;
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

/* Lists the contacts in the order of the whole problem. */
static TalusStatus sort_contacts(Arrived *in)
{
    int64_t count = 0;
    for (int m = 0; m < in->data.count; m++)
        count += records_of(&in->data, m, sizeof(DataRecord));
    TALUS_TRY(TALUS_ALLOC(in->place, (size_t)count + 1, "contacts of all ranks"));
    for (int m = 0; m < in->keys.count; m++) {
        const KeyRecord *key = in->keys.message[m].data;
        const DataRecord *data = data_of(&in->data, in->keys.message[m].rank);
        for (int64_t k = 0; k < records_of(&in->keys, m, sizeof *key); k++)
            if (key[k].counts)
                in->place[in->place_count++] = (Place){key + k, data++};
    }
    qsort(in->place, (size_t)count, sizeof *in->place, compare_places);
    return TALUS_OK;
}

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
    for (int i = 0; p->op.estimate && i < (int)in->place_count; i++)
        p->op.estimate[i] = in->place[i].data->estimate;
    return TALUS_OK;
}

/* Finds the contacts of a rank in the whole list; joints follow. */
static TalusStatus find_contacts(const Arrived *in, int rank, int64_t joints, TalusGathered *of)
{
    const KeyRecord *key = NULL;
    int64_t count = 0, at = 0;
    for (int m = 0; m < in->keys.count; m++)
        if (in->keys.message[m].rank == rank) {
            key = in->keys.message[m].data;
            count = records_of(&in->keys, m, sizeof *key);
        }
    TALUS_TRY(TALUS_ALLOC(of->index, (size_t)(count + joints) + 1, "contacts of ranks"));
    for (; of->count < count; of->count++, key++) {
        while (at < in->place_count &&
               (in->place[at].key->run != key->run || in->place[at].key->a != key->a ||
                in->place[at].key->b != key->b))
            at++;
        if (at == in->place_count)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "problem: contacts of rank %d are not in the order of body numbers",
                              rank);
        of->index[of->count] = (int32_t)at++;
    }
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
    TALUS_RELEASE(in.body, in.place);
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
