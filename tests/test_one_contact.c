/* One-contact solvers (src/sets/one_*.h) against the laws' own words, on many random and odd problems. */

#include "support/test.h"

#include "base/rng.h"
#include "sets/one_solve.h"

#include <math.h>
#include <stdio.h>

/* Under a sanitizer everything takes ten times as long: fewer problems there. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { PROBLEMS = 10000 };
#else
enum { PROBLEMS = 100000 };
#endif

/* ---- random problems ---- */

static double between(TalusRng *rng, double lo, double hi)
{
    return lo + (hi - lo) * talus_rng_uniform(rng);
}

static double power(TalusRng *rng, double lo, double hi)
{
    return exp2(between(rng, lo, hi));
}

/* G G' of a 3 x rank matrix, rows of different sizes at times, its normal entry positive. */
static void random_block(TalusRng *rng, int rank, double a[3][3])
{
    double g[3][3], size[3];
    bool uneven = talus_rng_below(rng, 4) == 0;
    for (int k = 0; k < 3; k++)
        size[k] = uneven ? power(rng, -8.0, 8.0) : 1.0;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < rank; l++)
            g[k][l] = size[k] * between(rng, -1.0, 1.0);
    g[0][0] += g[0][0] < 0.0 ? -0.1 * size[0] : 0.1 * size[0];
    double unit = power(rng, -20.0, 20.0);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            a[k][l] = 0.0;
            for (int j = 0; j < rank; j++)
                a[k][l] += unit * (g[k][j] * g[l][j]);
        }
}

static double random_mu(TalusRng *rng)
{
    switch (talus_rng_below(rng, 8)) {
    case 0: return 0.0;
    case 1: return 1e6;
    case 2: return power(rng, -10.0, 10.0);
    default: return between(rng, 0.0, 1.5);
    }
}

/* gamma and u that obey the law, from which b follows: so the problem has a solution, however singular. */
static void plant(TalusRng *rng, TalusOneContact *one, double b[3])
{
    double gamma[3] = {0.0, 0.0, 0.0}, u[3] = {0.0, 0.0, 0.0}, e[2];
    double scale = power(rng, -20.0, 20.0);
    int state = (int)talus_rng_below(rng, 3);
    e[0] = between(rng, -1.0, 1.0);
    e[1] = between(rng, -1.0, 1.0);
    double length = hypot(e[0], e[1]) + 1e-300, slip = state == 2 ? scale * one->a[0][0] : 0.0;
    if (one->section == TALUS_SECTION_SQUARE)
        length = fmax(fabs(e[0]), fabs(e[1])) + 1e-300;
    if (state > 0) {
        gamma[0] = scale;
        one->friction_bound = one->law == TALUS_LAW_FIXED ? one->mu * scale : 0.0;
        double part = talus_one_bound(one, scale) * (state == 1 ? 0.9 : 1.0) / length;
        for (int k = 0; k < 2; k++) {
            gamma[1 + k] = part * e[k];
            bool slides = one->section == TALUS_SECTION_DISC || fabs(e[k]) == length;
            u[1 + k] = slides ? -slip * e[k] / length : 0.0;
        }
        u[0] = one->law == TALUS_LAW_CCP ? one->mu * slip : 0.0;
    } else {
        one->friction_bound = 0.0;
        u[0] = scale * one->a[0][0] * (one->law == TALUS_LAW_CCP ? 1.0 + one->mu : 1.0);
        u[1] = scale * one->a[0][0] * e[0] / length;
        u[2] = scale * one->a[0][0] * e[1] / length;
    }
    for (int k = 0; k < 3; k++)
        b[k] = u[k] - talus_one_dot(one->a[k], gamma);
}

typedef struct Kind {
    const char *name;
    TalusOneSolver solver;
    TalusFrictionLaw law;
    TalusSection section;
    double tolerance, singular; /* of the error below; the latter for singular A */
} Kind;

static const Kind kinds[] = {
    {"exact coulomb", TALUS_ONE_EXACT, TALUS_LAW_COULOMB, TALUS_SECTION_DISC, 5e-13, 5e-13},
    {"exact ccp", TALUS_ONE_EXACT, TALUS_LAW_CCP, TALUS_SECTION_DISC, 5e-13, 1e-10},
    {"newton", TALUS_ONE_NEWTON, TALUS_LAW_COULOMB, TALUS_SECTION_DISC, 5e-13, 5e-13},
    {"cases coulomb", TALUS_ONE_CASES, TALUS_LAW_COULOMB, TALUS_SECTION_SQUARE, 5e-13, 5e-13},
    {"cases fixed", TALUS_ONE_CASES, TALUS_LAW_FIXED, TALUS_SECTION_SQUARE, 5e-13, 5e-13},
};

/* Every seventh block is singular and every eleventh slightly unsymmetric, as in files; of these the former
 * and half of all have a planted solution. Some b are denormal. */
static void random_one(TalusRng *rng, const Kind *kind, int i, TalusOneContact *one, double b[3])
{
    bool singular = i % 7 == 0;
    random_block(rng, singular ? 1 + (int)talus_rng_below(rng, 2) : 3, one->a);
    one->mu = random_mu(rng);
    one->law = kind->law;
    one->section = kind->section;
    double scale = power(rng, -20.0, 20.0);
    one->friction_bound = one->law == TALUS_LAW_FIXED ? one->mu * power(rng, -20.0, 20.0) : 0.0;
    if (!singular && i % 11 == 0)
        one->a[1][2] += between(rng, -1e-6, 1e-6) * sqrt(one->a[1][1] * one->a[2][2]);
    if (i % 5 == 0) /* spheres */
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                one->a[k][l] = k == l ? one->a[k ? 1 : 0][k ? 1 : 0] : 0.0;
    for (int k = 0; k < 3; k++)
        b[k] = scale * between(rng, -1.0, 1.0);
    if (singular || i % 2)
        plant(rng, one, b);
    else if (i % 13 == 0) {
        for (int k = 0; k < 3; k++)
            b[k] = b[k] / scale * 1e-310;
        one->friction_bound *= i % 2 ? 1.0 : 1e-310;
    }
}

/* ---- the laws ---- */

/* How far gamma is from the law, in velocities over the sum of the terms that make them up. */
static double broken(const TalusOneContact *one, const double b[3], const double gamma[3])
{
    double u[3], terms = 0.0, most = 0.0, worst = 0.0, n = gamma[0];
    double bound = one->law == TALUS_LAW_FIXED ? one->friction_bound : one->mu * n;
    for (int k = 0; k < 3; k++) {
        double sum = fabs(b[k]);
        u[k] = b[k];
        for (int l = 0; l < 3; l++) {
            u[k] += one->a[k][l] * gamma[l];
            sum += fabs(one->a[k][l] * gamma[l]);
            most += fabs(one->a[k][l]);
        }
        terms = fmax(terms, sum);
    }
    double grain = 0x1p-1072 * (1.0 + one->mu); /* impulses may be denormal */
    double slip = hypot(u[1], u[2]), length = hypot(gamma[1], gamma[2]), opening = u[0];
    if (one->law == TALUS_LAW_CCP) { /* u in the dual cone, normal to gamma */
        opening -= one->mu * slip;
        opening /= 1.0 + one->mu;
    }
    if (!(n >= 0.0))
        return INFINITY;
    worst = n > 0.0 ? fabs(opening) : fmax(-opening, 0.0);
    if (one->section == TALUS_SECTION_SQUARE) {
        for (int k = 1; k < 3; k++) {
            if (!(fabs(gamma[k]) <= bound + grain))
                return INFINITY;
            bool low = gamma[k] <= -bound + grain, high = gamma[k] >= bound - grain;
            worst = fmax(worst, low && high ? 0.0
                                : low       ? fmax(-u[k], 0.0)
                                : high      ? fmax(u[k], 0.0)
                                            : fabs(u[k]));
        }
    } else {
        if (!(length <= bound * (1.0 + 4e-15) + grain))
            return INFINITY;
        if (length >= bound * (1.0 - 1e-13) - grain &&
            length > 0.0) { /* slip against the impulse, if any */
            double along = (u[1] * gamma[1] + u[2] * gamma[2]) / length;
            double across = (u[1] * gamma[2] - u[2] * gamma[1]) / length;
            worst = fmax(worst, fmax(fabs(across), along));
        } else if (bound > 0.0) {
            worst = fmax(worst, slip);
        }
    }
    worst = fmax(worst - 8.0 * grain * most, 0.0);
    return isfinite(worst) && isfinite(terms) ? (worst > 0.0 ? worst / terms : 0.0) : INFINITY;
}

static bool regular(int i)
{
    return i % 7 != 0;
}

static void check_kind(const Kind *kind)
{
    TalusRng rng = talus_rng_from_seed(17);
    int bad = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        TalusOneContact one;
        double b[3], gamma[3];
        random_one(&rng, kind, i, &one, b);
        for (int k = 0; k < 3; k++)
            gamma[k] = i % 3 ? 0.0 : between(&rng, -1.0, 1.0);
        talus_one_solve(kind->solver, &one, b, gamma);
        double error = broken(&one, b, gamma);
        if (!(error <= (regular(i) ? kind->tolerance : kind->singular)) && bad++ < 3)
            printf("    %s: problem %d breaks the law by %.2e\n", kind->name, i, error);
    }
    CHECK_INT(bad, 0);
}

TEST(laws_hold)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        check_kind(&kinds[k]);
}

/* The two that treat a contact part by part are repeated until they stand still. Where the coupling is strong
 * they need not get there: A as in a pile, mu below 1. */
static void check_parts(const Kind *kind)
{
    TalusRng rng = talus_rng_from_seed(3);
    int bad = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        TalusOneContact one = {.law = kind->law, .section = kind->section};
        double b[3], gamma[3] = {0.0, 0.0, 0.0}, still = 1.0;
        random_block(&rng, 3, one.a);
        double unit = one.a[0][0] + one.a[1][1] + one.a[2][2];
        for (int k = 0; k < 3; k++)
            one.a[k][k] += unit;
        one.mu = i % 50 ? between(&rng, 0.0, 0.9) : 0.0;
        one.friction_bound =
            one.law == TALUS_LAW_FIXED ? one.mu * between(&rng, 0.0, 2.0) / unit : 0.0;
        for (int k = 0; k < 3; k++)
            b[k] = (i % 13 ? 1.0 : 1e-310) * between(&rng, -1.0, 1.0);
        for (int k = 0; k < 200 && still > 0.0; k++) {
            double old[3] = {gamma[0], gamma[1], gamma[2]};
            talus_one_solve(kind->solver, &one, b, gamma);
            still = fabs(gamma[0] - old[0]) + fabs(gamma[1] - old[1]) + fabs(gamma[2] - old[2]);
        }
        double error = broken(&one, b, gamma);
        if (!(error <= kind->tolerance) && bad++ < 3)
            printf("    %s: problem %d breaks the law by %.2e\n", kind->name, i, error);
    }
    CHECK_INT(bad, 0);
}

TEST(part_by_part_comes_to_the_same)
{
    static const Kind parts[] = {
        {"rows coulomb", TALUS_ONE_ROWS, TALUS_LAW_COULOMB, TALUS_SECTION_SQUARE, 1e-12, 0.0},
        {"rows fixed", TALUS_ONE_ROWS, TALUS_LAW_FIXED, TALUS_SECTION_SQUARE, 1e-12, 0.0},
        {"disc coulomb", TALUS_ONE_DISC, TALUS_LAW_COULOMB, TALUS_SECTION_DISC, 1e-12, 0.0},
        {"disc fixed", TALUS_ONE_DISC, TALUS_LAW_FIXED, TALUS_SECTION_DISC, 1e-12, 0.0},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        check_parts(&parts[k]);
}

/* ---- two solvers of one law ---- */

static double apart(const double x[3], const double y[3])
{
    double size = 0.0, most = 0.0;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, fmax(fabs(x[k]), fabs(y[k])));
        most = fmax(most, fabs(x[k] - y[k]));
    }
    return most > 0.0 ? most / size : 0.0;
}

/* A positive definite with |A_nt| below A_nn / mu and a condition number that leaves digits. */
static void tame_one(TalusRng *rng, TalusOneContact *one, double b[3])
{
    random_block(rng, 3, one->a);
    double unit = one->a[0][0] + one->a[1][1] + one->a[2][2];
    for (int k = 0; k < 3; k++)
        one->a[k][k] += 0.05 * unit;
    one->mu = between(rng, 0.0, 0.9) * one->a[0][0] / hypot(one->a[0][1], one->a[0][2]);
    one->mu = fmin(one->mu, 2.0);
    for (int k = 0; k < 3; k++)
        b[k] = between(rng, -1.0, 1.0);
}

/* Below this mu there is one solution. Two, d apart in impulses, would have d'A d <= mu |d_n| |(A d)_t|, in which
 * d_n^2 <= d'A d / s, s = det A / det A_tt, and |A d|^2 <= tr A d'A d: not if mu^2 tr A < s. */
static double unique_below(const TalusOneContact *one)
{
    const double(*a)[3] = one->a;
    double det = a[1][1] * a[2][2] - a[1][2] * a[2][1];
    double first = a[2][2] * a[1][0] - a[1][2] * a[2][0];
    double second = a[1][1] * a[2][0] - a[2][1] * a[1][0];
    double s = a[0][0] - (a[0][1] * first + a[0][2] * second) / det;
    return sqrt(s / (a[0][0] + a[1][1] + a[2][2]));
}

/* mu |A_nt| < A_nn is not enough: this contact, with 0.86 A_nn, can stick and slide. */
TEST(a_contact_may_stick_and_slide)
{
    TalusOneContact one = {
        .a = {{0.399, 0.259, -0.0918}, {0.259, 0.57, 0.251}, {-0.0918, 0.251, 0.478}},
        .mu = 1.2447,
        .law = TALUS_LAW_COULOMB,
        .section = TALUS_SECTION_DISC};
    double b[3] = {-0.194, 0.946, 0.933}, stuck[3] = {0.0, 0.0, 0.0}, slid[3] = {0.0, 0.0, 0.0};
    CHECK(one.mu * hypot(one.a[0][1], one.a[0][2]) < 0.87 * one.a[0][0]);
    CHECK(one.mu > unique_below(&one));
    talus_one_solve(TALUS_ONE_EXACT, &one, b, stuck);
    talus_one_solve(TALUS_ONE_NEWTON, &one, b, slid);
    CHECK(broken(&one, b, stuck) < 1e-15);
    CHECK(broken(&one, b, slid) < 1e-15);
    CHECK(hypot(stuck[1], stuck[2]) < 0.99 * one.mu * stuck[0]);
    CHECK_NEAR(hypot(slid[1], slid[2]), one.mu * slid[0], 1e-14);
    CHECK(stuck[0] > 1.5 * slid[0]);
}

/* Within 1e-6 of the rim of its cone, but inside. */
TEST(a_contact_sticks_close_to_the_rim)
{
    TalusOneContact one = {.a = {{34.0, 19.0, -13.0}, {19.0, 32.0, -10.0}, {-13.0, -10.0, 19.0}},
                           .law = TALUS_LAW_CCP,
                           .section = TALUS_SECTION_DISC};
    const double planted[3] = {2.0, 0.125, 0.5};
    double b[3], gamma[3] = {0.0, 0.0, 0.0};
    one.mu = hypot(planted[1], planted[2]) / planted[0] * (1.0 + 5e-7);
    for (int k = 0; k < 3; k++)
        b[k] = -talus_one_dot(one.a[k], planted);
    talus_one_solve(TALUS_ONE_EXACT, &one, b, gamma);
    CHECK(broken(&one, b, gamma) < 1e-14);
    CHECK_NEAR(apart(gamma, planted), 0.0, 1e-13);
}

TEST(solvers_agree_where_the_solution_is_unique)
{
    TalusRng rng = talus_rng_from_seed(5);
    double disc = 0.0, cone = 0.0;
    int states[3] = {0, 0, 0};
    for (int i = 0; i < PROBLEMS; i++) {
        TalusOneContact one = {.law = TALUS_LAW_COULOMB, .section = TALUS_SECTION_DISC};
        double b[3], exact[3] = {0.0, 0.0, 0.0}, newton[3] = {0.0, 0.0, 0.0};
        tame_one(&rng, &one, b);
        one.mu = fmin(one.mu, 0.99 * unique_below(&one));
        for (int k = 1; k < 3; k++)
            b[k] = 0.5 * one.mu * b[k] + one.a[k][0] * (b[0] / one.a[0][0]); /* some stick */
        talus_one_solve(TALUS_ONE_EXACT, &one, b, exact);
        talus_one_solve(TALUS_ONE_NEWTON, &one, b, newton);
        disc = fmax(disc, apart(exact, newton));
        double length = hypot(exact[1], exact[2]);
        states[exact[0] == 0.0 ? 0 : length < one.mu * exact[0] * (1.0 - 1e-12) ? 1 : 2]++;
        /* the relaxation has Coulomb's solution where the opening mu |u_t| is in b already */
        double u[3], shifted[3] = {b[0], b[1], b[2]}, relaxed[3] = {0.0, 0.0, 0.0};
        talus_one_velocity(&one, b, exact, u);
        shifted[0] += one.mu * hypot(u[1], u[2]);
        one.law = TALUS_LAW_CCP;
        talus_one_solve(TALUS_ONE_EXACT, &one, shifted, relaxed);
        cone = fmax(cone, exact[0] > 0.0 ? apart(exact, relaxed) : 0.0);
    }
    CHECK_NEAR(disc, 0.0, 1e-10);
    CHECK_NEAR(cone, 0.0, 1e-10);
    for (int k = 0; k < 3; k++)
        CHECK(states[k] > PROBLEMS / 20); /* each state is met often */
}

/* ---- parts ---- */

/* Eq. 14 of preclik-2009 on any positive semidefinite B: the point is in the disc, and the velocity 0 or,
 * at the rim, against it. */
TEST(the_disc_has_its_minimum)
{
    TalusRng rng = talus_rng_from_seed(7);
    int bad = 0, rim = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        double a[3][3], c[2], x[2], u[2], terms = 0.0;
        random_block(&rng, 1 + i % 3, a);
        double b[2][2] = {{a[0][0], a[0][1]}, {a[1][0], a[1][1]}};
        for (int k = 0; k < 2; k++)
            c[k] = i % 4 ? between(&rng, -1.0, 1.0) : 1e-310 * between(&rng, -1.0, 1.0);
        double r = power(&rng, -6.0, 12.0) * hypot(c[0], c[1]) / (a[0][0] + a[1][1]);
        talus_disc_minimise(b, c, r, x);
        for (int k = 0; k < 2; k++) {
            u[k] = b[k][0] * x[0] + b[k][1] * x[1] + c[k];
            terms = fmax(terms, fabs(b[k][0] * x[0]) + fabs(b[k][1] * x[1]) + fabs(c[k]));
        }
        double grain = 16.0 * 0x1p-1074, length = hypot(x[0], x[1]), slip = hypot(u[0], u[1]);
        double off = slip;
        if (length >= r * (1.0 - 1e-13) - grain && length > 0.0) {
            off = fmax(fabs(u[0] * x[1] - u[1] * x[0]), u[0] * x[0] + u[1] * x[1]) / length;
            rim++;
        }
        off -= grain * (a[0][0] + a[1][1]);
        if (!(length <= r * (1.0 + 4e-15) + grain && off <= 5e-13 * terms) && bad++ < 3)
            printf("    disc %d: off by %.2e\n", i, off / terms);
    }
    CHECK_INT(bad, 0);
    CHECK(rim > PROBLEMS / 20 && rim < PROBLEMS - PROBLEMS / 20);
}

/* Newton's matrix is the derivative of Alart and Curnier's function, in each of its states. */
TEST(newtons_matrix_is_the_derivative)
{
    TalusRng rng = talus_rng_from_seed(11);
    int states[3] = {0, 0, 0};
    for (int i = 0; i < 1000; i++) {
        TalusOneContact one = {.law = TALUS_LAW_COULOMB, .section = TALUS_SECTION_DISC};
        double b[3], gamma[3], m[3][3];
        tame_one(&rng, &one, b);
        for (int k = 0; k < 3; k++)
            gamma[k] = between(&rng, -1.0, 1.0) / one.a[k][k];
        TalusAlart at = {.rho_n = 1.0 / one.a[0][0], .rho_t = 2.0 / (one.a[1][1] + one.a[2][2])};
        TalusAlart up = at, down = at;
        talus_alart_evaluate(&one, b, gamma, &at);
        talus_alart_jacobian(&one, &at, m);
        states[at.z <= 0.0 ? 0 : at.size <= at.radius ? 1 : 2]++;
        if (fabs(at.z) < 1e-3 * fabs(gamma[0]) || fabs(at.size - at.radius) < 1e-3 * at.size)
            continue; /* a kink may be nearby */
        for (int j = 0; j < 3; j++) {
            double h = 1e-6 / one.a[j][j], kept = gamma[j];
            gamma[j] = kept + h;
            talus_alart_evaluate(&one, b, gamma, &up);
            gamma[j] = kept - h;
            talus_alart_evaluate(&one, b, gamma, &down);
            gamma[j] = kept;
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(m[k][j], (up.f[k] - down.f[k]) / (2.0 * h), 1e-4 * one.a[j][j]);
        }
    }
    for (int k = 0; k < 3; k++)
        CHECK(states[k] > 50);
}

/* ---- ends of the range ---- */

TEST(not_a_number_stays_one)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int j = 0; j < 3; j++) {
            TalusOneContact one = {.a = {{2.0, 0.3, 0.1}, {0.3, 3.0, 0.2}, {0.1, 0.2, 4.0}},
                                   .mu = 0.5,
                                   .friction_bound = 1.0,
                                   .law = kinds[k].law,
                                   .section = kinds[k].section};
            double b[3] = {-1.0, 0.5, 0.5}, gamma[3] = {0.0, 0.0, 0.0};
            b[j] = NAN;
            talus_one_solve(kinds[k].solver, &one, b, gamma);
            CHECK(isnan(gamma[0] + gamma[1] + gamma[2]));
        }
}

/* b = -A gamma + u has no solution: A maps w in the cone to zero and b'w < 0. Any finite answer will do. */
TEST(a_contradiction_gives_a_finite_impulse)
{
    TalusOneContact one = {.a = {{1.0, 1.0, 0.0}, {1.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, .mu = 3.0};
    double b[3] = {-1.0, 1.0, 0.1}, gamma[3];
    one.law = TALUS_LAW_COULOMB;
    talus_one_solve(TALUS_ONE_EXACT, &one, b, gamma);
    CHECK(gamma[0] >= 0.0 && gamma[0] < 10.0 && fabs(gamma[1]) < 10.0 && fabs(gamma[2]) < 10.0);
    one.law = TALUS_LAW_CCP;
    talus_one_solve(TALUS_ONE_EXACT, &one, b, gamma);
    CHECK(gamma[0] >= 0.0 && gamma[0] < 10.0 && fabs(gamma[1]) < 10.0 && fabs(gamma[2]) < 10.0);
}

/* With a friction coefficient so large that no bracket of the root is found, gamma still is within the cone and lowers
 * the objective, whatever it was before. */
TEST(huge_friction_gives_a_feasible_impulse)
{
    TalusOneContact one = {
        .a = {{2.0, 0.3, 0.1}, {0.3, 3.0, 0.2}, {0.1, 0.2, 4.0}}, .mu = 1e40, .law = TALUS_LAW_CCP};
    double b[3] = {-1.0, 0.5, 0.5}, gamma[3] = {-7.0, -7.0, -7.0}, u[3];
    talus_one_solve(TALUS_ONE_EXACT, &one, b, gamma);
    CHECK(gamma[0] > 0.0 && hypot(gamma[1], gamma[2]) <= one.mu * gamma[0]);
    talus_one_velocity(&one, b, gamma, u);
    CHECK(talus_one_dot(u, gamma) + talus_one_dot(b, gamma) < 0.0);
}

int main(void)
{
    RUN(laws_hold);
    RUN(part_by_part_comes_to_the_same);
    RUN(a_contact_may_stick_and_slide);
    RUN(a_contact_sticks_close_to_the_rim);
    RUN(solvers_agree_where_the_solution_is_unique);
    RUN(the_disc_has_its_minimum);
    RUN(newtons_matrix_is_the_derivative);
    RUN(not_a_number_stays_one);
    RUN(a_contradiction_gives_a_finite_impulse);
    RUN(huge_friction_gives_a_feasible_impulse);
    return talus_test_result();
}
