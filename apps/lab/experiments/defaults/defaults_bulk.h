/* lab/experiments/defaults/defaults_bulk.h - bulk answers: figures that engineers measure on grains and structures.
 *
 * Each function bulk_measure_X runs one experiment with the setting, size, seed and friction of a case and adds the
 * figures named beside it to the case. All but packing and janssen also add those of bulk_add_step_figures, in the case
 * of the house of cards over the runs for "threshold" alone. */
#ifndef TALUS_LAB_EXPERIMENTS_DEFAULTS_DEFAULTS_BULK_H
#define TALUS_LAB_EXPERIMENTS_DEFAULTS_DEFAULTS_BULK_H

#include "defaults.h"

/* defaults_flows.c */
TalusStatus bulk_measure_repose(const Worlds *w, Case *c); /* adds "angle", degrees */
TalusStatus bulk_measure_drum(const Worlds *w, Case *c);   /* adds "angle", degrees */
TalusStatus bulk_measure_hopper(const Worlds *w, Case *c); /* adds "rate", grains per second */
TalusStatus bulk_measure_packing(const Worlds *w,
                                 Case *c); /* adds "fraction", "contacts" and others */
/* Adds "load" of the bottom over the weight, "saturation" in batches, and "residual". */
TalusStatus bulk_measure_janssen(const Worlds *w, Case *c);
TalusStatus bulk_measure_rover(const Worlds *w, Case *c); /* adds "way", "height", m */

/* defaults_statics.c; nothing is random there, so a seed selects a step length. "drift" and "creep" are largest moves
 * of a body, over 1 mm (cards) or over the height of a brick (wall). */
TalusStatus bulk_measure_arch(const Worlds *w, Case *c);  /* adds "threshold" */
TalusStatus bulk_measure_cards(const Worlds *w, Case *c); /* adds "threshold", "drift", "creep" */
TalusStatus bulk_measure_wall(const Worlds *w, Case *c);  /* adds "drift", "creep" */

/* Builds the scene under the case's setting; `sets` has the other assignments. */
static inline TalusStatus bulk_build_world(const Worlds *w, const Case *c, const char *scene,
                                           const WorldsAssignments *sets, TalusWorld **out)
{
    WorldsCase open = {.scene = scene, .backend = w->backend[0], .sets = *sets};
    defaults_assign(c->setting, &open.sets);
    return worlds_build(w, &open, out);
}

/* Costs and overlaps of steps. */
typedef struct BulkSteps {
    int steps, missed; /* numbers of steps; of those that missed the tolerance */
    double products;   /* sum over steps */
    double deepest;    /* largest penetration, over the size of the smaller body */
} BulkSteps;

/* Makes steps until `time`, s, and adds them to `sum`. Fails with TALUS_ERR_CANCELLED once a signal requests a stop or
 * the row's time is over, or with the error of a step; `sum` then has the steps before. */
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

/* Adds the figures "products" (per step), "missed" (steps) and "overlap" (the largest) to the case. */
static inline void bulk_add_step_figures(Case *c, const BulkSteps *sum)
{
    defaults_add_figure(c, "products", sum->products / sum->steps);
    defaults_add_figure(c, "missed", sum->missed);
    defaults_add_figure(c, "overlap", sum->deepest);
}

#endif
