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

#define STRUCT ScenePhase
static const SceneField phase_fields[] = {
    {"force", &any_real, AT(force), .one_of = "load", .help = "N"},
    {"stress", &any_real, AT(stress), .one_of = "load", .help = "Pa over the current area"},
    {"velocity", &any_real, AT(velocity), .one_of = "load",
     .help = "m/s along the axis, whatever the sample bears; at most `speed`"},
    {"ramp", &not_negative, AT(ramp), .preset = "0",
     .help =
         "s, within which the load changes to this one from what the wall bears, or how fast it "
         "moves, as the phase begins"},
    {"until", &positive, AT(until), .help = "s, when the next phase begins; the last has none"},
};
OBJECT(phase, "phase", .shorthand = NULL);
#undef STRUCT
static const SceneType phases = {.kind = SCENE_LIST, .item = &phase, .min_count = 1};

#define STRUCT SceneServo
static const SceneField servo_fields[] = {
    {"axis", &vector, AT(axis), .required = true,
     .help = "along which the body slides without turning, and is pushed"},
    {"force", &any_real, AT(force), .one_of = "load", .help = "N"},
    {"stress", &any_real, AT(stress), .one_of = "load", .help = "Pa over the current area"},
    {"phases", &phases, AT(phases), .one_of = "load", .help = "loads one after the other"},
    {"speed", &positive, AT(def.max_speed), .required = true, .help = "m/s, the largest"},
    {"rate", &any_real, AT(def.rate), .preset = "0",
     .help = "N/s or Pa/s, by which force or stress grows; not with `phases`"},
    {"start", &not_negative, AT(def.start), .preset = "0",
     .help = "s, until which force and stress are 0; not with `phases`"},
    {"area", &positive, AT(def.area),
     .help = "m2, of the stress; default the body's face across the axis, of a box or cylinder; "
             "with one pair in `between` the width across, m, with two a factor"},
    {"between", &pairs, AT(between),
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

/* True if the servo gives a stress, of its own or in a phase. */
static bool has_stress(const SceneServo *servo)
{
    const ScenePhase *phase = (const ScenePhase *)servo->phases.items;
    bool found = talus_json_get(servo->json, "stress") != NULL;
    for (int i = 0; i < servo->phases.count; i++)
        found = found || talus_json_get(phase[i].json, "stress");
    return found;
}

/* Fails if a phase has no end, the last one has one, or keys are given that phases replace. */
static TalusStatus check_phases(const SceneServo *servo)
{
    static const char *const replaced[] = {"rate", "start"};
    const ScenePhase *phase = (const ScenePhase *)servo->phases.items;
    for (size_t i = 0; servo->phases.count > 0 && i < sizeof replaced / sizeof *replaced; i++)
        if (talus_json_get(servo->json, replaced[i]))
            return talus_json_fail_key(talus_json_get(servo->json, replaced[i]),
                                       "cannot be given together with 'phases', which have ramps");
    for (int i = 0; i < servo->phases.count; i++) {
        const TalusJson *until = talus_json_get(phase[i].json, "until");
        if (i + 1 < servo->phases.count && !until)
            return talus_json_fail(phase[i].json, 0,
                                   "missing key 'until': when the next phase begins");
        if (i + 1 == servo->phases.count && until)
            return talus_json_fail_key(until, "the last phase lasts to the end of the run");
    }
    return TALUS_OK;
}

static TalusStatus check_servo(const TalusScene *scene, const SceneBody *body)
{
    const SceneServo *servo = body->servo;
    const TalusJson *between = talus_json_get(servo->json, "between");
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    TALUS_TRY(check_phases(servo));
    if (between && !has_stress(servo))
        return talus_json_fail_key(between, "is the area of a stress, and none is given");
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

/* Returns a phase for the world. */
static TalusServoPhase make_phase(const ScenePhase *phase)
{
    const bool stress = talus_json_get(phase->json, "stress") != NULL;
    const bool force = talus_json_get(phase->json, "force") != NULL;
    return (TalusServoPhase){.load = stress  ? TALUS_SERVO_STRESS
                                     : force ? TALUS_SERVO_FORCE
                                             : TALUS_SERVO_VELOCITY,
                             .value = stress  ? phase->stress
                                      : force ? phase->force
                                              : phase->velocity,
                             .ramp = phase->ramp,
                             .until =
                                 talus_json_get(phase->json, "until") ? phase->until : INFINITY};
}

/* Gives the joint of a servo its phases, if there are any. */
static TalusStatus add_phases(const SceneServo *servo, TalusJointId id, TalusWorld *world)
{
    const int count = servo->phases.count;
    TalusServoPhase *phase = NULL;
    if (count == 0)
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, TALUS_ALLOC(phase, (size_t)count, "scene")));
    for (int i = 0; i < count; i++)
        phase[i] = make_phase((const ScenePhase *)servo->phases.items + i);
    TalusStatus status = talus_world_set_servo_phases(world, id, phase, count);
    talus_release(phase);
    return talus_json_error_at(talus_json_get(servo->json, "phases"), status);
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
    TalusJointId id;
    TalusStatus status =
        talus_json_error_at(body->servo->json, talus_world_add_joint(world, &def, &id));
    talus_release(name);
    TALUS_THEN(status, add_phases(body->servo, id, world));
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
