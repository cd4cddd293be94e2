/* One world whose bodies are in other slots: what a place of a divided world would see of it. Bodies keep their ids, which
 * alone may show in a step. */
#ifndef TALUS_TEST_SHUFFLED_WORLD_H
#define TALUS_TEST_SHUFFLED_WORLD_H

#include "test_world_scene.h"

#include "base/rng.h"
#include "world/ids.h"

/* SPHERES: of two sizes. SHAPES: spheres, boxes, cylinders and capsules by turns, a driven box among them. FLYING: spheres
 * of any size within an octave, with random velocities. */
typedef enum Kind { SPHERES, SHAPES, FLYING } Kind;

enum { WALLS = 5, SIDE = 8, LAYER = SIDE * SIDE, MAX_BODIES = 2600, KINDS = 4 };

/* What a world is made from. The same seed gives the same bodies; order[k] is the body that is added as number k. Bodies
 * from `bodies` on are removed again and leave dead slots. */
typedef struct Recipe {
    Kind kind;
    int bodies; /* walls included */
    const int *order;
    TalusWorldDef def;
    int holes; /* number of bodies that are removed again */
} Recipe;

static inline TalusShapeDef shape_of_turn(int turn)
{
    const TalusShapeDef shape[KINDS] = {
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1},
        {.kind = TALUS_SHAPE_BOX, .half = {0.09, 0.07, 0.06}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.08, .half_height = 0.07},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.06, .half_height = 0.06},
    };
    return shape[turn % KINDS];
}

/* Adds body i: four walls and a floor, the rest in layers above it, somewhat off their lattice. */
static inline void add_body(TalusWorld *world, Kind kind, int i)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusRng rng = talus_rng_from_seed((uint64_t)i + 1);
    int k = i - WALLS, turn = kind == SHAPES && k >= 0 ? k : 0;
    double off[3], radius = k % 3 ? 0.1 : 0.08;
    for (int j = 0; j < 3; j++)
        off[j] = 0.02 * (talus_rng_uniform(&rng) - 0.5);
    double middle = 0.5 * (SIDE - 1);
    TalusVec3 at = {0.222 * (k % SIDE - middle) + off[0],
                    0.222 * (k / SIDE % SIDE - middle) + off[1],
                    0.12 + 0.222 * (double)(k / LAYER) + off[2]};
    const TalusVec3 wall[WALLS] = {
        {0.0, 0.0, 0.0}, {-0.89, 0.0, 0.0}, {0.89, 0.0, 0.0}, {0.0, -0.89, 0.0}, {0.0, 0.89, 0.0}};
    const double s = sqrt(0.5);
    const TalusQuat turned[WALLS] = {{1.0, 0.0, 0.0, 0.0},
                                     {s, 0.0, s, 0.0},
                                     {s, 0.0, -s, 0.0},
                                     {s, -s, 0.0, 0.0},
                                     {s, s, 0.0, 0.0}};
    TalusVec3 velocity = {0.0, 0.0, 0.0};
    if (kind == FLYING) {
        radius = 0.055 + 0.05 * talus_rng_uniform(&rng);
        velocity.x = 4.0 * talus_rng_uniform(&rng) - 2.0;
        velocity.z = 4.0 * talus_rng_uniform(&rng) - 2.0;
    }
    batch.count = 1;
    batch.velocity = i < WALLS ? NULL : &velocity;
    batch.shape = i < WALLS ? KINDS : turn % KINDS;
    batch.fixed = i < WALLS;
    batch.position = i < WALLS ? &wall[i] : &at;
    batch.orientation = i < WALLS ? &turned[i] : NULL;
    batch.radius = i >= WALLS && turn % KINDS == 0 ? &radius : NULL;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

static inline void add_shapes(TalusWorld *world)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    for (int turn = 0; turn < KINDS; turn++) {
        TalusShapeDef def = shape_of_turn(turn);
        CHECK_OK(talus_world_add_shape(world, &def, NULL));
    }
    CHECK_OK(talus_world_add_shape(world, &plane, NULL));
}

/* Gives the body in each slot the id of the body that it is: i + 1 for body i. */
static inline void set_ids(TalusWorld *world, const Recipe *r)
{
    for (int slot = 0; slot < r->bodies + r->holes; slot++)
        world->bodies.id[slot] = (uint64_t)r->order[slot] + 1;
    CHECK_OK(talus_ids_index_loaded(&world->bodies));
}

static inline TalusWorld *make_recipe(const Recipe *r)
{
    TalusWorld *world = make_world(&r->def);
    add_shapes(world);
    for (int k = 0; k < r->bodies + r->holes; k++)
        add_body(world, r->kind, r->order[k]);
    set_ids(world, r);
    for (int i = r->bodies; i < r->bodies + r->holes; i++)
        CHECK_OK(talus_world_remove_body(world, (TalusBodyId){(uint64_t)i + 1}));
    return world;
}

/* Joins bodies of a row: chains of three and four by balls and hinges with limits and motors, a loop, and some bodies to
 * the fixed world. */
static inline void add_joints(TalusWorld *world, int bodies)
{
    for (int k = 0; k < bodies - WALLS; k++) {
        TalusJointDef def = talus_joint_def_default();
        int column = k % SIDE, slot = talus_slot_of(world, (TalusBodyId){WALLS + 1 + (uint64_t)k});
        def.kind = k % 2 ? TALUS_JOINT_BALL : TALUS_JOINT_REVOLUTE;
        def.a.number = WALLS + 1 + (uint64_t)k;
        def.b.number = column == 2 ? 0 : column == SIDE - 1 ? def.a.number - 3 : def.a.number + 1;
        def.point = world->bodies.position[slot];
        def.point.x += column == SIDE - 1 ? -0.3 : 0.1;
        if (k % 4 == 0) {
            def.lower = -0.3;
            def.upper = 0.2;
        }
        if (k % 6 == 0) {
            def.motor.kind = TALUS_MOTOR_SPEED;
            def.motor.target = 3.0;
            def.motor.max_effort = 0.5;
        }
        CHECK_OK(talus_world_add_joint(world, &def, NULL));
    }
}

/* order: 0, 1, .. or, with a seed, any order. */
static inline void make_order(int *order, int count, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    for (int k = 0; k < count; k++)
        order[k] = k;
    for (int k = count - 1; k > 0 && seed; k--) {
        int other = (int)talus_rng_below(&rng, (uint64_t)k + 1), swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
}

/* Number of bodies of `a` whose state in `b` differs by a bit, or that are not there. */
static inline int count_different(TalusWorld *a, TalusWorld *b)
{
    int different = talus_world_body_count(a) != talus_world_body_count(b);
    CHECK_OK(talus_world_download_bodies(a));
    CHECK_OK(talus_world_download_bodies(b));
    const TalusBodies *p = &a->bodies, *q = &b->bodies;
    for (int i = 0; i < p->counts.slots; i++) {
        if (p->shape[i] < 0)
            continue;
        int j = talus_slot_of(b, (TalusBodyId){p->id[i]});
        different += j < 0 || memcmp(&p->position[i], &q->position[j], sizeof *p->position) != 0 ||
                     memcmp(&p->velocity[i], &q->velocity[j], sizeof *p->velocity) != 0 ||
                     memcmp(&p->spin[i], &q->spin[j], sizeof *p->spin) != 0 ||
                     memcmp(&p->orientation[i], &q->orientation[j], sizeof *p->orientation) != 0;
    }
    return different;
}

static inline bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

#endif
