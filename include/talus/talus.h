/* talus/talus.h - includes all public headers. */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

#include <talus/backend.h>
#include <talus/base.h>
#include <talus/body.h>
#include <talus/comm.h>
#include <talus/fclib.h>
#include <talus/frames.h>
#include <talus/io.h>
#include <talus/joint.h>
#include <talus/math.h>
#include <talus/measure.h>
#include <talus/outside.h>
#include <talus/problem.h>
#include <talus/query.h>
#include <talus/set.h>
#include <talus/shape.h>
#include <talus/sizes.h>
#include <talus/solver.h>
#include <talus/watch.h>
#include <talus/world.h>

#endif
