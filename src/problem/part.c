/* problem/part.c - makes a rank's part of a whole problem, and collects the impulses of all parts. */
#include "problem/part.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "problem/problem.h"

#include <string.h>

/* What a rank needs of the whole problem. */
typedef struct Deal {
    const TalusOperator *op; /* of the whole problem */
    const double *length, *gamma;
    TalusComm *comm;
    bool frictionless;
    int number_blocks; /* of BODY_GRAIN numbers each */
    int64_t *first;    /* [ranks + 1]: first of the blocks of numbers of each rank */
    int32_t *local;    /* [bodies of the whole]: index in the part; -1: not there */
    TalusProblemSizes sizes;
} Deal;

static int number_block(const Deal *d, int body)
{
    return (int)((talus_body_number(&d->op->numbers, body) - 1) / BODY_GRAIN);
}

/* Returns the rank that owns the body. */
static int find_owner(const Deal *d, int body)
{
    const int block = number_block(d, body);
    int rank = 0, end = d->comm->size;
    while (end - rank > 1) {
        const int middle = rank + (end - rank) / 2;
        if (d->first[middle] <= block)
            rank = middle;
        else
            end = middle;
    }
    return rank;
}

/* True if the contact has a body that this rank owns. */
static bool has_contact(const Deal *d, int i)
{
    const int32_t *pair = d->op->pair[i];
    return find_owner(d, pair[0]) == d->comm->rank ||
           (pair[1] >= 0 && find_owner(d, pair[1]) == d->comm->rank);
}

/* ---- who has what ---- */

/* Fails if contacts of a pair of bodies are apart in their run: priorities count them (backend/priority.h). */
static TalusStatus check_pairs(const TalusOperator *op)
{
    const int run_end[3] = {op->list_end[0], op->list_end[1], op->blocks};
    int32_t *last; /* of each body: the last contact in which it was the second body, plus 1 */
    TalusStatus status = TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(last, (size_t)op->bodies + 1, "bodies"));
    for (int run = 0, i = 0; run < 3; run++)
        for (int begin = i; i < run_end[run] && status == TALUS_OK; i++) {
            const int32_t a = op->pair[i][0], b = op->pair[i][1], before = b < 0 ? 0 : last[b];
            if (before > begin && before != i && op->pair[before - 1][0] == a)
                status =
                    talus_fail(TALUS_ERR_UNSUPPORTED,
                               "problem: contacts %d and %d of bodies %d and %d are apart; for "
                               "several ranks contacts of a pair must follow each other",
                               before - 1, i, a, b);
            if (b >= 0)
                last[b] = i + 1;
        }
    talus_release(last);
    return status;
}

/* Fails if parts cannot be made of the problem. */
static TalusStatus check_whole(const TalusOperator *op)
{
    const int run_end[3] = {op->list_end[0], op->list_end[1], op->blocks};
    if (!op->pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "problem: an explicit matrix has no bodies that ranks could own");
    for (int i = 0; op->model && i < op->blocks; i++)
        if (op->model[i].section == TALUS_SECTION_JOINT)
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "problem: block %d is of a joint, which no rank takes yet", i);
    for (int b = 1; b < op->bodies; b++)
        if (talus_body_number(&op->numbers, b) <= talus_body_number(&op->numbers, b - 1))
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "problem: the numbers of bodies do not ascend");
    for (int run = 0, i = 0; run < 3; run++)
        for (int begin = i; i < run_end[run]; i++)
            if (i > begin && op->pair[i][0] < op->pair[i - 1][0])
                return talus_fail(
                    TALUS_ERR_UNSUPPORTED,
                    "problem: contact %d of body %d comes after one of body %d; for "
                    "several ranks contacts must be in the order of their first bodies",
                    i, op->pair[i][0], op->pair[i - 1][0]);
    return check_pairs(op);
}

/* Deals the blocks of numbers, weighed by their contacts. */
static TalusStatus deal_bodies(Deal *d)
{
    const TalusOperator *op = d->op;
    int64_t *weight;
    d->number_blocks = op->bodies > 0 ? number_block(d, op->bodies - 1) + 1 : 0;
    TALUS_TRY(TALUS_ALLOC(d->first, (size_t)d->comm->size + 1, "shares of bodies"));
    TALUS_TRY(TALUS_ALLOC(d->local, (size_t)op->bodies + 1, "bodies of a part"));
    TALUS_TRY(TALUS_ALLOC(weight, (size_t)d->number_blocks + 1, "shares of bodies"));
    for (int i = 0; i < op->blocks; i++)
        weight[number_block(d, op->pair[i][0])]++;
    talus_cut_by_weight(d->number_blocks, weight, 1, d->comm->size, d->first);
    talus_release(weight);
    return TALUS_OK;
}

/* Counts bodies and contacts of the part, and numbers its bodies. */
static void count_part(Deal *d)
{
    const TalusOperator *op = d->op;
    const int spheres = op->sphere_sphere + op->sphere_fixed;
    for (int b = 0; b < op->bodies; b++)
        d->local[b] = find_owner(d, b) == d->comm->rank ? 0 : -1;
    d->sizes = (TalusProblemSizes){.rows = op->rows,
                                   .compliance = op->compliance != NULL,
                                   .models = op->model != NULL,
                                   .inertias = op->inverse_inertia != NULL};
    for (int i = 0; i < op->blocks; i++) {
        if (!has_contact(d, i))
            continue;
        d->local[op->pair[i][0]] = 0;
        if (op->pair[i][1] >= 0)
            d->local[op->pair[i][1]] = 0;
        ++*(i < op->sphere_sphere ? &d->sizes.sphere_sphere
            : i < spheres         ? &d->sizes.sphere_fixed
                                  : &d->sizes.general);
        if (i >= spheres && i < op->list_end[1])
            d->sizes.first_runs[i >= op->list_end[0]]++;
    }
    for (int b = 0; b < op->bodies; b++)
        if (d->local[b] >= 0)
            d->local[b] = d->sizes.bodies++;
}

/* ---- the part ---- */

/* Copies the bodies of the part. Inertias are copied whether or not the part has general contacts, if the whole has. */
static void copy_bodies(const Deal *d, TalusProblem *p, int32_t *owner)
{
    for (int b = 0; b < d->op->bodies; b++) {
        const int to = d->local[b];
        if (to < 0)
            continue;
        memcpy(p->op.body[to], d->op->body[b], sizeof *p->op.body);
        if (p->op.inverse_inertia)
            memcpy(p->op.inverse_inertia[to], d->op->inverse_inertia[b],
                   sizeof *p->op.inverse_inertia);
        p->length[to] = d->length[b];
        p->part_number[to] = talus_body_number(&d->op->numbers, b);
        owner[to] = find_owner(d, b);
    }
}

/* Copies contact `from` of the whole problem to contact `to` of the part. */
static void copy_contact(const Deal *d, int from, TalusProblem *p, int to)
{
    const TalusOperator *whole = d->op;
    TalusOperator *op = &p->op;
    const int rows = op->rows, general = from - whole->sphere_sphere - whole->sphere_fixed;
    const int own_general = to - op->sphere_sphere - op->sphere_fixed;
    for (int side = 0; side < 2; side++)
        op->pair[to][side] = whole->pair[from][side] < 0 ? -1 : d->local[whole->pair[from][side]];
    memcpy(op->frame[to], whole->frame[from], sizeof *op->frame);
    op->bias[to] = whole->bias[from];
    op->mu[to] = whole->mu[from];
    if (op->compliance)
        op->compliance[to] = whole->compliance[from];
    if (op->model)
        op->model[to] = whole->model[from];
    if (general >= 0)
        memcpy(op->arm[own_general], whole->arm[general], sizeof *op->arm);
    if (op->moment_mu) {
        memcpy(op->moment_mu[to], whole->moment_mu[from], sizeof *op->moment_mu);
        memcpy(op->lever[own_general], whole->lever[general], sizeof *op->lever);
    }
    memcpy(p->gamma + (size_t)to * (size_t)rows, d->gamma + (size_t)from * (size_t)rows,
           (size_t)rows * sizeof *p->gamma);
    p->part_block[to] = from;
}

/* Fills bodies and contacts of the part; owner: [bodies], work space. */
static TalusStatus fill_part(const Deal *d, TalusProblem *p, int32_t *owner)
{
    TALUS_TRY(TALUS_ALLOC(p->part_number, (size_t)d->sizes.bodies + 1, "body numbers"));
    TALUS_TRY(TALUS_ALLOC(p->part_block, (size_t)p->op.blocks + 1, "blocks of a part"));
    copy_bodies(d, p, owner);
    p->op.numbers = (TalusBodyNumbers){.id = p->part_number};
    for (int i = 0, to = 0; i < d->op->blocks; i++)
        if (has_contact(d, i))
            copy_contact(d, i, p, to++);
    return TALUS_OK;
}

/* Makes the halo and completes the part. */
static TalusStatus finish_part(const Deal *d, TalusProblem *p, const int32_t *owner)
{
    TalusHalo *halo;
    const TalusHaloBodies bodies = {
        .count = d->sizes.bodies, .number = p->part_number, .owner = owner};
    TALUS_TRY(talus_halo_create(d->comm, &bodies, sizeof *p->op.body, &halo));
    halo->blocks = d->op->blocks;
    halo->general = d->op->general;
    halo->frictionless = d->frictionless;
    p->op.halo = halo;
    return talus_comm_agree(d->comm, talus_problem_finish(p));
}

/* Makes the part in *p, which is there in any case and which the caller destroys after a failure. */
static TalusStatus make_part(Deal *d, TalusProblem *p)
{
    int32_t *owner = NULL;
    TalusStatus status = deal_bodies(d);
    if (status == TALUS_OK)
        count_part(d);
    TALUS_THEN(status, talus_problem_resize(p, &d->sizes));
    TALUS_THEN(status, TALUS_ALLOC(owner, (size_t)d->sizes.bodies + 1, "owners"));
    TALUS_THEN(status, fill_part(d, p, owner));
    status = talus_comm_agree(d->comm, status);
    TALUS_THEN(status, finish_part(d, p, owner));
    TALUS_RELEASE(owner, d->first, d->local);
    return status;
}

TalusStatus talus_part_create(const TalusProblem *whole, TalusComm *comm, TalusPool *pool,
                              TalusProblem **out)
{
    Deal deal = {.op = &whole->op,
                 .length = whole->length,
                 .gamma = whole->gamma,
                 .comm = comm,
                 .frictionless = talus_problem_is_frictionless(whole)};
    TalusProblem *p;
    *out = NULL;
    TALUS_TRY(check_whole(&whole->op));
    TALUS_TRY(talus_problem_create_empty(pool, &p));
    TalusStatus status = make_part(&deal, p);
    if (status != TALUS_OK) {
        talus_problem_destroy(p);
        return status;
    }
    *out = p;
    return TALUS_OK;
}

/* ---- collection ---- */

/* True if this rank counts the block: it owns the first body. */
static bool counts_block(const TalusProblem *p, int i)
{
    return p->op.halo->owned[p->op.pair[i][0]];
}

/* Returns the number of blocks that this rank counts. */
static int64_t count_own(const TalusProblem *p)
{
    int64_t count = 0;
    for (int i = 0; i < p->op.blocks; i++)
        count += counts_block(p, i);
    return count;
}

/* Writes one record for each block that this rank counts: its index in the whole problem, then its impulses. */
static void pack_impulses(const TalusProblem *p, double *record)
{
    const int rows = p->op.rows;
    for (int i = 0; i < p->op.blocks; i++) {
        if (!counts_block(p, i))
            continue;
        *record++ = p->part_block[i];
        memcpy(record, p->gamma + (size_t)i * (size_t)rows, (size_t)rows * sizeof *record);
        record += rows;
    }
}

/* Exchanges the records; count: [ranks], of each rank. `record` has room for those that this rank has in the end: of all
 * ranks on rank 0, with its own first, else its own. */
static TalusStatus exchange_impulses(const TalusProblem *p, const int64_t *count, double *record)
{
    TalusComm *comm = p->op.halo->comm;
    const size_t bytes = (1 + (size_t)p->op.rows) * sizeof *record;
    TalusMessage own = {record, (size_t)count[comm->rank] * bytes, 0}, *all;
    if (comm->rank > 0)
        return talus_comm_exchange(comm, &own, 1, NULL, 0);
    TALUS_TRY(TALUS_ALLOC(all, (size_t)comm->size, "messages"));
    unsigned char *at = (unsigned char *)record + own.bytes;
    for (int r = 1; r < comm->size; r++) {
        all[r - 1] = (TalusMessage){at, (size_t)count[r] * bytes, r};
        at += all[r - 1].bytes;
    }
    TalusStatus status = talus_comm_exchange(comm, NULL, 0, all, comm->size - 1);
    talus_release(all);
    return status;
}

TalusStatus talus_part_collect(const TalusProblem *p, double *gamma)
{
    TalusComm *comm = p->op.halo->comm;
    const int rows = p->op.rows;
    int64_t *count, records = 0;
    double *record = NULL;
    TALUS_TRY(TALUS_ALLOC(count, (size_t)comm->size, "counts"));
    count[comm->rank] = count_own(p);
    TalusStatus status = talus_comm_add_counts(comm, count, comm->size);
    for (int r = 0; r < comm->size; r++)
        records += comm->rank == 0 || r == comm->rank ? count[r] : 0;
    TALUS_THEN(status,
               talus_comm_agree(comm, TALUS_ALLOC(record, (size_t)records * (1 + (size_t)rows) + 1,
                                                  "impulses of all ranks")));
    if (status == TALUS_OK)
        pack_impulses(p, record);
    TALUS_THEN(status, exchange_impulses(p, count, record));
    for (int64_t k = 0; status == TALUS_OK && comm->rank == 0 && k < records; k++)
        memcpy(gamma + (size_t)record[k * (1 + rows)] * (size_t)rows, record + k * (1 + rows) + 1,
               (size_t)rows * sizeof *gamma);
    TALUS_RELEASE(count, record);
    return status;
}
