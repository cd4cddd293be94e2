/* Joints as blocks of the problem (TALUS_SECTION_JOINT): their sets, what is refused, figures against the
 * verifier, solvers against a dense solution, bounded motors and springs by hand. */
#include "solver_specs.h"
#include "support/joints.h"

#include "backend/sets.h"
#include "base/memory.h"
#include "base/rng.h"
#include "sets/one_joint.h"

#include <talus/fclib.h>
#include <talus/io.h>

static const TalusFrictionModel ball = {TALUS_SECTION_JOINT, TALUS_LAW_CCP, TALUS_JOINT_ROWS};

/* ---- sets ---- */

typedef struct SetCase {
    int rows, mask;
    double mu, s[2];
    TalusSet set; /* in the metric s */
} SetCase;

static SetCase make_set(TalusRng *rng, int trial)
{
    const double bounds[4] = {INFINITY, 0.3, 0.0, 2.0};
    SetCase c = {.rows = trial % 5 ? 3 : 6, .mask = 1 + trial % 7, .mu = bounds[trial % 4]};
    TalusBlockModel model = {.section = TALUS_SECTION_JOINT, .sides = (uint16_t)c.mask};
    c.s[0] = 0.5 + talus_rng_uniform(rng);
    c.s[1] = 0.5 + talus_rng_uniform(rng);
    c.set = talus_set_in_metric(&model, false, c.mu, NULL, 0.0, c.s);
    return c;
}

static double bound_of(const SetCase *c, int k)
{
    return k < 3 && c->mask >> k & 1 ? c->mu / c->s[k > 0] : 0.0;
}

TEST(sets_are_boxes)
{
    TalusRng rng = talus_rng_from_seed(1);
    for (int trial = 0; trial < 2000; trial++) {
        SetCase c = make_set(&rng, trial);
        double x[6], d[6], p[6], least = INFINITY;
        bool active = false;
        for (int k = 0; k < c.rows; k++) {
            x[k] = 4.0 * talus_rng_uniform(&rng) - 2.0;
            d[k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
            p[k] = x[k];
        }
        talus_block_project(c.rows, &c.set, p);
        for (int k = 0; k < c.rows; k++) {
            double b = bound_of(&c, k), t = d[k];
            CHECK_NEAR(p[k], fmax(-b, fmin(b, x[k])), 1e-15);
            active = active || (b > 0.0 && isfinite(b) && fabs(p[k]) >= b);
            if (b == 0.0 || (fabs(p[k]) >= b && p[k] * t > 0.0))
                t = 0.0;
            x[k] = t;
            if (t != 0.0) /* p + a t stays within b */
                least = fmin(least, (b - copysign(1.0, t) * p[k]) / fabs(t));
        }
        CHECK(talus_block_is_active(c.rows, &c.set, p) == active);
        talus_block_project_tangent(c.rows, &c.set, p, d);
        for (int k = 0; k < c.rows; k++)
            CHECK(d[k] == x[k]);
        for (int k = 0; k < c.rows; k++)
            d[k] = -d[k];
        double step = talus_block_feasible_step(c.rows, &c.set, p, d);
        CHECK(step == least || fabs(step - least) <= 1e-12 * least);
        CHECK(talus_block_shift(c.rows, &c.set, x) == 0.0);
        talus_block_clear_immovable(c.rows, &c.set, x);
        talus_block_project_unbounded(c.rows, &c.set, p);
        for (int k = 0; k < c.rows; k++)
            CHECK((x[k] == 0.0 || bound_of(&c, k) > 0.0) &&
                  (p[k] == 0.0 || isinf(bound_of(&c, k))));
    }
}

TEST(public_projection)
{
    double x[3] = {5.0, -7.0, 1.0}, y[3] = {5.0, -7.0, NAN};
    TalusFrictionModel axle = {TALUS_SECTION_JOINT, TALUS_LAW_CCP, 6};
    talus_set_project(axle, 3, 2.0, NULL, 0.0, x);
    CHECK(x[0] == 0.0 && x[1] == -2.0 && x[2] == 1.0);
    talus_set_project(axle, 3, INFINITY, NULL, 0.0, y);
    CHECK(y[0] == 0.0 && y[1] == -7.0 && isnan(y[2]));
}

/* One block by itself: the least within the bounds, which a few rounds reach where one does not. */
TEST(one_block_is_solved)
{
    TalusRng rng = talus_rng_from_seed(2);
    for (int trial = 0; trial < 400; trial++) {
        SetCase c = make_set(&rng, trial);
        TalusBlockModel model = {.section = TALUS_SECTION_JOINT, .sides = (uint16_t)c.mask};
        TalusSet set = talus_set_in_metric(&model, false, c.mu, NULL, 0.0, NULL);
        double a[3][3] = {{0.0}}, b[3], root[3][3], gamma[3] = {0.0, 0.0, 0.0}, g[3];
        for (int k = 0; k < 9; k++)
            root[k / 3][k % 3] = talus_rng_uniform(&rng) + (k % 4 ? 0.0 : 0.5);
        for (int k = 0; k < 27; k++)
            a[k / 9][k / 3 % 3] += root[k / 9][k % 3] * root[k / 3 % 3][k % 3];
        for (int k = 0; k < 3; k++)
            b[k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        int rounds = isinf(c.mu) ? 2 : 3000; /* a second one shows that the first was exact */
        for (int round = 0; round < rounds; round++) {
            talus_one_velocity(&(TalusOneContact){.a = {{a[0][0], a[0][1], a[0][2]},
                                                        {a[1][0], a[1][1], a[1][2]},
                                                        {a[2][0], a[2][1], a[2][2]}}},
                               b, gamma, g);
            if (round == 1 && isinf(c.mu))
                for (int k = 0; k < 3; k++)
                    CHECK_NEAR(c.mask >> k & 1 ? g[k] : gamma[k], 0.0, 1e-10);
            talus_one_step_joint(&set, (const double(*)[3])a, g, 1.0, gamma);
        }
        for (int k = 0; k < 3; k++) {
            double most = c.mask >> k & 1 ? c.mu : 0.0, u = b[k];
            for (int j = 0; j < 3; j++)
                u += a[k][j] * gamma[j];
            CHECK(fabs(gamma[k]) <= most);
            CHECK_NEAR(gamma[k], fmax(-most, fmin(most, gamma[k] - u)), 1e-9);
        }
    }
}

/* ---- what is refused, what is kept ---- */

static void refuse_def(const TalusProblemDef *def, const char *expected)
{
    TalusProblem *problem = NULL;
    CHECK(talus_problem_create(def, NULL, &problem) == TALUS_ERR_ARGUMENT);
    if (!CHECK(strstr(talus_error(), expected)))
        printf("    %s\n", talus_error());
    talus_problem_destroy(problem);
}

static void refuse_contact(TestProblem *p, int i, TalusContactDef wrong, const char *expected)
{
    TalusContactDef *c = (TalusContactDef *)&p->def.contacts[i], right = *c;
    *c = wrong;
    refuse_def(&p->def, expected);
    *c = right;
}

TEST(wrong_joints_are_refused)
{
    TestProblem p = make_joints(&(JointOptions){.seed = 3, .links = 3, .mu = 0.4});
    int last = p.def.contact_count - 1;
    TalusContactDef joint = p.def.contacts[last], contact = p.def.contacts[0], wrong = joint;
    wrong.model.sides = 8;
    refuse_contact(&p, last, wrong, "contact 6: joint: rows 8 under law 0; expected 1 to 7");
    wrong.model.sides = 0;
    refuse_contact(&p, last, wrong, "joint: rows 0");
    wrong = joint;
    wrong.model.law = TALUS_LAW_COULOMB;
    refuse_contact(&p, last, wrong, "joint: rows 7 under law 2");
    wrong = joint;
    wrong.rolling = 0.1, wrong.length = 1.0;
    refuse_contact(&p, last, wrong, "of a joint, expected 0");
    wrong = contact;
    wrong.mu = INFINITY;
    refuse_contact(&p, 0, wrong, "mu inf");
    refuse_contact(&p, 0, joint, "contact 0: a free joint before contact 1, which is none");
    TestProblem m = make_joint_matrix(&p.def);
    ((TalusFrictionModel *)m.def.model)[last].sides = 9;
    refuse_def(&m.def, "block 6: joint: rows 9");
    ((TalusFrictionModel *)m.def.model)[last] = (TalusFrictionModel){0};
    refuse_def(&m.def, "mu inf");
    free_test_problem(&m);
    free_test_problem(&p);
}

static void check_counts(TalusProblem *problem, const TalusProblemDef *def)
{
    const TalusOperator *op = talus_problem_operator(problem);
    int free_ones = 0;
    for (int i = 0; i < def->contact_count; i++)
        free_ones += isinf(def->contacts[i].mu);
    CHECK_INT(op->joints, free_ones);
    CHECK(op->mixed_sets && (op->kinds & TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_JOINT)));
    CHECK_INT(talus_problem_friction(problem, op->blocks - 1).section, TALUS_SECTION_JOINT);
}

TEST(joints_stay_joints)
{
    TestProblem p = make_joints(&(JointOptions){.seed = 4, .links = 4, .mu = 0.4, .extras = true});
    TalusProblem *problem = create(&p.def, NULL), *again = NULL;
    TalusProblemDef def;
    check_counts(problem, &p.def);
    CHECK_INT(talus_problem_set_friction(problem, ball), TALUS_ERR_ARGUMENT);
    CHECK_OK(talus_problem_set_friction(
        problem, (TalusFrictionModel){TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}));
    check_counts(problem, &p.def);
    CHECK_INT(talus_problem_friction(problem, 0).section, TALUS_SECTION_SQUARE);
    CHECK_OK(
        talus_problem_set_friction(problem, (TalusFrictionModel){.section = TALUS_SECTION_NONE}));
    CHECK_INT(talus_problem_rows(problem), 3);
    check_counts(problem, &p.def);
    CHECK_OK(talus_problem_export(problem, &def));
    CHECK_OK(talus_problem_create(&def, NULL, &again));
    check_counts(again, &p.def);
    talus_problem_destroy(problem);
    talus_problem_destroy(again);
    free_test_problem(&p);
}

/* Blocks that a filler announced as free joints and that are none. */
TEST(fillers_are_held_to_their_word)
{
    TestProblem p = make_joints(&(JointOptions){.seed = 5, .links = 2});
    TalusProblem *problem = create(&p.def, NULL);
    TalusOperator *op = talus_problem_operator(problem);
    double *mu = &op->mu[op->blocks - op->joints];
    CHECK_OK(talus_problem_finish(problem));
    *mu = 1.0;
    CHECK_INT(talus_problem_finish(problem), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "the last 2 blocks were to be free joints, block 4 is not"));
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- figures ---- */

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-11 * scale;
}

static void compare_metrics(TalusProblem *problem, const TalusProblemDef *def, const double *gamma)
{
    TalusMetrics a, b;
    VerifyPoint point = verify_def_point(def, gamma);
    double scale = verify_scale(def, gamma), n = verify_size(def);
    if (talus_problem_estimate(problem))
        verify_point_set_estimate(&point, talus_problem_estimate(problem));
    verify_measure(&point, &b);
    REQUIRE_OK(talus_problem_measure(problem, gamma, &a));
    CHECK(near(a.objective, b.objective, n * n * scale));
    CHECK(near(a.natural.rms, b.natural.rms, scale) && near(a.natural.max, b.natural.max, scale));
    CHECK(near(a.natural_at_zero, b.natural_at_zero, b.natural_at_zero));
    CHECK(near(a.projected_gradient, b.projected_gradient, n * scale));
    CHECK(near(a.complementarity_mean, b.complementarity_mean, n * scale));
    CHECK(near(a.complementarity_max, b.complementarity_max, n * scale));
    CHECK(near(a.primal_infeasibility, b.primal_infeasibility, n * scale));
    CHECK(near(a.cone_violation, b.cone_violation, 1.0));
    CHECK(near(a.duality_gap, b.duality_gap, n * n * scale));
    CHECK(near(a.siconos, b.siconos, 1.0) && near(a.siconos_over_q, b.siconos_over_q, n));
    CHECK(isfinite(a.objective) && isfinite(a.duality_gap_scaled) && isfinite(a.dilation) &&
          isfinite(a.bound_mismatch) && isfinite(a.complementarity_std));
    CHECK_INT(a.open, b.open);
    CHECK_INT(a.sliding, b.sliding);
    CHECK_INT(a.sticking, b.sticking);
    CHECK(a.open + a.sliding + a.sticking == verify_blocks(def) && a.sliding > 0);
    verify_point_free(&point);
}

static void check_metrics(const TalusProblemDef *def)
{
    TalusProblem *problem = create(def, NULL);
    TalusRng rng = talus_rng_from_seed(6);
    int rows = verify_rows(def);
    double *gamma = calloc((size_t)verify_size(def) + 1, sizeof *gamma);
    VerifyPoint zero = verify_zero_point(def);
    for (int trial = 0; trial < 4; trial++) {
        for (int i = 0; talus_problem_estimate(problem) && i < verify_blocks(def); i++)
            talus_problem_estimate(problem)[i] = talus_rng_uniform(&rng);
        for (int i = 0; i < verify_blocks(def); i++) {
            VerifySet set = zero.set[i];
            for (int k = 0; k < rows; k++)
                gamma[i * rows + k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
            if (i % 3 != trial % 3)
                verify_set_project(&set, gamma + i * rows);
        }
        compare_metrics(problem, def, gamma);
    }
    verify_point_free(&zero);
    free(gamma);
    talus_problem_destroy(problem);
}

TEST(metrics_agree_with_the_verifier)
{
    JointOptions o = {.seed = 7, .links = 9, .mu = 0.4, .masks = true, .extras = true};
    TestProblem three = make_joints(&o), matrix = make_joint_matrix(&three.def);
    o.moment_mu = 0.1;
    TestProblem six = make_joints(&o);
    check_metrics(&three.def);
    check_metrics(&matrix.def);
    CHECK_INT(verify_rows(&six.def), 6);
    check_metrics(&six.def);
    for (int i = 0; i < 4; i++)
        ((TalusContactDef *)three.def.contacts)[i].model.law = (TalusFrictionLaw)(i % TALUS_LAWS);
    check_metrics(&three.def);
    free_test_problem(&three);
    free_test_problem(&matrix);
    free_test_problem(&six);
}

/* ---- solvers ---- */

/* Those that take joints beside contacts with friction, and those that take them without. */
static const char *const takers[] = {"apgd",   "lbfgs-fb", "gs",       "gs-coulomb",
                                     "jacobi", "admm",     "anderson", "kucera",
                                     "mprgp",  "spg",      "prox",     "auto"};
static const char *const others[] = {"cpg", "pgd", "ipm-chol", "ipm-aug"};
enum { TAKERS = sizeof takers / sizeof *takers, OTHERS = sizeof others / sizeof *others };

static bool is_among(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

TEST(others_refuse_in_words)
{
    TestProblem p = make_joints(&(JointOptions){.seed = 8, .links = 2});
    TalusProblem *problem = create(&p.def, NULL);
    for (int i = 0; i < talus_solver_count(); i++) {
        const char *name = talus_solver_row(i).name;
        if (is_missing(name))
            continue;
        TalusSolver *solver = solver_of(name);
        bool taken = talus_solver_supports(solver, problem) == TALUS_OK;
        bool ok =
            CHECK(taken == (is_among(name, takers, TAKERS) || is_among(name, others, OTHERS)));
        if (!taken)
            ok &= CHECK(strstr(talus_error(), "this problem has joints"));
        blame(ok, "joints", name);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* The velocity that the impulses make, which is unique. `keep`: no joint is eliminated. */
static void check_solution(const char *spec, const TestProblem *p, bool keep,
                           const double *expected)
{
    int n = verify_size(&p->def);
    TalusProblem *problem = create(&p->def, NULL);
    TalusSolver *solver = solver_of(spec);
    TalusSolveOptions options = budget(1e-12, 200000);
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    double *u = calloc(2 * (size_t)n + 1, sizeof *u), *v = u + n;
    options.keep_joints = keep;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    double *gamma = talus_problem_gamma(problem), most = 0.0;
    bool ok = CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    verify_velocity(&p->def, gamma, u);
    verify_velocity(&p->def, expected, v);
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(u[k] - v[k]));
    ok &= CHECK(most <= 1e-10);
    ok &= CHECK_NEAR(info.residual.rms, verify_residual(&p->def, gamma).rms, 1e-13);
    ok &= CHECK(verify_outside(&p->def, gamma) <= 1e-14);
    if (!ok)
        printf("    %s%s: off by %.2e, residual %.2e after %d iterations\n", spec,
               keep ? ", joints kept" : "", most, info.residual.rms, info.iterations);
    free(u);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

static void check_solvers(const JointOptions *o, const char *const *names, int count)
{
    TestProblem p = make_joints(o);
    double residual, *expected = solve_densely(&p.def, &residual);
    CHECK(residual < 1e-13);
    for (int i = 0; i < 2 * count; i += SLOW ? 3 : 1)
        check_solution(names[i / 2], &p, i % 2, expected);
    if (verify_rows(&p.def) == 3 && !SLOW) {
        TestProblem matrix = make_joint_matrix(&p.def);
        for (int i = 0; i < count; i++)
            check_solution(names[i], &matrix, false, expected);
        free_test_problem(&matrix);
    }
    free(expected);
    free_test_problem(&p);
}

TEST(chains_are_solved)
{
    check_solvers(&(JointOptions){.seed = 9, .links = 6, .mu = 0.4, .ratio = 10.0}, takers, TAKERS);
    check_solvers(&(JointOptions){.seed = 10, .links = 3, .ratio = 3.0}, others, OTHERS);
}

TEST(motors_springs_and_limits_are_solved)
{
    JointOptions o = {.seed = 11, .links = 4, .mu = 0.3, .extras = true};
    check_solvers(&o, takers, TAKERS);
    o.mu = 0.0;
    check_solvers(&o, others, OTHERS);
}

TEST(all_masks_are_solved)
{
    JointOptions o = {.seed = 12, .links = 8, .mu = 0.3, .masks = true};
    check_solvers(&o, takers, TAKERS);
    o.moment_mu = 0.2;
    o.links = 4;
    const char *const turning[] = {"apgd", "lbfgs-fb", "gs", "jacobi", "spg", "mprgp"};
    check_solvers(&o, turning, 6);
}

/* Impulses are not unique there, velocities are. */
TEST(redundant_joints_are_solved)
{
    JointOptions o = {.seed = 13, .links = 3, .mu = 0.3, .closed = true};
    check_solvers(&o, takers, TAKERS);
}

TEST(sweeps_in_all_orders)
{
    const char *const orders[] = {"gs:order=forward", "gs:order=symmetric", "gs:order=random",
                                  "gs:omega=1.4", "gs:omega=0.7,rho=0.8"};
    check_solvers(&(JointOptions){.seed = 18, .links = 3, .mu = 0.3, .extras = true}, orders, 5);
}

/* Exact Coulomb at the contacts, joints beside them. */
TEST(other_laws_beside_joints)
{
    const char *const specs_of[] = {"apgd", "lbfgs-fb", "prox", "gs", "admm"};
    TestProblem p = make_joints(&(JointOptions){.seed = 15, .links = 4, .mu = 0.4, .extras = true});
    TalusProblem *problem = create(&p.def, NULL);
    double *first = calloc((size_t)talus_problem_size(problem), sizeof *first), *v = NULL;
    TalusProblemDef def;
    CHECK_OK(talus_problem_set_friction(problem, (TalusFrictionModel){.law = TALUS_LAW_COULOMB}));
    CHECK_OK(talus_problem_export(problem, &def));
    v = calloc(12 * (size_t)def.body_count, sizeof *v);
    for (int i = 0; i < 5; i++) {
        double *w = v + (i ? 6 * def.body_count : 0);
        TalusSolveInfo info = solve_cold(specs_of[i], problem, 1e-11, 100000);
        double *gamma = talus_problem_gamma(problem);
        bool ok = CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        ok &= CHECK_NEAR(verify_residual(&def, gamma).rms, info.residual.rms, 1e-13);
        verify_body_velocity(&def, gamma, w);
        for (int k = 0; k < 6 * def.body_count; k++)
            ok &= fabs(w[k] - v[k]) <= 1e-8;
        CHECK(ok);
        blame(ok, "coulomb", specs_of[i]);
    }
    free(first);
    free(v);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- by hand ---- */

/* A body of mass 2 that a rod or a motor holds along x. */
typedef struct One {
    double inv_mass, velocity[6];
    TalusSym3 inv_inertia;
    TalusContactDef contact;
    TalusProblemDef def;
} One;

static void make_one(One *o, double speed)
{
    *o = (One){.inv_mass = 0.5, .velocity = {speed}, .inv_inertia = {1, 1, 1, 0, 0, 0}};
    o->contact = (TalusContactDef){.a = 0,
                                   .b = -1,
                                   .normal = {1.0, 0.0, 0.0},
                                   .mu = INFINITY,
                                   .model = {TALUS_SECTION_JOINT, TALUS_LAW_CCP, 1}};
    o->def = (TalusProblemDef){.body_count = 1,
                               .inv_mass = &o->inv_mass,
                               .inv_inertia = &o->inv_inertia,
                               .free_velocity = o->velocity,
                               .contact_count = 1,
                               .contacts = &o->contact};
}

static void solve_one(One *o, double *gamma, double *v)
{
    double speed[6];
    TalusProblem *problem = create(&o->def, NULL);
    solve_cold("gs", problem, 1e-15, 100);
    memcpy(gamma, talus_problem_gamma(problem), 3 * sizeof *gamma);
    CHECK_OK(talus_problem_body_velocity(problem, gamma, speed));
    *v = speed[0];
    talus_problem_destroy(problem);
}

TEST(motor_saturates)
{
    double gamma[3], v;
    One o;
    make_one(&o, 1.0);
    solve_one(&o, gamma, &v); /* a rod: u = -v = 0 takes the momentum 2 */
    CHECK_NEAR(v, 0.0, 1e-15);
    CHECK_NEAR(gamma[0], 2.0, 1e-14);
    o.contact.bias = 3.0; /* a motor: -v + 3 = 0 */
    solve_one(&o, gamma, &v);
    CHECK_NEAR(v, 3.0, 1e-14);
    CHECK_NEAR(gamma[0], -4.0, 1e-14);
    o.contact.mu = 1.5; /* that cannot do it */
    solve_one(&o, gamma, &v);
    CHECK_NEAR(gamma[0], -1.5, 1e-15);
    CHECK_NEAR(v, 1.0 + 0.5 * 1.5, 1e-15);
    o.contact.mu = 0.0;
    solve_one(&o, gamma, &v);
    CHECK(gamma[0] == 0.0 && v == 1.0);
}

/* gamma (1/m + E) + q = 0 */
TEST(spring_by_compliance)
{
    double gamma[3], v;
    One o;
    make_one(&o, 1.0);
    o.contact.compliance = 0.75;
    o.contact.bias = 0.2;
    solve_one(&o, gamma, &v);
    CHECK_NEAR(gamma[0], 0.8 / (0.5 + 0.75), 1e-15);
    CHECK_NEAR(v, 1.0 - 0.5 * gamma[0], 1e-15);
    CHECK(gamma[1] == 0.0 && gamma[2] == 0.0);
}

/* ---- files ---- */

TEST(files_keep_joints)
{
    const char *const path = "test_joint_blocks.problem";
    JointOptions o = {.seed = 16, .links = 4, .mu = 0.4, .extras = true};
    TestProblem bodies = make_joints(&o), matrix = make_joint_matrix(&bodies.def);
    const TalusProblemDef *const defs[2] = {&bodies.def, &matrix.def};
    for (int i = 0; i < 2; i++) {
        TalusProblem *problem = create(defs[i], NULL), *again = NULL;
        TalusFclib *fclib = NULL;
        TalusResidual a, b;
        solve_cold("apgd", problem, 1e-3, 100);
        CHECK_OK(talus_problem_write(path, problem));
        REQUIRE_OK(talus_problem_read(path, NULL, &again));
        talus_problem_residual(problem, talus_problem_gamma(problem), &a);
        talus_problem_residual(again, talus_problem_gamma(again), &b);
        CHECK(a.rms == b.rms && a.max == b.max);
        CHECK(isinf(talus_problem_mu(again, talus_problem_blocks(again) - 1)));
        CHECK_INT(talus_problem_operator(again)->joints, talus_problem_operator(problem)->joints);
        CHECK_INT(talus_fclib_from_problem(problem, "joints", &fclib), TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), "is a joint; FCLIB has contacts alone") ||
              strstr(talus_error(), "HDF5") || strstr(talus_error(), "compliance"));
        talus_problem_destroy(problem);
        talus_problem_destroy(again);
    }
    remove(path);
    free_test_problem(&bodies);
    free_test_problem(&matrix);
}

/* ---- memory ---- */

/* Every allocation of making and solving it fails once. */
TEST(any_allocation_may_fail)
{
    const char *const specs_of[] = {"apgd", "lbfgs-fb", "gs", "gs-coulomb", "prox"};
    TestProblem p = make_joints(&(JointOptions){.seed = 17, .links = 3, .mu = 0.4, .extras = true});
    for (int i = 0; i < 5; i++) {
        TalusSolveOptions options = budget(1e-6, 200);
        TalusStatus status = TALUS_ERR_MEMORY;
        for (long n = 1; status == TALUS_ERR_MEMORY && n < 2000; n++) {
            TalusProblem *problem = NULL;
            TalusSolver *solver = solver_of(specs_of[i]);
            TalusSolveInfo info;
            talus_fail_allocation_in(n);
            status = talus_problem_create(&p.def, NULL, &problem);
            if (status == TALUS_OK)
                status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            talus_solver_destroy(solver);
            talus_problem_destroy(problem);
        }
        CHECK(status == TALUS_OK);
    }
    free_test_problem(&p);
}

int main(void)
{
    RUN(sets_are_boxes);
    RUN(public_projection);
    RUN(one_block_is_solved);
    RUN(wrong_joints_are_refused);
    RUN(joints_stay_joints);
    RUN(fillers_are_held_to_their_word);
    RUN(metrics_agree_with_the_verifier);
    RUN(others_refuse_in_words);
    RUN(chains_are_solved);
    RUN(motors_springs_and_limits_are_solved);
    RUN(all_masks_are_solved);
    RUN(redundant_joints_are_solved);
    RUN(sweeps_in_all_orders);
    RUN(other_laws_beside_joints);
    RUN(motor_saturates);
    RUN(spring_by_compliance);
    RUN(files_keep_joints);
    RUN(any_allocation_may_fail);
    return talus_test_result();
}
