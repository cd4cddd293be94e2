/* io/run/positions.c - the positions of moving bodies as a text. */
#include "io/run/positions.h"

#include "io/file/file.h"
#include "world/save/rows.h"
#include "world/state.h"

/* A body as it comes to rank 0. */
typedef struct Place {
    TalusVec3 position;
    int64_t moves;
} Place;

static void fill_places(const void *context, int64_t first, int64_t count, void *out)
{
    const TalusRows *rows = context;
    const TalusBodies *b = &rows->world->bodies;
    Place *place = out;
    for (int64_t k = 0; k < count; k++) {
        const int slot = talus_rows_slot(rows, first + k);
        place[k] = (Place){b->position[slot], talus_slot_is_dynamic(b, slot)};
    }
}

static TalusStatus put_lines(void *context, const void *bytes, size_t size)
{
    TalusFile *file = context;
    const Place *place = bytes;
    for (size_t k = 0; k < size / sizeof *place; k++)
        if (place[k].moves)
            talus_file_print(file, "%.17g %.17g %.17g\n", place[k].position.x, place[k].position.y,
                             place[k].position.z);
    return TALUS_OK;
}

/* Ends the file, which rank 0 alone has. */
static TalusStatus end_file(TalusFile *file, TalusStatus status)
{
    if (!file)
        return status;
    if (status == TALUS_OK)
        return talus_file_commit(file);
    talus_file_abandon(file);
    return status;
}

TalusStatus talus_positions_write(const char *path, const TalusWorld *world)
{
    TalusComm *comm = world->ranks.comm;
    TalusFile *file = NULL;
    TalusRows rows;
    TALUS_TRY(talus_world_download_bodies(world));
    TALUS_TRY(talus_rows_open(world, &rows));
    TalusStatus status = talus_comm_agree(
        comm, talus_comm_rank(comm) == 0 ? talus_file_create(path, &file) : TALUS_OK);
    const TalusByteSink sink = {put_lines, file};
    TALUS_THEN(status,
               talus_comm_stream(comm, rows.bodies, sizeof(Place), fill_places, &rows, &sink));
    talus_rows_close(&rows);
    return talus_comm_agree(comm, end_file(file, status));
}
