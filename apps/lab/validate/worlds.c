/* lab/validate/worlds.c - worlds of the cases: bodies in a line each, steps that must meet their tolerance, bisection. */
#include "validate.h"

#include "base/memory.h"

#include <math.h>

const double validate_gravity = 9.81;

/* ---- worlds ---- */

/* Returns the default of worlds for a law: ccp comes with rigid contacts. */
static TalusWorldDef get_def(const ValidateSetup *setup)
{
    TalusWorldDef def =
        setup->law == TALUS_LAW_CCP ? talus_world_def_relaxed() : talus_world_def_default();
    def.friction.law = setup->law;
    def.impacts = setup->impacts;
    def.step = setup->step;
    def.tolerance = 1e-9;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 200000;
    def.threads = 1;
    return def;
}

TalusStatus validate_create(const ValidateSetup *setup, double slope, double mu, TalusWorld **out)
{
    TalusWorldDef def = get_def(setup);
    double g = setup->gravity * validate_gravity, cosine = 1.0 / sqrt(1.0 + slope * slope);
    def.gravity = talus_vec3(g * slope * cosine, 0.0, -g * cosine);
    TALUS_TRY(talus_world_create(&def, out));
    TalusStatus status = validate_set_pair(setup, *out, mu, 0.0, 0.0);
    if (status != TALUS_OK) {
        talus_world_destroy(*out);
        *out = NULL;
    }
    return status;
}

TalusStatus validate_create_weightless(const ValidateSetup *setup, TalusWorld **out)
{
    TalusWorldDef def = get_def(setup);
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.01;
    return talus_world_create(&def, out);
}

TalusStatus validate_set_pair(const ValidateSetup *setup, TalusWorld *world, double mu,
                              double rolling, double restitution)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = setup->friction * mu;
    pair.rolling = setup->friction * rolling;
    pair.restitution = restitution;
    return talus_world_set_pair(world, 0, 0, &pair);
}

TalusStatus validate_add_floor(const ValidateSetup *setup, TalusWorld *world)
{
    ValidateBody floor = {.shape = {.kind = TALUS_SHAPE_PLANE}, .position = {0, 0, -setup->shift}};
    return validate_add_body(world, &floor, NULL);
}

TalusStatus validate_add_wall(const ValidateSetup *setup, TalusWorld *world, int material)
{
    ValidateBody wall = {.shape = {.kind = TALUS_SHAPE_PLANE},
                         .position = {-setup->shift, 0, 0},
                         .orientation = validate_turn_about_y(1.57079632679489662),
                         .material = material};
    return validate_add_body(world, &wall, NULL);
}

TalusStatus validate_add_body(TalusWorld *world, const ValidateBody *body, TalusBodyId *id)
{
    const TalusQuat *e = &body->orientation;
    int shape;
    TALUS_TRY(talus_world_add_shape(world, &body->shape, &shape));
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = shape;
    batch.material = body->material;
    batch.fixed = body->mass == 0.0;
    batch.mass = body->mass;
    batch.position = &body->position;
    batch.velocity = &body->velocity;
    batch.spin = &body->spin;
    batch.orientation = e->w != 0.0 || e->x != 0.0 || e->y != 0.0 || e->z != 0.0 ? e : NULL;
    return talus_world_add_bodies(world, &batch, id);
}

TalusStatus validate_step(TalusWorld *world)
{
    TalusStepInfo info;
    if (cli_stop_signal())
        return talus_fail(TALUS_ERR_CANCELLED, "stopped by %s", cli_stop_name());
    TALUS_TRY(talus_world_step(world, &info));
    return info.missed ? talus_fail(TALUS_ERR_TOLERANCE, "step %lld missed its tolerance",
                                    (long long)info.step)
                       : TALUS_OK;
}

TalusStatus validate_advance(TalusWorld *world, double seconds)
{
    int64_t count = cli_steps_until(seconds, talus_world_step_length(world));
    for (int64_t i = 0; i < count; i++)
        TALUS_TRY(validate_step(world));
    return TALUS_OK;
}

ValidateState validate_read(const TalusWorld *world, int index)
{
    enum { BODIES = 256 };
    TalusVec3 x[BODIES], v[BODIES], w[BODIES];
    TalusQuat e[BODIES];
    ValidateState state = {{NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {1, 0, 0, 0}};
    TalusBodyState read = {.position = x, .velocity = v, .spin = w, .orientation = e};
    if (talus_world_body_count(world) > BODIES || talus_world_get_state(world, &read) != TALUS_OK)
        return state;
    return (ValidateState){x[index], v[index], w[index], e[index]};
}

/* ---- shapes ---- */

TalusShapeDef validate_sphere(double radius)
{
    return (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = radius};
}

TalusShapeDef validate_box(double half_x, double half_y, double half_z)
{
    return (TalusShapeDef){.kind = TALUS_SHAPE_BOX, .half = {half_x, half_y, half_z}};
}

TalusShapeDef validate_cylinder(double radius, double half_height)
{
    return (TalusShapeDef){
        .kind = TALUS_SHAPE_CYLINDER, .radius = radius, .half_height = half_height};
}

TalusQuat validate_turn_about_y(double angle)
{
    return (TalusQuat){cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0};
}

/* ---- numbers ---- */

TalusStatus validate_bisect(const ValidateSetup *setup, ValidateTest *test, double low, double high,
                            double *out)
{
    for (const double width = 1e-4 * (high - low); high - low > width;) {
        double middle = 0.5 * (low + high);
        bool happens;
        TALUS_TRY(test(setup, middle, &happens));
        if (happens)
            high = middle;
        else
            low = middle;
    }
    *out = 0.5 * (low + high);
    return TALUS_OK;
}

double validate_elliptic_k(double m)
{
    double a = 1.0, b = sqrt(1.0 - m);
    while (fabs(a - b) > 1e-15 * a) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 0.5 * 3.14159265358979323846 / a;
}
