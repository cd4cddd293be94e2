/* engine/cpu/halo.c - on several ranks: what the problem of a step exchanges.
 *
 * The slots behind this rank's own have the bodies that may touch them (world/ranks). Products need the velocities of
 * those alone that have contacts and are moved by impulses. A contact of two ranks is in the lists of both, so that each
 * has bodies that the other needs. */
#include "engine/cpu/engine.h"

#include "comm/halo.h"

/* Writes the owners of the bodies whose velocities are exchanged; all others count as this rank's own. */
static void find_owners(const CpuEngine *e, int32_t *owner)
{
    const TalusBodyArrays *b = &e->bodies;
    const int own = cpu_own_slots(e), rank = talus_comm_rank(b->comm);
    for (int i = 0; i < b->slots; i++)
        owner[i] = rank;
    for (int i = 0; i < e->contacts->count; i++) {
        const TalusContact *c = &e->contacts->contact[i];
        const uint32_t body[2] = {c->a, c->b};
        for (int side = 0; side < 2; side++)
            if ((int)body[side] >= own && cpu_is_free(e, body[side]))
                owner[body[side]] = b->owner[(int)body[side] - own];
    }
}

/* Sets the numbers of the halo that concern all ranks. */
static TalusStatus count_all(const CpuEngine *e, TalusHalo *halo)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    int64_t count[3] = {0};
    for (int i = 0; i < op->blocks; i++) {
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
    TALUS_TRY(talus_comm_agree(b->comm, TALUS_ALLOC(owner, (size_t)b->slots + 1, "owners")));
    find_owners(e, owner);
    const TalusHaloBodies bodies = {b->slots, b->id, owner, b->at_rank};
    TalusStatus status = talus_halo_create(b->comm, &bodies, sizeof *op->body, &op->halo);
    talus_release(owner);
    return status == TALUS_OK ? count_all(e, op->halo) : status;
}
