/* backend/cpu/sweep_block.c - sweeps that solve the problem of one contact after the other (sets/one_contact.h).
 *
 * With g the gradient of a block and A its diagonal block of N + E, b = g - A gamma is the contact velocity without
 * the block's own impulse. The solver's result replaces gamma, and the contacts that follow see the change at once.
 * Orders, colours and loops are those of sweep_sparse.c, where contacts of heavy bodies are swept in sequence. Between
 * spheres A is diagonal and all solvers give the same result: under ccp the projection in the metric A; under other
 * laws each component is computed by itself, then bounded. If all contacts are of spheres under Coulomb's law on the
 * disc, and no body is heavy, a coloured sweep is done by sweep.c, whose projected step with options.coulomb gives the
 * same result. */
#include "backend/cpu/sweep.h"

#include "backend/frame.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "sets/one_solve.h"

/* ---- the contacts ---- */

/* Returns the law by which block i is solved: `fixed` for Coulomb's if its bounds come from estimates (op->prisms). */
static TalusFrictionLaw law_of(const TalusOperator *op, int i)
{
    TalusFrictionLaw law = op->model ? (TalusFrictionLaw)op->model[i].law : TALUS_LAW_CCP;
    return law == TALUS_LAW_COULOMB && op->prisms ? TALUS_LAW_FIXED : law;
}

/* Fills *one, the data of block i's own problem. Fails if the block has friction that options.local does not take. */
static TalusStatus fill_one_contact(const TalusSweep *sweep, int i, TalusOneContact *one)
{
    const TalusOperator *op = sweep->op;
    one->mu = op->rows == 1 ? 0.0 : op->mu[i];
    one->law = law_of(op, i);
    one->section = op->model ? (TalusSection)op->model[i].section : TALUS_SECTION_DISC;
    one->friction_bound = one->law == TALUS_LAW_FIXED ? one->mu * op->estimate[i] : 0.0;
    talus_sweep_get_block(op, i, one->a);
    if (one->mu > 0.0 && !talus_one_takes(sweep->options.local, one->law, one->section))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "sweep: contact %d is under law %s on the section %s, which this solver "
                          "of one contact does not take",
                          i, talus_law_name(one->law), talus_section_name(one->section));
    return TALUS_OK;
}

/* Fills *item for block i; of an explicit operator only the fields that LocalItem names. */
static TalusStatus fill_local(const TalusSweep *sweep, int i, LocalItem *item)
{
    const TalusOperator *op = sweep->op;
    TALUS_TRY(fill_one_contact(sweep, i, &item->one));
    item->block = i;
    item->scale = talus_block_scale(op, i);
    item->mu = item->one.mu;
    item->friction_bound = item->one.friction_bound;
    item->inv_n = 1.0 / item->one.a[0][0];
    item->inv_t = 1.0 / item->one.a[1][1];
    if (!op->pair)
        return TALUS_OK;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    item->round = general < 0;
    for (int c = 0; c < 3; c++) {
        item->arm_a[c] = general >= 0 ? op->arm[general][c] : op->frame[i][c];
        item->arm_b[c] = general >= 0 ? op->arm[general][3 + c] : -op->frame[i][c];
    }
    memcpy(item->frame, op->frame[i], sizeof item->frame);
    item->bias = op->bias[i];
    item->slip[0] = op->slip ? op->slip[i][0] : 0.0;
    item->slip[1] = op->slip ? op->slip[i][1] : 0.0;
    item->compliance = op->compliance ? op->compliance[i] : 0.0;
    item->a = op->pair[i][0];
    item->b = op->pair[i][1];
    return TALUS_OK;
}

/* ---- one contact ---- */

/* gamma = old + rho (next - old); writes gamma - old to `change`. Returns the squared velocity change. */
static double relax_impulse(const TalusSweepOptions *o, const LocalItem *item, int rows,
                            const double old[3], const double next[3], double *gamma,
                            double change[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        change[k] = o->rho * (next[k] - old[k]);
        sum += change[k] * change[k];
    }
    for (int k = 0; k < rows; k++)
        gamma[k] = o->rho == 1.0 ? next[k] : old[k] + change[k];
    return item->scale * item->scale * sum;
}

/* old = the block's impulse, with 0 in the tangential rows if it has one row. */
static void load_three_rows(const double *gamma, int rows, double old[3])
{
    old[0] = gamma[0];
    old[1] = rows == 3 ? gamma[1] : 0.0;
    old[2] = rows == 3 ? gamma[2] : 0.0;
}

/* Solves the block's own problem at the gradient g and writes the new impulse to gamma, its change to `change`. The
 * change is multiplied by omega, after which, if omega is not 1, the impulse is restricted to its bounds again; then
 * relax_impulse. Returns the squared velocity change. */
static double solve_item(const TalusSweepOptions *o, const LocalItem *item, int rows,
                         const double g[3], double *gamma, double change[3])
{
    double old[3], b[3], next[3];
    load_three_rows(gamma, rows, old);
    load_three_rows(gamma, rows, next);
    for (int k = 0; k < 3; k++)
        b[k] = g[k] - talus_one_dot(item->one.a[k], old);
    talus_one_solve(o->local, &item->one, b, next);
    if (o->omega != 1.0) {
        for (int k = 0; k < 3; k++)
            next[k] = old[k] + o->omega * (next[k] - old[k]);
        talus_one_restrict(&item->one, next);
    }
    return relax_impulse(o, item, rows, old, next, gamma, change);
}

/* As solve_item, for spheres, whose block A is diagonal: adds -omega A^-1 g to the impulse, then projects in the
 * metric A (ccp) or restricts to the bounds (other laws). */
static double solve_round_item(const TalusSweepOptions *o, const LocalItem *item, int rows,
                               const double g[3], double *gamma, double change[3])
{
    double old[3], next[3];
    load_three_rows(gamma, rows, old);
    next[0] = old[0] - o->omega * item->inv_n * g[0];
    next[1] = rows == 3 ? old[1] - o->omega * item->inv_t * g[1] : 0.0;
    next[2] = rows == 3 ? old[2] - o->omega * item->inv_t * g[2] : 0.0;
    if (item->one.law == TALUS_LAW_CCP)
        talus_project_cone(item->mu, item->mu * (item->inv_n / item->inv_t), &next[0], &next[1],
                           &next[2]);
    else
        talus_one_restrict(&item->one, next);
    return relax_impulse(o, item, rows, old, next, gamma, change);
}

/* Solves the own problem of a general contact and applies the change of its impulse to the bodies. Returns the squared
 * velocity change. */
static double general_step(TalusSweep *sweep, const LocalItem *item)
{
    const TalusOperator *op = sweep->op;
    double *a = sweep->velocity[item->a], *b = item->b >= 0 ? sweep->velocity[item->b] : NULL;
    double *gamma = sweep->gamma + item->block * op->rows, world[3], g[3], change[3], turn[3];
    talus_cross3(a + 4, item->arm_a, turn);
    for (int k = 0; k < 3; k++)
        world[k] = -a[k] - turn[k];
    if (b) {
        talus_cross3(b + 4, item->arm_b, turn);
        for (int k = 0; k < 3; k++)
            world[k] += b[k] + turn[k];
    }
    talus_frame_to_local(item->frame, world, g);
    g[0] += item->bias + item->compliance * gamma[0];
    g[1] += item->slip[0];
    g[2] += item->slip[1];
    double moved = solve_item(&sweep->options, item, op->rows, g, gamma, change);
    talus_frame_to_world(item->frame, change, world);
    talus_body_add_impulse(op, item->a, -1.0, item->arm_a, world, a);
    if (b)
        talus_body_add_impulse(op, item->b, 1.0, item->arm_b, world, b);
    return moved;
}

/* As general_step, for a contact of spheres: the arms are n and -n, and a body's spin changes by k times the torque
 * (operator.h). */
static double round_step(TalusSweep *sweep, const LocalItem *item)
{
    const int rows = sweep->op->rows;
    double *a = sweep->velocity[item->a], *b = item->b >= 0 ? sweep->velocity[item->b] : NULL;
    double *gamma = sweep->gamma + item->block * rows, world[3], g[3], change[3], turn[3], spin[3];
    for (int k = 0; k < 3; k++)
        spin[k] = a[4 + k] + (b ? b[4 + k] : 0.0);
    talus_cross3(spin, item->frame, turn);
    for (int k = 0; k < 3; k++)
        world[k] = (b ? b[k] : 0.0) - a[k] - turn[k];
    talus_frame_to_local(item->frame, world, g);
    g[0] += item->bias + item->compliance * gamma[0];
    g[1] += item->slip[0];
    g[2] += item->slip[1];
    double moved = solve_round_item(&sweep->options, item, rows, g, gamma, change);
    talus_frame_to_world(item->frame, change, world);
    talus_cross3(item->frame, world, turn);
    for (int k = 0; k < 3; k++) {
        a[k] -= a[3] * world[k];
        a[4 + k] -= a[7] * turn[k];
    }
    for (int k = 0; k < 3 && b; k++) {
        b[k] += b[3] * world[k];
        b[4 + k] -= b[7] * turn[k];
    }
    return moved;
}

/* Solves the own problem of the contact sweep->local[place]. Returns the squared velocity change. */
static double contact_step(TalusSweep *sweep, int place)
{
    const LocalItem *item = &sweep->local[place];
    return item->round ? round_step(sweep, item) : general_step(sweep, item);
}

/* As general_step, for a block of an explicit matrix, which has no bodies. */
static double matrix_step(TalusSweep *sweep, int place)
{
    const TalusOperator *op = sweep->op;
    const LocalItem *item = &sweep->local[place];
    int first = item->block * op->rows;
    double g[3] = {0.0, 0.0, 0.0}, change[3];
    talus_cpu_sparse_product(op, sweep->gamma, item->block, item->block + 1, g);
    for (int k = 0; k < op->rows; k++)
        g[k] += op->offset[first + k];
    return solve_item(&sweep->options, item, op->rows, g, sweep->gamma + first, change);
}

/* True for a coloured sweep over contacts that are all of spheres, under Coulomb's law on the disc, and not heavy. */
static bool fits_packs(const TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    const uint32_t exact = TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    if (!op->pair || talus_has_general(op) || op->mixed_sets || op->kinds != exact ||
        sweep->options.order != TALUS_ORDER_COLOURED)
        return false;
    bool heavy = false;
    for (int i = 0; i < op->bodies; i++)
        heavy = heavy || talus_body_is_heavy(op, i);
    return !talus_comm_any(talus_operator_comm(op), heavy);
}

/* Fills the items in the order in which they are visited. */
static TalusStatus fill_locals(TalusSweep *sweep)
{
    TALUS_TRY(TALUS_GROW(sweep->local, (size_t)sweep->op->blocks, 0, "contacts"));
    for (int k = 0; k < sweep->op->blocks; k++) {
        TALUS_TRY(fill_local(sweep, sweep->order[k], &sweep->local[k]));
        sweep->order[k] = k; /* items are stored in visiting order */
    }
    return TALUS_OK;
}

TalusStatus talus_sweep_prepare_local(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    if (op->rows > 3)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "sweep: solvers of one contact take 1 or 3 rows; this problem has 6, for "
                          "spinning and rolling friction: gs takes it");
    sweep->packed = fits_packs(sweep);
    if (sweep->packed) {
        sweep->options.coulomb = true;
        return talus_sweep_fill_items(sweep, gamma);
    }
    TALUS_TRY(talus_sweep_prepare_by_block(sweep, gamma));
    TALUS_TRY(talus_comm_agree(talus_operator_comm(op), fill_locals(sweep)));
    sweep->step = op->pair ? contact_step : matrix_step;
    return TALUS_OK;
}
