/* engine/cpu/build.c - from contacts to the contact problem of a step or of a part of it.
 *
 * Offsets and compliances follow docs/reference/contact-problem.md; engine/contact_terms.h has the formulas.
 *
 * Every slot is a body of the problem. The record of a slot that is empty, fixed or asleep is 0; that of a driven body
 * has velocities, but inverse mass and inertia 0. A contact with a fixed body names body -1; one with a driven or
 * sleeping body names that. */
#include "engine/cpu/engine.h"

#include <math.h>
#include <string.h>

typedef struct BuildContext {
    CpuEngine *engine;
    TalusOperator *op;
    double *length, *gamma;
} BuildContext;

static BuildContext context_of(CpuEngine *e)
{
    BuildContext c = {e, talus_problem_operator(e->problem), talus_problem_lengths(e->problem),
                      talus_problem_gamma(e->problem)};
    return c;
}

/* ---- bodies ---- */

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
        if (cpu_moves(e, i)) {
            const TalusGyration *gyration = cpu_gyration(e, i);
            double inv_mass = 1.0 / b->mass[i];
            l = b->radius[i];
            inertia = talus_body_inertia(gyration, inv_mass, l, b->orientation[i]);
            talus_body_record(e->free_velocity[i], b->spin[i], inv_mass, l, gyration, inertia,
                              record);
            if (cpu_has_force(e, i))
                talus_record_add_torque(e->torque[i], inertia, e->built.h, l, record);
        } else if (cpu_driven(e, i)) {
            l = b->radius[i] > 0.0 ? b->radius[i] : 1.0;
            talus_body_record(b->velocity[i], b->spin[i], 0.0, l, NULL, inertia, record);
        }
        c->length[i] = l;
        if (c->op->inverse_inertia)
            talus_inertia_store(c->op->inverse_inertia[i], inertia);
    }
}

void cpu_fill_bodies(CpuEngine *e)
{
    BuildContext c = context_of(e);
    talus_parallel(e->pool, e->bodies.slots, CPU_GRAIN, fill_bodies, &c);
}

/* ---- contacts ---- */

/* Writes the arms of contact i over the lengths of its bodies; b's is 0 if b is fixed. Contacts of the list's sphere
 * runs, general in a problem of 6 rows, have the arms n and -n. */
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
    double values[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    memcpy(out, values, sizeof values);
}

static double rolling_radius(const CpuEngine *e, uint32_t slot)
{
    return talus_rolling_radius(&e->tables.shape[e->bodies.shape[slot]].def, e->bodies.size[slot]);
}

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

static TalusLoad load_of(const BuildContext *c, uint32_t slot)
{
    const CpuEngine *e = c->engine;
    TalusLoad load = {.length = c->length[slot]};
    if (cpu_has_force(e, slot)) {
        load.force = e->force[slot];
        load.torque = e->torque[slot];
    }
    return load;
}

static double offset_of(const BuildContext *c, int64_t i, const TalusContact *contact,
                        const TalusLaw *law, double size)
{
    const CpuEngine *e = c->engine;
    if (e->forces == 0 || law->restitution == 0.0) /* loads matter to a rebound only */
        return talus_contact_offset(c->op, i, law, &e->built, contact->gap, size, NULL);
    TalusLoad load[2] = {load_of(c, contact->a), load_of(c, contact->b)};
    return talus_contact_offset(c->op, i, law, &e->built, contact->gap, size, load);
}

static void fill_contact(const BuildContext *c, int64_t i, const TalusContact *contact, double size)
{
    const CpuEngine *e = c->engine;
    TalusOperator *op = c->op;
    const TalusBuildOptions *o = &e->built;
    int a = (int)contact->a, b = (int)contact->b;
    bool b_moves = e->bodies.mobility[b] != TALUS_MOBILITY_FIXED; /* free, driven or asleep */
    const TalusLaw *law = cpu_law(e, contact);
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
    if (!talus_is_always_relative(law, o)) /* else talus_contact_soften writes it */
        op->bias[i] = offset_of(c, i, contact, law, size);
    talus_contact_warm(op->frame[i], op->rows, o->impulse_ratio, e->contacts->impulse[i],
                       &c->gamma[op->rows * i]);
    if (!op->compliance)
        return;
    double load = talus_contact_soften(op, i, law, o, contact->gap, size, e->contacts->impulse[i]);
    if (o->compliance > 0.0)
        e->elastic_load[i] = load;
}

/* Partials: sum, number and maximum of overlap over size, of overlapping contacts. */
static void fill_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    CpuEngine *e = c->engine;
    double sum = 0.0, number = 0.0, deepest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const TalusContact *contact = &e->contacts->contact[i];
        double size = cpu_contact_size(e, contact);
        fill_contact(c, i, contact, size);
        if (contact->gap < 0.0) {
            double depth = -contact->gap / size;
            sum += depth;
            number += 1.0;
            deepest = fmax(deepest, depth);
        }
    }
    double *partial = e->partial[chunk];
    partial[0] = sum;
    partial[1] = number;
    partial[2] = deepest;
}

static void report_penetration(const CpuEngine *e, TalusBuildReport *report)
{
    double sum[2], deepest = 0.0;
    cpu_sum_partials(e, e->groups.count, 2, sum);
    for (int i = 0; i < e->groups.count; i++)
        deepest = fmax(deepest, e->partial[i][2]);
    report->penetration_mean = sum[1] > 0.0 ? sum[0] / sum[1] : 0.0;
    report->penetration_max = deepest;
}

/* ---- joints, behind the contacts ---- */

static int joint_blocks(const CpuEngine *e)
{
    return e->joints.kept + e->joints.free;
}

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

static void fill_joints(const BuildContext *c)
{
    const CpuEngine *e = c->engine;
    for (int k = 0; k < joint_blocks(e); k++)
        fill_joint(c, &e->joints.block[k], e->contacts->count + k);
}

/* Adds what torque motors change to the records. */
static void push_bodies(const BuildContext *c)
{
    const TalusEngineJoints *joints = &c->engine->joints;
    for (int k = 0; k < joints->pushes; k++)
        for (int j = 0; j < 8; j++)
            c->op->body[joints->push[k].slot][j] += joints->push[k].change[j];
}

/* ---- cohesion ---- */

static void fill_pulls(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    int rows = c->op->rows;
    (void)chunk;
    memset(&c->gamma[rows * begin], 0, (size_t)(rows * (end - begin)) * sizeof *c->gamma);
    for (int64_t i = begin; i < end; i++)
        c->gamma[rows * i] = -cpu_attraction(c->engine, i);
}

/* Writes initial impulses: those in the list, which are net of attraction, plus the attractive impulse; normal ones are
 * at least 0. */
static void fill_warm(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    const CpuEngine *e = c->engine;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *gamma = &c->gamma[c->op->rows * i];
        talus_contact_warm(c->op->frame[i], c->op->rows, e->built.impulse_ratio,
                           e->contacts->impulse[i], gamma);
        gamma[0] = fmax(0.0, gamma[0] + cpu_attraction(e, i));
    }
}

/* Adds the attractive impulses c h (talus_contact_pull) to the free velocities: v_f <- v_f - M^-1 D (c h e_n), e_n
 * being 1 on normal rows of contacts. gamma serves as work space and then gets the initial impulses again. */
static void attract(BuildContext *c)
{
    CpuEngine *e = c->engine;
    int count = e->contacts->count, rows = c->op->rows;
    memset(&c->gamma[rows * (int64_t)count], 0,
           (size_t)(rows * joint_blocks(e)) * sizeof *c->gamma);
    talus_parallel(e->pool, count, CPU_GRAIN, fill_pulls, c);
    const double(*velocity)[8] = talus_problem_velocities(e->problem);
    if (c->op->bodies > 0)
        memcpy(c->op->body, velocity, (size_t)c->op->bodies * sizeof *c->op->body);
    talus_parallel(e->pool, count, CPU_GRAIN, fill_warm, c);
    for (int k = 0; k < joint_blocks(e); k++)
        memcpy(&c->gamma[rows * (int64_t)(count + k)], e->joints.block[k].gamma,
               sizeof e->joints.block[k].gamma);
}

/* ---- the whole problem ---- */

/* Returns the rows per block without joints: the largest number that a contact of this step needs. */
static int count_rows(const CpuEngine *e)
{
    int rows = 1, most = e->tables.moments ? 6 : e->tables.friction ? 3 : 1;
    for (int i = 0; i < e->contacts->count && rows < most; i++) {
        int need = talus_law_rows(cpu_law(e, &e->contacts->contact[i]));
        rows = need > rows ? need : rows;
    }
    return rows;
}

static TalusProblemSizes sizes_of(const CpuEngine *e)
{
    const TalusContactList *list = e->contacts;
    int rows = count_rows(e), more = joint_blocks(e);
    rows = more > 0 && rows < 3 ? 3 : rows;
    TalusProblemSizes sizes = {
        .bodies = e->bodies.slots,
        .sphere_sphere = rows == 6 ? 0 : list->sphere_sphere,
        .sphere_fixed = rows == 6 ? 0 : list->sphere_fixed,
        .general = (rows == 6 ? list->count : list->general) + more,
        .joints = e->joints.free,
        .rows = rows,
        .compliance = e->built.soften > 0.0 || e->built.compliance > 0.0 || e->tables.compliance ||
                      e->joints.compliance,
        .models = (e->tables.models && rows > 1) || more > 0,
    };
    return sizes;
}

/* ---- after a solve ---- */

/* Partial: largest overlap after the step by relative compliance, over its limit. */
static void measure_strain(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    CpuEngine *e = c->engine;
    const TalusBuildOptions *o = &e->built;
    double largest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        TalusHardening s = cpu_hardening(e, c->op, i);
        if (s.compliance == 0.0)
            continue;
        const TalusContact *contact = &e->contacts->contact[i];
        double gamma = c->gamma[c->op->rows * i], size = cpu_contact_size(e, contact);
        largest = fmax(largest, talus_contact_strain(o, &s, contact->gap, size, gamma));
    }
    e->partial[chunk][0] = largest;
}

double cpu_strain(CpuEngine *e)
{
    int count = e->contacts->count;
    double largest = 0.0;
    if (!(e->built.compliance > 0.0))
        return 0.0;
    BuildContext c = context_of(e);
    talus_parallel(e->pool, count, CPU_GRAIN, measure_strain, &c);
    for (int64_t i = 0; i < talus_chunks(count, CPU_GRAIN); i++)
        largest = fmax(largest, e->partial[i][0]);
    return largest;
}

/* ---- the whole problem, softened ---- */

static TalusStatus soften_contacts(CpuEngine *e)
{
    TalusOperator *op = talus_problem_operator(e->problem);
    int count = e->contacts->count + e->joints.kept;
    /* contacts and, of the joints' blocks, limits: only these can push against each other */
    for (int i = 0; i < count; i++)
        if (!op->model || op->model[i].section != TALUS_SECTION_JOINT)
            op->compliance[i] += e->built.soften * op->diagonal[i][0];
    return talus_problem_finish(e->problem);
}

TalusStatus cpu_build(TalusEngine *engine, const TalusBuildOptions *options, TalusOperator **op,
                      double **gamma, TalusBuildReport *report)
{
    CpuEngine *e = cpu_engine(engine);
    e->built = *options;
    TalusProblemSizes sizes = sizes_of(e);
    TALUS_TRY(cpu_group_contacts(e));
    TALUS_TRY(TALUS_GROW(e->overlaps, (size_t)e->groups.count, 0, "overlaps"));
    if (options->compliance > 0.0)
        TALUS_TRY(TALUS_GROW(e->elastic_load, (size_t)e->contacts->count, 0, "elastic loads"));
    TALUS_TRY(talus_problem_resize(e->problem, &sizes));
    BuildContext c = context_of(e);
    c.op->numbers = (TalusBodyNumbers){e->bodies.id, NULL};
    cpu_fill_bodies(e);
    talus_groups_for_each(&e->groups, e->pool, fill_contacts, &c);
    fill_joints(&c);
    report_penetration(e, report);
    TALUS_TRY(talus_problem_finish(e->problem));
    if (options->soften > 0.0)
        TALUS_TRY(soften_contacts(e));
    if (e->tables.cohesion)
        attract(&c);
    push_bodies(&c);
    *op = NULL;
    *gamma = NULL;
    return TALUS_OK;
}
