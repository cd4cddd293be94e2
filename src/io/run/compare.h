/* io/run/compare.h - comparison of a run's files with the list of its checkpoint. */
#ifndef TALUS_IO_RUN_COMPARE_H
#define TALUS_IO_RUN_COMPARE_H

#include "io/file/dir.h"

/* Reads every file of the list and sets `unchanged` of its entries. A growing file may be longer: the rest
 * was written after the checkpoint. Fails with the names of missing and changed files or, with `accept`, logs them as
 * a warning "output.changed". `time` is for the message. */
TalusStatus talus_compare_files(const TalusDir *dir, TalusManifest *list, double time, bool accept);

#endif
