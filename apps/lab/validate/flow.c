/* lab/validate/flow.c - worlds of the cases of grains. */
#include "flow.h"

#include <math.h>
#include <string.h>

const double flow_d = 0.01, flow_g = 9.81, flow_density = 2500.0, flow_time = 0.031927543;

/* ---- building and stepping ---- */

enum { SETS = 20, SET_BYTES = 64 };

/* Assignments of a scene's keys and params. */
typedef struct Sets {
    char text[SETS][SET_BYTES];
    int count;
} Sets;

static void assign(Sets *sets, const char *name, double value)
{
    snprintf(sets->text[sets->count++], SET_BYTES, "%s=%.17g", name, value);
}

/* Makes the assignments of a setup. */
static void assign_setup(const ValidateSetup *setup, double mu, const FlowParam *params, Sets *sets)
{
    assign(sets, "d", flow_d);
    assign(sets, "g", flow_g * setup->gravity);
    assign(sets, "h", setup->step);
    assign(sets, "mu", mu * setup->friction);
    assign(sets, "wide", 1.0 + setup->widening);
    assign(sets, "seed", setup->seed > 0 ? setup->seed : 1);
    for (int i = 0; params && params[i].name; i++)
        assign(sets, params[i].name, params[i].value);
    if (setup->law == TALUS_LAW_CCP)
        snprintf(sets->text[sets->count++], SET_BYTES, "defaults=relaxed");
}

TalusStatus flow_begin(const ValidateSetup *setup, const char *scene, double mu,
                       const FlowParam *params, Flow *flow)
{
    Sets sets = {.count = 0};
    const char *text[SETS];
    TalusScene *parsed = NULL;
    *flow = (Flow){.threads = setup->threads ? setup->threads : 1};
    TalusSceneChoice choice = {.threads = flow->threads};
    assign_setup(setup, mu, params, &sets);
    for (int i = 0; i < sets.count; i++)
        text[i] = sets.text[i];
    TALUS_TRY(talus_scene_parse(scene, strlen(scene), "validate", text, sets.count, &parsed));
    TalusStatus status = talus_scene_build(parsed, &choice, &flow->world);
    talus_scene_destroy(parsed);
    return status;
}

void flow_end(Flow *flow)
{
    talus_world_destroy(flow->world);
    flow->world = NULL;
}

/* Makes one step. */
static TalusStatus step(Flow *flow)
{
    TalusStepInfo info;
    if (cli_stop_signal())
        return talus_fail(TALUS_ERR_CANCELLED, "stopped by %s", cli_stop_name());
    TALUS_TRY(talus_world_step(flow->world, &info));
    flow->steps++;
    flow->missed += info.missed;
    return TALUS_OK;
}

/* Returns the number of steps in so many units of sqrt(d/g). */
static int64_t count_steps(const Flow *flow, double times)
{
    return cli_steps_until(times * flow_time, talus_world_step_length(flow->world));
}

TalusStatus flow_advance(Flow *flow, double times)
{
    for (int64_t left = count_steps(flow, times); left > 0; left--)
        TALUS_TRY(step(flow));
    return TALUS_OK;
}

TalusStatus flow_check(const Flow *flow)
{
    if (100 * flow->missed > flow->steps)
        return talus_fail(TALUS_ERR_TOLERANCE, "%lld of %lld steps missed their tolerance",
                          (long long)flow->missed, (long long)flow->steps);
    return TALUS_OK;
}

int flow_find_probe(const Flow *flow, const char *name)
{
    int i = 0;
    while (i < talus_world_probe_count(flow->world) - 1 &&
           strcmp(talus_world_probe_name(flow->world, i), name) != 0)
        i++;
    return i;
}

TalusStatus flow_average_forces(Flow *flow, double times, int count, TalusVec3 *mean)
{
    const int64_t steps = count_steps(flow, times);
    for (int i = 0; i < count; i++)
        mean[i] = talus_vec3(0.0, 0.0, 0.0);
    for (int64_t k = 0; k < steps; k++) {
        TALUS_TRY(step(flow));
        for (int i = 0; i < count; i++)
            mean[i] = talus_madd(mean[i], 1.0 / (double)steps,
                                 talus_world_probe_value(flow->world, i).force);
    }
    return TALUS_OK;
}

/* ---- measuring ---- */

TalusStatus flow_take(const Flow *flow, FlowState *state)
{
    const TalusFramesDef def = {.title = "", .scene = ""};
    TALUS_TRY(talus_snapshot_take(&state->snapshot, flow->world,
                                  TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_SPIN |
                                      TALUS_SNAPSHOT_MASS | TALUS_SNAPSHOT_CONTACTS));
    TALUS_TRY(talus_frames_head_of_world(flow->world, &def, &state->snapshot, &state->head));
    return talus_assembly_take(&state->snapshot, &state->head.head, TALUS_ANY_TAG,
                               &state->assembly);
}

void flow_clear(FlowState *state)
{
    talus_assembly_free(&state->assembly);
    talus_frames_head_clear(&state->head);
    talus_snapshot_free(&state->snapshot);
}

TalusStatus flow_add_fields(const Flow *flow, TalusContinuum *fields)
{
    FlowState state = {0};
    TalusStatus status = flow_take(flow, &state);
    TALUS_THEN(status, talus_continuum_add(fields, &state.assembly, NULL));
    flow_clear(&state);
    return status;
}

TalusStatus flow_find_mean(const Flow *flow, TalusVec3 *position, TalusVec3 *velocity, double *mass)
{
    FlowState state = {0};
    TalusStatus status = flow_take(flow, &state);
    const TalusAssembly *a = &state.assembly;
    TalusVec3 x = {0.0, 0.0, 0.0}, v = x;
    *mass = 0.0;
    for (int i = 0; status == TALUS_OK && i < a->body_count; i++) {
        x = talus_madd(x, a->mass[i], a->position[i]);
        v = talus_madd(v, a->mass[i], a->velocity[i]);
        *mass += a->mass[i];
    }
    *position = talus_scale(1.0 / *mass, x);
    *velocity = talus_scale(1.0 / *mass, v);
    flow_clear(&state);
    return status;
}

/* Returns the mean normal force of the loaded contacts of two grains, 0 without any. */
static double get_mean_force(const TalusAssembly *a)
{
    double sum = 0.0;
    int loaded = 0;
    for (int i = 0; i < a->contact_count; i++) {
        const double force = talus_dot(a->contact[i].force, a->contact[i].normal);
        if (a->contact[i].b < 0 || !(force > 0.0))
            continue;
        sum += force;
        loaded++;
    }
    return loaded > 0 ? sum / loaded : 0.0;
}

TalusStatus flow_find_sliding(const Flow *flow, double *out)
{
    FlowState state = {0};
    TalusStatus status = flow_take(flow, &state);
    const TalusAssembly *a = &state.assembly;
    const double least = status == TALUS_OK ? 0.1 * get_mean_force(a) : 0.0;
    *out = 0.0;
    for (int i = 0; status == TALUS_OK && i < a->contact_count; i++) {
        const TalusAssemblyContact *c = &a->contact[i];
        const double normal = talus_dot(c->force, c->normal);
        if (c->b >= 0 && normal > least)
            *out = fmax(*out, talus_norm(talus_madd(c->force, -normal, c->normal)) / normal);
    }
    flow_clear(&state);
    return status;
}

ValidateQuantity flow_expect_sliding(double mu)
{
    return (ValidateQuantity){
        .name = "friction of contacts that slide", .unit = "", .expected = mu, .bound = 0.005};
}

TalusVec3 flow_find_boundary_force(const TalusAssembly *a)
{
    TalusVec3 force = {0.0, 0.0, 0.0};
    for (int i = 0; i < a->contact_count; i++)
        if (a->contact[i].b < 0)
            force = talus_add(force, a->contact[i].force);
    return force;
}

double flow_fit_slope(const double *x, const double *y, int count)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < count; i++) {
        sx += x[i];
        sy += y[i];
    }
    for (int i = 0; i < count; i++) {
        sxx += (x[i] - sx / count) * (x[i] - sx / count);
        sxy += (x[i] - sx / count) * (y[i] - sy / count);
    }
    return sxy / sxx;
}
