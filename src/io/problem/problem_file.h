/* io/problem/problem_file.h - the magic of a problem file; docs/reference/problem-file.md has the format. */
#ifndef TALUS_IO_PROBLEM_PROBLEM_FILE_H
#define TALUS_IO_PROBLEM_PROBLEM_FILE_H

#include <talus/io.h>

#define TALUS_PROBLEM_MAGIC "TALUSPRB"

#endif
