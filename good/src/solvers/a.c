#include "a.h"
#include "backend/backend.h"
#include "base/log.h"
#include <math.h>
#include <talus/solver.h>
// #include "world/world.h"
const char *s = "#include \"world/world.h\"";
