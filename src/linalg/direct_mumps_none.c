/* linalg/direct_mumps_none.c - in place of direct_mumps.c in a build without MUMPS: says how to get it. */
#include "linalg/direct_make.h"

const TalusDirectMethod talus_direct_mumps = {
    .name = "mumps",
    .missing = "install libmumps-seq-dev, then configure without TALUS_CORE_ONLY and build"};
