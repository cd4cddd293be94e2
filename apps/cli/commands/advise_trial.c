/* cli/commands/advise_trial.c - one trial of `talus advise`: a state advanced under one setting, and its figures. */
#include "advise.h"

#include "base/memory.h"
#include "base/timer.h"
#include "world/source/survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MIN = 2 }; /* minimum number of steps of a trial */

/* Sums over steps of a trial. */
typedef struct Sums {
    double steps;     /* number of steps */
    double residual;  /* rms residuals over the reference speed */
    double mean, p99; /* overlaps */
    double energy;    /* energy that the method adds, J */
    double length;    /* lengths of the steps, s */
    double lift;      /* sampled lifts */
    double lifts;     /* number of samples of the lift */
} Sums;

typedef struct TrialRun {
    TalusWorld *world;
    const AdviseScales *scales;
    AdviseTrial *trial;
    double begun;            /* simulated time at the start */
    double lift_every;       /* simulated time between samples of the lift, s; 0: every step */
    TalusStepInfo *info;     /* [steps], for figures over the second half */
    double *lift;            /* [steps]; NAN: not sampled */
    TalusContactState *list; /* work space: loaded contacts of a step */
    int64_t list_capacity;
} TrialRun;

AdviseScales advise_find_scales(const TalusWorld *world)
{
    TalusSurvey s;
    (void)talus_world_survey(world, &s); /* does not fail on one rank */
    double volume = s.moving > 0 ? s.volume / (double)s.moving : 0.0;
    AdviseScales scales = {.moving = s.moving,
                           .mass = s.mass,
                           .diameter = cbrt(6.0 * volume / 3.14159265358979323846),
                           .gravity = talus_norm(talus_world_gravity(world)),
                           .step_max = 0.05 * s.fall_time};
    scales.speed =
        scales.gravity > 0.0 ? sqrt(scales.gravity * scales.diameter) : world->reference_speed;
    return scales;
}

/* ---- one step ---- */

/* Returns the mean gap of loaded contacts, weighted by normal impulse, over the diameter. */
static double measure_lift(TrialRun *run)
{
    int64_t count = talus_world_get_strong_contacts(run->world, 0.0, run->list, run->list_capacity);
    double weight = 0.0, sum = 0.0;
    if (count > run->list_capacity) {
        run->list = cli_check_memory(realloc(run->list, (size_t)count * sizeof *run->list));
        run->list_capacity = count;
        talus_world_get_strong_contacts(run->world, 0.0, run->list, count);
    }
    for (int64_t i = 0; i < count; i++) {
        double impulse = talus_dot(run->list[i].impulse, run->list[i].normal);
        weight += impulse;
        sum += impulse * fmax(0.0, run->list[i].gap);
    }
    return weight > 0.0 ? sum / weight / run->scales->diameter : 0.0;
}

/* Returns the bulk figures of the step just made. */
static AdviseStep find_bulk_figures(const TrialRun *run, const TalusStepInfo *info)
{
    const AdviseScales *s = run->scales;
    double weight = s->mass * s->gravity * s->diameter;
    AdviseStep step = {
        .time = info->time - run->begun,
        .height = weight > 0.0 ? info->ledger.potential / weight : 0.0,
        .coordination = 2.0 * (double)info->overlap.loaded / (double)s->moving,
        .speed = sqrt(2.0 * info->ledger.kinetic / s->mass) / s->speed,
    };
    return step;
}

/* Makes room for the figures of one more step. */
static void reserve_next_step(TrialRun *run)
{
    AdviseTrial *t = run->trial;
    if (t->steps < t->capacity)
        return;
    t->capacity = t->capacity ? 2 * t->capacity : 256;
    size_t n = (size_t)t->capacity;
    t->step = cli_check_memory(realloc(t->step, n * sizeof *t->step));
    run->info = cli_check_memory(realloc(run->info, n * sizeof *run->info));
    run->lift = cli_check_memory(realloc(run->lift, n * sizeof *run->lift));
}

/* Makes a step and stores its figures; returns false, with the error in trial->failure, if the step fails. */
static bool make_step(TrialRun *run)
{
    AdviseTrial *t = run->trial;
    reserve_next_step(run);
    TalusStepInfo *info = &run->info[t->steps];
    double start = talus_now(), before = t->covered;
    if (talus_world_step(run->world, info) != TALUS_OK) {
        snprintf(t->failure, sizeof t->failure, "%s", talus_error());
        return false;
    }
    t->wall += talus_now() - start;
    t->step[t->steps] = find_bulk_figures(run, info);
    t->covered = t->step[t->steps].time;
    bool due = !(run->lift_every > 0.0) ||
               floor(t->covered / run->lift_every) > floor(before / run->lift_every);
    run->lift[t->steps] = due ? measure_lift(run) : NAN;
    t->steps++;
    return true;
}

/* ---- figures ---- */

static void add_to_sums(Sums *sums, const TalusStepInfo *info, double lift)
{
    const TalusLedger *e = &info->ledger;
    double scale = info->reference_speed;
    sums->steps += 1.0;
    sums->residual += info->solve.residual.rms / scale;
    sums->mean += info->overlap.mean;
    sums->p99 += info->overlap.p99;
    sums->energy += e->stabilisation + e->stiffening + e->gravity_error + e->projection;
    sums->length += info->length;
    if (!isnan(lift)) {
        sums->lift += lift;
        sums->lifts += 1.0;
    }
}

/* Sets the figures of the trial: products and misses over all steps, the others over the second half. */
static void find_trial_figures(const TrialRun *run)
{
    AdviseTrial *t = run->trial;
    const AdviseScales *s = run->scales;
    Sums sums = {0};
    double products = 0.0, weight = s->mass * s->gravity * s->diameter;
    for (int i = 0; i < t->steps; i++) {
        products += run->info[i].solve.products;
        t->missed += run->info[i].missed;
        if (t->step[i].time <= 0.5 * t->covered)
            continue;
        t->overlap_max = fmax(t->overlap_max, run->info[i].overlap.max);
        add_to_sums(&sums, &run->info[i], run->lift[i]);
    }
    if (t->steps == 0)
        return;
    t->products = products / t->steps;
    t->residual = sums.residual / sums.steps;
    t->overlap_mean = sums.mean / sums.steps;
    t->overlap_p99 = sums.p99 / sums.steps;
    t->lift = sums.lifts > 0.0 ? sums.lift / sums.lifts : 0.0;
    t->drift = sums.energy / sums.length / (weight > 0.0 ? weight : s->mass * s->speed * s->speed);
}

/* ---- the trial ---- */

static void ignore_log(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    (void)level;
    (void)id;
    (void)text;
}

TalusStatus advise_run_trial(const AdviseStart *start, const AdviseScales *scales, double span,
                             double seconds, AdviseTrial *trial)
{
    TrialRun run = {.scales = scales, .trial = trial};
    const TalusStatus status =
        talus_world_load_changed(start->bytes, start->size, start->threads, start->backend,
                                 &trial->setting.changes, &run.world);
    if (status == TALUS_ERR_ARGUMENT) { /* such as rigid contacts in a cell of given pressure */
        snprintf(trial->failure, sizeof trial->failure, "%s", talus_error());
        return TALUS_OK;
    }
    TALUS_TRY(status);
    double h = trial->setting.changes.step, begun = talus_now();
    talus_world_set_log(run.world, ignore_log, NULL);
    run.begun = talus_world_time(run.world);
    run.lift_every = isfinite(span) ? span / ADVISE_LIFT_SAMPLES : 0.0;
    while (!cli_stop_signal() && trial->covered < span - 0.5 * h &&
           (trial->steps < STEPS_MIN || talus_now() - begun < seconds))
        if (!make_step(&run))
            break;
    trial->complete = trial->covered >= span - 0.5 * h;
    find_trial_figures(&run);
    free(run.info);
    free(run.lift);
    free(run.list);
    talus_world_destroy(run.world);
    return TALUS_OK;
}
