/* cli/commands/advise_judge.c - what the trials of `talus advise` say: the reference, differences from it, advice.
 *
 * The reference is the trial that is most accurate by its setting among those that reach their tolerance: exact law, then
 * the tightest tolerance, the shortest step, the stiffest contacts. Each axis of the advice is decided by trials that
 * differ along it alone: law and stiffness, tolerance, step. */
#include "advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Differences from the reference within which bulk figures agree; the last one is a part of the figure. Then: costs
 * within which the more accurate of two settings is taken, or the cheaper one; part of the steps that may miss the
 * tolerance. */
static const double height_limit = 0.02, coordination_limit = 0.2, speed_limit = 0.02,
                    part_limit = 0.05;
static const double little_dearer = 1.25, clearly_cheaper = 0.8, missed_part = 0.01;
static const double no_lift = 1e-4; /* over the diameter */

static bool reaches_tolerance(const AdviseTrial *t)
{
    return t->steps > 0 && !t->failure[0] && t->missed <= missed_part * t->steps;
}

/* Clock time per simulated time, s/s. */
static double cost_of(const AdviseTrial *t)
{
    return t->wall / t->covered;
}

/* ---- the reference ---- */

static bool more_accurate(const AdviseTrial *a, const AdviseTrial *b)
{
    const TalusWorldChanges *x = &a->setting.with, *y = &b->setting.with;
    if (reaches_tolerance(a) != reaches_tolerance(b))
        return reaches_tolerance(a);
    if ((x->law == TALUS_LAW_COULOMB) != (y->law == TALUS_LAW_COULOMB))
        return x->law == TALUS_LAW_COULOMB;
    if (x->tolerance != y->tolerance)
        return x->tolerance < y->tolerance;
    return x->step != y->step ? x->step < y->step : x->compliance < y->compliance;
}

static int find_reference(const Advise *a)
{
    int best = -1;
    for (int i = 0; i < a->trials; i++)
        if (a->trial[i].steps > 0 && (best < 0 || more_accurate(&a->trial[i], &a->trial[best])))
            best = i;
    return best;
}

/* Mean bulk figures over the second half of the time up to `end`. */
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

static void compare(AdviseTrial *t, const AdviseTrial *reference)
{
    double end = fmin(t->covered, reference->covered);
    AdviseStep mine = mean_until(t, end), theirs = mean_until(reference, end);
    t->height = mine.height - theirs.height;
    t->coordination = mine.coordination - theirs.coordination;
    t->speed = mine.speed - theirs.speed;
    t->agrees =
        fabs(t->height) < height_limit &&
        fabs(t->coordination) < fmax(coordination_limit, 2.0 * part_limit * theirs.coordination) &&
        fabs(t->speed) < fmax(speed_limit, part_limit * theirs.speed);
}

/* ---- trials by setting ---- */

/* Returns the trial that differs from `with` as given: law, compliance, tolerance, factor of the step; NULL: none. */
static const AdviseTrial *find(const Advise *a, TalusWorldChanges with)
{
    for (int i = 0; i < a->trials; i++)
        if (a->trial[i].steps > 0 && advise_same(&a->trial[i].setting.with, &with))
            return &a->trial[i];
    return NULL;
}

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

static void say(AdviseReason *reason, const char *format, ...) CLI_PRINTF(2, 3);

static void say(AdviseReason *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
}

/* Writes why a trial does not reach its tolerance: a clause. */
static void tell_miss(const AdviseTrial *t, char text[64])
{
    if (t->failure[0])
        snprintf(text, 64, "a step fails");
    else
        snprintf(text, 64, "%d of %d steps miss the tolerance", t->missed, t->steps);
}

/* ---- law and stiffness ---- */

/* True if the trial is exact, reaches its tolerance and differs from `base` in its stiffness at most. */
static bool is_stiffness_trial(const AdviseTrial *t, const TalusWorldChanges *base)
{
    TalusWorldChanges plain = with_law(t->setting.with, base->law, base->compliance);
    plain.elastic_overlap = base->elastic_overlap;
    return t->setting.with.law == TALUS_LAW_COULOMB && advise_same(&plain, base) &&
           reaches_tolerance(t);
}

/* Returns the stiffest of these trials that costs little more than the cheapest; NULL: none. agreeing: only those that
 * agree with the reference count. */
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
                least = fmin(least, cost_of(t));
            else if (cost_of(t) <= little_dearer * least &&
                     (!best || t->setting.with.compliance < best->setting.with.compliance))
                best = t;
        }
    return best;
}

static const AdviseTrial *choose_stiffness(const Advise *a, const TalusWorldChanges *base)
{
    const AdviseTrial *best = find_stiffest(a, base, true);
    return best ? best : find_stiffest(a, base, false);
}

static void say_law(AdviseReason *reason, const AdviseTrial *exact, const AdviseTrial *relaxed)
{
    if (!relaxed)
        say(reason, "the exact law");
    else if (!relaxed->agrees)
        say(reason,
            "exact; the relaxation's bulk figures are off (height %+.2g d, contacts %+.2g per "
            "body, speed %+.2g)",
            relaxed->height, relaxed->coordination, relaxed->speed);
    else if (relaxed->lift >= no_lift)
        say(reason, "exact, %.2f times the relaxation's cost; ccp opens contacts by %.1e diameters",
            cost_of(exact) / cost_of(relaxed), relaxed->lift);
    else
        say(reason, "exact, %.2f times the relaxation's cost", cost_of(exact) / cost_of(relaxed));
}

static void say_stiffness(AdviseReason *reason, const AdviseTrial *t, const AdviseTrial *rigid,
                          const AdviseTrial *soft, const TalusWorldChanges *base)
{
    char kappa[32] = "no overlap", miss[64];
    if (t->overlap_mean > 0.0)
        snprintf(kappa, sizeof kappa, "kappa %.1e", 2.0 / t->overlap_mean);
    if (t->setting.with.compliance == 0.0 && base->compliance == 0.0) {
        say(reason, "the default where masses differ by more than a factor of 1e6");
    } else if (t->setting.with.compliance == 0.0 && soft && !soft->agrees) {
        say(reason, "rigid; bulk figures of compliance %g, at %.2g of the cost, are off",
            base->compliance, cost_of(soft) / cost_of(t));
    } else if (t->setting.with.compliance == 0.0) {
        say(reason, "rigid contacts cost little more than compliant ones here");
    } else if (rigid && !reaches_tolerance(rigid)) {
        tell_miss(rigid, miss);
        say(reason, "%s; with rigid contacts %s", kappa, miss);
    } else if (rigid) {
        say(reason, "%s; rigid contacts cost %.2g times as much", kappa,
            cost_of(rigid) / cost_of(t));
    } else {
        say(reason, "%s", kappa);
    }
}

static void advise_law(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    const AdviseTrial *exact = choose_stiffness(a, base);
    const AdviseTrial *rigid = find(a, with_law(*base, TALUS_LAW_COULOMB, 0.0));
    const AdviseTrial *relaxed = find(a, with_law(*base, TALUS_LAW_CCP, 0.0));
    bool relaxes = relaxed && reaches_tolerance(relaxed) && relaxed->agrees &&
                   relaxed->lift < no_lift; /* the relaxation will do */
    if (exact &&
        !(relaxes && cost_of(relaxed) < clearly_cheaper * clearly_cheaper * cost_of(exact))) {
        out->with.compliance = exact->setting.with.compliance;
        out->with.elastic_overlap = exact->setting.with.elastic_overlap;
        say_law(&out->law, exact, relaxed);
        say_stiffness(&out->stiffness, exact, rigid, find(a, *base), base);
    } else if (relaxes) {
        out->with = with_law(out->with, TALUS_LAW_CCP, 0.0);
        say(&out->law, "the relaxation agrees, lifts nothing here and %s",
            exact ? "is much cheaper" : "reaches its tolerance, which the exact law does not");
        say(&out->stiffness, "rigid, as the relaxation was tried");
    } else {
        say(&out->law,
            "exact, but no such trial at tolerance %g reached it: raise "
            "solver.max_iterations",
            base->tolerance);
        say(&out->stiffness, "the default");
    }
}

/* ---- tolerance ---- */

static void advise_tolerance(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    const AdviseTrial *middle = find(a, *base), *loose = find(a, with_tolerance(*base, 1e-1));
    const AdviseTrial *tight = find(a, with_tolerance(*base, 1e-3));
    char miss[64];
    if (!middle) {
        say(&out->tolerance, "the default");
    } else if (tight && reaches_tolerance(tight) && tight->agrees &&
               (!middle->agrees || cost_of(tight) < little_dearer * cost_of(middle))) {
        out->with.tolerance = 1e-3;
        say(&out->tolerance, "1e-3 costs %.2g of 1e-2%s", cost_of(tight) / cost_of(middle),
            middle->agrees ? "" : ", whose bulk figures are off");
    } else if (loose && loose->agrees && reaches_tolerance(loose) && loose->lift < no_lift &&
               loose->overlap_p99 < 2.0 * middle->overlap_p99 &&
               cost_of(loose) < clearly_cheaper * cost_of(middle)) {
        out->with.tolerance = 1e-1;
        say(&out->tolerance, "1e-1 costs %.2g of 1e-2, with the same bulk figures",
            cost_of(loose) / cost_of(middle));
    } else if (tight && !reaches_tolerance(tight)) {
        tell_miss(tight, miss);
        say(&out->tolerance, "at 1e-3 %s", miss);
    } else if (tight) {
        say(&out->tolerance, "1e-3 costs %.2g times as much and %s",
            cost_of(tight) / cost_of(middle),
            middle->agrees ? "changes little" : "does not agree better");
    } else {
        say(&out->tolerance, "1e-3 was not tried");
    }
}

/* ---- step ---- */

/* Returns the largest of 1, 2, 5 times a power of ten that is not above x. */
static double round_down(double x)
{
    double power = pow(10.0, floor(log10(x))), digit = x / power * (1.0 + 1e-9);
    return power * (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0);
}

static void advise_step(const Advise *a, const TalusWorldChanges *base, AdviseAdvice *out)
{
    double h = base->step, most = a->scales.step_most;
    const AdviseTrial *whole = find(a, *base), *half = find(a, with_step(*base, 0.5 * h));
    const AdviseTrial *twice = find(a, with_step(*base, 2.0 * h));
    if (h > most * (1.0 + 1e-9)) {
        out->with.step = round_down(most);
        say(&out->step, "at most 0.05 sqrt(d/g) = %.2g s of the thinnest body", most);
    } else if (whole && half && !whole->agrees && half->agrees && reaches_tolerance(half)) {
        out->with.step = 0.5 * h;
        say(&out->step, "bulk figures at h are off, those at h/2 are not");
    } else if (whole && twice && 2.0 * h <= most && twice->agrees && reaches_tolerance(twice) &&
               cost_of(twice) < clearly_cheaper * cost_of(whole)) {
        out->with.step = 2.0 * h;
        say(&out->step, "2h costs %.2g of h, with the same bulk figures",
            cost_of(twice) / cost_of(whole));
    } else if (isfinite(most)) {
        say(&out->step, "below 0.05 sqrt(d/g) = %.2g s of the thinnest body", most);
    } else {
        say(&out->step, "the scene's; without gravity there is no rule for it");
    }
}

/* ---- all ---- */

static bool bears_load(const AdviseTrial *t)
{
    bool any = false;
    for (int i = 0; i < t->steps && !any; i++)
        any = t->step[i].coordination > 0.0;
    return any;
}

/* Finds the most accurate trial and compares all with it. */
static void compare_all(Advise *a)
{
    int reference = a->advice.reference = find_reference(a);
    for (int i = 0; i < a->trials; i++) {
        AdviseTrial *t = &a->trial[i];
        t->height = t->coordination = t->speed = NAN;
        if (reference >= 0 && t->steps > 0)
            compare(t, &a->trial[reference]);
    }
}

/* Returns the cheapest trial that agrees and reaches its tolerance; NULL: none. */
static const AdviseTrial *find_cheapest(const Advise *a)
{
    const AdviseTrial *best = NULL;
    for (int i = 0; i < a->trials; i++) {
        const AdviseTrial *t = &a->trial[i];
        if (reaches_tolerance(t) && t->agrees && (!best || cost_of(t) < cost_of(best)))
            best = t;
    }
    return best;
}

/* Says so if the recommended setting was tried and does not agree, and which one does. */
static void warn_of_difference(const Advise *a, AdviseAdvice *out)
{
    const AdviseTrial *t = find(a, out->with), *other = find_cheapest(a);
    char setting[96] = "none";
    out->warning.text[0] = '\0';
    if (!t || t->agrees)
        return;
    if (other)
        advise_describe(&other->setting.with, setting, sizeof setting);
    say(&out->warning,
        "its bulk figures differ from the most accurate (height %+.2g d, contacts %+.2g per body, "
        "speed %+.2g); the cheapest that agrees: %s",
        t->height, t->coordination, t->speed, setting);
}

/* Takes back what was chosen apart and is not confirmed together. */
static void take_back(Advise *a, AdviseAdvice *out)
{
    const AdviseTrial *together = find(a, out->with);
    if (!together || (reaches_tolerance(together) && together->agrees))
        return;
    const char *why = reaches_tolerance(together) ? "bulk figures are off" : "steps miss it";
    out->with.tolerance = a->base.tolerance;
    say(&out->tolerance, "the default: with tolerance and step chosen apart %s", why);
    if (out->with.step > a->base.step) {
        out->with.step = a->base.step;
        say(&out->step, "the scene's: with tolerance and step chosen apart %s", why);
    }
}

void advise_confirm(Advise *a)
{
    compare_all(a);
    take_back(a, &a->advice);
    warn_of_difference(a, &a->advice);
}

void advise_judge(Advise *a)
{
    AdviseAdvice *out = &a->advice;
    *out = (AdviseAdvice){.with = a->base};
    compare_all(a);
    for (int i = 0; i < a->trials; i++)
        a->loaded |= bears_load(&a->trial[i]);
    out->given = a->loaded && find(a, a->base) && a->trials >= ADVISE_LEAST;
    if (!out->given)
        return;
    advise_law(a, &a->base, out);
    advise_tolerance(a, &a->base, out);
    advise_step(a, &a->base, out);
    warn_of_difference(a, out);
}
