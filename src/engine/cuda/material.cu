/* engine/cuda/material.cu - what laws beyond the circular cone of ccp add to the problem of a step: rows and friction
 * kinds of the contacts, incidence for moment rows, cohesion. In worlds without such laws no kernel of this file runs,
 * except that contacts are scanned if some laws have friction and others do not. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/material.h"

/* ---- rows and kinds of the contacts ---- */

/* Finds the largest number of rows that a contact needs (total 0) and the union of the bits of the contacts' friction
 * kinds (*kinds). */
static __global__ void scan_rows_and_kinds(CuTallies tallies, double *totals, CuLawInputs s,
                                           uint32_t *kinds)
{
    sum_items<0, 1>(tallies, totals, 0, s.list.counts.contacts, 1.0, [&](int64_t i, double(&v)[1]) {
        const TalusLaw *law = cu_contact_law(s, i);
        const uint32_t met = talus_law_kind(law);
        v[0] = (double)talus_law_rows(law);
        if (met & ~*(volatile uint32_t *)kinds)
            atomicOr(kinds, met);
    });
}

/* True if more than one bit is set. */
static bool has_several_bits(uint32_t bits)
{
    return (bits & (bits - 1)) != 0;
}

/* Replaces *kinds by the bits that some rank has. */
static TalusStatus join_kinds(TalusComm *comm, uint32_t *kinds)
{
    int64_t ranks[32];
    for (int k = 0; k < 32; k++)
        ranks[k] = *kinds >> k & 1;
    TALUS_TRY(talus_comm_add_counts(comm, ranks, 32));
    for (int k = 0; k < 32; k++)
        *kinds |= ranks[k] > 0 ? (uint32_t)1 << k : 0;
    return TALUS_OK;
}

TalusStatus cu_find_rows_and_kinds(TalusEngine *e, int *rows, uint32_t *kinds)
{
    const CuTables *t = &e->tables;
    const int64_t contacts = e->all_contacts[0];
    *rows = contacts > 0 ? t->max_rows : 1;
    *kinds = contacts > 0 && t->models ? t->kinds : 0;
    if (contacts == 0 || (t->min_rows == t->max_rows && !has_several_bits(*kinds)))
        return TALUS_OK;
    double totals[2];
    cu_zero(e->cu, e->cu->totals + 1, sizeof(double));
    launch_own_sums(e->cu, scan_rows_and_kinds, contacts, e->cu->totals, cu_law_inputs(e),
                    (uint32_t *)(e->cu->totals + 1));
    cu_totals_get(e->cu, 2, totals);
    talus_comm_find_maxima(e->comm, totals, 1);
    *rows = (int)totals[0];
    if (!t->models)
        return TALUS_OK;
    memcpy(kinds, &totals[1], sizeof *kinds);
    return join_kinds(e->comm, kinds);
}

/* ---- each body's contacts ---- */

/* Renumbers the incidences 2 * record + side: in the list, contacts of runs 1 and 2 have one record and general ones
 * two; in `to`, all contacts have two. */
static __global__ void renumber_incidences(CuList list, int32_t *to)
{
    int64_t k = item_index();
    if (k >= list.incidence_start[list.problem_bodies])
        return;
    int32_t record = list.incidence[k] >> 1, side = list.incidence[k] & 1;
    int32_t compact = list.counts.sphere_sphere + list.counts.sphere_fixed;
    int32_t i = record < compact ? record : compact + (record - compact) / 2;
    to[k] = 2 * (2 * i + side) + side;
}

void cu_renumber_incidence(TalusEngine *e, int32_t *to)
{
    const CuList *list = cu_current_list(e);
    launch(e->cu, renumber_incidences, blocks_for(2 * (int64_t)list->counts.contacts), THREADS,
           *list, to);
}

/* ---- cohesion ---- */

/* gamma = minus the attractive impulse on the normal row of each contact, 0 on its other rows. */
static __global__ void write_attraction(CuLawInputs s, int rows, double *gamma)
{
    int64_t i = item_index();
    if (i >= s.list.counts.contacts)
        return;
    gamma[rows * i] = -cu_attractive_impulse(s, i);
    for (int k = 1; k < rows; k++)
        gamma[rows * i + k] = 0.0;
}

/* Writes the initial impulses of the contacts: impulse in the list, from which the attractive impulse was subtracted,
 * plus the attractive impulse of this step; normal impulses are at least 0. */
static __global__ void write_initial_impulses(CuLawInputs s, int rows, double *gamma)
{
    int64_t i = item_index();
    if (i >= s.list.counts.contacts)
        return;
    CuFrame f = s.list.frame[i];
    const double frame[4] = {f.x, f.y, f.z, f.w};
    double *g = gamma + rows * i;
    talus_contact_warm_start(frame, rows, s.options.impulse_ratio, s.list.impulse[i], g);
    g[0] = fmax(0.0, g[0] + cu_attractive_impulse(s, i));
}

const CuRecord *cu_solved_records(const TalusEngine *e)
{
    return (const CuRecord *)cu_scratch_of(&e->step.op)->velocity.at;
}

/* v_f <- v_f - M^-1 D (c h e_n), where c h is the attractive impulse of a contact and e_n is 1 on its normal row.
 * Computed as v_f + M^-1 D gamma with gamma = -c h e_n; then gamma gets the initial impulses of the contacts. */
void cu_add_attraction(TalusEngine *e)
{
    CuStep *s = &e->step;
    const TalusOperator *op = &s->op;
    unsigned blocks = blocks_for(op->blocks);
    launch(e->cu, write_attraction, blocks, THREADS, cu_law_inputs(e), op->rows, s->gamma.at);
    cu_op_body_velocities(op, s->gamma, true, (double(*)[8])cu_solved_records(e));
    cu_copy(e->cu, op->body, cu_solved_records(e), (size_t)op->bodies * sizeof *op->body);
    launch(e->cu, write_initial_impulses, blocks, THREADS, cu_law_inputs(e), op->rows, s->gamma.at);
}
