/* lab/experiments/defaults/defaults_bulk.h - bulk answers: what experiments with many bodies, or with structures, measure.
 *
 * A function runs one of them under the setting of a case, which has the scene's size, seed and friction, and adds
 * figures. */
#ifndef TALUS_LAB_DEFAULTS_BULK_H
#define TALUS_LAB_DEFAULTS_BULK_H

#include "defaults.h"

/* defaults_flows.c */
TalusStatus bulk_measure_repose(const Worlds *w, Case *c);  /* "angle" */
TalusStatus bulk_measure_drum(const Worlds *w, Case *c);    /* "angle" */
TalusStatus bulk_measure_hopper(const Worlds *w, Case *c);  /* "rate" */
TalusStatus bulk_measure_packing(const Worlds *w, Case *c); /* "fraction", "contacts" and others */
TalusStatus bulk_measure_janssen(const Worlds *w, Case *c); /* "load", "saturation" */
TalusStatus bulk_measure_rover(const Worlds *w, Case *c);   /* "way", "height" */

/* defaults_statics.c; seeds are step lengths, since nothing is random */
TalusStatus bulk_measure_arch(const Worlds *w, Case *c);  /* "threshold" */
TalusStatus bulk_measure_cards(const Worlds *w, Case *c); /* "threshold", "drift" */
TalusStatus bulk_measure_wall(const Worlds *w, Case *c);  /* "drift", "creep" */

/* Builds the scene under the case's setting; `sets` has the other assignments. */
static inline TalusStatus bulk_build_world(const Worlds *w, const Case *c, const char *scene,
                                           const WorldsAssignments *sets, TalusWorld **out)
{
    WorldsCase open = {.scene = scene, .backend = w->backend[0], .sets = *sets};
    defaults_assign(c->setting, &open.sets);
    return worlds_build(w, &open, out);
}

/* Costs and overlaps, summed over steps. */
typedef struct BulkSteps {
    int steps, missed;
    double products, deepest;
} BulkSteps;

/* Takes steps until `time`, s. */
static inline TalusStatus bulk_step_until(const Worlds *w, TalusWorld *world, double time,
                                          BulkSteps *sum)
{
    int64_t last = cli_steps_until(time, talus_world_step_length(world));
    while (talus_world_steps(world) < last) {
        TalusStepInfo info;
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        sum->steps++;
        sum->missed += info.missed;
        sum->products += info.solve.products;
        if (info.penetration_max > sum->deepest)
            sum->deepest = info.penetration_max;
    }
    return TALUS_OK;
}

static inline void bulk_add_step_figures(Case *c, const BulkSteps *sum)
{
    defaults_add_figure(c, "products", sum->products / sum->steps);
    defaults_add_figure(c, "missed", sum->missed);
    defaults_add_figure(c, "overlap", sum->deepest);
}

#endif
