/* world/ledger.c - the contacts' side of the energy ledger.
 *
 * A step changes velocities twice, v -> v_f (gravity) -> v' (contacts), and the kinetic energy by
 *     h g' m (v + v_f)/2  +  sum over contacts of gamma' (u' + u_f)/2,     u = D' v,
 * exactly. The second sum is split into its normal and tangential parts. Of the normal part
 *     stabilisation = gamma_n max(0, -b_n)          the work at the speed that undoes overlap,
 *     impact        = the rest: -gamma_n (u'_n - u_f,n)/2 for a contact that ends at
 *                     u'_n = -b_n: the loss of an inelastic impact, never positive.
 * A contact that rebounds (restitution) has what it gives back in impact: -gamma_n (1 - e) |u_f,n| / 2. A
 * cohesive contact has gamma_n and the attractive impulse c h beside it, whose work has a column of its
 * own; free velocities are those before it. Moments against spinning and rolling are friction.
 * The sums here are over contacts, those of integrate.c over bodies: that they agree to rounding
 * (`imbalance`) is a check of the operator and of the solver's velocities, in every step.
 *
 * Per contact with an impulse: two gathers of 64 bytes and about 60 flops; a contact without one
 * costs its gamma alone. */
#include "world/internal.h"

typedef struct LedgerContext {
    TalusWorld *world;
    const TalusOperator *op;
    const double *gamma;
} LedgerContext;

static double pull_of(const LedgerContext *c, int64_t i)
{
    return c->world->materials.any_cohesion ? talus_contact_attraction(c->world, i) : 0.0;
}

/* The offset by which an overlap is undone, which is not that of a contact that rebounds. */
static double recovery_of(const LedgerContext *c, int64_t i)
{
    const TalusWorld *world = c->world;
    const TalusContact *contact = &world->contacts->contact[i];
    if (!(contact->gap < 0.0))
        return 0.0;
    if (!world->materials.any_restitution)
        return c->op->bias[i];
    const TalusBuildOptions *o = &world->built;
    const TalusLaw *law = talus_law(world, (int)contact->a, (int)contact->b);
    return talus_contact_bias(law, o->h, o->recovery, o->scale, contact->gap,
                              talus_contact_size(&world->bodies, contact));
}

void talus_sum_partials(const TalusWorld *world, int64_t count, int columns, double *sum)
{
    for (int j = 0; j < columns; j++)
        sum[j] = 0.0;
    for (int64_t i = 0; i < talus_chunks(count, TALUS_GRAIN); i++)
        for (int j = 0; j < columns; j++)
            sum[j] += world->partial[i][j];
}

static void store_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusVec3 normal = c->world->contacts->contact[i].normal;
        TalusVec3 impulse = talus_block_impulse(c->op, c->gamma, i);
        double pull = pull_of(c, i);
        c->world->contacts->impulse[i] = pull > 0.0 ? talus_madd(impulse, -pull, normal) : impulse;
    }
}

void talus_store_impulses(TalusWorld *world)
{
    LedgerContext c = {world, talus_problem_operator(world->problem),
                       talus_problem_gamma(world->problem)};
    talus_parallel(world->pool, world->contacts->count, TALUS_GRAIN, store_impulses, &c);
}

static void contact_works(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    const TalusContactList *list = c->world->contacts;
    double sum[TALUS_WORK_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        list->impulse[i] =
            talus_block_work(c->op, c->gamma, i, recovery_of(c, i), pull_of(c, i), sum);
    for (int j = 0; j < TALUS_WORK_SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

void talus_ledger_contacts(TalusWorld *world)
{
    LedgerContext c = {world, talus_problem_operator(world->problem),
                       talus_problem_gamma(world->problem)};
    int64_t count = world->contacts->count;
    talus_parallel(world->pool, count, TALUS_GRAIN, contact_works, &c);
    double sum[TALUS_WORK_SUMS];
    talus_sum_partials(world, count, TALUS_WORK_SUMS, sum);
    TalusLedger *ledger = &world->info.ledger;
    ledger->friction += sum[TALUS_WORK_TANGENTIAL];
    ledger->stabilisation += sum[TALUS_WORK_STABILISATION];
    ledger->impact += sum[TALUS_WORK_NORMAL] - sum[TALUS_WORK_STABILISATION];
    ledger->cohesion += sum[TALUS_WORK_COHESION];
}

void talus_ledger_close(TalusWorld *world)
{
    TalusLedger *l = &world->info.ledger;
    /* before arrivals join: next to the energy of bodies that came, rounding says nothing */
    l->imbalance = l->kinetic_change + l->potential_change -
                   (l->friction + l->impact + l->stabilisation + l->cohesion + l->gravity_error +
                    l->spin + l->joints + l->driven + l->applied + l->projection + l->exchange);
    l->kinetic_change += world->exchange_kinetic;
    l->potential_change += world->exchange_potential;
    l->exchange += world->exchange_kinetic + world->exchange_potential;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}
