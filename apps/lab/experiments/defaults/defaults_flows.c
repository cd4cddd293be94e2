/* lab/experiments/defaults/defaults_flows.c - bulk answers of grains: heaps, drums, hoppers, packings, silos; and a
 * rover on gravel. */
#include "defaults_bulk.h"

#include "lab/experiments/janssen.h"
#include "lab/experiments/packing.h"

#include <math.h>

static const double degrees = 180.0 / 3.14159265358979323846; /* in a radian */

/* Writes the mean position of the moving bodies, m; there must be some. */
static TalusStatus find_mean_position(const TalusWorld *world, TalusVec3 *out)
{
    TalusSnapshot s = {0};
    TalusVec3 sum = {0};
    int count = 0;
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    for (int i = 0; i < s.body_count; i++)
        if (!s.fixed[i]) {
            sum = talus_add(sum, s.position[i]);
            count++;
        }
    *out = talus_scale(1.0 / count, sum);
    talus_snapshot_free(&s);
    return TALUS_OK;
}

/* ---- a heap ---- */

/* Measures the slope of the wedge of gravel that a collapsed column leaves at its wall. In a wedge of height H at the
 * wall and length F the mean height is H/3 and the mean distance from the wall F/3, so their ratio is the slope. */
TalusStatus bulk_measure_repose(const Worlds *w, Case *c)
{
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    TalusVec3 mean = {0};
    TalusWorld *world;
    double settle = w->quick ? 0.1 : 1.2, end = w->quick ? 0.2 : 2.6;
    worlds_assign(&sets, "bodies=%d", c->bodies);
    worlds_assign(&sets, "settle=%g", settle);
    worlds_assign(&sets, "bodies[grains].seed=%d", c->seed);
    TALUS_TRY(bulk_build_world(w, c, "column-collapse", &sets, &world));
    TalusStatus status = bulk_step_until(w, world, end, &sum);
    TALUS_THEN(status, find_mean_position(world, &mean));
    talus_world_destroy(world);
    TALUS_TRY(status);
    defaults_add_figure(c, "angle", degrees * atan2(mean.z, mean.x));
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}

/* ---- a drum ---- */

/* Measures the angle of the bed's centre of mass about the drum's axis, from the vertical, as mean over the later part
 * of the run. */
TalusStatus bulk_measure_drum(const Worlds *w, Case *c)
{
    enum { SAMPLES = 50 };
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    TalusWorld *world;
    double begin = w->quick ? 0.05 : 1.0, end = w->quick ? 0.1 : 2.5, angle = 0.0;
    worlds_assign(&sets, "bodies=%d", c->bodies);
    worlds_assign(&sets, "bodies[tablets].seed=%d", c->seed);
    TALUS_TRY(bulk_build_world(w, c, "tablet-drum", &sets, &world));
    TalusStatus status = TALUS_OK;
    for (int i = 1; status == TALUS_OK && i <= SAMPLES; i++) {
        TalusVec3 mean = {0};
        status = bulk_step_until(w, world, begin + (end - begin) * i / SAMPLES, &sum);
        TALUS_THEN(status, find_mean_position(world, &mean));
        angle += degrees * fabs(atan2(mean.x, -mean.z)) / SAMPLES;
    }
    talus_world_destroy(world);
    TALUS_TRY(status);
    defaults_add_figure(c, "angle", angle);
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}

/* ---- a hopper ---- */

/* Counts the grains above z = 0, the outlet. */
static TalusStatus count_inside(const TalusWorld *world, int *inside)
{
    TalusSnapshot s = {0};
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    *inside = 0;
    for (int i = 0; i < s.body_count; i++)
        *inside += !s.fixed[i] && s.position[i].z > 0.0;
    talus_snapshot_free(&s);
    return TALUS_OK;
}

/* Measures the grains per second that leave the scene mesh-silo once the flow is steady. */
TalusStatus bulk_measure_hopper(const Worlds *w, Case *c)
{
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    TalusWorld *world;
    double settle = w->quick ? 0.04 : 0.4, begin = w->quick ? 0.08 : 0.7,
           end = w->quick ? 0.1 : 1.3;
    int before = 0, now = 0;
    worlds_assign(&sets, "bodies=%d", c->bodies);
    worlds_assign(&sets, "settle=%g", settle);
    worlds_assign(&sets, "bodies[grains].seed=%d", c->seed);
    TALUS_TRY(bulk_build_world(w, c, "mesh-silo", &sets, &world));
    TalusStatus status = bulk_step_until(w, world, begin, &sum);
    TALUS_THEN(status, count_inside(world, &before));
    TALUS_THEN(status, bulk_step_until(w, world, end, &sum));
    TALUS_THEN(status, count_inside(world, &now));
    talus_world_destroy(world);
    TALUS_TRY(status);
    defaults_add_figure(c, "rate", (before - now) / (end - begin));
    bulk_add_step_figures(c, &sum);
    return TALUS_OK;
}

/* ---- a packing ---- */

/* Measures fraction, contacts and other figures of a packing (packing.h). */
TalusStatus bulk_measure_packing(const Worlds *w, Case *c)
{
    bool smooth = c->mu == 0.0;
    PackingBed bed = {.bodies = c->bodies,
                      .side = worlds_choose_size(w, 9, 5),
                      .steps = {worlds_choose_size(w, 500, 60), worlds_choose_size(w, 250, 10),
                                worlds_choose_size(w, 40, 5)},
                      .spacing = 0.25,
                      .margin = w->quick ? 0.2 : 0.45,
                      .tolerance = {1e-2, smooth ? 1e-4 : 1e-3, smooth ? 1e-6 : 1e-4},
                      .mu = c->mu,
                      .budget = smooth ? 10000 : 1000};
    WorldsAssignments sets = {0};
    Packing found = {0};
    defaults_assign(c->setting, &sets);
    TALUS_TRY(packing_settle(w, &bed, &sets, c->seed, &found));
    defaults_add_figure(c, "fraction", found.fraction);
    defaults_add_figure(c, "contacts", found.contacts[PACKING_JUDGED]);
    defaults_add_figure(c, "rattlers", found.rattlers);
    defaults_add_figure(c, "core", found.core);
    defaults_add_figure(c, "speed", found.speed);
    defaults_add_figure(c, "mean overlap", found.overlap);
    defaults_add_figure(c, "products", found.last.products);
    defaults_add_figure(c, "residual", found.last.relative);
    return TALUS_OK;
}

/* ---- a silo ---- */

/* Measures the load on the bottom of a silo and Janssen's limit (janssen.h). */
TalusStatus bulk_measure_janssen(const Worlds *w, Case *c)
{
    static const char *const batches[] = {"first", "second", "third",   "fourth",
                                          "fifth", "sixth",  "seventh", "eighth"};
    Silo silo = {.batch = c->bodies,
                 .batches = worlds_choose_size(w, 5, 2),
                 .radius = w->quick ? 0.35 : 0.7,
                 .descent = 2e-4,
                 .settle_steps = worlds_choose_size(w, 160, 120),
                 .sink_steps = worlds_choose_size(w, 120, 40),
                 .average_steps = worlds_choose_size(w, 20, 5)};
    WorldsAssignments sets = {0};
    SiloFill fill;
    for (int i = 0; i < silo.batches; i++)
        worlds_assign(&sets, "bodies[%s].seed=%d", batches[i], 10 * c->seed + i);
    defaults_assign(c->setting, &sets);
    TALUS_TRY(janssen_fill(w, &silo, &sets, &fill));
    const SiloLoad *last = &fill.load[fill.count - 1];
    defaults_add_figure(c, "load", last->bottom / last->weight);
    defaults_add_figure(c, "saturation", fill.plain.saturation);
    defaults_add_figure(c, "residual", fill.worst.relative);
    return TALUS_OK;
}

/* ---- a rover ---- */

/* Measures how far the rover's chassis gets over gravel along x in 1.8 s, and the height of the chassis at the end. */
TalusStatus bulk_measure_rover(const Worlds *w, Case *c)
{
    enum { CHASSIS = 6 }; /* index among the scene's bodies */
    WorldsAssignments sets = {0};
    BulkSteps sum = {0};
    TalusSnapshot start = {0}, end = {0};
    TalusWorld *world;
    double settle = w->quick ? 0.02 : 0.6;
    worlds_assign(&sets, "rocks=%d", c->bodies);
    worlds_assign(&sets, "depth=0.15");
    worlds_assign(&sets, "width=1.8");
    worlds_assign(&sets, "settle=%g", settle);
    worlds_assign(&sets, "bodies[gravel].seed=%d", c->seed);
    TALUS_TRY(bulk_build_world(w, c, "rover", &sets, &world));
    TalusStatus status = bulk_step_until(w, world, settle, &sum);
    TALUS_THEN(status, talus_snapshot_take(&start, world, 0));
    TALUS_THEN(status, bulk_step_until(w, world, settle + (w->quick ? 0.05 : 1.8), &sum));
    TALUS_THEN(status, talus_snapshot_take(&end, world, 0));
    talus_world_destroy(world);
    if (status == TALUS_OK) {
        defaults_add_figure(c, "way", end.position[CHASSIS].x - start.position[CHASSIS].x);
        defaults_add_figure(c, "height", end.position[CHASSIS].z);
        bulk_add_step_figures(c, &sum);
    }
    talus_snapshot_free(&start);
    talus_snapshot_free(&end);
    return status;
}
