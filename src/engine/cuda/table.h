/* engine/cuda/table.h - the operations of the device's engine, file by file; contracts in engine/engine.h. */
#ifndef TALUS_ENGINE_CUDA_TABLE_H
#define TALUS_ENGINE_CUDA_TABLE_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* engine.cu */
TalusStatus cu_engine_create(const TalusEngineSetup *setup, TalusEngine **out);
void cu_engine_destroy(TalusEngine *engine);
TalusStatus cu_engine_tables(TalusEngine *engine, const TalusTables *tables);
TalusStatus cu_engine_put_bodies(TalusEngine *engine, const TalusBodyArrays *bodies,
                                 const uint8_t *dropped);
TalusStatus cu_engine_get_bodies(TalusEngine *engine, TalusBodyArrays *bodies);
TalusStatus cu_engine_detect(TalusEngine *engine, const TalusDetectOptions *options,
                             TalusVec3 gravity, long long step, TalusEngineCounts *counts);
TalusStatus cu_engine_redetect(TalusEngine *engine, const TalusDetectOptions *options,
                               TalusVec3 gravity, TalusEngineCounts *counts);
void cu_engine_counts(const TalusEngine *engine, TalusEngineCounts *counts);
TalusStatus cu_engine_below(TalusEngine *engine, int axis, double below, int64_t *count);
TalusStatus cu_engine_snapshot(TalusEngine *engine);
TalusStatus cu_engine_rollback(TalusEngine *engine);

/* extra.cu */
TalusStatus cu_engine_put_states(TalusEngine *engine, const int32_t *slot,
                                 const TalusMotion *motion, int count);
TalusStatus cu_engine_get_states(TalusEngine *engine, const int32_t *slot, TalusMotion *motion,
                                 int count);
TalusStatus cu_engine_put_filter(TalusEngine *engine, const TalusFilter *filter, int slots);
TalusStatus cu_engine_put_forces(TalusEngine *engine, const TalusVec3 *force,
                                 const TalusVec3 *torque, int count);

/* joints.cu */
TalusStatus cu_engine_put_joints(TalusEngine *engine, const TalusEngineJoints *joints);
TalusStatus cu_engine_get_joints(TalusEngine *engine, double *gamma, const int32_t *slot,
                                 double (*record)[8], int count);

/* contacts.cu */
TalusStatus cu_engine_put_contacts(TalusEngine *engine, const TalusContactList *list);
TalusStatus cu_engine_get_contacts(TalusEngine *engine, TalusContactList *list);
TalusStatus cu_engine_store_impulses(TalusEngine *engine);

/* build.cu, integrate.cu */
TalusStatus cu_engine_build(TalusEngine *engine, const TalusBuildOptions *options,
                            TalusOperator **op, double **gamma, TalusBuildReport *report);
TalusStatus cu_engine_solved(TalusEngine *engine, double limit, bool *changed);
TalusStatus cu_engine_integrate(TalusEngine *engine, double h, TalusVec3 gravity, long long step,
                                TalusEngineLedger *ledger);
TalusStatus cu_engine_wrap(TalusEngine *engine, TalusVec3 gravity, double *lifted);

/* probe.cu */
TalusStatus cu_engine_sum_probes(TalusEngine *engine, const TalusEngineProbe *probe, int count);
TalusStatus cu_engine_get_probes(TalusEngine *engine, TalusProbeSums *sums, int count);

#ifdef __cplusplus
}
#endif

#endif
