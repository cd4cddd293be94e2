/* geometry/compound.c - several convex shapes as one body.
 *
 * Mass, centre of mass and inertia are sums over the parts. Volume where parts overlap is counted once for
 * each part; to avoid this, give the mass of the body. The arrays of the parts are in the compound's block. */
#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"
#include "geometry/kinds.h"

#include <string.h>

/* Distance of the centre of mass from the origin, over the extent, up to which parts are not moved */
#define CENTRE_TOLERANCE 0x1p-40

/* Fails unless part k is a convex shape (a sphere with a radius) with a finite position and a unit orientation. The
 * shape's own definition is checked in make_parts. */
static TalusStatus check_part(const TalusShapePart *part, int k)
{
    char kinds[256];
    if (!part->shape || !talus_shape_has(part->shape->kind, TALUS_TRAIT_CONVEX))
        return talus_reject("compound: part %d is a %s; expected a %s", k,
                            part->shape ? talus_shape_name(part->shape->kind) : "NULL",
                            talus_shape_names_with_trait(TALUS_TRAIT_CONVEX, kinds, sizeof kinds));
    if (part->shape->kind == TALUS_SHAPE_SPHERE && !(part->shape->radius > 0.0))
        return talus_reject("compound: part %d is a sphere without a radius; it must be positive",
                            k);
    TalusVec3 p = part->position;
    TalusQuat q = part->orientation;
    double length2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(fabs(p.x) + fabs(p.y) + fabs(p.z) < INFINITY))
        return talus_reject("compound: the position of part %d is not finite", k);
    if (!(fabs(length2 - 1.0) < 1e-3))
        return talus_reject("compound: the orientation of part %d has length %g; expected 1", k,
                            sqrt(length2));
    return TALUS_OK;
}

static TalusStatus check_def(const TalusShapeDef *def)
{
    if (!def->part || def->part_count < 1)
        return talus_reject("compound: %d parts; it needs at least 1",
                            def->part ? def->part_count : 0);
    for (int k = 0; k < def->part_count; k++)
        TALUS_TRY(check_part(&def->part[k], k));
    return TALUS_OK;
}

/* ---- parts ---- */

/* Normalises q. Leaves q unchanged if its length is 1 up to rounding, so that a shape made from the definition of
 * another shape has the same bits. */
static TalusQuat normalize_orientation(TalusQuat q)
{
    double length2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return fabs(length2 - 1.0) <= 0x1p-48 ? q : talus_quat_normalize(q);
}

/* Makes the parts, each with its own arrays. A failure message names the part. */
static TalusStatus make_parts(const TalusShapeDef *def, TalusChild *child)
{
    for (int k = 0; k < def->part_count; k++) {
        const TalusShapePart *part = &def->part[k];
        TalusStatus status = talus_shape_init(&child[k].shape, part->shape);
        if (status == TALUS_ERR_MEMORY)
            return status;
        if (status != TALUS_OK)
            return talus_fail_around(status, "compound: part %d: %s", k, talus_error());
        child[k].orientation = normalize_orientation(part->orientation);
        child[k].position =
            talus_add(part->position, talus_rotate(child[k].orientation, child[k].shape.centre));
    }
    return TALUS_OK;
}

/* Mass and inertia of a part at density 1, about its own centre of mass. */
static TalusStatus unit_mass_of_part(const TalusChild *child, TalusMassProperties *out)
{
    return talus_shape_mass_of_built(&child->shape, child->shape.def.radius, 1.0, out);
}

/* ---- mass ---- */

/* Inertia of a point mass m at x (parallel axis theorem). */
static TalusSym3 offset_inertia(double m, TalusVec3 x)
{
    TalusSym3 r = {m * (x.y * x.y + x.z * x.z),
                   m * (x.x * x.x + x.z * x.z),
                   m * (x.x * x.x + x.y * x.y),
                   -m * x.x * x.y,
                   -m * x.x * x.z,
                   -m * x.y * x.z};
    return r;
}

/* a + b */
static TalusSym3 add_inertias(TalusSym3 a, TalusSym3 b)
{
    TalusSym3 r = {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
    return r;
}

/* Finds the centre of mass of all parts. */
static TalusStatus find_centre(const TalusChild *child, int count, TalusVec3 *centre)
{
    TalusVec3 sum = talus_vec3(0, 0, 0);
    double mass = 0.0;
    for (int k = 0; k < count; k++) {
        TalusMassProperties m;
        TALUS_TRY(unit_mass_of_part(&child[k], &m));
        mass += m.mass;
        sum = talus_madd(sum, m.mass, child[k].position);
    }
    *centre = talus_scale(1.0 / mass, sum);
    if (!isfinite(mass + centre->x + centre->y + centre->z))
        return talus_reject("compound: so large or small that its mass overflows");
    return TALUS_OK;
}

/* Sets shape->unit: sums mass and inertia over the parts, whose centre of mass is the origin. */
static TalusStatus sum_masses(TalusShape *shape, const TalusChild *child)
{
    for (int k = 0; k < shape->def.part_count; k++) {
        TalusMassProperties m;
        TALUS_TRY(unit_mass_of_part(&child[k], &m));
        TalusSym3 own = talus_sym3_rotate(child[k].orientation, m.inertia);
        shape->unit.mass += m.mass;
        shape->unit.inertia = add_inertias(
            shape->unit.inertia, add_inertias(own, offset_inertia(m.mass, child[k].position)));
    }
    return TALUS_OK;
}

/* Moves all parts so that the centre of mass is the origin, and adds the shift to shape->centre. In up to three rounds:
 * if the parts are far from the origin, the first leaves rounding errors. */
static TalusStatus centre_parts(TalusShape *shape, TalusChild *child)
{
    int count = shape->def.part_count;
    for (int round = 0; round < 3; round++) {
        TalusVec3 c;
        double extent = 0.0;
        TALUS_TRY(find_centre(child, count, &c));
        for (int k = 0; k < count; k++)
            extent = fmax(extent, talus_norm(talus_sub(child[k].position, c)) +
                                      fmax(child[k].shape.size, child[k].shape.def.radius));
        if (talus_norm(c) <= CENTRE_TOLERANCE * extent)
            return TALUS_OK;
        for (int k = 0; k < count; k++)
            child[k].position = talus_sub(child[k].position, c);
        shape->centre = talus_add(shape->centre, c);
    }
    return TALUS_OK;
}

/* ---- the shape ---- */

/* Allocates the compound's block and copies the parts, with their arrays, into it. Sets shape->child and
 * shape->def.part. */
static TalusStatus copy_parts_into_block(TalusShape *shape, const TalusChild *from)
{
    size_t count = (size_t)shape->def.part_count;
    TalusLayout layout = {0};
    talus_layout_array(&layout, count, sizeof(TalusChild));
    talus_layout_array(&layout, count, sizeof(TalusShapePart));
    for (size_t k = 0; k < count; k++)
        talus_layout_array(&layout, from[k].shape.block_size, 1);
    TALUS_TRY(TALUS_ALLOC(shape->block, layout.used, "compound"));
    shape->block_size = layout.used;
    layout = (TalusLayout){.base = shape->block};
    TalusChild *child = talus_layout_array(&layout, count, sizeof *child);
    TalusShapePart *part = talus_layout_array(&layout, count, sizeof *part);
    for (size_t k = 0; k < count; k++) {
        unsigned char *place = talus_layout_array(&layout, from[k].shape.block_size, 1);
        child[k] = from[k];
        if (from[k].shape.block_size > 0)
            memcpy(place, from[k].shape.block, from[k].shape.block_size);
        talus_shape_rebase(&child[k].shape, place, place);
        child[k].shape.block = NULL;
        part[k] = (TalusShapePart){&child[k].shape.def, child[k].position, child[k].orientation};
    }
    shape->child = child;
    shape->def.part = part;
    return TALUS_OK;
}

/* Makes the parts, moves their centre of mass to the origin, sums their masses and copies them into the block. */
static TalusStatus build_arrays(TalusShape *shape, const TalusShapeDef *def)
{
    TalusChild *child;
    TALUS_TRY(TALUS_ALLOC(child, (size_t)def->part_count, "compound"));
    TalusStatus status = make_parts(def, child);
    TALUS_THEN(status, centre_parts(shape, child));
    TALUS_THEN(status, sum_masses(shape, child));
    TALUS_THEN(status, copy_parts_into_block(shape, child));
    for (int k = 0; k < def->part_count; k++)
        talus_shape_clear(&child[k].shape);
    talus_release(child);
    return status;
}

/* ---- sizes ---- */

/* Distance of the farthest point of a part from p, in the part's frame; for an ellipsoid an upper bound. */
static double farthest_distance(const TalusShape *shape, TalusVec3 p)
{
    const TalusShapeDef *def = &shape->def;
    double r = def->radius, h = def->half_height, rho = sqrt(p.x * p.x + p.y * p.y), most = 0.0;
    TalusVec3 half = def->half;
    switch (def->kind) {
    case TALUS_SHAPE_SPHERE: return talus_norm(p) + r;
    case TALUS_SHAPE_BOX:
        return talus_norm(talus_vec3(fabs(p.x) + half.x, fabs(p.y) + half.y, fabs(p.z) + half.z));
    case TALUS_SHAPE_CYLINDER: return talus_norm(talus_vec3(rho + r, fabs(p.z) + h, 0.0));
    case TALUS_SHAPE_CAPSULE: return talus_norm(talus_vec3(rho, fabs(p.z) + h, 0.0)) + r;
    case TALUS_SHAPE_CONE:
        return fmax(talus_norm(talus_vec3(rho + r, p.z + 0.5 * h, 0.0)),
                    talus_norm(talus_vec3(rho, p.z - 1.5 * h, 0.0)));
    case TALUS_SHAPE_HULL:
        for (int k = 0; k < def->vertex_count; k++)
            most = fmax(most, talus_norm(talus_sub(def->vertex[k], p)));
        return most;
    default: return talus_norm(p) + shape->bounding_radius;
    }
}

/* The bounding radius is that of the farthest point of any part, the size the smallest of the parts. Also sets the
 * box. */
static void set_radius_and_size(TalusShape *shape)
{
    shape->bounding_radius = 0.0;
    shape->size = INFINITY;
    for (int k = 0; k < shape->def.part_count; k++) {
        const TalusChild *c = &shape->child[k];
        bool sphere = c->shape.def.kind == TALUS_SHAPE_SPHERE;
        TalusVec3 origin = talus_neg(talus_rotate_back(c->orientation, c->position));
        shape->bounding_radius = fmax(shape->bounding_radius, farthest_distance(&c->shape, origin));
        shape->size = fmin(shape->size, sphere ? c->shape.def.radius : c->shape.size);
    }
    shape->box = talus_shape_bounds(shape, 0.0, talus_vec3(0, 0, 0), talus_quat_identity());
}

const TalusShapeOps talus_compound_ops = {
    .summary = "several convex shapes as one body",
    .uses = TALUS_USES_PARTS,
    .check_def = check_def,
    .build_arrays = build_arrays,
    .set_radius_and_size = set_radius_and_size,
    .make_mesh = talus_mesh_compound,
};
