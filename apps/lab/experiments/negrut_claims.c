/* lab/experiments/negrut_claims.c - judges the statements of negrut-2009 by runs of the hourglass. Residuals are rms over
 * g h, and overlaps over the size of the spheres. */
#include "negrut.h"

#include <math.h>

const double negrut_omegas[] = {0.3, 1.0, 1.5, 1.9};

bool negrut_stays_bounded(const NegrutRun *r)
{
    return r->late < 1.0;
}

/* Judges whether all of the flow was simulated; a run that was cut short is not judged. */
static void claim_flow(const Negrut *n)
{
    const NegrutRun *gs = &n->run[NEGRUT_COLOURED];
    const Claim claim = {.statement = "three minutes of flow can be simulated",
                         .rule = "Algorithm 1 by colours: the upper bulb runs empty, within 180 s, "
                                 "and no overlap exceeds half of the size"};
    if (isnan(gs->emptied) && gs->steps < NEGRUT_STEPS)
        claims_add(n->w->set, &claim, CLAIM_UNJUDGED, "only %d steps were made", gs->steps);
    else if (isnan(gs->emptied))
        claims_add(n->w->set, &claim, CLAIM_FAILS, "the bulb is not empty after %d steps",
                   gs->steps);
    else
        claims_add(n->w->set, &claim, claim_if(gs->worst <= 0.5),
                   "%d spheres, empty at %.2f s: %d steps in %.1f s of wall clock, largest overlap "
                   "%.1e",
                   gs->bodies, gs->emptied, gs->steps, gs->seconds, gs->worst);
}

/* Judges a run in another order by one of the same size in a fixed order. */
static void claim_order(const Negrut *n, const char *statement, const NegrutRun *other,
                        const NegrutRun *fixed)
{
    claims_add(
        n->w->set,
        &(Claim){.statement = statement,
                 .rule = "median residual and mean overlap at most twice those of a fixed order"},
        claim_if(other->residual <= 2.0 * fixed->residual && other->mean <= 2.0 * fixed->mean),
        "%d spheres: rms over g h %.1e against %.1e, overlap %.1e against %.1e", other->bodies,
        other->residual, fixed->residual, other->mean, fixed->mean);
}

/* Judges updates without order, which are what the paper ran. On one thread they come in the order of the list. */
static void claim_unsynchronised(const Negrut *n)
{
    const NegrutRun *threads = &n->run[NEGRUT_UNSYNCHRONISED],
                    *gpu = &n->run[NEGRUT_GPU_UNSYNCHRONISED];
    static const char statement[] = "updates of threads that do not wait for each other work on "
                                    "large models";
    if (threads->threads < 2)
        claims_add(n->w->set, &(Claim){.statement = statement, .rule = "two threads at least"},
                   CLAIM_UNJUDGED, "on one thread this is the order of the list");
    else
        claim_order(n, statement, threads, &n->run[NEGRUT_FORWARD]);
    if (gpu->steps > 0)
        claim_order(n, "so do updates of a GPU without order (omega 0.3)", gpu,
                    &n->run[NEGRUT_COLOURED]);
}

/* Judges penetration by the runs of Algorithm 1 in a fixed order. */
static void claim_penetration(const Negrut *n)
{
    const NegrutRun *list = &n->run[NEGRUT_FORWARD], *colours = &n->run[NEGRUT_COLOURED];
    double most = fmax(list->mean_most, colours->mean_most), mean = fmax(list->mean, colours->mean);
    claims_add(
        n->w->set,
        &(Claim){.statement = "low penetration with a fixed, small number of iterations, 140",
                 .rule = "Algorithm 1, in the order of the list and by colours: mean overlap at "
                         "most 1 % of the size in every step; in part: in half of them"},
        claim_if_whole(most <= 0.01, mean <= 0.01),
        "median of the means %.1e, largest mean %.1e, largest overlap %.1e", mean, most,
        fmax(list->worst, colours->worst));
}

/* Counts the runs of an order whose residuals stay bounded, with omega above `from`, at most `to`. */
static int count_bounded(const NegrutOmegaRuns *runs, int order, double from, double to)
{
    int count = 0;
    for (int k = 0; k < NEGRUT_OMEGAS; k++)
        count += negrut_omegas[k] > from && negrut_omegas[k] <= to &&
                 negrut_stays_bounded(&runs->run[order][k]);
    return count;
}

/* Judges whether small values of omega are suitable. The paper gives none: the assumptions of its proof "can be met by a
 * suitable choice" of omega > 0, so by every value that is small enough. */
static void claim_omega(const Negrut *n, const NegrutOmegaRuns *runs)
{
    static const double most = 1.0;
    int small = 0;
    for (int k = 0; k < NEGRUT_OMEGAS; k++)
        small += negrut_omegas[k] <= most;
    const int forward = count_bounded(runs, 0, 0.0, most),
              random = count_bounded(runs, 1, 0.0, most);
    claims_add(n->w->set,
               &(Claim){.statement = "the iteration converges for suitable omega",
                        .rule = "for each omega of the table up to 1, in the order of the list, "
                                "residuals stay bounded: after 140 iterations each one of the "
                                "second half of the steps is below g h, what contacts at rest "
                                "have without an iteration; in part: for one omega"},
               claim_if_whole(forward == small, forward > 0),
               "%d of %d in the order of the list (%d of %d in random order, whose convergence "
               "the paper leaves open); of those above 1, %d and %d of %d",
               forward, small, random, small, count_bounded(runs, 0, most, INFINITY),
               count_bounded(runs, 1, most, INFINITY), NEGRUT_OMEGAS - small);
}

void negrut_judge(const Negrut *n, const NegrutOmegaRuns *runs)
{
    LabSet *set = n->w->set;
    const NegrutRun *gs = &n->run[NEGRUT_COLOURED], *jacobi = &n->run[NEGRUT_JACOBI],
                    *apgd = &n->run[NEGRUT_APGD];
    claim_penetration(n);
    claim_flow(n);
    claims_add(set,
               &(Claim){.statement = "Gauss-Jacobi converges more slowly than Gauss-Seidel",
                        .rule = "a larger median residual after 140 iterations than by colours"},
               claim_if(jacobi->residual > gs->residual), "rms over g h %.1e against %.1e",
               jacobi->residual, gs->residual);
    claim_order(n, "updates in random order work on large models", &n->run[NEGRUT_SHUFFLED],
                &n->run[NEGRUT_FORWARD]);
    claim_unsynchronised(n);
    claim_omega(n, runs);
    claims_add(set,
               &(Claim){.statement = "the cone problem is no longer the bottleneck, collision "
                                     "detection is",
                        .rule = "solves take less than half of the time, with apgd and with "
                                "Algorithm 1 by colours"},
               claim_if(fmax(apgd->solve_share, gs->solve_share) < 0.5),
               "%.0f %% of the time with apgd, %.0f %% with Algorithm 1 by colours, on %s",
               100.0 * apgd->solve_share, 100.0 * gs->solve_share, n->w->backend[0]);
}
