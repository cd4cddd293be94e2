/* engine/cuda/halo.cu - on several ranks: what the problem of a step exchanges, and what detections need of other ranks.
 *
 * As in engine/cpu/halo.c: the slots behind this rank's own have the bodies that may touch them, and those of them that
 * have contacts are the halo of the problem. All ranks choose the same grid (grid.cu), so that the bodies and contacts
 * of a rank are in the order that they have on one rank. All ranks have all joints and copies of their bodies, as there;
 * sums are exact, so that each block of a joint may be counted by the owner of its first body, as those of contacts. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/engine.h"

extern "C" {
#include "backend/part.h"
}

#include <inttypes.h>

/* ---- numbers of all ranks ---- */

/* Total 0: number of contacts whose first body is this rank's; total 1: of general ones among them. */
static __global__ void count_own(CuTallies tallies, double *totals, CuList list, int own)
{
    const int64_t spheres = list.counts.sphere_sphere + list.counts.sphere_fixed;
    sum_items<2, 0>(tallies, totals, 0, list.counts.contacts, 0.0, [&](int64_t i, double(&v)[2]) {
        v[0] = (int)list.slot[list.pair[i].x] < own;
        v[1] = i >= spheres ? v[0] : 0.0;
    });
}

TalusStatus cu_count_all_contacts(TalusEngine *e)
{
    const CuList *list = cu_current_list(e);
    int64_t *all = e->all_contacts;
    double found[2];
    all[0] = list->counts.contacts;
    all[1] = list->counts.general;
    if (!e->comm)
        return TALUS_OK;
    launch_own_sums(e->cu, count_own, list->counts.contacts, e->cu->totals, *list, e->bodies.own);
    cu_totals_get(e->cu, 2, found);
    TALUS_TRY(talus_comm_agree(e->comm, cu_check(e->cu)));
    all[0] = (int64_t)found[0];
    all[1] = (int64_t)found[1];
    TALUS_TRY(talus_comm_add_counts(e->comm, all, 2));
    if (all[0] > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "contacts: %" PRId64 " are more than %d", all[0],
                          INT32_MAX);
    return TALUS_OK;
}

/* ---- the halo of a problem ---- */

/* touched[k] = 1 if impulses of contacts or joints move the body in slot own + k. start: TalusOperator.incidence_start. */
static __global__ void mark_touched(CuList list, const int32_t *start, int own, int halo,
                                    uint8_t *touched)
{
    int64_t k = item_index();
    if (k >= halo)
        return;
    const int32_t p = list.problem_index[own + k];
    touched[k] = p >= 0 && start[p + 1] > start[p];
}

/* Replaces slots by the problem indices of their bodies. */
static __global__ void number_slots(CuList list, int count, int32_t *slot)
{
    int64_t k = item_index();
    if (k < count)
        slot[k] = list.problem_index[slot[k]];
}

static TalusStatus replace_slots(TalusEngine *e, int32_t *slot, int count)
{
    TALUS_TRY(cu_upload(e, &e->subset, slot, count, "bodies of the halo"));
    launch(e->cu, number_slots, blocks_for(count), THREADS, *cu_current_list(e), count,
           e->subset.at);
    cu_get(e->cu, slot, e->subset, (size_t)count * sizeof *slot);
    return TALUS_OK;
}

/* Writes the owners of the bodies whose velocities are exchanged; all others count as this rank's own. */
static TalusStatus find_owners(TalusEngine *e, int32_t *owner)
{
    const int own = e->bodies.own, halo = e->bodies.slots - own;
    uint8_t *touched;
    TALUS_TRY(TALUS_ALLOC(touched, (size_t)halo + 1, "owners"));
    TalusStatus status = e->dropped.reserve(halo, "owners");
    if (status == TALUS_OK) {
        launch(e->cu, mark_touched, blocks_for(halo), THREADS, *cu_current_list(e),
               (const int32_t *)e->step.op.incidence_start, own, halo, e->dropped.at);
        cu_get(e->cu, touched, e->dropped, (size_t)halo);
        for (int i = 0; i < own + halo; i++)
            owner[i] = i >= own && touched[i - own] ? e->owner[i - own] : talus_comm_rank(e->comm);
    }
    talus_release(touched);
    return status;
}

/* Makes op->halo, by slots but for the bodies that are sent and received. */
static TalusStatus create_halo(TalusEngine *e, int32_t *owner)
{
    TalusHalo **halo = &e->step.op.halo;
    TALUS_TRY(talus_comm_agree(e->comm, find_owners(e, owner)));
    TalusHaloBodies bodies = {};
    bodies.count = e->bodies.slots;
    bodies.number = e->id;
    bodies.owner = owner;
    bodies.order = e->at_rank;
    bodies.everywhere = cu_joint_block_count(e) > 0; /* each rank eliminates all joints */
    TALUS_TRY(talus_halo_create(e->comm, &bodies, sizeof(CuRecord), halo));
    TalusHalo *h = *halo;
    TalusStatus status = replace_slots(e, h->send_body, h->send_start[h->neighbours]);
    TALUS_THEN(status, replace_slots(e, h->receive_body, h->receive_start[h->neighbours]));
    return talus_comm_agree(e->comm, status);
}

void cu_clear_halo(TalusEngine *e)
{
    talus_halo_destroy(e->step.op.halo);
    e->step.op.halo = nullptr;
}

TalusStatus cu_link_problem(TalusEngine *e)
{
    int32_t *owner = nullptr;
    cu_clear_halo(e);
    if (!e->comm)
        return TALUS_OK;
    TalusStatus status = TALUS_ALLOC(owner, (size_t)e->bodies.slots + 1, "owners");
    status = talus_comm_agree(e->comm, status);
    TALUS_THEN(status, create_halo(e, owner));
    talus_release(owner);
    TALUS_TRY(status);
    TalusHalo *halo = e->step.op.halo;
    halo->bounded_joints = e->joints.bounded;
    halo->blocks = e->all_contacts[0] + e->joints.bounded;
    halo->general = e->step.op.rows == 6 ? halo->blocks : e->all_contacts[1] + e->joints.bounded;
    return TALUS_OK;
}
