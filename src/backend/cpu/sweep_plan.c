/* backend/cpu/sweep_plan.c - layout of contacts for a Gauss-Seidel sweep.
 *
 * Coloured: sphere contacts with a colour go into packs of two by colour and run, so a sweep streams through memory and
 * fills both lanes; all other contacts become items. In sequence: every contact is an item. */
#include "backend/cpu/sweep.h"

#include "backend/frame.h"
#include "base/memory.h"
#include "base/status.h"

#include <talus/math.h>

/* A parallel loop that fills the plan of `sweep` from the impulses `in`, or reads its impulses into `out`. */
typedef struct Plan {
    TalusSweep *sweep;
    const double *in;
    double *out;
} Plan;

StepRule talus_step_rule(const TalusSweepOptions *options, int rows, double nn, double tt,
                         double coupling, double mu)
{
    double d = rows == 1   ? nn
               : rows == 6 ? (nn + 5.0 * tt) * (1.0 / 6.0)
                           : (nn + 2.0 * tt) * (1.0 / 3.0);
    double bn = coupling * (options->metric == TALUS_METRIC_TRACE ? d : nn);
    double bt = coupling * (options->metric == TALUS_METRIC_TRACE ? d : tt);
    StepRule rule = {.inv_n = options->omega / bn, .scale = d, .mantle = 1.0};
    if (rows > 1) {
        rule.inv_t = options->omega / bt;
        rule.mu = mu;
        rule.kappa = options->coulomb ? 0.0 : mu * (bt / bn);
        rule.mantle = 1.0 / (1.0 + mu * rule.kappa);
    }
    return rule;
}

/* Returns the step rule of contact i. */
static StepRule block_rule(const TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    return talus_step_rule(&sweep->options, op->rows, op->diagonal[i][0], op->diagonal[i][1],
                           general >= 0 ? op->coupling[general] : 1.0,
                           op->rows == 3 ? op->mu[i] : 0.0);
}

/* world = impulse of contact i in the world frame. */
static void write_world_impulse(const TalusOperator *op, const double *gamma, int i,
                                double world[3])
{
    const double *g = gamma + (size_t)op->rows * (size_t)i;
    double local[3] = {g[0], op->rows == 3 ? g[1] : 0.0, op->rows == 3 ? g[2] : 0.0};
    talus_frame_to_world(op->frame[i], local, world);
}

/* ---- packs ---- */

/* Fills lane k of a pack with contact i of a run of spheres. */
static void fill_lane(TalusSweep *sweep, SpherePack *pack, int k, int i, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    StepRule rule = block_rule(sweep, i);
    double world[3];
    write_world_impulse(op, gamma, i, world);
    for (int c = 0; c < 3; c++) {
        lane_set(&pack->normal[c], k, op->frame[i][c]);
        lane_set(&pack->gamma[c], k, world[c]);
    }
    lane_set(&pack->bias, k, op->bias[i]);
    lane_set(&pack->compliance, k, op->compliance ? op->compliance[i] : 0.0);
    lane_set(&pack->inv_n, k, rule.inv_n);
    lane_set(&pack->inv_t, k, rule.inv_t);
    lane_set(&pack->mu, k, rule.mu);
    lane_set(&pack->kappa, k, rule.kappa);
    lane_set(&pack->mantle, k, rule.mantle);
    lane_set(&pack->scale, k, rule.scale);
    pack->a[k] = op->pair[i][0];
    pack->b[k] = i < op->sphere_sphere ? op->pair[i][1] : op->bodies;
}

/* Fills lane 1, beside an odd last contact, with zeros and the dummy body, so that nothing there ever changes. */
static void fill_idle_lane(TalusSweep *sweep, SpherePack *pack)
{
    const Mask first = {-1, 0};
    Lane *const fields[] = {&pack->normal[0], &pack->normal[1], &pack->normal[2], &pack->gamma[0],
                            &pack->gamma[1],  &pack->gamma[2],  &pack->bias,      &pack->compliance,
                            &pack->inv_n,     &pack->inv_t,     &pack->mu,        &pack->kappa,
                            &pack->mantle,    &pack->scale};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        *fields[k] = (Lane)(first & (Mask)*fields[k]);
    pack->a[1] = pack->b[1] = sweep->op->bodies;
}

/* ---- items ---- */

/* Fills *item with contact i and its impulse, converted to the world frame. */
static void fill_item(TalusSweep *sweep, SweepItem *item, int i, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    write_world_impulse(op, gamma, i, item->gamma);
    for (int c = 0; c < 3; c++) {
        item->normal[c] = op->frame[i][c];
        item->arm_a[c] = general >= 0 ? op->arm[general][c] : op->frame[i][c];
        item->arm_b[c] = general >= 0 ? op->arm[general][3 + c] : -op->frame[i][c];
    }
    item->bias = op->bias[i];
    item->compliance = op->compliance ? op->compliance[i] : 0.0;
    item->rule = block_rule(sweep, i);
    item->a = op->pair[i][0];
    item->b = op->pair[i][1];
}

/* Adds `share` times one body's part of an item's diagonal entries to *nn (normal) and *tt (mean of the tangents). The
 * mean follows from the trace: with J = l^2 I^-1, the sum of (arm x e_k)'J(arm x e_k) over three orthogonal axes e_k
 * is |arm|^2 tr J - arm'J arm. */
static void add_body_diagonal(const TalusOperator *op, int body, double share,
                              const double normal[3], const double arm[3], double *nn, double *tt)
{
    double inv_mass = op->body[body][3], along = inv_mass, across = inv_mass + op->body[body][7];
    if (op->inverse_inertia) {
        TalusSym3 inv;
        memcpy(&inv, op->inverse_inertia[body], sizeof inv);
        TalusVec3 r = talus_vec3(arm[0], arm[1], arm[2]);
        TalusVec3 lever = talus_cross(r, talus_vec3(normal[0], normal[1], normal[2]));
        double turn = talus_dot(lever, talus_sym3_mul(inv, lever));
        double all =
            talus_dot(r, r) * (inv.xx + inv.yy + inv.zz) - talus_dot(r, talus_sym3_mul(inv, r));
        along = inv_mass + turn;
        across = inv_mass + 0.5 * (all - turn);
    }
    *nn += share * along;
    *tt += share * across;
}

/* Sets item->rule of a heavy item. Each body's mass is divided by the number of heavy items that share the body: then
 * all heavy items may change at once, and the objective still decreases. The metric B must bound the item's block A,
 * computed with divided masses and with the diagonal (nn, tt, tt). A <= 2 diag(A_nn, A_TT) for the tangential part
 * A_TT, and A_TT <= tr A_TT = 2 tt, so that B = diag(2 nn, 4 tt, 4 tt) does. Blocks of spheres and of one row are
 * diagonal: B = A. */
static void set_split_rule(TalusSweep *sweep, SweepItem *item, bool sphere)
{
    const TalusOperator *op = sweep->op;
    double nn = 0.0, tt = 0.0, mu = item->rule.mu;
    bool coupled = op->rows == 3 && !sphere;
    add_body_diagonal(op, item->a, sweep->split[item->a], item->normal, item->arm_a, &nn, &tt);
    if (item->b >= 0)
        add_body_diagonal(op, item->b, sweep->split[item->b], item->normal, item->arm_b, &nn, &tt);
    item->rule =
        talus_step_rule(&sweep->options, op->rows, (coupled ? 2.0 * nn : nn) + item->compliance,
                        coupled ? 4.0 * tt : tt, 1.0, mu);
}

/* ---- the coloured plan ---- */

/* Returns the index of the pack that holds a contact; its lane is place % LANES. */
static int pack_index(const TalusSweep *sweep, int class, int run, int place)
{
    return sweep->pack_start[class][run] + place / LANES;
}

/* Fills the pack lanes or items of contacts [begin, end). */
static void fill_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Plan *plan = context;
    TalusSweep *sweep = plan->sweep;
    const TalusColouring *c = &sweep->colouring;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++) {
        int class = c->class_of[i], place = c->place[i];
        int run = i < sweep->op->sphere_sphere ? 0 : 1;
        if (class < COLOURS && i < sweep->op->sphere_sphere + sweep->op->sphere_fixed)
            fill_lane(sweep, &sweep->pack[pack_index(sweep, class, run, place)], place % LANES, i,
                      plan->in);
        else
            fill_item(sweep, &sweep->item[sweep->item_start[class] + place], i, plan->in);
    }
}

/* Fills pack_start and item_start from the number of contacts of each class; an odd last contact takes a whole pack. */
static void fill_starts(TalusSweep *sweep)
{
    int packs = 0, items = 0;
    for (int class = 0; class < CLASSES; class ++) {
        const int *count = sweep->colouring.count[class];
        if (class < COLOURS) {
            sweep->pack_start[class][0] = packs;
            packs += (count[0] + LANES - 1) / LANES;
            sweep->pack_start[class][1] = packs;
            packs += (count[1] + LANES - 1) / LANES;
            sweep->pack_start[class][2] = packs;
        }
        sweep->item_start[class] = items;
        items += count[2];
    }
    sweep->item_start[CLASSES] = items;
}

/* Fills the idle lane of the last pack of every colour and run that has an odd number of contacts. */
static void fill_idle_lanes(TalusSweep *sweep)
{
    for (int class = 0; class < sweep->colouring.colours; class ++)
        for (int run = 0; run < 2; run++)
            if (sweep->colouring.count[class][run] % LANES)
                fill_idle_lane(sweep, &sweep->pack[sweep->pack_start[class][run + 1] - 1]);
}

/* Fills sweep->split with the number of heavy items that share each body, reserves sweep->change, and sets the step
 * rule of every heavy item. */
static TalusStatus split_heavy_bodies(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    int begin = sweep->item_start[CLASS_HEAVY], end = sweep->item_start[CLASSES];
    if (begin == end)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(sweep->split, (size_t)op->bodies, 0, "heavy bodies"));
    TALUS_TRY(TALUS_GROW(sweep->change, (size_t)(end - begin), 0, "heavy contacts"));
    memset(sweep->split, 0, (size_t)op->bodies * sizeof *sweep->split);
    for (int k = begin; k < end; k++) {
        sweep->split[sweep->item[k].a]++;
        if (sweep->item[k].b >= 0)
            sweep->split[sweep->item[k].b]++;
    }
    for (int i = 0; i < op->blocks; i++)
        if (sweep->colouring.class_of[i] == CLASS_HEAVY)
            set_split_rule(sweep, &sweep->item[begin + sweep->colouring.place[i]],
                           i < op->sphere_sphere + op->sphere_fixed);
    return TALUS_OK;
}

/* Makes the plan of coloured sweeps: colours, packs and items. */
static TalusStatus plan_colours(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    TALUS_TRY(talus_colour_contacts(op, &sweep->colouring));
    fill_starts(sweep);
    TALUS_TRY(
        TALUS_GROW(sweep->pack, (size_t)sweep->pack_start[COLOURS - 1][2], 0, "contact packs"));
    TALUS_TRY(TALUS_GROW(sweep->item, (size_t)sweep->item_start[CLASSES], 0, "contact items"));
    TALUS_TRY(talus_sweep_reserve_terms(sweep, LANES * (int64_t)sweep->pack_start[COLOURS - 1][2] +
                                                   sweep->item_start[CLASSES]));
    Plan plan = {sweep, gamma, NULL};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, fill_chunk, &plan);
    fill_idle_lanes(sweep);
    return split_heavy_bodies(sweep);
}

/* ---- in sequence ---- */

/* fill_item for contacts [begin, end), each the item of its own index. */
static void fill_items_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Plan *plan = context;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++)
        fill_item(plan->sweep, &plan->sweep->item[i], i, plan->in);
}

/* Makes the plan of sweeps in sequence: items and their order. */
static TalusStatus plan_sequence(TalusSweep *sweep, const double *gamma)
{
    size_t blocks = (size_t)sweep->op->blocks;
    TALUS_TRY(TALUS_GROW(sweep->item, blocks, 0, "contact items"));
    TALUS_TRY(TALUS_GROW(sweep->order, blocks, 0, "sweep order"));
    for (size_t i = 0; i < blocks; i++)
        sweep->order[i] = (int32_t)i;
    Plan plan = {sweep, gamma, NULL};
    talus_parallel(sweep->op->pool, sweep->op->blocks, BLOCK_GRAIN, fill_items_chunk, &plan);
    return TALUS_OK;
}

TalusStatus talus_sweep_fill_items(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    memset(sweep->velocity[op->bodies], 0, sizeof *sweep->velocity);
    return sweep->options.order == TALUS_ORDER_COLOURED ? plan_colours(sweep, gamma)
                                                        : plan_sequence(sweep, gamma);
}

/* ---- back ---- */

/* Writes the impulse of contact i, given in the world frame, to gamma, in the contact's frame. */
static void write_local_impulse(const TalusOperator *op, int i, const double world[3],
                                double *gamma)
{
    double local[3];
    talus_frame_to_local(op->frame[i], world, local);
    for (int k = 0; k < op->rows; k++)
        gamma[(size_t)op->rows * (size_t)i + (size_t)k] = local[k];
}

/* Writes the impulses of contacts [begin, end), from their packs or items, to plan->out. */
static void read_impulses_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Plan *plan = context;
    const TalusSweep *sweep = plan->sweep;
    const TalusOperator *op = sweep->op;
    const TalusColouring *c = &sweep->colouring;
    bool coloured = sweep->options.order == TALUS_ORDER_COLOURED;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++) {
        int class = coloured ? c->class_of[i] : 0;
        if (!coloured) {
            write_local_impulse(op, i, sweep->item[i].gamma, plan->out);
        } else if (class < COLOURS && i < op->sphere_sphere + op->sphere_fixed) {
            int run = i < op->sphere_sphere ? 0 : 1, k = c->place[i] % LANES;
            const SpherePack *pack = &sweep->pack[pack_index(sweep, class, run, c->place[i])];
            double world[3] = {pack->gamma[0][k], pack->gamma[1][k], pack->gamma[2][k]};
            write_local_impulse(op, i, world, plan->out);
        } else {
            write_local_impulse(op, i, sweep->item[sweep->item_start[class] + c->place[i]].gamma,
                                plan->out);
        }
    }
}

void talus_sweep_read_items(TalusSweep *sweep, double *gamma)
{
    Plan plan = {sweep, NULL, gamma};
    talus_parallel(sweep->op->pool, sweep->op->blocks, BLOCK_GRAIN, read_impulses_chunk, &plan);
}
