#include "io/scene.h"
