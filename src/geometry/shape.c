/* geometry/shape.c - table of shape kinds, and functions common to all. */
#include "geometry/shape.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/kinds.h"

#include <stdio.h>
#include <string.h>

#define ROW(argument, kind, file, name, traits) [TALUS_SHAPE_##kind] = &talus_##file##_ops,
#define NAME(argument, kind, file, name, traits) [TALUS_SHAPE_##kind] = name,
static const TalusShapeOps *const kinds[TALUS_SHAPE_KINDS] = {TALUS_SHAPE_TABLE(ROW, 0)};
static const char *const names[TALUS_SHAPE_KINDS] = {TALUS_SHAPE_TABLE(NAME, 0)};

static bool known(TalusShapeKind kind)
{
    return (int)kind >= 0 && kind < TALUS_SHAPE_KINDS && kinds[kind];
}

const TalusShapeOps *talus_shape_ops(TalusShapeKind kind)
{
    return kinds[kind];
}

TalusStatus talus_check_length(const char *shape, const char *field, double value)
{
    if (value > 0.0 && value < INFINITY)
        return TALUS_OK;
    return talus_reject("%s: %s is %g; it must be a positive length", shape, field, value);
}

static TalusStatus check_lengths(const TalusShapeDef *def)
{
    const char *name = names[def->kind];
    int uses = kinds[def->kind]->uses;
    if (uses & TALUS_USES_RADIUS)
        TALUS_TRY(talus_check_length(name, "radius", def->radius));
    if (uses & TALUS_USES_HALF_HEIGHT)
        TALUS_TRY(talus_check_length(name, "half_height", def->half_height));
    if (!(uses & TALUS_USES_HALF))
        return TALUS_OK;
    TALUS_TRY(talus_check_length(name, "half.x", def->half.x));
    TALUS_TRY(talus_check_length(name, "half.y", def->half.y));
    return talus_check_length(name, "half.z", def->half.z);
}

static TalusStatus check(const TalusShapeDef *def)
{
    if (!known(def->kind))
        return talus_reject("shape: kind %d is not one of 0 to %d", (int)def->kind,
                            TALUS_SHAPE_KINDS - 1);
    return kinds[def->kind]->check ? kinds[def->kind]->check(def) : check_lengths(def);
}

const char *talus_shape_name(TalusShapeKind kind)
{
    return known(kind) ? names[kind] : "unknown";
}

const char *talus_shape_names_with_trait(int trait, char *text, size_t size)
{
    size_t used = 0;
    int left = 0;
    for (int kind = 0; kind < TALUS_SHAPE_KINDS; kind++)
        left += talus_shape_has((TalusShapeKind)kind, trait);
    for (int kind = 0; kind < TALUS_SHAPE_KINDS && used < size; kind++)
        if (talus_shape_has((TalusShapeKind)kind, trait))
            used += (size_t)snprintf(text + used, size - used, "%s%s", names[kind],
                                     --left > 1 ? ", "
                                     : left     ? " or "
                                                : "");
    return text;
}

const char *talus_shape_summary(TalusShapeKind kind)
{
    return known(kind) ? kinds[kind]->summary : "";
}

/* ---- mass ---- */

TalusStatus talus_shape_properties(const TalusShape *shape, double radius, double density,
                                   TalusMassProperties *out)
{
    const TalusShapeOps *ops = kinds[shape->def.kind];
    bool sphere = shape->def.kind == TALUS_SHAPE_SPHERE;
    if (!sphere && !(shape->unit.mass > 0.0))
        return talus_reject("%s: has no volume, so it can only be fixed or driven",
                            names[shape->def.kind]);
    if (!(density > 0.0 && density < INFINITY))
        return talus_reject("%s: density is %g; it must be positive", names[shape->def.kind],
                            density);
    if (sphere)
        TALUS_TRY(talus_check_length("sphere", "radius", radius));
    TalusShapeDef own = {.radius = radius};
    TalusMassProperties unit = sphere ? ops->mass(&own) : shape->unit;
    out->mass = density * unit.mass;
    out->inertia = talus_sym3_scale(density, unit.inertia);
    return TALUS_OK;
}

TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                             TalusMassProperties *out)
{
    TalusShape shape;
    TALUS_TRY(talus_shape_init(&shape, def));
    TalusStatus status = talus_shape_properties(&shape, radius, density, out);
    talus_shape_clear(&shape);
    return status;
}

TalusStatus talus_shape_centre(const TalusShapeDef *def, TalusVec3 *out)
{
    TalusShape shape;
    TALUS_TRY(talus_shape_init(&shape, def));
    *out = shape.centre;
    talus_shape_clear(&shape);
    return TALUS_OK;
}

/* ---- memory ---- */

static void drop_arrays(TalusShapeDef *def)
{
    def->profile = NULL;
    def->vertex = NULL;
    def->triangle = NULL;
    def->height = NULL;
    def->part = NULL;
}

TalusStatus talus_shape_init(TalusShape *shape, const TalusShapeDef *def)
{
    memset(shape, 0, sizeof *shape);
    TALUS_TRY(check(def));
    const TalusShapeOps *ops = kinds[def->kind];
    shape->def = *def;
    drop_arrays(&shape->def);
    TalusStatus status = ops->build ? ops->build(shape, def) : TALUS_OK;
    if (status != TALUS_OK) {
        talus_shape_clear(shape);
        return status;
    }
    if (ops->mass && def->kind != TALUS_SHAPE_SPHERE)
        shape->unit = ops->mass(&shape->def);
    if (ops->measure)
        ops->measure(shape);
    return TALUS_OK;
}

void talus_shape_clear(TalusShape *shape)
{
    talus_release(shape->block);
    memset(shape, 0, sizeof *shape);
}

void *talus_layout(TalusLayout *layout, size_t count, size_t element)
{
    void *place = layout->base ? layout->base + layout->used : NULL;
    layout->used += (count * element + 15) / 16 * 16;
    return place;
}

/* Old address of a block, and the address where it will be read. */
typedef struct Move {
    const unsigned char *from;
    unsigned char *to;
} Move;

static void *moved(Move m, const void *pointer)
{
    return pointer ? m.to + ((const unsigned char *)pointer - m.from) : NULL;
}

#define MOVE(pointer) ((pointer) = moved(m, (pointer)))

static void move_arrays(TalusShape *shape, Move m)
{
    MOVE(shape->def.profile);
    MOVE(shape->def.vertex);
    MOVE(shape->def.triangle);
    MOVE(shape->def.height);
    MOVE(shape->def.part);
    MOVE(shape->hull.plane);
    MOVE(shape->hull.loop_start);
    MOVE(shape->hull.loop);
    MOVE(shape->hull.edge);
    MOVE(shape->hull.neighbour_start);
    MOVE(shape->hull.neighbour);
    MOVE(shape->tree.node);
    MOVE(shape->mesh.across);
    MOVE(shape->mesh.mark);
    MOVE(shape->mesh.patch);
    MOVE(shape->mesh.ring_start);
    MOVE(shape->mesh.ring);
    MOVE(shape->mesh.pseudonormal);
    MOVE(shape->child);
}

void talus_shape_rebase(TalusShape *shape, unsigned char *copy, unsigned char *to)
{
    Move m = {shape->block, to};
    if (shape->child) {
        Move here = {shape->block, copy};
        TalusChild *child = moved(here, shape->child);
        TalusShapePart *part = moved(here, shape->def.part);
        for (int k = 0; k < shape->def.part_count; k++) {
            move_arrays(&child[k].shape, m);
            MOVE(part[k].shape);
        }
    }
    move_arrays(shape, m);
    shape->block = shape->block ? to : NULL;
}
