/* A frame's bytes are the same for any number of threads, key frames and those after, full and lean. */
#include "base/rng.h"
#include "io/frames/frames.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 40000, CONTACTS = 30000 };

static void fill(TalusSnapshot *s, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    for (int i = 0; i < BODIES; i++) {
        s->id[i] = (TalusBodyId){(uint64_t)i + 1};
        s->position[i] = talus_vec3(5.0 * talus_rng_uniform(&rng), 5.0 * talus_rng_uniform(&rng),
                                    i % 100 == 0 ? 1e12 : talus_rng_uniform(&rng));
        s->orientation[i] = talus_quat_identity();
        s->radius[i] = 0.1 + 0.01 * talus_rng_uniform(&rng);
        s->shape[i] = i % 3 == 0;
        s->material[i] = 0;
        s->tag[i] = i / 1000;
        s->fixed[i] = i % 7 == 0;
        s->velocity[i] = talus_vec3(talus_rng_uniform(&rng), 0.0, 0.0);
        s->speed[i] = s->velocity[i].x;
        s->force[i] = talus_rng_uniform(&rng);
        s->touching[i] = i % 5;
    }
    for (int i = 0; i < CONTACTS; i++) {
        s->contact_a[i] = i;
        s->contact_b[i] = i + 1;
        s->contact[i] = (TalusContactState){.normal = {1.0, 0.0, 0.0},
                                            .impulse = {talus_rng_uniform(&rng), 0.0, 0.0},
                                            .point = s->position[i]};
    }
}

/* The bytes of a key frame and of the next one, and how many bodies were beyond the grid. */
static size_t encode(bool lean, TalusPool *pool, unsigned char *out, size_t room, int *clamped)
{
    TalusFramesMaterial material = {.name = "m", .friction = 0.3, .density = 1.0};
    TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_SPHERE},
                              {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}}};
    TalusFramesHead head = {.title = "",
                            .scene = "",
                            .gravity = {0.0, 0.0, -9.81},
                            .step = 0.01,
                            .radius = 0.1,
                            .quantum = 1e-3,
                            .lean = lean,
                            .shape_count = 2,
                            .material_count = 1,
                            .shapes = shapes,
                            .materials = &material};
    TalusFrameEncoder encoder = {.packer.pool = pool};
    TalusSnapshot s = {0};
    size_t used = 0;
    unsigned fields = TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_CONTACTS;
    CHECK(talus_snapshot_resize(&s, fields, BODIES, CONTACTS) == TALUS_OK);
    s.length = 0.01;
    for (int frame = 0; frame < 2; frame++) {
        fill(&s, (uint64_t)frame + 1);
        bool key = frame == 0;
        if (!CHECK(talus_frame_encode(&encoder, &head, &s, &key) == TALUS_OK))
            break;
        *clamped = encoder.clamped;
        if (!CHECK(used + encoder.packer.size <= room))
            break;
        memcpy(out + used, encoder.packer.bytes, encoder.packer.size);
        used += encoder.packer.size;
        talus_frame_encoder_commit(&encoder);
    }
    talus_snapshot_free(&s);
    talus_frame_encoder_clear(&encoder);
    return used;
}

TEST(bytes_do_not_depend_on_threads)
{
    enum { ROOM = 16 << 20 };
    unsigned char *alone = calloc(ROOM, 1), *many = calloc(ROOM, 1);
    for (int lean = 0; lean < 2; lean++) {
        int clamped = 0;
        size_t size = encode(lean, NULL, alone, ROOM, &clamped);
        CHECK(clamped == BODIES / 100);
        CHECK(size > (lean ? 2 : 6) * BODIES);
        for (int threads = 2; threads <= 5; threads += 3) {
            TalusPool *pool;
            int again = 0;
            CHECK(talus_pool_create(threads, &pool) == TALUS_OK);
            CHECK(encode(lean, pool, many, ROOM, &again) == size);
            CHECK(memcmp(alone, many, size) == 0 && again == clamped);
            talus_pool_destroy(pool);
        }
    }
    free(alone);
    free(many);
}

int main(void)
{
    RUN(bytes_do_not_depend_on_threads);
    return talus_test_result();
}
