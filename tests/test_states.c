/* test_states.c - states of a run's directory: tables give back what was written, masses of frames are the checkpoint's,
 * missing sources are refused, failing allocations are reported. */
#include "frames_scene.h"

#include "io/run/states.h"

#include <math.h>
#include <stdlib.h>

enum { FRAMES = 4 };

static const unsigned exact = TALUS_SNAPSHOT_ALL & ~(unsigned)TALUS_SNAPSHOT_CHAINS;

/* Runs the rain into `dir`, with tables or without, up to a checkpoint; writes the snapshots of its frames. */
static TalusWorld *run_rain(const char *dir, bool tables, TalusSnapshot snapshot[FRAMES])
{
    static const char *const kinds[] = {"csv"};
    const TalusOutputDef def = {.kinds = kinds, .kind_count = tables};
    TalusWorld *world = rain_world(0.0, true);
    TalusOutput *output = NULL;
    CHECK_OK(talus_output_open(dir, &def, &output));
    for (int i = 0; i < FRAMES; i++) {
        step_world(world, 40);
        CHECK_OK(talus_output_frame(output, world));
        CHECK_OK(talus_snapshot_take(&snapshot[i], world, exact));
    }
    CHECK_OK(talus_output_checkpoint(output, world, ""));
    CHECK_OK(talus_output_close(output));
    return world;
}

static void free_snapshots(TalusSnapshot snapshot[FRAMES])
{
    for (int i = 0; i < FRAMES; i++)
        talus_snapshot_free(&snapshot[i]);
}

static bool same_vector(TalusVec3 a, TalusVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void check_body(const TalusSnapshot *want, int w, const TalusSnapshot *got, int g)
{
    CHECK(want->id[w].number == got->id[g].number);
    CHECK(same_vector(want->position[w], got->position[g]));
    CHECK(same_vector(want->velocity[w], got->velocity[g]));
    CHECK(same_vector(want->spin[w], got->spin[g]));
    CHECK(memcmp(&want->orientation[w], &got->orientation[g], sizeof *want->orientation) == 0);
    CHECK(want->mass[w] == got->mass[g] && want->radius[w] == got->radius[g]);
    CHECK(want->shape[w] == got->shape[g] && want->material[w] == got->material[g]);
    CHECK(want->tag[w] == got->tag[g] && want->fixed[w] == got->fixed[g]);
}

/* Tables lack the bodies that no ball can show; all else is there, forces in place of impulses. */
static void check_state(const TalusSnapshot *want, const TalusSnapshot *got)
{
    int g = 0;
    for (int w = 0; w < want->body_count && g < got->body_count; w++)
        if (want->id[w].number == got->id[g].number)
            check_body(want, w, got, g++);
    CHECK_INT(g, got->body_count);
    CHECK_INT(want->body_count - got->body_count, 2); /* funnel and plane */
    CHECK_INT(want->step, got->step);
    CHECK(want->time == got->time);
    if (!CHECK_INT(want->contact_count, got->contact_count))
        return;
    for (int i = 0; i < want->contact_count; i++) {
        const TalusContactState *x = &want->contact[i], *y = &got->contact[i];
        CHECK(x->a.number == y->a.number && x->b.number == y->b.number && x->gap == y->gap);
        CHECK(same_vector(x->point, y->point) && same_vector(x->normal, y->normal));
        CHECK(x->impulse.z / want->length == y->impulse.z / got->length);
        CHECK(got->id[got->contact_a[i]].number == x->a.number);
        CHECK(got->contact_b[i] < 0 || got->id[got->contact_b[i]].number == x->b.number);
    }
}

TEST(tables_give_back_what_was_written)
{
    TalusSnapshot snapshot[FRAMES] = {{0}};
    TalusWorld *world = run_rain("tables.work", true, snapshot);
    TalusStates *states;
    REQUIRE_OK(talus_states_open("tables.work", TALUS_STATES_TABLES, &states));
    CHECK_INT(talus_states_count(states), FRAMES);
    for (int i = FRAMES - 1; i >= 0; i--) {
        const TalusSnapshot *got;
        const TalusFramesHead *head;
        REQUIRE_OK(talus_states_read(states, i, &got, &head));
        CHECK(talus_states_time(states, i) == snapshot[i].time);
        CHECK(head->shape_count > 4);
        check_state(&snapshot[i], got);
    }
    CHECK(snapshot[FRAMES - 1].contact_count > 20);
    talus_states_close(states);
    free_snapshots(snapshot);
    talus_world_destroy(world);
}

/* The rain goes on: a body that has left before the checkpoint has no known mass. */
TEST(masses_of_frames_are_those_of_the_checkpoint)
{
    TalusSnapshot snapshot[FRAMES] = {{0}};
    TalusWorld *world = run_rain("frames.work", false, snapshot);
    TalusStates *states;
    int unknown = 0;
    CHECK(!talus_states_exist("frames.work", TALUS_STATES_TABLES));
    CHECK_INT(talus_states_open("frames.work", TALUS_STATES_TABLES, &states), TALUS_ERR_FORMAT);
    REQUIRE_OK(talus_states_open("frames.work", TALUS_STATES_FRAMES, &states));
    for (int i = 0; i < FRAMES; i++) {
        const TalusSnapshot *got;
        const TalusFramesHead *head;
        REQUIRE_OK(talus_states_read(states, i, &got, &head));
        if (!CHECK_INT(got->body_count, snapshot[i].body_count))
            break;
        for (int k = 0; k < got->body_count; k++) {
            unknown += isnan(got->mass[k]);
            CHECK(isnan(got->mass[k]) || got->mass[k] == snapshot[i].mass[k]);
        }
        CHECK(i < FRAMES - 1 || !isnan(got->mass[got->body_count - 1]));
        CHECK(got->spin == NULL && !(got->fields & TALUS_SNAPSHOT_CONTACTS));
    }
    CHECK(unknown > 0);
    talus_states_close(states);
    free_snapshots(snapshot);
    talus_world_destroy(world);
}

TEST(checkpoint_is_one_state)
{
    TalusSnapshot snapshot[FRAMES] = {{0}};
    TalusWorld *world = run_rain("checkpoint.work", false, snapshot);
    const TalusSnapshot *want = &snapshot[FRAMES - 1], *got;
    const TalusFramesHead *head;
    TalusStates *states;
    REQUIRE_OK(talus_states_open("checkpoint.work", TALUS_STATES_CHECKPOINT, &states));
    CHECK_INT(talus_states_count(states), 1);
    CHECK(talus_states_time(states, 0) == want->time);
    REQUIRE_OK(talus_states_read(states, 0, &got, &head));
    REQUIRE(CHECK_INT(got->body_count, want->body_count) &&
            CHECK_INT(got->contact_count, want->contact_count));
    for (int i = 0; i < got->body_count; i++)
        check_body(want, i, got, i);
    for (int i = 0; i < got->contact_count; i++) {
        CHECK(same_vector(got->contact[i].impulse, want->contact[i].impulse));
        CHECK(same_vector(got->contact[i].point, want->contact[i].point));
    }
    talus_states_close(states);
    CHECK_INT(talus_states_open("none.work", TALUS_STATES_CHECKPOINT, &states), TALUS_ERR_IO);
    CHECK(!states);
    free_snapshots(snapshot);
    talus_world_destroy(world);
}

static TalusStatus read_first(TalusStateSource source)
{
    const TalusSnapshot *snapshot;
    const TalusFramesHead *head;
    TalusStates *states;
    TALUS_TRY(talus_states_open("memory.work", source, &states));
    const TalusStatus status = talus_states_read(states, 0, &snapshot, &head);
    talus_states_close(states);
    return status;
}

TEST(failing_allocations_are_reported)
{
    TalusSnapshot snapshot[FRAMES] = {{0}};
    TalusWorld *world = run_rain("memory.work", true, snapshot);
    for (int source = TALUS_STATES_TABLES; source < TALUS_STATE_SOURCES; source++) {
        int failures = 0;
        for (long n = 1; n < 2000; n++) {
            talus_fail_allocation_in(n);
            const TalusStatus status = read_first((TalusStateSource)source);
            talus_fail_allocation_in(0);
            if (status == TALUS_OK)
                break;
            CHECK_INT(status, TALUS_ERR_MEMORY);
            failures++;
        }
        CHECK(failures > 5);
    }
    free_snapshots(snapshot);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(tables_give_back_what_was_written);
    RUN(masses_of_frames_are_those_of_the_checkpoint);
    RUN(checkpoint_is_one_state);
    RUN(failing_allocations_are_reported);
    return talus_test_result();
}
