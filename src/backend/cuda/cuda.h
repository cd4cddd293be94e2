/* backend/cuda/cuda.h - the operations of the cuda backends (contracts: backend/backend.h), by file. In C, like the
 * tables. */
#ifndef TALUS_BACKEND_CUDA_CUDA_H
#define TALUS_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* memory.cu */
TalusStatus cu_open(void);
TalusStatus cu_context_create(TalusContext **out);
void cu_context_destroy(TalusContext *context);
TalusStatus cu_check(TalusContext *context);

/* vector.cu */
TalusStatus cu_vec_reserve(const TalusOperator *op, double **vector, size_t *capacity, size_t n,
                           const char *what);
void cu_vec_release(double *vector);
void cu_vec_put(const TalusOperator *op, double *vector, const double *host, size_t n);
void cu_vec_get(const TalusOperator *op, double *host, const double *vector, size_t n);
void cu_vec_copy(const TalusOperator *op, double *to, const double *from, size_t n);
void cu_vec_zero(const TalusOperator *op, double *vector, size_t n);
double cu_dot(const TalusOperator *op, const double *x, const double *y);
void cu_axpby(const TalusOperator *op, double a, const double *x, double b, double *y);
void cu_dots(const TalusOperator *op, int count, const double *const *x, const double *y,
             double *sums);
void cu_combine(const TalusOperator *op, int count, const double *const *x, const double *a,
                double *out);

/* operator.cu. cu_scratch_clear frees what cu_scratch made, and what other files store with it. */
TalusStatus cu_mirror(const TalusOperator *host, TalusOperator *op);
void cu_mirror_clear(TalusOperator *op);
TalusStatus cu_scratch(const TalusOperator *op);
void cu_scratch_clear(TalusOperator *op);
void cu_bodies(const TalusOperator *op, const double *gamma, bool free_motion,
               double (*velocity)[8]);
void cu_product(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                double *out);
void cu_residual(const TalusOperator *op, const double *gamma, TalusResidualSums *sums);
void cu_terms(const TalusOperator *op, const double *gamma, double *sum2, double *max);
void cu_relax(const TalusOperator *op, double omega, double lambda, double *gamma, double *sum2,
              double *max);
void cu_metric(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out);
void cu_sizes(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
              TalusSizes *out);
void cu_gradient(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                 bool offset, double *out);
void cu_describe(char *text, size_t size);
size_t cu_memory_now(void); /* bytes of device memory in use */

/* sweep.cu. cu_sweep_order is for tests: contacts in sweep order, and the class of each (sweep.h). */
TalusStatus cu_sweep_begin(const TalusOperator *op, const TalusSweepOptions *options,
                           const double *gamma, TalusSweep **sweep);
double cu_sweep_run(TalusSweep *sweep, int sweeps);
void cu_sweep_end(TalusSweep *sweep, double *gamma);
void cu_sweep_destroy(TalusSweep *sweep);
void cu_sweep_order(const TalusSweep *sweep, uint32_t *contact, uint32_t *class_of);

/* iterate.cu */
TalusStatus cu_accelerate_run(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
TalusStatus cu_accelerate_run_mixed(const TalusOperator *op, TalusAccelerated *state,
                                    TalusMomentum *momentum, TalusRun *run);
TalusStatus cu_relax_run(const TalusOperator *op, double omega, double lambda, double *gamma,
                         TalusRun *run);
TalusStatus cu_relax_run_mixed(const TalusOperator *op, double omega, double lambda, double *gamma,
                               TalusRun *run);

/* face.cu */
TalusStatus cu_proportion_run(const TalusOperator *op, TalusProportioning *state, TalusRun *run);

/* machines.cu */
TalusStatus cu_joint_rows(const TalusOperator *op, TalusJointRow *row, int *count);
TalusStatus cu_joint_take_out(const TalusOperator *whole, TalusOperator *op);
void cu_joint_recover(const TalusOperator *whole, const TalusOperator *op, bool offset,
                      double *gamma);

/* law.cu */
void cu_law_measure(const TalusOperator *op, const double *gamma, TalusLawSums *sums);
void cu_law_shift(const TalusOperator *op, const double *gamma, double share, TalusLawSums *sums);
void cu_law_unshift(const TalusOperator *op);
void cu_law_estimate(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     double share);

/* blocks.cu */
void cu_project(const TalusOperator *op, const TalusMetricBlock *metric, double *x);
void cu_forward_backward(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                         const double *g, double step, double *t, double *r, TalusForward *sums);
void cu_split(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
              const double *g, double step, double *free_part, double *reduced, double *chopped,
              TalusFace *face);
void cu_mask(const TalusOperator *op, const TalusMetricBlock *metric, const double *x, double *y);
void cu_tangent(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                const double *d, double *out);
double cu_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                        const double *p);
void cu_recede(const TalusOperator *op, bool relaxed, double least, double *x);
void cu_recede_span(const TalusOperator *op, bool relaxed, const double *x, double *y);
void cu_compare(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                const double *y, int *active, int *changed);
void cu_scale(const TalusOperator *op, const TalusMetricBlock *metric, bool into, double *x);

/* accelerate.cu */
void cu_accelerate(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums);

/* quasi.cu */
void cu_quasi_direction(const TalusOperator *op, const TalusQuasi *q, const double *weight);
void cu_quasi_step(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums);
void cu_quasi_smooth(const TalusOperator *op, const TalusQuasi *q, double eta,
                     TalusSmoothSums *sums);

/* ogm.cu */
void cu_ogm_step(const TalusOperator *op, const TalusOgm *o, double *residual2,
                 double *residual_max);

#ifdef __cplusplus
}
#endif

#endif
