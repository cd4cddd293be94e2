/* solvers/apgd.c - accelerated projected gradient descent.
 *
 * Nesterov's method in the metric x = gamma / s: s_n = N_nn^-1/2, s_t = N_tt^-1/2 (anisotropic), in
 * which the cone stays circular with mu s_n / s_t. Momentum is dropped whenever it points uphill
 * (gradient restart). The step is 1/L, L an estimate of the largest eigenvalue of S (N + E) S: a few
 * power iterations at first, kept from solve to solve, slowly lowered, and raised at once when two
 * consecutive gradients show a larger curvature |g - g'| / |x - x'|. No test on the objective: that
 * stalls at 1e-8 by cancellation. One product per iteration. */
#include "solvers/solver.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { POWER_ITERATIONS = 12 };

typedef struct Params {
    int metric, check;
    bool restart;
    double margin, forget;
} Params;

typedef struct State {
    double norm; /* L of the last solve, 0 before the first */
} State;

typedef struct Work {
    double *x_prev, *g_prev;
    TalusMetricBlock *metric;
    size_t x_room, g_room, metric_room;
} Work;

static const char *const metrics[] = {"trace", "anisotropic", NULL};

static const TalusParam params[] = {
    {"metric", TALUS_PARAM_CHOICE, offsetof(Params, metric), TALUS_METRIC_ANISOTROPIC, 0, 0,
     metrics, "diagonal scaling of the unknowns"},
    {"restart", TALUS_PARAM_FLAG, offsetof(Params, restart), 1, 0, 1, NULL,
     "drop the momentum when it points uphill"},
    {"check", TALUS_PARAM_INT, offsetof(Params, check), 5, 1, 1000, NULL,
     "iterations between residual evaluations"},
    {"margin", TALUS_PARAM_REAL, offsetof(Params, margin), 1.02, 1.0, 10.0, NULL,
     "factor on the norm estimate"},
    {"forget", TALUS_PARAM_REAL, offsetof(Params, forget), 0.97, 0.1, 1.0, NULL,
     "factor on the norm estimate carried to the next solve"},
};

static TalusStatus reserve(TalusSolve *s, Work *w)
{
    size_t blocks = (size_t)s->op->blocks, n = blocks * (size_t)s->op->rows;
    TALUS_TRY(s->backend->reserve(&w->x_prev, &w->x_room, n, "previous impulses"));
    TALUS_TRY(s->backend->reserve(&w->g_prev, &w->g_room, n, "previous gradient"));
    return TALUS_RESERVE(w->metric, w->metric_room, blocks, 0, "metric");
}

/* Nesterov's weights: theta' = (1 + sqrt(1 + 4 theta^2)) / 2, beta = (theta - 1) / theta'. */
static double next_momentum(double *theta)
{
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *theta * *theta));
    double beta = (*theta - 1.0) / next;
    *theta = next;
    return beta;
}

/* Iterates until told to stop; the vector to return is in state->x_prev (the one just measured). */
static void iterate(TalusSolve *s, const Params *p, State *state, TalusAccelerated *a)
{
    double theta = 1.0;
    bool go = true;
    for (int k = 0; go; k++) {
        TalusStepSums sums;
        a->step = 1.0 / state->norm;
        a->want_residual =
            k % p->check == 0 || s->info->iterations + 1 >= s->options->max_iterations;
        s->backend->accelerate(s->op, a, &sums);
        bool too_long = sums.dg2 > state->norm * state->norm * sums.dx2 && sums.dx2 > 0.0 && k > 0;
        if (too_long)
            state->norm = p->margin * sqrt(sums.dg2 / sums.dx2);
        if (too_long || (p->restart && sums.restart > 0.0)) {
            theta = 1.0;
            a->beta = 0.0;
        } else {
            a->beta = next_momentum(&theta);
        }
        talus_solve_count(s, 1);
        if (a->want_residual) {
            double rms = sqrt(sums.residual2 / s->op->blocks);
            if (talus_solve_wants_iterate(s))
                a->warm = false; /* showing it uses the scratch */
            go = talus_solve_show(s, a->x_prev, a->metric, rms) &&
                 talus_solve_continue(s, rms, sums.residual_max);
        }
    }
}

static TalusStatus solve_apgd(TalusSolve *s)
{
    const Params *p = s->params;
    State *state = s->state;
    Work *w = s->work;
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    TALUS_TRY(reserve(s, w));
    talus_solver_metric(s, (TalusMetric)p->metric, w->metric);
    const TalusMetricBlock *metric = (const TalusMetricBlock *)w->metric;
    if (state->norm > 0.0)
        state->norm *= p->forget;
    else
        state->norm =
            p->margin * talus_operator_norm(s, metric, POWER_ITERATIONS, w->x_prev, w->g_prev);
    s->backend->scale(s->op, metric, true, s->gamma);
    memcpy(w->x_prev, s->gamma, n * sizeof *s->gamma);
    memset(w->g_prev, 0, n * sizeof *w->g_prev);
    TalusAccelerated a = {
        .x = s->gamma, .x_prev = w->x_prev, .g_prev = w->g_prev, .metric = metric};
    iterate(s, p, state, &a);
    if (a.x_prev != s->gamma)
        memcpy(s->gamma, a.x_prev, n * sizeof *s->gamma);
    s->backend->scale(s->op, metric, false, s->gamma);
    return TALUS_OK;
}

static void clear(void *work)
{
    Work *w = work;
    talus_release(w->x_prev);
    talus_release(w->g_prev);
    talus_release(w->metric);
}

const TalusSolverType talus_solver_apgd = {
    .name = "apgd",
    .summary = "accelerated projected gradient, anisotropic metric, restarts: the default",
    .reference = "Nesterov 1983; O'Donoghue and Candes 2015 for the restart; Mazhar et al. 2015",
    .takes = TALUS_TAKES_ALL,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .param_size = sizeof(Params),
    .state_size = sizeof(State),
    .work_size = sizeof(Work),
    .solve = solve_apgd,
    .clear = clear,
};
