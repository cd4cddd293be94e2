/* lab/experiments/worlds_shear.c - cost of exact Coulomb friction and of its relaxation on a sheared bed.
 *
 * Spheres settle in an upright cylinder. Then those near the top rotate about its axis as one plug, by velocities set
 * before each step, while floor and wall hold the others back. From one state of this flow, runs of some steps are made
 * under either law. Then the flow continues under exact Coulomb friction, and the problems of some steps are extracted.
 * Each is solved under both laws, from the world's warm start and from zero, to the same tolerances, by solvers that
 * persist from sample to sample as in a world. */
#include "shear.h"

#include "base/memory.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

enum {
    SOLVERS = 2,
    TOLERANCES = 3,
    STARTS = 2,
    LAWS = 2,
    RUNS = 2,       /* number of tolerances of runs, the first ones of `tolerances` */
    FINE_EVERY = 5, /* samples between two that are solved to the finest tolerance */
    BUDGET = 10000  /* maximum iterations of a solve */
};

static const char *const solvers[SOLVERS] = {"apgd", "lbfgs-fb"};
static const double tolerances[TOLERANCES] = {1e-2, 1e-3, 1e-5}; /* relative to g h */
static const TalusFrictionLaw laws[LAWS] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB};
static const char *const starts[STARTS] = {"warm", "zero"};
static const double max_ratio = 1.5; /* target: cost under coulomb over that under ccp */

/* Costs of the sampled problems, by solver, tolerance, start and law. */
typedef struct Sampled {
    TalusSolver *solver[SOLVERS][TOLERANCES][STARTS][LAWS];
    ShearCost cost[SOLVERS][TOLERANCES][STARTS][LAWS];
    double contacts, sliding, sticking; /* sums over samples */
    int count;                          /* number of samples */
    /* True: the finest tolerance, which takes most of the time, is left out. False: it is used in every FINE_EVERY-th
     * sample. */
    bool coarse;
} Sampled;

/* Returns the reading of the clock that measures costs, s: processor time on the host, wall clock for a device. */
static double read_clock(const char *backend)
{
    return strcmp(backend, "cpu") == 0 ? worlds_processor_time() : talus_now();
}

/* ---- the flow ---- */

static double find_mean_height(const TalusSnapshot *snapshot)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < snapshot->body_count; i++)
        if (!snapshot->fixed[i]) {
            sum += snapshot->position[i].z;
            count++;
        }
    return sum / count;
}

TalusStatus shear_drive(TalusWorld *world, const Shear *shear, TalusSnapshot *snapshot)
{
    TALUS_TRY(talus_snapshot_take(snapshot, world, TALUS_SNAPSHOT_VELOCITY));
    for (int i = 0; i < snapshot->body_count; i++) {
        TalusVec3 x = snapshot->position[i], spin = {0.0, 0.0, shear->plug_spin};
        TalusVec3 v = {-shear->plug_spin * x.y, shear->plug_spin * x.x, snapshot->velocity[i].z};
        if (!snapshot->fixed[i] && x.z > shear->plug_height)
            TALUS_TRY(talus_world_set_velocity(world, snapshot->id[i], v, spin));
    }
    return TALUS_OK;
}

TalusStatus shear_set_law(TalusWorld *world, const TalusSnapshot *snapshot, TalusFrictionLaw law)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model.law = law;
    return talus_world_set_pair(world, snapshot->material[0], snapshot->material[0], &pair);
}

TalusStatus shear_flow(const Worlds *w, TalusWorld *world, const Shear *shear, int steps,
                       TalusSnapshot *snapshot, ShearRun *run)
{
    const char *backend = talus_world_backend(world);
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        TALUS_TRY(shear_drive(world, shear, snapshot));
        double start = read_clock(backend);
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        if (!run)
            continue;
        run->cost.seconds += read_clock(backend) - start;
        run->cost.count++;
        run->cost.products += info.solve.products;
        run->cost.worst = fmax(run->cost.worst, info.solve.residual.rms / info.tolerance);
        run->cost.missed += info.missed;
        run->overlap += info.penetration_mean / steps;
        run->deepest = fmax(run->deepest, info.penetration_max);
    }
    return TALUS_OK;
}

TalusStatus shear_settle(const Worlds *w, Shear *shear, const WorldsAssignments *sets,
                         TalusWorld **out, TalusSnapshot *snapshot)
{
    WorldsCase c = {.scene = "settle-cylinder", .backend = w->backend[0], .sets = *sets};
    worlds_assign(&c.sets, "bodies=%d", shear->bodies);
    worlds_assign(&c.sets, "vat=%.17g", shear->cylinder_radius);
    worlds_assign(&c.sets, "mu=0.5");
    TALUS_TRY(worlds_build(w, &c, out));
    TALUS_TRY(worlds_advance(w, *out, shear->settle_steps, "shear: settling", NULL, NULL, NULL));
    TALUS_TRY(talus_snapshot_take(snapshot, *out, TALUS_SNAPSHOT_VELOCITY));
    shear->plug_height = 1.6 * find_mean_height(snapshot); /* the upper fifth of a level bed */
    return TALUS_OK;
}

TalusStatus shear_run(const Worlds *w, TalusWorld *world, const Shear *shear,
                      TalusSnapshot *snapshot, ShearRun *run)
{
    TALUS_TRY(shear_flow(w, world, shear, shear->measured_steps, snapshot, NULL));
    TALUS_TRY(shear_flow(w, world, shear, shear->measured_steps, snapshot, run));
    TALUS_TRY(talus_snapshot_take(snapshot, world, TALUS_SNAPSHOT_VELOCITY));
    run->height = find_mean_height(snapshot);
    return TALUS_OK;
}

/* ---- one problem under both laws ---- */

/* Solves from `warm` (NULL: zero impulses) to tolerance * speed and adds the cost. */
static TalusStatus solve_and_add_cost(TalusProblem *problem, const char *backend,
                                      const double *warm, double speed, double tolerance,
                                      TalusSolver *solver, ShearCost *cost)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.tolerance = tolerance * speed;
    options.reference_speed = speed;
    options.max_iterations = BUDGET;
    double *gamma = talus_problem_gamma(problem);
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof *gamma;
    if (warm)
        memcpy(gamma, warm, bytes);
    else
        memset(gamma, 0, bytes);
    double start = read_clock(backend);
    TALUS_TRY(talus_solver_solve(solver, problem, &options, &info));
    cost->seconds += read_clock(backend) - start;
    cost->count++;
    cost->products += info.products;
    cost->worst = fmax(cost->worst, info.residual.rms / options.tolerance);
    cost->missed += info.outcome != TALUS_OUTCOME_CONVERGED;
    return TALUS_OK;
}

/* Solves the problem, which is under `law`, by each solver, tolerance and start. */
static TalusStatus solve_by_all_solvers(TalusProblem *problem, const char *backend,
                                        const double *warm, double speed, int law, Sampled *out)
{
    bool fine = !out->coarse && out->count % FINE_EVERY == 0;
    TALUS_TRY(talus_problem_set_backend(problem, backend));
    for (int s = 0; s < SOLVERS; s++)
        for (int t = 0; t < (fine ? TOLERANCES : TOLERANCES - 1); t++)
            for (int k = 0; k < STARTS; k++) {
                TalusSolver **solver = &out->solver[s][t][k][law];
                if (!*solver)
                    TALUS_TRY(talus_solver_create(solvers[s], solver));
                TALUS_TRY(solve_and_add_cost(problem, backend, k == 0 ? warm : NULL, speed,
                                             tolerances[t], *solver, &out->cost[s][t][k][law]));
            }
    return TALUS_OK;
}

/* Adds the numbers of all, sliding and sticking contacts at the problem's impulses, those of its last solve, and counts
 * the sample. */
static TalusStatus add_states(TalusProblem *problem, Sampled *out)
{
    TalusMetrics metrics;
    TALUS_TRY(talus_problem_measure(problem, talus_problem_gamma(problem), &metrics));
    out->contacts += talus_problem_blocks(problem);
    out->sliding += metrics.sliding;
    out->sticking += metrics.sticking;
    out->count++;
    return TALUS_OK;
}

/* Solves a copy of the problem of the world's next step under both laws; the world is not stepped. */
static TalusStatus solve_sample(TalusWorld *world, Sampled *out)
{
    TalusProblem *copy = NULL;
    double *warm = NULL, speed = worlds_reference_speed(world);
    TALUS_TRY(worlds_copy_problem(world, &copy));
    size_t size = (size_t)talus_problem_size(copy);
    TalusStatus status = TALUS_ALLOC(warm, size + 1, "impulses");
    if (status == TALUS_OK)
        memcpy(warm, talus_problem_gamma(copy), size * sizeof *warm);
    for (int law = 0; status == TALUS_OK && law < LAWS; law++) {
        status = talus_problem_set_friction(copy, (TalusFrictionModel){.law = laws[law]});
        TALUS_THEN(status,
                   solve_by_all_solvers(copy, talus_world_backend(world), warm, speed, law, out));
        if (status == TALUS_OK && laws[law] == TALUS_LAW_COULOMB)
            status = add_states(copy, out);
    }
    talus_problem_destroy(copy);
    talus_release(warm);
    return status;
}

/* Continues the flow and solves the problem of every shear->sample_interval-th step under both laws. */
static TalusStatus solve_samples(const Worlds *w, TalusWorld *world, const Shear *shear,
                                 TalusSnapshot *snapshot, Sampled *out)
{
    for (int i = 0; i < shear->samples; i++) {
        TALUS_TRY(shear_flow(w, world, shear, shear->sample_interval, snapshot, NULL));
        TALUS_TRY(shear_drive(world, shear, snapshot));
        TALUS_TRY(solve_sample(world, out));
        worlds_print_line(w, "shear: sample %d of %d", i + 1, shear->samples);
    }
    return TALUS_OK;
}

/* ---- whole runs ---- */

/* Makes a run from the saved world under a law and a tolerance. */
static TalusStatus run_under_law(const Worlds *w, const void *bytes, size_t size,
                                 const Shear *shear, TalusSnapshot *snapshot, TalusFrictionLaw law,
                                 double tolerance, ShearRun *run)
{
    TalusWorld *world;
    TALUS_TRY(talus_world_load(bytes, size, cli_convert_threads(w->threads), NULL, &world));
    TalusStatus status = shear_set_law(world, snapshot, law);
    TALUS_THEN(status, talus_world_set_accuracy(world, tolerance, BUDGET));
    TALUS_THEN(status, shear_run(w, world, shear, snapshot, run));
    talus_world_destroy(world);
    return status;
}

/* Makes runs from the state of the world under both laws, at the first RUNS tolerances. */
static TalusStatus run_under_both_laws(const Worlds *w, const TalusWorld *world, const Shear *shear,
                                       TalusSnapshot *snapshot, ShearRun run[RUNS][LAWS])
{
    void *bytes;
    size_t size;
    TALUS_TRY(talus_world_save(world, &bytes, &size));
    TalusStatus status = TALUS_OK;
    for (int t = 0; t < RUNS; t++)
        for (int law = 0; status == TALUS_OK && law < LAWS; law++)
            status = run_under_law(w, bytes, size, shear, snapshot, laws[law], tolerances[t],
                                   &run[t][law]);
    talus_free(bytes);
    return status;
}

/* ---- tables ---- */

/* Adds mean products, milliseconds, their ratios coulomb over ccp, and misses. */
static void add_cost_cells(LabTable *t, const ShearCost cost[LAWS])
{
    const ShearCost *a = &cost[0], *b = &cost[1];
    lab_table_add_cells(t, "%.0f\t%.0f\t%.2f\t%.1f\t%.1f\t%.2f\t%d", a->products / a->count,
                        b->products / b->count, b->products / a->products,
                        1e3 * a->seconds / a->count, 1e3 * b->seconds / b->count,
                        b->seconds / a->seconds, a->missed + b->missed);
}

static void add_sample_table(Worlds *w, const Sampled *found, const Shear *shear)
{
    LabTable *t = lab_set_add_table(
        w->set, "A sheared bed: the same problems under both laws, means of a solve",
        "solver\ttolerance/gh\tstart\tproducts, ccp\tcoulomb\tratio\tms, ccp\tcoulomb\tratio\tmissed");
    for (int s = 0; s < SOLVERS; s++)
        for (int k = 0; k < TOLERANCES; k++)
            for (int start = 0; start < STARTS && found->cost[s][k][start][0].count; start++) {
                lab_table_add_cells(t, "%s\t%.0e\t%s", solvers[s], tolerances[k], starts[start]);
                add_cost_cells(t, found->cost[s][k][start]);
            }
    snprintf(t->note, sizeof t->note,
             "%d spheres, mu 0.5, in a cylinder of radius %g d; spheres above %.2f m turn at %g "
             "rad/s. %d problems, one every %d steps, with %.0f contacts of which %.0f slide and "
             "%.0f stick. From the world's warm start; times are of one thread on the cpu (CPU "
             "time), on a device by the clock. Backend %s.",
             shear->bodies, 0.5 * shear->cylinder_radius / shear->radius, shear->plug_height,
             shear->plug_spin, found->count, shear->sample_interval, found->contacts / found->count,
             found->sliding / found->count, found->sticking / found->count, w->backend[0]);
}

static void add_run_table(Worlds *w, ShearRun run[RUNS][LAWS], const Shear *shear)
{
    LabTable *t = lab_set_add_table(
        w->set, "A sheared bed: runs under either law from one state, means of a step",
        "tolerance/gh\tproducts, ccp\tcoulomb\tratio\tms, ccp\tcoulomb\tratio\tmissed\t"
        "mean height, m, ccp\tcoulomb\toverlap/r, ccp\tcoulomb");
    for (int k = 0; k < RUNS; k++) {
        ShearCost cost[LAWS] = {run[k][0].cost, run[k][1].cost};
        lab_table_add_cells(t, "%.0e", tolerances[k]);
        add_cost_cells(t, cost);
        lab_table_add_cells(t, "%.4f\t%.4f\t%.1e\t%.1e", run[k][0].height, run[k][1].height,
                            run[k][0].overlap, run[k][1].overlap);
    }
    snprintf(
        t->note, sizeof t->note,
        "%d steps by the solver that `auto` chooses, after as many under the law that are not counted; times are of whole steps.",
        shear->measured_steps);
}

/* Adds verdicts on products and time under coulomb over those under ccp; both ratios count as infinite if coulomb
 * misses its tolerance more often than ccp. */
static void add_cost_verdicts(Worlds *w, const char *what, double tolerance,
                              const ShearCost cost[LAWS])
{
    WorldsStep step = {.rms = NAN, .relative = tolerance * cost[1].worst};
    bool missed = cost[1].missed > cost[0].missed;
    worlds_add_verdict(w, missed ? HUGE_VAL : cost[1].products / cost[0].products, max_ratio, "",
                       &step, "shear, %s, %.0e g h: products, coulomb over ccp", what, tolerance);
    worlds_add_verdict(w, missed ? HUGE_VAL : cost[1].seconds / cost[0].seconds, max_ratio, "",
                       &step, "shear, %s, %.0e g h: time, coulomb over ccp", what, tolerance);
}

static void add_tables_and_verdicts(Worlds *w, const Sampled *found, ShearRun run[RUNS][LAWS],
                                    const Shear *shear)
{
    add_sample_table(w, found, shear);
    add_run_table(w, run, shear);
    for (int k = 0; k < TOLERANCES; k++)
        for (int start = 0; start < STARTS && found->cost[0][k][start][0].count; start++) {
            char what[LAB_TEXT];
            snprintf(what, sizeof what, "%s, %s start", solvers[0], starts[start]);
            add_cost_verdicts(w, what, tolerances[k], found->cost[0][k][start]);
        }
    for (int k = 0; k < RUNS; k++) {
        ShearCost cost[LAWS] = {run[k][0].cost, run[k][1].cost};
        add_cost_verdicts(w, "runs", tolerances[k], cost);
    }
}

static TalusStatus run_shear(Worlds *w)
{
    Shear shear = {.bodies = worlds_choose_size(w, 4000, 150),
                   .settle_steps = worlds_choose_size(w, 300, 120),
                   .turning_steps = worlds_choose_size(w, 100, 10),
                   .measured_steps = worlds_choose_size(w, 20, 2),
                   .sample_interval = worlds_choose_size(w, 5, 2),
                   .samples = worlds_choose_size(w, 5, 1),
                   .radius = 0.1,
                   .cylinder_radius = w->quick ? 0.6 : 1.6,
                   .plug_spin = 0.5};
    static Sampled found;
    ShearRun run[RUNS][LAWS] = {0};
    TalusSnapshot grains = {0};
    TalusWorld *world = NULL;
    found = (Sampled){.coarse = w->quick};
    TalusStatus status = shear_settle(w, &shear, &(WorldsAssignments){0}, &world, &grains);
    TALUS_THEN(status, shear_set_law(world, &grains, TALUS_LAW_COULOMB));
    TALUS_THEN(status, shear_flow(w, world, &shear, shear.turning_steps, &grains, NULL));
    TALUS_THEN(status, run_under_both_laws(w, world, &shear, &grains, run));
    TALUS_THEN(status, talus_world_set_accuracy(world, tolerances[1], BUDGET));
    TALUS_THEN(status, solve_samples(w, world, &shear, &grains, &found));
    if (status == TALUS_OK)
        add_tables_and_verdicts(w, &found, run, &shear);
    for (int s = 0; s < SOLVERS; s++)
        for (int t = 0; t < TOLERANCES; t++)
            for (int law = 0; law < LAWS; law++)
                for (int k = 0; k < STARTS; k++)
                    talus_solver_destroy(found.solver[s][t][k][law]);
    talus_snapshot_free(&grains);
    talus_world_destroy(world);
    return status;
}

const WorldsRow worlds_shear = {.name = "shear",
                                .summary =
                                    "a sheared bed: what exact Coulomb costs over the relaxation",
                                .source = "held to 1.5 times at equal tolerance",
                                .run = run_shear};
