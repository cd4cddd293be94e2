/* lab/validate/judge.c - measures a case under its laws at h and h/2, and judges every quantity. */
#include "validate.h"

#include <math.h>
#include <string.h>

const char *validate_verdict_name(ValidateVerdict verdict)
{
    static const char *const names[VALIDATE_VERDICTS] = {
        "holds", "does not hold", "fails as expected", "holds, expected to fail"};
    return names[verdict];
}

const char *validate_expected_failure(const ValidateQuantity *quantity, TalusFrictionLaw law)
{
    return law == TALUS_LAW_CCP && quantity->relaxed_fails ? quantity->relaxed_fails
                                                           : quantity->fails;
}

bool validate_is_red(ValidateVerdict verdict)
{
    return verdict == VALIDATE_FAILS || verdict == VALIDATE_UNEXPECTED;
}

/* Returns the bound of the error at h / 2^halvings. */
static double get_bound(const ValidateQuantity *q, TalusFrictionLaw law, int halvings)
{
    if (law == TALUS_LAW_CCP && q->relaxed_bound > 0.0)
        return ldexp(q->relaxed_bound, -halvings);
    return ldexp(q->bound, -q->order * halvings);
}

/* A value that is not a number fails, whatever is expected, and so does a mean whose standard error is more than half of the bound: it could be
 * within by chance. */
static ValidateVerdict judge_row(const ValidateRow *row)
{
    const bool holds =
        fabs(row->found - row->quantity.expected) <= row->bound && row->scatter <= 0.5 * row->bound;
    if (validate_expected_failure(&row->quantity, row->law) && !isnan(row->found))
        return holds ? VALIDATE_UNEXPECTED : VALIDATE_FAILS_AS_EXPECTED;
    return holds ? VALIDATE_HOLDS : VALIDATE_FAILS;
}

/* What a case measured with each of its seeds. */
typedef struct Runs {
    double found[VALIDATE_SEEDS][VALIDATE_QUANTITIES];
    int count;
} Runs;

/* Measures a case with each of its seeds. */
static TalusStatus measure_runs(const ValidateCase *c, const ValidateSetup *setup, Runs *runs)
{
    const int seeds = c->seeds > 0 ? c->seeds : 1;
    for (runs->count = 0; runs->count < seeds; runs->count++) {
        ValidateSetup one = *setup;
        one.seed = runs->count + 1;
        TALUS_TRY(c->measure(&one, runs->found[runs->count]));
    }
    return TALUS_OK;
}

/* Returns the mean of a quantity over the runs and sets its standard error, 0 for one run. */
static double find_mean(const Runs *runs, int quantity, double *error)
{
    double sum = 0.0, squares = 0.0;
    const int n = runs->count;
    for (int i = 0; i < n; i++)
        sum += runs->found[i][quantity];
    const double mean = sum / n;
    for (int i = 0; i < n; i++)
        squares += (runs->found[i][quantity] - mean) * (runs->found[i][quantity] - mean);
    *error = n > 1 ? sqrt(squares / (n - 1) / n) : 0.0;
    return mean;
}

/* Measures a case under one law at h / 2^halvings and writes its rows. */
static void judge_run(const ValidateCase *c, const ValidateSetup *setup, int halvings,
                      ValidateRow *rows)
{
    ValidateQuantity quantity[VALIDATE_QUANTITIES] = {{0}};
    Runs runs = {.count = 0};
    c->expect(c->step, quantity);
    const TalusStatus status = measure_runs(c, setup, &runs);
    for (int i = 0; i < c->quantities; i++) {
        double error = 0.0, mean = status == TALUS_OK ? find_mean(&runs, i, &error) : NAN;
        rows[i] = (ValidateRow){.of = c,
                                .law = setup->law,
                                .step = setup->step,
                                .found = mean,
                                .scatter = error,
                                .bound = get_bound(&quantity[i], setup->law, halvings),
                                .quantity = quantity[i]};
        if (status != TALUS_OK)
            snprintf(rows[i].error, sizeof rows[i].error, "%s", talus_error());
        rows[i].verdict = judge_row(&rows[i]);
    }
}

int validate_judge(const ValidateCase *c, const ValidateSetup *planted, ValidateRow *rows)
{
    static const TalusFrictionLaw laws[] = {TALUS_LAW_COULOMB, TALUS_LAW_CCP};
    int count = 0;
    const bool exact_alone = c->without_contact || c->coulomb_alone;
    for (int i = c->ccp_alone; i < (exact_alone ? 1 : LAB_COUNT(laws)); i++)
        for (int k = 0; k < VALIDATE_STEPS && !cli_stop_signal(); k++) {
            ValidateSetup setup = *planted;
            setup.law = laws[i];
            setup.step = ldexp(c->step, -k);
            judge_run(c, &setup, k, &rows[count]);
            count += c->quantities;
        }
    return count;
}
