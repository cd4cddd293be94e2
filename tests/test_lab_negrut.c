/* How the experiment of negrut-2009 judges the paper's statements, from runs that are made up. */
#include "claim_cells.h"
#include "lab/experiments/negrut.h"
#include "support/test.h"

#include <math.h>

static const char penetration[] = "low penetration with a fixed, small number of iterations, 140";
static const char flow[] = "three minutes of flow can be simulated";
static const char slower[] = "Gauss-Jacobi converges more slowly than Gauss-Seidel";
static const char shuffled[] = "updates in random order work on large models";
static const char unsynchronised[] =
    "updates of threads that do not wait for each other work on large models";
static const char on_gpu[] = "so do updates of a GPU without order (omega 0.3)";
static const char suitable[] = "the iteration converges for suitable omega";
static const char bottleneck[] =
    "the cone problem is no longer the bottleneck, collision detection is";

static Negrut negrut;
static NegrutOmegaRuns omega;

/* Makes runs for which all statements hold. */
static void begin(void)
{
    static const NegrutRun good = {.steps = 10000,
                                   .bodies = 2500,
                                   .threads = 2,
                                   .seconds = 100.0,
                                   .solve_share = 0.4,
                                   .emptied = 100.0,
                                   .mean = 1e-4,
                                   .mean_most = 5e-3,
                                   .worst = 0.1,
                                   .residual = 0.02,
                                   .late = 0.1};
    for (int m = 0; m < NEGRUT_METHODS; m++)
        negrut.run[m] = good;
    negrut.run[NEGRUT_JACOBI].residual = 0.2;
    for (int order = 0; order < 2; order++)
        for (int k = 0; k < NEGRUT_OMEGAS; k++)
            omega.run[order][k] = good;
}

/* Judges the runs and checks one verdict; "": the statement is not among those judged. */
static void check(const char *statement, const char *verdict)
{
    static LabSet set;
    static Worlds worlds;
    set = (LabSet){0};
    worlds = (Worlds){.backend = {"cpu"}, .backends = 1, .quiet = true, .set = &set};
    negrut.w = &worlds;
    negrut_judge(&negrut, &omega);
    check_verdict(&set, statement, verdict);
    lab_set_clear(&set);
}

/* Checks the verdict for good runs in which one figure is another. */
static void check_with(double *figure, double value, const char *statement, const char *verdict)
{
    begin();
    *figure = value;
    check(statement, verdict);
}

TEST(statements_hold_for_good_runs)
{
    static const char *const statements[] = {penetration,    flow,   slower,   shuffled,
                                             unsynchronised, on_gpu, suitable, bottleneck};
    begin();
    for (int i = 0; i < LAB_COUNT(statements); i++)
        check(statements[i], "holds");
}

TEST(penetration_is_judged_in_both_fixed_orders)
{
    static const int orders[] = {NEGRUT_FORWARD, NEGRUT_COLOURED};
    for (int i = 0; i < LAB_COUNT(orders); i++) {
        NegrutRun *run = &negrut.run[orders[i]];
        check_with(&run->mean_most, 0.0099, penetration, "holds");
        check_with(&run->mean_most, 0.0101, penetration, "holds in part");
        run->mean = 0.0101;
        check(penetration, "does not hold");
    }
    check_with(&negrut.run[NEGRUT_SHUFFLED].mean_most, 1.0, penetration, "holds");
}

/* A flow that was cut short may still end in time; one that has had its three minutes may not. */
TEST(flow_is_judged_when_the_bulb_is_empty_or_the_time_over)
{
    NegrutRun *run = &negrut.run[NEGRUT_COLOURED];
    check_with(&run->worst, 0.49, flow, "holds");
    check_with(&run->worst, 0.51, flow, "does not hold");
    check_with(&run->emptied, NAN, flow, "not judged");
    run->steps = NEGRUT_STEPS;
    check(flow, "does not hold");
}

TEST(jacobi_is_compared_with_colours)
{
    double *jacobi = &negrut.run[NEGRUT_JACOBI].residual;
    check_with(jacobi, 0.021, slower, "holds");
    check_with(jacobi, 0.02, slower, "does not hold");
    check_with(&negrut.run[NEGRUT_COLOURED].residual, 0.3, slower, "does not hold");
    check_with(&negrut.run[NEGRUT_FORWARD].residual, 0.3, slower, "holds");
}

/* An order works if it is at most twice as bad as a fixed one of the same size: that of the list on the host, colours on
 * a GPU. */
TEST(orders_are_compared_with_a_fixed_one)
{
    static const struct {
        int method, fixed;
        const char *statement;
    } rows[] = {{NEGRUT_SHUFFLED, NEGRUT_FORWARD, shuffled},
                {NEGRUT_UNSYNCHRONISED, NEGRUT_FORWARD, unsynchronised},
                {NEGRUT_GPU_UNSYNCHRONISED, NEGRUT_COLOURED, on_gpu}};
    for (int i = 0; i < LAB_COUNT(rows); i++) {
        NegrutRun *run = &negrut.run[rows[i].method], *fixed = &negrut.run[rows[i].fixed];
        check_with(&run->residual, 0.039, rows[i].statement, "holds");
        check_with(&run->residual, 0.041, rows[i].statement, "does not hold");
        check_with(&run->mean, 1.9e-4, rows[i].statement, "holds");
        check_with(&run->mean, 2.1e-4, rows[i].statement, "does not hold");
        check_with(&fixed->residual, 0.009, rows[i].statement, "does not hold");
    }
}

/* On one thread updates come in the order of the list, and without a GPU there are none of its own. */
TEST(updates_without_order_need_threads_or_a_gpu)
{
    begin();
    negrut.run[NEGRUT_UNSYNCHRONISED].threads = 1;
    check(unsynchronised, "not judged");
    negrut.run[NEGRUT_GPU_UNSYNCHRONISED].steps = 0;
    check(on_gpu, "");
}

/* Values up to 1 in the order of the list count: the paper leaves the others open. */
TEST(omega_is_judged_by_small_values_in_the_order_of_the_list)
{
    begin();
    for (int k = 0; k < NEGRUT_OMEGAS; k++) {
        omega.run[1][k].late = 2.0;
        if (negrut_omegas[k] > 1.0)
            omega.run[0][k].late = 2.0;
    }
    check(suitable, "holds");
    omega.run[0][0].late = 1.0; /* no longer below g h */
    check(suitable, "holds in part");
    for (int k = 0; k < NEGRUT_OMEGAS; k++)
        omega.run[0][k].late = negrut_omegas[k] > 1.0 ? 0.1 : 2.0;
    check(suitable, "does not hold");
}

TEST(the_bottleneck_is_judged_by_both_methods)
{
    check_with(&negrut.run[NEGRUT_APGD].solve_share, 0.51, bottleneck, "does not hold");
    check_with(&negrut.run[NEGRUT_COLOURED].solve_share, 0.51, bottleneck, "does not hold");
    check_with(&negrut.run[NEGRUT_FORWARD].solve_share, 0.9, bottleneck, "holds");
}

int main(void)
{
    RUN(statements_hold_for_good_runs);
    RUN(penetration_is_judged_in_both_fixed_orders);
    RUN(flow_is_judged_when_the_bulb_is_empty_or_the_time_over);
    RUN(jacobi_is_compared_with_colours);
    RUN(orders_are_compared_with_a_fixed_one);
    RUN(updates_without_order_need_threads_or_a_gpu);
    RUN(omega_is_judged_by_small_values_in_the_order_of_the_list);
    RUN(the_bottleneck_is_judged_by_both_methods);
    return talus_test_result();
}
