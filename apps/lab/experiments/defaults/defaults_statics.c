/* lab/experiments/defaults/defaults_statics.c - bulk answers of structures: the least thickness with which an arch
 * stands, the least friction with which a house of cards stands, and how far the bricks of a wall move.
 *
 * Nothing is random here, so the seeds 1, 2 and 3 stand for the scene's step length times 1, 0.8 and 0.6. */
#include "defaults_bulk.h"

#include <math.h>

/* Returns the step length of a case: `h` times 1, 0.8 or 0.6, by its seed. */
static double get_step_length(const Case *c, double h)
{
    static const double shares[DEFAULTS_SEEDS] = {1.0, 0.8, 0.6};
    return h * shares[c->seed - 1];
}

/* Writes the largest distance of any moving body's centre from where it was at `start`, m. */
static TalusStatus find_largest_move(const TalusWorld *world, const TalusSnapshot *start,
                                     double *out)
{
    TalusSnapshot now = {0};
    *out = 0.0;
    TALUS_TRY(talus_snapshot_take(&now, world, 0));
    for (int i = 0; i < start->body_count && i < now.body_count; i++)
        if (!start->fixed[i])
            *out = fmax(*out, talus_norm(talus_sub(now.position[i], start->position[i])));
    talus_snapshot_free(&now);
    return TALUS_OK;
}

/* Runs a scene for `seconds` and adds its steps to `sum`. Writes the largest move of a body, m: *drift from the start
 * to the end, *creep from a third of the time to the end. */
static TalusStatus measure_moves(const Worlds *w, const Case *c, const char *scene,
                                 const WorldsAssignments *sets, double seconds, BulkSteps *sum,
                                 double *drift, double *creep)
{
    TalusSnapshot start = {0}, third = {0};
    TalusWorld *world;
    TALUS_TRY(bulk_build_world(w, c, scene, sets, &world));
    TalusStatus status = talus_snapshot_take(&start, world, 0);
    TALUS_THEN(status, bulk_step_until(w, world, seconds / 3.0, sum));
    TALUS_THEN(status, talus_snapshot_take(&third, world, 0));
    TALUS_THEN(status, bulk_step_until(w, world, seconds, sum));
    TALUS_THEN(status, find_largest_move(world, &start, drift));
    TALUS_THEN(status, find_largest_move(world, &third, creep));
    talus_snapshot_free(&start);
    talus_snapshot_free(&third);
    talus_world_destroy(world);
    return status;
}

/* Search for the threshold of a scene's parameter above which a structure stands. */
typedef struct Bisection {
    const char *scene, *parameter;
    double low, high; /* values at which the structure falls and stands; not tested at the start */
    double width;     /* width of the interval at which the bisection ends */
    double h; /* step length for seed 1, s, from which get_step_length makes that of the case */
    double seconds; /* simulated time of a run, s */
    double limit;   /* the structure has fallen if a body has moved as far as this, m */
} Bisection;

/* Runs the scene with this value of the parameter and adds its steps to `sum`; *out: every body is closer than b->limit
 * to its start at the end. */
static TalusStatus test_standing(const Worlds *w, const Case *c, const Bisection *b, double value,
                                 BulkSteps *sum, bool *out)
{
    WorldsAssignments sets = {0};
    double drift, creep;
    worlds_assign(&sets, "h=%g", get_step_length(c, b->h));
    worlds_assign(&sets, "%s=%.17g", b->parameter, value);
    TALUS_TRY(measure_moves(w, c, b->scene, &sets, b->seconds, sum, &drift, &creep));
    *out = drift < b->limit;
    return TALUS_OK;
}

/* Finds the threshold by bisection, with --quick by one halving; adds the figures "threshold" and those of
 * bulk_add_step_figures to the case. */
static TalusStatus find_threshold(const Worlds *w, Case *c, Bisection b)
{
    BulkSteps sum = {0};
    while (b.high - b.low > (w->quick ? 0.5 * (b.high - b.low) + b.width : b.width)) {
        double middle = 0.5 * (b.low + b.high);
        bool up;
        TALUS_TRY(test_standing(w, c, &b, middle, &sum, &up));
        if (up)
            b.high = middle;
        else
            b.low = middle;
        if (w->quick)
            break;
    }
    defaults_add_figure(c, "threshold", 0.5 * (b.low + b.high));
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}

TalusStatus bulk_measure_arch(const Worlds *w, Case *c)
{
    Bisection b = {.scene = "arch",
                   .parameter = "t",
                   .low = 0.1,
                   .high = 0.132,
                   .width = 7e-5,
                   .h = 0.005,
                   .seconds = w->quick ? 0.05 : 2.0,
                   .limit = 0.01};
    return find_threshold(w, c, b);
}

TalusStatus bulk_measure_cards(const Worlds *w, Case *c)
{
    Bisection b = {.scene = "card-house",
                   .parameter = "mu",
                   .low = 0.2,
                   .high = 0.456,
                   .width = 2.5e-3,
                   .h = 0.002,
                   .seconds = w->quick ? 0.05 : 1.0,
                   .limit = 0.01};
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    double drift, creep;
    worlds_assign(&sets, "h=%g", get_step_length(c, b.h));
    TALUS_TRY(measure_moves(w, c, b.scene, &sets, w->quick ? 0.03 : 6.0, &sum, &drift, &creep));
    defaults_add_figure(c, "drift", drift / 0.001);
    defaults_add_figure(c, "creep", creep / 0.001);
    return find_threshold(w, c, b);
}

TalusStatus bulk_measure_wall(const Worlds *w, Case *c)
{
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    double drift, creep, height = 0.065;
    worlds_assign(&sets, "h=%g", get_step_length(c, 0.005));
    worlds_assign(&sets, "strike=1000");
    worlds_assign(&sets, "solver.tolerance=1e-5");
    TALUS_TRY(
        measure_moves(w, c, "brick-wall", &sets, w->quick ? 0.03 : 6.0, &sum, &drift, &creep));
    defaults_add_figure(c, "drift", drift / height);
    defaults_add_figure(c, "creep", creep / height);
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}
