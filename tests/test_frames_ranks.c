/* Frames of a world on several ranks come to rank 0 part by part: the file has the bytes of one rank's. */
#include "frames_scene.h"
#include "ranks_world.h"

#include "io/run/snapshot.h"
#include "world/ranks/ranks.h"
#include "world/state.h"

#include <signal.h>
#include <sys/resource.h>

enum { FRAMES = SANITIZED ? 4 : 9, LATER = 3 };

static const int counts[] = {2, 3, 5};
enum { COUNTS = SANITIZED ? 2 : sizeof counts / sizeof *counts };

/* A heap in a container and boxes above it, whose numbers are in four parts; later more, and bodies go. */
static TalusStatus make_world(TalusWorldDef *def, TalusWorld **world)
{
    const Grains spheres = heap_of_spheres(1.5);
    Grains boxes = {.shape = {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.008, 0.009}},
                    .across = {6, 6, 2},
                    .lo = {0.0, 0.0, 0.3},
                    .spacing = 0.03,
                    .radius = 0.01,
                    .spin = 2.0};
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_container(*world, HEAP_ACROSS * spheres.spacing));
    (*world)->bodies.counts.created =
        TALUS_FRAMES_PART - 400; /* the spheres are in parts 0 and 1 */
    TALUS_TRY(add_grains(*world, &spheres, NULL));
    (*world)->bodies.counts.created = 5 * TALUS_FRAMES_PART;
    TALUS_TRY(add_grains(*world, &boxes, NULL));
    const TalusShapeDef step = {.kind = TALUS_SHAPE_BOX, .half = {0.03, 0.03, 0.01}};
    return add_fixed(*world, &step, talus_vec3(0.1, 0.1, 0.05), talus_quat_identity(), NULL);
}

static TalusStatus act(TalusWorld *world, int frame)
{
    Grains more = {.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.005},
                   .across = {4, 4, 1},
                   .lo = {0.0, 0.0, 0.5},
                   .spacing = 0.03,
                   .radius = 0.005};
    if (frame == LATER)
        return add_grains(world, &more, NULL);
    for (uint64_t id = TALUS_FRAMES_PART - 400 + (uint64_t)frame; id < TALUS_FRAMES_PART; id += 90)
        if (frame < LATER)
            TALUS_TRY(talus_world_remove_body(world, (TalusBodyId){id + 5}));
    return TALUS_OK;
}

/* A run that writes frames to a file. */
typedef struct Writing {
    const char *path;
    int resumed;  /* after so many frames the writer is closed, and another goes on; 0: never */
    int gathered; /* before this frame the world is gathered on rank 0; 0: never */
    bool full;    /* before each frame the disk is full once */
} Writing;

static void limit_file_size(uint64_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static TalusStatus add(TalusFramesWriter *writer, const TalusWorld *world)
{
    const TalusFramesDef def = {.title = "Ranks", .scene = "ranks"};
    if (talus_world_is_dealt(world)) {
        CHECK(!writer || talus_frames_has_parts(writer, world));
        return talus_frames_add_from_ranks(writer, &def, world);
    }
    return talus_frames_add(writer, world);
}

/* Tries to add a frame to a file that cannot grow by more than a few bytes: all ranks fail. */
static void add_to_a_full_disk(TalusFramesWriter *writer, TalusComm *comm, const TalusWorld *world,
                               const char *path, int frame)
{
    Bytes before = {0};
    if (writer) {
        before = read_bytes(path);
        limit_file_size(before.size + 100 + 600 * (uint64_t)(frame % 4));
    }
    const TalusStatus status = add(writer, world);
    if (writer)
        limit_file_size(RLIM_INFINITY);
    CHECK(status == (writer ? TALUS_ERR_IO : TALUS_ERR_CANCELLED));
    CHECK_OK(talus_comm_agree(comm, TALUS_OK));
    if (writer) {
        const Bytes after = read_bytes(path);
        CHECK(after.size == before.size);
        talus_release(before.bytes);
        talus_release(after.bytes);
    }
}

static TalusStatus open_writer(const Writing *w, int frame, double time, TalusFramesWriter **writer)
{
    const TalusFramesDef def = {.title = "Ranks", .scene = "ranks", .detail = TALUS_DETAIL_LEAN};
    return frame == 0 ? talus_frames_create(w->path, &def, writer)
                      : talus_frames_resume(w->path, time, writer);
}

/* Gathers the world on rank 0; others have none from then on. */
static TalusStatus gather(TalusWorld **world)
{
    TalusWorld *whole = NULL;
    const TalusStatus status = talus_world_gather(*world, &whole);
    talus_world_destroy(*world);
    *world = whole;
    return status;
}

static TalusStatus write_frame(const Writing *w, int frame, const TalusWorld *world,
                               TalusFramesWriter **writer)
{
    TalusStatus status = add(*writer, world);
    if (*writer && frame + 1 == w->resumed) {
        talus_frames_abandon(*writer);
        *writer = NULL;
        TALUS_THEN(status, open_writer(w, frame, talus_world_time(world), writer));
    }
    return status;
}

static TalusStatus write_frames_of(const Writing *w, TalusComm *comm, TalusWorld **world)
{
    TalusFramesWriter *writer = NULL;
    TalusStatus status = talus_comm_rank(comm) == 0 ? open_writer(w, 0, 0.0, &writer) : TALUS_OK;
    for (int frame = 0; status == TALUS_OK && frame < FRAMES && *world; frame++) {
        if (w->gathered && frame == w->gathered)
            status = gather(world);
        if (!*world)
            break;
        if (w->full)
            add_to_a_full_disk(writer, comm, *world, w->path, frame);
        TALUS_THEN(status, write_frame(w, frame, *world, &writer));
        TALUS_THEN(status, act(*world, frame));
        TALUS_THEN(status, talus_world_step(*world, NULL));
    }
    TALUS_THEN(status, talus_frames_finish(writer));
    return status;
}

static TalusStatus run_writing(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    def.dissipation = true;
    TalusStatus status = make_world(&def, &world);
    if (comm)
        TALUS_THEN(status, talus_world_divide(world, comm));
    TALUS_THEN(status, write_frames_of(context, comm, &world));
    talus_world_destroy(world);
    return status;
}

static void write_one(void)
{
    Writing one = {.path = "one.talus"};
    REQUIRE_OK(run_writing(NULL, &one));
}

TEST(frames_of_ranks_have_the_bytes_of_one)
{
    write_one();
    TalusFrames *frames = NULL;
    TalusSnapshot s = {0};
    REQUIRE_OK(talus_frames_open("one.talus", &frames));
    CHECK_INT(talus_frames_count(frames), FRAMES);
    CHECK(talus_frames_head(frames, 0)->lean);
    REQUIRE_OK(talus_frames_read(frames, FRAMES - 1, &s));
    CHECK(talus_frame_part_of(s.id[s.body_count - 1]) == 5);
    double held = 0.0, all = 0.0, dissipated = 0.0;
    REQUIRE(s.dissipated != NULL);
    for (int i = 0; i < s.body_count; i++) {
        held += s.fixed[i] ? s.force[i] : 0.0;
        all += s.force[i];
        dissipated += s.dissipated[i];
    }
    CHECK(dissipated > 0.0);
    CHECK(held > 0.0 && all > held); /* forces on the container, which all ranks add to */
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    for (int k = 0; k < COUNTS; k++) {
        Writing parts = {.path = "parts.talus"};
        CHECK_OK(talus_ranks_run(counts[k], run_writing, &parts));
        CHECK(same_files("one.talus", "parts.talus"));
    }
}

TEST(a_writer_that_was_resumed_goes_on_the_same)
{
    write_one();
    Writing parts = {.path = "parts.talus", .resumed = FRAMES / 2};
    CHECK_OK(talus_ranks_run(3, run_writing, &parts));
    CHECK(same_files("one.talus", "parts.talus"));
}

TEST(one_rank_goes_on_with_what_ranks_began)
{
    write_one();
    Writing parts = {.path = "parts.talus", .gathered = FRAMES / 2};
    CHECK_OK(talus_ranks_run(3, run_writing, &parts));
    CHECK(same_files("one.talus", "parts.talus"));
}

TEST(a_full_disk_fails_on_all_ranks)
{
    write_one();
    Writing parts = {.path = "parts.talus", .full = true};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(talus_ranks_run(3, run_writing, &parts));
    CHECK(same_files("one.talus", "parts.talus"));
}

/* ---- gathering ---- */

static TalusStatus gather_some(TalusComm *comm, void *context)
{
    const TalusSnapshot *whole = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    TalusGathering *gathering = NULL;
    TalusSnapshot s = {0};
    uint64_t number = 0;
    int row = 100;
    def.threads = 1;
    TalusStatus status = make_world(&def, &world);
    TALUS_THEN(status, talus_world_divide(world, comm));
    TALUS_THEN(status, talus_world_step(world, NULL));
    TALUS_THEN(status, talus_gathering_open(world, &gathering));
    const uint64_t begin = whole->id[row].number, end = whole->id[row + 300].number;
    TALUS_THEN(status, talus_gathering_find(gathering, begin, &number));
    CHECK(number == begin);
    TALUS_THEN(status, talus_gathering_find(gathering, UINT64_C(1) << 40, &number));
    CHECK(number == 0);
    TALUS_THEN(status,
               talus_gathering_take(gathering, talus_frame_fields(true), begin, end, 1, &s));
    CHECK_INT(s.body_count, talus_comm_rank(comm) == 1 ? 300 : 0);
    for (int i = 0; i < s.body_count; i++)
        CHECK(s.id[i].number == whole->id[row + i].number && s.force[i] == whole->force[row + i] &&
              memcmp(&s.position[i], &whole->position[row + i], sizeof s.position[i]) == 0);
    talus_snapshot_free(&s);
    talus_gathering_close(gathering);
    talus_world_destroy(world);
    return status;
}

TEST(bodies_are_gathered_by_their_numbers)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    TalusSnapshot whole = {0};
    def.threads = 1;
    REQUIRE_OK(make_world(&def, &world));
    CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_snapshot_take(&whole, world, talus_frame_fields(true)));
    for (int k = 0; k < COUNTS; k++)
        CHECK_OK(talus_ranks_run(counts[k], gather_some, &whole));
    talus_snapshot_free(&whole);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(frames_of_ranks_have_the_bytes_of_one);
    RUN(a_writer_that_was_resumed_goes_on_the_same);
    RUN(one_rank_goes_on_with_what_ranks_began);
    RUN(a_full_disk_fails_on_all_ranks);
    RUN(bodies_are_gathered_by_their_numbers);
    return talus_test_result();
}
