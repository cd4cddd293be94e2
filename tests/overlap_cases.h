/* Overlaps of the contacts that bear load, recomputed from the contact list; for worlds on any backend. */
#ifndef TALUS_TEST_OVERLAP_CASES_H
#define TALUS_TEST_OVERLAP_CASES_H

#include "material_world.h"

#include "base/rng.h"

#include <stdlib.h>

enum { PILE_SIDE = 10, PILE_LAYERS = 7, PILE = PILE_SIDE * PILE_SIDE * PILE_LAYERS };

/* Spheres of different sizes in a lattice so narrow that all neighbours overlap: more contacts than a chunk. */
static inline TalusWorld *make_pile(int threads, double compliance)
{
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.threads = threads;
    def.step = 0.002;
    def.compliance = compliance;
    def.friction.law = compliance > 0.0 ? TALUS_LAW_COULOMB : TALUS_LAW_CCP;
    TalusWorld *world = make_world(&def, NULL);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 *x = calloc(PILE, sizeof *x);
    double *radius = calloc(PILE, sizeof *radius);
    TalusRng rng = talus_rng_from_seed(7);
    TalusShapeDef shape = sphere(0.1);
    add_floor(world);
    for (int i = 0; i < PILE; i++) {
        int layer = i / (PILE_SIDE * PILE_SIDE), row = i / PILE_SIDE % PILE_SIDE;
        radius[i] = 0.1 - 0.001 * talus_rng_uniform(&rng);
        x[i] = talus_vec3(0.197 * (i % PILE_SIDE), 0.197 * row, 0.099 + 0.197 * layer);
    }
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = PILE;
    batch.position = x;
    batch.radius = radius;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    free(x);
    free(radius);
    return world;
}

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Radius of the smaller sphere of a contact; the floor, body 0, has none. */
static inline double contact_size(const TalusContactState *c, const TalusBodyId *id,
                                  const double *radius, int bodies)
{
    double size = INFINITY;
    for (int i = 1; i < bodies; i++)
        if (id[i].number == c->a.number || id[i].number == c->b.number)
            size = fmin(size, radius[i]);
    return size;
}

/* Writes the overlaps of the contacts under load in ascending order; returns their number. */
static inline int list_overlaps(const TalusWorld *world, double **out)
{
    int count = talus_world_get_contacts(world, NULL, 0), bodies = talus_world_body_count(world);
    int loaded = 0;
    TalusContactState *contact = calloc((size_t)count + 1, sizeof *contact);
    TalusBodyId *id = calloc((size_t)bodies, sizeof *id);
    double *radius = calloc((size_t)bodies, sizeof *radius);
    TalusBodyState state = {.id = id, .radius = radius};
    *out = calloc((size_t)count + 1, sizeof **out);
    talus_world_get_contacts(world, contact, count);
    talus_world_get_state(world, &state);
    for (int i = 0; i < count; i++)
        if (talus_dot(contact[i].impulse, contact[i].normal) > 0.0)
            (*out)[loaded++] =
                fmax(0.0, -contact[i].gap) / contact_size(&contact[i], id, radius, bodies);
    qsort(*out, (size_t)loaded, sizeof **out, by_size);
    free(contact);
    free(id);
    free(radius);
    return loaded;
}

static inline void check_overlap(const TalusWorld *world, const TalusOverlapSummary *o)
{
    double *overlap, sum = 0.0;
    int loaded = list_overlaps(world, &overlap);
    for (int i = 0; i < loaded; i++)
        sum += overlap[i];
    CHECK_INT(o->loaded, loaded);
    CHECK_NEAR(o->mean, sum / loaded, 1e-12 * o->mean);
    CHECK_NEAR(o->max, overlap[loaded - 1], 1e-14);
    double exact = overlap[loaded - 1 - loaded / 100];
    CHECK(o->p99 >= exact && o->p99 <= fmin(exact * 17.0 / 16.0, o->max));
    CHECK(o->kappa == 2.0 / o->mean);
    free(overlap);
}

TEST(overlaps_are_those_of_contacts_under_load)
{
    for (int soft = 0; soft < 2; soft++) {
        TalusWorld *world = make_pile(1, soft ? 6e-3 : 0.0);
        TalusOverlapSummary got = talus_world_get_overlap(world);
        CHECK(got.loaded == 0 && got.mean == 0.0 && got.p99 == 0.0 && got.max == 0.0);
        for (int i = 0; i < 2; i++) { /* in the third step contacts open */
            CHECK_OK(talus_world_step(world, &info));
            got = talus_world_get_overlap(world);
            CHECK(memcmp(&got, &info.overlap, sizeof got) == 0);
            CHECK(info.overlap.loaded > 1024 && info.overlap.loaded <= info.contacts);
            CHECK(info.overlap.max <= info.penetration_max && info.overlap.p99 <= info.overlap.max);
            /* rigid, some contacts open and a few are deeper than the others */
            CHECK(soft || info.overlap.loaded < info.contacts);
            CHECK(soft || info.overlap.p99 < info.overlap.max);
            check_overlap(world, &info.overlap);
        }
        talus_world_destroy(world);
    }
}

TEST(overlaps_do_not_depend_on_threads)
{
    TalusOverlapSummary one[3], other;
    for (int threads = 1; threads <= 3; threads++) {
        TalusWorld *world = make_pile(threads, 6e-3);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(talus_world_step(world, &info));
            other = info.overlap;
            if (threads == 1)
                one[i] = other;
            CHECK(memcmp(&one[i], &other, sizeof other) == 0);
        }
        talus_world_destroy(world);
    }
}

/* Load without overlap: kappa is infinite. No load: likewise. */
TEST(nothing_overlaps)
{
    for (int high = 0; high < 2; high++) {
        TalusWorldDef def = tight_def(0.01);
        TalusWorld *world = make_world(&def, NULL);
        add_floor(world);
        add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, high ? 1.0 : 0.1), zero, zero);
        step(world);
        CHECK_INT(info.overlap.loaded, high ? 0 : 1);
        CHECK(info.overlap.mean == 0.0 && info.overlap.p99 == 0.0 && info.overlap.max == 0.0);
        CHECK(isinf(info.overlap.kappa));
        talus_world_destroy(world);
    }
}

static inline void run_overlap_cases(void)
{
    RUN(overlaps_are_those_of_contacts_under_load);
    RUN(overlaps_do_not_depend_on_threads);
    RUN(nothing_overlaps);
}

#endif
