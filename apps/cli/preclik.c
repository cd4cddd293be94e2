/* preclik.c - the experiments of preclik-2009, section 4: spheres settling in a box at mu 0.8, solved
 * under every friction model of the paper and, as its conclusion asks, under the convex cones.
 *
 * The paper gives 1,702 contacts and neither spheres nor time. Here 726 spheres have fallen for 0.6 s:
 * 1,700 contacts or so, on three states that differ in the lattice's jitter. All solvers start from zero
 * impulses; the box has its bounds from a frictionless solution, one for all solvers. Residuals are in
 * the maximum norm, as in the paper, and relative to that of zero impulses. */
#include "experiment.h"

#include <math.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- cases: every model on every state ---- */

enum { FRICTIONLESS, BOX, PYRAMID, CONE, CONVEX_PYRAMID, CONVEX_CONE, MODELS, STATES = 3 };

static const TalusFrictionModel models[MODELS] = {
    [FRICTIONLESS] = {TALUS_SECTION_NONE, TALUS_LAW_CCP, 0},
    [BOX] = {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0},
    [PYRAMID] = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0},
    [CONE] = {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0},
    [CONVEX_PYRAMID] = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0},
    [CONVEX_CONE] = {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0},
};

static const char *const model_names[MODELS] = {
    "frictionless", "box", "pyramid", "circular cone", "convex pyramid", "convex cone"};

#define STATE_SET(bodies, seed)                                                  \
    {                                                                            \
        "bodies=" bodies, "mu=0.8", "bodies[grains].seed=" seed \
    }
#define CASE(title, seed, index, solver)                                                   \
    {                                                                                      \
        .name = title ", state " seed, .quick_name = title ", state " seed ", quick",      \
        .scene = "settle-box", .at = 0.6, .quick_at = 0.4, .set = STATE_SET("726", seed), \
        .quick_set = STATE_SET("64", seed), .model = &models[index], .exact = solver       \
    }
#define STATE(seed)                                                                    \
    CASE("frictionless", seed, FRICTIONLESS, "ssn"), CASE("box", seed, BOX, "ssn"),    \
        CASE("pyramid", seed, PYRAMID, NULL), CASE("circular cone", seed, CONE, NULL), \
        CASE("convex pyramid", seed, CONVEX_PYRAMID, NULL),                            \
        CASE("convex cone", seed, CONVEX_CONE, NULL)

static const BenchCase cases[] = {STATE("1"), STATE("2"), STATE("3")};

/* On all states. */
#define ON(model) (1u << (model) | 1u << ((model) + MODELS) | 1u << ((model) + 2 * MODELS))
#define CPG_PAPER "cpg:variant=two,metric=none"
#define SSN_PAPER "ssn:metric=none"

enum { ITERATIONS = 5000 };
static const double tolerance = 1e-9;

#define RUN(solver, cases)                     \
    {                                          \
        solver, ITERATIONS, 1e-9, false, cases \
    }

static const BenchRun runs[] = {
    RUN("cpg", ON(FRICTIONLESS) | ON(BOX) | ON(PYRAMID)),
    RUN(CPG_PAPER, ON(FRICTIONLESS) | ON(BOX) | ON(PYRAMID)),
    RUN("pgs", ON(FRICTIONLESS) | ON(BOX) | ON(PYRAMID)),
    RUN("ssn", ON(FRICTIONLESS) | ON(BOX) | ON(PYRAMID)),
    RUN(SSN_PAPER, ON(FRICTIONLESS) | ON(BOX) | ON(PYRAMID)),
    RUN("bgs-enum", ON(PYRAMID)),
    RUN("gs-disc", ON(CONE)),
    RUN("gs", ON(CONVEX_PYRAMID) | ON(CONVEX_CONE)),
    RUN("apgd", ON(CONVEX_PYRAMID) | ON(CONVEX_CONE)),
    RUN("lbfgs-fb", ON(BOX) | ON(PYRAMID) | ON(CONE) | ON(CONVEX_PYRAMID) | ON(CONVEX_CONE)),
};

static void conclude(LabSet *set, int divisor)
{
    (void)set;
    (void)divisor;
    (void)tolerance;
    (void)model_names;
}

const Experiment preclik = {.name = "preclik",
                            .summary = "settling spheres at mu 0.8: every friction model",
                            .source = "preclik-2009 Figs. 2-4",
                            .cases = cases,
                            .case_count = COUNT(cases),
                            .runs = runs,
                            .run_count = COUNT(runs),
                            .conclude = conclude};
