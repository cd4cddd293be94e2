/* engine/cuda/build.cu - the contact problem of one step, built from the contact list. The counterpart of engine/cpu/build.c, with the formulas of engine/body.h and contact_terms.h. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/material.h"

extern "C" {
#include "engine/body.h"
}

/* ---- bodies ---- */

/* Stores `count` numbers, an even count, two at a time; `to` is aligned to 16 bytes. */
static __device__ inline void store_pairs(double *to, const double *from, int count)
{
    double2 *out = (double2 *)to;
    for (int k = 0; k < count; k += 2)
        out[k / 2] = make_double2(from[k], from[k + 1]);
}

/* Returns the shape's inertia per unit mass, and its inverse; NULL for a sphere. */
static __device__ inline const TalusGyration *gyration_of(const CuTables &t, int shape)
{
    return t.shape[shape].def.kind == TALUS_SHAPE_SPHERE ? nullptr : &t.gyration[shape];
}

/* Fills the record of each problem body, with its free velocity, and, if `inverse_inertia` is not NULL, its inverse
 * inertia. Records of bodies that are neither free nor driven are 0. free: free velocities by slot, without torques. */
static __global__ void fill_body_records(CuBodies b, CuTables t, double h, int problem_bodies,
                                         const uint32_t *slot, const TalusVec3 *free,
                                         CuRecord *body, CuSym3 *inverse_inertia)
{
    int64_t p = item_index();
    if (p >= problem_bodies)
        return;
    uint32_t i = slot[p];
    double record[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    TalusSym3 m = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (cu_is_free(b.shape, b.mobility, i)) {
        const TalusGyration *gyration = gyration_of(t, b.shape[i]);
        double inv_mass = 1.0 / b.mass[i], l = b.radius[i];
        TalusQuat turn = talus_quat_identity();
        if (gyration)
            turn = b.orientation[i];
        m = talus_body_inverse_inertia(gyration, inv_mass, l, turn);
        talus_body_record(free[i], b.spin[i], inv_mass, l, gyration, m, record);
        if (i < (uint32_t)b.force_count)
            talus_record_add_torque(b.torque[i], m, h, l, record);
    } else if (cu_is_driven(b, i)) {
        talus_body_record(b.velocity[i], b.spin[i], 0.0, cu_body_length(b, i), nullptr, m, record);
    }
    store_pairs(body[p], record, 8);
    if (inverse_inertia) {
        double values[6];
        talus_sym3_store(values, m);
        store_pairs(inverse_inertia[p], values, 6);
    }
}

void cu_fill_body_records(TalusEngine *e)
{
    const TalusOperator *op = &e->step.op;
    launch(e->cu, fill_body_records, blocks_for(op->bodies), THREADS, e->bodies, e->tables,
           e->step.options.h, op->bodies, cu_current_list(e)->slot.at, e->free_velocity.at,
           e->step.body.at, op->inverse_inertia);
}

/* ---- contacts ---- */

/* Kernel argument: data from which the contacts of the problem are filled, and the operator that is filled. */
struct FillInputs : CuLawInputs {
    TalusOperator op;
    double *gamma; /* [rows * blocks]: initial impulses */
};

/* Fills op->diagonal of contact i and, if the contact is general, op->coupling. ROWS: 6 if op->rows is 6, else 3. */
template <bool GENERAL, int ROWS>
static __device__ inline void fill_diagonal(const TalusOperator *op, int i)
{
    if (GENERAL)
        cu_fill_general_diagonal<ROWS>(op, i);
    else
        talus_sphere_fill_diagonal(op, i);
}

/* Writes the arms of contact i, each divided by the length of its body; the arm of b is 0 if the pair has -1 for b. In
 * a problem of 6 rows contacts of the list's sphere runs are general too: their arms are n and -n. */
static __device__ inline void fill_arms(const FillInputs &f, int i, uint32_t a, uint32_t b)
{
    int general = i - f.op.sphere_sphere - f.op.sphere_fixed;
    int of_list = i - f.list.counts.sphere_sphere - f.list.counts.sphere_fixed;
    CuFrame n = f.list.frame[i];
    TalusVec3 arm_a = talus_vec3(n.x, n.y, n.z), arm_b = talus_vec3(0.0, 0.0, 0.0);
    bool b_moves = f.op.pair[i][1] >= 0;
    if (of_list >= 0) {
        TalusArms arms = f.list.arms[of_list];
        arm_a = talus_scale(1.0 / f.b.radius[a], arms.a);
        if (b_moves)
            arm_b = talus_scale(1.0 / cu_body_length(f.b, b), arms.b);
    } else if (b_moves) {
        arm_b = talus_neg(arm_a);
    }
    double values[6] = {arm_a.x, arm_a.y, arm_a.z, arm_b.x, arm_b.y, arm_b.z};
    store_pairs(f.op.arm[general], values, 6);
}

/* Returns talus_rolling_radius of the body in a slot. */
static __device__ inline double rolling_radius(const FillInputs &f, uint32_t slot)
{
    return talus_rolling_radius(&f.tables.shape[f.b.shape[slot]].def, f.b.size[slot]);
}

/* Writes moment_mu and lever of contact i, for a problem with moment rows. */
static __device__ inline void fill_moments(const FillInputs &f, int i, const TalusLaw *law,
                                           uint32_t a, uint32_t b, double size)
{
    double length = talus_moment_length(rolling_radius(f, a), rolling_radius(f, b), size);
    f.op.moment_mu[i][0] = law->spinning;
    f.op.moment_mu[i][1] = law->rolling;
    f.op.lever[i][0] = length / f.b.radius[a];
    f.op.lever[i][1] = f.op.pair[i][1] >= 0 ? length / cu_body_length(f.b, b) : 0.0;
}

/* Returns the applied force and torque on a body, with the body's length. */
static __device__ inline TalusLoad applied_load(const CuBodies &b, uint32_t slot)
{
    const TalusVec3 zero = talus_vec3(0.0, 0.0, 0.0);
    if (slot >= (uint32_t)b.force_count)
        return TalusLoad{zero, zero, cu_body_length(b, slot)};
    return TalusLoad{b.force[slot], b.torque[slot], cu_body_length(b, slot)};
}

/* Returns the normal offset of contact i: its bias and, with restitution, the rebound. Applied loads count only with
 * restitution. */
static __device__ inline double contact_offset(const FillInputs &f, int i, const TalusLaw *law,
                                               uint32_t a, uint32_t b, double size)
{
    double gap = f.list.gap[i];
    if (law->restitution == 0.0 || f.b.force_count == 0)
        return talus_contact_offset(&f.op, i, law, &f.options, gap, size, 0.0, nullptr);
    TalusLoad load[2] = {applied_load(f.b, a), applied_load(f.b, b)};
    return talus_contact_offset(&f.op, i, law, &f.options, gap, size, 0.0, load);
}

/* Fills contact i of the problem, with its initial impulse. GENERAL: the contact is general in the problem. LAWS: some
 * law has a friction model, restitution or moments. If the contact overlaps, adds its overlap over size to v[0] and 1
 * to v[1], and raises v[2] to the overlap over size. Raises v[3] to -i if its normal diagonal entry is not positive and
 * finite. */
template <bool GENERAL, bool LAWS, int ROWS>
static __device__ inline void fill_contact(const FillInputs &f, int i, double (&v)[4])
{
    const TalusOperator *op = &f.op;
    const TalusBuildOptions *o = &f.options;
    uint32_t a = f.list.slot[f.list.pair[i].x], b = f.list.slot_b[i];
    double gap = f.list.gap[i], size = cu_contact_size(f, i);
    const TalusLaw *law = cu_law_of_bodies(f, a, b);
    if (op->rows > 1)
        op->mu[i] = law->mu;
    talus_contact_warm_start(op->frame[i], op->rows, o->impulse_ratio, f.list.impulse[i],
                             &f.gamma[(int64_t)op->rows * i]);
    if (GENERAL)
        fill_arms(f, i, a, b);
    if (LAWS && op->model)
        op->model[i] = law->model;
    if (LAWS && ROWS == 6)
        fill_moments(f, i, law, a, b, size);
    op->bias[i] = LAWS ? contact_offset(f, i, law, a, b, size)
                       : talus_contact_bias(law, o->h, o->recovery, o->gravity, gap, size);
    if (op->compliance)
        talus_contact_fill_compliance(op, i, law, o, gap, size, f.list.impulse[i]);
    fill_diagonal<GENERAL, ROWS>(op, i);
    if (o->soften > 0.0) {
        op->compliance[i] += o->soften * op->diagonal[i][0];
        fill_diagonal<GENERAL, ROWS>(op, i);
    }
    if (gap < 0.0) {
        double depth = -gap / size;
        v[0] += depth;
        v[1] += 1.0;
        v[2] = larger(v[2], depth);
    }
    double nn = op->diagonal[i][0];
    if (!(nn > 0.0) || !isfinite(nn))
        v[3] = larger(v[3], -(double)i);
}

/* Fills contacts begin to end - 1 (fill_contact) and writes the totals of v. */
template <bool GENERAL, bool LAWS, int ROWS>
static __global__ void fill_contacts(CuTallies tallies, double *totals, FillInputs f, int begin,
                                     int end)
{
    sum_items<2, 2>(tallies, totals, begin, end, -HUGE_VAL, [&](int64_t i, double(&v)[4]) {
        fill_contact<GENERAL, LAWS, ROWS>(f, (int)i, v);
    });
}

/* ---- the problem ---- */

/* Reserves the operator's arrays of contacts and blocks, and gamma, and sets the operator's pointers to them. */
static TalusStatus reserve_contacts(CuStep *s, TalusOperator *op, bool compliance)
{
    TALUS_TRY(s->bias.reserve(op->blocks, "contact offsets"));
    TALUS_TRY(s->diagonal.reserve(op->blocks, "diagonal"));
    TALUS_TRY(s->arm.reserve(op->general, "contact arms"));
    TALUS_TRY(s->coupling.reserve(op->general, "contact blocks"));
    TALUS_TRY(s->gamma.reserve((int64_t)op->rows * op->blocks, "impulses"));
    if (op->rows > 1)
        TALUS_TRY(s->mu.reserve(op->blocks, "friction coefficients"));
    if (compliance)
        TALUS_TRY(s->compliance.reserve(op->blocks, "compliances"));
    op->bias = s->bias;
    op->diagonal = s->diagonal;
    op->arm = s->arm;
    op->coupling = s->coupling;
    op->mu = op->rows > 1 ? s->mu.at : nullptr;
    op->compliance = compliance ? s->compliance.at : nullptr;
    return TALUS_OK;
}

/* True if some block has this law. */
static bool has_law(const TalusOperator *op, TalusFrictionLaw law)
{
    return (op->kinds & TALUS_KINDS_OF(law)) != 0;
}

/* Reserves the friction arrays that op->kinds needs besides mu, `model` only if `models`, and sets the operator's
 * pointers to them. Sets op->prisms and op->mixed_sets. */
static TalusStatus reserve_friction(CuStep *s, TalusOperator *op, bool models)
{
    bool fixed = has_law(op, TALUS_LAW_FIXED), exact = has_law(op, TALUS_LAW_COULOMB);
    models = models && op->rows > 1;
    op->prisms = false;
    op->mixed_sets = talus_sets_are_mixed(op->rows, op->kinds, false);
    if (models)
        TALUS_TRY(s->model.reserve(op->blocks, "friction models"));
    if (fixed)
        TALUS_TRY(s->estimate.reserve(op->blocks, "bounds"));
    if (exact)
        TALUS_TRY(s->unshifted.reserve(op->blocks, "normal offsets"));
    op->model = models ? s->model.at : nullptr;
    op->estimate = fixed ? s->estimate.at : nullptr;
    op->unshifted = exact ? s->unshifted.at : nullptr;
    return TALUS_OK;
}

/* With 6 rows: reserves moment_mu and lever, and replaces op->incidence by a renumbered copy, because every contact is
 * then general. */
static TalusStatus reserve_moments(TalusEngine *e)
{
    CuStep *s = &e->step;
    TalusOperator *op = &s->op;
    op->moment_mu = op->lever = nullptr;
    if (op->rows < 6)
        return TALUS_OK;
    TALUS_TRY(s->moment_mu.reserve(op->blocks, "friction against turning"));
    TALUS_TRY(s->lever.reserve(op->blocks, "contact levers"));
    TALUS_TRY(s->incidence.reserve(2 * (int64_t)op->blocks, "body contacts"));
    op->moment_mu = s->moment_mu;
    op->lever = s->lever;
    cu_renumber_incidence(e, s->incidence);
    op->incidence = s->incidence;
    return TALUS_OK;
}

/* Sets op->rows and op->kinds to what the contacts need; joints need at least three rows and add a kind of their
 * own. */
static TalusStatus find_rows_and_kinds(TalusEngine *e, TalusOperator *op)
{
    TALUS_TRY(cu_find_rows_and_kinds(e, &op->rows, &op->kinds));
    if (cu_joint_block_count(e) == 0)
        return TALUS_OK;
    if (op->rows > 1 && op->kinds == 0) /* kinds is 0 for discs under ccp alone: set their bit */
        op->kinds = e->tables.kinds;
    op->rows = op->rows < 3 ? 3 : op->rows;
    op->kinds |= TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_JOINT);
    return TALUS_OK;
}

/* True if the problem of all ranks has general blocks. */
static bool has_general(const TalusEngine *e, const TalusOperator *op)
{
    return op->general || e->all_contacts[1] > 0 || (op->rows == 6 && e->all_contacts[0] > 0);
}

/* Sets the operator's sizes, reserves its arrays for the current list and the joints, and completes its incidence. */
static TalusStatus prepare_operator(TalusEngine *e, bool compliance)
{
    CuList *list = cu_current_list(e);
    const TalusEngineCounts *n = &list->counts;
    CuStep *s = &e->step;
    TalusOperator *op = &s->op;
    int joints = cu_joint_block_count(e);
    TALUS_TRY(find_rows_and_kinds(e, op));
    bool turns = op->rows == 6;
    int64_t blocks = (int64_t)n->contacts + joints, general = (int64_t)n->general + joints;
    if (turns ? blocks > INT32_MAX / 6 : blocks * 3 + general > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "problem: %lld contacts are more than %d",
                          (long long)blocks, INT32_MAX / (turns ? 6 : 3));
    op->blocks = (int)blocks;
    op->bodies = list->problem_bodies;
    op->sphere_sphere = turns ? 0 : n->sphere_sphere;
    op->sphere_fixed = turns ? 0 : n->sphere_fixed;
    op->general = (int)(turns ? blocks : general);
    op->list_end[0] = n->sphere_sphere;
    op->list_end[1] = n->sphere_sphere + n->sphere_fixed;
    op->pair = (int32_t(*)[2])list->pair.at;
    op->frame = (double(*)[4])list->frame.at;
    op->incidence_start = list->incidence_start;
    op->incidence = list->incidence;
    op->numbers = TalusBodyNumbers{e->bodies.ids_differ ? e->bodies.id.at : nullptr, list->slot.at};
    TALUS_TRY(s->body.reserve(op->bodies, "bodies of the problem"));
    op->body = s->body;
    op->inverse_inertia = nullptr;
    if (has_general(e, op)) {
        TALUS_TRY(s->inverse_inertia.reserve(op->bodies, "body inertias"));
        op->inverse_inertia = s->inverse_inertia;
    }
    TALUS_TRY(reserve_contacts(s, op, compliance));
    TALUS_TRY(reserve_friction(s, op, e->tables.models || joints));
    TALUS_TRY(reserve_moments(e));
    return cu_joints_extend_operator(e);
}

/* Sets all estimates to 0 and op->unshifted to the bias, which contains no shift yet. */
static void reset_friction(const TalusOperator *op)
{
    size_t bytes = (size_t)op->blocks * sizeof(double);
    if (op->estimate)
        cu_zero(cu_context_of(op), op->estimate, bytes);
    if (op->unshifted)
        cu_copy(cu_context_of(op), op->unshifted, op->bias, bytes);
}

/* Launches the kernels that fill bodies, contacts and joints of the problem. Totals 0 to 3 are those of fill_contact
 * over the contacts of spheres, totals 4 to 7 over the general ones. */
static void fill_problem(TalusEngine *e)
{
    CuStep *s = &e->step;
    const TalusOperator *op = &s->op;
    FillInputs f = {cu_law_inputs(e), *op, s->gamma.at};
    bool turns = op->rows == 6, laws = op->model || e->tables.restitution;
    int spheres = op->sphere_sphere + op->sphere_fixed;
    auto *fill_general = turns  ? fill_contacts<true, true, 6>
                         : laws ? fill_contacts<true, true, 3>
                                : fill_contacts<true, false, 3>;
    cu_fill_body_records(e);
    launch_sums(e->cu, laws ? fill_contacts<false, true, 3> : fill_contacts<false, false, 3>,
                spheres, e->cu->totals, f, 0, spheres);
    if (has_general(e, op))
        launch_sums(e->cu, fill_general, op->general, e->cu->totals + 4, f, spheres,
                    f.list.counts.contacts);
    cu_joints_fill_blocks(e);
    reset_friction(op);
}

/* Downloads the totals of fill_problem and of cu_scratch_begin; completes the scratch and fills the report. Fails if
 * some contact's normal diagonal entry is not positive and finite. */
static TalusStatus report_problem(const TalusOperator *op, bool general, TalusBuildReport *report)
{
    double v[CU_TOTALS];
    cu_totals_get(cu_context_of(op), CU_TOTALS, v);
    cu_scratch_end(op, v);
    if (general)
        for (int k = 0; k < 4; k++)
            v[k] = k < 2 ? v[k] + v[4 + k] : fmax(v[k], v[4 + k]);
    report->penetration_mean = v[1] > 0.0 ? v[0] / v[1] : 0.0;
    report->penetration_max = fmax(v[2], 0.0);
    if (!(v[3] > -HUGE_VAL))
        return TALUS_OK;
    if (op->halo)
        return talus_reject("problem: a block of some rank has a diagonal entry that is not "
                            "positive");
    double bad[2];
    int block = (int)-v[3];
    cu_get(cu_context_of(op), bad, op->diagonal[block], sizeof bad);
    return talus_reject("problem: block %d has the diagonal entry %g, expected a positive one",
                        block, bad[0]);
}

TalusStatus cu_engine_build(TalusEngine *e, const TalusBuildOptions *options, TalusOperator **op,
                            double **gamma, TalusBuildReport *report)
{
    CuStep *s = &e->step;
    s->options = *options;
    bool compliance = e->tables.compliance || (cu_joint_block_count(e) && e->joints.compliance);
    compliance = compliance || options->soften > 0.0 || options->compliance > 0.0;
    TALUS_TRY(talus_comm_agree(e->comm, prepare_operator(e, compliance)));
    TALUS_TRY(cu_link_problem(e));
    TALUS_TRY(cu_scratch_begin(&s->op));
    fill_problem(e);
    TALUS_TRY(report_problem(&s->op, has_general(e, &s->op), report));
    if (e->tables.cohesion)
        cu_add_attraction(e);
    cu_joints_add_motors_and_impulses(e);
    *op = &s->op;
    *gamma = s->gamma;
    return cu_check(e->cu);
}

void cu_step_clear(TalusEngine *e)
{
    CuStep *s = &e->step;
    cu_scratch_clear(&s->op);
    cu_clear(s->body, s->inverse_inertia, s->arm, s->coupling, s->bias, s->mu, s->compliance,
             s->gamma, s->diagonal, s->model, s->estimate, s->unshifted, s->moment_mu, s->lever,
             s->incidence);
}
