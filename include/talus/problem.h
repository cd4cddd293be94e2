/* talus/problem.h - one contact problem: minimise 1/2 gamma'(N + E)gamma + q'gamma over gamma in K.
 *
 * A problem is matrix-free (bodies and contacts, N = D' M^-1 D) or explicit (a sparse N). The unknown gamma (impulses)
 * belongs to the problem; a solver improves it in place.
 *
 * Blocks: every contact owns `rows` consecutive entries of gamma. rows is 1 (normal) if no contact has friction, else 3
 * (normal, tangent 1, tangent 2), or 6 if some contact resists spinning or rolling (then the moments about normal,
 * tangent 1 and tangent 2, divided by the contact's length). K is the product of the half lines gamma_n >= 0 or of the
 * sets of the contacts' friction models (talus/set.h).
 *
 * Signs: the normal points from body a to body b. The contact velocity is that of b relative to a, so a positive normal
 * velocity opens the gap. gamma acts on b, minus gamma on a. */
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
    int32_t a, b; /* indices of bodies; b = -1 is the fixed world */
    TalusVec3 normal;
    TalusVec3 arm_a, arm_b; /* m: contact point relative to the bodies' centres */
    double mu;
    double bias;       /* b_n, m/s: phi/h and others, added to the normal row of D'v */
    double compliance; /* E on the normal row, 1/kg; 0: rigid */
    TalusFrictionModel model;
    /* Bounds of the moments about the normal and about the tangents, over `length` times the normal impulse. */
    double spinning, rolling;
    double length; /* m: contact length of the moments; > 0 if spinning or rolling is > 0 */
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
    /* explicit form: values != NULL; compressed rows, blocks of `rows` (1 or 3). N is symmetric, unless all friction is
     * Coulomb's: then only the pattern of blocks must be symmetric. */
    int block_count;
    int rows;
    const int32_t *row_start; /* [rows * block_count + 1] */
    const int32_t *column;
    const double *values;
    const double *offset;            /* q, [rows * block_count] */
    const double *mu;                /* [block_count] if rows is 3 */
    const TalusFrictionModel *model; /* [block_count]; NULL: all zeros */
} TalusProblemDef;

/* Creates a problem with copies of the def's arrays and zero impulses. `pool` must outlive the problem; NULL: one
 * thread. *out is NULL on failure. NULL may be destroyed. */
TALUS_API TalusStatus talus_problem_create(const TalusProblemDef *def, TalusPool *pool,
                                           TalusProblem **out);
TALUS_API void talus_problem_destroy(TalusProblem *problem);

/* Selects the backend of solves: "cpu" (default) or another of talus_backend_row. Data stays readable on the host. */
TALUS_API TalusStatus talus_problem_set_backend(TalusProblem *problem, const char *backend);

/* Sets the friction model of all contacts with friction; joints keep theirs. TALUS_SECTION_NONE makes contacts
 * frictionless, with one row each if there are no joints; a later call can give them friction again. Impulses are set
 * to zero; estimates and the certificate are lost. On failure the problem is unchanged. */
TALUS_API TalusStatus talus_problem_set_friction(TalusProblem *problem, TalusFrictionModel model);
/* Returns the friction model of a block: section NONE if blocks have one row; all zeros for a block without
 * friction. */
TALUS_API TalusFrictionModel talus_problem_friction(const TalusProblem *problem, int block);
/* Normal impulses that bound the friction of blocks under TALUS_LAW_FIXED, [blocks], as the last solve left them. The
 * caller may write them. NULL if no block is under that law. */
TALUS_API double *talus_problem_estimate(TalusProblem *problem);

/* Proof that the problem has no solution, [size], from a solve with the outcome infeasible or from the problem's file;
 * NULL: none. A direction delta along which impulses may grow without bound (in K under ccp, without friction under
 * fixed and coulomb, in free rows of joints), with (N + E) delta = 0 up to rounding and q'delta < 0. */
TALUS_API const double *talus_problem_certificate(const TalusProblem *problem);
/* Sets the proof that the problem has no solution, to be written with the problem; NULL removes it. */
TALUS_API TalusStatus talus_problem_set_certificate(TalusProblem *problem,
                                                    const double *certificate);

TALUS_API int talus_problem_blocks(const TalusProblem *problem);
TALUS_API int talus_problem_rows(const TalusProblem *problem);   /* rows per block */
TALUS_API int talus_problem_size(const TalusProblem *problem);   /* rows times blocks */
TALUS_API int talus_problem_bodies(const TalusProblem *problem); /* 0 for an explicit problem */
/* Returns the friction coefficient of a block; 0 if blocks have one row. Of a joint: largest impulse of a row, N s. */
TALUS_API double talus_problem_mu(const TalusProblem *problem, int block);

/* Writes the problem's data to a def for talus_problem_create. The def's arrays are the problem's, valid until the
 * problem changes. */
TALUS_API TalusStatus talus_problem_export(TalusProblem *problem, TalusProblemDef *def);

/* Returns the impulses gamma, [size]; the caller may write a starting point. */
TALUS_API double *talus_problem_gamma(TalusProblem *problem);

/* Write N x (the operator product), q, u = N gamma + q, and the gradient (N + E) gamma + q. */
TALUS_API void talus_problem_apply(TalusProblem *problem, const double *x, double *out);
TALUS_API void talus_problem_offset(TalusProblem *problem, double *q);
TALUS_API void talus_problem_velocity(TalusProblem *problem, const double *gamma, double *u);
TALUS_API void talus_problem_gradient(TalusProblem *problem, const double *gamma, double *gradient);

/* Writes the velocities v_f + M^-1 D gamma, [6 bodies]: linear then angular of each body; matrix-free problems only. */
TALUS_API TalusStatus talus_problem_body_velocity(TalusProblem *problem, const double *gamma,
                                                  double *v);

/* Returns the scale d_i of block i, 1/kg: the mean of the block's diagonal entries of N + E. */
TALUS_API double talus_problem_diagonal(const TalusProblem *problem, int block);

/* The natural residual of each block, m/s, the measure of error of all solvers:
 *     d_i | gamma_i - P_i(gamma_i - g_i / d_i) |,   g = (N + E) gamma + q,  d_i as above,
 * as root mean square over blocks and as maximum. P_i projects onto the cone of the block's section (ccp), onto the
 * prism with its bounds (fixed), onto the box of a joint, or onto the cone, with De Saxce's shift sigma_i(-g_t), the
 * support function of the section, added to the normal entry of g_i (coulomb). */
typedef struct TalusResidual {
    double rms, max;
} TalusResidual;

TALUS_API void talus_problem_residual(TalusProblem *problem, const double *gamma,
                                      TalusResidual *out);

/* Rounding unit. The rounding error of the natural residual is estimated by TALUS_ROUNDING times |N| |gamma| + |q|, the
 * size of the terms of the gradient (docs/reference/metrics.md). rms: root mean square over blocks; max: twice the
 * value of the largest block, because single blocks scatter. The estimate is no bound: measured errors were mostly
 * below 0.4 of it, at most 1.8 times. Impulses so large that rounding hides the velocities are no solution, however
 * small the residual. */
#define TALUS_ROUNDING 0x1p-52

/* Computes the objective 1/2 gamma'(N + E)gamma + q'gamma, J. */
TALUS_API TalusStatus talus_problem_objective(TalusProblem *problem, const double *gamma,
                                              double *objective);

/* Measures of an iterate (docs/reference/metrics.md): g is the gradient, under coulomb with De Saxce's shift added to
 * its normal entries (not in siconos and dilation); P the projection onto K; K* the dual cone; all norms are 2-norms.
 * For prisms and joints, K* is the set of g at which the support function of K at -g is finite, and gamma_i . g_i
 * stands for the sum of that product and this function. */
typedef struct TalusMetrics {
    double objective;
    TalusResidual natural;       /* talus_problem_residual */
    TalusResidual rounding;      /* estimated rounding error of `natural` */
    double natural_at_zero;      /* rms of the natural residual at gamma = 0 */
    double natural_relative;     /* natural.rms / natural_at_zero; if that is 0: 0 or infinite */
    double projected_gradient;   /* heyn-2012 (24): |gamma - P(gamma - tau_g g)| / tau_g, m/s */
    double tau_g;                /* 1 / the largest scale d_i of a block */
    double complementarity_mean; /* per block |gamma_i . g_i|, heyn-2012 Fig. 9; J */
    double complementarity_std;
    double complementarity_max;
    double primal_infeasibility; /* largest distance of a g_i from K*, m/s */
    double cone_violation;       /* largest distance of a gamma_i from K, N s */
    double duality_gap;          /* |gamma . g|: primal minus dual objective when g is in K*; J */
    double duality_gap_scaled;   /* duality_gap over the largest |q_i| or (N + E)_ii */
    /* Coulomb's law whatever the block's: |gamma - P(gamma - g - sigma)| over max(|q|, |gamma|, |g|), with P onto the
     * cones and sigma = (sigma_i(-g_t), 0, 0), which is (mu |g_t|, 0, 0) on the disc. */
    double siconos;
    double siconos_over_q;   /* the numerator of `siconos` over |q| */
    double siconos_rounding; /* estimated rounding error of `siconos` */
    /* m/s: rms over Coulomb blocks of sigma_i(-g_t), the speed at which ccp would open them */
    double dilation;
    double bound_mismatch;       /* fixed blocks: rms of d_i mu_i |gamma_n - estimate|, m/s */
    int open, sliding, sticking; /* numbers of blocks by state (TalusBlockState) */
} TalusMetrics;

TALUS_API TalusStatus talus_problem_measure(TalusProblem *problem, const double *gamma,
                                            TalusMetrics *out);

/* Open: gamma = 0. Sliding: a bound of tangential impulses or moments, or a finite bound of a joint, is reached (within
 * 1e-12 of it) or exceeded. Sticking: all other blocks, also a loaded block without friction. */
typedef enum TalusBlockState {
    TALUS_BLOCK_OPEN,
    TALUS_BLOCK_SLIDING,
    TALUS_BLOCK_STICKING
} TalusBlockState;

TALUS_API TalusBlockState talus_problem_state(const TalusProblem *problem, int block,
                                              const double *gamma);

#ifdef __cplusplus
}
#endif

#endif
