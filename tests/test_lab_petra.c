/* The simulation experiment of petra-2009: what its tables show beside the paper's figures and how it judges the
 * paper's statements, from runs that are made up. */
#include "claim_cells.h"
#include "lab/experiments/petra.h"
#include "support/test.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- runs ---- */

enum { LENGTH = 60 }; /* steps of a run */

static const PetraMethod chol = {.label = PETRA_CHOL, .form = "both", .tolerance = 1e-8},
                         ma27 = {.label = PETRA_MA27, .form = "both", .tolerance = 1e-8},
                         blmvm = {.label = PETRA_BLMVM, .form = "dual"},
                         tron = {.label = PETRA_TRON, .form = "dual"},
                         mosek = {.label = PETRA_MOSEK, .form = "both"};

static Petra petra;
static Worlds worlds;
static LabSet set;

static void begin(bool quick)
{
    set = (LabSet){0};
    worlds = (Worlds){.quiet = true, .quick = quick, .set = &set};
    petra = (Petra){.w = &worlds, .wide_pebbles = 3200};
}

static void end(void)
{
    for (int i = 0; i < petra.runs; i++)
        talus_release(petra.run[i].step);
    lab_set_clear(&set);
}

/* Adds a run of LENGTH steps, in which the unknowns grow to nine for a pebble. A step takes `seconds` for each of a
 * million unknowns; memory is `memory` bytes for 800 pebbles and grows like the power 1.5. */
static PetraRun *add_run(const PetraMethod *m, int pebbles, double seconds, double memory)
{
    PetraRun *run = &petra.run[petra.runs++];
    *run = (PetraRun){.method = m,
                      .pebbles = pebbles,
                      .limit = 1800.0,
                      .threshold = 0.2,
                      .count = LENGTH,
                      .rested = true,
                      .infeasibility = 1e-14};
    CHECK_OK(TALUS_ALLOC(run->step, LENGTH, "steps"));
    for (int k = 0; k < LENGTH; k++) {
        int contacts = 3 * pebbles * (k + 1) / LENGTH;
        run->step[k] = (PetraStep){.time = 0.05 * (k + 1),
                                   .kinetic = 100.0 * exp(-0.1 * k),
                                   .seconds = seconds * 3e-6 * contacts,
                                   .memory = memory * pow(pebbles / 800.0, 1.5) * (k + 1) / LENGTH,
                                   .contacts = contacts};
    }
    return run;
}

/* Adds the paper's runs, with its ranking. */
static void add_paper_runs(void)
{
    for (int pebbles = 800; pebbles <= 3200; pebbles *= 2) {
        add_run(&chol, pebbles, 1.0, 2e6);
        add_run(&blmvm, pebbles, 2.0, 1e6)->infeasibility = 1e-4;
        add_run(&ma27, pebbles, pebbles == 800 ? 21.0 : 8.0, 2.5e6);
        if (pebbles < 3200) {
            add_run(&tron, pebbles, 50.0, 4e6)->infeasibility = 1e-2;
            add_run(&mosek, pebbles, 200.0, 2e6);
        }
    }
}

/* ---- tests ---- */

TEST(the_papers_figures_stand_beside_ours)
{
    begin(false);
    add_paper_runs();
    petra_report(&petra);
    CHECK_STR(cell_of(&set, "Table 1", PETRA_MOSEK, "paper: steps"), "407");
    CHECK_STR(cell_of(&set, "Table 1", PETRA_MOSEK, "paper: total, s"), "1120797.148");
    CHECK_STR(cell_of(&set, "Table 1", PETRA_MOSEK, "paper: average, s"), "2753.801");
    CHECK_STR(cell_of(&set, "Table 1", PETRA_MOSEK, "primal/dual"), "both");
    CHECK_STR(cell_of(&set, "Table 1", PETRA_CHOL, "paper: infeasibility"), "0");
    CHECK_STR(cell_of(&set, "Table 1", PETRA_CHOL, "paper: kinetic energy"), "-");
    CHECK_STR(cell_of(&set, "Table 2", PETRA_MOSEK, "paper: steps"), "crash");
    CHECK_STR(cell_of(&set, "Table 2", PETRA_TRON, "paper: average, s"), "crash");
    CHECK_STR(cell_of(&set, "Table 3", PETRA_MA27, "paper: total, s"), "stopped");
    CHECK_STR(cell_of(&set, "Table 3", PETRA_CHOL, "paper: kinetic energy"), "2.4757");
    /* the paper's averages grow from 25.206 s to 593.023 s */
    CHECK_STR(cell_of(&set, "Growth", PETRA_CHOL, "paper: average time"), "2.28");
    CHECK_STR(cell_of(&set, "Growth", PETRA_MOSEK, "paper: average time"), "-");
    for (int i = 0; i < set.figure_count; i++)
        if (strcmp(set.figures[i]->title, "Tables 1 to 3: average time of a step") == 0)
            CHECK_INT(set.figures[i]->curves, 10); /* of five methods, ours and the paper's */
    end();
}

TEST(quick_versions_have_no_figures_of_the_paper)
{
    begin(true);
    add_paper_runs();
    petra_report(&petra);
    for (int i = 0; i < set.table_count; i++)
        for (int c = 0; c < set.tables[i]->columns; c++)
            CHECK(strncmp(set.tables[i]->cell[c], "paper", 5) != 0);
    end();
}

TEST(statements_hold_for_runs_like_the_papers)
{
    begin(false);
    add_paper_runs();
    petra_report(&petra);
    check_verdict(&set, "energies by all solvers differ by less than 1.5 % until rest", "holds");
    check_verdict(&set, "interior points achieve far higher precision than BLMVM and TRON",
                  "holds");
    check_verdict(&set, "a step by MOSEK takes 109 times as long as by Cholesky", "holds");
    check_verdict(&set,
                  "Cholesky is consistently 7 times faster than MA27's system, and sometimes more "
                  "than 20 times",
                  "holds");
    check_verdict(&set, "ranking by time: Cholesky, BLMVM, MA27, TRON, MOSEK", "holds");
    check_verdict(&set, "the ranking holds for the same size of the dual as well, spread included",
                  "holds");
    check_verdict(&set, "time and memory of Cholesky are predictable from the size of the problem",
                  "holds");
    check_verdict(&set, "both interior points need 2 to 3 times the memory of BLMVM", "holds");
    check_verdict(&set, "four times the pebbles need eight times the memory (4 GB, 32 GB)",
                  "holds");
    check_verdict(&set, "time by Cholesky grows close to linearly with the size of the problem",
                  "holds");
    CHECK_STR(cell_of(&set, "Growth", PETRA_CHOL, "most memory"), "1.50");
    CHECK_STR(cell_of(&set, "Growth", PETRA_CHOL, "average time"), "1.00");
    end();
}

static PetraRun *find_run(const PetraMethod *m, int pebbles)
{
    for (int i = 0; i < petra.runs; i++)
        if (petra.run[i].method == m && petra.run[i].pebbles == pebbles)
            return &petra.run[i];
    return NULL;
}

/* Checks the statement after a change of the paper's runs by `change`. */
static void check_changed(void (*change)(void), const char *statement, const char *verdict)
{
    begin(false);
    add_paper_runs();
    change();
    petra_report(&petra);
    check_verdict(&set, statement, verdict);
    end();
}

/* What is said of a factor of the paper if a step of the method takes `factor` times as long as Cholesky's. */
static void check_factor(const PetraMethod *m, double factor, const char *statement,
                         const char *verdict)
{
    begin(false);
    add_run(&chol, 800, 1.0, 1e6);
    add_run(m, 800, factor, 1e6);
    petra_report(&petra);
    check_verdict(&set, statement, verdict);
    end();
}

TEST(factors_are_judged_from_both_sides)
{
    static const struct {
        const PetraMethod *method;
        double low, high;
        const char *statement;
    } rows[] = {{&ma27, 3.2, 12.8,
                 "a step by MA27's augmented system takes 6.4 times as long as by Cholesky"},
                {&blmvm, 1.1, 2.4, "a step by BLMVM takes 1.2 times as long as by Cholesky"},
                {&tron, 11.5, 46.0, "a step by TRON takes 23 times as long as by Cholesky"},
                {&mosek, 54.5, 218.0, "a step by MOSEK takes 109 times as long as by Cholesky"}};
    for (int i = 0; i < LAB_COUNT(rows); i++) {
        check_factor(rows[i].method, 0.99 * rows[i].low, rows[i].statement, "holds in part");
        check_factor(rows[i].method, 1.01 * rows[i].low, rows[i].statement, "holds");
        check_factor(rows[i].method, 0.99 * rows[i].high, rows[i].statement, "holds");
        check_factor(rows[i].method, 1.01 * rows[i].high, rows[i].statement, "holds in part");
        check_factor(rows[i].method, 0.9, rows[i].statement, "does not hold");
    }
}

static const char precision[] = "interior points achieve far higher precision than BLMVM and TRON";
static const char memory[] = "both interior points need 2 to 3 times the memory of BLMVM";
static const char factor[] = "Cholesky is consistently 7 times faster than MA27's system, and "
                             "sometimes more than 20 times";
static const char energies[] = "energies by all solvers differ by less than 1.5 % until rest";

static void lose_infeasibility(void)
{
    find_run(&chol, 1600)->infeasibility = NAN;
}

static void fail_blmvm(void)
{
    find_run(&blmvm, 3200)->failed = true;
}

static void spoil_ma27(void)
{
    find_run(&ma27, 1600)->infeasibility = 1.0;
}

/* Leaves no step that MA27's run with 1,600 pebbles and others have in common. */
static void empty_ma27(void)
{
    find_run(&ma27, 1600)->count = 0;
}

static void slow_ma27(void)
{
    for (int k = 0; k < LENGTH; k++)
        find_run(&ma27, 800)->step[k].seconds *= 2.0;
}

static void save_memory(void)
{
    for (int k = 0; k < LENGTH; k++)
        find_run(&chol, 800)->step[k].memory *= 0.6;
}

TEST(statements_on_each_size_need_all_sizes)
{
    check_changed(lose_infeasibility, precision, "not judged");
    check_changed(fail_blmvm, precision, "not judged");
    check_changed(spoil_ma27, precision, "holds in part");
    check_changed(empty_ma27, memory, "not judged");
    check_changed(empty_ma27, factor, "not judged");
    check_changed(slow_ma27, factor, "holds in part"); /* more than twice the paper's 20 times */
    check_changed(save_memory, memory, "holds in part");
}

static void cut_all_but_first(void)
{
    for (int i = 0; i < petra.runs; i++)
        petra.run[i].rested = petra.run[i].method == &chol;
}

static void cut_tron(void)
{
    find_run(&tron, 800)->rested = false;
}

static void disturb_tron(void)
{
    cut_tron();
    find_run(&tron, 800)->step[LENGTH - 1].kinetic *= 1.1;
}

/* Ends all runs while the pebbles still move fast. */
static void cut_early(void)
{
    for (int i = 0; i < petra.runs; i++) {
        petra.run[i].rested = false;
        petra.run[i].count = 10;
    }
}

static void cut_early_and_disturb(void)
{
    cut_early();
    find_run(&tron, 800)->step[9].kinetic *= 1.1;
}

TEST(energies_until_rest_need_two_runs_at_rest)
{
    check_changed(cut_early, energies, "not judged");
    check_changed(cut_early_and_disturb, energies, "does not hold");
    check_changed(cut_all_but_first, energies, "holds in part");
    check_changed(cut_tron, energies, "holds");
    check_changed(disturb_tron, energies, "holds in part");
}

/* MOSEK in front of Cholesky, BLMVM behind MA27. */
TEST(another_ranking_does_not_hold)
{
    begin(false);
    add_run(&chol, 800, 1.0, 1e6);
    add_run(&blmvm, 800, 9.0, 1e6);
    add_run(&ma27, 800, 8.0, 1e6);
    add_run(&tron, 800, 20.0, 1e6);
    PetraRun *last = add_run(&mosek, 800, 30.0, 1e6);
    petra_report(&petra);
    check_verdict(&set, "ranking by time: Cholesky, BLMVM, MA27, TRON, MOSEK", "holds in part");
    lab_set_clear(&set);
    for (int k = 0; k < LENGTH; k++)
        last->step[k].seconds *= 0.01;
    petra_report(&petra);
    check_verdict(&set, "ranking by time: Cholesky, BLMVM, MA27, TRON, MOSEK", "does not hold");
    end();
}

/* A run that its time ended early would make growth look slower. */
TEST(growth_leaves_out_runs_that_ended_early)
{
    begin(false);
    add_paper_runs();
    for (int i = 0; i < petra.runs; i++)
        if (petra.run[i].method == &ma27 && petra.run[i].pebbles == 3200)
            petra.run[i].count = LENGTH / 3;
    petra_report(&petra);
    CHECK_STR(cell_of(&set, "Growth", PETRA_MA27, "sizes"), "2");
    CHECK_STR(cell_of(&set, "Growth", PETRA_CHOL, "sizes"), "3");
    end();
}

/* What is said of TRON if its run of 1,600 pebbles made `steps` steps and failed or not, and the wide step, if there is
 * one, failed or not. */
static void check_tron(int steps, bool failed, bool wide, bool wide_failed, const char *verdict)
{
    begin(false);
    add_run(&chol, 1600, 1.0, 1e6);
    PetraRun *run = add_run(&tron, 1600, 1.0, 1e6);
    run->count = steps;
    run->rested = false;
    run->failed = failed;
    petra.wide_contacts = 20 * 3200;
    if (wide)
        petra.wide[petra.wide_count++] =
            (PetraSolve){.method = &tron, .failed = wide_failed, .outcome = TALUS_OUTCOME_BUDGET};
    petra_report(&petra);
    check_verdict(&set, "TRON crashes with 1,600 pebbles, when the dual grows", verdict);
    end();
}

TEST(tron_is_judged_by_its_run_or_the_wide_step)
{
    check_tron(10, true, true, false, "holds");
    check_tron(10, false, true, true, "holds in part");
    check_tron(10, false, true, false, "does not hold");
    check_tron(LENGTH, false, false, false, "does not hold");
    check_tron(10, false, false, false, "not judged"); /* the dual had not grown */
}

static void check_mosek(int steps, bool failed, const char *verdict)
{
    begin(false);
    add_run(&chol, 1600, 1.0, 1e6);
    PetraRun *run = add_run(&mosek, 1600, 1.0, 1e6);
    run->count = steps;
    run->failed = failed;
    petra_report(&petra);
    check_verdict(&set, "MOSEK crashes with 1,600 pebbles, in the first step", verdict);
    end();
}

TEST(mosek_is_judged_by_its_first_step)
{
    check_mosek(0, true, "holds");
    check_mosek(3, true, "holds in part");
    check_mosek(3, false, "does not hold");
}

/* What is said of chaos if energies of the nudged run differ by 1e-9 exp(rate t). */
static void check_chaos(double rate, const char *verdict)
{
    begin(false);
    add_run(&chol, 800, 1.0, 1e6);
    PetraRun *nudged = add_run(&chol, 800, 1.0, 1e6);
    nudged->nudged = true;
    for (int k = 0; k < LENGTH; k++)
        nudged->step[k].kinetic *= 1.0 + 1e-9 * exp(rate * nudged->step[k].time);
    petra_report(&petra);
    check_verdict(&set,
                  "chaos: the tiniest difference in position is amplified exponentially in time",
                  verdict);
    end();
}

TEST(chaos_grows_exponentially)
{
    check_chaos(4.0, "holds");
    check_chaos(1.0, "holds in part"); /* exponentially, but hardly */
    check_chaos(-1.0, "does not hold");
}

/* Without the other methods nothing is said of them. */
TEST(one_run_judges_no_comparison)
{
    int counts[CLAIM_VERDICTS];
    begin(false);
    add_run(&chol, 800, 1.0, 1e6);
    petra_report(&petra);
    claims_count(&set, counts);
    CHECK_INT(counts[CLAIM_HOLDS], 1); /* that Cholesky is predictable */
    CHECK_INT(counts[CLAIM_IN_PART] + counts[CLAIM_FAILS], 0);
    CHECK(counts[CLAIM_UNJUDGED] > 15);
    end();
}

int main(void)
{
    RUN(the_papers_figures_stand_beside_ours);
    RUN(quick_versions_have_no_figures_of_the_paper);
    RUN(statements_hold_for_runs_like_the_papers);
    RUN(factors_are_judged_from_both_sides);
    RUN(statements_on_each_size_need_all_sizes);
    RUN(energies_until_rest_need_two_runs_at_rest);
    RUN(another_ranking_does_not_hold);
    RUN(growth_leaves_out_runs_that_ended_early);
    RUN(tron_is_judged_by_its_run_or_the_wide_step);
    RUN(mosek_is_judged_by_its_first_step);
    RUN(chaos_grows_exponentially);
    RUN(one_run_judges_no_comparison);
    return talus_test_result();
}
