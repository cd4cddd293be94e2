/* lab/lab_problem.c - LabProblem: a contact problem from a file, with its stored impulses and reference velocities. */
#include "lab.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Writes a hash of the file's bytes. */
static TalusStatus hash_file(const char *path, uint64_t *out)
{
    char bytes[1 << 15];
    FILE *file = fopen(path, "rb");
    if (!file)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    *out = TALUS_HASH_SEED;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        *out = talus_hash(*out, bytes, n);
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? talus_fail_file(path, TALUS_ERR_IO, "cannot read") : TALUS_OK;
}

/* Writes the file's name without folder and suffix. */
static void name_from_path(const char *path, char name[LAB_TEXT])
{
    const char *slash = strrchr(path, '/');
    snprintf(name, LAB_TEXT, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
}

void lab_problem_name_by_path(LabProblem *p)
{
    size_t length = strlen(p->path), over = length < LAB_TEXT ? 0 : length - (LAB_TEXT - 1);
    snprintf(p->name, sizeof p->name, "%s", p->path + over);
}

static double norm(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ---- opening ---- */

/* Returns the group of an FCLIB file whose impulses are the warm start: the solution, so that one solver can continue
 * where another stopped, else the first guess; NULL if neither has impulses. */
static const TalusFclibPoint *find_stored_point(const TalusFclib *fclib)
{
    if (fclib->solution.r)
        return &fclib->solution;
    return fclib->guess_count > 0 && fclib->guesses[0].r ? &fclib->guesses[0] : NULL;
}

/* Sets p->start: from FCLIB the impulses of find_stored_point, or NULL if there are none; from a problem file its
 * impulses, which are in the problem until measure_scales sets them to zero. */
static TalusStatus read_start(LabProblem *p)
{
    size_t n = (size_t)talus_problem_size(p->problem);
    const TalusFclibPoint *stored = p->fclib ? find_stored_point(p->fclib) : NULL;
    if (p->fclib && !stored)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(p->start, n, "stored impulses"));
    if (stored)
        return talus_fclib_impulses(p->fclib, p->problem, stored, p->start);
    memcpy(p->start, talus_problem_gamma(p->problem), n * sizeof *p->start);
    return TALUS_OK;
}

/* Returns the number of bodies; of an FCLIB file, degrees of freedom over those of a body. */
static int estimate_bodies(const LabProblem *p)
{
    if (!p->fclib)
        return talus_problem_bodies(p->problem);
    return talus_fclib_dofs(p->fclib) / (p->fclib->dimension == 3 ? 6 : 3);
}

/* Sets the scales of relative figures, |q| and the residual at zero impulses, and leaves the impulses zero. */
static TalusStatus measure_scales(LabProblem *p)
{
    size_t n = (size_t)talus_problem_size(p->problem);
    double *gamma = talus_problem_gamma(p->problem);
    TalusMetrics metrics;
    TALUS_TRY(TALUS_ALLOC(p->velocity, n, "contact velocities"));
    talus_problem_offset(p->problem, p->velocity);
    p->offset_norm = norm(p->velocity, n);
    memset(gamma, 0, n * sizeof *gamma);
    TALUS_TRY(talus_problem_measure(p->problem, gamma, &metrics));
    p->natural_at_zero = metrics.natural_at_zero;
    return TALUS_OK;
}

/* Sets p->all_coulomb and, if `changed`, p->changed_friction. */
static void describe_friction(LabProblem *p, bool changed)
{
    char law[LAB_WORD], section[LAB_WORD];
    lab_friction_format(p->problem, law, section);
    p->all_coulomb = strcmp(law, talus_law_name(TALUS_LAW_COULOMB)) == 0;
    if (changed)
        snprintf(p->changed_friction, sizeof p->changed_friction, "%s %s", law, section);
}

TalusStatus lab_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                             LabProblem *out)
{
    *out = (LabProblem){.path = path};
    name_from_path(path, out->name);
    model = !model && talus_fclib_is_hdf5(path) ? &lab_fclib_model : model;
    /* Precedes hash_file, which would read a device such as /dev/zero forever; talus_problem_open refuses it. */
    TALUS_TRY(talus_problem_open(path, model, pool, &out->problem, &out->fclib));
    TALUS_TRY(hash_file(path, &out->hash));
    describe_friction(out, model != NULL);
    out->bodies = estimate_bodies(out);
    TALUS_TRY(read_start(out));
    return measure_scales(out);
}

void lab_problem_close(LabProblem *p)
{
    talus_problem_destroy(p->problem);
    talus_fclib_destroy(p->fclib);
    TALUS_RELEASE(p->start, p->reference, p->velocity);
    *p = (LabProblem){0};
}

/* ---- reference and solution ---- */

/* Makes p->fclib, the problem in FCLIB's layout, unless the file was FCLIB or an earlier call made it. */
static TalusStatus make_fclib(LabProblem *p)
{
    return p->fclib ? TALUS_OK : talus_fclib_from_problem(p->problem, p->name, &p->fclib);
}

/* Subtracts E r_n from the normal velocities in p->reference: FCLIB's local form has the compliance E in W, so its u_n
 * is the contact velocity plus E r_n. */
static TalusStatus subtract_compliance(LabProblem *p, const char *path, const double *r)
{
    TalusProblemDef def;
    int rows = talus_problem_rows(p->problem);
    TALUS_TRY(talus_problem_export(p->problem, &def));
    for (int i = 0; def.contacts && i < def.contact_count; i++) {
        double compliance = def.contacts[i].compliance;
        if (compliance > 0.0 && !r)
            return talus_fail_file(path, TALUS_ERR_FORMAT,
                                   "its solution has no impulses r, which the velocities of "
                                   "compliant contacts need");
        if (compliance > 0.0)
            p->reference[i * rows] -= compliance * r[i * p->fclib->dimension];
    }
    return TALUS_OK;
}

TalusStatus lab_problem_read_reference(LabProblem *p, const char *path)
{
    TalusFclibPoint point = {0};
    TALUS_TRY(make_fclib(p));
    TALUS_TRY(cli_read_reference(path, p->all_coulomb, p->fclib, &point));
    TalusStatus status =
        point.u ? TALUS_ALLOC(p->reference, (size_t)talus_problem_size(p->problem), "reference")
                : talus_fail_file(path, TALUS_ERR_FORMAT, "its solution has no velocities u");
    /* talus_fclib_impulses converts r from the file's rows to the problem's rows. u has the same rows and is converted
     * by passing it as r. */
    TalusFclibPoint velocities = {.r = point.u};
    TALUS_THEN(status, talus_fclib_impulses(p->fclib, p->problem, &velocities, p->reference));
    TALUS_THEN(status, subtract_compliance(p, path, point.r));
    TALUS_THEN(status, hash_file(path, &p->reference_hash));
    talus_fclib_free_point(&point);
    return status;
}

/* Returns "ipm-soc", the interior point method for circular cones, if it supports the problem; else "ipm-chol", that
 * for polygons. */
static const char *choose_interior_point(const TalusProblem *problem)
{
    return cli_supports("ipm-soc", problem) ? "ipm-soc" : "ipm-chol";
}

bool lab_monitor_signals(void *user, int iteration, int products, double residual)
{
    (void)user, (void)iteration, (void)products, (void)residual;
    return cli_stop_signal() == 0;
}

TalusStatus lab_problem_solve_reference(LabProblem *p, const char *solver)
{
    static const double to = 1e-11; /* tolerance, relative to the residual of zero impulses */
    const char *name = solver           ? solver
                       : p->all_coulomb ? "prox"
                                        : choose_interior_point(p->problem);
    TalusSolveOptions options = talus_solve_options_default();
    size_t n = (size_t)talus_problem_size(p->problem);
    double *gamma = talus_problem_gamma(p->problem);
    TalusSolver *exact;
    TalusSolveInfo info;
    TalusResidual zero;
    options.tolerance = to * p->natural_at_zero;
    options.max_iterations = 10000;
    options.monitor = lab_monitor_signals;
    TALUS_TRY(talus_solver_create(name, &exact));
    TalusStatus status = talus_solver_solve(exact, p->problem, &options, &info);
    talus_solver_destroy(exact);
    if (cli_stop_signal())
        return talus_fail(TALUS_ERR_CANCELLED, "stopped by %s", cli_stop_name());
    if (status == TALUS_OK && info.outcome != TALUS_OUTCOME_CONVERGED)
        status = talus_fail(TALUS_ERR_NUMERIC, "%s: %s ends at a residual of %.1e, not at %.1e",
                            p->name, name, info.residual.rms, options.tolerance);
    TALUS_TRY(status);
    TALUS_TRY(TALUS_ALLOC(p->reference, n, "reference"));
    talus_problem_velocity(p->problem, gamma, p->reference);
    p->reference_hash = talus_hash(TALUS_HASH_SEED, p->reference, n * sizeof *p->reference);
    memset(gamma, 0, n * sizeof *gamma);
    /* The residual at zero impulses has changed: the solve has set the bounds of blocks under law fixed, which were 0
     * in measure_scales. */
    talus_problem_residual(p->problem, gamma, &zero);
    p->natural_at_zero = zero.rms;
    return TALUS_OK;
}

double lab_velocity_error(LabProblem *p, const double *gamma)
{
    size_t n = (size_t)talus_problem_size(p->problem);
    if (!p->reference)
        return NAN;
    talus_problem_velocity(p->problem, gamma, p->velocity);
    for (size_t i = 0; i < n; i++)
        p->velocity[i] -= p->reference[i];
    double error = norm(p->velocity, n);
    return p->offset_norm > 0.0 ? error / p->offset_norm : error;
}

TalusStatus lab_problem_save(LabProblem *p, const double *gamma, const char *path)
{
    if (!cli_is_fclib_name(path)) {
        size_t n = (size_t)talus_problem_size(p->problem);
        memcpy(talus_problem_gamma(p->problem), gamma, n * sizeof *gamma);
        return talus_problem_write(path, p->problem);
    }
    TALUS_TRY(make_fclib(p));
    TALUS_TRY(talus_fclib_set_solution(p->fclib, p->problem, gamma));
    return talus_fclib_write(path, p->fclib);
}
