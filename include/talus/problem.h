/* talus/problem.h - one contact problem: minimise 1/2 g'(N + E)g + q'g over g in K.
 *
 * A problem is either matrix-free (bodies and contacts, N = D' M^-1 D) or explicit (a sparse N).
 * The unknown gamma (impulses) lives in the problem; a solver improves it in place.
 *
 * Blocks: every contact owns `rows` consecutive entries of gamma, rows = 1 (normal only) when no
 * contact has friction, else 3 (normal, tangent 1, tangent 2), or 6 where some contact resists spinning
 * or rolling (then the moments about normal, tangent 1 and tangent 2, divided by the contact's length).
 * K is nonneg or the set of the contact's friction model (talus/set.h).
 *
 * Sign conventions: the normal points from body a to body b; the contact velocity is that of b
 * relative to a, so a positive normal velocity opens the gap. gamma acts on b, minus gamma on a. */
#ifndef TALUS_PROBLEM_H
#define TALUS_PROBLEM_H

#include <talus/backend.h>
#include <talus/base.h>
#include <talus/math.h>
#include <talus/set.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusProblem TalusProblem;

typedef struct TalusContactDef {
    int32_t a, b; /* body indices; -1 in b is the fixed world; a is a body */
    TalusVec3 normal;
    TalusVec3 arm_a, arm_b; /* contact point relative to the bodies' centres */
    double mu;
    double bias;       /* b_n: phi/h and the like, added to the normal row of D'v */
    double compliance; /* E on the normal row, 0 for rigid contact */
    TalusFrictionModel model;
    double spinning,
        rolling;   /* friction against turning about the normal, about the tangents: the moment
                                 is at most this times `length` times the normal impulse */
    double length; /* > 0 where one of these is */
} TalusContactDef;

typedef struct TalusProblemDef {
    /* matrix-free form: contacts != NULL */
    int body_count;
    const double *inv_mass;       /* [body_count], 0 for a body that cannot move */
    const TalusSym3 *inv_inertia; /* [body_count], world frame */
    const double *radius;         /* [body_count]: > 0 marks a homogeneous sphere; may be NULL */
    const double *free_velocity;  /* [6 body_count]: v_f, linear then angular, world frame */
    int contact_count;
    const TalusContactDef *contacts;
    /* explicit form: values != NULL; compressed rows, blocks of `rows` (1 or 3). Symmetric, but for
     * problems whose friction is all Coulomb's: there the pattern of blocks alone has to be */
    int block_count;
    int rows;
    const int32_t *row_start; /* [rows * block_count + 1] */
    const int32_t *column;
    const double *values;
    const double *offset;            /* q, [rows * block_count] */
    const double *mu;                /* [block_count] when rows is 3 */
    const TalusFrictionModel *model; /* [block_count]; NULL: all zeros */
} TalusProblemDef;

TalusStatus talus_problem_create(const TalusProblemDef *def, TalusPool *pool, TalusProblem **out);
void talus_problem_destroy(TalusProblem *problem);

/* Where solvers work on this problem: "cpu" (the default) or another of talus_backend_row. The problem's
 * data and impulses stay readable on the host as before. */
TalusStatus talus_problem_set_backend(TalusProblem *problem, const char *backend);

/* The friction model of all contacts that have friction; TALUS_SECTION_NONE makes them frictionless, one
 * row each. Impulses start from zero. */
TalusStatus talus_problem_set_friction(TalusProblem *problem, TalusFrictionModel model);
TalusFrictionModel talus_problem_friction(const TalusProblem *problem, int block);
/* Normal impulses from which blocks under TALUS_LAW_FIXED have their bounds, [blocks], left there by a solve;
 * NULL: no block is under it. The caller may write them. */
double *talus_problem_estimate(TalusProblem *problem);

/* The proof that the problem has no solution, [size], left there by a solve with the outcome infeasible or by the
 * file it was read from; NULL: there is none. A direction in K, under the laws fixed and coulomb without friction,
 * whose impulses cancel, N delta = 0, while q'delta < 0. */
const double *talus_problem_certificate(const TalusProblem *problem);
/* The same given by the caller, to be written with the problem; NULL takes it away. */
TalusStatus talus_problem_set_certificate(TalusProblem *problem, const double *certificate);

int talus_problem_blocks(const TalusProblem *problem);
int talus_problem_rows(const TalusProblem *problem); /* rows per block */
int talus_problem_size(const TalusProblem *problem); /* rows times blocks */
int talus_problem_bodies(const TalusProblem *problem);
double talus_problem_mu(const TalusProblem *problem, int block);

/* The problem's data as a def that talus_problem_create would take. Its arrays belong to the problem
 * and stay valid until it changes or is destroyed. */
TalusStatus talus_problem_export(TalusProblem *problem, TalusProblemDef *def);

/* The impulses, [size]; the caller may write a starting point. */
double *talus_problem_gamma(TalusProblem *problem);

/* out = N x (operator product), q, u = N gamma + q, and the gradient (N + E) gamma + q. */
void talus_problem_apply(TalusProblem *problem, const double *x, double *out);
void talus_problem_offset(TalusProblem *problem, double *q);
void talus_problem_velocity(TalusProblem *problem, const double *gamma, double *u);
void talus_problem_gradient(TalusProblem *problem, const double *gamma, double *gradient);

/* v = v_f + M^-1 D gamma, [6 bodies]; matrix-free problems only. */
TalusStatus talus_problem_body_velocity(TalusProblem *problem, const double *gamma, double *v);

/* Diagonal scaling of block i in 1/mass: mean of the block's diagonal entries of N + E. */
double talus_problem_diagonal(const TalusProblem *problem, int block);

/* The one definition of error: the natural residual of each block in m/s,
 *     d_i | gamma_i - P_i(gamma_i - g_i / d_i) |,   g = (N + E) gamma + q,  d_i the diagonal above,
 * as root mean square over blocks and as maximum. P_i projects onto the cone of the block's section (ccp),
 * onto the prism with its bounds (fixed), or onto the cone with De Saxce's shift sigma_i(-u_t), the support
 * function of the section, added to the normal entry of g_i (coulomb). */
typedef struct TalusResidual {
    double rms, max;
} TalusResidual;

void talus_problem_residual(TalusProblem *problem, const double *gamma, TalusResidual *out);

/* What rounding may hide of that residual: TALUS_ROUNDING times |N| |gamma| + |q|, the size of the terms of the gradient
 * (docs/reference/metrics.md), as root mean square over blocks, and twice that as maximum, for single blocks scatter. An
 * estimate, not a bound: measured errors were mostly below 0.4 of it, at most 1.8. Impulses so large that velocities are
 * lost in it solve nothing, however small a residual comes out. */
#define TALUS_ROUNDING 0x1p-52

/* The value of the objective that the problem minimises. */
TalusStatus talus_problem_objective(TalusProblem *problem, const double *gamma, double *objective);

/* Everything the laboratory reports about an iterate, in one place (docs/reference/metrics.md). With g the
 * gradient, u the contact velocity, P the projection onto K, K* the dual cone, all 2-norms: */
typedef struct TalusMetrics {
    double objective;
    TalusResidual natural;       /* above */
    TalusResidual rounding;      /* what rounding may hide of it, above */
    double natural_at_zero;      /* rms of gamma = 0 */
    double natural_relative;     /* natural.rms over it; where it is 0: 0, or infinite */
    double projected_gradient;   /* heyn-2012 (24): |gamma - P(gamma - tau_g g)| / tau_g, m/s */
    double tau_g;                /* 1 / the largest diagonal scaling of a block */
    double complementarity_mean; /* per block |gamma_i . g_i|, heyn-2012 Fig. 9; J */
    double complementarity_std;
    double complementarity_max;
    double primal_infeasibility; /* largest distance of a g_i from K*, m/s */
    double cone_violation;       /* largest distance of a gamma_i from K, N s */
    double duality_gap;          /* |gamma . g|: primal minus dual objective when g is in K*; J */
    double duality_gap_scaled;   /* the same over the largest |q_i| or |N_ii|, as OOQP */
    double siconos;              /* exact Coulomb: |gamma - P(gamma - u - (mu|u_t|,0,0))| over */
    double siconos_over_q;       /*   max(|q|, |gamma|, |u|), and over |q| */
    double siconos_rounding;     /* what rounding may hide of `siconos` */
    double dilation; /* Coulomb blocks: rms of what ccp would open them by, sigma_i(-u_t); m/s */
    double bound_mismatch;       /* fixed blocks: rms of d_i mu_i |gamma_n - estimate|, m/s */
    int open, sliding, sticking; /* blocks with gamma = 0, on the mantle, inside */
} TalusMetrics;

TalusStatus talus_problem_measure(TalusProblem *problem, const double *gamma, TalusMetrics *out);

/* A block without friction is open or, where it bears, sticking. */
typedef enum TalusBlockState {
    TALUS_BLOCK_OPEN,
    TALUS_BLOCK_SLIDING,
    TALUS_BLOCK_STICKING
} TalusBlockState;

TalusBlockState talus_problem_state(const TalusProblem *problem, int block, const double *gamma);

#ifdef __cplusplus
}
#endif

#endif
