/* lab/experiments/worlds_speed.c - speed of steps: the hourglass, and one, ten and a hundred million spheres.
 *
 * The millions start from the dense lattice of scenes/million.json and are stepped, with a fixed number of iterations,
 * until contacts have formed. Figures are medians over later steps, with a fixed number of iterations again or, for ten
 * million, solved to a tolerance. */
#include "worlds.h"

#include "base/timer.h"

#include <math.h>

enum { ITERATIONS = 140 }; /* of a step, where their number is fixed */

/* Adds assignments that make every step do all iterations, whatever the residual. */
static void assign_budget(WorldsAssignments *sets, int iterations)
{
    worlds_assign(sets, "solver.tolerance=0");
    worlds_assign(sets, "solver.max_iterations=%d", iterations);
}

/* ---- hourglass ---- */

/* Runs the hourglass with one solver; adds a table row and, without --steps, a verdict on the time. */
static TalusStatus run_hourglass_by(Worlds *w, LabTable *t, const char *solver)
{
    int bodies = worlds_choose_size(w, 25000, 300);
    int steps = w->steps ? w->steps : worlds_choose_size(w, 18000, 40);
    WorldsCase c = {.scene = "hourglass", .solver = solver, .backend = w->backend[0]};
    WorldsStep median, max;
    TalusWorld *world;
    char label[LAB_TEXT];
    int done;
    worlds_assign(&c.sets, "bodies=%d", bodies);
    assign_budget(&c.sets, ITERATIONS);
    TALUS_TRY(worlds_build(w, &c, &world));
    snprintf(label, sizeof label, "hourglass, %s", solver);
    double begun = talus_now();
    TalusStatus status = worlds_advance(w, world, steps, label, &median, &max, &done);
    double wall = talus_now() - begun;
    talus_world_destroy(world);
    TALUS_TRY(status);
    lab_table_add_cells(t, "%s\t%s\t%d\t%d\t%.2f\t%.3f\t%.3f\t%.0f\t%.2e\t%.2e\t%.2e", c.backend,
                        solver, bodies, done, wall, 1e3 * wall / done, 1e3 * median.solve,
                        median.contacts, median.rms, max.rms, median.relative);
    if (w->steps)
        return TALUS_OK; /* with --steps the time is not that of the whole run: no verdict */
    worlds_require_steps(
        worlds_add_verdict(w, wall, 30.0, "s", &median, "hourglass, %s, %d steps", solver, steps),
        done, steps);
    return TALUS_OK;
}

/* Runs the hourglass with two solvers; the first has half of the row's time. */
static TalusStatus run_hourglass(Worlds *w)
{
    LabTable *t = lab_set_add_table(w->set, "Hourglass: mu 0.2, h 0.01 s, 140 iterations a step",
                                    "backend\tsolver\tbodies\tsteps\twall, s\tms a step\tsolve ms\t"
                                    "contacts\trms m/s, median\trms m/s, most\tmedian/gh");
    double deadline = w->deadline, now = talus_now();
    w->deadline = now + 0.5 * (deadline - now);
    TALUS_TRY(run_hourglass_by(w, t, "apgd"));
    w->deadline = deadline;
    return run_hourglass_by(w, t, "jacobi");
}

const WorldsRow worlds_hourglass = {.name = "hourglass",
                                    .summary =
                                        "25,000 spheres run through an hourglass for three minutes",
                                    .source = "negrut-2009: 70 hours for the 18,000 steps",
                                    .share = 90.0,
                                    .run = run_hourglass};

/* ---- a million ---- */

/* Returns the solve time per contact and iteration, ns. */
static double iteration_cost(const WorldsStep *s)
{
    return 1e9 * s->solve / fmax(1.0, s->contacts * s->iterations);
}

static void add_million_verdicts(Worlds *w, const char *solver, const WorldsStep *s)
{
    bool apgd = solver[0] == 'a';
    worlds_add_verdict(w, 1e3 * s->wall, apgd ? 30.0 : 25.0, "ms", s, "million, %s: a step",
                       solver);
    worlds_add_verdict(w, 1e3 * s->detect, 2.0, "ms", s, "million, %s: detection", solver);
    if (apgd)
        worlds_add_verdict(w, iteration_cost(s), 0.06, "ns", s,
                           "million, apgd: an iteration, per contact");
}

/* Settles and measures a million spheres with one solver; adds a table row and, on the first backend, verdicts. */
static TalusStatus run_million_by(Worlds *w, LabTable *t, const char *backend, const char *solver)
{
    int bodies = worlds_choose_size(w, 1000000, 1000), settle = worlds_choose_size(w, 100, 10);
    WorldsCase c = {.scene = "million", .solver = solver, .backend = backend};
    WorldsStep s;
    TalusWorld *world;
    char label[LAB_TEXT];
    worlds_assign(&c.sets, "bodies=%d", bodies);
    assign_budget(&c.sets, ITERATIONS);
    snprintf(label, sizeof label, "million, %s, %s", backend, solver);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = worlds_advance(w, world, settle, label, NULL, NULL, NULL);
    TALUS_THEN(status,
               worlds_advance(w, world, w->repeat ? w->repeat : worlds_choose_size(w, 15, 3), label,
                              &s, NULL, NULL));
    double memory = worlds_measure_memory(backend), time = talus_world_time(world);
    talus_world_destroy(world);
    TALUS_TRY(status);
    lab_table_add_cells(
        t, "%s\t%s\t%d\t%.0f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.4f\t%.2e\t%.2e\t%.2f\t%.2f s",
        backend, solver, bodies, s.contacts, 1e3 * s.wall, 1e3 * s.detect, 1e3 * s.build,
        1e3 * s.solve, 1e3 * s.integrate, iteration_cost(&s), s.rms, s.relative, memory / (1 << 30),
        time);
    if (backend == w->backend[0])
        add_million_verdicts(w, solver, &s);
    return TALUS_OK;
}

static TalusStatus run_million(Worlds *w)
{
    LabTable *t = lab_set_add_table(
        w->set, "A million spheres settling: mu 0.3, h 0.005 s, 140 iterations",
        "backend\tsolver\tbodies\tcontacts\tstep ms\tdetect ms\tbuild ms\tsolve ms\t"
        "integrate ms\tns/contact/it\trms m/s\trms/gh\tGiB\tsettled");
    for (int i = 0; i < w->backends; i++) {
        TALUS_TRY(run_million_by(w, t, w->backend[i], "jacobi"));
        TALUS_TRY(run_million_by(w, t, w->backend[i], "apgd"));
    }
    return TALUS_OK;
}

const WorldsRow worlds_million = {.name = "million",
                                  .summary =
                                      "a million spheres settling, 140 iterations of two solvers",
                                  .source = "medians over steps after contacts have formed",
                                  .share = 25.0,
                                  .run = run_million};

/* ---- ten million, solved ---- */

typedef struct Pile {
    const char *name;
    bool shallow;         /* 15 layers; else a cube */
    bool soft;            /* compliant contacts; else rigid */
    double target;        /* seconds per step */
    int settle, measured; /* numbers of steps: to form contacts; to measure */
} Pile;

static const Pile piles[] = {{"15 layers, rigid", true, false, 2.0, 40, 5},
                             {"cube, compliance 5e-3", false, true, 2.0, 40, 5},
                             {"cube, rigid", false, false, 20.0, 40, 2}};

/* Makes steps of ITERATIONS iterations, in which contacts form, then one step to a residual of 1e-3 g h (`first`), then
 * the measured steps to the same residual. */
static TalusStatus make_pile_steps(const Worlds *w, const Pile *p, TalusWorld *world,
                                   WorldsStep *first, WorldsStep *median, WorldsStep *max)
{
    enum { CAP = 20000 }; /* maximum iterations of a step to the residual */
    int settle = worlds_choose_size(w, p->settle, 8),
        measured = w->repeat ? w->repeat : p->measured;
    TALUS_TRY(talus_world_set_accuracy(world, 0.0, ITERATIONS));
    TALUS_TRY(worlds_advance(w, world, settle, p->name, NULL, NULL, NULL));
    TALUS_TRY(talus_world_set_accuracy(world, 1e-3, CAP));
    TALUS_TRY(worlds_advance(w, world, 1, p->name, first, NULL, NULL));
    return worlds_advance(w, world, w->quick ? 1 : measured, p->name, median, max, NULL);
}

/* Runs one of `piles`; adds a table row and a verdict. */
static TalusStatus run_pile(Worlds *w, LabTable *t, const Pile *p)
{
    int bodies = worlds_choose_size(w, 10000000, 1000);
    WorldsCase c = {.scene = "million", .solver = "apgd", .backend = w->backend[0]};
    WorldsStep first, s, max;
    TalusWorld *world;
    worlds_assign(&c.sets, "bodies=%d", bodies);
    if (p->shallow)
        worlds_assign(&c.sets, "layers=%d", worlds_choose_size(w, 15, 4));
    if (p->soft) /* k such that E = eps N_nn, with E = 1 / (h^2 k) and N_nn = 2 / mass */
        worlds_assign(&c.sets, "stiffness==mass/2/eps/h^2");
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = make_pile_steps(w, p, world, &first, &s, &max);
    double memory = worlds_measure_memory(c.backend), time = talus_world_time(world);
    talus_world_destroy(world);
    TALUS_TRY(status);
    lab_table_add_cells(t,
                        "%s\t%s\t%d\t%.0f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.2e\t%.2e\t%.2f\t%.2f s",
                        p->name, c.backend, bodies, s.contacts, first.wall, s.wall, s.detect,
                        s.solve, s.iterations, max.rms, max.relative, memory / (1 << 30), time);
    worlds_add_verdict(w, s.wall, p->target, "s", &max,
                       "ten million, %s: a step solved to 1e-3 g h", p->name);
    return TALUS_OK;
}

static TalusStatus run_ten_million(Worlds *w)
{
    LabTable *t =
        lab_set_add_table(w->set, "Ten million spheres, steps solved to 1e-3 g h with apgd",
                          "pile\tbackend\tbodies\tcontacts\tfirst step s\tstep s\tdetect s\t"
                          "solve s\titerations\trms m/s\trms/gh\tGiB\tsettled");
    for (int i = 0; i < LAB_COUNT(piles); i++)
        TALUS_TRY(run_pile(w, t, &piles[i]));
    snprintf(t->note, sizeof t->note,
             "First: the step in which the tolerance is first asked for. The others start from "
             "solved steps. Residuals are the largest.");
    return TALUS_OK;
}

const WorldsRow worlds_ten_million = {
    .name = "ten-million",
    .summary = "ten million spheres, each step solved to a residual of 1e-3 g h",
    .source = "shallow; with true stiffness; deep and rigid",
    .share = 65.0,
    .run = run_ten_million};

/* ---- a hundred million ---- */

/* HUNDRED_SETTLE steps of only HUNDRED_SHORT iterations, in which the fifteen layers meet, come before the
 * HUNDRED_STEPS measured steps of ITERATIONS iterations. */
enum { HUNDRED_SETTLE = 22, HUNDRED_SHORT = 20, HUNDRED_STEPS = 3 };

typedef struct Hundred {
    const char *solver;
    int bodies;
    double setup;    /* wall-clock time of worlds_build, s */
    double memory;   /* bytes */
    double time;     /* simulated time, s */
    WorldsStep step; /* medians of the measured steps */
} Hundred;

/* Makes the settling steps, then the measured ones; writes the medians. */
static TalusStatus make_hundred_steps(const Worlds *w, TalusWorld *world, WorldsStep *median)
{
    static const char label[] = "hundred million";
    TALUS_TRY(talus_world_set_accuracy(world, 0.0, HUNDRED_SHORT));
    TALUS_TRY(worlds_advance(w, world, HUNDRED_SETTLE, label, NULL, NULL, NULL));
    TALUS_TRY(talus_world_set_accuracy(world, 0.0, ITERATIONS));
    return worlds_advance(w, world, w->repeat ? w->repeat : HUNDRED_STEPS, label, median, NULL,
                          NULL);
}

/* Builds and steps a hundred million spheres with h->solver and fills the rest of `h`. */
static TalusStatus run_hundred(const Worlds *w, Hundred *h)
{
    WorldsCase c = {.scene = "million", .solver = h->solver, .backend = w->backend[0]};
    TalusWorld *world;
    double begun = talus_now();
    worlds_assign(&c.sets, "bodies=%d", h->bodies);
    worlds_assign(&c.sets, "layers=%d", worlds_choose_size(w, 15, 4));
    TALUS_TRY(worlds_build(w, &c, &world));
    h->setup = talus_now() - begun;
    TalusStatus status = make_hundred_steps(w, world, &h->step);
    h->memory = worlds_measure_memory(c.backend);
    h->time = talus_world_time(world);
    talus_world_destroy(world);
    return status;
}

static void add_hundred_table(const Worlds *w, const Hundred *h)
{
    LabTable *t = lab_set_add_table(w->set, "A hundred million spheres: 140 iterations a step",
                                    "backend\tsolver\tbodies\tcontacts\tset-up s\tstep s\trms m/s\t"
                                    "rms/gh\tGiB\tsettled");
    lab_table_add_cells(t, "%s\t%s\t%d\t%.0f\t%.1f\t%.3f\t%.2e\t%.2e\t%.2f\t%.2f s", w->backend[0],
                        h->solver, h->bodies, h->step.contacts, h->setup, h->step.wall, h->step.rms,
                        h->step.relative, h->memory / (1 << 30), h->time);
    snprintf(t->note, sizeof t->note,
             "%d steps of %d iterations came before; then the median of steps of %d.",
             HUNDRED_SETTLE, HUNDRED_SHORT, ITERATIONS);
}

/* Runs apgd; if memory is too small for its vectors, adds a note and runs jacobi, which needs fewer. */
static TalusStatus run_hundred_million(Worlds *w)
{
    Hundred h = {.solver = "apgd", .bodies = worlds_choose_size(w, 100000000, 2000)};
    TalusStatus status = run_hundred(w, &h);
    if (status == TALUS_ERR_MEMORY) {
        lab_set_add_note(w->set, "A hundred million with apgd: %s; hence jacobi.", talus_error());
        h.solver = "jacobi";
        status = run_hundred(w, &h);
    }
    TALUS_TRY(status);
    add_hundred_table(w, &h);
    return TALUS_OK;
}

const WorldsRow worlds_hundred_million = {.name = "hundred-million",
                                          .summary = "a hundred million spheres on one device",
                                          .source = "whether they fit, and what a step takes",
                                          .share = 50.0,
                                          .run = run_hundred_million};
