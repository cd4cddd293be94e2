/* backend/cpu/accelerate_single.c - runs of the accelerated method in single precision, four sphere contacts at a time.
 *
 * The unknowns are the impulses gamma in the world frame; a step is that of accelerate.c, in the norm |gamma / s|:
 *     y = gamma + beta (gamma - gamma_prev),   gamma_next = P(y - step s^2 (g + ahead (g - g_prev))).
 * Bodies gather the wrenches of gamma - base, base the impulses at which velocities were last computed in double
 * precision (single.h). Contacts are in packs of four, in their order, and no pack is in two groups (backend/groups.h):
 * sums are formed by groups. A run ends once the residual comes near the rounding errors; steps in double precision
 * then go on.
 *
 * Wrenches and velocities in single precision lie in the operator's scratch, in the memory of those in double precision:
 * no operation in double precision is done during a run. Packs outlast such operations. */
#include "backend/cpu/accelerate_single.h"

#include "backend/frame.h"
#include "backend/momentum.h"
#include "backend/part.h"
#include "backend/run.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"

/* Four contacts of one group; idle lanes have zeros and the dummy body. Numbers are in SingleUnits. */
typedef struct StepPack {
    Lane4 normal[3], offset[3]; /* offset: contact velocity at base, world frame, plus the bias */
    Lane4 base[3], gamma[3], gamma_prev[3], g_prev[3]; /* g_prev without De Saxce's shift */
    Lane4 inv_n, inv_t;                                /* s_n^2, s_t^2 */
    Lane4 weight_n, weight_t;                          /* s_n^-2, s_t^-2 */
    Lane4 mu, kappa, mantle;                           /* as in a StepRule (sweep.h) */
    Lane4 compliance, scale;                           /* E; mean diagonal entry */
    int32_t a[LANES4], b[LANES4];
    int32_t first, count; /* first contact, number of contacts */
} StepPack;

/* What runs keep, at the start of scratch->single; the arrays follow it there, but for those in memory of the
 * scratch. */
typedef struct SingleRun {
    SingleUnits unit;
    StepPack *pack;
    int32_t *start;       /* [groups + 1]: first pack of each group */
    float (*velocity)[8]; /* [bodies + 1]: change since base; in scratch->velocity */
    float (*mass)[2];     /* [bodies]: 1/m, k; likewise, behind them */
    float (
        *wrench)[8]; /* [blocks]: impulse p, 0, torque t, 0, as in contact.c; in scratch->record */
    double *partial; /* work space of talus_single_units */
    double offset;   /* largest sum of |offset|, m/s, of a contact */
} SingleRun;

/* Sums of a step: up to RESIDUAL2 as in TalusStepSums, then the maxima of the squared residual and of (d |gamma|)^2.
 * Those from RESIDUAL2 on only in a step that measures. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, RESIDUAL_MAX2, SIZE_MAX2, SUMS };

/* Context of the loops of a step. */
typedef struct Pass {
    const TalusOperator *op;
    SingleRun *run;
    TalusAccelerated *state;
    SingleUnits old;         /* units of the packs before they are filled anew from themselves */
    float beta, ahead, step; /* as in momentum.h */
} Pass;

/* ---- start ---- */

/* Returns the number of packs of `contacts` contacts of a group. */
static int pack_count(int contacts)
{
    return (contacts + LANES4 - 1) / LANES4;
}

/* Fills run->start. */
static void number_packs(const TalusOperator *op, SingleRun *run)
{
    const TalusGroups *groups = &op->scratch->groups;
    run->start[0] = 0;
    for (int g = 0; g < groups->count; g++)
        run->start[g + 1] = run->start[g] + pack_count(groups->start[g + 1] - groups->start[g]);
}

/* Sets the arrays of *run to parts of `block`, after the run itself. Returns the bytes of the whole; block NULL: only
 * these. */
static size_t lay_out(const TalusOperator *op, unsigned char *block, SingleRun *run)
{
    const size_t groups = (size_t)op->scratch->groups.count, bodies = (size_t)op->bodies;
    const size_t blocks = (size_t)op->blocks, packs = blocks / LANES4 + groups;
    const size_t chunks = (size_t)talus_chunks((int64_t)bodies, BODY_GRAIN);
    size_t used = 0;
    talus_take_memory(block, &used, 1, sizeof *run);
    run->start = talus_take_memory(block, &used, groups + 1, sizeof *run->start);
    run->pack = talus_take_memory(block, &used, packs, sizeof *run->pack);
    run->partial = talus_take_memory(block, &used, 2 * chunks, sizeof *run->partial);
    return used;
}

/* Reserves op->scratch->single and makes *run the run at its start. */
static TalusStatus reserve_run(const TalusOperator *op, SingleRun **run)
{
    TalusHostScratch *s = op->scratch;
    SingleRun sizes;
    TALUS_TRY(TALUS_GROW(s->single, lay_out(op, NULL, &sizes), 0, "contacts in single precision"));
    *run = (void *)s->single;
    lay_out(op, s->single, *run);
    (*run)->velocity = (void *)s->velocity;
    (*run)->mass = (void *)((*run)->velocity + op->bodies + 1);
    (*run)->wrench = (void *)s->record;
    number_packs(op, *run);
    return TALUS_OK;
}

_Static_assert(sizeof(float[8]) + sizeof(float[2]) <= sizeof(double[8]) &&
                   sizeof(float[8]) <= sizeof(double[6]),
               "velocities, masses and wrenches fit into the memory of the scratch");

/* Writes s_n and s_t of contact i: those of the state's metric or, without one, of the metric of its kind. */
static void get_scales(const Pass *pass, int64_t i, double s[2])
{
    const TalusAccelerated *state = pass->state;
    if (state->metric)
        memcpy(s, state->metric[i], 2 * sizeof *s);
    else
        talus_cpu_metric_scales(pass->op, state->kind, i, s);
}

/* Sets lane k of out[3] to `factor` times the world vector of S x, or of S^-1 x if `inverse`, for contact i. */
static void set_world(const Pass *pass, const double s[2], const double x[3], int i, bool inverse,
                      double factor, int k, Lane4 out[3])
{
    double local[3], world[3];
    for (int c = 0; c < 3; c++)
        local[c] = inverse ? x[c] / s[c > 0] : s[c > 0] * x[c];
    talus_frame_to_world(pass->op->frame[i], local, world);
    for (int c = 0; c < 3; c++)
        lane4_set(&out[c], k, (float)(factor * world[c]));
}

/* The vectors of one contact, in the metric and the contact's frame. */
typedef struct Iterates {
    double x[3], x_prev[3], g_prev[3];
    double s[2]; /* s_n, s_t of the metric */
} Iterates;

/* Fills lane k of a pack with contact i. Returns the sum of |offset|. */
static double fill_lane(const Pass *pass, StepPack *pack, int k, int i, const Iterates *from)
{
    const TalusOperator *op = pass->op;
    const SingleUnits *unit = &pass->run->unit;
    const double *s = from->s, mu = op->mu[i], per_speed = 1.0 / unit->speed;
    double u[3], own[3], kappa = mu * (s[0] / s[1]) * (s[0] / s[1]), sum = 0.0;
    talus_single_contact_velocity(op, (const double(*)[8])op->scratch->velocity, i, u);
    talus_single_own_offset(op, i, own);
    for (int c = 0; c < 3; c++) {
        double offset = u[c] + own[c];
        lane4_set(&pack->normal[c], k, (float)op->frame[i][c]);
        lane4_set(&pack->offset[c], k, (float)(per_speed * offset));
        sum += fabs(offset);
    }
    set_world(pass, s, from->x, i, false, 1.0 / unit->impulse, k, pack->gamma);
    set_world(pass, s, from->x_prev, i, false, 1.0 / unit->impulse, k, pack->gamma_prev);
    set_world(pass, s, from->g_prev, i, true, per_speed, k, pack->g_prev);
    lane4_set(&pack->inv_n, k, (float)(unit->inverse_mass * s[0] * s[0]));
    lane4_set(&pack->inv_t, k, (float)(unit->inverse_mass * s[1] * s[1]));
    lane4_set(&pack->weight_n, k, (float)(1.0 / (unit->inverse_mass * s[0] * s[0])));
    lane4_set(&pack->weight_t, k, (float)(1.0 / (unit->inverse_mass * s[1] * s[1])));
    lane4_set(&pack->mu, k, (float)(mu * SINGLE_MU));
    lane4_set(&pack->kappa, k, (float)kappa);
    lane4_set(&pack->mantle, k, (float)(1.0 / (1.0 + mu * kappa)));
    lane4_set(&pack->compliance, k,
              op->compliance ? (float)(op->compliance[i] / unit->inverse_mass) : 0.0f);
    lane4_set(&pack->scale, k, (float)(talus_block_scale(op, i) / unit->inverse_mass));
    pack->a[k] = op->pair[i][0];
    pack->b[k] = i < op->sphere_sphere ? op->pair[i][1] : op->bodies;
    return sum;
}

/* Writes a world vector of lane k, times `factor`, to x = S^-1 gamma of contact i, or S gamma if `inverse`. */
static void get_local(const Pass *pass, const double s[2], const Lane4 in[3], int i, bool inverse,
                      double factor, int k, double x[3])
{
    double world[3], local[3];
    for (int c = 0; c < 3; c++)
        world[c] = factor * lane4_get(&in[c], k);
    talus_frame_to_local(pass->op->frame[i], world, local);
    if (!inverse)
        talus_single_keep_in_cone(pass->op->mu[i], local);
    for (int c = 0; c < 3; c++)
        x[c] = inverse ? local[c] * s[c > 0] : local[c] / s[c > 0];
}

/* True if the packs are filled anew from their own iterates: the state has no vectors but x. */
static bool reloads(const TalusAccelerated *state)
{
    return state->begun && !state->x_prev;
}

/* Writes x of contact i: that of the state, or that in lane k of a pack with the units pass->old. */
static void get_x(const Pass *pass, const double s[2], const StepPack *pack, int k, int64_t i,
                  double x[3])
{
    const TalusAccelerated *state = pass->state;
    if (reloads(state))
        get_local(pass, s, pack->gamma, (int)i, false, pass->old.impulse, k, x);
    else
        for (int c = 0; c < 3; c++)
            x[c] = state->metric ? state->x[3 * i + c] : state->x[3 * i + c] / s[c > 0];
}

/* Returns the iterates of contact i, from where get_x has x. */
static Iterates iterates_of(const Pass *pass, const StepPack *pack, int k, int64_t i)
{
    const TalusAccelerated *state = pass->state;
    Iterates of = {.g_prev = {0.0}};
    get_scales(pass, i, of.s);
    get_x(pass, of.s, pack, k, i, of.x);
    if (reloads(state)) {
        get_local(pass, of.s, pack->gamma_prev, (int)i, false, pass->old.impulse, k, of.x_prev);
        get_local(pass, of.s, pack->g_prev, (int)i, true, pass->old.speed, k, of.g_prev);
    } else if (state->x_prev) {
        memcpy(of.x_prev, state->x_prev + 3 * i, sizeof of.x_prev);
        memcpy(of.g_prev, state->g_prev + 3 * i, sizeof of.g_prev);
    } else {
        memcpy(of.x_prev, of.x, sizeof of.x);
    }
    return of;
}

/* Fills the packs of one group from the iterates; stores the largest sum of |offset|. */
static void fill_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const Pass *pass = context;
    StepPack *pack = pass->run->pack + pass->run->start[group];
    double largest = 0.0;
    for (int64_t i = begin; i < end; i += LANES4, pack++) {
        const int count = end - i < LANES4 ? (int)(end - i) : LANES4;
        Iterates from[LANES4];
        for (int k = 0; k < count; k++)
            from[k] = iterates_of(pass, pack, k, i + k);
        *pack = (StepPack){.first = (int32_t)i, .count = count};
        for (int k = 0; k < LANES4; k++)
            pack->a[k] = pack->b[k] = pass->op->bodies;
        for (int k = 0; k < count; k++)
            largest = fmax(largest, fill_lane(pass, pack, k, (int)i + k, &from[k]));
        memcpy(pack->base, pack->gamma, sizeof pack->base);
        memset(pass->run->wrench[i], 0, (size_t)count * sizeof *pass->run->wrench);
    }
    talus_cpu_store_sums(pass->op, group, 1, &largest);
}

/* Writes the wrenches of x of one group, in double precision, to the scratch. */
static void write_wrenches(void *context, int64_t begin, int64_t end, int64_t group)
{
    const Pass *pass = context;
    const StepPack *pack = pass->run->pack + pass->run->start[group];
    double gamma[3 * BLOCK_GRAIN];
    for (int64_t i = begin; i < end; i++) {
        double s[2], *out = gamma + 3 * (i - begin);
        get_scales(pass, i, s);
        get_x(pass, s, &pack[(i - begin) / LANES4], (int)((i - begin) % LANES4), i, out);
        for (int c = 0; c < 3; c++)
            out[c] = s[c > 0] * out[c];
    }
    talus_cpu_write_wrenches(pass->op, gamma, (int)begin, (int)end, pass->op->scratch->record);
}

/* Fills everything from the iterates, whose x becomes the base. Velocities in single precision come last: they take the
 * place of those in double precision, from which offsets are computed. */
static TalusStatus start_run(Pass *pass)
{
    const TalusOperator *op = pass->op;
    const double(*velocity)[8] = (const double(*)[8])op->scratch->velocity;
    if (reloads(pass->state))
        pass->old = pass->run->unit;
    else
        TALUS_TRY(reserve_run(op, &pass->run));
    SingleRun *run = pass->run;
    talus_cpu_for_each_group(op, write_wrenches, pass);
    talus_cpu_gather_wrenches(op, (const double(*)[6])op->scratch->record, true, false,
                              op->scratch->velocity);
    talus_halo_finish_exchange(op->halo);
    run->unit = talus_single_units(op, velocity, run->partial);
    talus_cpu_for_each_group(op, fill_group, pass);
    talus_cpu_combine_sums(op, 0, 1, &run->offset);
    for (int i = 0; i < op->bodies; i++) {
        run->mass[i][0] = (float)(op->body[i][3] / run->unit.inverse_mass);
        run->mass[i][1] = (float)(op->body[i][7] / run->unit.inverse_mass);
    }
    memset(run->velocity[op->bodies], 0, sizeof *run->velocity);
    pass->state->begun = true;
    return TALUS_OK;
}

/* ---- bodies ---- */

/* Computes the velocity changes of bodies [begin, end) from the wrenches of their contacts. Where a body is side a of a
 * contact, the sign bit of the impulse is flipped, without a branch. */
static void gather_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const SingleRun run = *pass->run; /* a copy: no store below changes it, as the compiler knows */
    const int32_t *incidence = pass->op->incidence, *start = pass->op->incidence_start;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        Lane4 p = lane4(0.0f), t = lane4(0.0f);
        for (int32_t e = start[i]; e < start[i + 1]; e++) {
            const float *wrench = run.wrench[incidence[e] >> 1];
            int32_t flip = (int32_t)(((uint32_t)~incidence[e] & 1u) << 31);
            p += (Lane4)((Mask4){flip, flip, flip, flip} ^ (Mask4)lane4_load(wrench));
            t += lane4_load(wrench + 4);
        }
        lane4_store(run.velocity[i], p * run.mass[i][0]);
        lane4_store(run.velocity[i] + 4, t * -run.mass[i][1]);
    }
}

/* ---- contacts ---- */

/* Sums of the same names as above, by lane. */
typedef struct Sums {
    Lane4 of[SUMS];
} Sums;

/* Projects (n, t) onto the cone of mu in the metric of kappa, as step_packs of sweep_loops.h: n becomes the normal part,
 * the result is the factor of t, t2 = |t|^2. */
KERNEL Lane4 project_pack(Lane4 mu, Lane4 kappa, Lane4 mantle, Lane4 t2, Lane4 *n)
{
    Lane4 size = lane4_sqrt(t2), normal = *n;
    Lane4 shrink = mu / lane4_select(t2 > SINGLE_TINY2, t2, lane4(1.0f));
    Mask4 inside = size <= mu * normal;   /* for mu 0 true also at the apex, */
    Mask4 apex = kappa * size <= -normal; /* so that apex takes precedence */
    Lane4 on = (normal + kappa * size) * mantle;
    shrink = shrink * size * on;
    *n = (Lane4)(~apex & (Mask4)lane4_select(inside, normal, on));
    return (Lane4)(~apex & (Mask4)lane4_select(inside, lane4(1.0f), shrink));
}

/* out = a - along the normal. Returns the normal part of a. */
KERNEL Lane4 split_normal(const Lane4 normal[3], const Lane4 a[3], Lane4 out[3])
{
    Lane4 along = lane4_dot(normal, a);
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - along * normal[k];
    return along;
}

/* Returns the inner product of a and b with the weights wn on normal and wt on tangential parts. */
KERNEL Lane4 weighted_dot(const Lane4 normal[3], Lane4 wn, Lane4 wt, const Lane4 a[3],
                          const Lane4 b[3])
{
    return wt * lane4_dot(a, b) + (wn - wt) * (lane4_dot(normal, a) * lane4_dot(normal, b));
}

/* Raises *most to a. */
KERNEL void raise(Lane4 *most, Lane4 a)
{
    *most = lane4_select(a <= *most, *most, a);
}

/* Returns mu of the contacts, which pack->mu is SINGLE_MU times of. */
KERNEL Lane4 full_mu(const StepPack *pack)
{
    return pack->mu * (float)(1.0 / SINGLE_MU);
}

/* Adds what a step that measures sums of gamma, with gradient g and De Saxce's shift (0 under other laws). */
KERNEL void measure_pack(const StepPack *pack, const Lane4 g[3], Lane4 shift, Sums *sums)
{
    const Lane4 one = lane4(1.0f), d = pack->scale, inv = one / lane4_select(d > 0.0f, d, one);
    const Lane4 mu = full_mu(pack);
    Lane4 whole[3], target[3], t[3], r[3];
    for (int k = 0; k < 3; k++) {
        whole[k] = g[k] + shift * pack->normal[k];
        target[k] = pack->gamma[k] - inv * whole[k];
    }
    Lane4 n = split_normal(pack->normal, target, t), before = n;
    Lane4 shrink = project_pack(mu, mu, one / (one + mu * mu), lane4_dot(t, t), &n);
    Mask4 inside = (n == before) & (shrink == one);
    for (int k = 0; k < 3; k++) {
        Lane4 next = n * pack->normal[k] + shrink * t[k];
        r[k] = lane4_select(inside, whole[k], d * (pack->gamma[k] - next));
    }
    Lane4 r2 = lane4_dot(r, r); /* 0 in idle lanes, where all is 0 */
    sums->of[RESIDUAL2] += r2;
    raise(&sums->of[RESIDUAL_MAX2], r2);
    raise(&sums->of[SIZE_MAX2], pack->scale * pack->scale * lane4_dot(pack->gamma, pack->gamma));
}

/* Adds what tests L: the squares of gamma and of the changes dx of gamma and dg of the gradient. */
KERNEL void add_changes(const StepPack *pack, const Lane4 dx[3], const Lane4 dg[3], Sums *sums)
{
    const Lane4 wn = pack->weight_n, wt = pack->weight_t;
    sums->of[DX2] += weighted_dot(pack->normal, wn, wt, dx, dx);
    sums->of[DG2] += weighted_dot(pack->normal, pack->inv_n, pack->inv_t, dg, dg);
    sums->of[X2] += weighted_dot(pack->normal, wn, wt, pack->gamma, pack->gamma);
}

/* Takes the step of a pack at its contact velocities u. On return u is the new impulse less base. measure, exact: as
 * want_residual and exact of the state; constants after inlining. */
KERNEL void step_pack(const Pass *pass, StepPack *pack, bool measure, bool exact, Lane4 u[3],
                      Sums *sums)
{
    const float beta = pass->beta, ahead = pass->ahead, step = pass->step;
    Lane4 y[3], gy[3], g[3], dx[3], dg[3], t[3], shift = lane4(0.0f), *x = pack->gamma;
    Lane4 push = pack->compliance * lane4_dot(pack->normal, x);
    for (int k = 0; k < 3; k++)
        g[k] = u[k] + push * pack->normal[k];
    if (exact) {
        split_normal(pack->normal, g, t);
        shift = full_mu(pack) * lane4_sqrt(lane4_dot(t, t));
    }
    if (measure)
        measure_pack(pack, g, shift, sums);
    for (int k = 0; k < 3; k++) {
        dx[k] = x[k] - pack->gamma_prev[k];
        dg[k] = g[k] - pack->g_prev[k];
        y[k] = x[k] + beta * dx[k];
        gy[k] = g[k] + ahead * dg[k];
        t[k] = y[k] - step * pack->inv_t * gy[k];
    }
    add_changes(pack, dx, dg, sums);
    Lane4 along = lane4_dot(pack->normal, gy) + shift;
    Lane4 normal = lane4_dot(pack->normal, y) - step * pack->inv_n * along;
    split_normal(pack->normal, t, t);
    Lane4 shrink = project_pack(pack->mu, pack->kappa, pack->mantle, lane4_dot(t, t), &normal);
    Lane4 back[3], on[3];
    for (int k = 0; k < 3; k++) {
        Lane4 next = normal * pack->normal[k] + shrink * t[k];
        back[k] = y[k] - next;
        on[k] = next - x[k];
        pack->gamma_prev[k] = x[k];
        pack->g_prev[k] = g[k];
        x[k] = next;
        u[k] = next - pack->base[k];
    }
    sums->of[RESTART] += weighted_dot(pack->normal, pack->weight_n, pack->weight_t, back, on);
}

/* Number of packs for which each part of a step is done before the next part (sweep_loops.h). */
enum { BATCH = 16 };

/* Takes the step of `count` packs, at most BATCH, and writes their wrenches. */
KERNEL void step_packs(const Pass *pass, StepPack *pack, int count, bool measure, bool exact,
                       Sums *sums)
{
    Lane4 u[BATCH][3];
    for (int i = 0; i < count; i++)
        single_velocity((const float(*)[8])pass->run->velocity, pack[i].a, pack[i].b, false,
                        pack[i].normal, pack[i].offset, u[i]);
    for (int i = 0; i < count; i++)
        step_pack(pass, &pack[i], measure, exact, u[i], sums);
    for (int i = 0; i < count; i++) {
        Lane4 p[LANES4], t[LANES4];
        float(*wrench)[8] = pass->run->wrench + pack[i].first;
        single_wrenches(pack[i].normal, u[i], p, t);
        for (int k = 0; k < pack[i].count; k++) {
            lane4_store(wrench[k], p[k]);
            lane4_store(wrench[k] + 4, t[k]);
        }
    }
}

/* Takes the step of the packs [begin, end). */
KERNEL void step_range(Pass pass, int begin, int end, bool measure, bool exact, Sums *out)
{
    Sums sums = *out;
    for (int i = begin; i < end; i += BATCH)
        step_packs(&pass, pass.run->pack + i, end - i < BATCH ? end - i : BATCH, measure, exact,
                   &sums);
    *out = sums;
}

/* Takes the step of one group of contacts; stores the sums of the group. */
static void step_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const Pass *pass = context;
    const TalusAccelerated *state = pass->state;
    const int first = pass->run->start[group], last = pass->run->start[group + 1];
    Sums sums = {{{0}}};
    double total[SUMS];
    (void)begin;
    (void)end;
    if (state->exact && state->want_residual)
        step_range(*pass, first, last, true, true, &sums);
    else if (state->exact)
        step_range(*pass, first, last, false, true, &sums);
    else if (state->want_residual)
        step_range(*pass, first, last, true, false, &sums);
    else
        step_range(*pass, first, last, false, false, &sums);
    for (int k = 0; k < SUMS; k++) {
        const Lane4 of = sums.of[k];
        total[k] = 0.0;
        for (int lane = 0; lane < LANES4; lane++)
            if (k < RESIDUAL_MAX2)
                total[k] += of[lane];
            else
                update_max(&total[k], of[lane]);
    }
    talus_cpu_store_sums(pass->op, group, SUMS, total);
}

/* ---- the run ---- */

/* Writes the vectors of the state from the packs of one group; without x_prev, the previous iterate to x. */
static void read_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const Pass *pass = context;
    const TalusAccelerated *state = pass->state;
    const SingleUnits *unit = &pass->run->unit;
    const StepPack *pack = pass->run->pack + pass->run->start[group];
    for (int64_t i = begin; i < end; i++) {
        const StepPack *from = &pack[(i - begin) / LANES4];
        const int k = (int)((i - begin) % LANES4);
        double s[2], *x_prev = (state->x_prev ? state->x_prev : state->x) + 3 * i;
        get_scales(pass, i, s);
        get_local(pass, s, from->gamma_prev, (int)i, false, unit->impulse, k, x_prev);
        for (int c = 0; c < 3 && !state->metric; c++)
            x_prev[c] *= s[c > 0];
        if (!state->x_prev)
            continue;
        get_local(pass, s, from->gamma, (int)i, false, unit->impulse, k, state->x + 3 * i);
        get_local(pass, s, from->g_prev, (int)i, true, unit->speed, k, state->g_prev + 3 * i);
    }
}

/* Bytes that the loops of a step must move if each array comes from memory once. Bodies: wrench and incidence; start,
 * mass, velocity out. Contacts: packs in; impulses, previous impulses and gradients, and wrenches out; velocities in. */
static double gather_bytes(const TalusOperator *op)
{
    const SingleRun *run;
    return op->blocks * (sizeof *run->wrench + 2.0 * sizeof *op->incidence) +
           op->bodies * (sizeof *op->incidence_start + sizeof *run->mass + sizeof *run->velocity);
}

static double step_bytes(const TalusOperator *op)
{
    const SingleRun *run;
    return op->blocks * (sizeof *run->pack / (double)LANES4 + 9 * sizeof(float)) +
           op->blocks * (double)sizeof *run->wrench + op->bodies * (double)sizeof *run->velocity;
}

/* Combines the sums of a step; those that it has not measured are 0. */
static void combine_step_sums(const Pass *pass, double total[SUMS])
{
    if (pass->state->want_residual) {
        talus_cpu_combine_sums(pass->op, RESIDUAL_MAX2, SUMS - RESIDUAL_MAX2, total);
        return;
    }
    talus_cpu_combine_sums(pass->op, RESIDUAL2, 0, total);
    for (int k = RESIDUAL2; k < SUMS; k++)
        total[k] = 0.0;
}

/* Takes one step. Returns the largest speed that is rounded, m/s, if the step measures. */
static double take_step(Pass *pass, TalusStepSums *sums)
{
    const TalusOperator *op = pass->op;
    const SingleUnits *unit = &pass->run->unit;
    const double x = unit->impulse * unit->impulse * unit->inverse_mass,
                 v2 = unit->speed * unit->speed;
    double total[SUMS];
    pass->beta = (float)pass->state->beta;
    pass->ahead = (float)talus_momentum_ahead(pass->state->beta, pass->state->lag);
    pass->step = (float)pass->state->step;
    talus_profile_expect_bytes(gather_bytes(op));
    talus_cpu_compute_and_send(op, gather_chunk, pass, pass->run->velocity,
                               sizeof *pass->run->velocity);
    talus_profile_expect_bytes(step_bytes(op));
    talus_cpu_for_each_group_when_ready(op, step_group, pass);
    combine_step_sums(pass, total);
    *sums = (TalusStepSums){.restart = total[RESTART],
                            .dx2 = x * total[DX2],
                            .dg2 = v2 / unit->inverse_mass * total[DG2],
                            .x2 = x * total[X2],
                            .residual2 = v2 * total[RESIDUAL2],
                            .residual_max = unit->speed * sqrt(total[RESIDUAL_MAX2])};
    return fmax(pass->run->offset, unit->speed * sqrt(total[SIZE_MAX2]));
}

void talus_cpu_run_write_back(const TalusOperator *op, TalusAccelerated *state)
{
    Pass pass = {.op = op, .run = (void *)op->scratch->single, .state = state};
    if (state->warm)
        talus_cpu_for_each_group(op, read_group, &pass);
    state->warm = false;
}

void talus_cpu_run_widen(const TalusOperator *op, TalusAccelerated *state)
{
    state->warm = true; /* the packs are those of the last run */
    talus_cpu_run_write_back(op, state);
    talus_cpu_op_gradient(op, state->metric, state->x_prev, true, state->g_prev);
    state->single = state->spent = false;
}

TalusStatus talus_cpu_run_accelerate(const TalusOperator *op, TalusAccelerated *state,
                                     TalusMomentum *momentum, TalusRun *run)
{
    Pass pass = {.op = op, .run = (void *)op->scratch->single, .state = state};
    bool go = true, spent = false;
    if (!state->warm)
        TALUS_TRY(start_run(&pass));
    state->warm = true;
    for (talus_run_reset(run); go && !spent && run->done < run->iterations; run->done++) {
        TalusStepSums sums;
        state->step = talus_momentum_step(momentum, state->beta);
        state->lag = momentum->lag;
        state->want_residual = talus_run_measures(run, run->done);
        double rounded = take_step(&pass, &sums);
        talus_momentum_update(momentum, &sums, run->since + run->done > 0, FLT_EPSILON,
                              &state->beta);
        if (state->want_residual) {
            talus_momentum_adapt_bound(momentum, sums.residual2, &state->beta);
            go = !talus_run_record(run, talus_all_blocks(op), sums.residual2, sums.residual_max);
            spent = sqrt(sums.residual2 / talus_all_blocks(op)) < SINGLE_SPENT * rounded;
        }
    }
    if (spent) {
        momentum->least2 = 0.0; /* the next residual is another number, in double precision */
        state->spent = true;
        if (state->x_prev)
            talus_cpu_run_widen(op, state);
    }
    return TALUS_OK;
}
