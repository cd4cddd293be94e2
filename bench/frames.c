/* bench/frames.c - what a frame of a million bodies takes on disk and in time.
 *
 *     talus_bench_frames [BODIES [STEPS [THREADS]]]
 *
 * Beds of spheres, lean frames: at random places in no order, all flying, of many sizes (the worst
 * that can come) or of one; the same at rest but for a few; and settle-box, stepped STEPS times with
 * a frame at every step, whose cost is compared with the step's own. Sizes are by array, in bytes per
 * body, of a key frame and of the frame after it. */
#include "io/frames/frames.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>
#include <unistd.h>

enum { DEFAULT_BODIES = 1000000, DEFAULT_STEPS = 3, SAMPLES = 3 };

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "talus_bench_frames: %s\n", talus_error());
    exit(1);
}

/* ---- sizes ---- */

static void print_arrays(const TalusFrameEncoder *encoder, int bodies)
{
    static TalusUnpacker table;
    const TalusPacker *p = &encoder->packer;
    must(talus_unpacker_locate_frame_arrays(&table, p->bytes + sizeof(TalusChunk),
                                            p->size - sizeof(TalusChunk)));
    for (int name = 1; name < TALUS_ARRAYS; name++) {
        const TalusArrayHead *a = &table.array[name].head;
        if (a->bytes > 0)
            printf("    %-12s width %d  prediction %d  %7.4f bytes/body\n", talus_array_name(name),
                   a->width, a->prediction, (double)a->bytes / bodies);
    }
}

/* Encodes the snapshot SAMPLES times and tells the least time. Returns megabytes. */
static double encode(TalusFrameEncoder *encoder, const TalusFramesHead *head,
                     const TalusSnapshot *s, bool key)
{
    double least = INFINITY;
    for (int i = 0; i < SAMPLES; i++) {
        double start = talus_now();
        must(talus_frame_encode(encoder, head, s, &key));
        least = fmin(least, talus_now() - start);
    }
    double size = 1e-6 * (double)encoder->packer.size;
    printf("  %s frame: %.2f MB, %.0f ms\n", key ? "key" : "next", size, 1e3 * least);
    print_arrays(encoder, s->body_count);
    talus_frame_encoder_commit(encoder);
    return size;
}

/* ---- made-up beds ---- */

static void scatter(TalusSnapshot *s, double radius, double spread)
{
    TalusRng rng = talus_rng_from_seed(1);
    double side = 2.0 * radius * cbrt(s->body_count);
    for (int i = 0; i < s->body_count; i++) {
        s->id[i] = (TalusBodyId){(uint64_t)i + 1};
        s->position[i] = talus_vec3(side * talus_rng_uniform(&rng), side * talus_rng_uniform(&rng),
                                    side * talus_rng_uniform(&rng));
        s->orientation[i] = talus_quat_identity();
        s->radius[i] = radius * (1.0 + spread * (talus_rng_uniform(&rng) - 0.5));
        s->shape[i] = s->material[i] = s->tag[i] = 0;
        s->fixed[i] = false;
    }
}

/* A share of the bodies flies by up to `reach` in each direction; forces spread like a bed's. */
static void move(TalusSnapshot *s, double share, double reach)
{
    TalusRng rng = talus_rng_from_seed(2);
    for (int i = 0; i < s->body_count; i++) {
        double r = talus_rng_uniform(&rng) < share ? reach : 1e-3 * reach;
        TalusVec3 d = talus_vec3(talus_rng_uniform(&rng) - 0.5, talus_rng_uniform(&rng) - 0.5,
                                 talus_rng_uniform(&rng) - 0.5);
        s->position[i] = talus_madd(s->position[i], 2.0 * r, d);
        s->speed[i] = 20.0 * talus_norm(d) * r;
        s->force[i] = -log(1.0 - talus_rng_uniform(&rng));
    }
}

static void made_up(const char *title, int bodies, double share, double spread, TalusPool *pool)
{
    TalusFramesMaterial material = {.name = "default", .friction = 0.3, .density = 2500.0};
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE};
    TalusFramesHead head = {.title = "",
                            .scene = "",
                            .gravity = {0.0, 0.0, -9.81},
                            .step = 0.01,
                            .lean = true,
                            .shape_count = 1,
                            .material_count = 1,
                            .shapes = &sphere,
                            .materials = &material};
    TalusFrameEncoder encoder = {.packer.pool = pool};
    TalusSnapshot s = {0};
    must(talus_snapshot_resize(&s, TALUS_SNAPSHOT_SPEED | TALUS_SNAPSHOT_FORCE, bodies, 0));
    scatter(&s, 0.1, spread);
    move(&s, share, 0.25);
    must(talus_frames_head_set_grid(&head, &s, NULL));
    printf("%s, %d bodies\n", title, bodies);
    double key = encode(&encoder, &head, &s, true);
    move(&s, share, 0.25);
    double next = encode(&encoder, &head, &s, false);
    printf("  %d frames: %.2f MB each\n", TALUS_FRAMES_KEY_EVERY,
           (key + (TALUS_FRAMES_KEY_EVERY - 1) * next) / TALUS_FRAMES_KEY_EVERY);
    talus_snapshot_free(&s);
    talus_frame_encoder_clear(&encoder);
}

/* ---- a run ---- */

static TalusWorld *settle_box(int bodies, int threads)
{
    TalusScene *scene;
    TalusWorld *world;
    char set[64];
    const char *sets[] = {set};
    TalusSceneChoice choice = {.threads = threads > 0 ? threads : -1};
    snprintf(set, sizeof set, "bodies=%d", bodies);
    must(talus_scene_load(TALUS_SCENE_DIR "/settle-box.json", sets, 1, &scene));
    must(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    return world;
}

static void run(int bodies, int steps, int threads)
{
    static const char path[] = "bench-frames.talus";
    TalusFramesDef def = {.detail = TALUS_DETAIL_LEAN};
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusWorld *world = settle_box(bodies, threads);
    double step_time = 0.0, frame_time = 0.0;
    printf("settle-box, %d bodies, %d threads\n", bodies, talus_world_threads(world));
    must(talus_frames_create(path, &def, &writer));
    for (int i = 0; i <= steps; i++) {
        double start = talus_now();
        if (i > 0)
            must(talus_world_step(world, NULL));
        double middle = talus_now();
        must(talus_frames_add(writer, world));
        double end = talus_now();
        step_time += middle - start;
        frame_time += end - middle;
        printf("  step %d: %.0f ms, its frame: %.0f ms\n", i, 1e3 * (middle - start),
               1e3 * (end - middle));
    }
    must(talus_frames_finish(writer));
    must(talus_frames_open(path, &frames));
    for (int i = 0; i < talus_frames_count(frames); i++)
        printf("  frame %d: %.2f MB\n", i, 1e-6 * (double)talus_frames_info(frames, i).size);
    printf("  a frame costs %.2f %% of 50 steps\n",
           100.0 * (frame_time / (steps + 1)) / (50.0 * step_time / steps));
    talus_frames_close(frames);
    talus_world_destroy(world);
    unlink(path);
}

int main(int argc, char **argv)
{
    int bodies = argc > 1 ? atoi(argv[1]) : DEFAULT_BODIES;
    int steps = argc > 2 ? atoi(argv[2]) : DEFAULT_STEPS;
    int threads = argc > 3 ? atoi(argv[3]) : 0;
    TalusPool *pool;
    if (bodies < 1 || steps < 1 || threads < 0) {
        fprintf(stderr, "usage: talus_bench_frames [BODIES [STEPS [THREADS]]]\n");
        return 2;
    }
    must(talus_pool_create(threads, &pool));
    printf("%d threads\n", talus_pool_threads(pool));
    made_up("random, flying, of all sizes within 20 %", bodies, 1.0, 0.2, pool);
    made_up("random, flying, of one size", bodies, 1.0, 0.0, pool);
    made_up("random, of one size, all but at rest", bodies, 0.01, 0.0, pool);
    talus_pool_destroy(pool);
    run(bodies, steps, threads);
    return 0;
}
