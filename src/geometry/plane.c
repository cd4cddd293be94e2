/* geometry/plane.c - the half space below z = 0 of the body's frame. */
#include "geometry/kinds.h"

const TalusShapeOps talus_plane_ops = {
    .summary = "a half space, solid below z = 0 of its own frame; fixed or driven bodies only",
    .make_mesh = talus_mesh_plane,
};
