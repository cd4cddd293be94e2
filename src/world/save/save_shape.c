/* world/save/save_shape.c - a saved shape: its definition, from which loading builds it again, bit for bit.
 *
 *     kind u32, half, number of lengths u32 (from version 11), lengths, spacing, gyration (from version 15), counts, then
 *     the arrays that are present
 *     number of parts of a compound; each part the same as above, then its position and orientation */
#include "geometry/kinds.h"
#include "world/save/save.h"
#include "world/state.h"

#include <string.h>

/* Fewest bytes of a part: without lengths and arrays. */
enum { PART_BYTES = 128 };

static void release_arrays(TalusShapeDef *def)
{
    TALUS_RELEASE((void *)def->profile, (void *)def->height, (void *)def->vertex,
                  (void *)def->triangle);
}

/* Returns x y; refuses a negative factor and a product above INT32_MAX, and returns 0 then. */
static int checked_product(TalusArchive *a, int x, int y)
{
    int64_t n = (int64_t)x * y;
    if (x < 0 || y < 0 || n > INT32_MAX) {
        talus_archive_refuse(a, "a shape has too many values");
        return 0;
    }
    return (int)n;
}

/* Transfers the counts and arrays of a shape's definition, compound parts excepted. */
static void transfer_arrays(TalusArchive *a, TalusShapeDef *def)
{
    talus_archive_count(a, &def->point_count, 0);
    talus_archive_count(a, &def->vertex_count, 0);
    talus_archive_count(a, &def->triangle_count, 0);
    talus_archive_count(a, &def->columns, 0);
    talus_archive_count(a, &def->rows, 0);
    def->profile = talus_archive_array(a, def->profile, checked_product(a, 2, def->point_count),
                                       sizeof(double));
    def->vertex = talus_archive_array(a, def->vertex, def->vertex_count, sizeof(TalusVec3));
    def->triangle = talus_archive_array(
        a, def->triangle, checked_product(a, 3, def->triangle_count), sizeof(int32_t));
    def->height = talus_archive_array(a, def->height, checked_product(a, def->columns, def->rows),
                                      sizeof(double));
}

/* Transfers the number of lengths and the lengths. Those that a state lacks, saved when TALUS_SHAPE_LENGTHS was shorter,
 * stay 0. */
static void transfer_lengths(TalusArchive *a, TalusShapeDef *def)
{
    uint32_t count = a->version > 10 ? TALUS_LENGTHS : 2; /* before: radius and half_height */
    if (a->version > 10)
        talus_archive_u32(a, &count);
    if (count > TALUS_LENGTHS)
        talus_archive_refuse(a, "saved by a later version of the library: a shape has a length "
                                "that this one does not know");
    for (int i = 0; i < TALUS_LENGTHS && i < (int)count; i++) {
        double value = talus_shape_get_length(def, i);
        TALUS_ARCHIVE_F64(a, &value);
        talus_shape_set_length(def, i, value);
    }
}

/* Transfers a shape's definition without the parts of a compound. Loaded arrays must be released even after a
 * failure. */
static void transfer_shape_def(TalusArchive *a, TalusShapeDef *def)
{
    TALUS_ARCHIVE_ENUM(a, def->kind);
    TALUS_ARCHIVE_VEC3(a, &def->half);
    transfer_lengths(a, def);
    TALUS_ARCHIVE_F64(a, &def->spacing);
    if (a->version > 14) { /* before, all bodies were uniform */
        TalusSym3 *g = &def->gyration;
        TALUS_ARCHIVE_F64(a, &g->xx, &g->yy, &g->zz, &g->xy, &g->xz, &g->yz);
    }
    transfer_arrays(a, def);
    if (a->loading && (unsigned)def->kind >= TALUS_SHAPE_KINDS)
        talus_archive_refuse(a, "no such shape");
}

static void transfer_part(TalusArchive *a, TalusShapePart *part, TalusShapeDef *def)
{
    TalusQuat *q = &part->orientation;
    transfer_shape_def(a, def);
    TALUS_ARCHIVE_VEC3(a, &part->position);
    TALUS_ARCHIVE_F64(a, &q->w, &q->x, &q->y, &q->z);
}

static void save_shape(TalusArchive *a, const TalusShape *shape)
{
    TalusShapeDef def = shape->def;
    transfer_shape_def(a, &def);
    talus_archive_count(a, &def.part_count, 0);
    for (int k = 0; k < def.part_count; k++) {
        TalusShapePart part = def.part[k];
        TalusShapeDef own = *part.shape;
        transfer_part(a, &part, &own);
    }
}

/* Loads the parts of a compound, if any, and adds the shape with its parts to the world. */
static void load_parts(TalusArchive *a, TalusWorld *world, TalusShapeDef *def)
{
    TalusShapePart *part = NULL;
    TalusShapeDef *own = NULL;
    talus_archive_count(a, &def->part_count, PART_BYTES);
    size_t count = (size_t)def->part_count;
    TALUS_ARCHIVE_CALL(a, TALUS_ALLOC(part, count, "saved state"));
    TALUS_ARCHIVE_CALL(a, TALUS_ALLOC(own, count, "saved state"));
    for (size_t k = 0; k < count && a->status == TALUS_OK; k++) {
        transfer_part(a, &part[k], &own[k]);
        part[k].shape = &own[k];
    }
    def->part = count > 0 ? part : NULL;
    TALUS_ARCHIVE_CALL(a, talus_world_add_shape(world, def, NULL));
    for (size_t k = 0; own && k < count; k++)
        release_arrays(&own[k]);
    TALUS_RELEASE(own, part);
}

void talus_archive_shape(TalusArchive *a, TalusWorld *world, int index)
{
    if (!a->loading) {
        save_shape(a, &world->shape[index]);
        return;
    }
    TalusShapeDef def = {0};
    transfer_shape_def(a, &def);
    load_parts(a, world, &def);
    release_arrays(&def);
}
