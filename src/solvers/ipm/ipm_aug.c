/* solvers/ipm/ipm_aug.c - interior point on the augmented system, petra-2009 Eq. 31 (its OOQP-MA27).
 *
 * Unknowns are the body velocities v, then one speed s per compliant contact, at which its compliance E yields, then
 * the multipliers lambda (problem/qp.h has A, ipm_system.h T and r):
 *     [ M        A' ] [  dv      ]   [ 0 ]
 *     [   E^-1   1' ] [  ds      ] = [ 0 ]
 *     [ A   1   -T  ] [ -dlambda ]   [ r ]
 * Rows of joints are rows of A as others are; T is 0 in those of free joints, the middle row of Eq. 31, and the factor
 * has the floor of ipm_system.h there. The matrix is quasi-definite: in any order of elimination, pivots are positive
 * for rows of v and s and negative for rows of lambda. Unknowns v and s are scaled by powers of two, one per s and one
 * per group of three components of v (a body's velocity or its spin), so that their diagonal entries are about 1. A
 * package that chooses pivots by size then sees the same numbers for any length unit of the spins. */
#include "solvers/ipm/ipm_qp.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- pattern ---- */

/* True if contact i is compliant and so has an unknown s. */
static bool is_compliant(const TalusQp *qp, int i)
{
    return qp->compliance && qp->compliance[i] > 0.0;
}

/* Numbers the rows of s, one per compliant contact, behind the velocities. Returns the number of rows of s. */
static int number_compliance_rows(TalusIpmSystem *s)
{
    int count = 0;
    for (int i = 0; i < s->qp->blocks; i++)
        s->compliance_row[i] = is_compliant(s->qp, i) ? 3 * s->qp->bodies.groups + count++ : -1;
    return count;
}

/* Returns 2^-k with 4^k near the value: the scale of an unknown with this diagonal entry, stored in s->base for rows of
 * v and s. */
static double unit_mass_scale(double value)
{
    int exponent = 0;
    frexp(value, &exponent);
    return ldexp(1.0, -(exponent - (exponent & 1)) / 2);
}

/* Writes the scaled rows of M, and the scales of v in s->base. Returns the number of entries written. */
static int32_t add_masses(const TalusIpmSystem *s, TalusSparse *a)
{
    const TalusJacobian *j = &s->qp->bodies;
    int32_t at = 0;
    for (int g = 0; g < j->groups; g++) {
        TalusSym3 m = j->mass[g];
        const double by_row[3][3] = {{m.xx}, {m.xy, m.yy}, {m.xz, m.yz, m.zz}};
        double scale = unit_mass_scale(fmax(m.xx, fmax(m.yy, m.zz)) / s->mass);
        for (int r = 0; r < 3; r++) {
            s->base[3 * g + r] = scale;
            for (int c = 0; c <= r; c++) {
                a->column[at] = 3 * g + c;
                a->value[at++] = scale * scale * (by_row[r][c] / s->mass);
            }
            a->start[3 * g + r + 1] = at;
        }
    }
    return at;
}

/* Writes the scaled rows of E^-1 from entry `at` on, and the scales of s in s->base. Returns the number of entries so
 * far. */
static int32_t add_compliance_rows(const TalusIpmSystem *s, TalusSparse *a, int32_t at)
{
    for (int i = 0; i < s->qp->blocks; i++)
        if (s->compliance_row[i] >= 0) {
            double stiffness = 1.0 / (s->mass * s->qp->compliance[i]);
            double scale = unit_mass_scale(stiffness);
            s->base[s->compliance_row[i]] = scale;
            a->column[at] = s->compliance_row[i];
            a->value[at++] = scale * scale * stiffness;
            a->start[s->compliance_row[i] + 1] = at;
        }
    return at;
}

/* Writes the pattern of the rows of multipliers from entry `at` on, and their scaled entries A and, for s, the normal
 * part of the edge: 1 but in rows of joints. fill_augmented()
 * sets the diagonal entry -T, the last in each row. */
static void add_constraints(const TalusIpmSystem *s, TalusSparse *a, int32_t at)
{
    const TalusQp *qp = s->qp;
    int offset = a->rows - qp->multipliers;
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
            for (int32_t e = qp->a.start[k]; e < qp->a.start[k + 1]; e++) {
                a->column[at] = qp->a.column[e];
                a->value[at++] = s->base[qp->a.column[e]] * qp->a.value[e];
            }
            if (s->compliance_row[i] >= 0) {
                a->column[at] = s->compliance_row[i];
                a->value[at++] = s->base[s->compliance_row[i]] * qp->edge[k][0];
            }
            a->column[at++] = offset + k;
            a->start[offset + k + 1] = at;
        }
}

/* `prepare` of TalusIpmForm: also writes all values except -T, and the scales. */
static TalusStatus prepare_augmented(TalusIpmSystem *s, const TalusProblem *problem)
{
    const TalusQp *qp = s->qp;
    (void)problem;
    TALUS_TRY(TALUS_GROW(s->compliance_row, (size_t)qp->blocks, 0, "compliance"));
    int positive = 3 * qp->bodies.groups + number_compliance_rows(s),
        n = positive + qp->multipliers;
    size_t entries = 6 * (size_t)qp->bodies.groups + (size_t)positive +
                     (size_t)talus_sparse_entries(&qp->a) + 2 * (size_t)qp->multipliers;
    TALUS_TRY(TALUS_GROW(s->sign, (size_t)n, 0, "signs of pivots"));
    TALUS_TRY(TALUS_GROW(s->base, (size_t)positive, 0, "scales"));
    memset(s->sign, 1, (size_t)positive);
    memset(s->sign + positive, -1, (size_t)qp->multipliers);
    talus_sparse_clear(&s->lower);
    TALUS_TRY(talus_sparse_alloc(&s->lower, n, n, entries, "augmented system"));
    add_constraints(s, &s->lower, add_compliance_rows(s, &s->lower, add_masses(s, &s->lower)));
    return TALUS_OK;
}

/* ---- values of the matrix ---- */

/* `fill` of TalusIpmForm: sets the diagonal entries -T. */
static void fill_augmented(TalusIpmSystem *s)
{
    int offset = s->lower.rows - s->qp->multipliers;
    for (int k = 0; k < s->qp->multipliers; k++)
        s->lower.value[s->lower.start[offset + k + 1] - 1] = -s->t[k];
}

/* `solve` of TalusIpmForm, with refinement. */
static TalusStatus solve_augmented(TalusIpmSystem *s, double *x)
{
    enum { REFINEMENTS = 2 };
    int n = s->qp->multipliers, offset = s->lower.rows - n;
    memset(s->x, 0, (size_t)offset * sizeof *s->x);
    memcpy(s->x + offset, x, (size_t)n * sizeof *x);
    TALUS_TRY(talus_direct_solve_refined(s->direct, &s->lower, s->x, REFINEMENTS, NULL));
    for (int k = 0; k < n; k++)
        x[k] = -s->mass * s->x[offset + k];
    return TALUS_OK;
}

const TalusIpmForm talus_ipm_augmented = {
    .prepare = prepare_augmented, .fill = fill_augmented, .solve = solve_augmented};

/* ---- the solver ---- */

static const char *const linear[] = {"auto", "mumps", "ldl", NULL};
static const TalusParam params[] = {TALUS_IPM_PARAMS(linear)};

const TalusSolverType talus_solver_ipm_aug = {
    .name = "ipm-aug",
    .summary =
        "interior point on polygonal cones, velocities and multipliers in one indefinite system",
    TALUS_PARAMS(params, TalusIpmParams),
    TALUS_IPM_FIELDS(&talus_ipm_augmented, {TALUS_DIRECT_MUMPS, TALUS_DIRECT_LDL}),
};
