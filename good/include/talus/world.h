#include <talus/base.h>
