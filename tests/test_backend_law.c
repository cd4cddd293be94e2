/* Six rows per block (spinning and rolling friction) and the operations on laws of the backend contract,
 * against plain formulas. */

#include "support/models.h"
#include "support/test.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

static const HeapOptions small = {52, 3, 3, 2, 0.4, 0.02, 0.4};

static bool near_sum(double a, double b)
{
    return CHECK_NEAR(a, b, 1e-12 * (fabs(b) + 1e-3));
}

/* ---- six rows ---- */

static ModelCase six_rows(void)
{
    return make_model_case(&(ModelOptions){.heap = small, .rows = 6, .section = -1, .law = -1},
                           NULL);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

TEST(six_rows_are_their_matrix)
{
    ModelCase c = six_rows();
    double *x = model_vector(c.n, 1, -0.5), *y = model_vector(c.n, 1, 0.0);
    TalusSparse a;
    REQUIRE_OK(talus_problem_assemble(c.problem, &a));
    cpu->op.product(c.op, x, true, false, y);
    for (int row = 0; row < c.n; row++) {
        double sum = 0.0;
        for (int32_t k = a.start[row]; k < a.start[row + 1]; k++) {
            double other = 0.0;
            int column = a.column[k];
            for (int32_t l = a.start[column]; l < a.start[column + 1]; l++)
                other += a.column[l] == row ? a.value[l] : 0.0;
            CHECK(a.value[k] == other); /* symmetric to the bit */
            sum += a.value[k] * x[column];
        }
        CHECK_NEAR(y[row], sum, 1e-12);
    }
    talus_sparse_clear(&a);
    free(x);
    free(y);
    free_model_case(&c);
}

static double entry(const TalusSparse *a, int row, int column)
{
    for (int32_t k = a->start[row]; k < a->start[row + 1]; k++)
        if (a->column[k] == column)
            return a->value[k];
    return 0.0;
}

TEST(six_rows_have_a_diagonal_and_a_bound)
{
    ModelCase c = six_rows();
    TalusSparse a;
    REQUIRE_OK(talus_problem_assemble(c.problem, &a));
    for (int i = 0; i < c.blocks; i++) {
        double mean = 0.0, *x = model_vector(6, 30 + (uint64_t)i, -0.5), form = 0.0, bound = 0.0;
        for (int k = 1; k < 6; k++)
            mean += entry(&a, 6 * i + k, 6 * i + k) / 5.0;
        near_sum(c.op->diagonal[i][0], entry(&a, 6 * i, 6 * i));
        near_sum(c.op->diagonal[i][1], mean);
        near_sum(talus_problem_diagonal(c.problem, i),
                 (entry(&a, 6 * i, 6 * i) + 5.0 * mean) / 6.0);
        for (int k = 0; k < 6; k++) {
            bound += c.op->coupling[i] * c.op->diagonal[i][k > 0] * x[k] * x[k];
            for (int l = 0; l < 6; l++)
                form += x[k] * entry(&a, 6 * i + k, 6 * i + l) * x[l];
        }
        CHECK(form > 0.0 && form <= bound * (1.0 + 1e-12));
        free(x);
    }
    talus_sparse_clear(&a);
    free_model_case(&c);
}

TEST(six_rows_have_a_metric)
{
    ModelCase c = six_rows();
    TalusMetricBlock *m = calloc((size_t)c.blocks, sizeof *m);
    for (int trace = 0; trace < 2; trace++) {
        cpu->op.fill_metric(c.op, trace ? TALUS_METRIC_TRACE : TALUS_METRIC_ANISOTROPIC, m);
        for (int i = 0; i < c.blocks; i++) {
            double d = talus_problem_diagonal(c.problem, i);
            near_sum(m[i][0], 1.0 / sqrt(trace ? d : c.op->diagonal[i][0]));
            near_sum(m[i][1], 1.0 / sqrt(trace ? d : c.op->diagonal[i][1]));
            near_sum(m[i][2], model_block(&c, i).mu * m[i][0] / m[i][1]);
            near_sum(m[i][3], 1.0 / (1.0 + m[i][2] * m[i][2]));
        }
    }
    free(m);
    free_model_case(&c);
}

/* Adds impulse and moment of contact i to the wrenches of its bodies, in physical units. */
static void add_wrench(const TalusContactDef *d, const double *gamma, double *wrench)
{
    double axis[3][3], p[3] = {0.0}, m[3] = {0.0};
    verify_frame(d->normal, axis);
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 3; e++) {
            p[e] += gamma[k] * axis[k][e];
            m[e] += d->length * gamma[3 + k] * axis[k][e];
        }
    for (int side = 0; side < 2; side++) {
        TalusVec3 arm = side ? d->arm_b : d->arm_a;
        TalusVec3 turn = talus_cross(arm, talus_vec3(p[0], p[1], p[2]));
        double *w = wrench + 6 * (side ? d->b : d->a), sign = side ? 1.0 : -1.0;
        if (side && d->b < 0)
            continue;
        for (int e = 0; e < 3; e++)
            w[e] += sign * p[e];
        w[3] += sign * (turn.x + m[0]);
        w[4] += sign * (turn.y + m[1]);
        w[5] += sign * (turn.z + m[2]);
    }
}

/* Impulses act on bodies as forces and moments do, and their power is that of the contacts. */
TEST(moments_act_on_bodies)
{
    ModelCase c = six_rows();
    const TalusProblemDef *def = &c.test.def;
    int bodies = def->body_count;
    double *gamma = model_vector(c.n, 2, -0.5), *u = model_vector(c.n, 2, 0.0);
    double *wrench = calloc(6 * (size_t)bodies, sizeof *wrench), power = 0.0;
    double *v = calloc(6 * (size_t)bodies, sizeof *v);
    for (int i = 0; i < c.blocks; i++)
        add_wrench(&def->contacts[i], gamma + 6 * i, wrench);
    CHECK_OK(talus_problem_body_velocity(c.problem, gamma, v));
    for (int b = 0; b < bodies; b++) {
        double *w = wrench + 6 * b, *dv = v + 6 * b;
        TalusVec3 spin = talus_sym3_mul(def->inv_inertia[b], talus_vec3(w[3], w[4], w[5]));
        const double expected[6] = {def->inv_mass[b] * w[0],
                                    def->inv_mass[b] * w[1],
                                    def->inv_mass[b] * w[2],
                                    spin.x,
                                    spin.y,
                                    spin.z};
        for (int e = 0; e < 6; e++) {
            dv[e] -= def->free_velocity[6 * b + e];
            near_sum(dv[e], expected[e]);
        }
        power += dot(w, dv, 6);
    }
    cpu->op.product(c.op, gamma, false, false, u);
    near_sum(dot(gamma, u, c.n), power);
    free(gamma);
    free(u);
    free(wrench);
    free(v);
    free_model_case(&c);
}

/* ---- laws ---- */

typedef struct Expected {
    double *sigma; /* [blocks]; 0 where the block is not Coulomb's */
    TalusLawSums sums;
} Expected;

static double shift_in_use(const ModelCase *c, int i)
{
    return *(c->op->pair ? &c->op->bias[i] : &c->op->offset[3 * i]) - c->op->unshifted[i];
}

/* `u` is the velocity and `g` the gradient without shifts. */
static Expected expected_of(const ModelCase *c, const double *gamma, const double *u,
                            const double *g)
{
    Expected e = {.sigma = calloc((size_t)c->blocks, sizeof(double))};
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_law(c, i);
        double d = talus_block_scale(c->op, i), step[6], r2 = 0.0, off;
        bool coulomb = b.model.law == TALUS_LAW_COULOMB;
        e.sigma[i] = coulomb ? model_shift(&b, c->rows, u + i * c->rows) : 0.0;
        for (int k = 0; k < c->rows; k++)
            step[k] = gamma[i * c->rows + k] - (g[i * c->rows + k] + (k ? 0.0 : e.sigma[i])) / d;
        model_project(&b, c->rows, (const double[]){1.0, 1.0}, step);
        for (int k = 0; k < c->rows; k++) {
            double r = d * (gamma[i * c->rows + k] - step[k]);
            r2 += r * r;
        }
        e.sums.residual2 += r2;
        e.sums.residual_max = fmax(e.sums.residual_max, sqrt(r2));
        off = coulomb ? e.sigma[i] - shift_in_use(c, i) : 0.0;
        e.sums.shift2 += off * off;
        off = model_block(c, i).prism ? d * (gamma[i * c->rows] - b.estimate) : 0.0;
        e.sums.estimate2 += off * off;
    }
    return e;
}

static void same_law_sums(const TalusLawSums *a, const TalusLawSums *b)
{
    near_sum(a->residual2, b->residual2);
    near_sum(a->residual_max, b->residual_max);
    near_sum(a->shift2, b->shift2);
    near_sum(a->estimate2, b->estimate2);
}

static void check_shifts(ModelCase *c)
{
    double *gamma = model_vector(c->n, 3, -0.3), *u = model_vector(c->n, 3, 0.0);
    double *g = model_vector(c->n, 3, 0.0), *q = model_vector(c->n, 3, 0.0);
    double *shift = calloc((size_t)c->blocks, sizeof *shift), *after = model_vector(c->n, 3, 0.0);
    TalusLawSums sums;
    cpu->op.product(c->op, gamma, false, true, u);
    cpu->op.product(c->op, gamma, true, true, g);
    cpu->op.product(c->op, NULL, false, true, q);
    for (int round = 0; round < 3; round++) {
        Expected e = expected_of(c, gamma, u, g);
        if (round < 2)
            cpu->law.measure_and_shift(c->op, gamma, round ? 0.25 : 1.0, &sums, NULL);
        else
            cpu->law.measure_and_shift(c->op, gamma, 0.0, &sums, NULL);
        same_law_sums(&sums, &e.sums);
        for (int i = 0; round < 2 && i < c->blocks; i++)
            shift[i] += (round ? 0.25 : 1.0) * (e.sigma[i] - shift[i]);
        cpu->op.product(c->op, NULL, false, true, after); /* the offsets as solvers see them */
        for (int k = 0; k < c->n; k++)
            CHECK_NEAR(after[k] - q[k], k % c->rows ? 0.0 : shift[k / c->rows], 1e-13);
        for (int k = 0; round == 0 && k < c->n; k++) /* and then another point */
            gamma[k] = -0.7 * gamma[k];
        cpu->law.clear_shifts(c->op);
        cpu->op.product(c->op, NULL, false, true, after);
        CHECK(memcmp(after, q, (size_t)c->n * sizeof *q) == 0); /* nothing is left of the shift */
        cpu->op.product(c->op, gamma, false, true, u);
        cpu->op.product(c->op, gamma, true, true, g);
        for (int i = 0; c->op->unshifted && i < c->blocks; i++)
            *(c->op->pair ? &c->op->bias[i] : &c->op->offset[3 * i]) =
                c->op->unshifted[i] + shift[i];
        free(e.sigma);
    }
    free(gamma);
    free(u);
    free(g);
    free(q);
    free(shift);
    free(after);
}

static void check_estimates(ModelCase *c)
{
    double *x = model_vector(c->n, 4, -0.3), *before = model_vector(c->blocks, 4, 0.0);
    for (int i = 0; i < c->blocks; i++)
        before[i] = c->op->estimate[i];
    for (int round = 0; round < 2; round++) {
        double share = round ? 1.0 : 0.3;
        cpu->law.move_estimates(c->op, (const TalusMetricBlock *)c->metric, x, share);
        for (int i = 0; i < c->blocks; i++) {
            double normal = fmax(model_scale(c, i, 0) * x[i * c->rows], 0.0);
            double moved = before[i] + share * (normal - before[i]);
            if (!model_block(c, i).prism)
                CHECK(c->op->estimate[i] == before[i]);
            else if (round)
                CHECK(c->op->estimate[i] == normal); /* to the bit */
            else
                CHECK_NEAR(c->op->estimate[i], moved, 1e-15);
        }
        for (int i = 0; i < c->blocks; i++)
            before[i] = c->op->estimate[i];
    }
    free(x);
    free(before);
}

/* Forms: bodies with 3 and 6 rows, and a matrix. */
static void for_laws(int section, int law, bool scaled, void (*check)(ModelCase *c))
{
    for (int form = 0; form < 3; form++) {
        ModelCase c = make_model_case(&(ModelOptions){.heap = small,
                                                      .rows = form == 1 ? 6 : 3,
                                                      .section = section,
                                                      .law = law,
                                                      .matrix = form == 2,
                                                      .scaled = scaled},
                                      NULL);
        check(&c);
        free_model_case(&c);
    }
}

TEST(laws_measure_and_shift)
{
    for (int section = 0; section < MODEL_SECTIONS; section++)
        for (int law = 0; law < MODEL_LAWS; law++)
            for_laws(section, law, false, check_shifts);
    for_laws(-1, -1, false, check_shifts);
}

TEST(laws_take_estimates)
{
    for (int scaled = 0; scaled < 2; scaled++) {
        for_laws(0, TALUS_LAW_FIXED, scaled, check_estimates);
        for_laws(1, MODEL_MOVING, scaled, check_estimates);
        for_laws(-1, -1, scaled, check_estimates);
    }
}

TEST(laws_of_nothing_but_ccp)
{
    ModelCase c = make_model_case(&(ModelOptions){.heap = small, .rows = 3}, NULL);
    double *gamma = model_vector(c.n, 5, -0.3);
    TalusResidualSums plain;
    TalusLawSums sums;
    CHECK(!c.op->mixed_sets && !c.op->unshifted && !c.op->estimate);
    cpu->op.residual(c.op, gamma, &plain, NULL);
    cpu->law.measure_and_shift(c.op, gamma, 1.0, &sums, NULL);
    near_sum(sums.residual2, plain.residual2);
    near_sum(sums.residual_max, plain.residual_max);
    CHECK(sums.shift2 == 0.0 && sums.estimate2 == 0.0);
    cpu->law.clear_shifts(c.op);
    cpu->law.move_estimates(c.op, NULL, gamma, 1.0);
    gamma[4] = NAN;
    cpu->law.measure_and_shift(c.op, gamma, 0.0, &sums, NULL);
    CHECK(isnan(sums.residual2) && isnan(sums.residual_max));
    free(gamma);
    free_model_case(&c);
}

int main(void)
{
    RUN(six_rows_are_their_matrix);
    RUN(six_rows_have_a_diagonal_and_a_bound);
    RUN(six_rows_have_a_metric);
    RUN(moments_act_on_bodies);
    RUN(laws_measure_and_shift);
    RUN(laws_take_estimates);
    RUN(laws_of_nothing_but_ccp);
    return talus_test_result();
}
