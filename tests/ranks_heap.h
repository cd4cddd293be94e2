/* A heap of which saved states have all kinds of things, for tests of states on several ranks. */
#ifndef TALUS_TESTS_RANKS_HEAP_H
#define TALUS_TESTS_RANKS_HEAP_H

#include <talus/comm.h>
#include <talus/joint.h>
#include <talus/world.h>

#include "support/scene_text.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* Spheres and boxes, forces, a driven box, a chain of excluded pairs, spheres that touch and fall asleep, bodies that come later. */
static const char scene_text[] =
    "{'step': 0.004, 'solver': {'name': 'apgd', 'tolerance': 1e-3}, 'sleep': {'speed': 0.05, 'steps': 4},"
    " 'shapes': {'brick': {'kind': 'box', 'half': [0.06, 0.05, 0.04]}},"
    " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
    "  {'radius': 0.05, 'density': 2000, 'count': 700, 'force': [0, 0.5, 0],"
    "   'lattice': {'lo': [-0.6, -0.6, 0], 'cells': [11, 11, 0], 'spacing': 0.102}},"
    "  {'shape': 'brick', 'density': 2000, 'count': 200, 'velocity': [0, 0, -3],"
    "   'lattice': {'lo': [-0.7, -0.7, 0.75], 'cells': [8, 8, 0], 'spacing': 0.19}},"
    "  {'shape': 'brick', 'at': [1.2, 0, 0.5], 'drive': {'spin': [0, 0, 2]}},"
    "  {'name': 'link', 'shape': 'brick', 'density': 2000,"
    "   'at': [[1.5, 0, 1], [1.62, 0, 1], [1.74, 0, 1], [1.86, 0, 1]]},"
    "  {'radius': 0.05, 'density': 2000, 'count': 100,"
    "   'lattice': {'lo': [-4, -4, 0], 'cells': [10, 10, 0], 'spacing': 0.1}},"
    "  {'radius': 0.05, 'density': 2000, 'count': 60, 'time': 0.02,"
    "   'lattice': {'lo': [-0.6, -0.6, 3], 'cells': [11, 11, 0], 'spacing': 0.11}}]}";

/* Bytes of a saved world. */
typedef struct Bytes {
    void *data;
    size_t size;
} Bytes;

static inline TalusStatus make_world(TalusWorld **world)
{
    return build_scene_text(scene_text, world);
}

/* Bodies that are not there at the start have the numbers from LAST + 1 on. */
enum { LINK = 903, LAST = 1006, LATE = 60 };

/* Joins the links and excludes a pair more. */
static inline TalusStatus add_joints(TalusWorld *world)
{
    TalusStatus status = TALUS_OK;
    for (uint64_t k = 0; status == TALUS_OK && k < 3; k++) {
        TalusJointDef def = talus_joint_def_default();
        def.kind = TALUS_JOINT_BALL;
        def.a.number = LINK + k;
        def.b.number = LINK + k + 1;
        def.point = talus_vec3(1.56 + 0.12 * (double)k, 0.0, 1.0);
        status = talus_world_add_joint(world, &def, NULL);
    }
    return status == TALUS_OK ? talus_world_exclude(world, (TalusBodyId){7}, (TalusBodyId){650})
                              : status;
}

/* Removes bodies, whose slots others take on one rank. */
static inline TalusStatus remove_some(TalusWorld *world)
{
    TalusStatus status = TALUS_OK;
    for (uint64_t id = 40; status == TALUS_OK && id < 640; id += 31)
        status = talus_world_remove_body(world, (TalusBodyId){id});
    return status;
}

/* Makes steps of a world of this scene; some bodies are removed on the way. */
static inline TalusStatus run_steps(TalusWorld *world, int steps)
{
    TalusStatus status = add_joints(world);
    for (int k = 0; status == TALUS_OK && k < steps; k++) {
        if (k == steps / 3)
            status = remove_some(world);
        if (status == TALUS_OK)
            status = talus_world_step(world, NULL);
    }
    return status;
}

static inline bool is_same(const Bytes *a, const Bytes *b)
{
    return CHECK(a->size == b->size && a->size > 0) &&
           CHECK(memcmp(a->data, b->data, a->size) == 0);
}

#endif
