/* cli/run/positions.c - where the bodies of a run came to, as text. */
#include "run.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/file/file.h"

static TalusStatus write_lines(const char *path, const TalusBodyState *state, size_t count)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    for (size_t i = 0; i < count; i++)
        if (!state->fixed[i])
            talus_file_print(file, "%.17g %.17g %.17g\n", state->position[i].x,
                             state->position[i].y, state->position[i].z);
    return talus_file_commit(file);
}

TalusStatus run_write_positions(const char *path, const TalusWorld *world)
{
    size_t count = (size_t)talus_world_body_count(world);
    TalusBodyState state = {0};
    TalusStatus status = TALUS_ALLOC(state.position, count, "positions");
    if (status == TALUS_OK)
        status = TALUS_ALLOC(state.fixed, count, "positions");
    if (status == TALUS_OK) {
        talus_world_get_state(world, &state);
        status = write_lines(path, &state, count);
    }
    talus_release(state.position);
    talus_release(state.fixed);
    return status;
}
