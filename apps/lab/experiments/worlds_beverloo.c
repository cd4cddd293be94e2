/* lab/experiments/worlds_beverloo.c - discharge of an hourglass: the number W of grains per second through a neck
 * of diameter D, compared with Beverloo's law W = C (D - k d)^(5/2), d the grains' diameter.
 *
 * The bulbs are the same for all necks. Once the flow is steady, the grains below the neck are counted at the ends
 * of equal windows of time. The rate of a neck is the mean over the windows of all seeds; its error is the standard
 * deviation of the windows' rates divided by the root of the number of windows. C and k come from least squares with
 * these errors. */
#include "worlds.h"

#include <math.h>

/* Numbers of necks and seeds; maximum number of windows for a neck, over all seeds. */
enum { NECKS = 7, SEEDS = 2, WINDOWS = 200 };

/* Values of scenes/hourglass.json, m: diameter of a grain; radius of the bulbs over the cube root of the grains. */
static const double diameter = 0.2, bulb_per_root = 0.16;

/* Diameters of necks, in grain diameters. */
static const double necks[NECKS] = {5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0};
static const double quick_necks[NECKS] = {3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0};

typedef struct Flow {
    int bodies;
    double bulb;  /* radius of the bulbs, m */
    double waist; /* height of the neck, m; set by measure_neck */
    /* Times, s: from which the flow is steady; length of a window; end of the run. */
    double begin, window, end;
    double min_above; /* counting ends when less than this share of the grains is above the neck */
} Flow;

typedef struct Rate {
    double neck;            /* D / d */
    double window[WINDOWS]; /* rate in each window, grains/s */
    int windows;
    double mean, error; /* mean of these rates and its standard error, grains/s */
    WorldsStep worst;   /* maximum residuals over the steps of all seeds; other fields are 0 */
} Rate;

/* ---- counting ---- */

/* Counts the moving bodies below `height`. */
static TalusStatus count_below(const TalusWorld *world, double height, int *below)
{
    TalusSnapshot s = {0};
    TALUS_TRY(talus_snapshot_take(&s, world, 0));
    *below = 0;
    for (int i = 0; i < s.body_count; i++)
        *below += !s.fixed[i] && s.position[i].z < height;
    talus_snapshot_free(&s);
    return TALUS_OK;
}

/* Makes steps until `time`, s, and updates the maximum residuals in rate->worst. */
static TalusStatus step_until(const Worlds *w, TalusWorld *world, double time, Rate *rate)
{
    int64_t last = cli_steps_until(time, talus_world_step_length(world));
    while (talus_world_steps(world) < last) {
        TalusStepInfo info;
        TALUS_TRY(talus_world_step(world, &info));
        TALUS_TRY(worlds_check_stop(w));
        rate->worst.rms = fmax(rate->worst.rms, info.solve.residual.rms);
        rate->worst.relative =
            fmax(rate->worst.relative, info.solve.residual.rms / info.reference_speed);
    }
    return TALUS_OK;
}

/* Steps the world to f->end and appends the rate of each window to `rate`. Ends earlier, without the window just
 * stepped, if less than f->min_above of the grains are above the neck; also if rate->window is full. */
static TalusStatus measure_rates(const Worlds *w, TalusWorld *world, const Flow *f, Rate *rate)
{
    int before, now;
    TALUS_TRY(step_until(w, world, f->begin, rate));
    TALUS_TRY(count_below(world, f->waist, &before));
    int count = (int)floor((f->end - f->begin) / f->window + 1e-6);
    for (int i = 1; i <= count && rate->windows < WINDOWS; i++) {
        TALUS_TRY(step_until(w, world, f->begin + i * f->window, rate));
        TALUS_TRY(count_below(world, f->waist, &now));
        if (f->bodies - now < f->min_above * f->bodies)
            break;
        rate->window[rate->windows++] = (now - before) / f->window;
        before = now;
    }
    return TALUS_OK;
}

/* Runs all seeds with a neck of diameter `neck` d and fills `rate`. */
static TalusStatus measure_neck(const Worlds *w, Flow f, double neck, Rate *rate)
{
    double radius = 0.5 * neck * diameter;
    *rate = (Rate){.neck = neck};
    f.waist = 0.6 * f.bulb + (f.bulb - radius);
    for (int seed = 1; seed <= (w->quick ? 1 : SEEDS); seed++) {
        WorldsCase c = {.scene = "hourglass", .backend = w->backend[0]};
        TalusWorld *world;
        worlds_assign(&c.sets, "bodies=%d", f.bodies);
        worlds_assign(&c.sets, "neck=%.17g", radius);
        worlds_assign(&c.sets, "bulb=%.17g", f.bulb);
        worlds_assign(&c.sets, "bodies[grains].seed=%d", seed);
        TALUS_TRY(worlds_build(w, &c, &world));
        TalusStatus status = measure_rates(w, world, &f, rate);
        talus_world_destroy(world);
        TALUS_TRY(status);
    }
    if (rate->windows < 3)
        return talus_fail(TALUS_ERR_NUMERIC, "beverloo: D = %g d gave %d windows; 3 are needed",
                          neck, rate->windows);
    rate->mean = worlds_mean(rate->window, rate->windows);
    rate->error = worlds_deviation(rate->window, rate->windows) / sqrt(rate->windows);
    worlds_print_line(w, "beverloo: D = %g d: %.1f +- %.1f grains/s from %d windows", neck,
                      rate->mean, rate->error, rate->windows);
    return TALUS_OK;
}

/* ---- the fit ---- */

typedef struct Fit {
    double k, c;             /* W = c (D / d - k)^(5/2) grains/s */
    double c_error, k_error; /* standard errors */
    double chi2;             /* sum of (deviation / error)^2 over the necks */
    int points;              /* number of necks */
} Fit;

/* Returns (D / d - k)^(5/2), with `neck` = D / d; 0 if that is less than k. */
static double power_law(double neck, double k)
{
    double x = fmax(neck - k, 0.0);
    return x * x * sqrt(x);
}

/* Writes the C of least chi^2 for this k and its standard error; returns that chi^2, the sum of (deviation / error)^2
 * over the necks. */
static double fit_coefficient(const Rate *rate, double k, double *c, double *c_error)
{
    double xx = 0.0, xy = 0.0, chi2 = 0.0;
    for (int i = 0; i < NECKS; i++) {
        double x = power_law(rate[i].neck, k) / rate[i].error;
        xx += x * x;
        xy += x * rate[i].mean / rate[i].error;
    }
    *c = xy / xx;
    *c_error = 1.0 / sqrt(xx);
    for (int i = 0; i < NECKS; i++) {
        double miss = (rate[i].mean - *c * power_law(rate[i].neck, k)) / rate[i].error;
        chi2 += miss * miss;
    }
    return chi2;
}

/* Finds the k of least chi^2 by golden section in [0, 2.9]. The error of k is the change of k by which chi^2, taken as
 * a parabola with its curvature at the minimum, rises by 1. */
static Fit fit_law(const Rate *rate)
{
    static const double golden = 0.6180339887498949, width = 1e-3;
    double low = 0.0, high = 2.9, c, error;
    for (int i = 0; i < 60; i++) {
        double a = high - golden * (high - low), b = low + golden * (high - low);
        if (fit_coefficient(rate, a, &c, &error) < fit_coefficient(rate, b, &c, &error))
            high = b;
        else
            low = a;
    }
    Fit f = {.k = 0.5 * (low + high), .points = NECKS};
    double curvature = fit_coefficient(rate, f.k + width, &c, &error) +
                       fit_coefficient(rate, f.k - width, &c, &error);
    f.chi2 = fit_coefficient(rate, f.k, &f.c, &f.c_error);
    f.k_error = width * sqrt(2.0 / (curvature - 2.0 * f.chi2));
    return f;
}

/* ---- the table ---- */

/* Adds the table of rates beside the fit, and the verdict on the fit. */
static void add_rate_table(Worlds *w, const Rate *rate, const Fit *f, const Flow *flow)
{
    LabTable *t = lab_set_add_table(
        w->set, "Beverloo: grains per second through the neck",
        "D/d\twindows\tgrains/s\terror\tthe law's\toff by, %\tin errors\trms/gh, most");
    double worst = 0.0;
    WorldsStep step = {0};
    for (int i = 0; i < NECKS; i++) {
        double fitted = f->c * power_law(rate[i].neck, f->k), off = rate[i].mean - fitted;
        worst = fmax(worst, fabs(off) / fitted);
        lab_table_add_cells(t, "%g\t%d\t%.2f\t%.2f\t%.2f\t%+.2f\t%+.2f\t%.2e", rate[i].neck,
                            rate[i].windows, rate[i].mean, rate[i].error, fitted,
                            100.0 * off / fitted, off / rate[i].error, rate[i].worst.relative);
        step.rms = fmax(step.rms, rate[i].worst.rms);
        step.relative = fmax(step.relative, rate[i].worst.relative);
    }
    snprintf(t->note, sizeof t->note,
             "W = %.3f +- %.3f grains/s (D/d - k)^2.5 with k = %.3f +- %.3f; chi^2 %.1f for %d "
             "degrees of freedom; the largest deviation is %.2f %%. %d spheres, windows of %g s, "
             "backend %s.",
             f->c, f->c_error, f->k, f->k_error, f->chi2, f->points - 2, 100.0 * worst,
             flow->bodies, flow->window, w->backend[0]);
    worlds_add_verdict(w, sqrt(f->chi2 / (f->points - 2)), 2.0, "", &step,
                       "beverloo: root of chi^2 per degree of freedom");
}

static TalusStatus run_beverloo(Worlds *w)
{
    Flow f = {.bodies = worlds_choose_size(w, 20000, 400),
              .begin = w->quick ? 0.8 : 4.0,
              .window = w->quick ? 0.1 : 0.5,
              .end = w->quick ? 1.2 : 14.0,
              .min_above = w->quick ? 0.1 : 0.35};
    static Rate rate[NECKS];
    f.bulb = w->quick ? 1.4 : bulb_per_root * cbrt(f.bodies);
    for (int i = 0; i < NECKS; i++)
        TALUS_TRY(measure_neck(w, f, w->quick ? quick_necks[i] : necks[i], &rate[i]));
    Fit law_fit = fit_law(rate);
    add_rate_table(w, rate, &law_fit, &f);
    return TALUS_OK;
}

const WorldsRow worlds_beverloo = {
    .name = "beverloo",
    .summary = "discharge of an hourglass against the diameter of its neck",
    .source = "Beverloo, Leniger and van de Velde 1961: W = C (D - k d)^2.5",
    .share = 85.0,
    .run = run_beverloo};
