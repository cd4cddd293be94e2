/* world/build.c - from body state to contacts, from contacts to the problem of one step.
 *
 * Offsets and compliances follow solvers.md; backend/block.h has the formulas.
 *
 * The problem knows every slot as a body: fixed and dead ones have no inverse mass and no contact
 * (contacts with fixed bodies name body -1); driven ones have no inverse mass but a velocity. */
#include "world/internal.h"

#include <string.h>

#include "base/timer.h"
#include "collide/period.h"

static const double softening = 1e-3; /* of N_nn, as compliance for infeasible steps */

/* ---- detection ---- */

typedef struct FreeContext {
    TalusWorld *world;
    double h;
    TalusVec3 change; /* h g */
} FreeContext;

static void free_velocities(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const FreeContext *c = context;
    TalusWorld *world = c->world;
    const TalusBodies *b = &world->bodies;
    double bad = 0.0, least = INFINITY;
    for (int64_t i = begin; i < end; i++) {
        TalusVec3 v = {0.0, 0.0, 0.0};
        if (talus_slot_moves(b, (int)i)) {
            TalusVec3 w = b->spin[i], x = b->position[i];
            v = talus_add(b->velocity[i], c->change);
            if (talus_slot_pushed(world, i))
                v = talus_madd(v, c->h / b->mass[i], world->forces.force[i]);
            bad += talus_state_fault(x, v, w);
            least = fmin(least, b->size[i]);
        } else if (talus_slot_driven(b, (int)i)) {
            v = b->velocity[i];
        }
        world->free_velocity[i] = v;
    }
    world->partial[chunk][0] = bad;
    world->partial[chunk][1] = least;
}

static TalusStatus name_bad_body(const TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    for (int i = 0; i < b->counts.slots; i++) {
        if (talus_slot_moves(b, i) &&
            talus_state_fault(b->position[i], world->free_velocity[i], b->spin[i]) != 0.0)
            return talus_fail(TALUS_ERR_NUMERIC,
                              "step %lld: the state of body %d (generation %u) is not finite, or "
                              "out of all proportion",
                              (long long)world->steps + 1, i, b->generation[i]);
    }
    return TALUS_OK;
}

static TalusStatus reserve_step(TalusWorld *world)
{
    size_t slots = (size_t)world->bodies.counts.slots;
    TALUS_TRY(
        TALUS_RESERVE(world->free_velocity, world->free_capacity, slots, 0, "free velocities"));
    return TALUS_RESERVE(world->partial, world->partial_capacity,
                         (size_t)talus_chunks((int64_t)slots, TALUS_GRAIN), 0, "partial sums");
}

TalusDetectOptions talus_detect_options(const TalusWorld *world, double h)
{
    /* beyond 1 a sliding contact may open out of sight; a wider envelope would see every pair */
    bool attract = world->materials.any_cohesion;
    double envelope =
        attract ? fmax(world->def.envelope, world->def.cohesion_range) : world->def.envelope;
    TalusDetectOptions options = {h, envelope, world->reference_speed,
                                  fmin(world->materials.max_friction, 1.0)};
    return options;
}

TalusBodyView talus_world_view(TalusWorld *world, const TalusVec3 *velocity, const TalusVec3 *spin)
{
    const TalusBodies *b = &world->bodies;
    TalusBodyView view = {
        .count = b->counts.slots,
        .position = b->position,
        .orientation = b->orientation,
        .velocity = velocity,
        .spin = spin,
        .radius = b->radius,
        .size = b->size,
        .shape = b->shape,
        .fixed = b->fixed,
        .shapes = world->shape,
        .shape_count = world->shapes,
        .filter = talus_filter_view(world),
        .period = talus_periodic(&world->def.period) ? &world->def.period : NULL,
    };
    return view;
}

static TalusStatus detect_with(TalusWorld *world, double h, const TalusVec3 *velocity)
{
    TalusBodyView view = talus_world_view(world, velocity, world->bodies.spin);
    TalusDetectOptions options = talus_detect_options(world, h);
    world->seen_velocity = velocity;
    TALUS_TRY(talus_detect(world->detector, world->pool, &view, &options, &world->contacts));
    world->clipped = talus_detector_clipped(world->detector);
    world->contact_count = world->contacts->count;
    return TALUS_OK;
}

static TalusStatus find_contacts(TalusWorld *world, double h)
{
    const TalusBodies *b = &world->bodies;
    FreeContext c = {world, h, talus_scale(h, world->def.gravity)};
    TALUS_TRY(reserve_step(world));
    talus_drives_aim(world, h);
    talus_parallel(world->pool, b->counts.slots, TALUS_GRAIN, free_velocities, &c);
    double bad;
    talus_sum_partials(world, b->counts.slots, 1, &bad);
    if (bad != 0.0)
        TALUS_TRY(name_bad_body(world));
    world->least_size = INFINITY;
    for (int64_t k = 0; k < talus_chunks(b->counts.slots, TALUS_GRAIN); k++)
        world->least_size = fmin(world->least_size, world->partial[k][1]);
    return detect_with(world, h, world->free_velocity);
}

TalusStatus talus_step_detect(TalusWorld *world, double h)
{
    double start = talus_now();
    TALUS_TRY(talus_sleep_reserve(world));
    do
        TALUS_TRY(find_contacts(world, h));
    while (talus_sleep_disturbed(world)); /* what has woken has contacts that were not looked for */
    world->info.detect_seconds += talus_now() - start;
    return TALUS_OK;
}

/* ---- a second look ----
 *
 * Contacts are looked for with the velocities before the solve. A body that the solve pushes may
 * close a gap that nobody watched: two bodies out of each other's envelope touch only if their
 * speeds change, together, by more than the part of the envelope that rests on no speed, over h. So
 * if no body's velocity has changed by more than half of that, nothing was missed. Otherwise the
 * contacts are looked for again, with the solved velocities, and the step is solved again from where
 * it stands: a moment's work if nothing new is found.
 *
 * That moment is short for spheres alone. Of other shapes it is most of a step, so there it is only looked where
 * the bodies whose velocities changed come to overlap anything without a contact, by more than the tolerance
 * allows contacts themselves. If nowhere, further contacts would bear nothing, and the step stands; else these
 * touches become contacts beside the others, and the step is solved again. */

typedef struct SurpriseContext {
    TalusWorld *world;
    const double (*solved)[8];
    double limit2; /* of |velocity change|^2 */
} SurpriseContext;

static void find_surprises(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SurpriseContext *c = context;
    double surprises = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const double *v = c->solved[i];
        TalusVec3 change = talus_sub(talus_vec3(v[0], v[1], v[2]), c->world->seen_velocity[i]);
        surprises +=
            talus_dot(change, change) > c->limit2 && talus_slot_moves(&c->world->bodies, (int)i);
    }
    c->world->partial[chunk][0] = surprises;
}

static void copy_solved(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SurpriseContext *c = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        c->world->solved_velocity[i] =
            talus_slot_moves(&c->world->bodies, (int)i)
                ? talus_vec3(c->solved[i][0], c->solved[i][1], c->solved[i][2])
                : c->world->free_velocity[i];
}

static void copy_spins(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SurpriseContext *c = context;
    TalusWorld *world = c->world;
    const double *length = talus_problem_lengths(world->problem);
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        const double *v = c->solved[i];
        TalusVec3 change = talus_sub(talus_vec3(v[0], v[1], v[2]), world->seen_velocity[i]);
        bool moves = talus_slot_moves(&world->bodies, (int)i);
        world->surprising[i] = moves && talus_dot(change, change) > c->limit2;
        world->solved_spin[i] = moves ? talus_scale(1.0 / length[i], talus_vec3(v[4], v[5], v[6]))
                                      : world->bodies.spin[i];
    }
}

double talus_surprise_limit(const TalusWorld *world, double h)
{
    return 0.5 * world->def.envelope * world->least_size / h + world->reference_speed;
}

bool talus_step_surprised(TalusWorld *world, double h)
{
    int slots = world->bodies.counts.slots;
    double limit = talus_surprise_limit(world, h), surprises;
    SurpriseContext c = {world, world->solved, limit * limit};
    talus_parallel(world->pool, slots, TALUS_GRAIN, find_surprises, &c);
    talus_sum_partials(world, slots, 1, &surprises);
    return surprises > 0.0;
}

static TalusStatus look_around(TalusWorld *world, double h, int *missed)
{
    size_t slots = (size_t)world->bodies.counts.slots;
    double limit = talus_surprise_limit(world, h);
    SurpriseContext c = {world, world->solved, limit * limit};
    TALUS_TRY(TALUS_RESERVE(world->solved_velocity, world->solved_capacity, slots, 0,
                            "solved velocities"));
    TALUS_TRY(TALUS_RESERVE(world->solved_spin, world->solved_spin_capacity, slots, 0,
                            "solved velocities"));
    TALUS_TRY(TALUS_RESERVE(world->surprising, world->surprising_capacity, slots, 0,
                            "solved velocities"));
    talus_parallel(world->pool, (int64_t)slots, TALUS_GRAIN, copy_solved, &c);
    talus_parallel(world->pool, (int64_t)slots, TALUS_GRAIN, copy_spins, &c);
    TalusBodyView view = talus_world_view(world, world->solved_velocity, world->solved_spin);
    TalusDetectOptions options = talus_detect_options(world, h);
    TalusLook look = {world->surprising, world->def.tolerance * world->reference_speed};
    TALUS_TRY(talus_detector_look(world->detector, world->pool, &view, &options, &look, missed));
    world->clipped = talus_detector_clipped(world->detector);
    return TALUS_OK;
}

bool talus_step_misses(TalusWorld *world, double h)
{
    double start = talus_now();
    bool surprised = talus_step_surprised(world, h);
    int missed = 0;
    world->misses_known =
        surprised && world->contacts->general > 0 && look_around(world, h, &missed) == TALUS_OK;
    world->info.detect_seconds += talus_now() - start;
    return world->misses_known ? missed > 0 : surprised;
}

/* Takes the impulses over for contacts that are about to change. */
static void carry_impulses(TalusWorld *world, double h)
{
    talus_store_impulses(world);
    talus_joints_store(world, world->contacts->count);
    world->impulse_step = h;
}

TalusStatus talus_step_look_again(TalusWorld *world, double h)
{
    double start = talus_now();
    int slots = world->bodies.counts.slots;
    TALUS_TRY(TALUS_RESERVE(world->solved_velocity, world->solved_capacity, (size_t)slots, 0,
                            "solved velocities"));
    SurpriseContext c = {.world = world, .solved = world->solved};
    talus_parallel(world->pool, slots, TALUS_GRAIN, copy_solved, &c);
    carry_impulses(world, h);
    TALUS_TRY(detect_with(world, h, world->solved_velocity));
    world->info.detect_seconds += talus_now() - start;
    return TALUS_OK;
}

TalusStatus talus_step_take_missed(TalusWorld *world, double h)
{
    if (!world->misses_known)
        return talus_step_look_again(world, h);
    carry_impulses(world, h);
    talus_detector_take_missed(world->detector);
    world->contact_count = world->contacts->count;
    return TALUS_OK;
}

/* ---- the problem ---- */

typedef struct BuildContext {
    TalusWorld *world;
    TalusOperator *op;
    double *length, *gamma;
    TalusBuildOptions options;
} BuildContext;

/* Torque in the free spin: l h I^-1 t, the inertia being l^2 I^-1. */
static void turn_record(const BuildContext *c, int64_t i, TalusSym3 inertia, double l,
                        double record[8])
{
    TalusVec3 turn = talus_sym3_mul(inertia, c->world->forces.torque[i]);
    record[4] += c->options.h / l * turn.x;
    record[5] += c->options.h / l * turn.y;
    record[6] += c->options.h / l * turn.z;
}

static void fill_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const BuildContext *c = context;
    const TalusWorld *world = c->world;
    const TalusBodies *b = &world->bodies;
    for (int64_t i = begin; i < end; i++) {
        double *record = c->op->body[i];
        double l = 1.0, fixed[8] = {0.0};
        TalusSym3 inertia = {0};
        memcpy(record, fixed, sizeof fixed);
        if (talus_slot_moves(b, (int)i)) {
            const TalusGyration *gyration = talus_slot_gyration(world, (int)i);
            double inv_mass = 1.0 / b->mass[i];
            l = b->radius[i];
            inertia = talus_body_inertia(gyration, inv_mass, l, b->orientation[i]);
            talus_body_record(world->free_velocity[i], b->spin[i], inv_mass, l, gyration, inertia,
                              record);
            if (talus_slot_pushed(world, i))
                turn_record(c, i, inertia, l, record);
        } else if (talus_slot_driven(b, (int)i)) {
            l = b->radius[i] > 0.0 ? b->radius[i] : 1.0;
            talus_body_record(b->velocity[i], b->spin[i], 0.0, l, NULL, inertia, record);
        }
        c->length[i] = l;
        if (c->op->inertia)
            talus_inertia_store(c->op->inertia[i], inertia);
    }
}

/* A contact of spheres that is written as a general one has normals for arms. */
static void fill_arms(const BuildContext *c, int64_t i, const TalusContact *contact, bool b_moves)
{
    const TalusContactList *list = c->world->contacts;
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

static double round_size(const TalusWorld *world, uint32_t slot)
{
    TalusShapeKind kind = world->shape[world->bodies.shape[slot]].def.kind;
    return talus_round_size(kind, world->bodies.size[slot]);
}

static void fill_turning(const BuildContext *c, int64_t i, const TalusContact *contact,
                         const TalusLaw *law, bool b_moves)
{
    const TalusWorld *world = c->world;
    double length =
        talus_turning_length(round_size(world, contact->a), round_size(world, contact->b),
                             talus_contact_size(&world->bodies, contact));
    c->op->turning[i][0] = law->spinning;
    c->op->turning[i][1] = law->rolling;
    c->op->lever[i][0] = length / c->length[contact->a];
    c->op->lever[i][1] = b_moves ? length / c->length[contact->b] : 0.0;
}

/* Partials: sum, number and maximum of penetration over size. */
static void fill_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    TalusWorld *world = c->world;
    TalusOperator *op = c->op;
    const TalusBodies *bodies = &world->bodies;
    const TalusBuildOptions *o = &c->options;
    double sum = 0.0, number = 0.0, deepest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const TalusContact *contact = &world->contacts->contact[i];
        int a = (int)contact->a, b = (int)contact->b;
        bool b_moves = bodies->fixed[b] != TALUS_MOTION_FIXED; /* by itself or driven */
        const TalusLaw *law = talus_law(world, a, b);
        double size = talus_contact_size(bodies, contact);
        op->pair[i][0] = a;
        op->pair[i][1] = b_moves ? b : -1;
        talus_frame_set(op->frame[i], contact->normal.x, contact->normal.y, contact->normal.z);
        if (op->rows >= 3)
            op->mu[i] = law->mu;
        if (op->model)
            op->model[i] = law->model;
        if (op->compliance)
            op->compliance[i] = talus_contact_compliance(law, o->h);
        if (i >= op->sphere_sphere + op->sphere_fixed)
            fill_arms(c, i, contact, b_moves);
        if (op->rows == 6)
            fill_turning(c, i, contact, law, b_moves);
        op->bias[i] = talus_contact_offset(op, i, law, o, contact->gap, size);
        talus_contact_warm(op->frame[i], op->rows, o->warm, world->contacts->impulse[i],
                           &c->gamma[op->rows * i]);
        if (contact->gap < 0.0) {
            double depth = -contact->gap / size;
            sum += depth;
            number += 1.0;
            deepest = fmax(deepest, depth);
        }
    }
    double *partial = world->partial[chunk];
    partial[0] = sum;
    partial[1] = number;
    partial[2] = deepest;
}

/* Rows that the contacts of this step need: those of one for all. */
static int count_rows(const TalusWorld *world)
{
    const TalusMaterials *m = &world->materials;
    int rows = 1, most = m->any_turning ? 6 : m->max_friction > 0.0 ? 3 : 1;
    for (int i = 0; i < world->contacts->count && rows < most; i++) {
        const TalusContact *c = &world->contacts->contact[i];
        const TalusLaw *law = talus_law(world, (int)c->a, (int)c->b);
        int need = talus_law_rows(law);
        rows = need > rows ? need : rows;
    }
    return rows;
}

/* ---- cohesion ---- */

double talus_contact_attraction(const TalusWorld *world, int64_t i)
{
    const TalusContact *c = &world->contacts->contact[i];
    const TalusLaw *law = talus_law(world, (int)c->a, (int)c->b);
    return talus_contact_pull(law, &world->built, c->gap, talus_contact_size(&world->bodies, c));
}

static void fill_pulls(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    int rows = c->op->rows;
    (void)chunk;
    memset(&c->gamma[rows * begin], 0, (size_t)(rows * (end - begin)) * sizeof *c->gamma);
    for (int64_t i = begin; i < end; i++)
        c->gamma[rows * i] = -talus_contact_attraction(c->world, i);
}

/* The carried impulses are net of attraction; the problem's are not, and never pull. */
static void fill_warm(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BuildContext *c = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *gamma = &c->gamma[c->op->rows * i];
        talus_contact_warm(c->op->frame[i], c->op->rows, c->options.warm,
                           c->world->contacts->impulse[i], gamma);
        gamma[0] = fmax(0.0, gamma[0] + talus_contact_attraction(c->world, i));
    }
}

/* Attractive impulses change the free velocities: v_f <- v_f - M^-1 D (c h e_n). */
static void attract(BuildContext *c)
{
    TalusWorld *world = c->world;
    int count = world->contacts->count;
    talus_parallel(world->pool, count, TALUS_GRAIN, fill_pulls, c);
    const double(*velocity)[8] = talus_problem_velocities(world->problem);
    if (c->op->bodies > 0)
        memcpy(c->op->body, velocity, (size_t)c->op->bodies * sizeof *c->op->body);
    talus_parallel(world->pool, count, TALUS_GRAIN, fill_warm, c);
}

static void sum_penetration(TalusWorld *world, int64_t chunks)
{
    double sum = 0.0, number = 0.0, deepest = 0.0;
    for (int64_t i = 0; i < chunks; i++) {
        sum += world->partial[i][0];
        number += world->partial[i][1];
        deepest = fmax(deepest, world->partial[i][2]);
    }
    world->penetration_mean = number > 0.0 ? sum / number : 0.0;
    world->penetration_max = deepest;
}

static TalusStatus soften_contacts(TalusWorld *world)
{
    TalusOperator *op = talus_problem_operator(world->problem);
    int count = world->contacts->count + world->joints.kept;
    for (int i = 0; i < count; i++) /* of joints only limits push against each other */
        if (!op->model || op->model[i].section != TALUS_SECTION_JOINT)
            op->compliance[i] += softening * op->diagonal[i][0];
    return talus_problem_finish(world->problem);
}

TalusBuildOptions talus_build_options(const TalusWorld *world, double h, bool soften)
{
    bool heavy = world->gravity_norm > 0.0;
    TalusBuildOptions options = {
        .h = h,
        .warm = world->impulse_step > 0.0 ? h / world->impulse_step : 0.0,
        .recovery = world->def.recovery * (heavy ? 1.0 : world->reference_speed),
        .scale = world->gravity_norm,
        .soften = soften ? softening : 0.0,
        .kick = talus_scale(h, world->def.gravity),
        .bounce = world->def.restitution_threshold * world->gravity_norm * h,
        .reach = world->def.cohesion_range,
    };
    return options;
}

static TalusProblemSizes sizes_of(const TalusWorld *world, bool soften)
{
    const TalusContactList *list = world->contacts;
    const TalusJoints *joints = &world->joints;
    int rows = count_rows(world), more = joints->kept + joints->free;
    rows = more > 0 && rows < 3 ? 3 : rows;
    TalusProblemSizes sizes = {
        .bodies = world->bodies.counts.slots,
        .sphere_sphere = rows == 6 ? 0 : list->sphere_sphere,
        .sphere_fixed = rows == 6 ? 0 : list->sphere_fixed,
        .general = (rows == 6 ? list->count : list->general) + more,
        .joints = joints->free,
        .rows = rows,
        .compliance = soften || world->materials.any_compliance || joints->any_compliance,
        .models = (world->materials.any_models && rows > 1) || more > 0,
    };
    return sizes;
}

static BuildContext build_context(TalusWorld *world)
{
    BuildContext c = {
        .world = world,
        .op = talus_problem_operator(world->problem),
        .length = talus_problem_lengths(world->problem),
        .gamma = talus_problem_gamma(world->problem),
        .options = world->built,
    };
    return c;
}

void talus_fill_bodies(TalusWorld *world)
{
    BuildContext c = build_context(world);
    talus_parallel(world->pool, world->bodies.counts.slots, TALUS_GRAIN, fill_bodies, &c);
}

TalusStatus talus_step_build(TalusWorld *world, double h, bool soften)
{
    double start = talus_now();
    const TalusContactList *list = world->contacts;
    world->built = talus_build_options(world, h, soften);
    world->joints.at = world->problem;
    TALUS_TRY(talus_joints_prepare(world, h));
    TalusProblemSizes sizes = sizes_of(world, soften);
    int64_t chunks = talus_chunks(list->count, TALUS_GRAIN);
    TALUS_TRY(
        TALUS_RESERVE(world->partial, world->partial_capacity, (size_t)chunks, 0, "partial sums"));
    TALUS_TRY(talus_problem_resize(world->problem, &sizes));
    BuildContext c = build_context(world);
    talus_parallel(world->pool, world->bodies.counts.slots, TALUS_GRAIN, fill_bodies, &c);
    talus_parallel(world->pool, list->count, TALUS_GRAIN, fill_contacts, &c);
    talus_joints_fill(world, list->count);
    sum_penetration(world, chunks);
    TALUS_TRY(talus_problem_finish(world->problem));
    if (soften)
        TALUS_TRY(soften_contacts(world));
    if (world->materials.any_cohesion)
        attract(&c);
    talus_joints_push(world, h);
    talus_joints_warm(world, list->count, c.options.warm);
    world->info.build_seconds += talus_now() - start;
    return TALUS_OK;
}

/* Of the bodies as they are: arrivals and sinks belong to the step and are left to it. On the host
 * wherever the world lives, so that the problem's arrays are there for whoever asks. */
TalusStatus talus_world_build(TalusWorld *world, TalusProblem **problem)
{
    *problem = NULL;
    TALUS_TRY(talus_world_look(world));
    TALUS_TRY(talus_world_look_contacts(world));
    world->part_time = talus_world_time(world);
    talus_drives_begin(world);
    TalusStatus status = talus_step_detect(world, world->def.step);
    if (status == TALUS_OK)
        status = talus_step_build(world, world->def.step, false);
    talus_drives_undo(world); /* the problem has their velocities; the state keeps its own */
    TALUS_TRY(status);
    if (world->clipped > 0)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "build.clipped",
            "step %lld: bodies (%d) are so fast that the step takes them a quarter of a period or "
            "past the room beside a wall; a run would halve it, and the problem of the whole step "
            "may lack contacts of theirs",
            (long long)world->steps + 1, world->clipped);
    *problem = world->problem;
    return TALUS_OK;
}
