/* backend/cpu/cpu.h - functions shared by the files of the CPU backend. */
#ifndef TALUS_BACKEND_CPU_CPU_H
#define TALUS_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/host.h"

/* u = D'v of blocks [begin, end) in their frames, `rows` per block. */
void talus_cpu_contact_velocity(const TalusOperator *op, const double (*velocity)[8], int begin,
                                int end, double *u);

/* Writes the wrenches of the impulses gamma of blocks [begin, end) to the operator's records. */
void talus_cpu_wrench(const TalusOperator *op, const double *gamma, int begin, int end,
                      double (*record)[6]);

/* Writes gamma = S x to the scratch: as wrenches or, for an explicit matrix, as `unscaled`. */
void talus_cpu_unscale(const TalusOperator *op, const TalusMetricBlock *metric, const double *x);

/* velocity = (free motion) + M^-1 times the sum of each body's wrenches, with eliminated joints satisfied. */
void talus_cpu_gather(const TalusOperator *op, const double (*record)[6], bool free_motion,
                      double (*velocity)[8]);

/* Explicit operator (sparse.c). full_blocks: true if N consists of full 3 x 3 blocks. Product: out = N x for blocks
 * [begin, end). */
bool talus_cpu_full_blocks(const TalusOperator *op);
void talus_cpu_sparse_product(const TalusOperator *op, const double *x, int begin, int end,
                              double *out);

/* Maximum number of sums per chunk. */
enum { PARTIALS = 8 };

double talus_cpu_dot(const TalusOperator *op, const double *x, const double *y);
void talus_cpu_axpby(const TalusOperator *op, double a, const double *x, double b, double *y);
void talus_cpu_dots(const TalusOperator *op, int count, const double *const *x, const double *y,
                    double *sums);
void talus_cpu_combine(const TalusOperator *op, int count, const double *const *x, const double *a,
                       double *out);

/* operator.c */
TalusStatus talus_cpu_scratch(const TalusOperator *op);
void talus_cpu_bodies(const TalusOperator *op, const double *gamma, bool free_motion,
                      double (*velocity)[8]);
void talus_cpu_product(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                       double *out);
void talus_cpu_gradient(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                        bool offset, double *out);
void talus_cpu_residual(const TalusOperator *op, const double *gamma, TalusResidualSums *sums);
void talus_cpu_relax(const TalusOperator *op, double omega, double lambda, double *gamma,
                     double *sum2, double *max);
void talus_cpu_metric(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out);
void talus_cpu_sizes(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     TalusSizes *out);

/* joints.c */
TalusStatus talus_cpu_joint_rows(const TalusOperator *op, TalusJointRow *row, int *count);
TalusStatus talus_cpu_joint_take_out(const TalusOperator *whole, TalusOperator *op);
void talus_cpu_joint_recover(const TalusOperator *whole, const TalusOperator *op, bool offset,
                             double *gamma);

/* law.c */
void talus_cpu_law_measure(const TalusOperator *op, const double *gamma, TalusLawSums *sums);
void talus_cpu_law_shift(const TalusOperator *op, const double *gamma, double share,
                         TalusLawSums *sums);
void talus_cpu_law_unshift(const TalusOperator *op);
void talus_cpu_law_estimate(const TalusOperator *op, const TalusMetricBlock *metric,
                            const double *x, double share);

/* blocks.c */
void talus_cpu_project(const TalusOperator *op, const TalusMetricBlock *metric, double *x);
void talus_cpu_forward_backward(const TalusOperator *op, const TalusMetricBlock *metric,
                                const double *x, const double *g, double step, double *t, double *r,
                                TalusForward *sums);
void talus_cpu_split(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     const double *g, double step, double *free_part, double *reduced,
                     double *chopped, TalusFace *face);
void talus_cpu_mask(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    double *y);
void talus_cpu_tangent(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                       const double *d, double *out);
double talus_cpu_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric,
                               const double *x, const double *p);
void talus_cpu_compare(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                       const double *y, int *active, int *changed);
void talus_cpu_terms(const TalusOperator *op, const double *gamma, double *sum2, double *max);
void talus_cpu_recede(const TalusOperator *op, bool relaxed, double least, double *x);
void talus_cpu_recede_span(const TalusOperator *op, bool relaxed, const double *x, double *y);

void talus_cpu_accelerate(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums);
void talus_cpu_scale(const TalusOperator *op, const TalusMetricBlock *metric, bool into, double *x);

void talus_cpu_ogm_step(const TalusOperator *op, const TalusOgm *o, double *residual2,
                        double *residual_max);

/* quasi.c */
void talus_cpu_quasi_direction(const TalusOperator *op, const TalusQuasi *q, const double *weight);
void talus_cpu_quasi_step(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums);
void talus_cpu_quasi_smooth(const TalusOperator *op, const TalusQuasi *q, double eta,
                            TalusSmoothSums *sums);

TalusStatus talus_cpu_sweep_begin(const TalusOperator *op, const TalusSweepOptions *options,
                                  const double *gamma, TalusSweep **sweep);
double talus_cpu_sweep_run(TalusSweep *sweep, int sweeps);
void talus_cpu_sweep_end(TalusSweep *sweep, double *gamma);
void talus_cpu_sweep_destroy(TalusSweep *sweep);

#endif
