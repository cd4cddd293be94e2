/* lab/experiments/defaults/defaults_lift.c - part 1: how far a body rises that begins to slide, and how far grains that
 * flow at a coarse step overlap.
 *
 * A body rests on a plate, then is struck, given a speed or a spin, or the plate starts to move. The lift is the
 * largest rise of the body's centre above its height at rest, over its size (half of a box's width, a sphere's radius).
 * Under the relaxation the body is thrown up at mu v/(1 + mu^2), whatever the step; under exact Coulomb friction it is
 * not. */
#include "defaults.h"

#include <math.h>
#include <string.h>

/* Number of step lengths; Case.kind of the hopper, that of other cases being an index in `starts`. */
enum { STEPS = 3, HOPPER = -1 };

static const double steps[STEPS] = {5e-3, 1e-3, 2e-4}; /* s */
static const double rest = 0.25, after = 0.75; /* simulated seconds before and after the start */
static const double max_lift = 1e-4;           /* target of the lift over the size */
static const double size = 0.1;                /* of the body, m */

/* Ids of the scenes' bodies: the plate, the body whose lift is measured, the ball that strikes it. */
enum { PLATE = 1, BODY = 2, BALL = 3 };

#define SCENE(body)                                                                                 \
    "{\"params\": {\"h\": 0.001}, \"step\": \"=h\", "                                               \
    "\"materials\": {\"rough\": {\"friction\": 0.5}, \"smooth\": {\"friction\": 0}}, \"bodies\": [" \
    "{\"shape\": {\"kind\": \"box\", \"half\": [20, 20, 0.1]}, \"at\": [0, 0, -0.1], "              \
    "\"drive\": {\"velocity\": [0, 0, 0]}}, " body "]}"
#define BOX \
    "{\"shape\": {\"kind\": \"box\", \"half\": [0.1, 0.1, 0.1]}, \"mass\": 1, \"at\": [0, 0, 0.1]}"
/* The ball is smooth, so that its friction does not move the box up or down. */
#define STRIKER "{\"radius\": 0.1, \"mass\": 10, \"at\": [-0.21, 0, 0.1], \"material\": \"smooth\"}"
#define SPHERE "{\"radius\": 0.1, \"mass\": 1, \"at\": [0, 0, 0.1]}"

/* How a body is made to slide. */
typedef struct Start {
    const char *name, *words, *scene;
    double plate;      /* speed that the plate gets, m/s */
    double body, spin; /* speed along x and spin about y that the body gets, m/s and rad/s */
    double ball;       /* speed of a ball that flies at the body, m/s */
} Start;

static const Start starts[] = {
    {"struck-box", "1 kg box, struck by a smooth ball of 10 kg at 5 m/s", SCENE(BOX ", " STRIKER),
     .ball = 5.0},
    {"moved-plate", "box on a plate that starts at 2 m/s", SCENE(BOX), .plate = 2.0},
    {"thrown-box", "box given 10 m/s", SCENE(BOX), .body = 10.0},
    {"sliding-sphere", "sphere given 5 m/s without spin", SCENE(SPHERE), .body = 5.0},
    {"spinning-sphere", "sphere given 50 rad/s without speed", SCENE(SPHERE), .spin = 50.0}};

enum { STARTS = sizeof starts / sizeof *starts };

/* ---- one body ---- */

/* Gives plate, body and ball the speeds of the start. */
static TalusStatus apply_start(TalusWorld *world, const Start *s)
{
    TalusDriveDef drive = talus_drive_def_default();
    TalusVec3 velocity = {s->body, 0.0, 0.0}, spin = {0.0, s->spin, 0.0};
    drive.velocity.x = s->plate;
    drive.start = talus_world_time(world);
    if (s->plate != 0.0)
        TALUS_TRY(talus_world_set_drive(world, (TalusBodyId){PLATE}, &drive));
    if (s->body != 0.0 || s->spin != 0.0)
        TALUS_TRY(talus_world_set_velocity(world, (TalusBodyId){BODY}, velocity, spin));
    velocity.x = s->ball;
    return s->ball != 0.0 ? talus_world_set_velocity(world, (TalusBodyId){BALL}, velocity, spin)
                          : TALUS_OK;
}

/* Writes height and speed along x of the body, the second of the scene. */
static TalusStatus read_body(const TalusWorld *world, TalusSnapshot *snapshot, double *z,
                             double *speed)
{
    *z = *speed = NAN;
    TALUS_TRY(talus_snapshot_take(snapshot, world, TALUS_SNAPSHOT_VELOCITY));
    *z = snapshot->position[BODY - 1].z;
    *speed = snapshot->velocity[BODY - 1].x;
    return TALUS_OK;
}

/* Makes steps for `seconds` of simulated time; raises *highest to the largest height of the body's centre, m, and adds
 * the steps that missed the tolerance to *missed. */
static TalusStatus make_steps(const Worlds *w, TalusWorld *world, double seconds,
                              TalusSnapshot *snapshot, double *highest, int *missed)
{
    int64_t count = cli_steps_until(seconds, talus_world_step_length(world));
    for (int64_t i = 0; i < count; i++) {
        TalusStepInfo info;
        double z, speed;
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        TALUS_TRY(read_body(world, snapshot, &z, &speed));
        *highest = fmax(*highest, z);
        *missed += info.missed;
    }
    return TALUS_OK;
}

/* Lets the body rest, applies the start and adds the figures "lift" (over the size), "speed" (along x at the end, m/s)
 * and "missed" (steps). */
static TalusStatus measure_lift(const Worlds *w, TalusWorld *world, const Start *s,
                                TalusSnapshot *snapshot, Case *c)
{
    double share = w->quick ? 0.1 : 1.0, highest = 0.0, low, end, speed;
    int missed = 0;
    TALUS_TRY(make_steps(w, world, share * rest, snapshot, &highest, &missed));
    TALUS_TRY(read_body(world, snapshot, &low, &speed));
    TALUS_TRY(apply_start(world, s));
    highest = low;
    TALUS_TRY(make_steps(w, world, share * after, snapshot, &highest, &missed));
    TALUS_TRY(read_body(world, snapshot, &end, &speed));
    defaults_add_figure(c, "lift", (highest - low) / size);
    defaults_add_figure(c, "speed", speed);
    defaults_add_figure(c, "missed", missed);
    return TALUS_OK;
}

/* ---- the hopper ---- */

/* Runs the scene mesh-silo at the step length of the case and adds the figures "largest" and "mean", overlaps over the
 * radius, and "missed" (steps). */
static TalusStatus measure_hopper(const Worlds *w, Case *c)
{
    WorldsCase scene = {.scene = "mesh-silo", .backend = w->backend[0]};
    TalusWorld *world;
    double largest = 0.0, mean = 0.0;
    int missed = 0, count = worlds_choose_size(w, 400, 20);
    worlds_assign(&scene.sets, "h=%g", c->h);
    worlds_assign(&scene.sets, "bodies=%d", c->bodies);
    defaults_assign(c->setting, &scene.sets);
    TALUS_TRY(worlds_build(w, &scene, &world));
    TalusStatus status = TALUS_OK;
    for (int i = 0; status == TALUS_OK && i < count; i++) {
        TalusStepInfo info;
        status = talus_world_step(world, &info);
        TALUS_THEN(status, worlds_check_stop(w));
        if (status == TALUS_OK) {
            largest = fmax(largest, info.penetration_max);
            mean += info.penetration_mean / count;
            missed += info.missed;
        }
    }
    talus_world_destroy(world);
    TALUS_TRY(status);
    defaults_add_figure(c, "largest", largest);
    defaults_add_figure(c, "mean", mean);
    defaults_add_figure(c, "missed", missed);
    return TALUS_OK;
}

/* Runs the hopper or one of `starts` and adds its figures. */
static TalusStatus run_lift_case(const Worlds *w, Case *c)
{
    TalusSnapshot snapshot = {0};
    TalusWorld *world;
    if (c->kind == HOPPER)
        return measure_hopper(w, c);
    WorldsCase scene = {.text = starts[c->kind].scene, .backend = w->backend[0]};
    worlds_assign(&scene.sets, "h=%g", c->h);
    defaults_assign(c->setting, &scene.sets);
    TALUS_TRY(worlds_build(w, &scene, &world));
    TalusStatus status = measure_lift(w, world, &starts[c->kind], &snapshot, c);
    talus_snapshot_free(&snapshot);
    talus_world_destroy(world);
    return status;
}

/* ---- the list and the tables ---- */

static TalusStatus list_lift_cases(const Worlds *w, const Part *part, Cases *cases)
{
    for (int s = 0; s < STARTS; s++)
        for (int k = 0; k < STEPS; k++) {
            Case c = {.part = part, .kind = s, .h = steps[k], .cost = 1e-4 / steps[k]};
            TALUS_TRY(defaults_add_cases(cases, &c, "%s/%gms", starts[s].name, 1e3 * steps[k]));
        }
    Case c = {.part = part, .kind = HOPPER, .h = 4e-3, .cost = 20.0};
    c.bodies = worlds_choose_size(w, 3000, 100);
    return defaults_add_cases(cases, &c, "hopper/4ms");
}

/* Adds the table of lifts by start, and a verdict on the largest lift of the default. */
static void add_starts_table(Worlds *w, const Cases *cases)
{
    LabTable *t =
        lab_set_add_table(w->set, "Lift over the size, h 5, 1 and 0.2 ms",
                          "start\tdefault\t\t\trigid ccp\t\t\trigid coulomb\t\t\tverdict");
    double worst = 0.0;
    for (int s = 0; s < STARTS; s++) {
        double most = 0.0;
        bool known = true;
        lab_table_add_cells(t, "%s", starts[s].words);
        for (int i = 0; i < SETTINGS_COMPARED * STEPS; i++) {
            const Case *c = defaults_find_case(cases, i / STEPS, "lift/%s/%gms", starts[s].name,
                                               1e3 * steps[i % STEPS]);
            double lift = defaults_get_figure(c, "lift");
            lab_table_add_cells(t, "%.1e", lift);
            known = known && (i / STEPS != SETTING_DEFAULT || !isnan(lift));
            most = i / STEPS == SETTING_DEFAULT ? fmax(most, lift) : most;
        }
        worst = known && !isnan(worst) ? fmax(worst, most) : NAN;
        lab_table_add_cells(t, "%s", !known ? "-" : most < max_lift ? "held" : "missed");
    }
    snprintf(t->note, sizeof t->note,
             "Largest rise of the centre above its height at rest, friction 0.5; at most %g.",
             max_lift);
    if (!isnan(worst))
        worlds_add_verdict(w, worst, max_lift, "", NULL,
                           "lift of a body that begins to slide, over its size");
}

/* Adds the table of lifts and the table of the hopper. */
static void add_lift_tables(Worlds *w, const Cases *cases)
{
    add_starts_table(w, cases);
    LabTable *t =
        lab_set_add_table(w->set, "A hopper at a coarse step, h 4 ms: overlap over the radius",
                          "setting\tlargest\tmean\tsteps missed");
    for (int i = 0; i < SETTINGS_COMPARED; i++) {
        const Case *c = defaults_find_case(cases, i, "lift/hopper/4ms");
        lab_table_add_cells(t, "%s\t%.2g\t%.1e\t%.0f", defaults_settings[i].name,
                            defaults_get_figure(c, "largest"), defaults_get_figure(c, "mean"),
                            defaults_get_figure(c, "missed"));
    }
}

const Part defaults_lift = {.name = "lift",
                            .revision = 1,
                            .list = list_lift_cases,
                            .run = run_lift_case,
                            .tabulate = add_lift_tables};
