/* lab/lab_shift_map.c - why a solve under exact Coulomb friction may not settle: does the shift map repel?
 *
 * For given shifts s, added to the normal offsets, the relaxation has one set of velocities u(s). The shift map takes s
 * to mu |u_t(s)|; its fixed points are the solutions under Coulomb's law. Where an eigenvalue of its Jacobian has a
 * real part above 1, iterations of the map run away, however they are damped or averaged.
 *
 * The Jacobian is taken at the shifts of given impulses. One convex solve finds x(s). There the natural map f
 * (solvers/newton/natural_map.h) stays 0 if J dx + L e_n ds = 0, with J = L (N + E) + M its Jacobian, so
 *     d s' = mu u_t / |u_t| . ((N + E) dx)_t,   dx = -J^-1 L e_n ds:
 * one factorisation, then a solution and a product for each vector. Arnoldi's method finds the outer eigenvalues. An
 * eigenvalue counts if it is there with CHECKED vectors less, too. */
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

/* VECTORS: most of Arnoldi's method. MAX_BLOCKS: limit of problems, for the factorisation's sake. */
enum { VECTORS = 80, CHECKED = 8, MAX_BLOCKS = 5000, ITERATIONS = 500 };
static const double AGREES = 0.01; /* difference of an eigenvalue that counts, over its modulus */
/* The convex solve, over the residual of zero impulses; sliding speeds up to STICKS times that residual are taken as 0.
 * WEIGHT: proximal weight in J, as N may be rank deficient. */
static const double TOLERANCE = 1e-10, STICKS = 1e-7, WEIGHT = 1e-8;

/* The Jacobian of the shift map. */
typedef struct Map {
    int blocks;
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;      /* of J */
    double *left, *own;      /* L, and M with the proximal weight; [9 blocks] */
    double *toward;          /* mu u_t / |u_t|, 0 where a contact sticks; [2 blocks] */
    double *x, *u, *zeros;   /* work; zeros; [3 blocks] */
} Map;

/* ---- the convex problem ---- */

/* Creates the relaxation of the problem with the shifts of its impulses in the offsets q. */
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

static TalusStatus solve_relaxed(TalusProblem *relaxed, double zero)
{
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = TOLERANCE * zero;
    options.max_iterations = ITERATIONS;
    options.monitor = lab_go_on;
    TALUS_TRY(talus_solver_create("ipm-soc", &solver));
    TalusStatus status = talus_solver_solve(solver, relaxed, &options, &info);
    talus_solver_destroy(solver);
    if (status == TALUS_OK && info.outcome != TALUS_OUTCOME_CONVERGED)
        status = talus_fail(TALUS_ERR_NUMERIC, "shift map: the convex problem is not solved");
    return status;
}

/* ---- the Jacobian ---- */

static void linearise(Map *map, TalusProblem *relaxed, double zero)
{
    const double *gamma = talus_problem_gamma(relaxed);
    talus_problem_gradient(relaxed, gamma, map->u);
    for (int i = 0; i < map->blocks; i++) {
        const double *u = map->u + 3 * i;
        double speed = hypot(u[1], u[2]), mu = talus_problem_mu(relaxed, i);
        TalusNaturalBlock block = {
            .rows = 3, .mu = mu, .scale = talus_problem_diagonal(relaxed, i)};
        TalusNaturalSlope slope;
        talus_natural_slope(&block, gamma + 3 * i, u, &slope);
        for (int k = 0; k < 9; k++) {
            map->left[9 * i + k] = slope.velocity[k];
            map->own[9 * i + k] = slope.impulse[k] + WEIGHT * block.scale * slope.velocity[k];
        }
        for (int k = 0; k < 2; k++)
            map->toward[2 * i + k] = speed > STICKS * zero ? mu * u[k + 1] / speed : 0.0;
    }
    talus_fronts_factor(&map->fronts, &map->matrix, map->left, map->own);
}

/* out = the Jacobian times ds, [blocks] */
static void apply(Map *map, const double *ds, double *out)
{
    for (int i = 0; i < map->blocks; i++)
        for (int k = 0; k < 3; k++)
            map->x[3 * i + k] = -map->left[9 * i + 3 * k] * ds[i];
    talus_fronts_solve(&map->fronts, map->x);
    talus_block_matrix_apply(&map->matrix, map->x, map->zeros, map->u);
    for (int i = 0; i < map->blocks; i++)
        out[i] =
            map->toward[2 * i] * map->u[3 * i + 1] + map->toward[2 * i + 1] * map->u[3 * i + 2];
}

static TalusStatus reserve(Map *map)
{
    size_t n = (size_t)map->blocks;
    TALUS_TRY(TALUS_ALLOC(map->left, 9 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->own, 9 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->toward, 2 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->x, 3 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->u, 3 * n, "shift map"));
    TALUS_TRY(TALUS_ALLOC(map->zeros, 3 * n, "shift map"));
    memset(map->zeros, 0, 3 * n * sizeof *map->zeros);
    return TALUS_OK;
}

static TalusStatus open_map(Map *map, const LabProblem *p)
{
    TalusSparse n = {0};
    TalusProblem *relaxed = NULL;
    TALUS_TRY(reserve(map));
    TALUS_TRY(talus_problem_assemble(p->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, 3, &map->matrix);
    TALUS_THEN(status, talus_fronts_analyse(&map->fronts, &map->matrix));
    TALUS_THEN(status, create_relaxed(p->problem, &n, map->u, map->x, &relaxed));
    TALUS_THEN(status, solve_relaxed(relaxed, p->natural_at_zero));
    if (status == TALUS_OK)
        linearise(map, relaxed, p->natural_at_zero);
    talus_problem_destroy(relaxed);
    talus_sparse_clear(&n);
    return status;
}

static void close_map(Map *map)
{
    talus_block_matrix_clear(&map->matrix);
    talus_fronts_clear(&map->fronts);
    TALUS_RELEASE(map->left, map->own, map->toward, map->x, map->u, map->zeros);
}

/* ---- Arnoldi's method ---- */

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Orthogonalises v[k] against the vectors before it, twice, adding to column k - 1 of h; returns its length then. */
static double orthogonalise(double *v, int n, int k, double *h)
{
    double *last = v + (size_t)k * (size_t)n;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < k; j++) {
            const double *other = v + (size_t)j * (size_t)n;
            double part = dot(last, other, n);
            h[j * VECTORS + k - 1] += part;
            for (int i = 0; i < n; i++)
                last[i] -= part * other[i];
        }
    return sqrt(dot(last, last, n));
}

static void divide(double *v, int n, double by)
{
    for (int i = 0; i < n; i++)
        v[i] /= by;
}

/* Fills h, of VECTORS columns, from a random start. Returns its size: less than `most` if the space is invariant. */
static int arnoldi(Map *map, int most, double *v, double *h)
{
    const int n = map->blocks;
    TalusRng rng = talus_rng_from_seed(1);
    for (int i = 0; i < n; i++)
        v[i] = talus_rng_uniform(&rng) - 0.5;
    divide(v, n, sqrt(dot(v, v, n)));
    for (int k = 1; k <= most; k++) {
        double *next = v + (size_t)k * (size_t)n;
        apply(map, next - n, next);
        double before = sqrt(dot(next, next, n)), length = orthogonalise(v, n, k, h);
        if (!(length > 1e-10 * before))
            return k;
        h[k * VECTORS + k - 1] = length;
        divide(next, n, length);
    }
    return most;
}

/* Counts the eigenvalues of h that are those of its smaller part as well. */
static TalusStatus judge(const double *h, int size, bool whole, LabShiftMap *out)
{
    double complex all[VECTORS], fewer[VECTORS];
    int less = size > CHECKED ? size - CHECKED : 0;
    TALUS_TRY(lab_eigenvalues(h, VECTORS, size, all));
    TALUS_TRY(lab_eigenvalues(h, VECTORS, less, fewer));
    out->largest = -INFINITY;
    for (int i = 0; i < size; i++) {
        bool agrees = whole;
        for (int k = 0; k < less && !agrees; k++)
            agrees = cabs(all[i] - fewer[k]) <= AGREES * cabs(all[i]);
        out->vectors = size;
        out->above += agrees && creal(all[i]) > 1.0;
        out->largest = agrees ? fmax(out->largest, creal(all[i])) : out->largest;
    }
    return TALUS_OK;
}

static TalusStatus find_eigenvalues(Map *map, LabShiftMap *out)
{
    const int most = map->blocks < VECTORS ? map->blocks : VECTORS;
    double *v = NULL, *h = NULL;
    const size_t entries = (VECTORS + 1) * VECTORS;
    TalusStatus status = TALUS_ALLOC(v, (size_t)(most + 1) * (size_t)map->blocks, "vectors");
    TALUS_THEN(status, TALUS_ALLOC(h, entries, "Hessenberg matrix"));
    if (status == TALUS_OK) {
        memset(h, 0, entries * sizeof *h);
        int size = arnoldi(map, most, v, h);
        status = judge(h, size, size < most || most == map->blocks, out);
    }
    TALUS_RELEASE(v, h);
    return status;
}

bool lab_has_shift_map(const LabProblem *p)
{
    const TalusProblem *problem = p->problem;
    int blocks = talus_problem_blocks(problem);
    if (!p->exact || talus_problem_rows(problem) != 3 || blocks > MAX_BLOCKS)
        return false;
    for (int i = 0; i < blocks; i++) {
        TalusFrictionModel model = talus_problem_friction(problem, i);
        bool slides = talus_problem_mu(problem, i) == 0.0 && model.section != TALUS_SECTION_JOINT;
        if (!slides && (model.law != TALUS_LAW_COULOMB || model.section != TALUS_SECTION_DISC))
            return false;
    }
    return true;
}

TalusStatus lab_shift_map(const LabProblem *p, LabShiftMap *out)
{
    Map map = {.blocks = talus_problem_blocks(p->problem)};
    *out = (LabShiftMap){0};
    TalusStatus status = open_map(&map, p);
    TALUS_THEN(status, find_eigenvalues(&map, out));
    close_map(&map);
    return status;
}

/* ---- the report ---- */

static void explain(const LabShiftMap *map, char *text, size_t size)
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

TalusStatus lab_explain_miss(LabSet *set, int problem, const char *solver, const LabTable **out)
{
    const LabProblem *p = &set->problems[problem];
    char title[LAB_TEXT * 2 + 64];
    LabShiftMap map;
    TALUS_TRY(lab_shift_map(p, &map));
    snprintf(title, sizeof title, "%s: shift map where %s ended", p->name, solver);
    LabTable *t =
        lab_set_table(set, title, "eigenvalues with real part above 1\tlargest real part");
    lab_table_row(t, "%d\t%.3g", map.above, map.largest);
    explain(&map, t->note, sizeof t->note);
    *out = t;
    return TALUS_OK;
}
