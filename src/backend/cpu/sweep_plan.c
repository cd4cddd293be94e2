/* backend/cpu/sweep_plan.c - layout of contacts for a Gauss-Seidel sweep.
 *
 * Coloured: sphere contacts with a colour go into packs by colour and run, of two in double precision and of four in
 * single precision, so a sweep streams through memory and fills all lanes; in single precision general contacts do too,
 * where they are the most. All other contacts become items. In sequence: every contact is an item, in double
 * precision. */
#include "backend/cpu/sweep.h"

#include "backend/frame.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <talus/math.h>

/* A parallel loop that fills the plan of `sweep` from the impulses `in`, or reads its impulses into `out`. */
typedef struct Plan {
    TalusSweep *sweep;
    const double *in;
    double *out;
} Plan;

/* Returns the step rule of contact i. */
static inline StepRule block_rule(const TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    return talus_step_rule(&sweep->options, op->rows, op->diagonal[i][0], op->diagonal[i][1],
                           general >= 0 ? op->coupling[general] : 1.0,
                           op->rows == 3 ? op->mu[i] : 0.0);
}

/* world = impulse of contact i in the world frame. */
static inline void write_world_impulse(const TalusOperator *op, const double *gamma, int i,
                                       double world[3])
{
    const double *g = gamma + (size_t)op->rows * (size_t)i;
    double local[3] = {g[0], op->rows == 3 ? g[1] : 0.0, op->rows == 3 ? g[2] : 0.0};
    talus_frame_to_world(op->frame[i], local, world);
}

/* True if contact i is of a sphere and a fixed body. */
static bool is_sphere_fixed(const TalusOperator *op, int i)
{
    return i >= op->sphere_sphere && i < op->sphere_sphere + op->sphere_fixed;
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

/* Fills lane k of the slip of pack `index` with that of contact i, world frame. */
static void fill_slip_lane(TalusSweep *sweep, int index, int k, int i)
{
    const TalusOperator *op = sweep->op;
    double world[3];
    talus_slip_to_world(op, i, world);
    for (int c = 0; c < 3; c++)
        lane_set(&sweep->slip[index][c], k, world[c]);
}

/* Fills lane k of the arms of a pack with general contact i; u = its contact velocity at the start. */
static void fill_arms_lane(TalusSweep *sweep, PackArms *arms, int k, int i, double u[3])
{
    const TalusOperator *op = sweep->op;
    const double *arm = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    const int32_t *pair = op->pair[i];
    talus_sweep_general_velocity(sweep, pair, arm, arm + 3, u);
    for (int c = 0; c < 3; c++) {
        lane4_set(&arms->a[c], k, (float)arm[c]);
        lane4_set(&arms->b[c], k, (float)arm[3 + c]);
    }
    arms->moves[k] = (uint8_t)((talus_body_yields(op, pair[0]) ? PACK_MOVES_A : 0) |
                               (talus_body_yields(op, pair[1]) ? PACK_MOVES_B : 0));
}

/* fill_lane in single precision, in their units, with contact velocity u at the start. Returns a bound of the speeds
 * that are rounded. */
static double fill_single_lane(TalusSweep *sweep, SinglePack *pack, int k, int i, const double u[3],
                               const double *gamma)
{
    const TalusOperator *op = sweep->op;
    const SingleUnits *unit = &sweep->single.unit;
    const double per_impulse = unit->per_impulse, per_speed = unit->per_speed;
    const double per_mass = unit->per_inverse_mass;
    StepRule rule = block_rule(sweep, i);
    double world[3], own[3], impulses = 0.0, speeds = 0.0;
    write_world_impulse(op, gamma, i, world);
    talus_single_own_offset(op, i, own);
    for (int c = 0; c < 3; c++) {
        double offset = u[c] + own[c];
        lane4_set(&pack->normal[c], k, (float)op->frame[i][c]);
        lane4_set(&pack->gamma[c], k, (float)(per_impulse * world[c]));
        lane4_set(&pack->offset[c], k, (float)(per_speed * offset));
        impulses += fabs(world[c]);
        speeds += fabs(offset);
    }
    lane4_set(&pack->compliance, k, op->compliance ? (float)(per_mass * op->compliance[i]) : 0.0f);
    lane4_set(&pack->inv_n, k, (float)(unit->inverse_mass * rule.inv_n));
    lane4_set(&pack->inv_t, k, (float)(unit->inverse_mass * rule.inv_t));
    lane4_set(&pack->mu, k, (float)(rule.mu * SINGLE_MU));
    lane4_set(&pack->kappa, k, (float)rule.kappa);
    lane4_set(&pack->mantle, k, (float)rule.mantle);
    lane4_set(&pack->scale, k, (float)(per_mass * rule.scale));
    bool to_body = op->pair[i][1] >= 0 && !is_sphere_fixed(op, i);
    pack->a[k] = op->pair[i][0];
    pack->b[k] = to_body ? op->pair[i][1] : op->bodies;
    return fmax(speeds, rule.scale * impulses);
}

/* Empties pack `index`: zeros and the dummy body, so that nothing changes in lanes that stay without a contact. */
static void clear_pack(TalusSweep *sweep, int index)
{
    int32_t dummy = sweep->op->bodies;
    if (sweep->is_single) {
        SinglePack *pack = &sweep->single.pack[index];
        memset(pack, 0, sizeof *pack);
        for (int k = 0; k < LANES4; k++)
            pack->a[k] = pack->b[k] = dummy;
        if (sweep->packs_general)
            memset(&sweep->single.arms[index], 0, sizeof *sweep->single.arms);
    } else {
        SpherePack *pack = &sweep->pack[index];
        memset(pack, 0, sizeof *pack);
        if (sweep->slip)
            memset(sweep->slip[index], 0, sizeof sweep->slip[index]);
        for (int k = 0; k < LANES; k++)
            pack->a[k] = pack->b[k] = dummy;
    }
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
        item->offset[c] = 0.0;
    }
    item->bias = op->bias[i];
    item->compliance = op->compliance ? op->compliance[i] : 0.0;
    item->rule = block_rule(sweep, i);
    item->a = op->pair[i][0];
    item->b = op->pair[i][1];
    if (sweep->is_single)
        talus_sweep_general_velocity(sweep, op->pair[i], item->arm_a, item->arm_b, item->offset);
    if (op->slip) {
        double world[3];
        talus_slip_to_world(op, i, world);
        for (int c = 0; c < 3; c++)
            item->offset[c] += world[c];
    }
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

/* Returns the number of contacts in a pack. */
static int pack_width(const TalusSweep *sweep)
{
    return sweep->is_single ? LANES4 : LANES;
}

/* True if contact i of this class is in a pack, else it is an item. */
static bool is_packed(const TalusSweep *sweep, int class, int i)
{
    const TalusOperator *op = sweep->op;
    return class < COLOURS && (sweep->packs_general || i < op->sphere_sphere + op->sphere_fixed);
}

/* Returns the index of the pack that holds contact i; its lane is place % pack_width. */
static int pack_index(const TalusSweep *sweep, int i)
{
    const TalusColouring *c = &sweep->colouring;
    const TalusOperator *op = sweep->op;
    int run = i < op->sphere_sphere ? 0 : is_sphere_fixed(op, i) ? 1 : 2;
    return sweep->pack_start[c->class_of[i]][run] + c->place[i] / pack_width(sweep);
}

/* Fills the lane of contact i in its pack of single precision. Returns a bound of the speeds that are rounded. */
static double fill_single(TalusSweep *sweep, int i, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    int index = pack_index(sweep, i), k = sweep->colouring.place[i] % LANES4;
    double u[3];
    if (i < op->sphere_sphere + op->sphere_fixed)
        talus_single_contact_velocity(op, (const double(*)[8])sweep->velocity, i, u);
    else
        fill_arms_lane(sweep, &sweep->single.arms[index], k, i, u);
    return fill_single_lane(sweep, &sweep->single.pack[index], k, i, u, gamma);
}

/* Contacts between the one that is filled and the one whose second body is fetched: second bodies are scattered. */
enum { CONTACTS_AHEAD = 6 };

/* Fills the pack lanes or items of contacts [begin, end); stores the largest speed that is rounded. */
static void fill_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Plan *plan = context;
    TalusSweep *sweep = plan->sweep;
    const TalusColouring *c = &sweep->colouring;
    double largest = 0.0;
    for (int i = (int)begin; i < (int)end; i++) {
        int class = c->class_of[i], place = c->place[i];
        if (i + CONTACTS_AHEAD < (int)end && sweep->op->pair[i + CONTACTS_AHEAD][1] >= 0)
            __builtin_prefetch(sweep->velocity[sweep->op->pair[i + CONTACTS_AHEAD][1]]);
        if (!is_packed(sweep, class, i))
            fill_item(sweep, &sweep->item[sweep->item_start[class] + place], i, plan->in);
        else if (sweep->is_single)
            largest = fmax(largest, fill_single(sweep, i, plan->in));
        else
            fill_lane(sweep, &sweep->pack[pack_index(sweep, i)], place % LANES, i, plan->in);
        if (sweep->slip && !sweep->is_single && is_packed(sweep, class, i))
            fill_slip_lane(sweep, pack_index(sweep, i), place % LANES, i);
    }
    sweep->partial[chunk] = largest;
}

/* Sets whether general contacts are in packs: in single precision, if they are the most. Where they are few, items are
 * as good, and exact. */
static void set_packs_general(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    sweep->packs_general = sweep->is_single && op->inverse_inertia &&
                           2.0 * talus_all_general(op) > talus_all_blocks(op);
}

/* Fills pack_start and item_start from the number of contacts of each class; the last contacts of a class and run take
 * a whole pack. */
static void fill_starts(TalusSweep *sweep)
{
    const int width = pack_width(sweep);
    int packs = 0, items = 0;
    set_packs_general(sweep);
    for (int class = 0; class < CLASSES; class ++) {
        const int *count = sweep->colouring.count[class];
        if (class < COLOURS) {
            sweep->pack_start[class][0] = packs;
            packs += (count[0] + width - 1) / width;
            sweep->pack_start[class][1] = packs;
            packs += (count[1] + width - 1) / width;
            sweep->pack_start[class][2] = packs;
            packs += sweep->packs_general ? (count[2] + width - 1) / width : 0;
            sweep->pack_start[class][3] = packs;
        }
        sweep->item_start[class] = items;
        items += class < COLOURS && sweep->packs_general ? 0 : count[2];
    }
    sweep->item_start[CLASSES] = items;
}

/* Empties the last pack of every colour and run whose contacts do not fill it. */
static void clear_last_packs(TalusSweep *sweep)
{
    for (int class = 0; class < sweep->colouring.colours; class ++)
        for (int run = 0; run < (sweep->packs_general ? 3 : 2); run++)
            if (sweep->colouring.count[class][run] % pack_width(sweep))
                clear_pack(sweep, sweep->pack_start[class][run + 1] - 1);
}

/* True if there are heavy items, on any rank. */
static bool has_heavy(const TalusSweep *sweep)
{
    if (sweep->op->halo)
        return sweep->part->has_heavy;
    return sweep->item_start[CLASSES] > sweep->item_start[CLASS_HEAVY];
}

/* Reserves sweep->split and sweep->change if there are heavy items. */
static TalusStatus reserve_heavy(TalusSweep *sweep)
{
    int heavy = sweep->item_start[CLASSES] - sweep->item_start[CLASS_HEAVY];
    if (!has_heavy(sweep))
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(sweep->split, (size_t)sweep->op->bodies, 0, "heavy bodies"));
    return TALUS_GROW(sweep->change, (size_t)heavy, 0, "heavy contacts");
}

/* Fills sweep->split with the number of heavy items that share each body, and sets the step rule of every heavy
 * item. */
static void split_heavy_bodies(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    int begin = sweep->item_start[CLASS_HEAVY], end = sweep->item_start[CLASSES];
    if (!has_heavy(sweep))
        return;
    memset(sweep->split, 0, (size_t)op->bodies * sizeof *sweep->split);
    for (int k = begin; k < end; k++) {
        sweep->split[sweep->item[k].a]++;
        if (sweep->item[k].b >= 0)
            sweep->split[sweep->item[k].b]++;
    }
    talus_halo_exchange(op->halo, sweep->split, sizeof *sweep->split);
    for (int i = 0; i < op->blocks; i++)
        if (sweep->colouring.class_of[i] == CLASS_HEAVY)
            set_split_rule(sweep, &sweep->item[begin + sweep->colouring.place[i]],
                           i < op->sphere_sphere + op->sphere_fixed);
}

/* Returns the place of contact i in the terms of a sweep: those of packs come first. */
static int32_t term_place(const TalusSweep *sweep, int i)
{
    const TalusColouring *c = &sweep->colouring;
    const int class = c->class_of[i], width = pack_width(sweep);
    if (is_packed(sweep, class, i))
        return pack_index(sweep, i) * width + c->place[i] % width;
    return sweep->pack_start[COLOURS - 1][3] * width + sweep->item_start[class] + c->place[i];
}

/* On several ranks: lists the terms that others count, and the overflow items by level. Contacts of a class are numbered
 * in their order, so that `uncounted` can hold them meanwhile. */
static void list_for_part(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    SweepPart *part = sweep->part;
    int32_t *contact = part->uncounted;
    int overflow = 0, count = 0;
    for (int i = 0; i < op->blocks; i++)
        if (sweep->colouring.class_of[i] == CLASS_OVERFLOW)
            contact[overflow++] = i;
    talus_sweep_sort_tail(sweep, contact, overflow, sweep->item_start[CLASS_OVERFLOW]);
    for (int i = 0; i < op->blocks; i++)
        if (!talus_contact_counts(op, i))
            part->uncounted[count++] = term_place(sweep, i);
    part->uncounted_count = count;
}

/* Fills the packs and items of coloured sweeps from gamma and, in single precision, sweep->velocity; all memory is
 * reserved. */
static void fill_colours(TalusSweep *sweep, const double *gamma)
{
    Plan plan = {sweep, gamma, NULL};
    fill_starts(sweep);
    clear_last_packs(sweep);
    talus_parallel(sweep->op->pool, sweep->op->blocks, BLOCK_GRAIN, fill_chunk, &plan);
    sweep->single.bound = talus_cpu_find_maximum(
        sweep->op, talus_sweep_largest(sweep, talus_chunks(sweep->op->blocks, BLOCK_GRAIN)));
    split_heavy_bodies(sweep);
    if (sweep->op->halo)
        list_for_part(sweep);
}

/* Reserves the arrays of packs of general contacts, if there are such packs. */
static TalusStatus reserve_general_packs(TalusSweep *sweep, size_t packs)
{
    if (!sweep->packs_general)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(sweep->single.arms, packs, 0, "contact packs"));
    return TALUS_GROW(sweep->single.inertia, (size_t)sweep->op->bodies + 1, 0, "inverse inertias");
}

/* Reserves the arrays of coloured sweeps, in double precision and, if is_single, in single precision too. */
static TalusStatus reserve_colours(TalusSweep *sweep)
{
    const bool single = sweep->is_single;
    const size_t blocks = (size_t)sweep->op->blocks, bodies = (size_t)sweep->op->bodies;
    size_t single_packs = 0, single_terms = 0;
    if (single) {
        fill_starts(sweep);
        single_packs = (size_t)sweep->pack_start[COLOURS - 1][3];
        single_terms = LANES4 * single_packs + (size_t)sweep->item_start[CLASSES];
        TALUS_TRY(reserve_general_packs(sweep, single_packs));
    }
    sweep->is_single = false;
    fill_starts(sweep);
    size_t bytes = single_packs * sizeof(SinglePack);
    size_t packs = (size_t)sweep->pack_start[COLOURS - 1][3],
           items = (size_t)sweep->item_start[CLASSES];
    size_t terms = LANES * packs + items;
    size_t room = (bytes + sizeof *sweep->pack - 1) / sizeof *sweep->pack;
    TALUS_TRY(TALUS_GROW(sweep->pack, packs > room ? packs : room, 0, "contact packs"));
    TALUS_TRY(TALUS_GROW(sweep->item, items, 0, "contact items"));
    sweep->slip = NULL;
    if (sweep->op->slip) {
        TALUS_TRY(TALUS_GROW(sweep->slip_store, packs, 0, "contact packs"));
        sweep->slip = sweep->slip_store;
    }
    TALUS_TRY(
        talus_sweep_reserve_terms(sweep, (int64_t)(terms > single_terms ? terms : single_terms)));
    TALUS_TRY(reserve_heavy(sweep));
    if (!single)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(sweep->single.velocity, bodies + 1, 0, "velocity changes"));
    TALUS_TRY(TALUS_GROW(sweep->gamma, 3 * blocks, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(sweep->partial, 2 * (size_t)talus_chunks((int64_t)bodies, BODY_GRAIN), 0,
                         "partial sums"));
    sweep->single.pack = (void *)sweep->pack;
    sweep->single.term = (void *)sweep->term;
    sweep->is_single = true;
    set_packs_general(sweep);
    return TALUS_OK;
}

/* Exchanges the memory of the scratch's wrenches, which no one needs between operations, and that of the colouring. */
static void exchange_work(TalusSweep *sweep)
{
    TalusHostScratch *scratch = sweep->op->scratch;
    unsigned char *work = sweep->colouring.work;
    sweep->colouring.work = (unsigned char *)scratch->record;
    scratch->record = (double(*)[6])work;
}

TalusStatus talus_sweep_colour(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    /* a block that had to grow might be lost, and the scratch with it */
    const bool lend = talus_capacity(op->scratch->record) >= talus_colour_work_bytes(op);
    if (lend)
        exchange_work(sweep);
    TalusStatus status = talus_colour_contacts(op, &sweep->colouring);
    if (lend)
        exchange_work(sweep);
    return status;
}

/* Makes the plan of coloured sweeps: colours, packs and items; in single precision if options.single is set and some
 * contacts are of spheres or most are general. */
static TalusStatus plan_colours(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    TALUS_TRY(talus_sweep_colour(sweep));
    TALUS_TRY(talus_sweep_plan_part(sweep, true));
    const double general = talus_all_general(op);
    sweep->is_single = sweep->options.single &&
                       (talus_all_blocks(op) > general || (general > 0.0 && op->inverse_inertia));
    TALUS_TRY(talus_comm_agree(talus_operator_comm(op), reserve_colours(sweep)));
    if (sweep->is_single)
        talus_single_start(sweep);
    fill_colours(sweep, gamma);
    return TALUS_OK;
}

void talus_sweep_widen(TalusSweep *sweep)
{
    talus_sweep_read_items(sweep, sweep->gamma);
    talus_cpu_op_body_velocities(sweep->op, sweep->gamma, true, sweep->velocity);
    memset(sweep->velocity[sweep->op->bodies], 0, sizeof *sweep->velocity);
    sweep->is_single = false;
    fill_colours(sweep, sweep->gamma);
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
static inline void write_local_impulse(const TalusOperator *op, int i, const double world[3],
                                       double *gamma)
{
    double local[3];
    talus_frame_to_local(op->frame[i], world, local);
    for (int k = 0; k < op->rows; k++)
        gamma[(size_t)op->rows * (size_t)i + (size_t)k] = local[k];
}

/* Writes lane k of a pack in single precision as the impulse of contact i to gamma, in the contact's frame. */
static void write_single_impulse(const TalusSweep *sweep, int i, const SinglePack *pack, int k,
                                 double *gamma)
{
    const TalusOperator *op = sweep->op;
    const double unit = sweep->single.unit.impulse;
    double world[3], local[3];
    for (int c = 0; c < 3; c++)
        world[c] = unit * lane4_get(&pack->gamma[c], k);
    talus_frame_to_local(op->frame[i], world, local);
    gamma += (size_t)op->rows * (size_t)i;
    if (op->rows == 3)
        talus_single_keep_in_cone(op->mu[i], local);
    for (int row = 0; row < op->rows; row++)
        gamma[row] = local[row];
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
        int class = coloured ? c->class_of[i] : 0, place = coloured ? c->place[i] : 0;
        if (!coloured) {
            write_local_impulse(op, i, sweep->item[i].gamma, plan->out);
        } else if (!is_packed(sweep, class, i)) {
            write_local_impulse(op, i, sweep->item[sweep->item_start[class] + place].gamma,
                                plan->out);
        } else if (sweep->is_single) {
            write_single_impulse(sweep, i, &sweep->single.pack[pack_index(sweep, i)],
                                 place % LANES4, plan->out);
        } else {
            const SpherePack *pack = &sweep->pack[pack_index(sweep, i)];
            int k = place % LANES;
            double world[3] = {lane_get(&pack->gamma[0], k), lane_get(&pack->gamma[1], k),
                               lane_get(&pack->gamma[2], k)};
            write_local_impulse(op, i, world, plan->out);
        }
    }
}

void talus_sweep_read_items(TalusSweep *sweep, double *gamma)
{
    Plan plan = {sweep, NULL, gamma};
    talus_parallel(sweep->op->pool, sweep->op->blocks, BLOCK_GRAIN, read_impulses_chunk, &plan);
}
