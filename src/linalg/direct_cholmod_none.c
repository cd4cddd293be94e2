/* linalg/direct_cholmod_none.c - a build without the package. */
#include "linalg/direct_make.h"

const TalusDirectMake talus_direct_cholmod = {
    .name = "cholmod",
    .missing = "install libsuitesparse-dev, then configure without TALUS_CORE_ONLY and build"};
