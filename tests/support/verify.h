#include "verify/verify.h"
