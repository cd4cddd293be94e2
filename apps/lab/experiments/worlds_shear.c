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
    RUNS = 2,
    FINE_EVERY = 5,
    BUDGET = 10000
};

static const char *const solvers[SOLVERS] = {"apgd", "lbfgs-fb"};
static const double tolerances[TOLERANCES] = {1e-2, 1e-3, 1e-5}; /* relative to g h */
static const TalusFrictionLaw laws[LAWS] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB};
static const char *const starts[STARTS] = {"warm", "zero"};
static const double max_ratio = 1.5; /* target: cost under coulomb over that under ccp */

typedef struct Sampled {
    TalusSolver *solver[SOLVERS][TOLERANCES][STARTS][LAWS];
    ShearCost cost[SOLVERS][TOLERANCES][STARTS][LAWS];
    double contacts, sliding, sticking; /* sums over samples */
    int count;
    /* The finest tolerance, which takes most of the time, is left out; else it is asked of every FINE_EVERYth
     * sample. */
    bool coarse;
} Sampled;

/* Clock by which costs are measured, s: processor time on the host, wall time for a device. */
static double time_of(const char *backend)
{
    return strcmp(backend, "cpu") == 0 ? worlds_processor_time() : talus_now();
}

/* ---- the flow ---- */

static double mean_height(const TalusSnapshot *g)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < g->body_count; i++)
        if (!g->fixed[i]) {
            sum += g->position[i].z;
            count++;
        }
    return sum / count;
}

TalusStatus shear_drive(TalusWorld *world, const Shear *shear, TalusSnapshot *g)
{
    TALUS_TRY(talus_snapshot_take(g, world, TALUS_SNAPSHOT_VELOCITY));
    for (int i = 0; i < g->body_count; i++) {
        TalusVec3 x = g->position[i], spin = {0.0, 0.0, shear->turn};
        TalusVec3 v = {-shear->turn * x.y, shear->turn * x.x, g->velocity[i].z};
        if (!g->fixed[i] && x.z > shear->level)
            TALUS_TRY(talus_world_set_velocity(world, g->id[i], v, spin));
    }
    return TALUS_OK;
}

TalusStatus shear_set_law(TalusWorld *world, const TalusSnapshot *g, TalusFrictionLaw law)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model.law = law;
    return talus_world_set_pair(world, g->material[0], g->material[0], &pair);
}

TalusStatus shear_flow(const Worlds *w, TalusWorld *world, const Shear *shear, int steps,
                       TalusSnapshot *g, ShearRun *run)
{
    const char *backend = talus_world_backend(world);
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        TALUS_TRY(shear_drive(world, shear, g));
        double start = time_of(backend);
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        if (!run)
            continue;
        run->cost.seconds += time_of(backend) - start;
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
                         TalusWorld **out, TalusSnapshot *g)
{
    WorldsCase c = {.scene = "settle-cylinder", .backend = w->backend[0], .sets = *sets};
    worlds_assign(&c.sets, "bodies=%d", shear->bodies);
    worlds_assign(&c.sets, "vat=%.17g", shear->vat);
    worlds_assign(&c.sets, "mu=0.5");
    TALUS_TRY(worlds_build(w, &c, out));
    TALUS_TRY(worlds_advance(w, *out, shear->settle, "shear: settling", NULL, NULL, NULL));
    TALUS_TRY(talus_snapshot_take(g, *out, TALUS_SNAPSHOT_VELOCITY));
    shear->level = 1.6 * mean_height(g); /* the upper fifth of a level bed */
    return TALUS_OK;
}

TalusStatus shear_run(const Worlds *w, TalusWorld *world, const Shear *shear, TalusSnapshot *g,
                      ShearRun *run)
{
    TALUS_TRY(shear_flow(w, world, shear, shear->steps, g, NULL));
    TALUS_TRY(shear_flow(w, world, shear, shear->steps, g, run));
    TALUS_TRY(talus_snapshot_take(g, world, TALUS_SNAPSHOT_VELOCITY));
    run->height = mean_height(g);
    return TALUS_OK;
}

/* ---- one problem under both laws ---- */

static TalusStatus solve(TalusProblem *problem, const char *backend, const double *warm,
                         double speed, double tolerance, TalusSolver *solver, ShearCost *cost)
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
    double start = time_of(backend);
    TALUS_TRY(talus_solver_solve(solver, problem, &options, &info));
    cost->seconds += time_of(backend) - start;
    cost->count++;
    cost->products += info.products;
    cost->worst = fmax(cost->worst, info.residual.rms / options.tolerance);
    cost->missed += info.outcome != TALUS_OUTCOME_CONVERGED;
    return TALUS_OK;
}

static TalusStatus solve_all(TalusProblem *problem, const char *backend, const double *warm,
                             double speed, int law, Sampled *out)
{
    bool fine = !out->coarse && out->count % FINE_EVERY == 0;
    TALUS_TRY(talus_problem_set_backend(problem, backend));
    for (int s = 0; s < SOLVERS; s++)
        for (int t = 0; t < (fine ? TOLERANCES : TOLERANCES - 1); t++)
            for (int k = 0; k < STARTS; k++) {
                TalusSolver **solver = &out->solver[s][t][k][law];
                if (!*solver)
                    TALUS_TRY(talus_solver_create(solvers[s], solver));
                TALUS_TRY(solve(problem, backend, k == 0 ? warm : NULL, speed, tolerances[t],
                                *solver, &out->cost[s][t][k][law]));
            }
    return TALUS_OK;
}

/* Adds the numbers of all, sliding and sticking contacts at the problem's impulses, which its last solve left. */
static TalusStatus count_states(TalusProblem *problem, Sampled *out)
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
static TalusStatus sample(TalusWorld *world, Sampled *out)
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
        TALUS_THEN(status, solve_all(copy, talus_world_backend(world), warm, speed, law, out));
        if (status == TALUS_OK && laws[law] == TALUS_LAW_COULOMB)
            status = count_states(copy, out);
    }
    talus_problem_destroy(copy);
    talus_release(warm);
    return status;
}

static TalusStatus take_samples(const Worlds *w, TalusWorld *world, const Shear *shear,
                                TalusSnapshot *g, Sampled *out)
{
    for (int i = 0; i < shear->samples; i++) {
        TALUS_TRY(shear_flow(w, world, shear, shear->every, g, NULL));
        TALUS_TRY(shear_drive(world, shear, g));
        TALUS_TRY(sample(world, out));
        worlds_print_line(w, "shear: sample %d of %d", i + 1, shear->samples);
    }
    return TALUS_OK;
}

/* ---- whole runs ---- */

static TalusStatus run_law(const Worlds *w, const void *bytes, size_t size, const Shear *shear,
                           TalusSnapshot *g, TalusFrictionLaw law, double tolerance, ShearRun *run)
{
    TalusWorld *world;
    TALUS_TRY(talus_world_load(bytes, size, cli_convert_threads(w->threads), NULL, &world));
    TalusStatus status = shear_set_law(world, g, law);
    TALUS_THEN(status, talus_world_set_accuracy(world, tolerance, BUDGET));
    TALUS_THEN(status, shear_run(w, world, shear, g, run));
    talus_world_destroy(world);
    return status;
}

static TalusStatus run_both(const Worlds *w, const TalusWorld *world, const Shear *shear,
                            TalusSnapshot *g, ShearRun run[RUNS][LAWS])
{
    void *bytes;
    size_t size;
    TALUS_TRY(talus_world_save(world, &bytes, &size));
    TalusStatus status = TALUS_OK;
    for (int t = 0; t < RUNS; t++)
        for (int law = 0; status == TALUS_OK && law < LAWS; law++)
            status = run_law(w, bytes, size, shear, g, laws[law], tolerances[t], &run[t][law]);
    talus_free(bytes);
    return status;
}

/* ---- tables ---- */

static void add_costs(LabTable *t, const ShearCost cost[LAWS])
{
    const ShearCost *a = &cost[0], *b = &cost[1];
    lab_table_add_cells(t, "%.0f\t%.0f\t%.2f\t%.1f\t%.1f\t%.2f\t%d", a->products / a->count,
                        b->products / b->count, b->products / a->products,
                        1e3 * a->seconds / a->count, 1e3 * b->seconds / b->count,
                        b->seconds / a->seconds, a->missed + b->missed);
}

static void add_samples(Worlds *w, const Sampled *found, const Shear *shear)
{
    LabTable *t = lab_set_add_table(
        w->set, "A sheared bed: the same problems under both laws, means of a solve",
        "solver\ttolerance/gh\tstart\tproducts, ccp\tcoulomb\tratio\tms, ccp\tcoulomb\tratio\tmissed");
    for (int s = 0; s < SOLVERS; s++)
        for (int k = 0; k < TOLERANCES; k++)
            for (int start = 0; start < STARTS && found->cost[s][k][start][0].count; start++) {
                lab_table_add_cells(t, "%s\t%.0e\t%s", solvers[s], tolerances[k], starts[start]);
                add_costs(t, found->cost[s][k][start]);
            }
    snprintf(t->note, sizeof t->note,
             "%d spheres, mu 0.5, in a cylinder of radius %g d; spheres above %.2f m turn at %g "
             "rad/s. %d problems, one every %d steps, with %.0f contacts of which %.0f slide and "
             "%.0f stick. From the world's warm start; times are of one thread on the cpu (CPU "
             "time), on a device by the clock. Backend %s.",
             shear->bodies, 0.5 * shear->vat / shear->radius, shear->level, shear->turn,
             found->count, shear->every, found->contacts / found->count,
             found->sliding / found->count, found->sticking / found->count, w->backend[0]);
}

static void add_runs(Worlds *w, ShearRun run[RUNS][LAWS], const Shear *shear)
{
    LabTable *t = lab_set_add_table(
        w->set, "A sheared bed: runs under either law from one state, means of a step",
        "tolerance/gh\tproducts, ccp\tcoulomb\tratio\tms, ccp\tcoulomb\tratio\tmissed\t"
        "mean height, m, ccp\tcoulomb\toverlap/r, ccp\tcoulomb");
    for (int k = 0; k < RUNS; k++) {
        ShearCost cost[LAWS] = {run[k][0].cost, run[k][1].cost};
        lab_table_add_cells(t, "%.0e", tolerances[k]);
        add_costs(t, cost);
        lab_table_add_cells(t, "%.4f\t%.4f\t%.1e\t%.1e", run[k][0].height, run[k][1].height,
                            run[k][0].overlap, run[k][1].overlap);
    }
    snprintf(
        t->note, sizeof t->note,
        "%d steps by the solver that `auto` chooses, after as many under the law that are not counted; times are of whole steps.",
        shear->steps);
}

/* Judges products and time under coulomb over those under ccp; both ratios are taken as infinite if coulomb misses its
 * tolerance more often than ccp. */
static void judge(Worlds *w, const char *what, double tolerance, const ShearCost cost[LAWS])
{
    WorldsStep step = {.rms = NAN, .relative = tolerance * cost[1].worst};
    bool missed = cost[1].missed > cost[0].missed;
    worlds_add_verdict(w, missed ? HUGE_VAL : cost[1].products / cost[0].products, max_ratio, "",
                       &step, "shear, %s, %.0e g h: products, coulomb over ccp", what, tolerance);
    worlds_add_verdict(w, missed ? HUGE_VAL : cost[1].seconds / cost[0].seconds, max_ratio, "",
                       &step, "shear, %s, %.0e g h: time, coulomb over ccp", what, tolerance);
}

static void report(Worlds *w, const Sampled *found, ShearRun run[RUNS][LAWS], const Shear *shear)
{
    add_samples(w, found, shear);
    add_runs(w, run, shear);
    for (int k = 0; k < TOLERANCES; k++)
        for (int start = 0; start < STARTS && found->cost[0][k][start][0].count; start++) {
            char what[LAB_TEXT];
            snprintf(what, sizeof what, "%s, %s start", solvers[0], starts[start]);
            judge(w, what, tolerances[k], found->cost[0][k][start]);
        }
    for (int k = 0; k < RUNS; k++) {
        ShearCost cost[LAWS] = {run[k][0].cost, run[k][1].cost};
        judge(w, "runs", tolerances[k], cost);
    }
}

static TalusStatus run_shear(Worlds *w)
{
    Shear shear = {.bodies = worlds_choose_size(w, 4000, 150),
                   .settle = worlds_choose_size(w, 300, 120),
                   .begin = worlds_choose_size(w, 100, 10),
                   .steps = worlds_choose_size(w, 20, 2),
                   .every = worlds_choose_size(w, 5, 2),
                   .samples = worlds_choose_size(w, 5, 1),
                   .radius = 0.1,
                   .vat = w->quick ? 0.6 : 1.6,
                   .turn = 0.5};
    static Sampled found;
    ShearRun run[RUNS][LAWS] = {0};
    TalusSnapshot grains = {0};
    TalusWorld *world = NULL;
    found = (Sampled){.coarse = w->quick};
    TalusStatus status = shear_settle(w, &shear, &(WorldsAssignments){0}, &world, &grains);
    TALUS_THEN(status, shear_set_law(world, &grains, TALUS_LAW_COULOMB));
    TALUS_THEN(status, shear_flow(w, world, &shear, shear.begin, &grains, NULL));
    TALUS_THEN(status, run_both(w, world, &shear, &grains, run));
    TALUS_THEN(status, talus_world_set_accuracy(world, tolerances[1], BUDGET));
    TALUS_THEN(status, take_samples(w, world, &shear, &grains, &found));
    if (status == TALUS_OK)
        report(w, &found, run, &shear);
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
