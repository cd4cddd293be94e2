/* fuzz/surface.h - what the targets of surface files do with one: read it, and hold what was accepted to its
 * promises. */
#ifndef TALUS_FUZZ_SURFACE_H
#define TALUS_FUZZ_SURFACE_H

#include "base/memory.h"
#include "geometry/shape.h"

#include <stdlib.h>
#include <string.h>
#include <talus/io.h>

static inline void check(bool ok)
{
    if (!ok)
        abort();
}

static inline void check_surface(const TalusSurface *s)
{
    check(s->triangle_count > 0 && s->vertex_count >= 3);
    for (int v = 0; v < s->vertex_count; v++) {
        TalusVec3 x = s->vertex[v];
        check(x.x >= s->lo.x && x.x <= s->hi.x && x.y >= s->lo.y && x.y <= s->hi.y &&
              x.z >= s->lo.z && x.z <= s->hi.z);
    }
    for (int k = 0; k < 3 * s->triangle_count; k++)
        check(s->triangle[k] >= 0 && s->triangle[k] < s->vertex_count);
    check(s->volume >= 0.0 && s->closed_parts <= s->parts && s->parts <= s->triangle_count);
    check(s->closed_parts < s->parts || s->open_edges == 0);
}

/* A surface that was read makes a shape. */
static inline void check_shape(const TalusSurface *s)
{
    TalusShape shape;
    const TalusShapeDef def = {.kind = TALUS_SHAPE_MESH,
                               .vertex = s->vertex,
                               .vertex_count = s->vertex_count,
                               .triangle = s->triangle,
                               .triangle_count = s->triangle_count};
    check(talus_shape_init(&shape, &def) == TALUS_OK);
    talus_shape_clear(&shape);
}

static inline void read_surface(const char *name, const uint8_t *data, size_t size)
{
    TalusSurface surface;
    void *copy = malloc(size ? size : 1); /* shows reads past its end */
    check(copy != NULL);
    memcpy(copy, data, size);
    TalusStatus status = talus_surface_parse(name, copy, size, &surface);
    free(copy);
    if (status == TALUS_OK) {
        check_surface(&surface);
        check_shape(&surface);
        talus_surface_free(&surface);
    } else {
        check(status == TALUS_ERR_MEMORY || strncmp(talus_error(), name, strlen(name)) == 0);
    }
    check(talus_memory_now() == 0);
}

#endif
