/* geometry/mesh_build.h - building blocks of mesh.c and mesh_kinds.c. */
#ifndef TALUS_GEOMETRY_MESH_BUILD_H
#define TALUS_GEOMETRY_MESH_BUILD_H

#include "geometry/mesh.h"
#include "geometry/shape.h"

/* Cosine of 30 degrees: neighbouring faces whose normals differ by less are shaded as one curve. */
#define TALUS_SMOOTH_COSINE 0.8660254037844386

/* Numbers of elements of a mesh. */
typedef struct TalusMeshSizes {
    size_t vertices, triangles, edges;
} TalusMeshSizes;

/* Allocates a mesh with these capacities; its counts are 0. Fails, with an empty mesh, if indices would overflow. */
TalusStatus talus_mesh_allocate(TalusMesh *mesh, TalusMeshSizes most);
/* Extends the capacities of a mesh so that the contents of the mesh `by` can be added. */
TalusStatus talus_mesh_reserve(TalusMesh *mesh, const TalusMesh *by);

/* Adds a vertex and returns its index. The caller has reserved capacity; so for all talus_mesh_add_*. */
static inline int talus_mesh_add_vertex(TalusMesh *mesh, TalusVec3 at, TalusVec3 normal)
{
    int index = mesh->vertex_count++;
    mesh->vertex[index] = at;
    mesh->normal[index] = normal;
    return index;
}

/* Adds the triangle of three vertices. */
static inline void talus_mesh_add_triangle(TalusMesh *mesh, int a, int b, int c)
{
    int *t = mesh->triangle + 3 * (size_t)mesh->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* Adds a line between two vertices, to be drawn. */
static inline void talus_mesh_add_edge(TalusMesh *mesh, int a, int b)
{
    int *e = mesh->edge + 2 * (size_t)mesh->edge_count++;
    e[0] = a;
    e[1] = b;
}

/* Adds the triangles, a fan, of a convex polygon whose vertices are consecutive from index `first` on. */
void talus_mesh_add_polygon(TalusMesh *mesh, int first, int corners);

/* A circle of `n` unit vectors about z. */
typedef struct TalusCircle {
    int n;
    const TalusVec3 *at; /* [n] */
} TalusCircle;

/* A point of a profile of revolution: radius r, height z and unit normal (nr, nz); 0 where the normal is not used. */
typedef struct TalusRingProfile {
    double r, z, nr, nz;
} TalusRingProfile;

/* Adds a ring: a vertex with the radius, height and normal of `rim` at each point of the circle. Returns the index of
 * the first vertex. */
int talus_mesh_add_ring(TalusMesh *mesh, TalusCircle circle, TalusRingProfile rim);
/* Adds the triangles between two rings of n vertices, whose first vertices are `low` and `high`. In the half plane
 * (radius, height) the triangles face to the right of the direction from low to high; with `flip`, to the left.
 * low_point, high_point: that ring is a point of the axis. */
void talus_mesh_add_band(TalusMesh *mesh, int n, int low, int high, bool low_point, bool high_point,
                         bool flip);
/* Adds the n edges along a ring, whose first vertex is `ring`. */
void talus_mesh_add_ring_edges(TalusMesh *mesh, int n, int ring);
/* Adds a disc about the z axis at height z, with normal -z and without edges. */
void talus_mesh_add_bottom_disc(TalusMesh *mesh, TalusCircle circle, double radius, double z);

/* Parameters of a mesh besides the shape. */
typedef struct TalusMeshing {
    TalusCircle circle;
    double radius; /* of a sphere, m */
    double extent; /* half width of the square that stands for a plane, m */
} TalusMeshing;

/* Makes the mesh of a built shape by the function of its kind, and the list of its convex pieces. On failure the mesh
 * is empty. */
TalusStatus talus_mesh_of_built_shape(const TalusShape *shape, const TalusMeshing *how,
                                      TalusMesh *out);

/* By kind, in mesh.c and mesh_kinds.c: member `make_mesh` of TalusShapeOps. */
#define TALUS_DECLARE_MESH(argument, kind, file, name, traits) \
    TalusStatus talus_mesh_##file(const TalusShape *shape, const TalusMeshing *how, TalusMesh *out);
TALUS_SHAPE_TABLE(TALUS_DECLARE_MESH, 0)

#endif
