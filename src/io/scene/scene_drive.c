/* io/scene/scene_drive.c - prescribed motions in scenes: a table becomes one motion of the world per interval.
 *
 * A motion that has stopped holds its shift, and motions add up. So intervals of constant velocity give a displacement that
 * is linear in between, and intervals of constant acceleration a velocity that is. */
#include "io/scene/scene_drive.h"

/* Returns the motion of a table between two rows, each a time and a vector. */
static TalusDriveDef interval_motion(const double *row, const double *next, bool velocities)
{
    TalusDriveDef def = talus_drive_def_default();
    const TalusVec3 from = scene_vec3(row + 1), to = scene_vec3(next + 1);
    const TalusVec3 rate = talus_scale(1.0 / (next[0] - row[0]), talus_sub(to, from));
    def.start = row[0];
    def.stop = next[0];
    def.velocity = velocities ? from : rate;
    if (velocities)
        def.acceleration = rate;
    return def;
}

static TalusStatus add_table(const SceneList *table, bool velocities, TalusBodyId id,
                             TalusWorld *world)
{
    const double(*row)[4] = (const double(*)[4])table->items;
    for (int i = 0; i + 1 < table->count; i++) {
        const TalusDriveDef def = interval_motion(row[i], row[i + 1], velocities);
        TALUS_TRY(talus_world_add_drive(world, id, &def));
    }
    return TALUS_OK;
}

TalusStatus talus_scene_add_drive(const SceneDrive *drive, TalusBodyId id, TalusVec3 shift,
                                  TalusWorld *world)
{
    TalusDriveDef def = drive->def;
    def.own_axis = talus_json_get(drive->json, "point") != NULL;
    def.point = talus_add(def.point, shift);
    TALUS_TRY(talus_world_add_drive(world, id, &def));
    TALUS_TRY(add_table(&drive->displacements, false, id, world));
    return add_table(&drive->velocities, true, id, world);
}
