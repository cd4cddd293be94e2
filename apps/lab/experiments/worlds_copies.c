/* lab/experiments/worlds_copies.c - many small worlds: one after the other, and as copies of a scene in one world. */
#include "worlds.h"

#include "base/timer.h"

/* COPIES beds of BODIES spheres each, with different starts, STEPS steps of settling. */
enum { COPIES = 64, BODIES = 2000, STEPS = 200 };

/* Time and residual of a number of beds. */
typedef struct Beds {
    int bodies, copies, steps;
    int together;         /* beds in one world */
    double setup, wall;   /* of building the worlds, and of all steps, s */
    double contacts;      /* median of a step */
    double rms, relative; /* largest residual of a step, m/s and relative to g h */
} Beds;

/* Settles `copies` beds in one world, the first from start number `first`; adds times to `beds`. */
static TalusStatus settle(const Worlds *w, int first, int copies, Beds *beds)
{
    WorldsCase c = {.scene = "settle-box", .backend = w->backend[0]};
    WorldsStep median, max;
    TalusWorld *world;
    double begun = talus_now();
    worlds_assign(&c.sets, "defaults=exact");
    worlds_assign(&c.sets, "probes=[]"); /* each takes a pass over all contacts */
    worlds_assign(&c.sets, "bodies=%d", beds->bodies);
    worlds_assign(&c.sets, "copies=%d", copies);
    worlds_assign(&c.sets, "bodies[grains].seed==%d+copy", first);
    TALUS_TRY(worlds_build(w, &c, &world));
    double built = talus_now();
    TalusStatus status = worlds_advance(w, world, beds->steps, "copies", &median, &max, NULL);
    beds->setup += built - begun;
    beds->wall += talus_now() - built;
    beds->contacts = median.contacts;
    if (status == TALUS_OK && max.rms > beds->rms) {
        beds->rms = max.rms;
        beds->relative = max.relative;
    }
    talus_world_destroy(world);
    return status;
}

/* Settles all beds, `together` of them in one world, if there are so many. */
static TalusStatus settle_all(const Worlds *w, int together, Beds *beds)
{
    *beds = (Beds){.bodies = worlds_choose_size(w, BODIES, 30),
                   .copies = worlds_choose_size(w, COPIES, 4),
                   .steps = worlds_choose_size(w, STEPS, 10)};
    beds->together = together < beds->copies ? together : beds->copies;
    for (int k = 0; k < beds->copies; k += beds->together)
        TALUS_TRY(settle(w, k, beds->together, beds));
    return TALUS_OK;
}

static void add_row(const Worlds *w, LabTable *t, const Beds *b)
{
    lab_table_add_cells(t, "%s\t%d\t%d\t%d\t%.0f\t%.3f\t%.3f\t%.4f\t%.2e\t%.2e", w->backend[0],
                        b->together, b->copies, b->bodies, b->contacts, b->setup, b->wall,
                        1e3 * b->wall / ((double)b->copies * b->steps), b->rms, b->relative);
}

/* Runs all beds one after the other, some together, and all together. The verdict is on all together. */
static TalusStatus run_copies(Worlds *w)
{
    static const int together[] = {1, 8, COPIES};
    LabTable *t =
        lab_set_add_table(w->set, "Beds of 2,000 spheres, 200 steps of settling, default contacts",
                          "backend\tin one world\tbeds\tspheres each\tcontacts\tset-up s\t"
                          "steps s\tms a step of one bed\tlargest rms m/s\trms/gh");
    Beds beds[LAB_COUNT(together)];
    for (int i = 0; i < LAB_COUNT(together); i++) {
        TALUS_TRY(settle_all(w, together[i], &beds[i]));
        add_row(w, t, &beds[i]);
    }
    const Beds *all = &beds[LAB_COUNT(together) - 1];
    WorldsStep residual = {.rms = all->rms, .relative = all->relative};
    worlds_add_verdict(w, all->wall / beds[0].wall, 0.05, "", &residual,
                       "copies, %d beds at once: time over that of one after the other",
                       all->copies);
    return TALUS_OK;
}

const WorldsRow worlds_copies = {.name = "copies",
                                 .summary =
                                     "64 beds of 2,000 spheres, one after the other and at once",
                                 .source = "as in a study of one parameter",
                                 .share = 30.0,
                                 .run = run_copies};
