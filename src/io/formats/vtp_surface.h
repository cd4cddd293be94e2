/* io/formats/vtp_surface.h - surfaces of bodies as triangles in a .vtp file. */
#ifndef TALUS_IO_FORMATS_VTP_SURFACE_H
#define TALUS_IO_FORMATS_VTP_SURFACE_H

#include "geometry/mesh.h"
#include "io/file/file.h"
#include "io/formats/fields.h"

/* A mesh and the body that it belongs to. */
typedef struct TalusSurfacePart {
    int mesh, row; /* index of the mesh; row of the body in the snapshot */
    bool placed;   /* true: vertices are in the world frame; false: in the body's frame */
} TalusSurfacePart;

/* Surfaces collected for one file. Starts zeroed; its memory is reused from frame to frame. */
typedef struct TalusVtpSurface {
    TalusMesh *mesh;
    int mesh_count;
    TalusSurfacePart *part;
    int part_count;
    TalusRows rows; /* body of each triangle, when written */
} TalusVtpSurface;

/* Collects the moving bodies that are not spheres. Meshes are kept by index of the shape for later frames, in which
 * each index must mean the same shape. */
TalusStatus talus_vtp_collect_shapes(TalusVtpSurface *surface, const TalusFramesHead *head,
                                     const TalusSnapshot *snapshot);
/* Collects the fixed bodies that are not spheres. Planes are clipped by the other planes and to the bounds of the
 * bodies, enlarged on all sides by a quarter of their widest extent (1 m if that is 0). */
TalusStatus talus_vtp_collect_walls(TalusVtpSurface *surface, const TalusFramesHead *head,
                                    const TalusSnapshot *snapshot);
/* Writes the collected surfaces of this snapshot to `file` and commits the file, unsynced; on failure abandons it.
 * `key` as for talus_vtp_begin. With `lasting`, only fields that are constant during a body's life are written. */
TalusStatus talus_vtp_write_surface(TalusVtpSurface *surface, TalusFile *file,
                                    const TalusFramesHead *head, const TalusSnapshot *snapshot,
                                    uint64_t key, bool lasting);
void talus_vtp_surface_free(TalusVtpSurface *surface);

/* Returns a hash of ids, shapes and poses of the fixed bodies that are not spheres; never 0. */
uint64_t talus_walls_key(const TalusFramesHead *head, const TalusSnapshot *snapshot);

#endif
