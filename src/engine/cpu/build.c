/* engine/cpu/build.c - the contact problem of a step, or of a part of it, from contacts and joints.
 *
 * Offsets and compliances follow docs/reference/contact-problem.md; engine/contact_terms.h has the formulas.
 *
 * Every slot is a body of the problem. The record of a slot that is empty, fixed or asleep is 0; the record of a driven
 * body has its velocities, with inverse mass and inertia 0. In the pair of a contact a fixed body is -1; a driven or
 * sleeping body is its slot. */
#include "engine/cpu/engine.h"

#include <math.h>
#include <string.h>

typedef struct BuildContext {
    CpuEngine *engine;
    TalusOperator *op;
    double *length, *gamma; /* of the problem: lengths of bodies, impulses */
} BuildContext;

/* Returns the context of a loop over the engine's problem. */
static BuildContext build_context(CpuEngine *e)
{
    BuildContext c = {e, talus_problem_operator(e->problem), talus_problem_lengths(e->problem),
                      talus_problem_gamma(e->problem)};
    return c;
}

/* ---- bodies ---- */

/* Writes records, lengths and inverse inertias of a chunk of slots. */
static void fill_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const BuildContext *c = context;
    const CpuEngine *e = c->engine;
    const TalusBodyArrays *b = &e->bodies;
    for (int64_t i = begin; i < end; i++) {
        double *record = c->op->body[i];
        double l = 1.0, fixed[8] = {0.0};
        TalusSym3 inertia = {0};
        memcpy(record, fixed, sizeof fixed);
        if (cpu_is_free(e, i)) {
            const TalusGyration *gyration = cpu_gyration(e, i);
            double inv_mass = 1.0 / b->mass[i];
            l = b->radius[i];
            inertia = talus_body_inverse_inertia(gyration, inv_mass, l, b->orientation[i]);
            talus_body_record(e->free_velocity[i], b->spin[i], inv_mass, l, gyration, inertia,
                              record);
            if (cpu_has_force(e, i))
                talus_record_add_torque(e->torque[i], inertia, e->build_options.h, l, record);
        } else if (cpu_is_driven(e, i)) {
            l = b->radius[i] > 0.0 ? b->radius[i] : 1.0;
            talus_body_record(b->velocity[i], b->spin[i], 0.0, l, NULL, inertia, record);
        }
        c->length[i] = l;
        if (c->op->inverse_inertia)
            talus_sym3_store(c->op->inverse_inertia[i], inertia);
    }
}

void cpu_fill_bodies(CpuEngine *e)
{
    BuildContext c = build_context(e);
    talus_parallel(e->pool, c.op->bodies, CPU_GRAIN, fill_bodies, &c);
}

/* ---- contacts ---- */

/* Writes the arms of general contact i of the problem, divided by the lengths of its bodies; the arm of b is 0 if b is
 * fixed. In a problem of 6 rows the contacts of the list's sphere runs are general too; their arms are n and -n. */
static void fill_arms(const BuildContext *c, int64_t i, const TalusContact *contact, bool b_moves)
{
    const TalusContactList *list = c->engine->contacts;
    double *out = c->op->arm[i - c->op->sphere_sphere - c->op->sphere_fixed];
    TalusVec3 a = contact->normal, b = {0.0, 0.0, 0.0};
    if (i >= list->sphere_sphere + list->sphere_fixed) {
        const TalusArms *arms = &list->arms[contact->general];
        a = talus_scale(1.0 / c->length[contact->a], arms->a);
        b = b_moves ? talus_scale(1.0 / c->length[contact->b], arms->b) : b;
    } else if (b_moves) {
        b = talus_neg(contact->normal);
    }
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
    out[3] = b.x;
    out[4] = b.y;
    out[5] = b.z;
}

/* Returns talus_rolling_radius of the body in `slot`. */
static double rolling_radius(const CpuEngine *e, uint32_t slot)
{
    return talus_rolling_radius(&e->tables.shape[e->bodies.shape[slot]].def, e->bodies.size[slot]);
}

/* Writes friction coefficients and levers of the moment rows of contact i. */
static void fill_moments(const BuildContext *c, int64_t i, const TalusContact *contact,
                         const TalusLaw *law, bool b_moves)
{
    const CpuEngine *e = c->engine;
    double length = talus_moment_length(
        rolling_radius(e, contact->a), rolling_radius(e, contact->b), cpu_contact_size(e, contact));
    c->op->moment_mu[i][0] = law->spinning;
    c->op->moment_mu[i][1] = law->rolling;
    c->op->lever[i][0] = length / c->length[contact->a];
    c->op->lever[i][1] = b_moves ? length / c->length[contact->b] : 0.0;
}

/* Returns applied force and torque on the body in `slot`, and its length. */
static TalusLoad applied_load(const BuildContext *c, uint32_t slot)
{
    const CpuEngine *e = c->engine;
    TalusLoad load = {.length = c->length[slot]};
    if (cpu_has_force(e, slot)) {
        load.force = e->force[slot];
        load.torque = e->torque[slot];
    }
    return load;
}

/* Returns talus_contact_offset of contact i. */
static double contact_offset(const BuildContext *c, int64_t i, const TalusContact *contact,
                             const TalusLaw *law, double size)
{
    const CpuEngine *e = c->engine;
    double closing = cpu_image_closing(e, i);
    if (e->forces == 0 || law->restitution == 0.0) /* loads matter to a rebound only */
        return talus_contact_offset(c->op, i, law, &e->build_options, contact->gap, size, closing,
                                    NULL);
    TalusLoad load[2] = {applied_load(c, contact->a), applied_load(c, contact->b)};
    return talus_contact_offset(c->op, i, law, &e->build_options, contact->gap, size, closing,
                                load);
}

/* Adds the velocity of the contact's image to offset and slip. */
static void add_image_velocity(const BuildContext *c, int64_t i, const TalusContact *contact)
{
    TalusVec3 jump = cpu_image_velocity(c->engine, contact);
    double world[3] = {jump.x, jump.y, jump.z}, local[3];
    talus_frame_to_local(c->op->frame[i], world, local);
    c->op->bias[i] += local[0];
    if (!c->op->slip)
        return;
    c->op->slip[i][0] = local[1];
    c->op->slip[i][1] = local[2];
}

/* Writes contact i of the problem: pair, frame, law, arms, offset, compliance and initial impulse (without attraction);
 * and engine->overlap_rate[i], if contacts have relative compliance. */
static void fill_contact(const BuildContext *c, int64_t i, const TalusContact *contact, double size)
{
    const CpuEngine *e = c->engine;
    TalusOperator *op = c->op;
    const TalusBuildOptions *o = &e->build_options;
    int a = (int)contact->a, b = (int)contact->b;
    bool b_moves = e->bodies.mobility[b] != TALUS_MOBILITY_FIXED; /* free, driven or asleep */
    const TalusLaw *law = cpu_contact_law(e, contact);
    op->pair[i][0] = a;
    op->pair[i][1] = b_moves ? b : -1;
    talus_frame_from_normal(op->frame[i], contact->normal.x, contact->normal.y, contact->normal.z);
    if (op->rows >= 3)
        op->mu[i] = law->mu;
    if (op->model)
        op->model[i] = law->model;
    if (i >= op->sphere_sphere + op->sphere_fixed)
        fill_arms(c, i, contact, b_moves);
    if (op->rows == 6)
        fill_moments(c, i, contact, law, b_moves);
    /* otherwise talus_contact_fill_compliance writes the offset */
    if (!talus_always_relative_compliance(law, o))
        op->bias[i] = contact_offset(c, i, contact, law, size);
    talus_contact_warm_start(op->frame[i], op->rows, o->impulse_ratio, e->contacts->impulse[i],
                             &c->gamma[op->rows * i]);
    if (op->compliance) {
        double overlap_rate = talus_contact_fill_compliance(op, i, law, o, contact->gap, size,
                                                            e->contacts->impulse[i]);
        if (o->compliance > 0.0)
            e->overlap_rate[i] = overlap_rate;
    }
    if (e->cell_moves)
        add_image_velocity(c, i, contact);
}

/* Contacts between the one that is filled and the one whose second body is fetched: second bodies are scattered. */
enum { CONTACTS_AHEAD = 6 };

/* Fetches what fill_contact reads of the contact's second body. */
static inline void prefetch_second_body(const TalusOperator *op, const TalusContact *contact)
{
    __builtin_prefetch(op->body[contact->b]);
    if (op->inverse_inertia)
        __builtin_prefetch(op->inverse_inertia[contact->b]);
}

/* Writes the contacts of a group. Partials, over overlapping contacts: sum, number and maximum of overlap over size. */
static void fill_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    CpuEngine *e = c->engine;
    double sum = 0.0, number = 0.0, deepest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const TalusContact *contact = &e->contacts->contact[i];
        double size = cpu_contact_size(e, contact);
        if (i + CONTACTS_AHEAD < end)
            prefetch_second_body(c->op, contact + CONTACTS_AHEAD);
        fill_contact(c, i, contact, size);
        if (contact->gap < 0.0) {
            double depth = -contact->gap / size;
            sum += depth;
            number += 1.0;
            deepest = talus_max(depth, deepest);
        }
    }
    double *partial = e->partial[chunk];
    partial[0] = sum;
    partial[1] = number;
    partial[2] = deepest;
}

/* Sets the report from the partials that fill_contacts wrote, one row per group. */
static void report_penetration(CpuEngine *e, TalusBuildReport *report)
{
    double sum[2], deepest = 0.0;
    cpu_drop_foreign_groups(e);
    cpu_sum_partials(e, e->groups.count, 2, sum);
    for (int i = 0; i < e->groups.count; i++)
        deepest = talus_max(e->partial[i][2], deepest);
    talus_comm_find_maxima(e->bodies.comm, &deepest, 1);
    report->penetration_mean = sum[1] > 0.0 ? sum[0] / sum[1] : 0.0;
    report->penetration_max = deepest;
}

/* ---- joints, behind the contacts ---- */

static int count_joint_blocks(const CpuEngine *e)
{
    return e->joints.bounded + e->joints.free;
}

/* Writes block i of the problem from a joint's block. */
static void fill_joint(const BuildContext *c, const TalusEngineJoint *joint, int64_t i)
{
    TalusOperator *op = c->op;
    double *gamma = &c->gamma[op->rows * i];
    for (int side = 0; side < 2; side++)
        op->pair[i][side] = joint->slot[side];
    memcpy(op->frame[i], joint->frame, sizeof joint->frame);
    memcpy(op->arm[i - op->sphere_sphere - op->sphere_fixed], joint->arm, sizeof joint->arm);
    op->bias[i] = joint->bias;
    op->mu[i] = joint->mu;
    op->model[i] = joint->model;
    if (op->compliance)
        op->compliance[i] = joint->compliance;
    if (op->rows == 6) {
        op->moment_mu[i][0] = op->moment_mu[i][1] = 0.0;
        op->lever[i][0] = joint->lever[0];
        op->lever[i][1] = joint->lever[1];
    }
    memset(gamma, 0, (size_t)op->rows * sizeof *gamma);
    memcpy(gamma, joint->gamma, sizeof joint->gamma);
}

/* Writes the blocks of all joints, behind the contacts. */
static void fill_joints(const BuildContext *c)
{
    const CpuEngine *e = c->engine;
    for (int k = 0; k < count_joint_blocks(e); k++)
        fill_joint(c, &e->joints.block[k], e->contacts->count + k);
}

/* Adds the changes of free velocities by torque motors to the records. */
static void add_motor_changes(const BuildContext *c)
{
    const TalusEngineJoints *joints = &c->engine->joints;
    for (int k = 0; k < joints->motor_changes; k++)
        for (int j = 0; j < 8; j++)
            c->op->body[joints->motor_change[k].slot][j] += joints->motor_change[k].change[j];
}

/* ---- cohesion ---- */

/* Sets gamma to the attractive impulses with negative sign; tangential rows and moments are 0. */
static void fill_negative_attraction(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    int rows = c->op->rows;
    (void)chunk;
    memset(&c->gamma[rows * begin], 0, (size_t)(rows * (end - begin)) * sizeof *c->gamma);
    for (int64_t i = begin; i < end; i++)
        c->gamma[rows * i] = -cpu_attractive_impulse(c->engine, i);
}

/* Sets gamma to the initial impulses: impulses of the list, which are net of attraction, plus the attractive impulse;
 * normal impulses are at least 0. */
static void fill_initial_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    const CpuEngine *e = c->engine;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *gamma = &c->gamma[c->op->rows * i];
        talus_contact_warm_start(c->op->frame[i], c->op->rows, e->build_options.impulse_ratio,
                                 e->contacts->impulse[i], gamma);
        gamma[0] = talus_max(gamma[0] + cpu_attractive_impulse(e, i), 0.0);
    }
}

/* Adds the attractive impulses c h (talus_attractive_impulse) to the free velocities: v_f <- v_f - M^-1 D (c h e_n),
 * e_n being 1 on normal rows of contacts. gamma serves as work space and then gets the initial impulses again. */
static void add_attraction(BuildContext *c)
{
    CpuEngine *e = c->engine;
    int count = e->contacts->count, rows = c->op->rows;
    memset(&c->gamma[rows * (int64_t)count], 0,
           (size_t)(rows * count_joint_blocks(e)) * sizeof *c->gamma);
    talus_parallel(e->pool, count, CPU_GRAIN, fill_negative_attraction, c);
    const double(*velocity)[8] = talus_problem_velocities(e->problem);
    if (c->op->bodies > 0)
        memcpy(c->op->body, velocity, (size_t)c->op->bodies * sizeof *c->op->body);
    talus_parallel(e->pool, count, CPU_GRAIN, fill_initial_impulses, c);
    for (int k = 0; k < count_joint_blocks(e); k++)
        memcpy(&c->gamma[rows * (int64_t)(count + k)], e->joints.block[k].gamma,
               sizeof e->joints.block[k].gamma);
}

/* ---- the whole problem ---- */

/* Returns the rows per block that the contacts of this step need: 1, 3 or 6. */
static int count_rows(const CpuEngine *e)
{
    int rows = 1, most = e->tables.moments ? 6 : e->tables.friction ? 3 : 1;
    for (int i = 0; i < e->contacts->count && rows < most; i++) {
        int need = talus_law_rows(cpu_contact_law(e, &e->contacts->contact[i]));
        rows = need > rows ? need : rows;
    }
    double most_rows = rows; /* of all ranks */
    talus_comm_find_maxima(e->bodies.comm, &most_rows, 1);
    return (int)most_rows;
}

/* Returns the sizes of the problem. With 6 rows all contacts are general; with joints there are at least 3 rows. */
static TalusProblemSizes problem_sizes(const CpuEngine *e)
{
    const TalusContactList *list = e->contacts;
    int rows = count_rows(e), more = count_joint_blocks(e);
    rows = more > 0 && rows < 3 ? 3 : rows;
    TalusProblemSizes sizes = {
        .bodies = e->bodies.slots,
        .sphere_sphere = rows == 6 ? 0 : list->sphere_sphere,
        .sphere_fixed = rows == 6 ? 0 : list->sphere_fixed,
        .general = (rows == 6 ? list->count : list->general) + more,
        .first_runs = {rows == 6 ? list->sphere_sphere : 0, rows == 6 ? list->sphere_fixed : 0},
        .joints = e->joints.free,
        .rows = rows,
        .compliance = e->build_options.soften > 0.0 || e->build_options.compliance > 0.0 ||
                      e->tables.compliance || e->joints.compliance,
        .slip = e->cell_moves,
        .models = (e->tables.models && rows > 1) || more > 0,
    };
    sizes.inertias = talus_comm_any(e->bodies.comm, sizes.general > 0);
    return sizes;
}

/* ---- after a solve ---- */

/* What measure_overlap_ratio needs. */
typedef struct OverlapContext {
    BuildContext build;
    double smallest; /* no contact's size is smaller, m */
} OverlapContext;

/* Returns an upper bound of the overlap of contact i after the step, m, from three numbers; negative without relative
 * compliance. The overlap itself (talus_elastic_overlap) has gamma less an impulse that is not negative. */
static double overlap_bound(const BuildContext *c, int64_t i)
{
    const CpuEngine *e = c->engine;
    if (e->build_options.soften > 0.0) /* op->compliance is larger than that of the spring */
        return INFINITY;
    double rate = e->overlap_rate[i], gamma = c->gamma[c->op->rows * i];
    return rate < 0.0 ? -1.0 : e->build_options.h * (rate + c->op->compliance[i] * gamma);
}

/* Partial: largest talus_contact_overlap_ratio of the chunk; 0 if none of its contacts has relative compliance. The
 * ratio of a contact whose overlap is below that of the largest so far is not computed: it would read the contact, its
 * bodies, frame and impulse. The margin is more than the rounding of ratio and product. */
static void measure_overlap_ratio(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const OverlapContext *all = context;
    const BuildContext *c = &all->build;
    CpuEngine *e = c->engine;
    const TalusBuildOptions *o = &e->build_options;
    const double limit = (1.0 - 0x1p-48) * (o->elastic_overlap * all->smallest);
    double largest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        if (overlap_bound(c, i) < largest * limit)
            continue;
        TalusHardening s = cpu_hardening(e, c->op, i);
        if (s.compliance == 0.0)
            continue;
        const TalusContact *contact = &e->contacts->contact[i];
        double gamma = c->gamma[c->op->rows * i], size = cpu_contact_size(e, contact);
        largest = talus_max(talus_contact_overlap_ratio(o, &s, contact->gap, size, gamma), largest);
    }
    e->partial[chunk][0] = largest;
}

/* Returns the smallest size of the bodies that count in the size of contacts. */
static double smallest_size(const CpuEngine *e)
{
    const TalusBodyArrays *b = &e->bodies;
    double smallest = INFINITY;
    for (int i = 0; i < b->slots; i++)
        if (talus_is_dynamic(b->shape, b->mobility, (uint32_t)i))
            smallest = talus_min(b->size[i], smallest);
    return smallest;
}

double cpu_largest_overlap_ratio(CpuEngine *e)
{
    int count = e->contacts->count;
    double largest = 0.0;
    if (!(e->build_options.compliance > 0.0))
        return 0.0;
    OverlapContext c = {build_context(e), smallest_size(e)};
    talus_parallel(e->pool, count, CPU_GRAIN, measure_overlap_ratio, &c);
    for (int64_t i = 0; i < talus_chunks(count, CPU_GRAIN); i++)
        largest = talus_max(e->partial[i][0], largest);
    return largest;
}

/* ---- the whole problem, softened ---- */

/* Adds build_options.soften times (N + E)_nn to the compliance of contacts and joint limits, then finishes the problem
 * again. */
static TalusStatus soften_contacts(CpuEngine *e)
{
    TalusOperator *op = talus_problem_operator(e->problem);
    int count = e->contacts->count + e->joints.bounded;
    /* joint blocks other than limits stay as they are: only contacts and limits can wedge a body */
    for (int i = 0; i < count; i++)
        if (!op->model || op->model[i].section != TALUS_SECTION_JOINT)
            op->compliance[i] += e->build_options.soften * op->diagonal[i][0];
    return talus_problem_finish(e->problem);
}

TalusStatus cpu_build(TalusEngine *engine, const TalusBuildOptions *options, TalusOperator **op,
                      double **gamma, TalusBuildReport *report)
{
    CpuEngine *e = cpu_engine(engine);
    e->build_options = *options;
    TalusProblemSizes sizes = problem_sizes(e);
    TALUS_TRY(cpu_group_contacts(e));
    TALUS_TRY(TALUS_GROW(e->overlaps, (size_t)e->groups.count, 0, "overlaps"));
    if (options->compliance > 0.0)
        TALUS_TRY(TALUS_GROW(e->overlap_rate, (size_t)e->contacts->count, 0, "elastic loads"));
    TALUS_TRY(cpu_reserve_dissipation(e));
    TALUS_TRY(talus_problem_resize(e->problem, &sizes));
    BuildContext c = build_context(e);
    c.op->numbers = (TalusBodyNumbers){e->bodies.id, NULL};
    cpu_fill_bodies(e);
    talus_groups_for_each(&e->groups, e->pool, fill_contacts, &c);
    fill_joints(&c);
    report_penetration(e, report);
    TALUS_TRY(cpu_link_problem(e));
    TALUS_TRY(talus_problem_finish(e->problem));
    if (options->soften > 0.0)
        TALUS_TRY(soften_contacts(e));
    if (e->tables.cohesion)
        add_attraction(&c);
    add_motor_changes(&c);
    *op = NULL;
    *gamma = NULL;
    return TALUS_OK;
}
