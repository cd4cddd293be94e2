/* engine/cuda/halo.cu - on several ranks: what the problem of a step exchanges, and what detections need of other ranks.
 *
 * As in engine/cpu/halo.c: the slots behind this rank's own have the bodies that may touch them, and those of them that
 * have contacts are the halo of the problem. Other ranks may ask for the bodies of which they have copies: these and the
 * halo are the linked bodies, and a step goes over them alone, not over all bodies. All ranks choose the same grid (grid.cu), so that the bodies and contacts
 * of a rank are in the order that they have on one rank. All ranks have all joints and copies of their bodies, as there;
 * sums are exact, so that each block of a joint may be counted by the owner of its first body, as those of contacts. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/engine.h"

extern "C" {
#include "backend/part.h"
#include "base/runs.h"
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
    const int32_t p = own + k < list.slots ? list.problem_index[own + k] : -1;
    touched[k] = p >= 0 && start[p + 1] > start[p];
}

/* Replaces slots by the problem indices of their bodies. */
static __global__ void number_slots(CuList list, int count, int32_t *slot)
{
    int64_t k = item_index();
    if (k < count)
        slot[k] = list.problem_index[slot[k]];
}

/* Replaces indices of linked bodies by problem indices. */
static TalusStatus replace_bodies(TalusEngine *e, int32_t *body, int count)
{
    for (int k = 0; k < count; k++)
        body[k] = e->link.slot[body[k]];
    TALUS_TRY(cu_upload(e, &e->subset, body, count, "bodies of the halo"));
    launch(e->cu, number_slots, blocks_for(count), THREADS, *cu_current_list(e), count,
           e->subset.at);
    cu_get(e->cu, body, e->subset, (size_t)count * sizeof *body);
    return TALUS_OK;
}

/* ---- linked bodies ---- */

static int compare_slots(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the bodies in send[sends], ascending for each rank, each once, by slots, then those of the halo. */
static TalusStatus list_linked(TalusEngine *e, const int32_t *send, int sends)
{
    CuLink *link = &e->link;
    const int own = e->bodies.own;
    link->own = 0;
    if (sends > 0) {
        memcpy(link->slot, send, (size_t)sends * sizeof *send);
        TALUS_TRY(talus_sort_runs(link->slot, (size_t)sends, sizeof *send, compare_slots));
    }
    for (int k = 0; k < sends; k++)
        if (k == 0 || link->slot[k] != link->slot[link->own - 1])
            link->slot[link->own++] = link->slot[k];
    link->bodies = link->own;
    for (int i = own; i < e->bodies.slots; i++)
        link->slot[link->bodies++] = i;
    for (int k = 0; k < link->bodies; k++)
        link->number[k] = e->id[link->slot[k]];
    return TALUS_OK;
}

/* Puts the linked bodies in the order of their numbers. place[slots] is work space. */
static void order_linked(TalusEngine *e, int32_t *place)
{
    CuLink *link = &e->link;
    int at = 0;
    link->ordered = e->at_rank != nullptr;
    for (int k = 0; k < link->bodies; k++)
        place[link->slot[k]] = k + 1;
    for (int r = 0; link->ordered && r < e->bodies.slots; r++)
        if (place[e->at_rank[r]] > 0)
            link->order[at++] = (uint32_t)(place[e->at_rank[r]] - 1);
}

TalusStatus cu_link_bodies(TalusEngine *e, const TalusHaloLists *lists)
{
    CuLink *link = &e->link;
    const size_t most = (size_t)lists->sends + (size_t)(e->bodies.slots - e->bodies.own) + 1;
    int32_t *place;
    TALUS_TRY(TALUS_GROW(link->slot, most, 0, "bodies of the halo"));
    TALUS_TRY(TALUS_GROW(link->number, most, 0, "bodies of the halo"));
    TALUS_TRY(TALUS_GROW(link->order, most, 0, "bodies of the halo"));
    TALUS_TRY(TALUS_GROW(link->owner, most, 0, "bodies of the halo"));
    TALUS_TRY(TALUS_ALLOC(place, (size_t)e->bodies.slots + 1, "bodies of the halo"));
    TalusStatus status = list_linked(e, lists->send, lists->sends);
    if (status == TALUS_OK)
        order_linked(e, place);
    talus_release(place);
    return status;
}

void cu_link_clear(TalusEngine *e)
{
    CuLink *link = &e->link;
    for (void *array :
         {(void *)link->slot, (void *)link->number, (void *)link->order, (void *)link->owner})
        talus_release(array);
}

/* ---- creation ---- */

/* Sets touched[halo] of the halo's bodies, and the owners of linked bodies: all bodies that nothing touches count as this
 * rank's own. */
static TalusStatus find_owners(TalusEngine *e, uint8_t *touched)
{
    const int own = e->bodies.own, halo = e->bodies.slots - own;
    CuLink *link = &e->link;
    TALUS_TRY(e->dropped.reserve(halo, "owners"));
    launch(e->cu, mark_touched, blocks_for(halo), THREADS, *cu_current_list(e),
           (const int32_t *)e->step.op.incidence_start, own, halo, e->dropped.at);
    cu_get(e->cu, touched, e->dropped, (size_t)halo);
    for (int k = 0; k < link->bodies; k++) {
        const int of_halo = k - link->own;
        link->owner[k] =
            of_halo >= 0 && touched[of_halo] ? e->owner[of_halo] : talus_comm_rank(e->comm);
    }
    return TALUS_OK;
}

/* The operations of the problem ask by slots who owns a body. */
static TalusStatus mark_owned(const TalusEngine *e, TalusHalo *h, const uint8_t *touched)
{
    const int slots = e->bodies.slots, own = e->bodies.own;
    TALUS_TRY(TALUS_GROW(h->owned, (size_t)slots + 1, 0, "owners"));
    memset(h->owned, 1, (size_t)slots);
    for (int i = own; i < slots; i++)
        h->owned[i] = !touched[i - own];
    h->bodies = slots;
    return TALUS_OK;
}

/* Makes op->halo from the linked bodies. touched[halo] is work space. */
static TalusStatus create_halo(TalusEngine *e, uint8_t *touched)
{
    TalusHalo **halo = &e->step.op.halo;
    const CuLink *link = &e->link;
    TALUS_TRY(talus_comm_agree(e->comm, find_owners(e, touched)));
    TalusHaloBodies bodies = {};
    bodies.count = link->bodies;
    bodies.number = link->number;
    bodies.owner = link->owner;
    bodies.order = link->ordered ? link->order : nullptr;
    bodies.everywhere = cu_joint_block_count(e) > 0; /* each rank eliminates all joints */
    TALUS_TRY(talus_halo_create(e->comm, &bodies, sizeof(CuRecord), halo));
    TalusHalo *h = *halo;
    TalusStatus status = mark_owned(e, h, touched);
    TALUS_THEN(status, replace_bodies(e, h->send_body, h->send_start[h->neighbours]));
    TALUS_THEN(status, replace_bodies(e, h->receive_body, h->receive_start[h->neighbours]));
    return talus_comm_agree(e->comm, status);
}

void cu_clear_halo(TalusEngine *e)
{
    talus_halo_destroy(e->step.op.halo);
    e->step.op.halo = nullptr;
}

TalusStatus cu_link_problem(TalusEngine *e)
{
    uint8_t *touched = nullptr;
    cu_clear_halo(e);
    if (!e->comm)
        return TALUS_OK;
    TalusStatus status =
        TALUS_ALLOC(touched, (size_t)(e->bodies.slots - e->bodies.own) + 1, "owners");
    status = talus_comm_agree(e->comm, status);
    TALUS_THEN(status, create_halo(e, touched));
    talus_release(touched);
    TALUS_TRY(status);
    TalusHalo *halo = e->step.op.halo;
    halo->bounded_joints = e->joints.bounded;
    halo->blocks = e->all_contacts[0] + e->joints.bounded;
    halo->general = e->step.op.rows == 6 ? halo->blocks : e->all_contacts[1] + e->joints.bounded;
    return TALUS_OK;
}
