/* Collision detection on the host and on the device, side by side. */
#ifndef TALUS_TESTS_DETECT_BOTH_H
#define TALUS_TESTS_DETECT_BOTH_H

#include "collide_scene.h"

#include "base/status.h"
#include "engine/engine.h"
#include "support/cuda.h"

#include <stdlib.h>

typedef struct Both {
    TalusDetector *detector;
    TalusEngine *engine;
    TalusContactList *host, device;
} Both;

static inline bool open_both(Both *b, const Scene *s)
{
    static const TalusGyration gyration[MAX_SHAPES]; /* detection reads none of them */
    static const TalusLaw law = {.mu = 0.4};
    TalusTables tables = {.shape = s->shape,
                          .gyration = gyration,
                          .shapes = s->view.shape_count,
                          .law = &law,
                          .materials = 1};
    TalusEngineSetup setup = {.context = cuda_context(), .period = s->view.period};
    memset(b, 0, sizeof *b);
    return CHECK_OK(talus_detector_create(&b->detector)) &&
           CHECK_OK(talus_engine_ops(cuda)->create(&setup, &b->engine)) &&
           CHECK_OK(talus_engine_ops(cuda)->put_tables(b->engine, &tables));
}

static inline void free_list(TalusContactList *list)
{
    free(list->contact);
    free(list->arms);
    free(list->impulse);
    memset(list, 0, sizeof *list);
}

static inline void close_both(Both *b)
{
    talus_detector_destroy(b->detector);
    talus_engine_ops(cuda)->destroy(b->engine);
    free_list(&b->device);
}

/* The device's list, with one element to spare so that empty ones have memory too. */
static inline bool fetch(Both *b)
{
    TalusEngineCounts n;
    free_list(&b->device);
    talus_engine_ops(cuda)->get_counts(b->engine, &n);
    b->device.contact = calloc((size_t)n.contacts + 1, sizeof *b->device.contact);
    b->device.arms = calloc((size_t)n.general + 1, sizeof *b->device.arms);
    b->device.impulse = calloc((size_t)n.contacts + 1, sizeof *b->device.impulse);
    return CHECK_OK(talus_engine_ops(cuda)->get_contacts(b->engine, &b->device));
}

static inline TalusStatus detect_on_device(Both *b, Scene *s)
{
    static double mass[MAX_BODIES];
    static int32_t material[MAX_BODIES];
    static uint64_t id[MAX_BODIES];
    const TalusVec3 none = {0.0, 0.0, 0.0};
    TalusEngineCounts counts;
    TalusBodyArrays arrays = {.slots = s->view.count,
                              .id = id,
                              .position = s->position,
                              .velocity = s->velocity,
                              .spin = s->spin,
                              .orientation = s->orientation,
                              .mass = mass,
                              .radius = s->radius,
                              .size = s->size,
                              .shape = s->shape_of,
                              .material = material,
                              .mobility = s->fixed};
    for (int i = 0; i < s->view.count; i++) {
        mass[i] = 1.0;
        id[i] = (uint64_t)i + 1;
        arrays.driven |= s->fixed[i] == 2;
    }
    TALUS_TRY(talus_engine_ops(cuda)->put_filter(b->engine, s->view.filter, s->view.count));
    TALUS_TRY(talus_engine_ops(cuda)->put_bodies(b->engine, &arrays, NULL));
    return talus_engine_ops(cuda)->detect(b->engine, &s->options, none, 1, &counts);
}

static inline bool equal_bits(const void *x, const void *y, int count, size_t element)
{
    return count == 0 || !memcmp(x, y, (size_t)count * element);
}

static inline void compare(const Both *b)
{
    const TalusContactList *p = b->host, *q = &b->device;
    CHECK_INT(q->sphere_sphere, p->sphere_sphere);
    CHECK_INT(q->sphere_fixed, p->sphere_fixed);
    CHECK_INT(q->general, p->general);
    if (q->count != p->count || q->general != p->general)
        return;
    CHECK(equal_bits(p->contact, q->contact, p->count, sizeof *p->contact));
    CHECK(equal_bits(p->arms, q->arms, p->general, sizeof *p->arms));
    CHECK(equal_bits(p->impulse, q->impulse, p->count, sizeof *p->impulse));
}

/* Detects on both; true if both could. */
static inline bool detect(Both *b, Scene *s)
{
    bool fine = CHECK_OK(talus_detect(b->detector, NULL, &s->view, &s->options, &b->host)) &&
                CHECK_OK(detect_on_device(b, s)) && fetch(b);
    TalusEngineCounts n;
    if (fine) {
        compare(b);
        talus_engine_ops(cuda)->get_counts(b->engine, &n);
        CHECK_INT(n.clipped_bodies, talus_detector_count_clipped(b->detector));
    }
    return fine;
}

/* Marks all impulses, on both sides, so that their way can be followed. */
static inline void mark_both(Both *b)
{
    mark_all(b->host);
    CHECK_OK(talus_engine_ops(cuda)->put_contacts(b->engine, b->host));
}

static inline int impulses(const TalusContactList *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->impulse[i].x != 0.0;
    return count;
}

/* From nothing; with a list of the host's; with one of the device's own. */
static inline void detect_thrice(Both *b, Scene *s)
{
    if (!detect(b, s))
        return;
    mark_both(b);
    shake(s);
    if (!detect(b, s))
        return;
    CHECK(impulses(&b->device) > b->device.count / 4);
    shake(s);
    if (detect(b, s))
        CHECK(impulses(&b->device) > b->device.count / 4);
}

/* Fails on both with the same words; the device's list stays as it is. */
static inline void check_refused(Both *b, Scene *s, TalusStatus expected)
{
    char text[512];
    int count = b->device.count;
    CHECK(talus_detect(b->detector, NULL, &s->view, &s->options, &b->host) == expected);
    strncpy(text, talus_error(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(detect_on_device(b, s) == expected);
    CHECK_STR(talus_error(), text);
    if (fetch(b)) {
        CHECK_INT(b->device.count, count);
        b->host = talus_detector_contacts(b->detector);
        compare(b);
    }
}

#endif
