/* world/source/survey.c - bounds, sizes and masses of a world's bodies, and bodies without support. */
#include "world/source/survey.h"
#include "world/ids.h"
#include "world/step/mirror.h"

#include "base/sum.h"
#include "collide/period.h"
#include "geometry/bounds.h"
#include "world/source/generate.h"

/* ---- bodies, one by one ---- */

/* Returns the volume of a shape, m3, for a sphere with this radius; 0 for walls. */
static double shape_volume(const TalusShape *shape, double radius)
{
    TalusMassProperties unit;
    if (talus_shape_has(shape->def.kind, TALUS_TRAIT_WALL) ||
        talus_shape_mass_of_built(shape, radius, 1.0, &unit) != TALUS_OK)
        return 0.0;
    return unit.mass;
}

/* Returns the data of a body that exists. slot: -1 if another rank has it. */
static TalusSurveyBody existing_body(const TalusWorld *world, const TalusBodyRecord *b, int slot)
{
    TalusSurveyBody body = {
        .who = {-1, slot},
        .number = b->id,
        .shape = &world->shape[b->shape],
        .shape_index = b->shape,
        .group = b->group,
        .fixed = b->mobility == TALUS_MOBILITY_FIXED || b->mobility == TALUS_MOBILITY_DRIVEN,
        .position = b->position,
        .velocity = b->velocity,
        .orientation = b->orientation,
        .radius = b->radius,
        .size = b->size,
        .mass = b->mass,
    };
    body.volume = shape_volume(body.shape, body.radius);
    return body;
}

/* Returns the data of the body in slot i. */
static TalusSurveyBody slot_body(const TalusWorld *world, int i)
{
    TalusBodyRecord record;
    talus_body_pack(world, i, &record);
    return existing_body(world, &record, i);
}

TalusStatus talus_survey_find(const TalusWorld *world, TalusBodyId id, TalusSurveyBody *out)
{
    TalusBodyRecord record;
    TALUS_TRY(talus_ranks_get_body(world, id, &record));
    *out = existing_body(world, &record, talus_slot_of(world, id));
    return TALUS_OK;
}

/* Returns the number of bodies in the delayed batches before the k-th. */
static uint64_t count_pending_before(const TalusWorld *world, int k)
{
    uint64_t count = 0;
    for (int i = 0; i < k; i++)
        count += (uint64_t)world->sources.pending[i].batch.count;
    return count;
}

/* Returns the data that a body of a delayed batch will have on arrival. before: number of bodies in earlier batches. */
static TalusSurveyBody batch_body(const TalusWorld *world, TalusBodyRef who, uint64_t before)
{
    const TalusBodyBatch *t = &world->sources.pending[who.pending].batch;
    const TalusShape *shape = &world->shape[t->shape];
    double radius = talus_batch_radius(world, t, who.index);
    TalusSurveyBody body = {
        .who = who,
        .number = world->bodies.counts.created + before + (uint64_t)who.index + 1,
        .shape = shape,
        .shape_index = t->shape,
        .group = TALUS_GROUPS * t->copy + t->group,
        .fixed = t->fixed,
        .position = talus_wrap_position(&world->def.period, t->position[who.index]),
        .velocity = t->velocity && !t->fixed ? t->velocity[who.index] : talus_vec3(0.0, 0.0, 0.0),
        .orientation = t->orientation ? talus_quat_normalize(t->orientation[who.index])
                                      : talus_quat_identity(),
        .radius = radius,
        .size = shape->def.kind == TALUS_SHAPE_SPHERE ? radius : shape->size,
    };
    body.volume = shape_volume(shape, body.radius);
    body.mass = t->fixed        ? 0.0
                : t->mass > 0.0 ? t->mass
                                : talus_batch_density(world, t) * body.volume;
    return body;
}

TalusSurveyBody talus_survey_body(const TalusWorld *world, TalusBodyRef who)
{
    return who.pending < 0 ? slot_body(world, who.index)
                           : batch_body(world, who, count_pending_before(world, who.pending));
}

void talus_survey_each(const TalusWorld *world, TalusSurveyFn *fn, void *context)
{
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        if (world->bodies.shape[i] < 0)
            continue;
        TalusSurveyBody body = slot_body(world, i);
        fn(context, &body);
    }
    if (talus_comm_rank(world->ranks.comm) > 0)
        return;
    for (int k = 0; k < world->sources.pendings; k++) {
        const uint64_t before = count_pending_before(world, k);
        for (int i = 0; i < world->sources.pending[k].batch.count; i++) {
            TalusSurveyBody body = batch_body(world, (TalusBodyRef){k, i}, before);
            fn(context, &body);
        }
    }
}

/* ---- all ranks ---- */

void talus_survey_take(TalusSurveyFind *find, double key, const TalusSurveyBody *body)
{
    if (find->any && !(key > find->key) && !(key == find->key && body->number < find->body.number))
        return;
    *find = (TalusSurveyFind){true, key, *body};
}

/* Numbers of bodies are compared as doubles, which have them all up to 2^53. */
TalusStatus talus_survey_share(const TalusWorld *world, TalusSurveyFind *find)
{
    TalusComm *comm = world->ranks.comm;
    if (!comm)
        return TALUS_OK;
    double key = find->any ? find->key : -INFINITY;
    talus_comm_find_maxima(comm, &key, 1);
    const bool best = find->any && find->key == key;
    double number = best ? (double)find->body.number : INFINITY;
    talus_comm_find_minima(comm, &number, 1);
    double owner =
        best && (double)find->body.number == number ? (double)talus_comm_rank(comm) : -1.0;
    talus_comm_find_maxima(comm, &owner, 1);
    TALUS_TRY(talus_comm_broadcast(comm, owner >= 0.0 ? (int)owner : 0, find, sizeof *find));
    if (find->any)
        find->body.shape = &world->shape[find->body.shape_index]; /* of this rank */
    return TALUS_OK;
}

/* Joins the boxes of all ranks. */
static void share_box(const TalusWorld *world, TalusAabb *box)
{
    double bound[6] = {-box->lo.x, -box->lo.y, -box->lo.z, box->hi.x, box->hi.y, box->hi.z};
    talus_comm_find_maxima(world->ranks.comm, bound, 6);
    box->lo = talus_vec3(-bound[0], -bound[1], -bound[2]);
    box->hi = talus_vec3(bound[3], bound[4], bound[5]);
}

/* Adds up the numbers of all ranks. */
static TalusStatus share_counts(const TalusWorld *world, int64_t *const *count, int counts)
{
    int64_t sum[4];
    for (int k = 0; k < counts; k++)
        sum[k] = *count[k];
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, sum, counts));
    for (int k = 0; k < counts; k++)
        *count[k] = sum[k];
    return TALUS_OK;
}

/* ---- sums and extremes ---- */

static const TalusAabb empty_box = {{INFINITY, INFINITY, INFINITY},
                                    {-INFINITY, -INFINITY, -INFINITY}};

static TalusAabb body_bounds(const TalusSurveyBody *b)
{
    return talus_shape_bounds(b->shape, b->radius, b->position, b->orientation);
}

/* The extremes, in the order of the members of TalusSurvey. */
enum { SMALLEST, LARGEST, THINNEST, LIGHTEST, HEAVIEST, FASTEST, EXTREMES };

/* A survey in the making. */
typedef struct Tally {
    TalusSurvey survey;
    TalusSum mass, volume;
    TalusSurveyFind extreme[EXTREMES];
} Tally;

/* Adds a moving body to bounds, totals and extremes. */
static void add_moving(Tally *t, const TalusSurveyBody *b)
{
    TalusSurvey *s = &t->survey;
    s->moving++;
    s->moving_bounds = talus_aabb_join(s->moving_bounds, body_bounds(b));
    talus_sum_add(&t->mass, &b->mass, 1);
    talus_sum_add(&t->volume, &b->volume, 1);
    talus_survey_take(&t->extreme[SMALLEST], -b->radius, b);
    talus_survey_take(&t->extreme[LARGEST], b->radius, b);
    talus_survey_take(&t->extreme[THINNEST], -b->size, b);
    talus_survey_take(&t->extreme[LIGHTEST], -b->mass, b);
    talus_survey_take(&t->extreme[HEAVIEST], b->mass, b);
    talus_survey_take(&t->extreme[FASTEST], talus_norm(b->velocity), b);
}

/* Adds a body to the tally `context`: a TalusSurveyFn. */
static void add_body(void *context, const TalusSurveyBody *b)
{
    Tally *t = context;
    TalusSurvey *s = &t->survey;
    if (b->who.pending < 0)
        s->centres = talus_aabb_join(s->centres, (TalusAabb){b->position, b->position});
    if (!b->fixed) {
        add_moving(t, b);
        return;
    }
    s->fixed++;
    if (b->shape->def.kind == TALUS_SHAPE_PLANE)
        s->unbounded++;
    else
        s->fixed_bounds = talus_aabb_join(s->fixed_bounds, body_bounds(b));
}

/* Makes the tally that of all ranks. */
static TalusStatus share_tally(const TalusWorld *world, Tally *t)
{
    TalusSurvey *s = &t->survey;
    TALUS_TRY(share_counts(world, (int64_t *[]){&s->moving, &s->fixed, &s->unbounded}, 3));
    share_box(world, &s->moving_bounds);
    share_box(world, &s->fixed_bounds);
    share_box(world, &s->centres);
    talus_comm_add_sums(world->ranks.comm, &t->mass, 1);
    talus_comm_add_sums(world->ranks.comm, &t->volume, 1);
    for (int k = 0; k < EXTREMES; k++)
        TALUS_TRY(talus_survey_share(world, &t->extreme[k]));
    return TALUS_OK;
}

TalusStatus talus_world_survey(const TalusWorld *world, TalusSurvey *out)
{
    Tally t = {.survey = {.moving_bounds = empty_box,
                          .fixed_bounds = empty_box,
                          .centres = empty_box,
                          .fall_time = INFINITY}};
    talus_world_refresh(world, false);
    talus_survey_each(world, add_body, &t);
    TALUS_TRY(share_tally(world, &t));
    *out = t.survey;
    out->mass = talus_sum_value(&t.mass);
    out->volume = talus_sum_value(&t.volume);
    TalusSurveyBody *const extreme[EXTREMES] = {&out->smallest, &out->largest,  &out->thinnest,
                                                &out->lightest, &out->heaviest, &out->fastest};
    for (int k = 0; k < EXTREMES; k++)
        *extreme[k] = t.extreme[k].body;
    if (out->moving > 0 && world->gravity_norm > 0.0)
        out->fall_time = sqrt(2.0 * out->thinnest.size / world->gravity_norm);
    return TALUS_OK;
}

double talus_survey_packing(const TalusSurvey *s)
{
    TalusVec3 d = talus_sub(s->moving_bounds.hi, s->moving_bounds.lo);
    double box = s->moving > 0 ? d.x * d.y * d.z : 0.0;
    return box > 0.0 ? s->volume / box : 0.0;
}

/* ---- bodies without support ---- */

/* Bounds of the fixed bodies, in axes with z upwards, and the search for strays. */
typedef struct Ground {
    TalusVec3 up;
    TalusQuat upright;      /* rotates world coordinates into axes with z upwards */
    bool has_floor;         /* a plane supports everything that falls */
    TalusAabb box;          /* bounds of the fixed bodies but planes */
    const uint8_t *jointed; /* by slot: the body has a joint */
    int64_t within, strays; /* moving bodies within the bounds and outside */
    TalusSurveyFind first;  /* stray */
} Ground;

/* Returns the bounds of a body in axes with z upwards. */
static TalusAabb upright_bounds(const Ground *g, const TalusSurveyBody *b)
{
    return talus_shape_bounds(b->shape, b->radius, talus_rotate(g->upright, b->position),
                              talus_quat_mul(g->upright, b->orientation));
}

/* Adds a fixed body to the bounds or, if it is a plane that faces up, sets has_floor. */
static void add_ground(void *context, const TalusSurveyBody *b)
{
    Ground *g = context;
    if (!b->fixed)
        return;
    if (b->shape->def.kind != TALUS_SHAPE_PLANE)
        g->box = talus_aabb_join(g->box, upright_bounds(g, b));
    else if (talus_dot(talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0)), g->up) > 1e-3)
        g->has_floor = true;
}

/* True if the box is beside or below the bounds of the fixed bodies. */
static bool is_unsupported(const Ground *g, TalusAabb box)
{
    return box.lo.x > g->box.hi.x || box.hi.x < g->box.lo.x || box.lo.y > g->box.hi.y ||
           box.hi.y < g->box.lo.y || box.hi.z < g->box.lo.z;
}

/* Counts a moving body without joints as a stray or as within the bounds. */
static void count_stray(void *context, const TalusSurveyBody *b)
{
    Ground *g = context;
    if (b->fixed || (b->who.pending < 0 && g->jointed[b->who.index]))
        return;
    if (!is_unsupported(g, upright_bounds(g, b))) {
        g->within++;
        return;
    }
    g->strays++;
    talus_survey_take(&g->first, 0.0, b);
}

/* Finds the upward direction and the bounds of fixed bodies; false without gravity or in periodic space. */
static bool find_ground(const TalusWorld *world, Ground *g)
{
    *g = (Ground){.box = empty_box};
    if (!(world->gravity_norm > 0.0) || talus_has_period(&world->def.period))
        return false;
    g->up = talus_scale(-1.0 / world->gravity_norm, world->def.gravity);
    TalusQuat turn = talus_quat_from_z(g->up);
    g->upright = (TalusQuat){turn.w, -turn.x, -turn.y, -turn.z};
    talus_survey_each(world, add_ground, g);
    share_box(world, &g->box);
    g->has_floor = talus_comm_any(world->ranks.comm, g->has_floor);
    return true;
}

/* Sets jointed[slot] to 1 for all bodies of this rank with joints. */
static void mark_jointed(const TalusWorld *world, uint8_t *jointed)
{
    for (int i = 0; i < 2 * world->joints.count; i++) {
        const TalusJointDef *def = &world->joints.joint[i / 2].def;
        int slot = talus_slot_of(world, i % 2 ? def->b : def->a);
        if (slot >= 0)
            jointed[slot] = 1;
    }
}

TalusStatus talus_world_strays(const TalusWorld *world, TalusStrays *out)
{
    Ground g;
    uint8_t *jointed;
    *out = (TalusStrays){0};
    talus_world_refresh(world, false);
    if (!find_ground(world, &g))
        return TALUS_OK;
    const size_t slots = (size_t)world->bodies.counts.slots;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, TALUS_ALLOC(jointed, slots + 1, "survey")));
    mark_jointed(world, jointed);
    g.jointed = jointed;
    talus_survey_each(world, count_stray, &g);
    talus_release(jointed);
    TALUS_TRY(share_counts(world, (int64_t *[]){&g.within, &g.strays}, 2));
    TALUS_TRY(talus_survey_share(world, &g.first));
    if (!g.has_floor || g.within >= 9 * g.strays)
        *out = (TalusStrays){.count = g.strays, .held = g.has_floor, .first = g.first.body};
    return TALUS_OK;
}

bool talus_box_is_stray(const TalusWorld *world, TalusVec3 lo, TalusVec3 hi)
{
    Ground g;
    if (!find_ground(world, &g) || g.has_floor)
        return false;
    TalusAabb box = {lo, hi};
    return is_unsupported(&g, talus_rotated_box_bounds(box, talus_vec3(0.0, 0.0, 0.0), g.upright));
}
