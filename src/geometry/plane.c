/* geometry/plane.c - the half space below z = 0 of the body's frame. */
#include "geometry/kinds.h"

static TalusStatus check(const TalusShapeDef *def)
{
    (void)def; /* no parameters */
    return TALUS_OK;
}

static void measure(TalusShape *shape)
{
    shape->bounding_radius = shape->size = 0.0;
}

const TalusShapeOps talus_plane_ops = {
    .summary = "a half space, solid below z = 0 of its own frame; fixed bodies only",
    .check = check,
    .measure = measure,
    .mesh = talus_mesh_plane,
};
