/* backend/operations.h - every operation of a backend, once: OPERATION(result, group, name, arguments).
 *
 * This file is included several times, each time with another definition of OPERATION: backend.h turns each group into
 * a struct of function pointers, the header of a backend declares its functions, called PREFIX_group_name, and the
 * table of a backend lists them. A backend in host memory does not have the OPTIONAL operations. */
#ifndef OPTIONAL
#define OPTIONAL OPERATION
#endif
#ifndef GROUP
#define GROUP(type)
#define GROUP_END(type)
#endif

/* clang-format off */

/* Vectors. `reserve` grows *vector, NULL with *capacity 0 at first, to at least n entries, of undefined contents, and
 * sets *capacity; `what` names the vector in messages. The memory may outlive operator and context; `release` frees it
 * and accepts NULL. `put` copies n entries from the host to the vector, `get` from the vector to the host, `copy`
 * between two vectors; `zero` sets n entries to 0. */
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
/* Fills the vector with the numbers of talus_random_entry (random.h), which look random and do not depend on where a block
 * is in the list. */
OPERATION(void, vector, randomise, (const TalusOperator *op, double *vector))
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

/* Products with the operator, and measurements that need products. metric NULL: no scaling, x is gamma. */
GROUP(TalusOperatorOps)
/* Makes `op` a copy of the operator `host` in the backend's memory. Memory of `op` is reused from call to call; before
 * the first call `op` is zero except for its context. Only for backends without TALUS_CAP_HOST_MEMORY. */
OPTIONAL(TalusStatus, op, mirror, (const TalusOperator *host, TalusOperator *op))
/* Copies the arrays of a matrix-free operator in the backend's memory, or those of them that `host` has, to the arrays of
 * `host`, which are in host memory and have its sizes; offsets are those without shifts. Not copied are incidences, and
 * what follows from friction models. number[op->bodies] receives the numbers of the bodies, slot[op->bodies] their slots
 * (TalusBodyNumbers). */
OPTIONAL(TalusStatus, op, fetch, (const TalusOperator *op, TalusOperator *host, uint64_t *number,
          uint32_t *slot))
/* Frees the arrays of a copy made by `mirror` and zeroes `op`. */
OPTIONAL(void, op, mirror_clear, (TalusOperator *op))
/* Reserves the work memory of operations on op: velocities, wrenches on bodies, partial sums. Must be called before any
 * other operation on op, and again when the blocks, bodies or matrix of op have changed. */
OPERATION(TalusStatus, op, reserve_scratch, (const TalusOperator *op))
/* velocity[op->bodies] = v_f + M^-1 D gamma, as records like op->body; `free_motion` false omits v_f. Eliminated joints
 * are satisfied. Matrix-free operators only. */
OPERATION(void, op, body_velocities, (const TalusOperator *op, const double *gamma, bool free_motion,
          double (*velocity)[8]))
/* out = N gamma, plus E gamma if `compliant`, plus q if `offset`. gamma NULL, with `offset` only: out = q. */
OPERATION(void, op, product, (const TalusOperator *op, const double *gamma, bool compliant,
          bool offset, double *out))
/* out = S (N + E) S x, plus S q if `offset`. One product. */
OPERATION(void, op, gradient, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, bool offset, double *out))
/* Natural residual (problem.h) of gamma, and the terms that bound its rounding; `terms` may be NULL. One product. */
OPERATION(void, op, residual, (const TalusOperator *op, const double *gamma,
          TalusResidualSums *sums, TalusTermSums *terms))
/* Writes the metric s = 1 / sqrt of the block's mean diagonal (trace), or of its normal and tangential entries
 * apart (anisotropic), into out[op->blocks]. */
OPERATION(void, op, fill_metric, (const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out))
/* Converts a vector in place: gamma to x = gamma / s if `into`, else x to gamma = s x. metric must not be NULL. */
OPERATION(void, op, scale, (const TalusOperator *op, const TalusMetricBlock *metric, bool into,
          double *x))
/* Writes the sums that TalusSizes describes, over the blocks of x. */
OPERATION(void, op, measure_sizes, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, TalusSizes *out))
GROUP_END(TalusOperatorOps)

/* Operations on the admissible sets, block by block, for gradient, Krylov and quasi-Newton methods. metric NULL: no
 * scaling, x is gamma. */
GROUP(TalusBlockOps)
/* x = P(x). */
OPERATION(void, block, project, (const TalusOperator *op, const TalusMetricBlock *metric,
          double *x))
/* t = P(x - step g), r = x - t, and their sums. t and r may be NULL; t may be the vector x. */
OPERATION(void, block, forward_backward, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *g, double step, double *t, double *r, TalusForwardSums *sums))
/* Writes free, reduced and chopped gradient at x (TalusFace); each of the three vectors may be NULL. */
OPERATION(void, block, split_gradient, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *g, double step, double *free_part, double *reduced,
          double *chopped, TalusFace *face))
/* Sets to 0 the entries of y in the blocks in which x is active (on the boundary of its set, TalusFace) and, in all
 * other blocks, those in rows where the set allows only 0, such as tangential rows with mu = 0. */
OPERATION(void, block, clear_active, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, double *y))
/* out = projection of d onto the tangent cone of the set at x; out may be d. */
OPERATION(void, block, project_tangent, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *d, double *out))
/* Returns the largest a >= 0 with x - a p in the set, for x in the set; infinite if there is no bound. */
OPERATION(double, block, feasible_step, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *p))
/* Counts the blocks active in y, and the blocks active in exactly one of x and y. */
OPERATION(void, block, compare_active, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, const double *y, int *active, int *changed))
/* Projects each block of x, in place, onto the recession cone of its set under its own law: the directions in which
 * the impulse may grow without bound. `relaxed` replaces Coulomb's law by ccp. Blocks with |x| <= least after the
 * projection become 0. */
OPERATION(void, block, project_recession, (const TalusOperator *op, bool relaxed, double least, double *x))
/* Projects each block of y, in place, onto the linear span of the recession cone; blocks of y in which x is 0 become 0.
 * `relaxed` as in project_recession. */
OPERATION(void, block, project_recession_span, (const TalusOperator *op, bool relaxed, const double *x,
          double *y))
GROUP_END(TalusBlockOps)

/* Laws other than ccp. The operations of other groups, unless stated, treat a block as a cone with its present offset,
 * which contains De Saxce's shift, or as a prism with bounds from op->estimate. The operations of this group change
 * shifts and estimates; u = N gamma + q is meant without shifts here. */
GROUP(TalusLawOps)
/* Measures gamma by each block's own law, and moves the shift s of every Coulomb block, part of op->bias or op->offset,
 * by `share` of the way to sigma: mu times the section's support function at -u_t, plus the terms of spinning and
 * rolling. share 0 only measures. `terms` as in op.residual, may be NULL. One product. */
OPERATION(void, law, measure_and_shift, (const TalusOperator *op, const double *gamma, double share,
          TalusLawSums *sums, TalusTermSums *terms))
/* Resets all shifts to 0. */
OPERATION(void, law, clear_shifts, (const TalusOperator *op))
/* Moves the estimate of every prism by `share` of the way to max(0, gamma_n), gamma_n = s_n x_n. No product. */
OPERATION(void, law, move_estimates, (const TalusOperator *op, const TalusMetricBlock *metric,
          const double *x, double share))
GROUP_END(TalusLawOps)

/* Gauss-Seidel sweeps. */
GROUP(TalusSweepOps)
/* Makes *sweep, the plan of sweeps that start from a copy of gamma; memory of an earlier plan, if *sweep is not NULL,
 * is reused. Fails if the backend does not support the order, or the solver of one block does not take some block.
 * After a failure *sweep may be not NULL: it is then no plan, but must still be destroyed. */
OPERATION(TalusStatus, sweep, prepare, (const TalusOperator *op, const TalusSweepOptions *options,
          const double *gamma, TalusSweep **sweep))
/* Does `sweeps` >= 1 sweeps. Returns, for the last of them (of a symmetric one, its backward half), the sum over blocks
 * of (d |gamma_new - gamma_old|)^2, d the block's mean diagonal entry: the squared velocity change, (m/s)^2. */
OPERATION(double, sweep, run, (TalusSweep *sweep, int sweeps))
/* Writes the impulses after the sweeps into gamma. A later call of `run` continues from them; the CPU backend then
 * reads gamma again, which must still be valid and unchanged. */
OPERATION(void, sweep, get_impulses, (TalusSweep *sweep, double *gamma))
OPERATION(void, sweep, destroy, (TalusSweep *sweep))
GROUP_END(TalusSweepOps)

/* Fused steps of single methods. */
GROUP(TalusStepOps)
/* Takes one step of Jacobi's method: gamma = gamma + lambda (P(gamma - omega g / d) - gamma), d the block's mean
 * diagonal entry. Writes sum of squares and maximum of the natural residual of gamma before the step. One product. */
OPERATION(void, step, jacobi, (const TalusOperator *op, double omega, double lambda, double *gamma,
          double *sum2, double *max))
/* Takes one projected gradient step with momentum: evaluates g at x, then
 *     y = x + beta (x - x_prev),  x_next = P(y - step (g + ahead (g - g_prev))),  ahead = (1 - lag) beta.
 * The gradient is that at x + ahead (x - x_prev), with lag 0 that at y; one product per step. On entry g_prev is the gradient at x_prev; with beta 0
 * it may be any finite numbers, but dg2 is then meaningless. On return state->x is x_next, state->x_prev the old x (the
 * two pointers have been exchanged) and g_prev the gradient at the old x, without De Saxce's shift. */
OPERATION(void, step, accelerate, (const TalusOperator *op, TalusAccelerated *state,
          TalusStepSums *sums))
/* d = weight[0] r + sum over the pairs i of weight[1 + 2 i] s_i + weight[2 + 2 i] y_i. */
OPERATION(void, step, quasi_direction, (const TalusOperator *op, const TalusQuasi *q,
          const double *weight))
/* Writes x_next = x + d with g_next and r_next, and the pair of this step. Call directly after quasi_direction, which
 * leaves the impulses of d in the scratch. One product, or none with q->halve. */
OPERATION(void, step, quasi_step, (const TalusOperator *op, const TalusQuasi *q,
          TalusQuasiSums *sums))
/* smooth_x += eta (x - smooth_x), smooth_g likewise, smooth_r = smooth_x - P(smooth_x - step smooth_g). With eta 1 the
 * old values are not read. */
OPERATION(void, step, quasi_smooth, (const TalusOperator *op, const TalusQuasi *q, double eta,
          TalusSmoothSums *sums))
/* t = P(x - step g), x_next = t + along (t - y) + over (t - x), y = t. With o->want_residual also writes sum of squares
 * and maximum of the natural residual of x. */
OPERATION(void, step, ogm, (const TalusOperator *op, const TalusOgm *o, double *residual2,
          double *residual_max))
GROUP_END(TalusStepOps)

/* Elimination of free joints from a matrix-free operator (problem/eliminate.h). */
GROUP(TalusJointOps)
/* Writes the rows of D' of op's free joints to row[*count] in host memory; row has a capacity of 3 op->joints. */
OPERATION(TalusStatus, joint, get_rows, (const TalusOperator *op, TalusJointRow *row, int *count))
/* Completes `op`, a copy of `whole` whose joints have been eliminated: fills the arrays incidence_start, incidence and
 * diagonal, which have their memory already, and sets kinds. op->elimination must be factored and inverted. */
OPERATION(TalusStatus, joint, finish_reduced, (const TalusOperator *whole, TalusOperator *op))
/* Overwrites the last blocks of gamma, the impulses of whole's joints, by those that follow from the impulses of all
 * other blocks, which are read. `offset` false: gamma is a direction, so free velocities and offsets count as 0. Uses
 * op's scratch. */
OPERATION(void, joint, recover_impulses, (const TalusOperator *whole, const TalusOperator *op, bool offset,
          double *gamma))
GROUP_END(TalusJointOps)

/* clang-format on */

#undef OPERATION
#undef OPTIONAL
#undef GROUP
#undef GROUP_END
