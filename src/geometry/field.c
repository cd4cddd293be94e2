/* geometry/field.c - height fields: ground over a regular grid of the x-y plane, solid below. */
#include "base/memory.h"
#include "base/status.h"
#include "geometry/facets.h"
#include "geometry/kinds.h"

#include <string.h>

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (!def->height || def->columns < 2 || def->rows < 2)
        return talus_reject(
            "field: has %d columns and %d rows of heights; it needs at least 2 of each",
            def->height ? def->columns : 0, def->height ? def->rows : 0);
    if (2.0 * (def->columns - 1.0) * (def->rows - 1.0) > TALUS_MAX_FACETS)
        return talus_reject("field: %d columns and %d rows make more than %d triangles",
                            def->columns, def->rows, (int)TALUS_MAX_FACETS);
    TALUS_TRY(talus_check_length("field", "spacing", def->spacing));
    for (int j = 0; j < def->rows; j++)
        for (int i = 0; i < def->columns; i++) {
            double z = def->height[(size_t)j * (size_t)def->columns + (size_t)i];
            if (!(fabs(z) <= TALUS_FACET_MAX_COORDINATE))
                return talus_reject(
                    "field: the height in column %d of row %d is %g; it must be finite and at "
                    "most %g",
                    i, j, z, TALUS_FACET_MAX_COORDINATE);
        }
    return TALUS_OK;
}

/* Copies the heights into the block and sets the box. */
static TalusStatus build_arrays(TalusShape *shape, const TalusShapeDef *def)
{
    size_t count = (size_t)def->columns * (size_t)def->rows;
    shape->block_size = count * sizeof(double);
    TALUS_TRY(TALUS_ALLOC(shape->block, shape->block_size, "heights"));
    memcpy(shape->block, def->height, shape->block_size);
    shape->def.height = (const double *)shape->block;
    double lo = def->height[0], hi = lo;
    for (size_t k = 1; k < count; k++) {
        lo = fmin(lo, def->height[k]);
        hi = fmax(hi, def->height[k]);
    }
    double x = 0.5 * (def->columns - 1) * def->spacing, y = 0.5 * (def->rows - 1) * def->spacing;
    shape->box.lo = talus_vec3(-x, -y, lo);
    shape->box.hi = talus_vec3(x, y, hi);
    return TALUS_OK;
}

/* The bounding radius contains the box of the surface; the size stays 0. */
static void set_radius_and_size(TalusShape *shape)
{
    TalusVec3 lo = shape->box.lo, hi = shape->box.hi;
    double z = fmax(fabs(lo.z), fabs(hi.z));
    shape->bounding_radius = talus_norm(talus_vec3(hi.x, hi.y, z));
}

const TalusShapeOps talus_field_ops = {
    .summary = "ground: heights over a regular grid of the x-y plane, solid below; fixed or "
               "driven bodies only",
    .uses = TALUS_USES_HEIGHTS,
    .check_def = check_def,
    .build_arrays = build_arrays,
    .set_radius_and_size = set_radius_and_size,
    .make_mesh = talus_mesh_field,
};
