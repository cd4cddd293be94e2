/* io/run/compare.h - comparison of a run's files with the list of its checkpoint. */
#ifndef TALUS_IO_RUN_COMPARE_H
#define TALUS_IO_RUN_COMPARE_H

#include "io/file/dir.h"

/* Compares every file of the list with its size and checksum (of kind FRAMES: the values of its frames) and sets
 * `unchanged` of its entry. A growing file may be longer than listed: the rest was written after the checkpoint. Fails
 * with the names of missing and changed files or, with `accept`, logs these names as a warning "output.changed". Fails
 * in either case if a file cannot be opened or read. `time`: time of the checkpoint, for the message. */
TalusStatus talus_compare_files(const TalusDir *dir, TalusManifest *list, double time, bool accept);

#endif
