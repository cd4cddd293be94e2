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

/* True if the number is that of a kind. */
static bool is_known_kind(TalusShapeKind kind)
{
    return (int)kind >= 0 && kind < TALUS_SHAPE_KINDS && kinds[kind];
}

const TalusShapeOps *talus_shape_ops(TalusShapeKind kind)
{
    return kinds[kind];
}

const char *talus_shape_length_name(int index)
{
#define LENGTH_NAME(member, name) #member,
    static const char *const length_names[TALUS_LENGTHS] = {TALUS_SHAPE_LENGTHS(LENGTH_NAME)};
    return length_names[index];
}

double talus_shape_get_length(const TalusShapeDef *def, int index)
{
#define LENGTH_VALUE(member, name) def->member,
    const double value[TALUS_LENGTHS] = {TALUS_SHAPE_LENGTHS(LENGTH_VALUE)};
    return value[index];
}

void talus_shape_set_length(TalusShapeDef *def, int index, double value)
{
#define LENGTH_ADDRESS(member, name) &def->member,
    double *const address[TALUS_LENGTHS] = {TALUS_SHAPE_LENGTHS(LENGTH_ADDRESS)};
    *address[index] = value;
}

TalusStatus talus_check_length(const char *shape, const char *field, double value)
{
    if (value > 0.0 && value < INFINITY)
        return TALUS_OK;
    return talus_reject("%s: %s is %g; it must be a positive length", shape, field, value);
}

/* Fails unless the lengths that define this kind of shape are positive and finite. */
static TalusStatus check_lengths(const TalusShapeDef *def)
{
    const char *name = names[def->kind];
    int uses = kinds[def->kind]->uses;
    for (int i = 0; i < TALUS_LENGTHS; i++)
        if (talus_uses_length(uses, i))
            TALUS_TRY(talus_check_length(name, talus_shape_length_name(i),
                                         talus_shape_get_length(def, i)));
    if (!(uses & TALUS_USES_HALF))
        return TALUS_OK;
    TALUS_TRY(talus_check_length(name, "half.x", def->half.x));
    TALUS_TRY(talus_check_length(name, "half.y", def->half.y));
    return talus_check_length(name, "half.z", def->half.z);
}

/* Fails unless the kind is known and the definition is valid for it. */
static TalusStatus check_shape_def(const TalusShapeDef *def)
{
    if (!is_known_kind(def->kind))
        return talus_reject("shape: kind %d is not one of 0 to %d", (int)def->kind,
                            TALUS_SHAPE_KINDS - 1);
    return kinds[def->kind]->check_def ? kinds[def->kind]->check_def(def) : check_lengths(def);
}

const char *talus_shape_name(TalusShapeKind kind)
{
    return is_known_kind(kind) ? names[kind] : "unknown";
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
    return is_known_kind(kind) ? kinds[kind]->summary : "";
}

/* ---- mass ---- */

TalusStatus talus_shape_mass_of_built(const TalusShape *shape, double radius, double density,
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
    TalusMassProperties unit = sphere ? ops->mass_at_unit_density(&own) : shape->unit;
    out->mass = density * unit.mass;
    out->inertia = talus_sym3_scale(density, unit.inertia);
    return TALUS_OK;
}

TalusStatus talus_shape_mass(const TalusShapeDef *def, double radius, double density,
                             TalusMassProperties *out)
{
    TalusShape shape;
    TALUS_TRY(talus_shape_init(&shape, def));
    TalusStatus status = talus_shape_mass_of_built(&shape, radius, density, out);
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

/* ---- inertia of its own ---- */

static bool is_zero(TalusSym3 a)
{
    return a.xx == 0.0 && a.yy == 0.0 && a.zz == 0.0 && a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0;
}

/* True if the least eigenvalue of a is above `least`, by the minors of a - least 1. */
static bool is_above(TalusSym3 a, double least)
{
    const double x = a.xx - least, y = a.yy - least, z = a.zz - least;
    const double minor = x * y - a.xy * a.xy;
    const double det = minor * z + a.xy * a.yz * a.xz * 2.0 - y * a.xz * a.xz - x * a.yz * a.yz;
    return x > 0.0 && minor > 0.0 && det > 0.0;
}

/* The second moments of mass are (tr I/2) 1 - I, which have no negative eigenvalue. A plate has one of 0, and a rod two, so
 * rounding of the numbers given is allowed for. */
TalusStatus talus_check_inertia(const char *name, TalusSym3 inertia)
{
    const double trace = inertia.xx + inertia.yy + inertia.zz;
    const TalusSym3 a = talus_sym3_scale(1.0 / trace, inertia);
    const TalusSym3 second = {0.5 - a.xx, 0.5 - a.yy, 0.5 - a.zz, -a.xy, -a.xz, -a.yz};
    if (!(trace > 0.0) || !isfinite(trace) || !is_above(a, 1e-12))
        return talus_reject("%s: the principal moments of an inertia must be above 0", name);
    if (!is_above(second, -1e-6))
        return talus_reject(
            "%s: no body has this inertia: one of its principal moments is above the "
            "sum of the other two",
            name);
    return TALUS_OK;
}

/* Gives a built shape the inertia of its definition, if it has one. */
static TalusStatus set_own_inertia(TalusShape *shape)
{
    const TalusSym3 gyration = shape->def.gyration;
    const char *name = names[shape->def.kind];
    if (is_zero(gyration))
        return TALUS_OK;
    if (shape->def.kind == TALUS_SHAPE_SPHERE || !(shape->unit.mass > 0.0))
        return talus_reject("%s: has no inertia of its own; a compound of one sphere may have it",
                            name);
    TALUS_TRY(talus_check_inertia(name, gyration));
    shape->unit.inertia = talus_sym3_scale(shape->unit.mass, gyration);
    return TALUS_OK;
}

/* ---- memory ---- */

/* Sets the pointers of a definition to its arrays to NULL. */
static void clear_array_pointers(TalusShapeDef *def)
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
    TALUS_TRY(check_shape_def(def));
    const TalusShapeOps *ops = kinds[def->kind];
    shape->def = *def;
    clear_array_pointers(&shape->def);
    TalusStatus status = ops->build_arrays ? ops->build_arrays(shape, def) : TALUS_OK;
    if (status == TALUS_OK && ops->mass_at_unit_density && def->kind != TALUS_SHAPE_SPHERE)
        shape->unit = ops->mass_at_unit_density(&shape->def);
    if (status == TALUS_OK && ops->set_radius_and_size)
        ops->set_radius_and_size(shape);
    TALUS_THEN(status, set_own_inertia(shape));
    if (status != TALUS_OK)
        talus_shape_clear(shape);
    return status;
}

void talus_shape_clear(TalusShape *shape)
{
    talus_release(shape->block);
    memset(shape, 0, sizeof *shape);
}

void *talus_layout_array(TalusLayout *layout, size_t count, size_t element)
{
    void *place = layout->base ? layout->base + layout->used : NULL;
    layout->used += (count * element + 15) / 16 * 16;
    return place;
}

/* Move of a block from its old address to the address where it will be read. */
typedef struct BlockMove {
    const unsigned char *from;
    unsigned char *to;
} BlockMove;

/* Address of a pointed-to object after the move of its block; NULL for NULL. */
static void *moved_pointer(BlockMove m, const void *pointer)
{
    return pointer ? m.to + ((const unsigned char *)pointer - m.from) : NULL;
}

#define MOVE(pointer) ((pointer) = moved_pointer(m, (pointer)))

/* Changes all pointers of a shape into the block to its new address. */
static void move_pointers(TalusShape *shape, BlockMove m)
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
    BlockMove m = {shape->block, to};
    if (shape->child) {
        BlockMove here = {shape->block, copy};
        TalusChild *child = moved_pointer(here, shape->child);
        TalusShapePart *part = moved_pointer(here, shape->def.part);
        for (int k = 0; k < shape->def.part_count; k++) {
            move_pointers(&child[k].shape, m);
            MOVE(part[k].shape);
        }
    }
    move_pointers(shape, m);
    shape->block = shape->block ? to : NULL;
}
