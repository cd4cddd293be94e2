#include "io/scene/scene.h"
#include "verify/verify.h"
