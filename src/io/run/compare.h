/* io/run/compare.h - whether a run's files are as its checkpoint left them. */
#ifndef TALUS_IO_RUN_COMPARE_H
#define TALUS_IO_RUN_COMPARE_H

#include "io/file/dir.h"

/* Reads every file of the list and sets `sound` of those that are as they were. A file that grows may be
 * longer: what follows came after the checkpoint. Fails with the names of those that are gone or changed
 * or, with `accept`, logs the same as a warning "output.changed". `time` is for the message. */
TalusStatus talus_compare_files(const TalusDir *dir, TalusManifest *list, double time, bool accept);

#endif
