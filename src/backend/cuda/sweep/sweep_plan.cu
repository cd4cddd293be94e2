/* backend/cuda/sweep/sweep_plan.cu - the plan of sweep.cu: copies of contacts and bodies in sweep order, and return of
 * the impulses. */
#include "backend/cuda/sweep/sweep.h"

/* Copies the contacts to the plan, in sweep order, impulses in the world frame. */
template <int ROWS>
static __global__ void fill_contacts(SweepPlan p, CuView<double> c, const uint32_t *contact,
                                     const double *gamma)
{
    int64_t at = item_index();
    if (at >= p.n)
        return;
    int64_t i = contact[at];
    double frame[4], local[3] = {0.0, 0.0, 0.0}, world[3];
    load_packs<4>(c.frame[i], frame);
    for (int k = 0; k < ROWS; k++)
        local[k] = gamma[i * ROWS + k];
    frame_world(frame, local, world);
    p.pair[at] = c.pair[i];
    for (int k = 0; k < 3; k++)
        p.normal[k * p.n + at] = frame[k];
    for (int k = 0; k < ROWS; k++)
        p.impulse[k * p.n + at] = ROWS == 1 ? local[k] : world[k];
    p.bias[at] = c.bias[i];
    if (ROWS == 3)
        p.mu[at] = c.mu[i];
    if (c.compliance)
        p.compliance[at] = c.compliance[i];
}

/* heavy_count[b] += 1 for each heavy contact of body b; place[i] = place of heavy contact i. */
static __global__ void count_heavy_contacts(SweepPlan p, int2 heavy, const uint32_t *contact,
                                            int32_t *heavy_count, uint32_t *place)
{
    int64_t at = heavy.x + item_index();
    if (at >= heavy.x + heavy.y)
        return;
    int2 pair = p.pair[at];
    place[contact[at]] = (uint32_t)at;
    atomicAdd(&heavy_count[pair.x], 1);
    if (pair.y >= 0)
        atomicAdd(&heavy_count[pair.y], 1);
}

/* Adds `share` times one body's part of a contact's diagonal entries, to *tt the mean of the two tangential ones. Over
 * three orthogonal axes e_k the sum of (arm x e_k)'I^-1(arm x e_k) is |arm|^2 tr I^-1 - arm'I^-1 arm. */
static __device__ inline void add_body_diagonal(const SweepPlan &p, int body, double share,
                                                const double n[3], const double arm[3], double *nn,
                                                double *tt)
{
    double inv_mass = p.velocity[body][3], along = inv_mass;
    double across = inv_mass + p.velocity[body][7];
    if (p.inverse_inertia) {
        const double *m = p.inverse_inertia[body];
        double lever[3], turned[3];
        cross(arm, n, lever);
        spin_change(p, body, 0.0, lever, 1.0, turned);
        double turn = dot(lever, turned);
        spin_change(p, body, 0.0, arm, 1.0, turned);
        double all = dot(arm, arm) * (m[0] + m[1] + m[2]) - dot(arm, turned);
        along = inv_mass + turn;
        across = inv_mass + 0.5 * (all - turn);
    }
    *nn += share * along;
    *tt += share * across;
}

/* Returns the step of a heavy contact, for which each body's mass is divided among the heavy contacts that share it:
 * then all may move at once and the objective still decreases. A block A with diagonal (nn, tt, tt) satisfies A <=
 * diag(2 nn, 4 tt, 4 tt); for spheres, and with one row, A is its diagonal. */
template <int ROWS>
static __device__ inline SweepStep heavy_step(const SweepPlan &p, const SweepContact<ROWS> &c,
                                              bool sphere, const double arm[6],
                                              const int32_t *heavy_count)
{
    double nn = 0.0, tt = 0.0;
    bool coupled = ROWS == 3 && !sphere;
    add_body_diagonal(p, c.pair.x, heavy_count[c.pair.x], c.n, arm, &nn, &tt);
    if (c.pair.y >= 0)
        add_body_diagonal(p, c.pair.y, heavy_count[c.pair.y], c.n, arm + 3, &nn, &tt);
    return make_step<ROWS>(p, (coupled ? 2.0 * nn : nn) + c.compliance, coupled ? 4.0 * tt : tt,
                           1.0, c.mu);
}

/* Fills arms and steps of the items of the plan. */
template <int ROWS>
static __global__ void fill_items(SweepPlan p, CuView<double> c, const double *coupling,
                                  const uint32_t *contact, const uint32_t *class_of,
                                  const int32_t *heavy_count)
{
    int64_t j = item_index(), items = p.n - p.first_item, at = p.first_item + j;
    if (j >= items)
        return;
    int64_t i = contact[at], general = i - c.spheres;
    SweepContact<ROWS> k = load_contact<ROWS>(p, at);
    double arm[6];
    for (int x = 0; x < 3; x++) {
        arm[x] = general >= 0 ? c.arm[general][x] : k.n[x];
        arm[3 + x] = general >= 0 ? c.arm[general][3 + x] : -k.n[x];
    }
    SweepStep s;
    if (class_of[i] == (CLASS_ITEM | CLASS_HEAVY))
        s = heavy_step<ROWS>(p, k, general < 0, arm, heavy_count);
    else
        s = make_step<ROWS>(p, c.diagonal[i][0], c.diagonal[i][1], coupling[general], k.mu);
    for (int x = 0; x < 6; x++)
        p.arm[x * items + j] = arm[x];
    p.step[j][0] = s.inv_n;
    p.step[j][1] = s.inv_t;
    p.step[j][2] = s.kappa;
    p.step[j][3] = s.scale;
}

/* Writes the impulses of the plan to gamma, in contact frames and in the order of contacts. */
template <int ROWS>
static __global__ void write_back_gamma(SweepPlan p, CuView<double> c, const uint32_t *contact,
                                        double *gamma)
{
    int64_t at = item_index();
    if (at >= p.n)
        return;
    int64_t i = contact[at];
    double frame[4], world[3] = {0.0, 0.0, 0.0}, local[3];
    for (int k = 0; k < ROWS; k++)
        world[k] = p.impulse[k * p.n + at];
    if (ROWS == 1) {
        gamma[i] = world[0];
        return;
    }
    load_packs<4>(c.frame[i], frame);
    frame_local(frame, world, local);
    for (int k = 0; k < ROWS; k++)
        gamma[i * ROWS + k] = local[k];
}

/* ---- the plan ---- */

/* Reserves the arrays of the plan and fills s->plan with their addresses and the options. */
static TalusStatus reserve_plan(TalusSweep *s)
{
    const TalusOperator *op = s->op;
    int64_t n = op->blocks, items = n - s->order.start[CLASS_ITEM];
    TALUS_TRY(s->pair.reserve(n, "contacts of the sweep"));
    TALUS_TRY(s->normal.reserve(3 * n, "contacts of the sweep"));
    TALUS_TRY(s->impulse.reserve(op->rows * n, "contacts of the sweep"));
    TALUS_TRY(s->bias.reserve(n, "contacts of the sweep"));
    TALUS_TRY(s->mu.reserve(op->rows == 3 ? n : 0, "contacts of the sweep"));
    TALUS_TRY(s->compliance.reserve(op->compliance ? n : 0, "contacts of the sweep"));
    TALUS_TRY(s->arm.reserve(6 * items, "contacts of the sweep"));
    TALUS_TRY(s->step.reserve(4 * items, "contacts of the sweep"));
    TALUS_TRY(s->change.reserve(3 * (int64_t)heavy_places(s).y, "heavy contacts of the sweep"));
    TALUS_TRY(s->heavy_count.reserve(op->bodies, "heavy bodies of the sweep"));
    TALUS_TRY(s->velocity.reserve(8 * (int64_t)op->bodies, "velocities of the sweep"));
    if (s->options.order == TALUS_ORDER_CHAOTIC)
        TALUS_TRY(s->gamma.reserve(op->rows * n, "impulses of the sweep"));
    s->plan = SweepPlan{n,
                        s->order.start[CLASS_ITEM],
                        s->pair,
                        s->normal,
                        s->impulse,
                        s->bias,
                        s->mu,
                        op->compliance ? s->compliance.at : nullptr,
                        s->arm,
                        (double(*)[4])s->step.at,
                        s->change,
                        (double(*)[8])s->velocity.at,
                        (const double(*)[6])op->inverse_inertia,
                        s->options.omega,
                        s->options.rho,
                        s->options.metric == TALUS_METRIC_TRACE,
                        s->options.coulomb,
                        s->options.ignore_coupling};
    return TALUS_OK;
}

TalusStatus cu_sweep_reserve_sums(TalusSweep *s)
{
    TALUS_TRY(s->tally.reserve(SWEEP_TALLIES, "sums of the sweep"));
    cu_zero(cu_context_of(s->op), s->tally, SWEEP_TALLIES * sizeof *s->tally.at);
    return TALUS_OK;
}

TalusStatus cu_sweep_plan(TalusSweep *s, const double *gamma)
{
    const TalusOperator *op = s->op;
    SweepOrder *o = &s->order;
    TALUS_TRY(cu_order_contacts(op, s->options.order == TALUS_ORDER_COLOURED, o));
    TALUS_TRY(reserve_plan(s));
    CuView<double> view = cu_view(op);
    int2 heavy = heavy_places(s);
    int64_t items = op->blocks - s->plan.first_item;
    cu_op_body_velocities(op, gamma, true, s->plan.velocity);
    LAUNCH_CONES(launch, op, fill_contacts, blocks_for(op->blocks), THREADS, s->plan, view,
                 o->contact.at, gamma);
    cu_zero(cu_context_of(s->op), s->heavy_count, (size_t)op->bodies * sizeof *s->heavy_count.at);
    launch(cu_context_of(s->op), count_heavy_contacts, blocks_for(heavy.y), THREADS, s->plan, heavy,
           o->contact.at, s->heavy_count.at, o->place.at);
    LAUNCH_CONES(launch, op, fill_items, blocks_for(items), THREADS, s->plan, view, op->coupling,
                 o->contact.at, o->class_of.at, s->heavy_count.at);
    return cu_sweep_reserve_sums(s);
}

void cu_sweep_write_gamma(TalusSweep *s, double *gamma)
{
    LAUNCH_CONES(launch, s->op, write_back_gamma, blocks_for(s->op->blocks), THREADS, s->plan,
                 cu_view(s->op), s->order.contact.at, gamma);
}
