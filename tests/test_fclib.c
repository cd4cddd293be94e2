/* FCLIB problems: read in every storage, written and read back to the bit, and condensed to what a
 * dense elimination of the whole system gives. */
#include "support/dense.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

static TalusRng rng;

static double uniform(void)
{
    return 2.0 * talus_rng_uniform(&rng) - 1.0;
}

/* ---- random problems ---- */

enum { MOST = 96 }; /* degrees of freedom and joint rows together */

typedef struct Shape {
    int dimension, contacts, freedoms, joints;
    bool friction, symmetric;
} Shape;

static double *vector(int count, double scale)
{
    double *x;
    CHECK_OK(TALUS_ALLOC(x, (size_t)count, "test"));
    for (int i = 0; i < count; i++)
        x[i] = scale * uniform();
    return x;
}

/* `each` entries per column, and a dominant diagonal where one is asked for. */
static TalusSparse matrix(int rows, int columns, int each, double diagonal, bool symmetric)
{
    int32_t row[4096], column[4096];
    double value[4096];
    size_t n = 0;
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < each; k++) {
            int i = (int)talus_rng_below(&rng, (uint64_t)rows);
            double x = uniform();
            row[n] = i, column[n] = j, value[n++] = x;
            if (diagonal > 0.0) /* the other half, equal or not */
                row[n] = j, column[n] = i, value[n++] = symmetric ? x : x + 0.1 * uniform();
        }
        if (diagonal > 0.0)
            row[n] = column[n] = j, value[n++] = diagonal + talus_rng_uniform(&rng);
    }
    TalusSparse out;
    TalusTriplets t = {rows, columns, n, row, column, value};
    CHECK_OK(talus_sparse_from_triplets(&t, &out, "test"));
    return out;
}

static TalusFclibPoint point(const Shape *s)
{
    int rows = s->dimension * s->contacts;
    TalusFclibPoint p = {.u = vector(rows, 1.0), .r = vector(rows, 1.0)};
    if (s->freedoms)
        p.v = vector(s->freedoms, 1.0);
    if (s->joints)
        p.l = vector(s->joints, 1.0);
    return p;
}

/* The caller's pointer is filled: gcc 12 takes one that is returned for dangling. */
static void set_text(char **out, const char *from)
{
    REQUIRE_OK(TALUS_ALLOC(*out, strlen(from) + 1, "test"));
    memcpy(*out, from, strlen(from) + 1);
}

/* A local problem when it has no freedoms. */
static TalusFclib *make(Shape s)
{
    TalusFclib *f;
    int rows = s.dimension * s.contacts;
    CHECK_OK(TALUS_ALLOC(f, 1, "test"));
    f->dimension = s.dimension;
    f->contacts = s.contacts;
    f->mu = vector(s.contacts, s.friction ? 0.5 : 0.0);
    for (int i = 0; i < s.contacts; i++)
        f->mu[i] = fabs(f->mu[i]);
    f->global = s.freedoms > 0;
    if (f->global) {
        f->M = matrix(s.freedoms, s.freedoms, 1, 6.0, s.symmetric);
        f->H = matrix(s.freedoms, rows, 3, 0.0, false);
        f->f = vector(s.freedoms, 2.0);
        f->w = vector(rows, 1.0);
        if (s.joints) {
            f->G = matrix(s.freedoms, s.joints, 4, 0.0, false);
            f->b = vector(s.joints, 1.0);
        }
    } else {
        f->W = matrix(rows, rows, 2, 8.0, s.symmetric);
        f->q = vector(rows, 1.0);
    }
    return f;
}

/* ---- there and back ---- */

static void check_same_matrix(const TalusSparse *a, const TalusSparse *b)
{
    REQUIRE(!a->start == !b->start);
    if (a->start)
        CHECK(talus_sparse_equal(a, b));
}

static void check_same_vector(const double *a, const double *b, int count)
{
    REQUIRE(!a == !b);
    if (a)
        CHECK(memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static void check_same_point(const TalusFclib *f, const TalusFclibPoint *a,
                             const TalusFclibPoint *b)
{
    check_same_vector(a->u, b->u, talus_fclib_rows(f));
    check_same_vector(a->r, b->r, talus_fclib_rows(f));
    check_same_vector(a->v, b->v, talus_fclib_dofs(f));
    check_same_vector(a->l, b->l, talus_fclib_joints(f));
}

static void check_same(const TalusFclib *a, const TalusFclib *b)
{
    REQUIRE(a->dimension == b->dimension && a->contacts == b->contacts && a->global == b->global);
    check_same_matrix(&a->W, &b->W);
    check_same_matrix(&a->M, &b->M);
    check_same_matrix(&a->H, &b->H);
    check_same_matrix(&a->G, &b->G);
    check_same_vector(a->q, b->q, talus_fclib_rows(a));
    check_same_vector(a->w, b->w, talus_fclib_rows(a));
    check_same_vector(a->f, b->f, talus_fclib_dofs(a));
    check_same_vector(a->b, b->b, talus_fclib_joints(a));
    check_same_vector(a->mu, b->mu, a->contacts);
    CHECK_STR(a->title, b->title);
    CHECK_STR(a->description, b->description);
    CHECK_STR(a->math_info, b->math_info);
    check_same_point(a, &a->solution, &b->solution);
    REQUIRE(a->guess_count == b->guess_count);
    for (int i = 0; i < a->guess_count; i++)
        check_same_point(a, &a->guesses[i], &b->guesses[i]);
}

static void check_round_trip(Shape s, int guesses)
{
    TalusFclib *f = make(s), *back;
    set_text(&f->title, "a title");
    set_text(&f->math_info, "");
    f->solution = point(&s);
    f->guess_count = guesses;
    REQUIRE_OK(TALUS_ALLOC(f->guesses, (size_t)guesses, "test"));
    for (int i = 0; i < guesses; i++)
        f->guesses[i] = point(&s);
    REQUIRE_OK(talus_fclib_write("trip.hdf5", f));
    CHECK(talus_fclib_is_hdf5("trip.hdf5"));
    REQUIRE_OK(talus_fclib_read("trip.hdf5", &back));
    check_same(f, back);
    char *first, *second;
    size_t first_size, second_size;
    REQUIRE_OK(talus_fclib_write("again.hdf5", back));
    REQUIRE_OK(talus_read_file("trip.hdf5", 1 << 24, &first, &first_size));
    REQUIRE_OK(talus_read_file("again.hdf5", 1 << 24, &second, &second_size));
    CHECK(first_size == second_size && memcmp(first, second, first_size) == 0);
    talus_release(first);
    talus_release(second);
    talus_fclib_destroy(f);
    talus_fclib_destroy(back);
}

TEST(round_trips)
{
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    rng = talus_rng_from_seed(3);
    check_round_trip((Shape){3, 7, 0, 0, true, false}, 0);
    check_round_trip((Shape){2, 9, 0, 0, true, true}, 2);
    check_round_trip((Shape){3, 6, 24, 0, true, true}, 1);
    check_round_trip((Shape){3, 6, 24, 5, true, false}, 3);
    check_round_trip((Shape){2, 6, 12, 2, false, true}, 1);
    check_round_trip((Shape){3, 0, 6, 0, false, true}, 0);
}

/* A file that cannot be written whole leaves the old one as it was. */
TEST(failed_writes_leave_the_old_file)
{
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    rng = talus_rng_from_seed(4);
    TalusFclib *old = make((Shape){3, 2, 0, 0, true, true}), *read;
    TalusFclib *new = make((Shape){3, 5, 0, 0, true, true});
    REQUIRE_OK(talus_fclib_write("kept.hdf5", old));
    bool done = false;
    for (int n = 1; !done && n < 100; n++) {
        talus_fail_allocation_in(n);
        done = talus_fclib_write("kept.hdf5", new) == TALUS_OK;
        talus_fail_allocation_in(0);
        REQUIRE_OK(talus_fclib_read("kept.hdf5", &read));
        check_same(done ? new : old, read);
        talus_fclib_destroy(read);
    }
    CHECK(done);
    CHECK(talus_fclib_write("no/such/folder.hdf5", old) == TALUS_ERR_IO);
    talus_fclib_destroy(old);
    talus_fclib_destroy(new);
}

/* ---- condensed, against the whole system ---- */

/* u of impulses r from M v - G l = f + H r, G'v = -b, all at once. */
static void dense_velocity(const TalusFclib *f, const double *r, double *u)
{
    double a[MOST][MOST] = {{0}}, x[MOST] = {0};
    int n = talus_fclib_dofs(f), joints = talus_fclib_joints(f);
    for (int i = 0; i < n; i++) {
        for (int32_t k = f->M.start[i]; k < f->M.start[i + 1]; k++)
            a[i][f->M.column[k]] = f->M.value[k];
        for (int32_t k = f->G.start ? f->G.start[i] : 0; f->G.start && k < f->G.start[i + 1]; k++) {
            a[i][n + f->G.column[k]] = -f->G.value[k];
            a[n + f->G.column[k]][i] = f->G.value[k];
        }
        x[i] = f->f[i];
    }
    for (int j = 0; j < joints; j++)
        x[n + j] = -f->b[j];
    talus_sparse_add_product(&f->H, 1.0, r, x);
    solve_dense(n + joints, &a[0][0], MOST, x);
    memcpy(u, f->w, (size_t)talus_fclib_rows(f) * sizeof *u);
    talus_sparse_add_transposed_product(&f->H, 1.0, x, u);
}

static void velocity(const TalusFclib *f, const double *r, double *u)
{
    if (f->global) {
        dense_velocity(f, r, u);
        return;
    }
    memcpy(u, f->q, (size_t)talus_fclib_rows(f) * sizeof *u);
    talus_sparse_add_product(&f->W, 1.0, r, u);
}

/* W by columns: what unit impulses change. */
static void dense_matrix(const TalusFclib *f, double W[MOST][MOST], double *q)
{
    double r[MOST] = {0}, u[MOST];
    int rows = talus_fclib_rows(f);
    velocity(f, r, q);
    for (int j = 0; j < rows; j++) {
        r[j] = 1.0;
        velocity(f, r, u);
        r[j] = 0.0;
        for (int i = 0; i < rows; i++)
            W[i][j] = u[i] - q[i];
    }
}

static bool has_entry(const TalusProblemDef *def, int i, int j)
{
    for (int32_t k = def->row_start[i]; k < def->row_start[i + 1]; k++)
        if (def->column[k] == j)
            return true;
    return false;
}

/* Entry (i, j) of the problem in the file's rows; 0 where there is none. */
static double entry(const TalusProblemDef *def, int i, int j)
{
    for (int32_t k = def->row_start[i]; k < def->row_start[i + 1]; k++)
        if (def->column[k] == j)
            return def->values[k];
    return 0.0;
}

/* N is the mean of W and W', or W as it is; its pattern is symmetric in both cases. */
static void check_entries(const TalusFclib *f, const TalusProblemDef *def, double W[MOST][MOST],
                          const double *q, bool stored)
{
    int d = f->dimension, per = def->rows, used = d < per ? d : per;
    for (int a = 0; a < f->contacts; a++)
        for (int r = 0; r < used; r++) {
            CHECK_NEAR(def->offset[per * a + r], q[d * a + r], 1e-11);
            for (int b = 0; b < f->contacts; b++)
                for (int c = 0; c < used; c++) {
                    int i = d * a + r, j = d * b + c;
                    double n = entry(def, per * a + r, per * b + c);
                    CHECK_NEAR(n, stored ? W[i][j] : 0.5 * (W[i][j] + W[j][i]), 1e-11);
                    CHECK(stored || n == entry(def, per * b + c, per * a + r));
                    CHECK(has_entry(def, per * a + r, per * b + c) ==
                          has_entry(def, per * b + c, per * a + r));
                }
        }
}

/* Rows come in whole blocks; a plane contact's third row stands alone. */
static void check_blocks(const TalusFclib *f, const TalusProblemDef *def)
{
    int per = def->rows, used = f->dimension < per ? f->dimension : per;
    for (int a = 0; a < f->contacts; a++) {
        int32_t first = def->row_start[per * a], count = def->row_start[per * a + 1] - first;
        CHECK_INT(count % used, 0);
        for (int r = 1; r < used; r++) {
            int32_t begin = def->row_start[per * a + r];
            REQUIRE(def->row_start[per * a + r + 1] - begin == count);
            CHECK(memcmp(def->column + first, def->column + begin,
                         (size_t)count * sizeof *def->column) == 0);
        }
        for (int32_t k = 0; k < count; k++)
            CHECK_INT(def->column[first + k] % per, k % used);
        if (used < per) {
            int row = per * a + used;
            CHECK_INT(def->row_start[row + 1] - def->row_start[row], 1);
            CHECK(entry(def, row, row) == entry(def, row - 1, row - 1));
            CHECK(def->offset[row] == 0.0);
        }
    }
}

/* The solution set from impulses satisfies the file's own equations. */
static void check_solution(TalusFclib *f, TalusProblem *problem)
{
    int rows = talus_fclib_rows(f), size = talus_problem_size(problem), dofs = talus_fclib_dofs(f);
    double u[MOST], residual[MOST] = {0}, gamma[MOST], back[MOST];
    for (int i = 0; i < size; i++)
        gamma[i] = uniform();
    for (int i = 0; f->dimension == 2 && i < f->contacts && size > f->contacts; i++)
        gamma[3 * i + 2] = 0.0;
    REQUIRE_OK(talus_fclib_set_solution(f, problem, gamma));
    velocity(f, f->solution.r, u);
    for (int i = 0; i < rows; i++)
        CHECK_NEAR(f->solution.u[i], u[i], 1e-11);
    REQUIRE_OK(talus_fclib_impulses(f, problem, &f->solution, back));
    CHECK(memcmp(gamma, back, (size_t)size * sizeof *back) == 0);
    if (!f->global)
        return;
    talus_sparse_add_product(&f->M, 1.0, f->solution.v, residual);
    talus_sparse_add_product(&f->H, -1.0, f->solution.r, residual);
    if (f->solution.l)
        talus_sparse_add_product(&f->G, -1.0, f->solution.l, residual);
    for (int i = 0; i < dofs; i++)
        CHECK_NEAR(residual[i], f->f[i], 1e-11);
    double held[MOST] = {0};
    if (f->solution.l)
        talus_sparse_add_transposed_product(&f->G, 1.0, f->solution.v, held);
    for (int i = 0; i < talus_fclib_joints(f); i++)
        CHECK_NEAR(held[i], -f->b[i], 1e-11);
}

/* Under Coulomb's law the matrix is W, whatever the section. */
static void check_stored(TalusFclib *f, double W[MOST][MOST], const double *q)
{
    const TalusFrictionModel model = {.law = TALUS_LAW_COULOMB, .section = TALUS_SECTION_SQUARE};
    TalusProblem *problem;
    TalusProblemDef def;
    REQUIRE_OK(talus_fclib_problem(f, &model, NULL, &problem));
    REQUIRE_OK(talus_problem_export(problem, &def));
    check_entries(f, &def, W, q, true);
    check_blocks(f, &def);
    check_solution(f, problem);
    for (int i = 0; i < f->contacts; i++) {
        TalusFrictionModel has = talus_problem_friction(problem, i);
        if (f->mu[i] > 0.0)
            CHECK(has.law == TALUS_LAW_COULOMB && has.section == TALUS_SECTION_SQUARE);
    }
    talus_problem_destroy(problem);
}

static void check_condensed(Shape s)
{
    TalusFclib *f = make(s);
    double W[MOST][MOST], q[MOST], asymmetry, apart2 = 0.0, all2 = 0.0;
    TalusProblem *problem;
    TalusProblemDef def;
    int rows = talus_fclib_rows(f);
    dense_matrix(f, W, q);
    REQUIRE_OK(talus_fclib_problem(f, NULL, NULL, &problem));
    CHECK_INT(talus_problem_rows(problem), s.friction ? 3 : 1);
    CHECK_INT(talus_problem_blocks(problem), s.contacts);
    REQUIRE_OK(talus_problem_export(problem, &def));
    check_entries(f, &def, W, q, false);
    check_blocks(f, &def);
    check_solution(f, problem);
    check_stored(f, W, q);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            apart2 += (W[i][j] - W[j][i]) * (W[i][j] - W[j][i]);
            all2 += W[i][j] * W[i][j];
        }
    REQUIRE_OK(talus_fclib_asymmetry(f, &asymmetry));
    CHECK_NEAR(asymmetry, sqrt(apart2 / all2), 1e-11);
    CHECK(s.symmetric ? asymmetry == 0.0 : asymmetry > 1e-4);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

TEST(condensed)
{
    rng = talus_rng_from_seed(5);
    check_condensed((Shape){3, 7, 0, 0, true, true});
    check_condensed((Shape){3, 7, 0, 0, true, false});
    check_condensed((Shape){3, 7, 0, 0, false, false});
    check_condensed((Shape){2, 9, 0, 0, true, false});
    check_condensed((Shape){3, 8, 40, 0, true, true});
    check_condensed((Shape){3, 8, 40, 0, true, false});
    check_condensed((Shape){2, 8, 30, 0, false, true});
}

TEST(condensed_with_joints)
{
    rng = talus_rng_from_seed(6);
    check_condensed((Shape){3, 8, 48, 7, true, true});
    check_condensed((Shape){3, 8, 48, 7, true, false});
    check_condensed((Shape){2, 6, 24, 3, true, true});
}

TEST(points_must_match)
{
    rng = talus_rng_from_seed(7);
    TalusFclib *f = make((Shape){3, 3, 0, 0, true, true});
    TalusFclib *other = make((Shape){3, 4, 0, 0, true, true});
    TalusProblem *problem;
    REQUIRE_OK(talus_fclib_problem(f, NULL, NULL, &problem));
    CHECK(talus_fclib_set_solution(other, problem, talus_problem_gamma(problem)) ==
          TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "the problem has 3 contacts, the FCLIB problem 4");
    CHECK(talus_fclib_impulses(f, problem, &f->solution, talus_problem_gamma(problem)) ==
          TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "the point holds no impulses r");
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
    talus_fclib_destroy(other);
}

int main(void)
{
    RUN(round_trips);
    RUN(failed_writes_leave_the_old_file);
    RUN(condensed);
    RUN(condensed_with_joints);
    RUN(points_must_match);
    return talus_test_result();
}
