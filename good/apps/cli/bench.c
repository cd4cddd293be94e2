#include "lab/lab.h"
