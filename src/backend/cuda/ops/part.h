/* backend/cuda/ops/part.h - an operator that is the part of one of several ranks (comm/halo.h) on the device.
 *
 * The halo's bodies are summed like all others, from those of their contacts that this rank has, and then overwritten by
 * what their owners have found: one exchange after each kernel that sums over the contacts of bodies, by windows on the
 * device (device/window.h) or, between processes, through host memory.
 * In an operator of the device's engine TalusHalo.owned is by slot (TalusBodyNumbers.slot).
 *
 * A contact of two ranks' bodies is computed by both and counted by one (launch_sums). All ranks call each operation
 * together. */
#ifndef TALUS_BACKEND_CUDA_OPS_PART_H
#define TALUS_BACKEND_CUDA_OPS_PART_H

#include "backend/cuda/ops/operator.h"

extern "C" {
#include "backend/part.h"
}

/* Uploads what the operator's kernels need of its halo and makes it that of the context; without a halo the context has
 * none. */
TalusStatus cu_part_begin(const TalusOperator *op);
/* Replaces the records, in device memory, of the halo's bodies by those of their owners; record k is `bytes` k bytes after
 * `records`, `bytes` a multiple of 16. False on all ranks if windows are open and one has failed; cu_check then reports that.
 * What comes through the host after an error is NaN. Does nothing without a halo. */
bool cu_part_exchange(const TalusOperator *op, void *records, size_t bytes);

#endif
