/* lab/experiments/worlds_agreement.c - comparison of backends with the cpu: one problem solved by each, and beds
 * settled by each.
 *
 * Problem: one step of a settling bed, solved from zero impulses. Velocities of bodies are unique at the optimum, and
 * backends in double precision solve so tightly, to 1e-11 g h, that their velocities can be compared. A backend with
 * refinement must reach its tolerance, 1e-6 g h, in the residual computed by the cpu.
 *
 * Beds: mean height, packing fraction and energy, as means over seeds, of beds that each backend settles from the
 * same starts. The scatter is the standard deviation over seeds on the cpu; a difference of means must not exceed
 * one scatter. Means over 16 beds with independent starts differ by sqrt(2/16) = 0.35 scatters, root mean square, and
 * by more than one scatter once in two hundred times; with fewer seeds chance alone would exceed it more often. The
 * table also gives the mean difference over its standard error, which follows from the differences per seed. Since
 * backends share the starts, this is a finer measure of a bias. */
#include "worlds.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- one problem ---- */

typedef struct Solution {
    TalusSolveInfo info;
    double *velocity; /* [6 bodies]: velocity and spin; allocated by the first solve_on_backend */
} Solution;

/* Settles a bed on the cpu and copies the problem of its next step; the caller destroys world and problem. */
static TalusStatus make_problem(const Worlds *w, TalusWorld **world, TalusProblem **out)
{
    WorldsCase c = {.scene = "settle-box", .solver = "apgd", .backend = "cpu"};
    worlds_assign(&c.sets, "bodies=%d", worlds_choose_size(w, 4000, 200));
    TALUS_TRY(worlds_build(w, &c, world));
    TALUS_TRY(
        worlds_advance(w, *world, worlds_choose_size(w, 200, 60), "agreement", NULL, NULL, NULL));
    return worlds_copy_problem(*world, out);
}

/* Solves from zero impulses; writes the bodies' velocities and the residual, which the cpu computes. */
static TalusStatus solve_on_backend(const Worlds *w, TalusProblem *problem, const char *backend,
                                    const char *spec, double tolerance, Solution *out)
{
    TalusSolver *solver;
    TalusSolveOptions options = talus_solve_options_default();
    double *gamma = talus_problem_gamma(problem);
    size_t bodies = (size_t)talus_problem_bodies(problem);
    options.tolerance = tolerance;
    options.max_iterations = 100000;
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    TALUS_TRY(talus_problem_set_backend(problem, backend));
    TALUS_TRY(talus_solver_create(spec, &solver));
    TalusStatus status = worlds_solve(w, spec, solver, problem, &options, &out->info);
    talus_solver_destroy(solver);
    if (status == TALUS_OK && !out->velocity)
        status = TALUS_ALLOC(out->velocity, 6 * bodies, "velocities");
    TALUS_THEN(status, talus_problem_body_velocity(problem, gamma, out->velocity));
    /* replaces the backend's own residual by one that the cpu computes */
    if (status == TALUS_OK)
        talus_problem_residual(problem, gamma, &out->info.residual);
    return status;
}

/* Maximum over bodies and axes of the difference of linear velocities, m/s. */
static double velocity_difference(const Solution *a, const Solution *b, int bodies)
{
    double largest = 0.0;
    for (int i = 0; i < bodies; i++)
        for (int k = 0; k < 3; k++)
            largest = fmax(largest, fabs(a->velocity[6 * i + k] - b->velocity[6 * i + k]));
    return largest;
}

/* Adds a row for one solution; `speed` is g h, `dv` the largest difference of velocities from the cpu's solution,
 * m/s. */
static void add_solution_row(LabTable *t, const char *solver, const char *backend, double tolerance,
                             const Solution *s, double speed, double dv)
{
    double rms = s->info.residual.rms;
    lab_table_add_cells(t, "%s\t%s\t%.0e\t%d\t%.2e\t%.2e\t%.2e", solver, backend, tolerance,
                        s->info.iterations, rms, rms / speed, dv);
}

/* True for cuda-mixed: single precision with refinement. */
static bool is_mixed(const char *backend)
{
    return strstr(backend, "mixed") != NULL;
}

/* Solves the problem by one solver on the cpu and on each backend; adds table rows and verdicts. */
static TalusStatus compare_backends(Worlds *w, LabTable *t, TalusProblem *problem,
                                    const char *solver, double speed, Solution *reference,
                                    Solution *other)
{
    static const double exact = 1e-11, refined = 1e-6; /* relative to g h */
    int bodies = talus_problem_bodies(problem);
    TALUS_TRY(solve_on_backend(w, problem, "cpu", solver, exact * speed, reference));
    add_solution_row(t, solver, "cpu", exact, reference, speed, 0.0);
    for (int i = 0; i < w->backends; i++) {
        bool mixed = is_mixed(w->backend[i]);
        double tolerance = mixed ? refined : exact;
        TALUS_TRY(solve_on_backend(w, problem, w->backend[i], solver, tolerance * speed, other));
        double dv = velocity_difference(reference, other, bodies);
        WorldsStep step = {.rms = other->info.residual.rms,
                           .relative = other->info.residual.rms / speed};
        add_solution_row(t, solver, w->backend[i], tolerance, other, speed, dv);
        if (mixed)
            worlds_add_verdict(w, step.relative, refined, "", &step,
                               "agreement, %s on %s: residual over g h", solver, w->backend[i]);
        else
            worlds_add_verdict(w, dv, 1e-9, "m/s", &step, "agreement, %s on %s: velocities", solver,
                               w->backend[i]);
    }
    return TALUS_OK;
}

/* Makes one problem and compares the backends on it with two solvers. */
static TalusStatus compare_problem(Worlds *w)
{
    TalusWorld *world = NULL;
    TalusProblem *problem = NULL;
    Solution reference = {0}, other = {0};
    TalusStatus status = make_problem(w, &world, &problem);
    if (status == TALUS_OK) {
        double speed = worlds_reference_speed(world);
        LabTable *t = lab_set_add_table(
            w->set, "One problem, solved by each backend from zero",
            "solver\tbackend\ttolerance/gh\titerations\trms m/s\trms/gh\tlargest dv, m/s");
        snprintf(t->note, sizeof t->note,
                 "%d bodies, %d contacts. Residuals are computed by the cpu from the impulses; dv "
                 "is against the cpu's solution.",
                 talus_problem_bodies(problem), talus_problem_blocks(problem));
        status = compare_backends(w, t, problem, "apgd", speed, &reference, &other);
        TALUS_THEN(status, compare_backends(w, t, problem, "lbfgs-fb", speed, &reference, &other));
    }
    TALUS_RELEASE(reference.velocity, other.velocity);
    talus_problem_destroy(problem);
    talus_world_destroy(world);
    return status;
}

/* ---- settled beds ---- */

/* Numbers of seeds, and with --quick; indices of the quantities of a bed. */
enum { SEEDS = 16, QUICK_SEEDS = 3, HEIGHT = 0, FRACTION, ENERGY, QUANTITIES };

static const char *const quantity_names[QUANTITIES] = {"mean height, m", "packing fraction",
                                                       "energy, J"};

/* Values of scenes/settle-box.json, m. */
static const double radius = 0.1, spacing = 0.22;

/* Results of one backend: quantities of each bed; maximum residuals over the steps of all beds. */
typedef struct Beds {
    double found[QUANTITIES][SEEDS];
    WorldsStep worst;
} Beds;

/* Returns the region of a bed of side^3 spheres at least `margin` away from walls, floor and surface. The height of the
 * surface is that of a bed with a packing fraction of 0.58. */
static WorldsCore find_core(int side, double margin)
{
    static const double volume = 4.0 / 3.0 * 3.14159265358979323846, typical = 0.58;
    /* height of the bed at a packing fraction of 1: side^3 spheres over (side spacing)^2 */
    double solid = side * volume * radius * radius * radius / (spacing * spacing);
    return (WorldsCore){
        .half = 0.5 * side * spacing - margin, .low = margin, .high = solid / typical - margin};
}

/* Writes mean height, packing fraction and energy of a bed. */
static TalusStatus measure_bed(const TalusWorld *world, const TalusLedger *ledger,
                               const WorldsCore *core, double out[QUANTITIES])
{
    double height = 0.0, volume = 0.0;
    TalusSnapshot s = {0};
    int moving = 0;
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    for (int i = 0; i < s.body_count; i++) {
        if (s.fixed[i])
            continue;
        moving++;
        height += s.position[i].z;
        volume += worlds_ball_volume_within(core, s.position[i], radius);
    }
    out[HEIGHT] = height / moving;
    out[FRACTION] = volume / worlds_core_volume(core);
    out[ENERGY] = ledger->kinetic + ledger->potential;
    talus_snapshot_free(&s);
    return TALUS_OK;
}

/* Settles one bed, writes its quantities, and updates the maximum residuals in *worst. */
static TalusStatus settle_bed(const Worlds *w, const char *backend, int seed,
                              double out[QUANTITIES], WorldsStep *worst)
{
    int side = worlds_choose_size(w, 10, 5), steps = worlds_choose_size(w, 400, 60);
    WorldsCore core = find_core(side, (w->quick ? 2.0 : 4.0) * radius);
    WorldsCase c = {.scene = "settle-box", .backend = backend};
    WorldsStep max;
    TalusStepInfo info;
    TalusWorld *world;
    worlds_assign(&c.sets, "bodies=%d", side * side * side);
    worlds_assign(&c.sets, "bodies[grains].seed=%d", seed);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = worlds_advance(w, world, steps, "agreement, beds", NULL, &max, NULL);
    TALUS_THEN(status, talus_world_step(world, &info));
    TALUS_THEN(status, measure_bed(world, &info.ledger, &core, out));
    talus_world_destroy(world);
    TALUS_TRY(status);
    worst->rms = fmax(worst->rms, max.rms);
    worst->relative = fmax(worst->relative, max.relative);
    return TALUS_OK;
}

/* Settles a bed for each seed on one backend and fills `beds`. */
static TalusStatus settle_beds(const Worlds *w, const char *backend, int seeds, Beds *beds)
{
    beds->worst = (WorldsStep){0};
    for (int seed = 0; seed < seeds; seed++) {
        double one[QUANTITIES];
        TALUS_TRY(settle_bed(w, backend, seed + 1, one, &beds->worst));
        for (int q = 0; q < QUANTITIES; q++)
            beds->found[q][seed] = one[q];
    }
    return TALUS_OK;
}

/* Returns the mean of the differences a - b per seed; *error receives its standard error. */
static double mean_difference(const double *a, const double *b, int seeds, double *error)
{
    double d[SEEDS];
    for (int i = 0; i < seeds; i++)
        d[i] = a[i] - b[i];
    *error = worlds_deviation(d, seeds) / sqrt(seeds);
    return worlds_mean(d, seeds);
}

/* Adds the quantities of one backend to the table; of a backend other than the cpu also differences and verdicts. */
static void add_bed_rows(Worlds *w, LabTable *t, const char *backend, const Beds *beds,
                         const Beds *host, int seeds)
{
    for (int q = 0; q < QUANTITIES; q++) {
        const double *values = beds->found[q], *reference = host->found[q];
        double error, scatter = worlds_deviation(reference, seeds);
        double off = mean_difference(values, reference, seeds, &error);
        lab_table_add_cells(t, "%s\t%s\t%.6g\t%.2g", quantity_names[q], backend,
                            worlds_mean(values, seeds), worlds_deviation(values, seeds));
        if (beds == host) {
            lab_table_add_cells(t, "-\t-\t-");
            continue;
        }
        lab_table_add_cells(t, "%+.2g\t%+.2f\t%+.2f", off, off / scatter, off / error);
        worlds_add_verdict(w, fabs(off) / scatter, 1.0, "", &beds->worst,
                           "agreement, %s on %s: difference over scatter", quantity_names[q],
                           backend);
    }
}

/* Settles beds on the cpu and on each backend; adds a table and verdicts. */
static TalusStatus compare_beds(Worlds *w)
{
    Beds host, other;
    int seeds = w->quick ? QUICK_SEEDS : SEEDS;
    TALUS_TRY(settle_beds(w, "cpu", seeds, &host));
    LabTable *t =
        lab_set_add_table(w->set, "Settled beds: means and scatter over seeds",
                          "quantity\tbackend\tmean\tscatter\tdifference\tin scatters\tin errors");
    snprintf(
        t->note, sizeof t->note,
        "%d seeds. Judged: a difference of means of at most one scatter, which is the cpu's. In "
        "errors: over the standard error of the differences seed by seed.",
        seeds);
    add_bed_rows(w, t, "cpu", &host, &host, seeds);
    for (int b = 0; b < w->backends; b++) {
        TALUS_TRY(settle_beds(w, w->backend[b], seeds, &other));
        add_bed_rows(w, t, w->backend[b], &other, &host, seeds);
    }
    return TALUS_OK;
}

static TalusStatus run_agreement(Worlds *w)
{
    TALUS_TRY(compare_problem(w));
    return compare_beds(w);
}

const WorldsRow worlds_agreement = {.name = "agreement",
                                    .summary = "the same problem and the same beds by each backend",
                                    .source = "the cpu is what the others are held against",
                                    .share = 60.0,
                                    .run = run_agreement};
