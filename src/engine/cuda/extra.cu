/* engine/cuda/extra.cu - shapes, filters and applied forces of a world; upload and download of the states of a subset
 * of bodies. */
#include "engine/cuda/engine.h"

/* Alignment, in bytes, of the block of a shape's arrays; no array needs a larger one. */
enum { ALIGNED = 64 };

/* ---- shapes ---- */

/* Returns a number of bytes rounded up to a multiple of ALIGNED. */
static size_t padded_size(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Uploads the arrays of all shapes as one block, and the shapes with pointers into that block. shape[tables->shapes]
 * and block[bytes] are host memory in which the copies are made. */
static TalusStatus upload_shapes(TalusEngine *e, const TalusTables *tables, TalusShape *shape,
                                 unsigned char *block, size_t bytes)
{
    CuTables *t = &e->tables;
    size_t at = 0;
    TALUS_TRY(t->shape.reserve(tables->shapes, "shapes"));
    TALUS_TRY(t->block.reserve((int64_t)bytes, "arrays of shapes"));
    for (int i = 0; i < tables->shapes; i++) {
        const TalusShape *from = &tables->shape[i];
        shape[i] = *from;
        if (!from->block)
            continue;
        memcpy(block + at, from->block, from->block_size);
        talus_shape_rebase(&shape[i], block + at, t->block + at);
        at += padded_size(from->block_size);
    }
    cu_put(e->cu, t->shape, shape, (size_t)tables->shapes * sizeof *shape);
    cu_put(e->cu, t->block, block, bytes);
    return TALUS_OK;
}

/* Sets t->complex_shapes and t->facets if a shape of this kind requires them. */
static void note_shape_kind(CuTables *t, TalusShapeKind kind)
{
    t->complex_shapes |=
        kind != TALUS_SHAPE_SPHERE && kind != TALUS_SHAPE_PLANE && kind != TALUS_SHAPE_REVOLVE;
    t->facets |= talus_shape_has(kind, TALUS_TRAIT_FACETS);
}

TalusStatus cu_put_shapes(TalusEngine *e, const TalusTables *tables)
{
    CuTables *t = &e->tables;
    TalusShape *shape;
    unsigned char *block;
    size_t bytes = 0;
    t->complex_shapes = t->facets = false;
    for (int i = 0; i < tables->shapes; i++) {
        bytes += padded_size(tables->shape[i].block ? tables->shape[i].block_size : 0);
        note_shape_kind(t, tables->shape[i].def.kind);
    }
    TALUS_TRY(TALUS_ALLOC(shape, (size_t)tables->shapes, "shapes"));
    TalusStatus status = TALUS_ALLOC(block, bytes, "arrays of shapes");
    if (status == TALUS_OK) {
        status = upload_shapes(e, tables, shape, block, bytes);
        talus_release(block);
    }
    talus_release(shape);
    return status;
}

/* ---- filters ---- */

TalusStatus cu_engine_put_filter(TalusEngine *e, const TalusFilter *filter, int slots)
{
    enum { GROUPS = 32 }; /* length of TalusFilter.meets */
    e->filter = {};
    if (!filter)
        return TALUS_OK;
    size_t pairs = (size_t)filter->excluded_count;
    TALUS_TRY(e->filter_pairs.reserve(GROUPS + 2 * (int64_t)pairs, "excluded pairs"));
    TALUS_TRY(cu_upload(e, &e->group, filter->group, slots, "groups"));
    cu_put(e->cu, e->filter_pairs, filter->meets, GROUPS * sizeof *filter->meets);
    cu_put(e->cu, e->filter_pairs + GROUPS, filter->excluded, pairs * sizeof *filter->excluded);
    e->filter = {e->group, e->filter_pairs, (const uint32_t(*)[2])(e->filter_pairs + GROUPS),
                 filter->excluded_count};
    return cu_check(e->cu);
}

/* ---- forces ---- */

TalusStatus cu_engine_put_forces(TalusEngine *e, const TalusVec3 *force, const TalusVec3 *torque,
                                 int count)
{
    CuBodies *b = &e->bodies;
    b->force_count = 0;
    TALUS_TRY(cu_upload(e, &b->force, force, count, "applied forces"));
    TALUS_TRY(cu_upload(e, &b->torque, torque, count, "applied forces"));
    b->force_count = count;
    return cu_check(e->cu);
}

/* ---- a subset of bodies ---- */

/* Sets the state of the body in slot[k] to motion[k], for all k < count. */
static __global__ void scatter_states(CuBodies b, const int32_t *slot, const TalusMotion *motion,
                                      int count)
{
    int64_t k = item_index();
    if (k >= count)
        return;
    TalusMotion m = motion[k];
    b.position[slot[k]] = m.position;
    b.velocity[slot[k]] = m.velocity;
    b.spin[slot[k]] = m.spin;
    b.orientation[slot[k]] = m.orientation;
}

/* motion[k] = state of the body in slot[k], for all k < count. */
static __global__ void gather_states(CuBodies b, const int32_t *slot, TalusMotion *motion,
                                     int count)
{
    int64_t k = item_index();
    if (k >= count)
        return;
    int32_t i = slot[k];
    motion[k] = TalusMotion{b.position[i], b.velocity[i], b.spin[i], b.orientation[i]};
}

void cu_gather_states(TalusEngine *e, const int32_t *slot, TalusMotion *motion, int count)
{
    launch(e->cu, gather_states, blocks_for(count), THREADS, e->bodies, slot, motion, count);
}

void cu_scatter_states(TalusEngine *e, const int32_t *slot, const TalusMotion *motion, int count)
{
    launch(e->cu, scatter_states, blocks_for(count), THREADS, e->bodies, slot, motion, count);
}

TalusStatus cu_engine_put_states(TalusEngine *e, const int32_t *slot, const TalusMotion *motion,
                                 int count)
{
    TALUS_TRY(cu_upload(e, &e->subset, slot, count, "states of bodies"));
    TALUS_TRY(cu_upload(e, &e->motion, motion, count, "states of bodies"));
    cu_scatter_states(e, e->subset, e->motion, count);
    return cu_check(e->cu);
}

TalusStatus cu_engine_get_states(TalusEngine *e, const int32_t *slot, TalusMotion *motion,
                                 int count)
{
    TALUS_TRY(cu_upload(e, &e->subset, slot, count, "states of bodies"));
    TALUS_TRY(e->motion.reserve(count, "states of bodies"));
    cu_gather_states(e, e->subset, e->motion, count);
    cu_get(e->cu, motion, e->motion, (size_t)count * sizeof *motion);
    return cu_check(e->cu);
}
