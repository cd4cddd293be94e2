/* linalg/direct_cholmod_none.c - in place of direct_cholmod.c in a build without CHOLMOD: says how to get it. */
#include "linalg/direct_make.h"

const TalusDirectMethod talus_direct_cholmod = {
    .name = "cholmod",
    .missing = "install libsuitesparse-dev, then configure without TALUS_CORE_ONLY and build"};
