#include "backend/cpu/b.h"
