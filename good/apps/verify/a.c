#include "verify.h"
