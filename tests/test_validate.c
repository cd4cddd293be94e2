/* Cases of talus validate: a planted error turns the right cases red; how a quantity is judged. */
#include "lab/validate/flow.h"

#include "support/test.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static const ValidateSetup sound = {.gravity = 1.0, .friction = 1.0};

/* Returns the number of red rows of a case, and prints them if `print`. */
static int count_red(const ValidateCase *c, const ValidateSetup *setup, bool print)
{
    ValidateRow rows[VALIDATE_ROWS];
    int red = 0, count = validate_judge(c, setup, rows);
    CHECK_INT(count, (c->without_contact || c->coulomb_alone || c->ccp_alone ? 1 : 2) *
                         VALIDATE_STEPS * c->quantities);
    for (int i = 0; i < count; i++) {
        const ValidateRow *r = &rows[i];
        red += validate_is_red(r->verdict);
        if (print && validate_is_red(r->verdict))
            printf("    %s, %s, h %g: %g, not %g within %g %s\n", c->name, r->quantity.name,
                   r->step, r->found, r->quantity.expected, r->bound, r->error);
    }
    return red;
}

/* ---- planted errors ---- */

/* Checks that of all quick cases those named in `red`, a list that ends with NULL, have red rows. */
static void check_red_cases(const ValidateSetup *setup, const char *const *red)
{
    for (int i = 0; i < validate_case_count(); i++) {
        const ValidateCase *c = validate_get_case(i);
        bool expected = false;
        for (int k = 0; red[k]; k++)
            expected = expected || strcmp(red[k], c->name) == 0;
        if (!c->slow && !CHECK_INT(count_red(c, setup, !expected) > 0, expected))
            printf("    case %s\n", c->name);
    }
}

TEST(all_quick_cases_hold)
{
    static const char *const none[] = {NULL};
    check_red_cases(&sound, none);
}

TEST(friction_that_is_5_percent_off_turns_cases_of_friction_red)
{
    static const char *const red[] = {"incline-block", "struck-block", "incline-sphere",
                                      "slide-to-roll", "rolling-stop", "ladder",
                                      "three-spheres", "painleve",     NULL};
    ValidateSetup setup = sound;
    setup.friction = 0.95;
    check_red_cases(&setup, red);
}

/* Thresholds do not depend on gravity, nor do bodies without it; the torque of the slider-crank is that of inertia. */
TEST(gravity_that_is_2_percent_off_turns_cases_of_weight_red)
{
    static const char *const red[] = {"incline-block",
                                      "struck-block",
                                      "incline-sphere",
                                      "incline-cylinder",
                                      "slide-to-roll",
                                      "rolling-stop",
                                      "bounce",
                                      "heavy-top",
                                      "pendulum",
                                      "chain",
                                      NULL};
    ValidateSetup setup = sound;
    setup.gravity = 1.02;
    check_red_cases(&setup, red);
}

/* The ball falls further, the ladder leans more, and the bar has not yet arrived. The sphere lands below where it began,
 * so its lift under ccp is not seen, and the box lands on its lower edge first. The others fall by 5 mm and lose by the
 * landing what the friction of the fall would have taken. */
TEST(a_floor_and_a_wall_moved_by_5_mm_turn_cases_of_place_red)
{
    static const char *const red[] = {"bounce",        "painleve", "ladder",
                                      "slide-to-roll", "topple",   NULL};
    ValidateSetup setup = sound;
    setup.shift = 0.005;
    check_red_cases(&setup, red);
}

/* ---- judging ---- */

static double error_at_step, error_at_half; /* of the quantity of the case below */
static const char *fails_why;

static void expect_given(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "given",
                              .unit = "",
                              .expected = 1.0,
                              .bound = 0.1,
                              .order = 1,
                              .relaxed_fails = fails_why};
}

static TalusStatus measure_given(const ValidateSetup *setup, double *found)
{
    found[0] = 1.0 + (setup->step < 0.01 ? error_at_half : error_at_step);
    return TALUS_OK;
}

static TalusStatus fail_to_measure(const ValidateSetup *setup, double *found)
{
    (void)setup, (void)found;
    return talus_fail(TALUS_ERR_NUMERIC, "planted");
}

/* Judges a case with these errors at its step and at half of it. */
static void judge(double at_step, double at_half, ValidateRow rows[VALIDATE_ROWS])
{
    ValidateCase c = {.name = "given",
                      .step = 0.01,
                      .quantities = 1,
                      .expect = expect_given,
                      .measure = measure_given};
    error_at_step = at_step;
    error_at_half = at_half;
    CHECK_INT(validate_judge(&c, &sound, rows), 4);
}

TEST(an_error_of_first_order_must_halve)
{
    ValidateRow rows[VALIDATE_ROWS];
    fails_why = NULL;
    judge(0.09, 0.045, rows);
    for (int i = 0; i < 4; i++)
        CHECK_INT(rows[i].verdict, VALIDATE_HOLDS);
    judge(0.09, 0.09, rows);
    CHECK_INT(rows[0].verdict, VALIDATE_HOLDS);
    CHECK_INT(rows[1].verdict, VALIDATE_FAILS);
    CHECK_NEAR(rows[1].bound, 0.05, 0.0);
    judge(-0.11, NAN, rows);
    CHECK_INT(rows[0].verdict, VALIDATE_FAILS);
    CHECK_INT(rows[1].verdict, VALIDATE_FAILS);
}

TEST(what_is_expected_to_fail_is_red_if_it_holds)
{
    ValidateRow rows[VALIDATE_ROWS];
    fails_why = "a reason";
    judge(0.0, 1.0, rows);
    const ValidateVerdict verdict[] = {VALIDATE_HOLDS, VALIDATE_FAILS, VALIDATE_UNEXPECTED,
                                       VALIDATE_FAILS_AS_EXPECTED};
    for (int i = 0; i < 4; i++)
        CHECK_INT(rows[i].verdict, verdict[i]);
    judge(NAN, 1.0, rows);
    CHECK_INT(rows[2].verdict, VALIDATE_FAILS);
    CHECK_INT(rows[3].verdict, VALIDATE_FAILS_AS_EXPECTED);
    CHECK(validate_is_red(VALIDATE_UNEXPECTED) && validate_is_red(VALIDATE_FAILS));
    CHECK(!validate_is_red(VALIDATE_HOLDS) && !validate_is_red(VALIDATE_FAILS_AS_EXPECTED));
}

/* Even where a failure of the quantity is expected. */
TEST(a_case_that_cannot_be_measured_is_red_and_says_why)
{
    ValidateRow rows[VALIDATE_ROWS];
    ValidateCase c = {.name = "broken",
                      .step = 0.01,
                      .quantities = 1,
                      .expect = expect_given,
                      .measure = fail_to_measure};
    fails_why = "a reason";
    CHECK_INT(validate_judge(&c, &sound, rows), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(rows[i].verdict, VALIDATE_FAILS);
        CHECK(strcmp(rows[i].error, "planted") == 0);
    }
}

/* ---- means over seeds ---- */

static double spread_of_seeds; /* between neighbouring seeds of the case below */

static TalusStatus measure_seed(const ValidateSetup *setup, double *found)
{
    CHECK(setup->seed >= 1 && setup->seed <= 3);
    found[0] = 1.05 + spread_of_seeds * (setup->seed - 2);
    return TALUS_OK;
}

static void expect_mean(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "mean", .unit = "", .expected = 1.0, .bound = 0.1};
}

/* Three seeds, 1.05 - s, 1.05, 1.05 + s: their standard error is s / sqrt(3). */
TEST(a_mean_within_its_bound_is_red_if_its_standard_error_is_more_than_half_of_it)
{
    ValidateRow rows[VALIDATE_ROWS];
    ValidateCase c = {.name = "seeds",
                      .step = 0.01,
                      .seeds = 3,
                      .coulomb_alone = true,
                      .quantities = 1,
                      .expect = expect_mean,
                      .measure = measure_seed};
    spread_of_seeds = 0.08;
    CHECK_INT(validate_judge(&c, &sound, rows), 2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(rows[i].verdict, VALIDATE_HOLDS);
        CHECK_INT(rows[i].law, TALUS_LAW_COULOMB);
        CHECK_NEAR(rows[i].found, 1.05, 1e-15);
        CHECK_NEAR(rows[i].scatter, 0.08 / sqrt(3.0), 1e-15);
    }
    spread_of_seeds = 0.09;
    CHECK_INT(validate_judge(&c, &sound, rows), 2);
    CHECK_INT(rows[0].verdict, VALIDATE_FAILS);
}

/* ---- the list ---- */

TEST(every_case_says_what_it_shows_and_by_what_right)
{
    for (int i = 0; i < validate_case_count(); i++) {
        const ValidateCase *c = validate_get_case(i);
        ValidateQuantity q[VALIDATE_QUANTITIES] = {{0}};
        CHECK(validate_find_case(c->name) == c);
        CHECK(c->shows[0] && c->source[0] && c->reason[0] && c->step > 0.0);
        CHECK(strlen(c->source) < LAB_TEXT && strlen(c->reason) < LAB_TEXT);
        CHECK(c->seeds >= 0 && c->seeds <= VALIDATE_SEEDS);
        CHECK(c->quantities > 0 && c->quantities <= VALIDATE_QUANTITIES);
        c->expect(c->step, q);
        for (int k = 0; k < c->quantities; k++)
            CHECK(q[k].name && q[k].unit && q[k].bound > 0.0 && isfinite(q[k].expected));
    }
    CHECK(!validate_find_case("inclined"));
}

/* docs/explanation/statics.md has 0.10720 for 32 wedges. */
TEST(theories_of_structures)
{
    ValidateQuantity q = {0};
    validate_find_case("arch")->expect(0.005, &q);
    CHECK_NEAR(q.expected, 0.10720, 5e-6);
    CHECK_NEAR(validate_elliptic_k(0.5), 1.8540746773013719, 1e-14);
}

/* ---- measuring grains ---- */

/* clang-format off */
static const char sheared_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "edge": "=4.44*d*wide"},
    "step": "=h", "gravity": [0, 0, 0],
    "solver": {"reference_speed": "=h*g", "tolerance": 0.003},
    "period": {"x": [0, "=edge"], "y": [0, "=edge"], "z": [0, "=edge"]},
    "cell": {"rate": {"xy": 3}, "pressure": {"y": "=2500*g*d"}},
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [{"radius": {"mean": "=d/2", "spread": 0.1}, "count": 64,
                "lattice": {"cells": [4, 4, 4], "spacing": "=1.11*d", "jitter": 1}}]
});

static const char resting_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]},
               {"radius": "=d/2", "count": 4, "lattice": {"lo": ["=d", "=d", 0], "cells": [1, 1, 4], "spacing": "=d"}}]
});
/* clang-format on */

TEST(contacts_of_a_flow_that_slide_mobilise_its_friction)
{
    ValidateSetup setup = sound;
    for (int i = 0; i < 2; i++) {
        Flow flow;
        double sliding = 0.0;
        setup.law = TALUS_LAW_COULOMB;
        setup.step = 2.0 * FLOW_STEP;
        setup.friction = i == 0 ? 1.0 : 0.95;
        REQUIRE_OK(flow_begin(&setup, sheared_scene, 0.5, NULL, &flow));
        CHECK_OK(flow_advance(&flow, 40.0));
        CHECK_OK(flow_find_sliding(&flow, &sliding));
        CHECK_NEAR(sliding, 0.5 * setup.friction, 1e-6);
        flow_end(&flow);
    }
}

/* A column of four spheres of one size; planted gravity shows, because the weight is that of the sound one. */
/* Grains that flow see 5 % of friction by the law of their contacts; packings at rest, dominoes and the arch do not. */
TEST(cases_of_flows_have_the_friction_of_contacts_that_slide)
{
    static const char *const flows[] = {"beverloo", "cone",        "janssen", "incline", "drum",
                                        "column",   "plane-shear", "repose",  "crater"};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        const ValidateCase *c = validate_find_case(flows[i]);
        ValidateQuantity quantity[VALIDATE_QUANTITIES] = {{0}};
        bool found = false;
        REQUIRE(c != NULL);
        c->expect(c->step, quantity);
        for (int k = 0; k < c->quantities; k++)
            if (strcmp(quantity[k].name, "friction of contacts that slide") == 0)
                found = quantity[k].bound < 0.05 * quantity[k].expected;
        if (!CHECK(found))
            printf("    case %s\n", c->name);
    }
}

TEST(the_force_of_resting_grains_on_the_boundary_is_their_weight)
{
    const double mass = 4.0 * flow_density * 3.14159265358979323846 / 6.0 * pow(flow_d, 3);
    ValidateSetup setup = sound;
    setup.law = TALUS_LAW_COULOMB;
    setup.step = FLOW_STEP;
    for (int i = 0; i < 2; i++) {
        Flow flow;
        FlowState state = {0};
        setup.gravity = i == 0 ? 1.0 : 1.02;
        REQUIRE_OK(flow_begin(&setup, resting_scene, 0.5, NULL, &flow));
        CHECK_OK(flow_advance(&flow, 20.0));
        CHECK_OK(flow_take(&flow, &state));
        CHECK_NEAR(flow_find_boundary_force(&state.assembly).z / (mass * flow_g), -setup.gravity,
                   0.005);
        flow_clear(&state);
        flow_end(&flow);
    }
}

/* A case that has its scene and makes its first step ends by the signal; another one fails before. The signal stays: this test
 * is the last. The scene of the arch is a file that only the program finds. */
TEST(every_case_has_a_world_of_its_own_and_stops_by_a_signal)
{
    cli_catch_signals();
    raise(SIGINT);
    for (int i = 0; i < validate_case_count(); i++) {
        const ValidateCase *c = validate_get_case(i);
        double found[VALIDATE_QUANTITIES];
        ValidateSetup setup = sound;
        setup.law = c->ccp_alone ? TALUS_LAW_CCP : TALUS_LAW_COULOMB;
        setup.step = c->step;
        setup.seed = 1;
        if (strcmp(c->name, "arch") != 0 &&
            !CHECK_INT(c->measure(&setup, found), TALUS_ERR_CANCELLED))
            printf("    case %s: %s\n", c->name, talus_error());
    }
}

int main(void)
{
    RUN(all_quick_cases_hold);
    RUN(friction_that_is_5_percent_off_turns_cases_of_friction_red);
    RUN(gravity_that_is_2_percent_off_turns_cases_of_weight_red);
    RUN(a_floor_and_a_wall_moved_by_5_mm_turn_cases_of_place_red);
    RUN(an_error_of_first_order_must_halve);
    RUN(what_is_expected_to_fail_is_red_if_it_holds);
    RUN(a_case_that_cannot_be_measured_is_red_and_says_why);
    RUN(a_mean_within_its_bound_is_red_if_its_standard_error_is_more_than_half_of_it);
    RUN(every_case_says_what_it_shows_and_by_what_right);
    RUN(theories_of_structures);
    RUN(contacts_of_a_flow_that_slide_mobilise_its_friction);
    RUN(cases_of_flows_have_the_friction_of_contacts_that_slide);
    RUN(the_force_of_resting_grains_on_the_boundary_is_their_weight);
    RUN(every_case_has_a_world_of_its_own_and_stops_by_a_signal);
    return talus_test_result();
}
