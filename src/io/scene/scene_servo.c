/* io/scene/scene_servo.c - servo walls in scenes: keys, checks and construction.
 *
 * A servo is a prismatic joint of the entry's one body with the world, whose motor pushes with a force or a stress. */
#include "io/scene/scene_servo.h"
#include "io/scene/scene_types.h"

#include "base/memory.h"
#include "world/ranks/ranks.h"
#include "world/state.h"

/* ---- keys ---- */

static const SceneType two_walls = {
    .kind = SCENE_LIST, .item = &text, .min_count = 2, .max_count = 2};
static const SceneType pairs = {
    .kind = SCENE_LIST, .item = &two_walls, .min_count = 1, .max_count = 2};

static void init_servo(void *structure)
{
    ((SceneServo *)structure)->def = (TalusMotorDef){.max_effort = INFINITY};
}

#define STRUCT SceneServo
static const SceneField servo_fields[] = {
    {"axis", &vector, AT(axis), .required = true,
     .help = "along which the body slides without turning, and is pushed"},
    {"force", &any_real, AT(force), .one_of = "load", .help = "N"},
    {"stress", &any_real, AT(stress), .one_of = "load", .help = "Pa over the current area"},
    {"speed", &positive, AT(def.max_speed), .required = true, .help = "m/s, the largest"},
    {"rate", &any_real, AT(def.rate), .preset = "0",
     .help = "N/s or Pa/s, by which force or stress grows"},
    {"start", &not_negative, AT(def.start), .preset = "0",
     .help = "s, until which force and stress are 0"},
    {"area", &positive, AT(def.area),
     .help = "m2, of the stress; default the body's face across the axis, of a box or cylinder; "
             "with one pair in `between` the width across, m, with two a factor"},
    {"between", &pairs, AT(between), .needs = "stress",
     .help = "pairs of entries, boxes or planes: the area is the product of their distances"},
};
#undef STRUCT

const SceneType talus_scene_servo = {.kind = SCENE_OBJECT,
                                     .name = "servo",
                                     .fields = servo_fields,
                                     .field_count = COUNT(servo_fields),
                                     .size = sizeof(SceneServo),
                                     .init = init_servo};

/* Returns wall k of 2 * between.count: an entry's name. */
static const char *wall_name(const SceneServo *servo, int k)
{
    const SceneList *pair = (const SceneList *)servo->between.items + k / 2;
    return ((const char *const *)pair->items)[k % 2];
}

/* ---- checks ---- */

static TalusStatus check_servo(const TalusScene *scene, const SceneBody *body)
{
    const SceneServo *servo = body->servo;
    const TalusJson *between = talus_json_get(servo->json, "between");
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    if (body->fixed || talus_scene_is_driven(body))
        return talus_json_fail_key(servo->json, "a fixed or driven body has none");
    if (body->time > 0.0)
        return talus_json_fail(talus_json_get(body->json, "time"), 0,
                               "a body with a servo is there from the start");
    for (int k = 0; k < 2 * servo->between.count; k++)
        if (talus_scene_find_entry(scene, wall_name(servo, k)) < 0)
            return talus_json_fail(between, 0, "no entry of `bodies` has the name '%s'",
                                   talus_json_printable(wall_name(servo, k), shown));
    return TALUS_OK;
}

TalusStatus talus_scene_check_servos(const TalusScene *scene)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    for (int i = 0; i < scene->bodies.count; i++)
        if (bodies[i].servo)
            TALUS_TRY(check_servo(scene, &bodies[i]));
    return TALUS_OK;
}

/* ---- construction ---- */

/* Sets *out to the one body of an entry. */
static TalusStatus find_one_body(const SceneJointPlace *place, const SceneServo *servo, int entry,
                                 TalusBodyId *out)
{
    if (place->count[entry] != 1)
        return talus_json_fail(servo->json, 0, "bodies[%d] has %d bodies, expected one", entry,
                               place->count[entry]);
    *out = place->id[entry];
    return TALUS_OK;
}

static TalusStatus fill_motor(const SceneJointPlace *place, const SceneServo *servo,
                              TalusMotorDef *motor)
{
    *motor = servo->def;
    motor->kind = TALUS_MOTOR_SERVO;
    motor->stress = talus_json_get(servo->json, "stress") != NULL;
    motor->target = motor->stress ? servo->stress : servo->force;
    for (int k = 0; k < 2 * servo->between.count; k++)
        TALUS_TRY(find_one_body(place, servo,
                                talus_scene_find_entry(place->scene, wall_name(servo, k)),
                                &motor->between[k / 2][k % 2]));
    return TALUS_OK;
}

/* Adds the joint, named as the entry, at the body's centre. */
static TalusStatus add_servo(const SceneJointPlace *place, int entry, TalusWorld *world)
{
    const SceneBody *body = (const SceneBody *)place->scene->bodies.items + entry;
    TalusJointDef def = talus_joint_def_default();
    TalusBodyRecord record;
    char *name;
    def.kind = TALUS_JOINT_PRISMATIC;
    def.axis = talus_scene_scale_direction(body->servo->axis);
    TALUS_TRY(find_one_body(place, body->servo, entry, &def.a));
    TALUS_TRY(fill_motor(place, body->servo, &def.motor));
    TALUS_TRY(talus_ranks_get_body(world, def.a, &record));
    def.point = record.position;
    TALUS_TRY(talus_comm_agree(world->ranks.comm,
                               talus_scene_join_texts(body->name ? body->name : "",
                                                      body->name ? place->suffix : "", &name)));
    def.name = name;
    TalusStatus status =
        talus_json_error_at(body->servo->json, talus_world_add_joint(world, &def, NULL));
    talus_release(name);
    return status;
}

TalusStatus talus_scene_add_servos(const SceneJointPlace *place, TalusWorld *world)
{
    const SceneBody *bodies = (const SceneBody *)place->scene->bodies.items;
    for (int i = 0; i < place->scene->bodies.count; i++)
        if (bodies[i].servo)
            TALUS_TRY(add_servo(place, i, world));
    return TALUS_OK;
}
