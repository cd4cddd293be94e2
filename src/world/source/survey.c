/* world/source/survey.c - bounds, sizes and masses of a world's bodies, and bodies without support. */
#include "world/source/survey.h"
#include "world/ids.h"
#include "world/step/mirror.h"

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

/* Returns the data of the body in slot i. */
static TalusSurveyBody slot_body(const TalusWorld *world, int i)
{
    const TalusBodies *b = &world->bodies;
    TalusSurveyBody body = {
        .who = {-1, i},
        .shape = &world->shape[b->shape[i]],
        .shape_index = b->shape[i],
        .group = b->group[i],
        .fixed = !talus_slot_is_dynamic(b, i),
        .position = b->position[i],
        .velocity = b->velocity[i],
        .orientation = b->orientation[i],
        .radius = b->radius[i],
        .size = b->size[i],
        .mass = b->mass[i],
    };
    body.volume = shape_volume(body.shape, body.radius);
    return body;
}

/* Returns the data that a body of a delayed batch will have on arrival. */
static TalusSurveyBody batch_body(const TalusWorld *world, TalusBodyRef who)
{
    const TalusBodyBatch *t = &world->sources.pending[who.pending].batch;
    const TalusShape *shape = &world->shape[t->shape];
    double radius = talus_batch_radius(world, t, who.index);
    TalusSurveyBody body = {
        .who = who,
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
    return who.pending < 0 ? slot_body(world, who.index) : batch_body(world, who);
}

void talus_survey_each(const TalusWorld *world, TalusSurveyFn *fn, void *context)
{
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        if (world->bodies.shape[i] < 0)
            continue;
        TalusSurveyBody body = slot_body(world, i);
        fn(context, &body);
    }
    for (int k = 0; k < world->sources.pendings; k++)
        for (int i = 0; i < world->sources.pending[k].batch.count; i++) {
            TalusSurveyBody body = batch_body(world, (TalusBodyRef){k, i});
            fn(context, &body);
        }
}

/* ---- sums and extremes ---- */

static const TalusAabb empty_box = {{INFINITY, INFINITY, INFINITY},
                                    {-INFINITY, -INFINITY, -INFINITY}};

static TalusAabb body_bounds(const TalusSurveyBody *b)
{
    return talus_shape_bounds(b->shape, b->radius, b->position, b->orientation);
}

/* Adds a moving body to bounds, totals and extremes. */
static void add_moving(TalusSurvey *s, const TalusSurveyBody *b)
{
    bool first = s->moving++ == 0;
    s->moving_bounds = talus_aabb_join(s->moving_bounds, body_bounds(b));
    s->mass += b->mass;
    s->volume += b->volume;
    if (first || b->radius < s->smallest.radius)
        s->smallest = *b;
    if (first || b->radius > s->largest.radius)
        s->largest = *b;
    if (first || b->size < s->thinnest.size)
        s->thinnest = *b;
    if (first || b->mass < s->lightest.mass)
        s->lightest = *b;
    if (first || b->mass > s->heaviest.mass)
        s->heaviest = *b;
    if (first || talus_norm(b->velocity) > talus_norm(s->fastest.velocity))
        s->fastest = *b;
}

/* Adds a body to the survey `context`: a TalusSurveyFn. */
static void add_body(void *context, const TalusSurveyBody *b)
{
    TalusSurvey *s = context;
    if (!b->fixed) {
        add_moving(s, b);
        return;
    }
    s->fixed++;
    if (b->shape->def.kind == TALUS_SHAPE_PLANE)
        s->unbounded++;
    else
        s->fixed_bounds = talus_aabb_join(s->fixed_bounds, body_bounds(b));
}

void talus_world_survey(const TalusWorld *world, TalusSurvey *out)
{
    *out =
        (TalusSurvey){.moving_bounds = empty_box, .fixed_bounds = empty_box, .fall_time = INFINITY};
    talus_world_refresh(world, false);
    talus_survey_each(world, add_body, out);
    if (out->moving > 0 && world->gravity_norm > 0.0)
        out->fall_time = sqrt(2.0 * out->thinnest.size / world->gravity_norm);
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
    int within;             /* moving bodies within the bounds */
    TalusStrays *strays;
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
    if (!is_unsupported(g, upright_bounds(g, b)))
        g->within++;
    else if (g->strays->count++ == 0)
        g->strays->first = *b;
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
    return true;
}

/* Sets jointed[slot] to 1 for all bodies with joints. */
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
    TALUS_TRY(TALUS_ALLOC(jointed, (size_t)world->bodies.counts.slots + 1, "survey"));
    mark_jointed(world, jointed);
    g.jointed = jointed;
    g.strays = out;
    talus_survey_each(world, count_stray, &g);
    talus_release(jointed);
    out->held = g.has_floor;
    if (out->held && g.within < 9 * out->count)
        *out = (TalusStrays){0};
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
