/* Numbers of bodies and contacts beyond 32 bits, as worlds on many ranks have: they are added, told and written in full, and
 * formats that cannot hold them refuse them. */
#include "ranks_world.h"

#include <talus/frames.h>
#include <talus/io.h>

#include "world/state.h"

static const int64_t LARGE = INT64_C(6000000000);

/* A heap with a probe, in which bodies may sleep. */
static TalusStatus make_probed(TalusWorldDef *def, TalusWorld **world)
{
    const TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {1}};
    def->sleep_speed = 1e-6;
    def->sleep_steps = 1000000;
    TALUS_TRY(make_heap(def, world));
    return talus_world_add_probe(*world, &probe, NULL);
}

/* ---- added over ranks ---- */

enum { RANKS = 3 };

/* What a rank was told. */
typedef struct Told {
    TalusStepInfo info;
    int64_t bodies;
} Told;

/* Makes a step of a world of which this rank has little, and in which INT32_MAX bodies of each rank sleep. */
static TalusStatus step_large(TalusComm *comm, void *context)
{
    Told *told = (Told *)context + talus_comm_rank(comm);
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_probed(&def, &world);
    TALUS_THEN(status, talus_world_step(world, NULL)); /* bodies have been dealt */
    if (status == TALUS_OK) {
        world->ranks.elsewhere += LARGE;
        world->sleep.asleep = INT32_MAX;
        status = talus_world_step(world, &told->info);
        told->bodies = talus_world_body_count(world);
    }
    talus_world_destroy(world);
    return status;
}

TEST(steps_count_the_bodies_of_all_ranks)
{
    Told told[RANKS] = {0};
    CHECK_OK(talus_ranks_run(RANKS, step_large, told));
    for (int r = 0; r < RANKS; r++) {
        CHECK_INT(told[r].bodies, LARGE + HEAP + 5);
        CHECK_INT(told[r].info.bodies, LARGE + HEAP + 5);
        CHECK_INT(told[r].info.asleep, INT64_C(3) * INT32_MAX);
    }
}

/* ---- written ---- */

static TalusWorld *make_alone(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    CHECK_OK(make_probed(&def, &world));
    CHECK_OK(talus_world_step(world, NULL));
    return world;
}

/* True if the file has the text. */
static bool file_has(const char *path, const char *text)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    return strstr(bytes, text) != NULL;
}

TEST(tables_hold_large_numbers)
{
    const TalusOutputDef def = {0};
    TalusOutput *output = NULL;
    TalusWorld *world = make_alone();
    TalusStepInfo info;
    CHECK_OK(talus_world_step(world, &info));
    info.bodies = LARGE + 1;
    info.contacts = LARGE + 2;
    info.overlap.loaded = LARGE + 3;
    info.asleep = LARGE + 4;
    world->probe[0].value.contacts = LARGE + 5;
    world->probe[0].value.bodies = LARGE + 6;
    CHECK_OK(talus_output_open("large-counts", &def, &output));
    CHECK_OK(talus_output_step(output, world, &info));
    CHECK_OK(talus_output_close(output));
    CHECK(file_has("large-counts/steps.csv", ",6000000001,6000000002,"));
    CHECK(file_has("large-counts/steps.csv", ",6000000003,"));
    CHECK(file_has("large-counts/steps.csv", ",6000000004,"));
    CHECK(file_has("large-counts/probes.csv", ",6000000005,6000000006,"));
    talus_world_destroy(world);
}

/* ---- refused ---- */

TEST(a_saved_state_refuses_what_it_cannot_hold)
{
    TalusWorld *world = make_alone();
    void *bytes = NULL;
    size_t size = 0;
    world->probe[0].value.contacts = INT32_MAX;
    CHECK_OK(talus_world_save(world, &bytes, &size));
    talus_free(bytes);
    bytes = NULL;
    world->probe[0].value.contacts = (int64_t)INT32_MAX + 1;
    CHECK_INT(talus_world_save(world, &bytes, &size), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "saved state: a probe counts 2147483648; it can store at most "
                             "2147483647");
    CHECK(bytes == NULL);
    talus_world_destroy(world);
}

TEST(a_frame_counts_all_contacts_or_refuses)
{
    const TalusFramesDef def = {.title = "large"};
    TalusFramesWriter *writer = NULL;
    TalusFrames *frames = NULL;
    TalusSnapshot snapshot = {0};
    TalusWorld *world = make_alone();
    CHECK_OK(talus_frames_create("large-counts.talus", &def, &writer));
    CHECK_OK(talus_frames_add(writer, world));
    CHECK_OK(talus_frames_finish(writer));
    CHECK_OK(talus_frames_open("large-counts.talus", &frames));
    CHECK_OK(talus_frames_read(frames, 0, &snapshot));
    CHECK_OK(talus_frames_create("large-counts-2.talus", &def, &writer));
    snapshot.contact_total = UINT32_MAX;
    CHECK_OK(talus_frames_add_snapshot(writer, talus_frames_head(frames, 0), &snapshot));
    snapshot.contact_total = (int64_t)UINT32_MAX + 1;
    snapshot.time += 1.0;
    CHECK_INT(talus_frames_add_snapshot(writer, talus_frames_head(frames, 0), &snapshot),
              TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "frames: 4294967296 contacts; a frame counts at most 4294967295");
    CHECK_OK(talus_frames_finish(writer));
    talus_frames_close(frames);
    CHECK_OK(talus_frames_open("large-counts-2.talus", &frames));
    CHECK_OK(talus_frames_read(frames, 0, &snapshot));
    CHECK_INT(snapshot.contact_total, UINT32_MAX);
    talus_snapshot_free(&snapshot);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(steps_count_the_bodies_of_all_ranks);
    RUN(tables_hold_large_numbers);
    RUN(a_saved_state_refuses_what_it_cannot_hold);
    RUN(a_frame_counts_all_contacts_or_refuses);
    return talus_test_result();
}
