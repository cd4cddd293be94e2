/* engine/cpu/halo.c - on several ranks: what the problem of a step exchanges.
 *
 * The slots behind this rank's own have the bodies that may touch them (world/ranks). Products need the velocities of
 * those alone that have contacts and are moved by impulses. A contact of two ranks is in the lists of both, so that each
 * has bodies that the other needs. All ranks have all joints and copies of their bodies (world/joint): each eliminates
 * them from the same velocities. */
#include "engine/cpu/engine.h"

#include "comm/halo.h"

#include <math.h>

/* Writes the owners of the two bodies of a block, slots or -1. */
static void set_owners(const CpuEngine *e, const int32_t pair[2], int32_t *owner)
{
    const int own = cpu_own_slots(e);
    for (int side = 0; side < 2; side++)
        if (pair[side] >= own && cpu_is_free(e, pair[side]))
            owner[pair[side]] = e->bodies.owner[pair[side] - own];
}

/* Writes the owners of the bodies whose velocities are exchanged; all others count as this rank's own. */
static void find_owners(const CpuEngine *e, int32_t *owner)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    const int rank = talus_comm_rank(e->bodies.comm);
    for (int i = 0; i < e->bodies.slots; i++)
        owner[i] = rank;
    for (int i = 0; i < op->blocks; i++)
        set_owners(e, op->pair[i], owner);
}

/* Decides which rank counts joints: that which has the last contact of the list's last run, whose group joints
 * continue (backend/groups.h); the first one if that run is empty. */
static void choose_counter(const CpuEngine *e, TalusHalo *halo)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    double here = halo->comm->rank == 0 ? 0.0 : -1.0, last;
    for (int i = op->list_end[1]; i < e->contacts->count; i++)
        if (halo->owned[op->pair[i][0]])
            here = fmax(here, (double)e->bodies.id[op->pair[i][0]]);
    last = here;
    talus_comm_find_maxima(halo->comm, &last, 1);
    halo->bounded_joints = e->joints.bounded;
    halo->counts_joints = here == last;
}

/* Sets the numbers of the halo that concern all ranks. The first body of a block is free, also of a joint's
 * (world/joint/joint_build.c). */
static TalusStatus count_all(const CpuEngine *e, TalusHalo *halo)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    int64_t count[3] = {0};
    for (int i = 0; i < op->blocks - op->joints; i++) {
        const bool counts = halo->owned[op->pair[i][0]];
        count[0] += counts;
        count[1] += counts && i >= op->sphere_sphere + op->sphere_fixed;
        count[2] += op->rows > 1 && op->mu[i] > 0.0;
    }
    TALUS_TRY(talus_comm_add_counts(halo->comm, count, 3));
    halo->blocks = count[0];
    halo->general = count[1];
    halo->frictionless = count[2] == 0;
    return TALUS_OK;
}

TalusStatus cpu_link_problem(CpuEngine *e)
{
    const TalusBodyArrays *b = &e->bodies;
    TalusOperator *op = talus_problem_operator(e->problem);
    int32_t *owner;
    if (!b->comm)
        return TALUS_OK;
    TalusStatus status =
        talus_comm_agree(b->comm, TALUS_ALLOC(owner, (size_t)b->slots + 1, "owners"));
    if (status != TALUS_OK) {
        talus_release(owner);
        return status;
    }
    find_owners(e, owner);
    const TalusHaloBodies bodies = {.count = b->slots,
                                    .number = b->id,
                                    .owner = owner,
                                    .order = b->at_rank,
                                    .everywhere = e->joints.bounded + e->joints.free > 0};
    status = talus_halo_create(b->comm, &bodies, sizeof *op->body, &op->halo);
    talus_release(owner);
    TALUS_TRY(status);
    choose_counter(e, op->halo);
    return count_all(e, op->halo);
}
