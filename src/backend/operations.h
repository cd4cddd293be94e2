/* backend/operations.h - every operation of a backend, once: OPERATION(result, group, name, arguments).
 *
 * Included several times, each time with a definition of OPERATION: backend.h makes tables of function pointers of it,
 * the header of a backend declares the functions, called PREFIX_group_name, and its table names them. OPTIONAL are
 * operations that a backend in host memory does not have. */
#ifndef OPTIONAL
#define OPTIONAL OPERATION
#endif
#ifndef GROUP
#define GROUP(type)
#define GROUP_END(type)
#endif

/* clang-format off */

/* Vectors. `reserve` gives memory for n entries with undefined contents; it may outlive operator and context. */
GROUP(TalusVectorOps)
OPERATION(TalusStatus, vector, reserve, (const TalusOperator *op, double **vector, size_t *capacity,
          size_t n, const char *what))
OPERATION(void, vector, release, (double *vector))
OPERATION(void, vector, put, (const TalusOperator *op, double *vector, const double *host,
          size_t n))
OPERATION(void, vector, get, (const TalusOperator *op, double *host, const double *vector,
          size_t n))
OPERATION(void, vector, copy, (const TalusOperator *op, double *to, const double *from, size_t n))
OPERATION(void, vector, zero, (const TalusOperator *op, double *vector, size_t n))
/* Returns x'y. */
OPERATION(double, vector, dot, (const TalusOperator *op, const double *x, const double *y))
/* sums[k] = x[k]'y for at most TALUS_VECTORS vectors. */
OPERATION(void, vector, dots, (const TalusOperator *op, int count, const double *const *x,
          const double *y, double *sums))
/* y = a x + b y */
OPERATION(void, vector, axpby, (const TalusOperator *op, double a, const double *x, double b,
          double *y))
/* out = sum of a[k] x[k] over at most TALUS_VECTORS vectors. `out` may be one of the x. */
OPERATION(void, vector, combine, (const TalusOperator *op, int count, const double *const *x,
          const double *a, double *out))
GROUP_END(TalusVectorOps)

/* The operator and measurements with it. metric NULL: s = 1, x is gamma. */
GROUP(TalusOperatorOps)
/* Copies the operator's arrays from the host into `op`, which reuses its memory from call to call. Before the
 * first call `op` is zero except for its context. Only for backends without TALUS_CAP_HOST_MEMORY. */
OPTIONAL(TalusStatus, op, mirror, (const TalusOperator *host, TalusOperator *op))
OPTIONAL(void, op, mirror_clear, (TalusOperator *op))
/* Reserves the operator's scratch (wrenches, velocities, partial sums). */
OPERATION(TalusStatus, op, scratch, (const TalusOperator *op))
/* velocity = v_f + M^-1 D gamma, records as op->body; `free_motion` false omits v_f. */
OPERATION(void, op, bodies, (const TalusOperator *op, const double *gamma, bool free_motion,
          double (*velocity)[8]))
/* out = N gamma, plus E gamma if `compliant`, plus q if `offset`. gamma NULL means zero. */
OPERATION(void, op, product, (const TalusOperator *op, const double *gamma, bool compliant,
          bool offset, double *out))
/* out = S (N + E) S x, plus S q if `offset`. One product. */
OPERATION(void, op, gradient, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, bool offset, double *out))
/* Natural residual (problem.h) of gamma. One product. */
OPERATION(void, op, residual, (const TalusOperator *op, const double *gamma,
          TalusResidualSums *sums))
/* Sum of squares and maximum over blocks of |N| |gamma| + |q|, by each block's own law: the size of the terms of
 * the gradient, to which its rounding is relative. About one product. */
OPERATION(void, op, terms, (const TalusOperator *op, const double *gamma, double *sum2,
          double *max))
/* Writes the metric s = 1 / sqrt of the block's mean diagonal (trace), or of its normal and tangential entries
 * apart (anisotropic), into out[op->blocks]. */
OPERATION(void, op, metric, (const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out))
/* x = gamma / s if `into`, else gamma = s x; in place. */
OPERATION(void, op, scale, (const TalusOperator *op, const TalusMetricBlock *metric, bool into,
          double *x))
/* Sums of TalusSizes over the blocks of x. */
OPERATION(void, op, sizes, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, TalusSizes *out))
GROUP_END(TalusOperatorOps)

/* Sets, block by block, for gradient, Krylov and quasi-Newton methods. metric NULL: s = 1, x is gamma. */
GROUP(TalusBlockOps)
/* x = P(x). */
OPERATION(void, block, project, (const TalusOperator *op, const TalusMetricBlock *metric,
          double *x))
/* t = P(x - step g), r = x - t; either may be NULL, t may be x. */
OPERATION(void, block, forward_backward, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *g, double step, double *t, double *r, TalusForward *sums))
/* Computes the gradients of the face of x; each vector may be NULL. */
OPERATION(void, block, split, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *g, double step, double *free_part, double *reduced,
          double *chopped, TalusFace *face))
/* y = 0 on the active blocks of x. */
OPERATION(void, block, mask, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, double *y))
/* out = projection of d onto the tangent cone of the set at x; out may be d. */
OPERATION(void, block, tangent, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *d, double *out))
/* Returns the largest a >= 0 with x - a p in the set; infinite if there is no bound. */
OPERATION(double, block, feasible_step, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *p))
/* Counts the blocks active in y, and the blocks active in exactly one of x and y. */
OPERATION(void, block, compare, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *y, int *active, int *changed))
/* Projects x onto the recession cone of every block's own law (sets/recession.h); `relaxed` replaces Coulomb's
 * law by ccp. Blocks with |x| <= least become 0. */
OPERATION(void, block, recede, (const TalusOperator *op, bool relaxed, double least, double *x))
/* Projects y onto the span of the recession cones of the blocks where x is not 0. */
OPERATION(void, block, recede_span, (const TalusOperator *op, bool relaxed, const double *x,
          double *y))
GROUP_END(TalusBlockOps)

/* Laws beyond ccp. `residual` and the solvers use cones with the current offsets, and prisms with bounds from
 * `estimate`; here u = N gamma + q is without shifts. */
GROUP(TalusLawOps)
/* Measures gamma by the laws and moves the shift s of every Coulomb block, in bias or offset, by `share` of the way to
 * sigma: mu times the section's support function at -u_t, plus the terms of spinning and rolling. share 0 only
 * measures. One product. */
OPERATION(void, law, shift, (const TalusOperator *op, const double *gamma, double share,
          TalusLawSums *sums))
/* Resets all shifts to 0. */
OPERATION(void, law, unshift, (const TalusOperator *op))
/* Moves the estimate of every prism by `share` of the way to gamma_n = s_n x_n. No product. */
OPERATION(void, law, estimate, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, double share))
GROUP_END(TalusLawOps)

/* Gauss-Seidel. */
GROUP(TalusSweepOps)
/* Makes a plan with a copy of gamma. Fails if the backend does not support the order. */
OPERATION(TalusStatus, sweep, begin, (const TalusOperator *op, const TalusSweepOptions *options,
          const double *gamma, TalusSweep **sweep))
/* Does `sweeps` >= 1 sweeps. Returns the sum over blocks of (d |gamma_new - gamma_old|)^2, the squared velocity
 * change of the last sweep. */
OPERATION(double, sweep, run, (TalusSweep *sweep, int sweeps))
/* Writes the impulses into gamma. */
OPERATION(void, sweep, end, (TalusSweep *sweep, double *gamma))
OPERATION(void, sweep, destroy, (TalusSweep *sweep))
GROUP_END(TalusSweepOps)

/* Fused steps of single methods. */
GROUP(TalusStepOps)
/* Jacobi: gamma = gamma + lambda (P(gamma - omega g / d) - gamma), d the block's scale (operator.h). Returns the
 * residual of gamma before the step. One product. */
OPERATION(void, step, relax, (const TalusOperator *op, double omega, double lambda, double *gamma,
          double *sum2, double *max))
/* One projected gradient step with momentum: evaluates g at x, then
 *     y = x + beta (x - x_prev),  x_next = P(y - step g(y)),
 * with g(y) by linear combination, so one product per iteration. On return x is x_next, x_prev the old x, g_prev
 * the gradient at the old x. */
OPERATION(void, step, accelerate, (const TalusOperator *op, TalusAccelerated *state,
          TalusStepSums *sums))
/* d = weight[0] r + sum of weight[1 + 2 i] s_i + weight[2 + 2 i] y_i over the pairs. */
OPERATION(void, step, quasi_direction, (const TalusOperator *op, const TalusQuasi *q,
          const double *weight))
/* x_next = x + d with its gradient and residual, and the pair of this step. Call directly after quasi_direction,
 * whose wrenches it uses. One product, or none with q->halve. */
OPERATION(void, step, quasi_step, (const TalusOperator *op, const TalusQuasi *q,
          TalusQuasiSums *sums))
/* smooth_x += eta (x - smooth_x), the same for its gradient, and its residual; eta 1 copies x. */
OPERATION(void, step, quasi_smooth, (const TalusOperator *op, const TalusQuasi *q, double eta,
          TalusSmoothSums *sums))
/* t = P(x - step g), x_next = t + along (t - y) + over (t - x), y = t; and the residual of x if wanted. */
OPERATION(void, step, ogm, (const TalusOperator *op, const TalusOgm *o, double *residual2,
          double *residual_max))
GROUP_END(TalusStepOps)

/* Elimination of free joints from a matrix-free operator (problem/eliminate.h). */
GROUP(TalusJointOps)
/* Writes the rows of op's free joints (backend/arms.h) to host memory; row has a capacity of 3 op->joints. */
OPERATION(TalusStatus, joint, rows, (const TalusOperator *op, TalusJointRow *row, int *count))
/* Completes `op`, a copy of `whole` without its joints: contact lists of bodies and diagonals, in memory that op
 * already has, and `kinds`. op->elimination is already factored and inverted. */
OPERATION(TalusStatus, joint, take_out, (const TalusOperator *whole, TalusOperator *op))
/* Computes the impulses of whole's joints, which end gamma, from the impulses of the contacts, its other blocks. `offset`
 * false: gamma is a direction, so free velocities and offsets are left out. Uses the scratch. */
OPERATION(void, joint, recover, (const TalusOperator *whole, const TalusOperator *op, bool offset,
          double *gamma))
GROUP_END(TalusJointOps)

/* clang-format on */

#undef OPERATION
#undef OPTIONAL
#undef GROUP
#undef GROUP_END
