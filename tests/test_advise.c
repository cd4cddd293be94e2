// The judgement of `talus advise` on trials that are made up: what is recommended, and whether the reasons say so.
#include "support/test.h"

#include "cli/commands/advise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100 };

static AdviseStep still[STEPS], thrown[STEPS];

static TalusWorldChanges default_setting(void)
{
    TalusWorldDef def = talus_world_def_default();
    return (TalusWorldChanges){.law = def.friction.law,
                               .compliance = 0.01,
                               .elastic_overlap = def.elastic_overlap,
                               .tolerance = def.tolerance,
                               .step = 1.0};
}

// The default and the trials around it, of equal cost, all agreeing: as advise_plan writes them.
static Advise make_advise(const TalusWorldChanges *own)
{
    Advise a = {.base = default_setting(), .scales = {.moving = 1, .step_max = INFINITY}};
    AdviseSetting plan[ADVISE_SETTINGS];
    a.trials = advise_plan(own, &a.base, plan);
    for (int i = 0; i < STEPS; i++) {
        still[i] = (AdviseStep){.time = i + 1.0, .coordination = 4.0};
        thrown[i] = still[i];
        thrown[i].height = 1.0;
    }
    for (int i = 0; i < a.trials; i++)
        a.trial[i] = (AdviseTrial){.setting = plan[i],
                                   .step = still,
                                   .steps = STEPS,
                                   .covered = STEPS,
                                   .wall = 1.0,
                                   .overlap_mean = 1e-4,
                                   .complete = true};
    return a;
}

static AdviseTrial *find_trial(Advise *a, TalusFrictionLaw law, double compliance, double tolerance,
                               double step)
{
    for (int i = 0; i < a->trials; i++) {
        const TalusWorldChanges *w = &a->trial[i].setting.changes;
        if (w->law == law && w->compliance == compliance && w->tolerance == tolerance &&
            w->step == step)
            return &a->trial[i];
    }
    return NULL;
}

TEST(own_default)
{
    TalusWorldChanges own = default_setting();
    Advise a = make_advise(&own);
    CHECK_INT(a.trials, 9); // a scene that states nothing has the default: no trial of its own
    CHECK(a.trial[0].setting.own);
}

// The stiffness comes with the limit of the overlap that it was tried with.
TEST(limit_of_overlap)
{
    TalusWorldChanges own = default_setting();
    own.compliance = 5e-3;
    own.elastic_overlap = 0.05;
    Advise a = make_advise(&own);
    CHECK_INT(a.trials, 10);
    CHECK(a.trial[0].setting.own);
    a.trial[0].wall = 0.1; // the scene's own setting is by far the cheapest
    advise_judge(&a);
    CHECK(a.advice.given);
    CHECK(a.advice.changes.compliance == 5e-3);
    CHECK(a.advice.changes.elastic_overlap == 0.05);
}

// Exact trials at the default tolerance miss it. The relaxation does not, but throws things up.
TEST(relaxation_that_disagrees)
{
    TalusWorldChanges own = default_setting();
    for (int agrees = 0; agrees < 2; agrees++) {
        Advise a = make_advise(&own);
        for (int i = 0; i < a.trials; i++) {
            const TalusWorldChanges *w = &a.trial[i].setting.changes;
            bool base = w->tolerance == a.base.tolerance && w->step == a.base.step;
            a.trial[i].missed = base && w->law == TALUS_LAW_COULOMB ? STEPS : 0;
        }
        AdviseTrial *relaxed = find_trial(&a, TALUS_LAW_CCP, 0.0, 1e-2, 1.0);
        if (!CHECK(relaxed != NULL))
            return;
        relaxed->step = agrees ? still : thrown;
        advise_judge(&a);
        CHECK(a.advice.given);
        CHECK_INT(relaxed->agrees, agrees);
        CHECK_INT(a.advice.changes.law, agrees ? TALUS_LAW_CCP : TALUS_LAW_COULOMB);
        CHECK((strstr(a.advice.law.text, "agrees") != NULL) == agrees);
    }
}

// The stiffest contacts are cheap but change the bulk figures: softer ones, which do not, are taken. If all change them,
// the advice says so.
TEST(agreement_before_stiffness)
{
    TalusWorldChanges own = default_setting();
    for (int any = 0; any < 2; any++) {
        Advise a = make_advise(&own);
        for (int i = 0; i < a.trials; i++) {
            const TalusWorldChanges *w = &a.trial[i].setting.changes;
            bool reference = w->tolerance == 1e-3 && w->step == 0.5;
            bool agrees = reference || (any && w->compliance == 0.01);
            a.trial[i].step = agrees ? still : thrown;
        }
        advise_judge(&a);
        CHECK(a.advice.changes.compliance == (any ? 0.01 : 0.0));
        CHECK((a.advice.warning.text[0] == '\0') == any);
        CHECK(any || strstr(a.advice.warning.text,
                            "agrees: coulomb, compliance 0.001, tolerance 0.001, step 0.5 s"));
    }
}

// Tolerance and step are good apart, bad together: both go back, and both reasons say so.
TEST(taken_back)
{
    TalusWorldChanges own = default_setting();
    Advise a = make_advise(&own);
    AdviseTrial *loose = find_trial(&a, TALUS_LAW_COULOMB, 0.01, 1e-1, 1.0);
    AdviseTrial *twice = find_trial(&a, TALUS_LAW_COULOMB, 0.01, 1e-2, 2.0);
    AdviseTrial *tight = find_trial(&a, TALUS_LAW_COULOMB, 0.01, 1e-3, 1.0);
    if (!CHECK(loose && twice && tight))
        return;
    for (int i = 0; i < a.trials; i++)
        a.trial[i].overlap_p99 = 1e-3;
    loose->wall = twice->wall = 0.1;
    tight->wall = 10.0;
    for (int i = 0; i < a.trials; i++) // so that the default is the cheapest stiffness
        if (a.trial[i].setting.changes.compliance < 0.01)
            a.trial[i].wall = 5.0;
    advise_judge(&a);
    CHECK(a.advice.changes.tolerance == 1e-1 && a.advice.changes.step == 2.0);
    a.trial[a.trials] = *twice;
    a.trial[a.trials].setting.changes = a.advice.changes;
    a.trial[a.trials++].missed = STEPS;
    advise_confirm(&a);
    CHECK(a.advice.changes.tolerance == 1e-2 && a.advice.changes.step == 1.0);
    CHECK(strstr(a.advice.tolerance.text, "steps miss it") != NULL);
    CHECK(strstr(a.advice.step.text, "steps miss it") != NULL);
}

// Reasons name what happened: no overlap has no kappa; a tolerance that is missed is not merely dear.
TEST(reasons)
{
    TalusWorldChanges own = default_setting();
    Advise a = make_advise(&own);
    AdviseTrial *rigid = find_trial(&a, TALUS_LAW_COULOMB, 0.0, 1e-2, 1.0);
    AdviseTrial *stiffer = find_trial(&a, TALUS_LAW_COULOMB, 1e-3, 1e-2, 1.0);
    AdviseTrial *tight = find_trial(&a, TALUS_LAW_COULOMB, 0.01, 1e-3, 1.0);
    if (!CHECK(rigid && stiffer && tight))
        return;
    for (int i = 0; i < a.trials; i++)
        a.trial[i].overlap_mean = 0.0;
    stiffer->wall = 5.0;
    tight->missed = 50;
    snprintf(rigid->failure, sizeof rigid->failure, "not finite");
    advise_judge(&a);
    CHECK(strcmp(a.advice.stiffness.text, "no overlap; with rigid contacts a step fails") == 0);
    CHECK(strcmp(a.advice.tolerance.text, "at 1e-3 50 of 100 steps miss the tolerance") == 0);
}

int main(void)
{
    RUN(own_default);
    RUN(limit_of_overlap);
    RUN(relaxation_that_disagrees);
    RUN(agreement_before_stiffness);
    RUN(taken_back);
    RUN(reasons);
    return talus_test_result();
}
