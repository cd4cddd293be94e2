/* io/problem/fclib.h - functions shared by the FCLIB reader, writer and condenser. */
#ifndef TALUS_IO_PROBLEM_FCLIB_H
#define TALUS_IO_PROBLEM_FCLIB_H

#include "base/status.h"

#include <talus/fclib.h>

/* Returns the length of u and r: dimension times contacts. */
int talus_fclib_rows(const TalusFclib *fclib);

/* Parses an FCLIB file in memory, which need not outlive *out; `name` is for messages. Free with talus_fclib_destroy;
 * on failure *out is NULL. */
TalusStatus talus_fclib_parse(const char *name, const void *bytes, size_t size, TalusFclib **out);

#endif
