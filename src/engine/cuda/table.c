/* engine/cuda/table.c - the table of operations of the device's engine. */
#ifdef TALUS_HAVE_CUDA

#include "engine/cuda/table.h"

const TalusEngineOps talus_engine_cuda = {
    .capabilities = TALUS_ENGINE_PERIODS | TALUS_ENGINE_SLEEP,
    .create = cu_engine_create,
    .destroy = cu_engine_destroy,
    .tables = cu_engine_tables,
    .put_bodies = cu_engine_put_bodies,
    .get_bodies = cu_engine_get_bodies,
    .put_states = cu_engine_put_states,
    .get_states = cu_engine_get_states,
    .put_filter = cu_engine_put_filter,
    .put_forces = cu_engine_put_forces,
    .put_joints = cu_engine_put_joints,
    .get_joints = cu_engine_get_joints,
    .put_contacts = cu_engine_put_contacts,
    .get_contacts = cu_engine_get_contacts,
    .counts = cu_engine_counts,
    .below = cu_engine_below,
    .detect = cu_engine_detect,
    .redetect = cu_engine_redetect,
    .build = cu_engine_build,
    .solved = cu_engine_solved,
    .store_impulses = cu_engine_store_impulses,
    .integrate = cu_engine_integrate,
    .wrap = cu_engine_wrap,
    .sum_probes = cu_engine_sum_probes,
    .get_probes = cu_engine_get_probes,
    .snapshot = cu_engine_snapshot,
    .rollback = cu_engine_rollback,
};

#endif
