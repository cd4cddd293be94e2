/* solvers/face/gpminres_p.c - GPMINRES with a factorisation of each face as preconditioner: GPMINRES-P.
 *
 * heyn-2012 factorises A_k = Z'NZ, the rows and columns of N that are free in the face, and takes one MINRES step per
 * face. The parameter `factor` chooses the factors of N + E (linalg/ldl.h):
 *     ldl  L D L', in which every pivot not above `drop` times its diagonal entry becomes `raise` times the largest
 *          diagonal entry: positive definite, as MINRES needs it
 *     lu   the paper's: a complete LU without row exchanges, in which a pivot of exactly 0 becomes `drop` times the
 *          largest diagonal entry. In a face with a null space most pivots that should vanish are rounding errors of
 *          either sign. Steps along the null space are then rounding errors, too, and where r'M^-1 r is negative there
 *          is no MINRES step at all.
 *
 * A face with more contacts than degrees of freedom has a null space. For a residual r in the null space the factor
 * gives a step of about r / raise. A small `raise` makes this step long, and the first bounds end it; a large `raise`
 * makes it short, and the projection steps must reduce r.
 *
 * Limits: the factorisation runs on one thread of the host and allocates in every solve; its fill grows with the
 * cross-section of the bed. The paper found no gain in time either. */
#include "linalg/ldl.h"
#include "solvers/face/minres.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    TalusGpParams gp;
    bool null_exit;
    int factor;
    double drop, raise;
} Params;

/* Values of the parameter factor. */
enum { FACTOR_LDL, FACTOR_LU };

static const char *const factors[] = {"ldl", "lu", NULL};

typedef struct Work {
    TalusGpWork gp;
    TalusMinres minres;
    TalusSparse matrix; /* N + E */
    TalusSparse face;   /* rows and columns of `matrix` in the face; as much capacity as `matrix` */
    TalusLdl factor;
    int32_t *face_index; /* index of each row of `matrix` in the face; -1: not in the face */
    int32_t *free_row;   /* index in `matrix` of each row of the face */
    TalusVectors vectors;
    double *mask, *packed; /* 1 in free rows, else 0; the entries of a vector in the face */
} Work;

static const TalusParam params[] = {
    TALUS_GP_ROWS(1),
    TALUS_MINRES_ROW(Params),
    TALUS_CHOICE(Params, factor, FACTOR_LDL, factors,
                 "L D L' made positive, or the paper's LU, which replaces zero pivots alone"),
    TALUS_REAL(Params, drop, 1e-8, 0.0, 1.0,
               "a pivot is raised when it is not above this times its diagonal entry"),
    TALUS_REAL(Params, raise, 1e-6, 1e-7, 1e6,
               "what it becomes, relative to the largest diagonal entry"),
};

/* ---- the matrix of a face ---- */

/* Fills face_index and free_row for the face of gp->x. Returns the number of free rows. */
static int list_free_rows(TalusGp *gp, Work *w)
{
    int free_rows = 0;
    for (int i = 0; i < w->matrix.rows; i++)
        w->mask[i] = 1.0;
    gp->solve->backend->block.clear_active(gp->solve->op, gp->metric, gp->x, w->mask);
    for (int i = 0; i < w->matrix.rows; i++) {
        w->face_index[i] = w->mask[i] != 0.0 ? free_rows : -1;
        if (w->face_index[i] >= 0)
            w->free_row[free_rows++] = i;
    }
    return free_rows;
}

/* `begin` of TalusKrylov: factorises the matrix of the face, then begins MINRES. */
static TalusStatus begin_minres(TalusGp *gp, void *work)
{
    Work *w = work;
    const Params *p = gp->solve->params;
    double largest = talus_sparse_extract(&w->matrix, w->face_index, w->free_row,
                                          list_free_rows(gp, w), 0.0, &w->face);
    bool lu = p->factor == FACTOR_LU;
    TalusPivots pivots = {
        .relative = p->drop, .replacement = (lu ? p->drop : p->raise) * largest, .zeros_only = lu};
    const TalusSparse *transposed = lu ? &w->face : NULL; /* makes L and U separately */
    TALUS_TRY(talus_ldl_analyse(&w->factor, &w->face, transposed));
    TALUS_TRY(talus_ldl_factor(&w->factor, &w->face, transposed, &pivots));
    return talus_minres_begin(gp, &w->minres);
}

/* z = S^-1 (N + E)^-1 S^-1 r on the face, by the factor; r and z are in the scaled variables x = gamma / s. */
static void apply_face_factor(TalusGp *gp, void *work, const double *r, double *z)
{
    Work *w = work;
    for (int i = 0; i < w->face.rows; i++)
        w->packed[i] = r[w->free_row[i]] / (gp->metric ? gp->metric[w->free_row[i]][0] : 1.0);
    talus_ldl_solve(&w->factor, w->packed);
    memset(z, 0, (size_t)w->matrix.rows * sizeof *z);
    for (int i = 0; i < w->face.rows; i++)
        z[w->free_row[i]] = w->packed[i] / (gp->metric ? gp->metric[w->free_row[i]][0] : 1.0);
}

/* `step` of TalusKrylov. */
static double step_minres(TalusGp *gp, void *work, bool *more)
{
    Work *w = work;
    return talus_minres_step(gp, &w->minres, more);
}

/* ---- the solve ---- */

static void clear_matrices(Work *w)
{
    talus_sparse_clear(&w->matrix);
    talus_sparse_clear(&w->face);
}

/* Reserves memory and assembles N + E for a solve. */
static TalusStatus prepare_work(TalusSolve *s, Work *w)
{
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    TALUS_TRY(talus_minres_reserve(s, &w->minres));
    TALUS_TRY(TALUS_GROW(w->face_index, n, 0, "face"));
    TALUS_TRY(TALUS_GROW(w->free_row, n, 0, "face"));
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &w->vectors, "face", &w->mask, &w->packed));
    clear_matrices(w);
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    w->minres.precondition = apply_face_factor;
    w->minres.user = w;
    return talus_sparse_alloc(&w->face, (int)n, (int)n, (size_t)talus_sparse_entries(&w->matrix),
                              "matrix of a face");
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_gpminres_p(TalusSolve *s)
{
    static const TalusKrylov minres = {begin_minres, step_minres};
    const Params *p = s->params;
    Work *w = s->work;
    w->minres.null_exit = p->null_exit;
    TalusStatus status = prepare_work(s, w);
    TALUS_THEN(status, talus_gp_solve(s, &p->gp, &w->gp, &minres, w));
    clear_matrices(w);
    talus_ldl_clear(&w->factor);
    return status;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    TALUS_RELEASE(w->face_index, w->free_row);
}

const TalusSolverType talus_solver_gpminres_p = {
    .name = "gpminres-p",
    .summary = "gpminres with a factorisation of each face: few steps, each of them dear",
    .reference = "heyn-2012 section 4, GPMINRES-P",
    .takes = TALUS_TAKES_NONNEG,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_gpminres_p,
    .clear = clear_work,
    .on_host = "the factorisation of each face",
};
