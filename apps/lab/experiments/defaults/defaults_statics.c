/* lab/experiments/defaults/defaults_statics.c - bulk answers of structures: the thickness from which an arch stands, the
 * friction from which a house of cards does, and how still a wall is.
 *
 * Nothing is random here. The three runs of a case have the scene's step length, 0.8 and 0.6 of it. */
#include "defaults_bulk.h"

#include <math.h>

static double step_of(const Case *c, double h)
{
    static const double shares[DEFAULTS_SEEDS] = {1.0, 0.8, 0.6};
    return h * shares[c->seed - 1];
}

/* Writes the largest distance of any moving body's centre from where it was at `start`, m. */
static TalusStatus largest_move(const TalusWorld *world, const TalusSnapshot *start, double *out)
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

/* Runs a scene and writes the moves from its start to `seconds`, and from a third of that time to it. */
static TalusStatus moves(const Worlds *w, const Case *c, const char *scene,
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
    TALUS_THEN(status, largest_move(world, &start, drift));
    TALUS_THEN(status, largest_move(world, &third, creep));
    talus_snapshot_free(&start);
    talus_snapshot_free(&third);
    talus_world_destroy(world);
    return status;
}

/* What is bisected: the parameter of a scene from which a structure stands. */
typedef struct Bisection {
    const char *scene, *parameter;
    double low, high, width;  /* it falls at low and stands at high; the result is within width */
    double h, seconds, limit; /* it has fallen if a body has moved by more than `limit`, m */
} Bisection;

static TalusStatus stands(const Worlds *w, const Case *c, const Bisection *b, double value,
                          BulkSteps *sum, bool *out)
{
    WorldsAssignments sets = {0};
    double drift, creep;
    worlds_assign(&sets, "h=%g", step_of(c, b->h));
    worlds_assign(&sets, "%s=%.17g", b->parameter, value);
    TALUS_TRY(moves(w, c, b->scene, &sets, b->seconds, sum, &drift, &creep));
    *out = drift < b->limit;
    return TALUS_OK;
}

static TalusStatus bisect(const Worlds *w, Case *c, Bisection b)
{
    BulkSteps sum = {0};
    while (b.high - b.low > (w->quick ? 0.5 * (b.high - b.low) + b.width : b.width)) {
        double middle = 0.5 * (b.low + b.high);
        bool up;
        TALUS_TRY(stands(w, c, &b, middle, &sum, &up));
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
    return bisect(w, c, b);
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
    worlds_assign(&sets, "h=%g", step_of(c, b.h));
    TALUS_TRY(moves(w, c, b.scene, &sets, w->quick ? 0.03 : 6.0, &sum, &drift, &creep));
    defaults_add_figure(c, "drift", drift / 0.001);
    defaults_add_figure(c, "creep", creep / 0.001);
    return bisect(w, c, b);
}

TalusStatus bulk_measure_wall(const Worlds *w, Case *c)
{
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    double drift, creep, height = 0.065;
    worlds_assign(&sets, "h=%g", step_of(c, 0.005));
    worlds_assign(&sets, "strike=1000");
    worlds_assign(&sets, "solver.tolerance=1e-5");
    TALUS_TRY(moves(w, c, "brick-wall", &sets, w->quick ? 0.03 : 6.0, &sum, &drift, &creep));
    defaults_add_figure(c, "drift", drift / height);
    defaults_add_figure(c, "creep", creep / height);
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}
