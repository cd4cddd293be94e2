/* cli/run/positions.c - writes the final positions of bodies as text. */
#include "run.h"

#include "base/status.h"
#include "io/file/file.h"

static TalusStatus write_lines(const char *path, const TalusSnapshot *s)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    for (int i = 0; i < s->body_count; i++)
        if (!s->fixed[i])
            talus_file_print(file, "%.17g %.17g %.17g\n", s->position[i].x, s->position[i].y,
                             s->position[i].z);
    return talus_file_commit(file);
}

TalusStatus run_write_positions(const char *path, const TalusWorld *world)
{
    TalusSnapshot snapshot = {0};
    TALUS_TRY(talus_snapshot_take(&snapshot, world, 0));
    TalusStatus status = write_lines(path, &snapshot);
    talus_snapshot_free(&snapshot);
    return status;
}
