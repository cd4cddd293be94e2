/* backend/cuda/sweep/sweep.cu - Gauss-Seidel sweeps over contacts (negrut-2009, Algorithm 1, step 4).
 *
 * Each contact takes gamma' = gamma + rho (P(gamma - omega B^-1 g) - gamma), with the gradient g from the bodies'
 * current velocities, and adds its change to them; B is the metric of SweepStep, P projects in it. Formulas:
 * cpu/sweep.c. This file also has the operations of all sweeps; sweep_block.cu and sweep_sparse.cu do other sets and
 * explicit matrices.
 *
 * Coloured: for each colour, whose contacts share no body that impulses move, a kernel over its spheres and one over
 * its items; then the heavy contacts, which all see the same velocities and their bodies' masses split among them.
 * Bytes per contact of two spheres: with friction 8 pair + 24 normal + 8 bias + 8 mu + 48 impulse (read and written) =
 * 96 streamed, and two body records of 64 read and written, 256. A colour uses each record once, so records come from
 * memory unless all bodies fit into the second-level cache. Without friction 56 streamed and 128 of the bodies, because
 * only half a record is needed. About 150 flop, one root and five divisions.
 *
 * Chaotic (the same paper's update on a GPU): one kernel over the spheres, one over the items. Each contact reads the
 * current velocities and adds its change by atomic sums: no change is lost, but the order, and so the result, differs
 * from run to run. Contacts processed at the same time, some 200,000 on a large GPU, do not see each other: with fewer
 * contacts this is a Jacobi iteration, which may diverge unless omega is small (0.3). */
#include "backend/cuda/sweep/sweep_block.h"

/* REFRESH: chaotic sweeps after which velocities are recomputed from the impulses, so that the rounding of atomic sums
 * does not accumulate. GRAPH_AFTER: sweeps that are launched kernel by kernel; the next is captured as a graph, which
 * is cheaper to launch, and serves for all later ones. */
enum { REFRESH = 32, GRAPH_AFTER = 3 };

/* How a contact's change is applied to its bodies: ALONE stores their new records, as no other thread changes them;
 * ATOMIC adds to them; LATER leaves the change in plan.change, for apply_heavy_changes to apply body by body. */
enum { PUSH_ALONE, PUSH_ATOMIC, PUSH_LATER };

/* ---- one contact ---- */

/* Takes the projected step at place `at`; u is the contact velocity without bias, world frame. Stores the new impulse,
 * writes its change to dp (world frame) and returns the squared velocity change. */
template <int ROWS>
static __device__ inline double change_impulse(const SweepPlan &p, int64_t at,
                                               const SweepContact<ROWS> &c, const SweepStep &s,
                                               const double u[3], double dp[3])
{
    const double *n = c.n;
    double gamma_n = ROWS == 1 ? c.gamma[0] : dot(n, c.gamma);
    double normal = gamma_n - s.inv_n * (dot(n, u) + p.bias[at] + c.compliance * gamma_n);
    if constexpr (ROWS == 1) {
        double next = c.gamma[0] + p.rho * (talus_project_nonneg(normal) - c.gamma[0]);
        double change = next - c.gamma[0];
        p.impulse[at] = next;
        for (int k = 0; k < 3; k++)
            dp[k] = change * n[k];
        return s.scale * s.scale * change * change;
    } else {
        double t[3], shrink = 1.0;
        for (int k = 0; k < 3; k++)
            t[k] = c.gamma[k] - s.inv_t * u[k];
        double along = dot(n, t);
        for (int k = 0; k < 3; k++)
            t[k] -= along * n[k];
        double size = sqrt(dot(t, t));
        if (size > c.mu * normal || normal < 0.0) {
            bool apex = s.kappa * size <= -normal;
            normal = apex ? 0.0 : (normal + s.kappa * size) / (1.0 + c.mu * s.kappa);
            shrink = apex || size == 0.0 ? 0.0 : c.mu * normal / size;
        }
        for (int k = 0; k < 3; k++) {
            double full = normal * n[k] + shrink * t[k];
            double next = c.gamma[k] + p.rho * (full - c.gamma[k]);
            p.impulse[k * p.n + at] = next;
            dp[k] = next - c.gamma[k];
        }
        return s.scale * s.scale * dot(dp, dp);
    }
}

/* Loads the first W numbers of a body's record; zeros for the fixed world. With PUSH_ATOMIC other threads write them
 * in the second-level cache, so the first-level cache, which may be stale, is bypassed. */
template <int W, int PUSH>
static __device__ inline void load_body_record(const SweepPlan &p, int body, double v[W])
{
    if (body < 0) {
        for (int k = 0; k < W; k++)
            v[k] = 0.0;
    } else if (PUSH != PUSH_ATOMIC) {
        load_packs<W>(p.velocity[body], v);
    } else {
        for (int k = 0; k < W; k++)
            v[k] = __ldcg(&p.velocity[body][k]);
    }
}

/* Adds factor * linear to the velocity and turn to the spin of a body, whose record is in v; W = 4: no spin. Contacts
 * of one colour may share a body that impulses do not move: the caller skips it. */
template <int W, int PUSH>
static __device__ inline void change_body(const SweepPlan &p, int body, double v[W], double factor,
                                          const double linear[3], const double turn[3])
{
    double *record = p.velocity[body];
    if constexpr (PUSH == PUSH_ATOMIC) {
        for (int k = 0; k < 3; k++)
            atomicAdd(&record[k], factor * linear[k]);
        for (int k = 4; k + 1 < W; k++)
            atomicAdd(&record[k], turn[k - 4]);
    } else {
        for (int k = 0; k < 3; k++)
            v[k] += factor * linear[k];
        for (int k = 4; k + 1 < W; k++)
            v[k] += turn[k - 4];
        store_packs<W>(v, record);
    }
}

/* Steps the contact of spheres at place `at` and returns the squared velocity change. The arms are n and -n, so that u
 * = v_b - v_a - (s_a + s_b) x n. */
template <int ROWS, int PUSH>
static __device__ inline double sweep_sphere(const SweepPlan &p, int64_t at)
{
    enum { W = ROWS == 1 ? 4 : 8 };
    SweepContact<ROWS> c = load_contact<ROWS>(p, at);
    double a[W], b[W], u[3], dp[3], turn[3] = {0.0, 0.0, 0.0}, turn_a[3], turn_b[3];
    load_body_record<W, PUSH>(p, c.pair.x, a);
    load_body_record<W, PUSH>(p, c.pair.y, b);
    double nn = a[3] + b[3], tt = nn;
    if constexpr (ROWS == 3) {
        double spin[3] = {a[4] + b[4], a[5] + b[5], a[6] + b[6]};
        cross(spin, c.n, turn);
        tt = nn + (a[7] + b[7]);
    }
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k] - turn[k];
    SweepStep step = make_step<ROWS>(p, nn + c.compliance, tt, 1.0, c.mu);
    double change = change_impulse<ROWS>(p, at, c, step, u, dp);
    if constexpr (ROWS == 3) {
        cross(c.n, dp, turn);
        for (int k = 0; k < 3; k++) {
            turn_a[k] = -(a[7] * turn[k]);
            turn_b[k] = -(b[7] * turn[k]);
        }
    }
    /* a[3], a[7]: inverse mass and inertia; with W = 4 both are a[3] */
    if (a[3] != 0.0 || a[W - 1] != 0.0)
        change_body<W, PUSH>(p, c.pair.x, a, -a[3], dp, turn_a);
    if (c.pair.y >= 0 && (b[3] != 0.0 || b[W - 1] != 0.0))
        change_body<W, PUSH>(p, c.pair.y, b, b[3], dp, turn_b);
    return change;
}

/* Loads the arm of body a (side 0) or b (side 1) of the item at place `at`. */
static __device__ inline void load_arm(const SweepPlan &p, int64_t at, int side, double arm[3])
{
    int64_t items = p.n - p.first_item, i = at - p.first_item;
    for (int k = 0; k < 3; k++)
        arm[k] = p.arm[(3 * side + k) * items + i];
}

/* Applies sign times the impulse change dp at `arm` to a body, whose record is in v; does nothing if impulses do not
 * move the body. */
template <int PUSH>
static __device__ inline void change_item_body(const SweepPlan &p, int body, double v[8],
                                               double sign, const double arm[3], const double dp[3])
{
    double torque[3], turn[3];
    if (!impulses_move(v, p.inverse_inertia ? p.inverse_inertia[body] : nullptr))
        return;
    cross(arm, dp, torque);
    spin_change(p, body, v[7], torque, sign, turn);
    change_body<8, PUSH>(p, body, v, sign * v[3], dp, turn);
}

/* Steps the item at place `at` and returns the squared velocity change. For PUSH_LATER, heavy.x is the place of the
 * first heavy contact, heavy.y the number of heavy contacts. */
template <int ROWS, int PUSH>
static __device__ inline double sweep_item(const SweepPlan &p, int64_t at, int2 heavy)
{
    SweepContact<ROWS> c = load_contact<ROWS>(p, at);
    double a[8], b[8], arm_a[3], arm_b[3], turn[3], u[3], dp[3], s[4];
    load_body_record<8, PUSH>(p, c.pair.x, a);
    load_body_record<8, PUSH>(p, c.pair.y, b);
    load_arm(p, at, 0, arm_a);
    load_arm(p, at, 1, arm_b);
    cross(a + 4, arm_a, turn);
    for (int k = 0; k < 3; k++)
        u[k] = -a[k] - turn[k];
    cross(b + 4, arm_b, turn);
    for (int k = 0; k < 3; k++)
        u[k] += b[k] + turn[k];
    load_packs<4>(p.step[at - p.first_item], s);
    double change = change_impulse<ROWS>(p, at, c, SweepStep{s[0], s[1], s[2], s[3]}, u, dp);
    if (PUSH == PUSH_LATER) {
        for (int k = 0; k < 3; k++)
            p.change[(int64_t)k * heavy.y + (at - heavy.x)] = dp[k];
        return change;
    }
    change_item_body<PUSH>(p, c.pair.x, a, -1.0, arm_a, dp);
    if (c.pair.y >= 0)
        change_item_body<PUSH>(p, c.pair.y, b, 1.0, arm_b, dp);
    return change;
}

/* ---- kernels of a sweep ---- */

/* Sweep the contacts at places range.x to range.y - 1 and add their squared velocity changes to the tally. */
template <int ROWS, int PUSH>
static __global__ void sweep_spheres(SweepPlan p, int2 range, CuTally *tally)
{
    int64_t at = range.x + item_index();
    add_changes(at < range.y ? sweep_sphere<ROWS, PUSH>(p, at) : 0.0, tally);
}

template <int ROWS, int PUSH>
static __global__ void sweep_items(SweepPlan p, int2 range, CuTally *tally)
{
    int64_t at = range.x + item_index();
    int2 heavy = make_int2(range.x, range.y - range.x);
    add_changes(at < range.y ? sweep_item<ROWS, PUSH>(p, at, heavy) : 0.0, tally);
}

/* Adds the impulse and torque of a heavy contact's change to the sum of one of its bodies; `incidence` names both. */
static __device__ inline void add_heavy_change(const SweepPlan &p, const CuView<double> &c,
                                               const uint32_t *place, int32_t incidence, int2 heavy,
                                               double sum[6])
{
    int64_t at = place[incidence_contact(c, incidence)];
    double arm[3], dp[3], torque[3], sign = incidence & 1 ? 1.0 : -1.0;
    load_arm(p, at, incidence & 1, arm);
    for (int k = 0; k < 3; k++)
        dp[k] = p.change[(int64_t)k * heavy.y + (at - heavy.x)];
    cross(arm, dp, torque);
    for (int k = 0; k < 3; k++) {
        sum[k] += sign * dp[k];
        sum[3 + k] += sign * torque[k];
    }
}

/* Changes a body's velocity and spin by the summed impulse and torque of its heavy contacts. */
static __device__ inline void apply_sum(const SweepPlan &p, int body, const double sum[6])
{
    double v[8], turn[3];
    load_packs<8>(p.velocity[body], v);
    spin_change(p, body, v[7], sum + 3, 1.0, turn);
    change_body<8, PUSH_ALONE>(p, body, v, v[3], sum, turn);
}

/* Applies the changes of all heavy contacts, body by body: a thread per body, or a block of threads if it has more than
 * BLOCK_SUM_ABOVE contacts, which are then all heavy (BLOCK_SUM_ABOVE > HEAVY_CONTACTS). */
static __global__ void apply_heavy_changes(SweepPlan p, CuView<double> c, const uint32_t *class_of,
                                           const uint32_t *place, const int32_t *heavy_count,
                                           int2 heavy)
{
    unsigned first_blocks = (unsigned)((c.bodies + (int)blockDim.x - 1) / (int)blockDim.x);
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (blockIdx.x < first_blocks) {
        int64_t body = item_index();
        if (body >= c.bodies || !heavy_count[body])
            return;
        int32_t begin = c.incidence_start[body], end = c.incidence_start[body + 1];
        if (end - begin > BLOCK_SUM_ABOVE)
            return;
        for (int32_t k = begin; k < end; k++)
            if (class_of[incidence_contact(c, c.incidence[k])] == (CLASS_ITEM | CLASS_HEAVY))
                add_heavy_change(p, c, place, c.incidence[k], heavy, sum);
        apply_sum(p, (int)body, sum);
        return;
    }
    int body = c.block_summed[blockIdx.x - first_blocks];
    for (int32_t k = c.incidence_start[body] + (int)threadIdx.x; k < c.incidence_start[body + 1];
         k += (int)blockDim.x)
        add_heavy_change(p, c, place, c.incidence[k], heavy, sum);
    reduce_block<6, 0>(sum);
    if (threadIdx.x == 0)
        apply_sum(p, body, sum);
}

/* *total = sum of the sweep's tallies, which are empty afterwards; one block. */
static __global__ void conclude_sweep(CuTally *tally, double *total)
{
    if (threadIdx.x == 0)
        *total = tally_sum(tally, SWEEP_TALLIES);
    __syncthreads();
    clear_tallies(tally, SWEEP_TALLIES);
}

/* ---- one sweep ---- */

/* Launches a kernel for 1 or 3 rows; uses the variables s, blocks and range. */
#define LAUNCH_SWEEP(kernel, push)                                                                 \
    (s->op->rows == 1 ? launch_block(cu_context_of(s->op), kernel<1, push>, blocks, SWEEP_THREADS, \
                                     s->plan, range, s->tally.at)                                  \
                      : launch_block(cu_context_of(s->op), kernel<3, push>, blocks, SWEEP_THREADS, \
                                     s->plan, range, s->tally.at))

/* Launches the kernel of spheres or of items over the places `range`, which are all of one of the two. */
static void sweep_range(TalusSweep *s, int2 range, int push)
{
    unsigned blocks = blocks_for(range.y - range.x, SWEEP_THREADS);
    bool spheres = range.x < s->plan.first_item;
    if (spheres && push == PUSH_ATOMIC)
        LAUNCH_SWEEP(sweep_spheres, PUSH_ATOMIC);
    else if (spheres)
        LAUNCH_SWEEP(sweep_spheres, PUSH_ALONE);
    else if (push == PUSH_ATOMIC)
        LAUNCH_SWEEP(sweep_items, PUSH_ATOMIC);
    else if (push == PUSH_ALONE)
        LAUNCH_SWEEP(sweep_items, PUSH_ALONE);
    else
        LAUNCH_SWEEP(sweep_items, PUSH_LATER);
}

/* Launches the kernels of one sweep over cones or half lines. */
static void sweep_contacts(TalusSweep *s)
{
    if (s->options.order == TALUS_ORDER_CHAOTIC) {
        sweep_range(s, class_places(s, 0, CLASS_ITEM), PUSH_ATOMIC);
        sweep_range(s, class_places(s, CLASS_ITEM, CLASSES), PUSH_ATOMIC);
        return;
    }
    for (int c = 0; c < CLASS_HEAVY; c++) {
        sweep_range(s, class_places(s, c, c + 1), PUSH_ALONE);
        sweep_range(s, class_places(s, CLASS_ITEM + c, CLASS_ITEM + c + 1), PUSH_ALONE);
    }
    int2 heavy = heavy_places(s);
    if (!heavy.y)
        return;
    sweep_range(s, make_int2(heavy.x, heavy.x + heavy.y), PUSH_LATER);
    launch_block(cu_context_of(s->op), apply_heavy_changes, cu_gather_block_count(s->op), THREADS,
                 s->plan, cu_view(s->op), s->order.class_of.at, s->order.place.at,
                 s->heavy_count.at, heavy);
}

/* Launches the kernels of one sweep and of the sum of its squared velocity changes, into total 0. */
static void launch_sweep(TalusSweep *s)
{
    if (cu_sweep_is_blockwise(s))
        cu_sweep_blockwise(s);
    else if (s->op->pair)
        sweep_contacts(s);
    else
        cu_sweep_sparse(s);
    launch_block(cu_context_of(s->op), conclude_sweep, 1, THREADS, s->tally.at,
                 cu_context_of(s->op)->totals);
}

/* ---- the contract ---- */

/* Fails if the device does not support the order, or not for this problem. */
static TalusStatus check_order(const TalusOperator *op, const TalusSweepOptions *options)
{
    const TalusOrder order = options->order;
    static const char *const names[] = {"forward", "symmetric", "random"};
    if (order < TALUS_ORDER_COLOURED)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "%s: order=%s visits one contact after the other, which a GPU cannot do "
                          "in parallel; use order=coloured or order=chaotic, or --backend cpu",
                          options->local == TALUS_ONE_PROJECT ? "gs" : "sweep", names[order]);
    if (order == TALUS_ORDER_CHAOTIC && !op->pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "gs: order=chaotic works on the velocities of bodies, and this problem "
                          "is a matrix without bodies; use order=coloured");
    if (order == TALUS_ORDER_CHAOTIC && (op->mixed_sets || options->local != TALUS_ONE_PROJECT))
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "gs: order=chaotic knows circular cones alone, and this problem has other "
            "sets; use order=coloured");
    return TALUS_OK;
}

/* Fails if the solver of one contact does not support all friction kinds that occur. */
static TalusStatus check_local(const TalusOperator *op, TalusOneSolver local)
{
    uint32_t kinds = op->model ? op->kinds : TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_DISC);
    if (local == TALUS_ONE_PROJECT || op->rows == 1)
        return TALUS_OK;
    if (op->rows > 3)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "sweep: solvers of one contact take 1 or 3 rows; this problem has 6, for "
                          "spinning and rolling friction: gs takes it");
    for (int kind = 0; kind < TALUS_LAWS * TALUS_SECTIONS; kind++) {
        TalusFrictionLaw law = (TalusFrictionLaw)(kind / TALUS_SECTIONS);
        TalusSection section = (TalusSection)(kind % TALUS_SECTIONS);
        if (law == TALUS_LAW_COULOMB && op->prisms)
            law = TALUS_LAW_FIXED;
        if (kinds & (1u << kind) && !talus_one_takes(local, law, section))
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "sweep: contacts are under law %s on the section %s, which this "
                              "solver of one contact does not take",
                              talus_law_name(law), talus_section_name(section));
    }
    return TALUS_OK;
}

static void destroy_graph(TalusSweep *s)
{
    if (s->graph)
        cudaGraphExecDestroy(s->graph); /* no cu_note_error: operator and context may be gone */
    s->graph = nullptr;
}

TalusStatus cu_sweep_prepare(const TalusOperator *op, const TalusSweepOptions *options,
                             const double *gamma, TalusSweep **sweep)
{
    TALUS_TRY(check_order(op, options));
    TALUS_TRY(check_local(op, options->local));
    if (!*sweep)
        TALUS_TRY(TALUS_ALLOC(*sweep, 1, "sweep plan"));
    TalusSweep *s = *sweep;
    destroy_graph(s);
    s->op = op;
    s->options = *options;
    s->sweeps = 0;
    TALUS_TRY(cu_sweep_is_blockwise(s) ? cu_sweep_plan_blockwise(s, gamma)
              : op->pair               ? cu_sweep_plan(s, gamma)
                                       : cu_sweep_plan_sparse(s, gamma));
    return cu_check(cu_context_of(s->op));
}

/* Launches one sweep, as a graph once it is captured. In chaotic order velocities are recomputed every REFRESH
 * sweeps. */
static void launch_one_sweep(TalusSweep *s)
{
    if (s->options.order == TALUS_ORDER_CHAOTIC && s->sweeps && s->sweeps % REFRESH == 0) {
        cu_sweep_get_impulses(s, s->gamma);
        cu_op_body_velocities(s->op, s->gamma, true, s->plan.velocity);
    }
    bool profiled = talus_profile_is_on(); /* kernels are timed one by one */
    if (s->sweeps++ == GRAPH_AFTER && !profiled)
        cu_capture_graph(cu_context_of(s->op), &s->graph, [=] { launch_sweep(s); });
    if (s->graph && !profiled)
        cu_note_error(cu_context_of(s->op), cudaGraphLaunch(s->graph, cu_context_of(s->op)->stream),
                      "graph");
    else
        launch_sweep(s);
}

double cu_sweep_run(TalusSweep *s, int sweeps)
{
    double change2;
    for (int k = 0; k < sweeps; k++)
        launch_one_sweep(s);
    cu_totals_get(cu_context_of(s->op), 1, &change2);
    return change2;
}

void cu_sweep_get_impulses(TalusSweep *s, double *gamma)
{
    const TalusOperator *op = s->op;
    if (op->pair && !cu_sweep_is_blockwise(s))
        cu_sweep_write_gamma(s, gamma);
    else
        cu_copy(cu_context_of(s->op), gamma, s->gamma,
                (size_t)op->rows * (size_t)op->blocks * sizeof *gamma);
}

void cu_sweep_order(const TalusSweep *s, uint32_t *contact, uint32_t *class_of)
{
    size_t bytes = (size_t)s->op->blocks * sizeof *contact;
    cu_get(cu_context_of(s->op), contact, s->order.contact, bytes);
    cu_get(cu_context_of(s->op), class_of, s->order.class_of, bytes);
}

void cu_sweep_destroy(TalusSweep *s)
{
    if (!s)
        return;
    destroy_graph(s);
    cu_order_clear(&s->order);
    cu_clear(s->normal, s->impulse, s->bias, s->mu, s->compliance, s->arm, s->step, s->change,
             s->velocity, s->gamma, s->tally, s->own, s->pair, s->heavy_count);
    talus_release(s);
}
