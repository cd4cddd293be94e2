/* lab/lab_shift_map.c - why a solve under exact Coulomb friction may not converge: tests whether the shift map repels.
 *
 * For given shifts s, added to the normal offsets, the relaxation has one set of velocities u(s). The shift map takes s
 * to mu |u_t(s)|; its fixed points are the solutions under Coulomb's law. Where an eigenvalue of its Jacobian has a
 * real part above 1, iterations of the map run away, however they are damped or averaged.
 *
 * The Jacobian is taken at the shifts of given impulses. One convex solve finds x(s). There the natural map f
 * (solvers/newton/natural_map.h) stays 0 if J dx + L e_n ds = 0, with J = L (N + E) + M its Jacobian, so
 *     d s' = mu u_t / |u_t| . ((N + E) dx)_t,   dx = -J^-1 L e_n ds:
 * one factorisation, then a solution and a product for each vector. Arnoldi's method finds the outer eigenvalues. An
 * eigenvalue is reliable if the method with FEWER_VECTORS vectors less has it, too. */
#include "lab.h"
#include "lab_eigenvalues.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "linalg/fronts.h"
#include "linalg/sparse.h"
#include "problem/problem.h"
#include "solvers/newton/natural_map.h"

#include <math.h>
#include <string.h>

/* VECTORS: maximum number of vectors of Arnoldi's method. MAX_BLOCKS: maximum size of a problem, because the
 * factorisation of a larger one takes too long. ITERATIONS: limit of the convex solve. */
enum { VECTORS = 80, FEWER_VECTORS = 8, MAX_BLOCKS = 5000, ITERATIONS = 500 };
/* Difference over the modulus up to which two eigenvalues count as equal. */
static const double EIGENVALUE_TOLERANCE = 0.01;
/* SOLVE_TOLERANCE of the convex solve and STICKING_SPEED, up to which a sliding speed counts as 0, are relative to the
 * residual of zero impulses. PROXIMAL_WEIGHT in J: N may be rank deficient. */
static const double SOLVE_TOLERANCE = 1e-10, STICKING_SPEED = 1e-7, PROXIMAL_WEIGHT = 1e-8;

/* The Jacobian of the shift map. */
typedef struct ShiftJacobian {
    int blocks;
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;      /* of J */
    double *left;            /* L; [9 blocks] */
    double *own;             /* M plus the proximal term; [9 blocks] */
    double *slide_direction; /* mu u_t / |u_t|, 0 where a contact sticks; [2 blocks] */
    double *x, *u;           /* work arrays; [3 blocks] */
    double *zeros;           /* [3 blocks] */
} ShiftJacobian;

/* ---- the convex problem ---- */

/* Creates the relaxation of the problem, with matrix n and with the shifts of its impulses added to the offsets. Work
 * arrays: q [3 blocks] receives the offsets, mu [blocks] the friction coefficients; *out has copies. */
static TalusStatus create_relaxed(TalusProblem *problem, const TalusSparse *n, double *q,
                                  double *mu, TalusProblem **out)
{
    const int blocks = talus_problem_blocks(problem);
    talus_problem_gradient(problem, talus_problem_gamma(problem), q);
    for (int i = 0; i < blocks; i++)
        mu[i] = talus_problem_mu(problem, i) * hypot(q[3 * i + 1], q[3 * i + 2]);
    talus_problem_offset(problem, q);
    for (int i = 0; i < blocks; i++) {
        q[3 * i] += mu[i];
        mu[i] = talus_problem_mu(problem, i);
    }
    TalusProblemDef def = {.block_count = blocks,
                           .rows = 3,
                           .row_start = n->start,
                           .column = n->column,
                           .values = n->value,
                           .offset = q,
                           .mu = mu};
    return talus_problem_create(&def, NULL, out);
}

/* Solves the relaxation to SOLVE_TOLERANCE times `zero`, the residual of zero impulses, m/s; fails if it does not
 * converge. */
static TalusStatus solve_relaxed(TalusProblem *relaxed, double zero)
{
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = SOLVE_TOLERANCE * zero;
    options.max_iterations = ITERATIONS;
    options.monitor = lab_monitor_signals;
    TALUS_TRY(talus_solver_create("ipm-soc", &solver));
    TalusStatus status = talus_solver_solve(solver, relaxed, &options, &info);
    talus_solver_destroy(solver);
    if (status == TALUS_OK && info.outcome != TALUS_OUTCOME_CONVERGED)
        status = talus_fail(TALUS_ERR_NUMERIC, "shift map: the convex problem is not solved");
    return status;
}

/* ---- the Jacobian ---- */

/* Computes L, M and the sliding directions at the solution of the relaxation and factorises J. */
static void factor_jacobian(ShiftJacobian *map, TalusProblem *relaxed, double zero)
{
    const double *gamma = talus_problem_gamma(relaxed);
    talus_problem_gradient(relaxed, gamma, map->u);
    for (int i = 0; i < map->blocks; i++) {
        const double *u = map->u + 3 * i;
        double speed = hypot(u[1], u[2]), mu = talus_problem_mu(relaxed, i);
        TalusNaturalBlock block = {
            .rows = 3, .mu = mu, .scale = talus_problem_diagonal(relaxed, i)};
        TalusNaturalJacobian slope;
        talus_natural_jacobian(&block, gamma + 3 * i, u, &slope);
        for (int k = 0; k < 9; k++) {
            map->left[9 * i + k] = slope.by_velocity[k];
            map->own[9 * i + k] =
                slope.by_impulse[k] + PROXIMAL_WEIGHT * block.scale * slope.by_velocity[k];
        }
        for (int k = 0; k < 2; k++)
            map->slide_direction[2 * i + k] =
                speed > STICKING_SPEED * zero ? mu * u[k + 1] / speed : 0.0;
    }
    talus_fronts_factor(&map->fronts, &map->matrix, map->left, map->own);
}

/* Writes the Jacobian of the shift map times `ds`; both are [blocks]. */
static void apply_jacobian(ShiftJacobian *map, const double *ds, double *out)
{
    for (int i = 0; i < map->blocks; i++)
        for (int k = 0; k < 3; k++)
            map->x[3 * i + k] = -map->left[9 * i + 3 * k] * ds[i];
    talus_fronts_solve(&map->fronts, map->x);
    talus_block_matrix_apply(&map->matrix, map->x, map->zeros, map->u);
    for (int i = 0; i < map->blocks; i++)
        out[i] = map->slide_direction[2 * i] * map->u[3 * i + 1] +
                 map->slide_direction[2 * i + 1] * map->u[3 * i + 2];
}

static TalusStatus allocate_vectors(ShiftJacobian *map)
{
    size_t n = (size_t)map->blocks;
    TALUS_TRY(TALUS_ALLOC(map->left, 9 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->own, 9 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->slide_direction, 2 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->x, 3 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->u, 3 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->zeros, 3 * n, "shift map"));
    memset(map->zeros, 0, 3 * n * sizeof *map->zeros);
    return TALUS_OK;
}

/* Solves the relaxation with the shifts of the problem's impulses and makes the Jacobian there. */
static TalusStatus open_jacobian(ShiftJacobian *map, const LabProblem *p)
{
    TalusSparse n = {0};
    TalusProblem *relaxed = NULL;
    TALUS_TRY(allocate_vectors(map));
    TALUS_TRY(talus_problem_assemble(p->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, 3, &map->matrix);
    TALUS_THEN(status, talus_fronts_analyse(&map->fronts, &map->matrix));
    TALUS_THEN(status, create_relaxed(p->problem, &n, map->u, map->x, &relaxed));
    TALUS_THEN(status, solve_relaxed(relaxed, p->natural_at_zero));
    if (status == TALUS_OK)
        factor_jacobian(map, relaxed, p->natural_at_zero);
    talus_problem_destroy(relaxed);
    talus_sparse_clear(&n);
    return status;
}

static void close_jacobian(ShiftJacobian *map)
{
    talus_block_matrix_clear(&map->matrix);
    talus_fronts_clear(&map->fronts);
    TALUS_RELEASE(map->left, map->own, map->slide_direction, map->x, map->u, map->zeros);
}

/* ---- Arnoldi's method ---- */

static double dot_product(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes vector k of v orthogonal to the vectors before it, in two passes, and adds the coefficients to column k - 1 of
 * h. Returns the length of the vector that remains. */
static double orthogonalise(double *v, int n, int k, double *h)
{
    double *last = v + (size_t)k * (size_t)n;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < k; j++) {
            const double *other = v + (size_t)j * (size_t)n;
            double part = dot_product(last, other, n);
            h[j * VECTORS + k - 1] += part;
            for (int i = 0; i < n; i++)
                last[i] -= part * other[i];
        }
    return sqrt(dot_product(last, last, n));
}

static void divide_vector(double *v, int n, double by)
{
    for (int i = 0; i < n; i++)
        v[i] /= by;
}

/* Fills the Hessenberg matrix h, of VECTORS columns, and the vectors v, from a random start vector. Returns the size of
 * h: `most`, or less if the vectors span an invariant space. */
static int run_arnoldi(ShiftJacobian *map, int most, double *v, double *h)
{
    const int n = map->blocks;
    TalusRng rng = talus_rng_from_seed(1);
    for (int i = 0; i < n; i++)
        v[i] = talus_rng_uniform(&rng) - 0.5;
    divide_vector(v, n, sqrt(dot_product(v, v, n)));
    for (int k = 1; k <= most; k++) {
        double *next = v + (size_t)k * (size_t)n;
        apply_jacobian(map, next - n, next);
        double before = sqrt(dot_product(next, next, n)), length = orthogonalise(v, n, k, h);
        if (!(length > 1e-10 * before))
            return k;
        h[k * VECTORS + k - 1] = length;
        divide_vector(next, n, length);
    }
    return most;
}

/* Fills `out` from the reliable eigenvalues of h: those that its part of size - FEWER_VECTORS has as well, or all if
 * `whole`, when the vectors span an invariant space. */
static TalusStatus evaluate_eigenvalues(const double *h, int size, bool whole, LabShiftMap *out)
{
    double complex all[VECTORS], fewer[VECTORS];
    int less = size > FEWER_VECTORS ? size - FEWER_VECTORS : 0;
    TALUS_TRY(lab_find_eigenvalues(h, VECTORS, size, all));
    TALUS_TRY(lab_find_eigenvalues(h, VECTORS, less, fewer));
    out->largest = -INFINITY;
    for (int i = 0; i < size; i++) {
        bool agrees = whole;
        for (int k = 0; k < less && !agrees; k++)
            agrees = cabs(all[i] - fewer[k]) <= EIGENVALUE_TOLERANCE * cabs(all[i]);
        out->vectors = size;
        out->above += agrees && creal(all[i]) > 1.0;
        out->largest = agrees ? fmax(out->largest, creal(all[i])) : out->largest;
    }
    return TALUS_OK;
}

/* Runs Arnoldi's method and fills `out` from the reliable eigenvalues. */
static TalusStatus find_eigenvalues(ShiftJacobian *map, LabShiftMap *out)
{
    const int most = map->blocks < VECTORS ? map->blocks : VECTORS;
    double *v = NULL, *h = NULL;
    const size_t entries = (VECTORS + 1) * VECTORS;
    TalusStatus status = TALUS_ALLOC(v, (size_t)(most + 1) * (size_t)map->blocks, "vectors");
    TALUS_THEN(status, TALUS_ALLOC(h, entries, "Hessenberg matrix"));
    if (status == TALUS_OK) {
        memset(h, 0, entries * sizeof *h);
        int size = run_arnoldi(map, most, v, h);
        status = evaluate_eigenvalues(h, size, size < most || most == map->blocks, out);
    }
    TALUS_RELEASE(v, h);
    return status;
}

bool lab_has_shift_map(const LabProblem *p)
{
    const TalusProblem *problem = p->problem;
    int blocks = talus_problem_blocks(problem);
    if (!p->all_coulomb || talus_problem_rows(problem) != 3 || blocks > MAX_BLOCKS)
        return false;
    for (int i = 0; i < blocks; i++) {
        TalusFrictionModel model = talus_problem_friction(problem, i);
        bool slides = talus_problem_mu(problem, i) == 0.0 && model.section != TALUS_SECTION_JOINT;
        if (!slides && (model.law != TALUS_LAW_COULOMB || model.section != TALUS_SECTION_DISC))
            return false;
    }
    return true;
}

TalusStatus lab_analyse_shift_map(const LabProblem *p, LabShiftMap *out)
{
    ShiftJacobian map = {.blocks = talus_problem_blocks(p->problem)};
    *out = (LabShiftMap){0};
    TalusStatus status = open_jacobian(&map, p);
    TALUS_THEN(status, find_eigenvalues(&map, out));
    close_jacobian(&map);
    return status;
}

/* ---- the report ---- */

/* Writes the note of the table: what the eigenvalues mean for the solve. */
static void explain_eigenvalues(const LabShiftMap *map, char *text, size_t size)
{
    if (map->above > 0)
        snprintf(text, size,
                 "The tolerance was missed, and the shift map repels there: %d eigenvalue%s of its "
                 "Jacobian with a real part above 1 (Arnoldi, %d vectors). No damping settles at "
                 "such a point, and several solutions are likely: --starts N looks for them.",
                 map->above, map->above == 1 ? "" : "s", map->vectors);
    else
        snprintf(text, size,
                 "The tolerance was missed, but the shift map does not repel there: no eigenvalue "
                 "of its Jacobian with a real part above 1 was found (Arnoldi, %d vectors).",
                 map->vectors);
}

TalusStatus lab_explain_missed_tolerance(LabSet *set, int problem, const char *solver,
                                         const LabTable **out)
{
    const LabProblem *p = &set->problems[problem];
    char title[LAB_TEXT * 2 + 64];
    LabShiftMap map;
    TALUS_TRY(lab_analyse_shift_map(p, &map));
    snprintf(title, sizeof title, "%s: shift map where %s ended", p->name, solver);
    LabTable *t =
        lab_set_add_table(set, title, "eigenvalues with real part above 1\tlargest real part");
    lab_table_add_cells(t, "%d\t%.3g", map.above, map.largest);
    explain_eigenvalues(&map, t->note, sizeof t->note);
    *out = t;
    return TALUS_OK;
}
