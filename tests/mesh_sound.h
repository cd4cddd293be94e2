/* What tests of triangles ask of any mesh: area, volume, and whether it is sound. */
#ifndef TALUS_TESTS_MESH_SOUND_H
#define TALUS_TESTS_MESH_SOUND_H

#include "geometry/mesh.h"
#include "support/test.h"

/* Twice the area of a triangle, along its normal. */
static inline TalusVec3 spread(const TalusMesh *mesh, int triangle)
{
    const int *t = mesh->triangle + 3 * triangle;
    TalusVec3 a = mesh->vertex[t[0]];
    return talus_cross(talus_sub(mesh->vertex[t[1]], a), talus_sub(mesh->vertex[t[2]], a));
}

static inline double area(const TalusMesh *mesh)
{
    double sum = 0.0;
    for (int k = 0; k < mesh->triangle_count; k++)
        sum += 0.5 * talus_norm(spread(mesh, k));
    return sum;
}

/* By the divergence theorem; only that of a closed surface does not depend on the origin. */
static inline double volume(const TalusMesh *mesh)
{
    double sum = 0.0;
    for (int k = 0; k < mesh->triangle_count; k++)
        sum += talus_dot(spread(mesh, k), mesh->vertex[mesh->triangle[3 * k]]) / 6.0;
    return sum;
}

/* The sum of the areas as vectors, which vanishes where a surface is closed. */
static inline double opening(const TalusMesh *mesh)
{
    TalusVec3 sum = talus_vec3(0, 0, 0);
    for (int k = 0; k < mesh->triangle_count; k++)
        sum = talus_madd(sum, 0.5, spread(mesh, k));
    return talus_norm(sum);
}

/* Indices in range, no triangle without area, normals of length 1 on the triangle's own side. */
static inline void check_sound(const TalusMesh *mesh)
{
    int wrong = 0;
    for (int k = 0; k < 3 * mesh->triangle_count; k++) {
        int v = mesh->triangle[k];
        TalusVec3 s = spread(mesh, k / 3);
        wrong += v < 0 || v >= mesh->vertex_count || !(talus_norm(s) > 0.0) ||
                 fabs(talus_norm(mesh->normal[v]) - 1.0) > 1e-12 ||
                 !(talus_dot(mesh->normal[v], s) > 0.7 * talus_norm(s));
    }
    for (int k = 0; k < 2 * mesh->edge_count; k++)
        wrong += mesh->edge[k] < 0 || mesh->edge[k] >= mesh->vertex_count;
    CHECK_INT(wrong, 0);
}

#endif
