/* io/scene/scene_joint.c - joints in scenes: keys, checks and construction. */
#include "io/scene/scene_joint.h"
#include "io/scene/scene_types.h"

#include "base/memory.h"
#include "world/state.h"

#include <string.h>

/* ---- keys ---- */

static const SceneType names = {.kind = SCENE_LIST, .item = &text, .min_count = 1, .max_count = 2};

/* Names in the order of the enums TalusJointKind and TalusMotorKind, the latter without "none". */
static const char *const joint_types[] = {"ball",        "revolute",  "prismatic",
                                          "cylindrical", "universal", "fixed",
                                          "distance",    "spring",    NULL};
static const char *const motor_types[] = {"speed", "position", "torque", NULL};
static const SceneType joint_type = {.kind = SCENE_CHOICE, .choices = joint_types};
static const SceneType motor_type = {.kind = SCENE_CHOICE, .choices = motor_types};

/* Bits of SceneField.only: kinds of joints with an axis; between two points; that can have a motor. */
#define BIT(kind) (1u << TALUS_JOINT_##kind)
#define AXES (BIT(REVOLUTE) | BIT(PRISMATIC) | BIT(CYLINDRICAL) | BIT(UNIVERSAL))
#define LINES (BIT(DISTANCE) | BIT(SPRING))
#define DRIVEN (BIT(REVOLUTE) | BIT(PRISMATIC) | BIT(CYLINDRICAL) | BIT(DISTANCE))

INIT(init_motor, SceneMotor, (TalusMotorDef){.max_effort = INFINITY})
INIT(init_joint, SceneJoint, talus_joint_def_default())

#define STRUCT SceneMotor
static const SceneField motor_fields[] = {
    {"type", &motor_type, AT(type), .required = true, .help = "what is given"},
    {"target", &any_real, AT(def.target), .preset = "0",
     .help = "rad/s, rad or N m; m/s, m or N where the joint slides"},
    {"rate", &any_real, AT(def.rate), .preset = "0",
     .help = "by which the target grows, per second"},
    {"start", &not_negative, AT(def.start), .preset = "0",
     .help = "s, until which the target is 0"},
    {"max_effort", &positive, AT(def.max_effort), .help = "largest torque or force; default any"},
    {"stiffness", &not_negative, AT(def.stiffness), .only = 1u << (TALUS_MOTOR_POSITION - 1),
     .help = "N m/rad or N/m, towards the target; default: there within a step"},
    {"damping", &not_negative, AT(def.damping), .only = 1u << (TALUS_MOTOR_POSITION - 1),
     .help = "N m s/rad or N s/m"},
};
OBJECT(motor, "motor", .init = init_motor, .selector = "type");
#undef STRUCT

#define STRUCT SceneJoint
static const SceneField joint_fields[] = {
    {"name", &text, AT(def.name), .preset = "\"\"", .help = "its name in joints.csv"},
    {"type", &joint_type, AT(type), .required = true,
     .help = "what it leaves free: docs/how-to/joints.md"},
    {"bodies", &names, AT(bodies), .required = true,
     .help = "entries of one body each: the first moves relative to the second, or the world"},
    {"at", &vector, AT(def.point), .required = true,
     .help = "where it holds the bodies; the end on the first of a distance or spring"},
    {"to", &vector, AT(def.point_b), .only = LINES, .needed = LINES,
     .help = "the end on the second body of a distance or spring"},
    {"axis", &vector, AT(def.axis), .only = AXES, .needed = AXES,
     .help = "of turning or sliding; of a universal joint the axis on the first body"},
    {"axis_b", &vector, AT(def.axis_b), .only = BIT(UNIVERSAL), .needed = BIT(UNIVERSAL),
     .help = "on the second body, normal to the other"},
    {"lower", &any_real, AT(def.lower), .only = DRIVEN | BIT(SPRING),
     .help = "least angle (rad, 0 at the start), travel or length (m); default none"},
    {"upper", &any_real, AT(def.upper), .only = DRIVEN | BIT(SPRING), .help = "the same, largest"},
    {"motor", &motor, AT(motor), .only = DRIVEN, .help = "what drives it"},
    {"rest", &not_negative, AT(def.rest), .only = LINES,
     .help = "length of a distance or spring; default that at the start"},
    {"stiffness", &not_negative, AT(def.stiffness), .only = BIT(SPRING), .help = "N/m"},
    {"damping", &not_negative, AT(def.damping), .only = BIT(SPRING), .help = "N s/m"},
    {"collide", &flag, AT(def.collide), .preset = "false",
     .help = "the two bodies touch each other"},
};
OBJECT(joint, "joint", .init = init_joint, .selector = "type");
#undef STRUCT

const SceneType talus_scene_joints = {.kind = SCENE_LIST, .item = &joint};

/* ---- checks ---- */

static TalusStatus check_joint(const TalusScene *scene, const SceneJoint *j)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    const char *const *name = (const char *const *)j->bodies.items;
    const TalusJson *json = talus_json_get(j->json, "bodies");
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    for (int k = 0; k < j->bodies.count; k++) {
        int entry = talus_scene_find_entry(scene, name[k]);
        if (entry < 0)
            return talus_json_fail(json, 0, "no entry of `bodies` has the name '%s'",
                                   talus_json_printable(name[k], shown));
        if (bodies[entry].time > 0.0)
            return talus_json_fail(json, 0, "bodies[%d] arrives later and cannot be joined", entry);
    }
    return TALUS_OK;
}

TalusStatus talus_scene_check_joints(const TalusScene *scene)
{
    for (int i = 0; i < scene->joints.count; i++)
        TALUS_TRY(check_joint(scene, (const SceneJoint *)scene->joints.items + i));
    return TALUS_OK;
}

int talus_scene_find_joint_entry(const TalusScene *scene, const SceneJoint *joint, int k)
{
    return talus_scene_find_entry(scene, ((const char *const *)joint->bodies.items)[k]);
}

/* ---- construction ---- */

TalusStatus talus_scene_join_texts(const char *first, const char *second, char **out)
{
    size_t length = strlen(first), more = strlen(second) + 1;
    TALUS_TRY(TALUS_ALLOC(*out, length + more, "scene"));
    memcpy(*out, first, length);
    memcpy(*out + length, second, more);
    return TALUS_OK;
}

/* Sets *out to the k-th body of a joint; leaves *out, the fixed world, if the joint names fewer bodies. */
static TalusStatus find_joint_body(const SceneJointPlace *place, const SceneJoint *j, int k,
                                   TalusBodyId *out)
{
    if (k >= j->bodies.count)
        return TALUS_OK; /* no second name: the fixed world */
    int entry = talus_scene_find_joint_entry(place->scene, j, k);
    if (place->count[entry] != 1)
        return talus_json_fail(talus_json_get(j->json, "bodies"), 0,
                               "bodies[%d] has %d bodies, expected one", entry,
                               place->count[entry]);
    *out = place->id[entry];
    return TALUS_OK;
}

/* Returns the definition of a joint for the world, without its bodies. */
static TalusJointDef make_joint_def(const SceneJoint *j)
{
    TalusJointDef def = j->def;
    def.kind = (TalusJointKind)j->type;
    def.axis = talus_scene_scale_direction(j->def.axis);
    def.axis_b = talus_scene_scale_direction(j->def.axis_b);
    if (j->motor) {
        def.motor = j->motor->def;
        def.motor.kind = (TalusMotorKind)(j->motor->type + 1);
    }
    return def;
}

TalusStatus talus_scene_add_joints(const SceneJointPlace *place, TalusWorld *world)
{
    const TalusScene *scene = place->scene;
    for (int i = 0; i < scene->joints.count; i++) {
        const SceneJoint *j = (const SceneJoint *)scene->joints.items + i;
        TalusJointDef def = make_joint_def(j);
        def.point = talus_add(def.point, place->shift);
        def.point_b = talus_add(def.point_b, place->shift);
        TALUS_TRY(find_joint_body(place, j, 0, &def.a));
        TALUS_TRY(find_joint_body(place, j, 1, &def.b));
        char *name;
        TALUS_TRY(talus_comm_agree(
            world->ranks.comm,
            talus_scene_join_texts(j->def.name, j->def.name[0] ? place->suffix : "", &name)));
        def.name = name;
        TalusStatus status = talus_json_error_at(j->json, talus_world_add_joint(world, &def, NULL));
        talus_release(name);
        TALUS_TRY(status);
    }
    return TALUS_OK;
}
