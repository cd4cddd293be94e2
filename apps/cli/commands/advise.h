/* cli/commands/advise.h - the parts of `talus advise`: settings, their trials, the judgement, the table.
 *
 * A trial advances one state under one setting. Residual, overlaps, lift and drift are figures of the second half of
 * the simulated time that a trial covers, so that the change of settings at its start has died away; costs and missed
 * steps are those of the whole trial. */
#ifndef TALUS_CLI_ADVISE_H
#define TALUS_CLI_ADVISE_H

#include "cli/cli.h"

#include "world/save/change.h"

/* Maximum number of settings and of trials; minimum number of trials for a recommendation; samples of the lift in a
 * trial; bytes of a text. */
enum { ADVISE_SETTINGS = 11, ADVISE_TRIALS_MIN = 3, ADVISE_LIFT_SAMPLES = 16, ADVISE_TEXT = 256 };

/* Scales by which bulk figures are divided. */
typedef struct AdviseScales {
    int64_t moving;  /* number of moving bodies */
    double mass;     /* of all moving bodies, kg */
    double diameter; /* of a sphere with the mean volume of the moving bodies, m */
    double gravity;  /* |gravity|, m/s2 */
    double speed;    /* sqrt(gravity diameter), or the reference speed without gravity; m/s */
    /* Largest step recommended: 0.05 sqrt(d/g), d the width of the thinnest body; infinite without gravity. */
    double step_max;
} AdviseScales;

typedef struct AdviseSetting {
    TalusWorldChanges changes; /* law, compliance, tolerance and step of the setting */
    bool own;                  /* the scene's own setting */
    int priority; /* 0: always tried; where time is short, settings with the largest priority are left out first */
} AdviseSetting;

/* Bulk figures of one step. */
typedef struct AdviseStep {
    double time; /* s, since the start of the trial, at the end of the step */
    /* Height of the centre of mass against gravity, over the diameter, up to a constant; 0 without gravity. */
    double height;
    double coordination; /* twice the number of loaded contacts, over the number of moving bodies */
    double speed;        /* sqrt(2 kinetic energy / mass) over AdviseScales.speed */
} AdviseStep;

typedef struct AdviseTrial {
    AdviseSetting setting;
    AdviseStep *step; /* [steps]; release with free() */
    int steps, capacity;
    int missed;      /* steps that missed the tolerance */
    double covered;  /* simulated seconds */
    double wall;     /* wall-clock seconds in steps */
    double products; /* with the operator, per step */
    double residual; /* mean of the rms residual over the reference speed */
    /* Of loaded contacts, over the size of the smaller body: means over steps, but overlap_max is the maximum. */
    double overlap_mean, overlap_p99, overlap_max;
    /* Mean gap of loaded contacts (0 where they overlap), weighted by normal impulse, over the diameter, as mean over
     * ADVISE_LIFT_SAMPLES steps or fewer: how far sliding contacts open. */
    double lift;
    /* Energy per second that the numerical method adds (below 0: removes), over mass gravity diameter, without gravity
     * over mass speed^2; 1/s. */
    double drift;
    /* Bulk figures minus those of the most accurate trial, over the time that both cover; NAN: not known. */
    double height_difference, coordination_difference, speed_difference;
    bool agrees;               /* the three differences are within the limits of advise_judge.c */
    bool complete;             /* `covered` reaches Advise.span, within half a step */
    char failure[ADVISE_TEXT]; /* error of the step that failed; "": none */
} AdviseTrial;

/* Why a value is recommended: a clause for the user. */
typedef struct AdviseReason {
    char text[ADVISE_TEXT];
} AdviseReason;

typedef struct AdviseAdvice {
    int reference;             /* index of the most accurate trial; -1: none has steps */
    bool given;                /* there is a recommendation */
    TalusWorldChanges changes; /* the recommended setting */
    AdviseReason law, stiffness, tolerance, step;
    /* Says that the recommended setting does not agree with the most accurate trial; "": it agrees, or was not
     * tried. */
    AdviseReason warning;
} AdviseAdvice;

typedef struct Advise {
    char scene[CLI_PATH_MAX]; /* name of the scene, from the command line or the checkpoint */
    CliList set;              /* assignments of --set, from the command line or the checkpoint */
    AdviseScales scales;
    TalusWorldChanges base; /* the default setting, from which most trials differ in one value */
    double at;              /* simulated time at which the trials start, s */
    double span;            /* simulated time that each trial is to cover, s */
    /* Trials in the order in which they run; the recommended setting is the last, unless it was tried before. */
    AdviseTrial trial[ADVISE_SETTINGS];
    int trials;   /* number of trials */
    int left_out; /* number of settings not tried for lack of time */
    bool stopped; /* by a signal */
    bool loaded;  /* some contact bears load in some trial */
    AdviseAdvice advice;
} Advise;

/* ---- advise_trial.c ---- */
/* The saved world from which all trials start. */
typedef struct AdviseStart {
    void *bytes; /* made by talus_world_save; release with talus_free */
    size_t size; /* of `bytes` */
    int threads; /* as in talus_world_load */
    const char *backend;
} AdviseStart;

/* Finds the scales from the bodies and the gravity of the world. */
AdviseScales advise_find_scales(const TalusWorld *world);
/* Runs the trial of trial->setting until it covers `span` (infinite: no end) or has taken `seconds` of the wall clock
 * and two steps, or a signal stops it, and fills the figures of `trial` but its differences; all but the setting must
 * be 0 before. A step that fails ends the trial and is noted in trial->failure, and so is a setting that the world
 * refuses. Fails only if the state cannot be loaded. */
TalusStatus advise_run_trial(const AdviseStart *start, const AdviseScales *scales, double span,
                             double seconds, AdviseTrial *trial);

/* ---- advise_plan.c ---- */
/* Returns the default setting: that of a new world, with the step of `world` and the compliance for its bodies. */
TalusWorldChanges advise_default_setting(const TalusWorld *world);
/* Writes the settings to try, in the order of trials; returns their number. `own`: setting of the scene; `base`: the
 * default, from which the other settings are made by changes. */
int advise_plan(const TalusWorldChanges *own, const TalusWorldChanges *base,
                AdviseSetting out[ADVISE_SETTINGS]);
/* Compares law, compliance, limit of overlap (unless rigid), tolerance and step. */
bool advise_same_setting(const TalusWorldChanges *a, const TalusWorldChanges *b);

/* ---- advise_judge.c ---- */
/* Compares all trials with the most accurate trial and fills advise->advice; advice.given is false if no contact bears
 * load, there are fewer than ADVISE_TRIALS_MIN trials or the trial of the default has no steps. */
void advise_judge(Advise *advise);
/* After a trial of the recommended setting: compares the trials again; if this trial misses its tolerance or does not
 * agree, recommends the default tolerance, and the default step in place of a longer one. Updates the warning. */
void advise_confirm(Advise *advise);

/* ---- advise_print.c ---- */
/* Print the table and the recommendation, as text or as JSON, to standard output. */
void advise_print(const Advise *advise);
void advise_print_json(const Advise *advise);
/* Writes "coulomb, compliance 0.01, tolerance 0.01, step 0.005 s"; of rigid contacts "rigid" in place of compliance. */
void advise_describe_setting(const TalusWorldChanges *setting, char *text, size_t size);

#endif
