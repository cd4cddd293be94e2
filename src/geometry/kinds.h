/* geometry/kinds.h - interface of a kind of shape to shape.c: one table of functions per file. */
#ifndef TALUS_GEOMETRY_KINDS_H
#define TALUS_GEOMETRY_KINDS_H

#include "geometry/mesh_build.h"
#include "geometry/shape.h"
#include "geometry/traits.h"

#define TALUS_PI 3.14159265358979323846

/* Numbers of the lengths of TALUS_SHAPE_LENGTHS, and how many there are. */
#define TALUS_LENGTH_NUMBER(member, name) TALUS_LENGTH_##name,
enum { TALUS_SHAPE_LENGTHS(TALUS_LENGTH_NUMBER) TALUS_LENGTHS };

/* Members of TalusShapeDef that define a kind; TALUS_USES_RADIUS and so on for each length. */
#define TALUS_LENGTH_BIT(member, name) TALUS_USES_##name = TALUS_USES_LENGTH << TALUS_LENGTH_##name,
enum {
    TALUS_USES_HALF = 1,
    TALUS_USES_PROFILE = 2,
    TALUS_USES_VERTEX = 4,
    TALUS_USES_TRIANGLE = 8,
    TALUS_USES_HEIGHTS = 16, /* height, columns, rows, spacing */
    TALUS_USES_PARTS = 32,
    TALUS_USES_LENGTH = 64, /* first of the lengths; the others have the bits above */
    TALUS_SHAPE_LENGTHS(TALUS_LENGTH_BIT)
};

typedef struct TalusShapeOps {
    const char *summary; /* one line that describes the kind to a user */
    int uses;            /* TALUS_USES_* */
    /* Checks the definition; fails with a message that names the field, its value and the valid values. NULL: the
     * lengths of `uses` must be positive and finite. */
    TalusStatus (*check_def)(const TalusShapeDef *def);
    /* For kinds with arrays: allocates shape->block, lays the arrays out in it and points shape->def there. On entry
     * shape->def is a copy of the def without its arrays. Also sets centre, unit and box where the kind has them. On
     * failure the caller clears the shape. */
    TalusStatus (*build_arrays)(TalusShape *shape, const TalusShapeDef *def);
    /* Sets bounding_radius and size of a checked and built shape, of a compound also box. NULL: bounding_radius and
     * size stay 0. */
    void (*set_radius_and_size)(TalusShape *shape);
    /* Mass and inertia at density 1, of a sphere with def->radius; NULL for shapes without volume and for kinds whose
     * build_arrays sets `unit`. */
    TalusMassProperties (*mass_at_unit_density)(const TalusShapeDef *def);
    /* Makes triangles for drawing (geometry/mesh_build.h). On failure the caller frees the mesh. */
    TalusStatus (*make_mesh)(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out);
} TalusShapeOps;

#define TALUS_DECLARE_OPS(argument, kind, file, name, traits) \
    extern const TalusShapeOps talus_##file##_ops;
TALUS_SHAPE_TABLE(TALUS_DECLARE_OPS, 0)

/* Returns the table of a kind, which must be valid. */
const TalusShapeOps *talus_shape_ops(TalusShapeKind kind);
/* Writes the names of the kinds with a trait, such as "sphere, box or hull", to text[size], cut to fit, and
 * returns text. */
const char *talus_shape_names_with_trait(int trait, char *text, size_t size);

/* True if `uses`, TALUS_USES_* bits, have length `index`. */
static inline bool talus_uses_length(int uses, int index)
{
    return (uses >> index & TALUS_USES_LENGTH) != 0;
}

/* Length `index`, 0 to TALUS_LENGTHS - 1: its name, which is its key in files, and its value. */
const char *talus_shape_length_name(int index);
double talus_shape_get_length(const TalusShapeDef *def, int index);
void talus_shape_set_length(TalusShapeDef *def, int index, double value);

/* Layout of arrays in a block of memory, aligned to 16 bytes. With base NULL talus_layout_array only adds to `used`. So
 * one function that lays out all arrays runs twice: to find the length of the block, and to set the pointers into
 * it. */
typedef struct TalusLayout {
    unsigned char *base; /* the block; NULL: not allocated yet */
    size_t used;         /* bytes of the arrays so far */
} TalusLayout;

/* Adds an array of `count` elements of `element` bytes to the layout. Returns its address; NULL if base is NULL. */
void *talus_layout_array(TalusLayout *layout, size_t count, size_t element);

/* Fails unless `value` is positive and finite, with a message such as
 *     box: half.x is -1; it must be a positive length                                           */
TalusStatus talus_check_length(const char *shape, const char *field, double value);

#endif
