/* io/formats/vtp_surface.h - true surfaces of bodies as triangles in a .vtp file. */
#ifndef TALUS_IO_FORMATS_VTP_SURFACE_H
#define TALUS_IO_FORMATS_VTP_SURFACE_H

#include "geometry/mesh.h"
#include "io/file/file.h"
#include "io/formats/fields.h"

/* A body's mesh and where it stands. */
typedef struct TalusSurfacePart {
    int mesh, row; /* row of the body in the snapshot */
    bool placed;   /* the mesh is in the world frame already */
} TalusSurfacePart;

/* Keeps its memory from frame to frame; starts zeroed. */
typedef struct TalusVtpSurface {
    TalusMesh *mesh;
    int mesh_count;
    TalusSurfacePart *part;
    int part_count;
    TalusRows rows; /* of each triangle */
} TalusVtpSurface;

/* Gathers the bodies that move and are not spheres. */
TalusStatus talus_vtp_of_shapes(TalusVtpSurface *surface, const TalusFramesHead *head,
                                const TalusSnapshot *snapshot);
/* Gathers the fixed bodies that are not spheres; planes are cut to what they leave free within the
 * bounds of the bodies and a quarter more on all sides. */
TalusStatus talus_vtp_of_walls(TalusVtpSurface *surface, const TalusFramesHead *head,
                               const TalusSnapshot *snapshot);
/* Writes what was gathered from this snapshot to `file` and commits it; `key` as for talus_vtp_begin. With `lasting`, only
 * the fields that never change go along. */
TalusStatus talus_vtp_write(TalusVtpSurface *surface, TalusFile *file, const TalusFramesHead *head,
                            const TalusSnapshot *snapshot, uint64_t key, bool lasting);
void talus_vtp_free(TalusVtpSurface *surface);

/* A number that changes whenever walls come, go or move; never 0. */
uint64_t talus_walls_key(const TalusFramesHead *head, const TalusSnapshot *snapshot);

#endif
