/* lab/experiments/worlds_rigid.c - rigid problems in files under exact Coulomb friction.
 *
 * Makes the problems: single steps of sheared beds of spheres (shear.h), which have several solutions, and of rocks
 * heaped up behind the gate of rubble-slope, which are hyperstatic. Writes each to the directory of the results and
 * solves it from zero impulses by `auto`. The solution is written as well, so that `talus verify` can recompute it. */
#include "shear.h"

#include "base/memory.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

/* BEDS, ROCKS: numbers of problems. FLOW: steps of the flow before a bed's problem. ITERATIONS, SECONDS (wall clock):
 * limits of a solve. */
enum { BEDS = 3, ROCKS = 3, FLOW = 100, ITERATIONS = 200000, SECONDS = 3600 };

/* Tolerances over the residual of zero impulses. */
static const double bed_tolerance = 1e-6, rock_tolerance = 1e-8;

/* A heap of rocks: friction, and steps until the problem. */
typedef struct Heap {
    double mu;
    int steps;
} Heap;

static const Heap heaps[ROCKS] = {{0.4, 375}, {0.8, 375}, {0.8, 750}};

/* ---- solving ---- */

/* Returns the table of this benchmark; adds it to the set on the first call. */
static LabTable *get_table(const Worlds *w)
{
    const char *title = "Rigid problems in files, exact Coulomb, from zero impulses";
    for (int i = 0; i < w->set->table_count; i++)
        if (strcmp(w->set->tables[i]->title, title) == 0)
            return w->set->tables[i];
    return lab_set_add_table(w->set, title,
                             "problem\tcontacts\ttolerance\toutcome\tlast solver\titerations\t"
                             "factorisations\tproducts\trelative\tseconds");
}

/* Solves the problem from zero impulses by `auto`; adds a table row and a verdict. */
static TalusStatus solve_and_judge(Worlds *w, TalusProblem *problem, const char *name,
                                   double tolerance)
{
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusMetrics m;
    TalusSolveOptions options = talus_solve_options_default();
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
    TALUS_TRY(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    options.tolerance = tolerance * m.natural_at_zero;
    options.max_iterations = ITERATIONS;
    options.max_seconds = SECONDS;
    TALUS_TRY(talus_solver_create("auto", &solver));
    double begun = worlds_processor_time();
    TalusStatus status = worlds_solve(w, name, solver, problem, &options, &info);
    double seconds = worlds_processor_time() - begun;
    talus_solver_destroy(solver);
    TALUS_TRY(status);
    double relative = info.residual.rms / m.natural_at_zero;
    lab_table_add_cells(get_table(w), "%s\t%d\t%.0e\t%s\t%s\t%d\t%d\t%d\t%.1e\t%.2f", name,
                        talus_problem_blocks(problem), tolerance, talus_outcome_name(info.outcome),
                        info.solver, info.iterations, info.factorisations, info.products, relative,
                        seconds);
    worlds_add_verdict(w, relative, tolerance, "", NULL, "%s: residual over that of zero impulses",
                       name);
    return TALUS_OK;
}

/* Writes the problem of the world's next step under exact Coulomb friction, solves it and writes the solution. */
static TalusStatus write_and_solve(Worlds *w, TalusWorld *world, const char *name, double tolerance)
{
    char path[CLI_PATH_MAX];
    TalusProblem *problem;
    TALUS_TRY(worlds_copy_problem(world, &problem));
    TalusStatus status =
        talus_problem_set_friction(problem, (TalusFrictionModel){.law = TALUS_LAW_COULOMB});
    snprintf(path, sizeof path, "%s/%s.talus", w->dir, name);
    TALUS_THEN(status, talus_problem_write(path, problem));
    worlds_print_line(w, "%s: %d contacts", path, talus_problem_blocks(problem));
    TALUS_THEN(status, solve_and_judge(w, problem, name, tolerance));
    snprintf(path, sizeof path, "%s/%s-solved.talus", w->dir, name);
    TALUS_THEN(status, talus_problem_write(path, problem));
    talus_problem_destroy(problem);
    return status;
}

/* ---- the problems ---- */

/* Adds assignments that make a scene's contacts rigid and its law ccp. */
static void assign_rigid(WorldsAssignments *sets)
{
    worlds_assign(sets, "law=ccp");
    worlds_assign(sets, "compliance=0");
}

/* Settles and shears a bed, then writes and solves its next problem. */
static TalusStatus make_bed_problem(Worlds *w, Shear *bed)
{
    char name[LAB_TEXT];
    TalusWorld *world = NULL;
    TalusSnapshot grains = {0};
    WorldsAssignments sets = {0};
    assign_rigid(&sets);
    snprintf(name, sizeof name, "sheared-%d", bed->bodies);
    TalusStatus status = shear_settle(w, bed, &sets, &world, &grains);
    TALUS_THEN(status, shear_set_law(world, &grains, TALUS_LAW_COULOMB));
    TALUS_THEN(status, shear_flow(w, world, bed, FLOW, &grains, NULL));
    TALUS_THEN(status, shear_drive(world, bed, &grains));
    TALUS_THEN(status, write_and_solve(w, world, name, bed_tolerance));
    talus_snapshot_free(&grains);
    talus_world_destroy(world);
    return status;
}

/* Simulates heap `which` of rocks, then writes and solves its next problem. */
static TalusStatus make_heap_problem(Worlds *w, int which)
{
    char name[LAB_TEXT];
    TalusWorld *world;
    WorldsCase c = {.scene = "rubble-slope", .backend = w->backend[0]};
    worlds_assign(&c.sets, "rocks=80");
    worlds_assign(&c.sets, "mu=%g", heaps[which].mu);
    assign_rigid(&c.sets);
    snprintf(name, sizeof name, "rocks-%d", which + 1);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status =
        worlds_advance(w, world, heaps[which].steps, "rigid: rocks", NULL, NULL, NULL);
    TALUS_THEN(status, write_and_solve(w, world, name, rock_tolerance));
    talus_world_destroy(world);
    return status;
}

static TalusStatus run_rigid(Worlds *w)
{
    Shear bed[BEDS] = {{.bodies = 150,
                        .settle_steps = 120,
                        .radius = 0.1,
                        .cylinder_radius = 0.6,
                        .plug_spin = 0.5},
                       {.bodies = 400,
                        .settle_steps = 300,
                        .radius = 0.1,
                        .cylinder_radius = 0.75,
                        .plug_spin = 0.5},
                       {.bodies = 1000,
                        .settle_steps = 300,
                        .radius = 0.1,
                        .cylinder_radius = 1.0,
                        .plug_spin = 0.5}};
    for (int i = 0; i < worlds_choose_size(w, ROCKS, 1); i++)
        TALUS_TRY(make_heap_problem(w, i));
    for (int i = 0; i < worlds_choose_size(w, BEDS, 1); i++)
        TALUS_TRY(make_bed_problem(w, &bed[i]));
    return TALUS_OK;
}

const WorldsRow worlds_rigid = {
    .name = "rigid",
    .summary = "rigid problems in files under exact Coulomb friction: sheared beds and rocks",
    .source = "held to 1e-6 and 1e-8 of the residual of zero impulses",
    .run = run_rigid};
