/* lab/experiments/experiment_run.c - runs an experiment that solves problems: makes its problems from scenes and solves
 * each of them by the solvers of its table. */
#include "experiment.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"
#include "lab/widen.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Time limit of a solver that the experiment does not name, s. */
static const double others_seconds = 20.0;

/* ---- the problems ---- */

/* Returns the case, or its quick version with --quick. */
static BenchCase get_case(const ExperimentSession *session, int index)
{
    BenchCase c = session->experiment->cases[index];
    if (session->quick) {
        c.name = c.quick_name;
        c.at = c.quick_at;
        c.contacts = c.quick_contacts;
        memcpy(c.set, c.quick_set, sizeof c.set);
    }
    return c;
}

/* Returns the number of assignments in `set`, which NULL ends. */
static int count_assignments(const char *const *set)
{
    int count = 0;
    while (count < BENCH_ASSIGNMENTS && set[count])
        count++;
    return count;
}

/* Hashes what defines the problem of a case: the scene's text, its parameters, time, mass of the heaviest body, number
 * of contacts, and the version. */
static TalusStatus hash_case(const BenchCase *c, const char *scene, uint64_t *out)
{
    double numbers[] = {c->at, c->heaviest_mass};
    char *text;
    size_t size;
    TALUS_TRY(talus_read_file(scene, 1 << 24, &text, &size));
    *out = talus_hash(TALUS_HASH_SEED, text, size);
    talus_release(text);
    for (int i = 0; i < count_assignments(c->set); i++)
        *out = talus_hash(*out, c->set[i], strlen(c->set[i]));
    *out = talus_hash(*out, numbers, sizeof numbers);
    if (c->contacts > 0)
        *out = talus_hash(*out, &c->contacts, sizeof c->contacts);
    *out = talus_hash(*out, talus_version(), strlen(talus_version()));
    return TALUS_OK;
}

/* Makes steps up to the time of the case, or until a signal; shows the time on a terminal. */
static TalusStatus settle_world(const ExperimentSession *session, TalusWorld *world,
                                const BenchCase *c)
{
    double last = 0.0;
    bool draw = !session->quiet && isatty(STDERR_FILENO);
    int64_t steps = cli_steps_until(c->at, talus_world_step_length(world));
    while (talus_world_steps(world) < steps && !cli_stop_signal()) {
        TALUS_TRY(talus_world_step(world, NULL));
        if (draw && talus_now() - last > 0.2) {
            last = talus_now();
            fprintf(stderr, "\r\033[K%s: settling, t = %.2f of %g s", c->name,
                    talus_world_time(world), c->at);
            fflush(stderr);
        }
    }
    if (last > 0.0)
        fputs("\r\033[K", stderr);
    return TALUS_OK;
}

/* Creates a copy of the problem in which the heaviest body that is free to move has the given mass, kg, and its inertia
 * in proportion. The caller destroys *out. */
static TalusStatus change_heaviest_mass(TalusProblem *problem, double mass, TalusProblem **out)
{
    TalusProblemDef def;
    TALUS_TRY(talus_problem_export(problem, &def));
    size_t bodies = (size_t)def.body_count, at = 0;
    double *inv_mass = NULL;
    TalusSym3 *inv_inertia = NULL;
    TalusStatus status = TALUS_ALLOC(inv_mass, bodies, "masses");
    TALUS_THEN(status, TALUS_ALLOC(inv_inertia, bodies, "inertias"));
    if (status == TALUS_OK) {
        memcpy(inv_mass, def.inv_mass, bodies * sizeof *inv_mass);
        memcpy(inv_inertia, def.inv_inertia, bodies * sizeof *inv_inertia);
        for (size_t i = 0; i < bodies; i++)
            if (inv_mass[i] > 0.0 && (inv_mass[at] == 0.0 || inv_mass[i] < inv_mass[at]))
                at = i;
        double ratio = 1.0 / (mass * inv_mass[at]);
        TalusSym3 *s = &inv_inertia[at];
        double *entries[] = {&s->xx, &s->yy, &s->zz, &s->xy, &s->xz, &s->yz};
        for (int k = 0; k < 6; k++)
            *entries[k] *= ratio;
        inv_mass[at] *= ratio;
        def.inv_mass = inv_mass;
        def.inv_inertia = inv_inertia;
        status = talus_problem_create(&def, NULL, out);
    }
    TALUS_RELEASE(inv_mass, inv_inertia);
    return status;
}

/* Writes the problem, with another mass of the heaviest body if the case gives one. */
static TalusStatus write_problem(TalusProblem *problem, const BenchCase *c, const char *path)
{
    TalusProblem *changed;
    if (!(c->heaviest_mass > 0.0))
        return talus_problem_write(path, problem);
    TALUS_TRY(change_heaviest_mass(problem, c->heaviest_mass, &changed));
    TalusStatus status = talus_problem_write(path, changed);
    talus_problem_destroy(changed);
    return status;
}

/* Writes the problem of the world's next step to `path`, with the number of contacts and the heaviest mass that the
 * case gives, if any. */
static TalusStatus write_next_problem(const ExperimentSession *session, const BenchCase *c,
                                      TalusWorld *world, const char *path)
{
    TalusWorld *wide = NULL;
    TalusProblem *problem;
    double envelope;
    if (c->contacts > 0)
        TALUS_TRY(widen_world(world, c->contacts, &wide, &envelope));
    TalusStatus status = talus_world_build(wide ? wide : world, &problem);
    TALUS_THEN(status, write_problem(problem, c, path));
    if (status == TALUS_OK && wide && !session->quiet)
        fprintf(stderr, "talus: %s: %d contacts in an envelope of %.6f sizes\n", c->name,
                talus_problem_blocks(problem), envelope);
    talus_world_destroy(wide);
    return status;
}

/* Simulates the scene to the time of the case and writes the problem of the next step to `path`; writes nothing if a
 * signal stops the simulation. */
static TalusStatus make_problem_file(const ExperimentSession *session, const BenchCase *c,
                                     const char *scene_path, const char *path)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.threads = session->set->threads};
    double begun = talus_now();
    /* rigid and under ccp, as in the papers, unless the case says otherwise */
    const char *set[1 + BENCH_ASSIGNMENTS] = {"defaults=relaxed"};
    int sets = count_assignments(c->set);
    memcpy(&set[1], c->set, (size_t)sets * sizeof *set);
    TalusStatus status = talus_scene_load(scene_path, set, 1 + sets, &scene);
    TALUS_THEN(status, talus_scene_build(scene, &choice, &world));
    TALUS_THEN(status, settle_world(session, world, c));
    if (status == TALUS_OK && !cli_stop_signal())
        status = write_next_problem(session, c, world, path);
    if (status == TALUS_OK && !cli_stop_signal() && !session->quiet)
        fprintf(stderr, "talus: %s: settled until %g s, in %.1f s\n", c->name,
                talus_world_time(world), talus_now() - begun);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return status;
}

/* Sets the path of the case's problem file. If an earlier case has the same hash, because it differs in its friction
 * model alone, its path is used and *shared is true. */
static TalusStatus set_problem_path(ExperimentSession *session, int index, uint64_t hash,
                                    bool *shared)
{
    char ending[32];
    snprintf(ending, sizeof ending, "-%016" PRIx64 ".talus", hash);
    *shared = false;
    for (int i = 0; i < index; i++) {
        const char *path = session->path[i];
        *shared = strcmp(path + strlen(path) - strlen(ending), ending) == 0;
        if (*shared)
            return talus_path_format(&session->path[index], "%s", path);
    }
    return talus_path_format(&session->path[index], "%s/problem-%d%s", session->set->dir, index + 1,
                             ending);
}

/* Opens the problem of the case as next problem of the set; makes its file first if it is missing. */
static TalusStatus open_case(ExperimentSession *session, int index)
{
    const BenchCase c = get_case(session, index);
    LabSet *set = session->set;
    char scene[CLI_PATH_MAX];
    uint64_t hash;
    bool shared;
    if (!cli_find_scene(c.scene, scene, sizeof scene))
        return talus_fail(TALUS_ERR_IO, "%s: its scene %s is missing", session->experiment->name,
                          c.scene);
    TALUS_TRY(hash_case(&c, scene, &hash));
    TALUS_TRY(set_problem_path(session, index, hash, &shared));
    const char *path = session->path[index];
    if (access(path, F_OK) != 0 || (session->fresh && !shared))
        TALUS_TRY(make_problem_file(session, &c, scene, path));
    if (cli_stop_signal())
        return TALUS_OK;
    LabProblem *p = &set->problems[set->problem_count++];
    TALUS_TRY(lab_problem_open(path, c.model, session->pool, p));
    snprintf(p->name, sizeof p->name, "%s", c.name);
    return c.reference_solver ? lab_problem_solve_reference(p, c.reference_solver) : TALUS_OK;
}

/* ---- the runs ---- */

/* Runs one solver of the experiment on a problem, or reuses its stored result, and prints the result. */
static TalusStatus run_solver(ExperimentSession *session, int problem, const BenchRun *run,
                              double seconds)
{
    char label[LAB_TEXT];
    const BenchCase *c = &session->experiment->cases[problem];
    bool bounded = c->reference_solver && c->model && c->model->law == TALUS_LAW_FIXED;
    experiment_format_label(run, session->divisor, label);
    LabJob job = {.solver = run->solver,
                  .label = label,
                  .backend = "cpu",
                  .tolerance = run->tolerance,
                  .max_iterations = run->iterations / session->divisor,
                  .max_seconds = seconds,
                  .outer = {.refresh = bounded ? -1 : 0}, /* -1: bounds of the reference solve */
                  .trace = true};
    LabResult *result;
    bool reused;
    TALUS_TRY(lab_set_run_job(session->set, problem, &job, session->quiet, &result, &reused));
    session->solved += !reused;
    if (session->quiet)
        return TALUS_OK;
    fprintf(stderr, "talus: %s, %s: ", session->set->problems[problem].name, label);
    if (lab_outcome_is_measured(result->outcome))
        fprintf(stderr, "%d iterations, residual %.1e, %.2f s%s\n", result->iterations,
                result->residual[LAB_R_NATURAL_RELATIVE], result->seconds, reused ? " (kept)" : "");
    else
        fprintf(stderr, "%s: %s\n", lab_outcome_name(result->outcome), result->reason);
    return TALUS_OK;
}

/* True if some run of the experiment is by the solver with this index. */
static bool is_named_by_runs(const Experiment *e, int solver)
{
    for (int i = 0; i < e->run_count; i++)
        if (talus_solver_find(e->runs[i].solver) == solver)
            return true;
    return false;
}

/* True if the run is to be done on the case with this index. */
static bool runs_on_case(const BenchRun *run, int problem)
{
    return !run->cases || run->cases >> problem & 1u;
}

/* Runs the experiment's solvers on a problem, then, if it asks for others, all other solvers of this build. */
static TalusStatus run_case(ExperimentSession *session, int problem)
{
    const Experiment *e = session->experiment;
    for (int i = 0; i < e->run_count && !cli_stop_signal(); i++)
        if (runs_on_case(&e->runs[i], problem) && lab_has_solver(e->runs[i].solver))
            TALUS_TRY(run_solver(session, problem, &e->runs[i], e->seconds));
    for (int i = 0; e->other_iterations && i < talus_solver_count() && !cli_stop_signal(); i++) {
        BenchRun other = {.solver = talus_solver_row(i).name, .iterations = e->other_iterations};
        if (strcmp(other.solver, "auto") != 0 && !talus_solver_row(i).missing &&
            !is_named_by_runs(e, i))
            TALUS_TRY(run_solver(session, problem, &other, others_seconds));
    }
    return TALUS_OK;
}

TalusStatus experiment_run_cases(ExperimentSession *session)
{
    const Experiment *e = session->experiment;
    for (int i = 0; i < e->run_count; i++)
        lab_set_note_missing_solver(session->set, e->runs[i].solver);
    for (int i = 0; i < e->case_count && !cli_stop_signal(); i++) {
        TALUS_TRY(open_case(session, i));
        if (!cli_stop_signal())
            TALUS_TRY(run_case(session, i));
    }
    return TALUS_OK;
}

/* ---- the whole ---- */

TalusStatus experiment_open(ExperimentSession *session)
{
    const Experiment *e = session->experiment;
    LabSet *set = session->set;
    session->divisor = !session->quick ? 1 : e->quick_divisor ? e->quick_divisor : 10;
    TALUS_TRY(talus_pool_create(session->threads, &session->pool));
    TALUS_TRY(TALUS_ALLOC(set->problems, (size_t)e->case_count, "problems"));
    TALUS_TRY(TALUS_ALLOC(session->path, (size_t)e->case_count, "paths"));
    set->threads = talus_pool_threads(session->pool);
    lab_set_add_note(set, "%s: %s.", e->source, e->summary);
    if (session->quick)
        lab_set_add_note(set,
                         "Quick version: about a tenth of the bodies, and iterations divided "
                         "by %d. The paper's figures are left out, and its statements are "
                         "judged on these small problems.",
                         session->divisor);
    return TALUS_OK;
}

TalusStatus experiment_conclude(ExperimentSession *session)
{
    LabSet *set = session->set;
    set->complete = !cli_stop_signal();
    if (!set->complete)
        return lab_set_write(set);
    session->experiment->conclude(set, session->divisor);
    TALUS_TRY(lab_set_write(set));
    return lab_set_write_tables(set);
}

void experiment_close(ExperimentSession *session)
{
    for (int i = 0; session->path && i < session->experiment->case_count; i++)
        talus_release(session->path[i]);
    talus_release(session->path);
    talus_pool_destroy(session->pool);
    *session = (ExperimentSession){0};
}
