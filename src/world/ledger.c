/* world/ledger.c - the contacts' side of the energy ledger.
 *
 * A step changes velocities twice, v -> v_f (gravity) -> v' (contacts), and the kinetic energy by
 *     h g' m (v + v_f)/2  +  sum over contacts of gamma' (u' + u_f)/2,     u = D' v,
 * exactly. The second sum is split into its normal and tangential parts. Of the normal part
 *     stabilisation = gamma_n max(0, -b_n)          the work at the speed that undoes overlap,
 *     impact        = the rest: -gamma_n (u'_n - u_f,n)/2 for a contact that ends at
 *                     u'_n = -b_n: the loss of an inelastic impact, never positive.
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

enum { NORMAL, TANGENTIAL, STABILISATION, SUMS };

void talus_sum_partials(const TalusWorld *world, int64_t count, int columns, double *sum)
{
    for (int j = 0; j < columns; j++)
        sum[j] = 0.0;
    for (int64_t i = 0; i < talus_chunks(count, TALUS_GRAIN); i++)
        for (int j = 0; j < columns; j++)
            sum[j] += world->partial[i][j];
}

static void mean_velocity(const LedgerContext *c, int body, TalusVec3 *v, TalusVec3 *s)
{
    *v = *s = talus_vec3(0.0, 0.0, 0.0);
    if (body < 0)
        return;
    const double *r = c->op->body[body]; /* integrate.c has put the mean there */
    *v = talus_vec3(r[0], r[1], r[2]);
    *s = talus_vec3(r[4], r[5], r[6]);
}

/* (u' + u_f)/2 of contact i, in its frame. */
static void mean_contact_velocity(const LedgerContext *c, int64_t i, double local[3])
{
    const TalusOperator *op = c->op;
    TalusVec3 va, sa, vb, sb;
    mean_velocity(c, op->pair[i][0], &va, &sa);
    mean_velocity(c, op->pair[i][1], &vb, &sb);
    const double *n = op->frame[i];
    TalusVec3 arm_a = talus_vec3(n[0], n[1], n[2]), arm_b = talus_neg(arm_a);
    int64_t general = i - op->sphere_sphere - op->sphere_fixed;
    if (general >= 0) {
        const double *arm = op->arm[general];
        arm_a = talus_vec3(arm[0], arm[1], arm[2]);
        arm_b = talus_vec3(arm[3], arm[4], arm[5]);
    }
    TalusVec3 u =
        talus_sub(talus_add(vb, talus_cross(sb, arm_b)), talus_add(va, talus_cross(sa, arm_a)));
    double world[3] = {u.x, u.y, u.z};
    talus_frame_local(n, world, local);
}

/* gamma of contact i, three entries whatever the rows. */
static void read_gamma(const LedgerContext *c, int64_t i, double gamma[3])
{
    const double *g = &c->gamma[c->op->rows * i];
    gamma[0] = g[0];
    gamma[1] = c->op->rows == 3 ? g[1] : 0.0;
    gamma[2] = c->op->rows == 3 ? g[2] : 0.0;
}

static void store_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const LedgerContext *c = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double gamma[3], world[3];
        read_gamma(c, i, gamma);
        talus_frame_world(c->op->frame[i], gamma, world);
        c->world->contacts->impulse[i] = talus_vec3(world[0], world[1], world[2]);
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
    const TalusOperator *op = c->op;
    const TalusContactList *list = c->world->contacts;
    double sum[SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++) {
        double gamma[3];
        read_gamma(c, i, gamma);
        if (gamma[0] == 0.0 && gamma[1] == 0.0 && gamma[2] == 0.0) {
            list->impulse[i] = talus_vec3(0.0, 0.0, 0.0);
            continue;
        }
        double world[3], u[3];
        talus_frame_world(op->frame[i], gamma, world);
        list->impulse[i] = talus_vec3(world[0], world[1], world[2]);
        mean_contact_velocity(c, i, u);
        sum[NORMAL] += gamma[0] * u[0];
        sum[TANGENTIAL] += gamma[1] * u[1] + gamma[2] * u[2];
        if (list->contact[i].gap < 0.0 && op->bias[i] < 0.0)
            sum[STABILISATION] -= gamma[0] * op->bias[i];
    }
    for (int j = 0; j < SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

void talus_ledger_contacts(TalusWorld *world)
{
    LedgerContext c = {world, talus_problem_operator(world->problem),
                       talus_problem_gamma(world->problem)};
    int64_t count = world->contacts->count;
    talus_parallel(world->pool, count, TALUS_GRAIN, contact_works, &c);
    double sum[SUMS];
    talus_sum_partials(world, count, SUMS, sum);
    TalusLedger *ledger = &world->info.ledger;
    ledger->friction += sum[TANGENTIAL];
    ledger->stabilisation += sum[STABILISATION];
    ledger->impact += sum[NORMAL] - sum[STABILISATION];
}

void talus_ledger_close(TalusWorld *world)
{
    TalusLedger *l = &world->info.ledger;
    /* before the exchange joins: next to the energy of bodies that came, rounding says nothing */
    l->imbalance = l->kinetic_change + l->potential_change -
                   (l->friction + l->impact + l->stabilisation + l->gravity_error + l->spin);
    l->kinetic_change += world->exchange_kinetic;
    l->potential_change += world->exchange_potential;
    l->exchange = world->exchange_kinetic + world->exchange_potential;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}
