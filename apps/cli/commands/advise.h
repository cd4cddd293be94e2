/* cli/commands/advise.h - the parts of `talus advise`: settings, their trials, the judgement, the table.
 *
 * A trial advances one state under one setting. Figures are means over the second half of the simulated time that a
 * trial covers, so that the change of settings at its start has died away; costs are over the whole. */
#ifndef TALUS_CLI_ADVISE_H
#define TALUS_CLI_ADVISE_H

#include "cli/cli.h"

#include "world/save/change.h"

/* ADVISE_LEAST: trials without which there is no recommendation. */
enum { ADVISE_SETTINGS = 11, ADVISE_LEAST = 3, ADVISE_LIFTS = 16, ADVISE_TEXT = 256 };

/* Scales of the bulk figures: mass, and diameter of a sphere with the mean volume, of the moving bodies; |gravity|. */
typedef struct AdviseScales {
    int moving;
    double mass, diameter, gravity;
    double speed; /* sqrt(gravity diameter), or the reference speed without gravity; m/s */
    double
        step_most; /* 0.05 sqrt(d/g), d the width of the thinnest body; infinite without gravity */
} AdviseScales;

typedef struct AdviseSetting {
    TalusWorldChanges with;
    bool own;     /* the scene's own setting */
    int priority; /* 0: always tried; larger ones are left out first where time is short */
} AdviseSetting;

/* Bulk figures of one step. */
typedef struct AdviseStep {
    double time;         /* s, since the start of the trial, at the end of the step */
    double height;       /* of the centre of mass along gravity, in diameters, up to a constant */
    double coordination; /* loaded contacts per moving body, each counted at both of its bodies */
    double speed;        /* root mean square by the kinetic energy, over AdviseScales.speed */
} AdviseStep;

typedef struct AdviseTrial {
    AdviseSetting setting;
    AdviseStep *step; /* [steps] */
    int steps, capacity;
    int missed;
    double covered, wall;      /* s simulated, s of the clock in steps */
    double products, residual; /* per step; mean residual (rms) over the reference speed */
    double overlap_mean, overlap_p99, overlap_max;
    /* Mean gap of loaded contacts, weighted by normal impulse, over the diameter: the opening of sliding contacts. */
    double lift;
    double drift; /* energy that the method makes or loses, over mass gravity diameter, per s */
    /* Differences from the reference's bulk figures over the time that both cover; NAN: not known. */
    double height, coordination, speed;
    bool agrees;               /* these are within the limits of advise_judge.c */
    bool complete;             /* covers the span */
    char failure[ADVISE_TEXT]; /* of a step; "": none */
} AdviseTrial;

typedef struct AdviseReason {
    char text[ADVISE_TEXT];
} AdviseReason;

typedef struct AdviseAdvice {
    int reference; /* index of the most accurate trial; -1: none has steps */
    bool given;    /* there is a recommendation */
    TalusWorldChanges with;
    AdviseReason law, stiffness, tolerance, step;
    AdviseReason warning; /* that it does not agree with the most accurate trial; "": it does */
} AdviseAdvice;

typedef struct Advise {
    char scene[CLI_PATH_MAX]; /* as the user named it, or its checkpoint does */
    CliList set;              /* the user's assignments, or those of the checkpoint */
    AdviseScales scales;
    TalusWorldChanges base; /* the default, which trials differ from along one axis */
    double at, span;        /* s: simulated time at which the trials start; that each is to cover */
    AdviseTrial trial[ADVISE_SETTINGS]; /* the last one confirms the advice */
    int trials, left_out;
    bool stopped; /* by a signal */
    bool loaded;  /* some contact bears load in some trial */
    AdviseAdvice advice;
} Advise;

/* ---- advise_trial.c ---- */
/* The state from which all trials start. */
typedef struct AdviseStart {
    void *bytes;
    size_t size;
    int threads; /* as talus_world_load */
    const char *backend;
} AdviseStart;

AdviseScales advise_scales(const TalusWorld *world);
/* Runs the trial until it covers `span` (infinite: no end) or has taken `seconds` of the clock, but at least two steps.
 * A step that fails ends it and is noted. Fails only if the state cannot be loaded. */
TalusStatus advise_run_trial(const AdviseStart *start, const AdviseScales *scales, double span,
                             double seconds, AdviseTrial *trial);

/* ---- advise_plan.c ---- */
/* Returns the default of worlds at this world's step, with the compliance that it has for these bodies. */
TalusWorldChanges advise_default(const TalusWorld *world);
/* Writes the settings to try, in the order of trials; returns their number. own: that of the scene; base: the default,
 * with which the other settings are compared. */
int advise_plan(const TalusWorldChanges *own, const TalusWorldChanges *base,
                AdviseSetting out[ADVISE_SETTINGS]);
bool advise_same(const TalusWorldChanges *a, const TalusWorldChanges *b);

/* ---- advise_judge.c ---- */
/* Compares the trials with the most accurate one and fills the advice. */
void advise_judge(Advise *advise);
/* After a trial of the recommended setting: compares it as well, and takes back what is not confirmed. */
void advise_confirm(Advise *advise);

/* ---- advise_print.c ---- */
void advise_print(const Advise *advise);
void advise_print_json(const Advise *advise);
/* Writes "coulomb, compliance 0.01, tolerance 0.01, step 0.005 s". */
void advise_describe(const TalusWorldChanges *with, char *text, size_t size);

#endif
