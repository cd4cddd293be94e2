/* Bodies as arrays, as collision detection sees them, and contact lists to compare. */
#ifndef TALUS_TESTS_COLLIDE_SCENE_H
#define TALUS_TESTS_COLLIDE_SCENE_H

#include "base/rng.h"
#include "collide/contact.h"
#include "collide/period.h"
#include "support/test.h"

#include <string.h>

enum { SPHERE, PLANE, BOX, CYLINDER, SLAB, VESSEL, SHAPES, MAX_SHAPES = 32, MAX_BODIES = 4096 };

static const double cup[] = {0.0, -3.0, 2.0, -3.0, 4.0, 0.0, 4.0, 3.0};

/* A world of arrays, as the detector sees it. */
typedef struct Scene {
    TalusShape shape[MAX_SHAPES]; /* the first SHAPES of them are always there */
    TalusVec3 position[MAX_BODIES], velocity[MAX_BODIES];
    TalusQuat orientation[MAX_BODIES];
    double radius[MAX_BODIES], size[MAX_BODIES];
    TalusVec3 spin[MAX_BODIES];
    int32_t shape_of[MAX_BODIES];
    uint8_t fixed[MAX_BODIES];
    TalusBodyView view;
    TalusDetectOptions options;
} Scene;

static inline void scene_open(Scene *s)
{
    const TalusShapeDef def[SHAPES] = {
        {.kind = TALUS_SHAPE_SPHERE},
        {.kind = TALUS_SHAPE_PLANE},
        {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.5, 0.5}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .half_height = 0.5},
        {.kind = TALUS_SHAPE_BOX, .half = {9.0, 8.0, 0.2}},
        {.kind = TALUS_SHAPE_REVOLVE, .profile = cup, .point_count = 4},
    };
    memset(s, 0, sizeof *s);
    for (int k = 0; k < SHAPES; k++)
        CHECK_OK(talus_shape_init(&s->shape[k], &def[k]));
    TalusBodyView view = {.position = s->position,
                          .orientation = s->orientation,
                          .velocity = s->velocity,
                          .spin = s->spin,
                          .radius = s->radius,
                          .size = s->size,
                          .shape = s->shape_of,
                          .mobility = s->fixed,
                          .shapes = s->shape,
                          .shape_count = SHAPES};
    TalusDetectOptions options = {1e-3, 0.05, 0.1, 0.4};
    s->view = view;
    s->options = options;
}

static inline void scene_close(Scene *s)
{
    for (int k = 0; k < s->view.shape_count; k++)
        talus_shape_clear(&s->shape[k]);
}

static inline int add(Scene *s, int shape, double radius, TalusVec3 x, TalusVec3 v)
{
    int i = s->view.count++;
    s->shape_of[i] = shape;
    s->radius[i] = shape == SPHERE ? radius : s->shape[shape].bounding_radius;
    s->size[i] = shape == SPHERE ? radius : s->shape[shape].size;
    s->position[i] = x;
    s->velocity[i] = v;
    s->orientation[i] = talus_quat_identity();
    s->fixed[i] = shape == PLANE || shape == SLAB || shape == VESSEL;
    s->spin[i] = talus_vec3(0.0, 0.0, 0.0);
    return i;
}

static inline TalusVec3 random_vector(TalusRng *rng, double scale)
{
    double x = talus_rng_uniform(rng) - 0.5, y = talus_rng_uniform(rng) - 0.5;
    return talus_scale(scale, talus_vec3(x, y, talus_rng_uniform(rng) - 0.5));
}

/* Spheres with sizes from 1 / ratio to 1, small ones being many, dense enough to touch; some fixed,
 * some dead, one far away. */
static inline void add_spheres(Scene *s, int count, double ratio, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double volume = 0.0;
    for (int k = 0; k < count; k++) {
        double u = talus_rng_uniform(&rng);
        double radius = 1.0 / (1.0 + (ratio - 1.0) * sqrt(sqrt(u)));
        int i = add(s, SPHERE, radius, talus_vec3(0, 0, 0), random_vector(&rng, 20.0));
        s->fixed[i] = talus_rng_below(&rng, 10) == 0;
        volume += 8.0 * radius * radius * radius;
    }
    double edge = 1.0;
    while (edge * edge * edge < volume)
        edge *= 1.05;
    for (int i = 0; i < s->view.count; i++)
        s->position[i] = random_vector(&rng, edge);
    s->position[count / 2] = talus_vec3(1e7, -1e9, 3e5);
    s->shape_of[count / 3] = s->shape_of[count / 5] = -1;
}

/* Spheres, turned boxes, a floor and a fixed box that is large beside the others. */
static inline void add_mixture(Scene *s, int count)
{
    TalusRng rng = talus_rng_from_seed(7);
    add_spheres(s, count, 15.0, 6);
    for (int k = 0; k < count / 4; k++) {
        TalusVec3 x = random_vector(&rng, 9.0), v = random_vector(&rng, 5.0);
        int i = add(s, BOX, 0.0, x, v);
        TalusQuat q = {1.0, talus_rng_uniform(&rng), talus_rng_uniform(&rng), 0.3};
        s->orientation[i] = talus_quat_normalize(q);
        double spin = talus_rng_uniform(&rng);
        s->spin[i] = talus_vec3(spin, 0.0, talus_rng_uniform(&rng));
    }
    add(s, PLANE, 0.0, talus_vec3(0, 0, -2.0), talus_vec3(0, 0, 0));
}

/* ---- lists ---- */

static inline bool same_contacts(const TalusContactList *p, const TalusContactList *q)
{
    return p->sphere_sphere == q->sphere_sphere && p->sphere_fixed == q->sphere_fixed &&
           p->general == q->general &&
           !memcmp(p->contact, q->contact, (size_t)p->count * sizeof *p->contact) &&
           !memcmp(p->arms, q->arms, (size_t)p->general * sizeof *p->arms) &&
           !memcmp(p->impulse, q->impulse, (size_t)p->count * sizeof *p->impulse);
}

static inline TalusVec3 mark(const TalusContact *c)
{
    return talus_vec3(c->a + 1.0, c->b, c->feature);
}

static inline void mark_all(TalusContactList *list)
{
    for (int i = 0; i < list->count; i++)
        list->impulse[i] = mark(&list->contact[i]);
}

static inline void shake(Scene *s)
{
    TalusRng rng = talus_rng_from_seed(99);
    for (int i = 0; i < s->view.count; i++) {
        if (!s->fixed[i])
            s->position[i] = talus_add(s->position[i], random_vector(&rng, 0.05 * s->radius[i]));
        if (s->view.period)
            s->position[i] = talus_wrap_position(s->view.period, s->position[i]);
    }
}

#endif
