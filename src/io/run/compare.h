/* io/run/compare.h - comparison of a run's files with the list of its checkpoint. */
#ifndef TALUS_IO_RUN_COMPARE_H
#define TALUS_IO_RUN_COMPARE_H

#include "io/file/dir.h"

/* Compares every file of the list with its checksum and sets `unchanged` of the entries. A growing file may be longer:
 * the rest was written after the checkpoint. Fails with the names of missing and changed files or, with `accept`, logs
 * these as a warning "output.changed". `time` is for the message. */
TalusStatus talus_compare_files(const TalusDir *dir, TalusManifest *list, double time, bool accept);

#endif
