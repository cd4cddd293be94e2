/* cli/commands/advise_judge.c - judges the trials of `talus advise`: compares them with a reference and recommends.
 *
 * The reference is, among the trials that reach their tolerance (if none does, among all with steps), the one with the
 * most accurate setting: exact law, then the tightest tolerance, the shortest step, the stiffest contacts. Law and
 * stiffness, tolerance, and step are each chosen by trials that differ from the default in this respect alone. */
#include "advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Differences from the reference up to which bulk figures agree. Where it is larger, the limit of the speed is
 * part_limit times the reference's speed, that of the coordination 2 part_limit times the reference's coordination. */
static const double height_limit = 0.02, coordination_limit = 0.2, speed_limit = 0.02,
                    part_limit = 0.05;
/* Ratios of costs: up to little_dearer the more accurate of two settings is taken, below clearly_cheaper (of the
 * relaxed law: below its square) the cheaper. */
static const double little_dearer = 1.25, clearly_cheaper = 0.8;
static const double missed_part = 0.01; /* part of the steps that may miss the tolerance */
/* Lift, over the diameter, below which contacts count as not opened. */
static const double no_lift = 1e-4;

/* True if the trial has steps, none of them failed and at most missed_part of them missed the tolerance. */
static bool reaches_tolerance(const AdviseTrial *t)
{
    return t->steps > 0 && !t->failure[0] && t->missed <= missed_part * t->steps;
}

/* Returns wall-clock seconds per simulated second. */
static double get_cost(const AdviseTrial *t)
{
    return t->wall / t->covered;
}

/* ---- the reference ---- */

/* True if trial a comes before trial b by the rule at the top of this file. */
static bool is_more_accurate(const AdviseTrial *a, const AdviseTrial *b)
{
    const TalusWorldChanges *x = &a->setting.changes, *y = &b->setting.changes;
    if (reaches_tolerance(a) != reaches_tolerance(b))
        return reaches_tolerance(a);
    if ((x->law == TALUS_LAW_COULOMB) != (y->law == TALUS_LAW_COULOMB))
        return x->law == TALUS_LAW_COULOMB;
    if (x->tolerance != y->tolerance)
        return x->tolerance < y->tolerance;
    return x->step != y->step ? x->step < y->step : x->compliance < y->compliance;
}

/* Returns the index of the most accurate trial; -1: none has steps. */
static int find_reference(const Advise *a)
{
    int best = -1;
    for (int i = 0; i < a->trials; i++)
        if (a->trial[i].steps > 0 && (best < 0 || is_more_accurate(&a->trial[i], &a->trial[best])))
            best = i;
    return best;
}

/* Returns the mean bulk figures over times from end/2 to `end`, s since the start of the trial; NAN if no step ends
 * there. */
static AdviseStep mean_until(const AdviseTrial *t, double end)
{
    AdviseStep sum = {0};
    int count = 0;
    for (int i = 0; i < t->steps; i++) {
        const AdviseStep *s = &t->step[i];
        if (s->time <= 0.5 * end || s->time > end * (1.0 + 1e-9))
            continue;
        sum.height += s->height;
        sum.coordination += s->coordination;
        sum.speed += s->speed;
        count++;
    }
    double share = count > 0 ? 1.0 / count : NAN;
    AdviseStep mean = {end, share * sum.height, share * sum.coordination, share * sum.speed};
    return mean;
}

/* Sets the differences from the reference and whether the trial agrees. */
static void compare_with_reference(AdviseTrial *t, const AdviseTrial *reference)
{
    double end = fmin(t->covered, reference->covered);
    AdviseStep mine = mean_until(t, end), theirs = mean_until(reference, end);
    t->height_difference = mine.height - theirs.height;
    t->coordination_difference = mine.coordination - theirs.coordination;
    t->speed_difference = mine.speed - theirs.speed;
    t->agrees = fabs(t->height_difference) < height_limit &&
                fabs(t->coordination_difference) <
                    fmax(coordination_limit, 2.0 * part_limit * theirs.coordination) &&
                fabs(t->speed_difference) < fmax(speed_limit, part_limit * theirs.speed);
}

/* ---- trials by setting ---- */

/* Returns the trial of this setting if it has steps; NULL: none. */
static const AdviseTrial *find_trial(const Advise *a, TalusWorldChanges setting)
{
    for (int i = 0; i < a->trials; i++)
        if (a->trial[i].steps > 0 && advise_same_setting(&a->trial[i].setting.changes, &setting))
            return &a->trial[i];
    return NULL;
}

/* with_law, with_tolerance, with_step: return the setting `w` with other values. */
static TalusWorldChanges with_law(TalusWorldChanges w, TalusFrictionLaw law, double compliance)
{
    w.law = law;
    w.compliance = compliance;
    return w;
}

static TalusWorldChanges with_tolerance(TalusWorldChanges w, double tolerance)
{
    w.tolerance = tolerance;
    return w;
}

static TalusWorldChanges with_step(TalusWorldChanges w, double step)
{
    w.step = step;
    return w;
}

static void set_reason(AdviseReason *reason, const char *format, ...) CLI_PRINTF(2, 3);

/* Writes the formatted text, cut to ADVISE_TEXT - 1 bytes. */
static void set_reason(AdviseReason *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
}

/* Writes why a trial does not reach its tolerance: "a step fails" or "3 of 100 steps miss the tolerance". */
static void describe_miss(const AdviseTrial *t, char text[64])
{
    if (t->failure[0])
        snprintf(text, 64, "a step fails");
    else
        snprintf(text, 64, "%d of %d steps miss the tolerance", t->missed, t->steps);
}

/* ---- law and stiffness ---- */

/* True if the trial is under the exact law, reaches its tolerance and differs from `base` at most in its stiffness. */
static bool is_stiffness_trial(const AdviseTrial *t, const TalusWorldChanges *base)
{
    TalusWorldChanges plain = with_law(t->setting.changes, base->law, base->compliance);
    plain.elastic_overlap = base->elastic_overlap;
    return t->setting.changes.law == TALUS_LAW_COULOMB && advise_same_setting(&plain, base) &&
           reaches_tolerance(t);
}

/* Among the trials for which is_stiffness_trial is true, returns the stiffest that costs at most little_dearer times
 * the cheapest; NULL: none. `agreeing`: considers only trials that agree with the reference. */
static const AdviseTrial *find_stiffest(const Advise *a, const TalusWorldChanges *base,
                                        bool agreeing)
{
    const AdviseTrial *best = NULL;
    double least = INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < a->trials; i++) {
            const AdviseTrial *t = &a->trial[i];
            if (!is_stiffness_trial(t, base) || (agreeing && !t->agrees))
                continue;
            if (pass == 0)
                least = fmin(least, get_cost(t));
            else if (get_cost(t) <= little_dearer * least &&
                     (!best || t->setting.changes.compliance < best->setting.changes.compliance))
                best = t;
        }
    return best;
}

/* Returns find_stiffest of the trials that agree with the reference or, if there are none, of all; NULL: none. */
static const AdviseTrial *choose_stiffness(const Advise *a, const TalusWorldChanges *base)
{
    const AdviseTrial *best = find_stiffest(a, base, true);
    return best ? best : find_stiffest(a, base, false);
}

/* Writes why the exact law is recommended; `relaxed` may be NULL. */
static void explain_law(AdviseReason *reason, const AdviseTrial *exact, const AdviseTrial *relaxed)
{
    if (!relaxed)
        set_reason(reason, "the exact law");
    else if (!relaxed->agrees)
        set_reason(
            reason,
            "exact; the relaxation's bulk figures are off (height %+.2g d, contacts %+.2g per "
            "body, speed %+.2g)",
            relaxed->height_difference, relaxed->coordination_difference,
            relaxed->speed_difference);
    else if (relaxed->lift >= no_lift)
        set_reason(reason,
                   "exact, %.2f times the relaxation's cost; ccp opens contacts by %.1e diameters",
                   get_cost(exact) / get_cost(relaxed), relaxed->lift);
    else
        set_reason(reason, "exact, %.2f times the relaxation's cost",
                   get_cost(exact) / get_cost(relaxed));
}

/* Writes why the stiffness of trial `t` is recommended; `rigid` and `soft`, trials of rigid contacts and of the default
 * stiffness, may be NULL. */
static void explain_stiffness(AdviseReason *reason, const AdviseTrial *t, const AdviseTrial *rigid,
                              const AdviseTrial *soft, const TalusWorldChanges *base)
{
    char kappa[32] = "no overlap", miss[64];
    if (t->overlap_mean > 0.0)
        snprintf(kappa, sizeof kappa, "kappa %.1e", 2.0 / t->overlap_mean);
    if (t->setting.changes.compliance == 0.0 && base->compliance == 0.0) {
        set_reason(reason, "the default where masses differ by more than a factor of 1e6");
    } else if (t->setting.changes.compliance == 0.0 && soft && !soft->agrees) {
        set_reason(reason, "rigid; bulk figures of compliance %g, at %.2g of the cost, are off",
                   base->compliance, get_cost(soft) / get_cost(t));
    } else if (t->setting.changes.compliance == 0.0) {
        set_reason(reason, "rigid contacts cost little more than compliant ones here");
    } else if (rigid && !reaches_tolerance(rigid)) {
        describe_miss(rigid, miss);
        set_reason(reason, "%s; with rigid contacts %s", kappa, miss);
    } else if (rigid) {
        set_reason(reason, "%s; rigid contacts cost %.2g times as much", kappa,
                   get_cost(rigid) / get_cost(t));
    } else {
        set_reason(reason, "%s", kappa);
    }
}

/* Chooses law and stiffness with their reasons. Chooses the relaxation if it reaches its tolerance, agrees, opens no
 * contacts, and is much cheaper or no exact trial reaches its tolerance; otherwise the exact law. */
static void choose_law(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    const AdviseTrial *exact = choose_stiffness(a, base);
    const AdviseTrial *rigid = find_trial(a, with_law(*base, TALUS_LAW_COULOMB, 0.0));
    const AdviseTrial *relaxed = find_trial(a, with_law(*base, TALUS_LAW_CCP, 0.0));
    bool relaxes = relaxed && reaches_tolerance(relaxed) && relaxed->agrees &&
                   relaxed->lift < no_lift; /* the relaxation will do */
    if (exact &&
        !(relaxes && get_cost(relaxed) < clearly_cheaper * clearly_cheaper * get_cost(exact))) {
        out->changes.compliance = exact->setting.changes.compliance;
        out->changes.elastic_overlap = exact->setting.changes.elastic_overlap;
        explain_law(&out->law, exact, relaxed);
        explain_stiffness(&out->stiffness, exact, rigid, find_trial(a, *base), base);
    } else if (relaxes) {
        out->changes = with_law(out->changes, TALUS_LAW_CCP, 0.0);
        set_reason(&out->law, "the relaxation agrees, lifts nothing here and %s",
                   exact ? "is much cheaper"
                         : "reaches its tolerance, which the exact law does not");
        set_reason(&out->stiffness, "rigid, as the relaxation was tried");
    } else {
        set_reason(&out->law,
                   "exact, but no such trial at tolerance %g reached it: raise "
                   "solver.max_iterations",
                   base->tolerance);
        set_reason(&out->stiffness, "the default");
    }
}

/* ---- tolerance ---- */

/* Chooses among 1e-3, 1e-2 and 1e-1, with the reason. */
static void choose_tolerance(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    const AdviseTrial *middle = find_trial(a, *base),
                      *loose = find_trial(a, with_tolerance(*base, 1e-1));
    const AdviseTrial *tight = find_trial(a, with_tolerance(*base, 1e-3));
    char miss[64];
    if (!middle) {
        set_reason(&out->tolerance, "the default");
    } else if (tight && reaches_tolerance(tight) && tight->agrees &&
               (!middle->agrees || get_cost(tight) < little_dearer * get_cost(middle))) {
        out->changes.tolerance = 1e-3;
        set_reason(&out->tolerance, "1e-3 costs %.2g of 1e-2%s", get_cost(tight) / get_cost(middle),
                   middle->agrees ? "" : ", whose bulk figures are off");
    } else if (loose && loose->agrees && reaches_tolerance(loose) && loose->lift < no_lift &&
               loose->overlap_p99 < 2.0 * middle->overlap_p99 &&
               get_cost(loose) < clearly_cheaper * get_cost(middle)) {
        out->changes.tolerance = 1e-1;
        set_reason(&out->tolerance, "1e-1 costs %.2g of 1e-2, with the same bulk figures",
                   get_cost(loose) / get_cost(middle));
    } else if (tight && !reaches_tolerance(tight)) {
        describe_miss(tight, miss);
        set_reason(&out->tolerance, "at 1e-3 %s", miss);
    } else if (tight) {
        set_reason(&out->tolerance, "1e-3 costs %.2g times as much and %s",
                   get_cost(tight) / get_cost(middle),
                   middle->agrees ? "changes little" : "does not agree better");
    } else {
        set_reason(&out->tolerance, "1e-3 was not tried");
    }
}

/* ---- step ---- */

/* Returns the largest of 1, 2, 5 times a power of ten that is not above x. */
static double round_down_to_125(double x)
{
    double power = pow(10.0, floor(log10(x))), digit = x / power * (1.0 + 1e-9);
    return power * (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0);
}

/* Chooses the default step h, h/2, 2h or one below scales.step_max, with the reason. */
static void choose_step(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    double h = base->step, most = a->scales.step_max;
    const AdviseTrial *whole = find_trial(a, *base),
                      *half = find_trial(a, with_step(*base, 0.5 * h));
    const AdviseTrial *twice = find_trial(a, with_step(*base, 2.0 * h));
    if (h > most * (1.0 + 1e-9)) {
        out->changes.step = round_down_to_125(most);
        set_reason(&out->step, "at most 0.05 sqrt(d/g) = %.2g s of the thinnest body", most);
    } else if (whole && half && !whole->agrees && half->agrees && reaches_tolerance(half)) {
        out->changes.step = 0.5 * h;
        set_reason(&out->step, "bulk figures at h are off, those at h/2 are not");
    } else if (whole && twice && 2.0 * h <= most && twice->agrees && reaches_tolerance(twice) &&
               get_cost(twice) < clearly_cheaper * get_cost(whole)) {
        out->changes.step = 2.0 * h;
        set_reason(&out->step, "2h costs %.2g of h, with the same bulk figures",
                   get_cost(twice) / get_cost(whole));
    } else if (isfinite(most)) {
        set_reason(&out->step, "below 0.05 sqrt(d/g) = %.2g s of the thinnest body", most);
    } else {
        set_reason(&out->step, "the scene's; without gravity there is no rule for it");
    }
}

/* ---- all ---- */

/* True if some step of the trial has loaded contacts. */
static bool bears_load(const AdviseTrial *t)
{
    bool any = false;
    for (int i = 0; i < t->steps && !any; i++)
        any = t->step[i].coordination > 0.0;
    return any;
}

/* Finds the reference and compares all trials with it. */
static void compare_all(Advise *a)
{
    int reference = a->advice.reference = find_reference(a);
    for (int i = 0; i < a->trials; i++) {
        AdviseTrial *t = &a->trial[i];
        t->height_difference = t->coordination_difference = t->speed_difference = NAN;
        if (reference >= 0 && t->steps > 0)
            compare_with_reference(t, &a->trial[reference]);
    }
}

/* Returns the cheapest trial that agrees and reaches its tolerance; NULL: none. */
static const AdviseTrial *find_cheapest(const Advise *a)
{
    const AdviseTrial *best = NULL;
    for (int i = 0; i < a->trials; i++) {
        const AdviseTrial *t = &a->trial[i];
        if (reaches_tolerance(t) && t->agrees && (!best || get_cost(t) < get_cost(best)))
            best = t;
    }
    return best;
}

/* Sets the warning: if the recommended setting was tried and does not agree, its differences and the cheapest setting
 * that agrees; else "". */
static void warn_of_difference(const Advise *a, AdviseAdvice *out)
{
    const AdviseTrial *t = find_trial(a, out->changes), *other = find_cheapest(a);
    char setting[96] = "none";
    out->warning.text[0] = '\0';
    if (!t || t->agrees)
        return;
    if (other)
        advise_describe_setting(&other->setting.changes, setting, sizeof setting);
    set_reason(
        &out->warning,
        "its bulk figures differ from the most accurate (height %+.2g d, contacts %+.2g per body, "
        "speed %+.2g); the cheapest that agrees: %s",
        t->height_difference, t->coordination_difference, t->speed_difference, setting);
}

/* Tolerance and step are chosen independently. If the trial of both together misses its tolerance or does not agree,
 * returns the tolerance, and a step longer than the default, to the default. */
static void retract_unconfirmed(Advise *a, AdviseAdvice *out)
{
    const AdviseTrial *together = find_trial(a, out->changes);
    if (!together || (reaches_tolerance(together) && together->agrees))
        return;
    const char *why = reaches_tolerance(together) ? "bulk figures are off" : "steps miss it";
    out->changes.tolerance = a->base.tolerance;
    set_reason(&out->tolerance, "the default: with tolerance and step chosen apart %s", why);
    if (out->changes.step > a->base.step) {
        out->changes.step = a->base.step;
        set_reason(&out->step, "the scene's: with tolerance and step chosen apart %s", why);
    }
}

void advise_confirm(Advise *a)
{
    compare_all(a);
    retract_unconfirmed(a, &a->advice);
    warn_of_difference(a, &a->advice);
}

void advise_judge(Advise *a)
{
    AdviseAdvice *out = &a->advice;
    *out = (AdviseAdvice){.changes = a->base};
    compare_all(a);
    for (int i = 0; i < a->trials; i++)
        a->loaded |= bears_load(&a->trial[i]);
    out->given = a->loaded && find_trial(a, a->base) && a->trials >= ADVISE_TRIALS_MIN;
    if (!out->given)
        return;
    choose_law(a, &a->base, out);
    choose_tolerance(a, &a->base, out);
    choose_step(a, &a->base, out);
    warn_of_difference(a, out);
}
