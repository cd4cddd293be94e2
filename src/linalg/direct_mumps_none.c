/* linalg/direct_mumps_none.c - a build without the package. */
#include "linalg/direct_make.h"

const TalusDirectMake talus_direct_mumps = {
    .name = "mumps",
    .missing = "install libmumps-seq-dev, then configure without TALUS_CORE_ONLY and build"};
