/* lab/experiments/heyn_faces.c - heyn-2012, GPMINRES-P: how accurately its factors solve the equations of a face.
 *
 * The subproblem of a face with the free contacts F is A w = b, A = N_FF, b = -g_F. A is singular if F has more contacts
 * than the bodies can tell apart. Compared are, by |A w - b| / |b|,
 *     LU      the paper's: complete, without row exchanges, only pivots of exactly 0 replaced
 *     LDL'    vanishing and negative pivots made positive, as gpminres-p does by default
 *     MINRES  ten steps, by conjugate residuals: the same iterates for a semidefinite matrix
 * A b with a part in the null space of A, as most faces have it, is the difficulty. No w can match that part, and the
 * factors answer it by a step along the null space of the part's length over a pivot that is a rounding error; its sign is
 * that of the pivot. So the length |w| shows the loss, too, and b = A 1, which has no such part, shows none. */
#include "heyn.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/ldl.h"
#include "linalg/sparse.h"
#include "problem/problem.h"

#include <math.h>
#include <string.h>

enum { FACES = 3, STEPS = 10 }; /* faces; MINRES steps, as in the paper */

static const int iterations_at[FACES] = {10, 30, 100};
/* Defaults of gpminres-p. */
static const double drop = 1e-8, raise_to = 1e-6;

/* Residuals and lengths by method, and what the pivots say of a face. */
typedef struct FaceFigures {
    int contacts, vanishing, negative; /* negative: pivots of the LU */
    double smallest;                   /* |pivot| of the LU, over the largest diagonal entry */
    double residual[3], length[3];     /* LU, LDL', MINRES: |A w - b| / |b|; |w| */
    double consistent;                 /* |A w - b| / |b| of the LU for b = A 1 */
} FaceFigures;

enum { BY_LU, BY_LDL, BY_MINRES };

typedef struct Faces {
    TalusSparse matrix, face; /* N + E; its rows and columns in the face, with as much capacity */
    TalusLdl factor;
    int32_t *index, *row; /* index of a contact in the face, -1: active; contact of each row */
    double *b, *gradient;
    double *w, *r, *p, *ar, *ap; /* solution and work space of solves */
} Faces;

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* out = A x on the face. */
static void multiply(const Faces *f, const double *x, double *out)
{
    memset(out, 0, (size_t)f->face.rows * sizeof *out);
    talus_sparse_add_product(&f->face, 1.0, x, out);
}

/* Returns |A w - b| / |b|. */
static double measure_solution(Faces *f)
{
    int n = f->face.rows;
    multiply(f, f->w, f->r);
    for (int i = 0; i < n; i++)
        f->r[i] -= f->b[i];
    return sqrt(dot(n, f->r, f->r) / dot(n, f->b, f->b));
}

/* Sets w by STEPS steps of conjugate residuals from 0. */
static void minimise_residual(Faces *f)
{
    int n = f->face.rows;
    memset(f->w, 0, (size_t)n * sizeof *f->w);
    memcpy(f->r, f->b, (size_t)n * sizeof *f->r);
    multiply(f, f->r, f->ar);
    memcpy(f->p, f->r, (size_t)n * sizeof *f->p);
    memcpy(f->ap, f->ar, (size_t)n * sizeof *f->ap);
    double rar = dot(n, f->r, f->ar);
    for (int k = 0; k < STEPS && rar > 0.0; k++) {
        double a = rar / dot(n, f->ap, f->ap), before = rar;
        for (int i = 0; i < n; i++) {
            f->w[i] += a * f->p[i];
            f->r[i] -= a * f->ap[i];
        }
        multiply(f, f->r, f->ar);
        rar = dot(n, f->r, f->ar);
        for (int i = 0; i < n; i++) {
            f->p[i] = f->r[i] + rar / before * f->p[i];
            f->ap[i] = f->ar[i] + rar / before * f->ap[i];
        }
    }
}

/* Factorises the face by LU or LDL'; `largest`: its largest diagonal entry. */
static TalusStatus factorise(Faces *f, int method, double largest)
{
    const bool lu = method == BY_LU;
    const TalusSparse *transposed = lu ? &f->face : NULL;
    TalusPivots pivots = {
        .relative = drop, .replacement = (lu ? drop : raise_to) * largest, .zeros_only = lu};
    TALUS_TRY(talus_ldl_analyse(&f->factor, &f->face, transposed));
    return talus_ldl_factor(&f->factor, &f->face, transposed, &pivots);
}

/* Solves A w = b by a method; its factors, if it has any, must be those of the face. */
static void solve_face(Faces *f, int method)
{
    if (method == BY_MINRES) {
        minimise_residual(f);
        return;
    }
    memcpy(f->w, f->b, (size_t)f->face.rows * sizeof *f->w);
    talus_ldl_solve(&f->factor, f->w);
}

/* Fills the figures of one method for b = -g. */
static void measure_method(Faces *f, int method, FaceFigures *out)
{
    int n = f->face.rows;
    for (int i = 0; i < n; i++)
        f->b[i] = -f->gradient[f->row[i]];
    solve_face(f, method);
    out->residual[method] = measure_solution(f);
    out->length[method] = sqrt(dot(n, f->w, f->w));
}

/* Fills the figures of the LU. */
static void measure_lu(Faces *f, double largest, FaceFigures *out)
{
    int n = f->face.rows;
    out->smallest = INFINITY;
    for (int k = 0; k < n; k++) {
        out->negative += f->factor.pivot[k] < 0.0;
        out->smallest = fmin(out->smallest, fabs(f->factor.pivot[k]) / largest);
    }
    for (int i = 0; i < n; i++)
        f->w[i] = 1.0;
    multiply(f, f->w, f->b);
    solve_face(f, BY_LU);
    out->consistent = measure_solution(f);
    measure_method(f, BY_LU, out);
}

/* Measures the face of gamma. */
static TalusStatus measure_face(Faces *f, const double *gamma, FaceFigures *out)
{
    int n = 0;
    for (int i = 0; i < f->matrix.rows; i++) {
        f->index[i] = gamma[i] > 0.0 ? n : -1;
        if (gamma[i] > 0.0)
            f->row[n++] = i;
    }
    double largest = talus_sparse_extract(&f->matrix, f->index, f->row, n, 0.0, &f->face);
    *out = (FaceFigures){.contacts = n};
    TALUS_TRY(factorise(f, BY_LU, largest));
    measure_lu(f, largest, out);
    TALUS_TRY(factorise(f, BY_LDL, largest));
    out->vanishing = f->factor.replaced;
    measure_method(f, BY_LDL, out);
    measure_method(f, BY_MINRES, out);
    return TALUS_OK;
}

static TalusStatus reserve_faces(Faces *f, const TalusProblem *problem)
{
    TALUS_TRY(talus_problem_assemble(problem, &f->matrix));
    size_t n = (size_t)f->matrix.rows;
    TALUS_TRY(talus_sparse_alloc(&f->face, (int)n, (int)n, (size_t)talus_sparse_entries(&f->matrix),
                                 "matrix of a face"));
    TALUS_TRY(TALUS_ALLOC(f->index, n, "face"));
    TALUS_TRY(TALUS_ALLOC(f->row, n, "face"));
    double **vectors[] = {&f->b, &f->gradient, &f->w, &f->r, &f->p, &f->ar, &f->ap};
    for (int i = 0; i < LAB_COUNT(vectors); i++)
        TALUS_TRY(TALUS_ALLOC(*vectors[i], n, "face"));
    return TALUS_OK;
}

static void clear_faces(Faces *f)
{
    talus_sparse_clear(&f->matrix);
    talus_sparse_clear(&f->face);
    talus_ldl_clear(&f->factor);
    TALUS_RELEASE(f->index, f->row, f->b, f->gradient, f->w, f->r, f->p, f->ar, f->ap);
}

/* Runs the solver up to each face and measures it. */
static TalusStatus measure_faces(Faces *f, LabProblem *p, const char *solver, int divisor,
                                 FaceFigures out[FACES])
{
    TALUS_TRY(reserve_faces(f, p->problem));
    for (int i = 0; i < FACES; i++) {
        LabJob job = {
            .solver = solver, .backend = "cpu", .max_iterations = iterations_at[i] / divisor};
        LabResult result;
        TALUS_TRY(lab_run_job(p, &job, true, &result));
        lab_result_clear(&result);
        const double *gamma = talus_problem_gamma(p->problem);
        talus_problem_gradient(p->problem, gamma, f->gradient);
        TALUS_TRY(measure_face(f, gamma, &out[i]));
    }
    return TALUS_OK;
}

static void add_faces_table(LabSet *set, const FaceFigures figures[FACES], int divisor)
{
    LabTable *t = lab_set_add_table(
        set, "Faces: |A w - b| / |b| and |w|",
        "after\tfree contacts\tvanishing pivots\tnegative\tsmallest\tresidual: LU\tLDL'\tMINRES\t"
        "length: LU\tLDL'\tMINRES\tresidual for A 1: LU");
    for (int i = 0; i < FACES; i++) {
        const FaceFigures *f = &figures[i];
        lab_table_add_cells(t, "%d\t%d\t%d\t%d\t%.0e", iterations_at[i] / divisor, f->contacts,
                            f->vanishing, f->negative, f->smallest);
        for (int m = BY_LU; m <= BY_MINRES; m++)
            lab_table_add_cells(t, "%.1e", f->residual[m]);
        for (int m = BY_LU; m <= BY_MINRES; m++)
            lab_table_add_cells(t, "%.1e", f->length[m]);
        lab_table_add_cells(t, "%.1e", f->consistent);
    }
    snprintf(
        t->note, sizeof t->note,
        "faces of gpminres-p (paper) after these iterations; LU: the paper's, without row "
        "exchanges, only zero pivots replaced, with its negative pivots and the smallest; LDL': "
        "vanishing pivots made positive; MINRES: %d steps",
        STEPS);
}

static void claim_accuracy(LabSet *set, const FaceFigures figures[FACES])
{
    int better = 0, positive = 0;
    double lu = 0.0, minres = 0.0;
    for (int i = 0; i < FACES; i++) {
        lu = fmax(lu, figures[i].length[BY_LU]);
        minres = fmax(minres, figures[i].length[BY_MINRES]);
        better += figures[i].residual[BY_LU] < figures[i].residual[BY_MINRES];
        positive += figures[i].residual[BY_LDL] < figures[i].residual[BY_MINRES];
    }
    claims_add(
        set,
        &(Claim){.statement = "with the factors one iteration solves a subproblem more "
                              "accurately",
                 .rule = "the paper's LU leaves less of |A w - b| than ten MINRES steps on "
                         "each face of the table; in part: on one"},
        claim_if_whole(better == FACES, better > 0),
        "(paper): LU on %d of %d faces, by steps up to %.0e N s long, MINRES up to %.0e; L D "
        "L' made positive on %d",
        better, FACES, lu, minres, positive);
}

void heyn_add_faces(LabSet *set, const char *solver, int divisor)
{
    Faces faces = {0};
    FaceFigures figures[FACES];
    if (measure_faces(&faces, &set->problems[0], solver, divisor, figures) == TALUS_OK) {
        add_faces_table(set, figures, divisor);
        claim_accuracy(set, figures);
    } else {
        lab_set_add_note(set, "The equations of faces were not measured: %s.", talus_error());
    }
    clear_faces(&faces);
}
