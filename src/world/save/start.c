/* world/save/start.c - a saved state as the start of another world: what of it stays behind.
 *
 * Bodies come along with positions, orientations, velocities, masses, materials and tags, and contacts with their impulses.
 * Time begins at 0, and so do dissipated energies. Joints, drives, forces, groups, probes, emitters, delayed bodies and sinks belong to the world that was
 * saved, and stay behind; a body that was driven is fixed where it is. */
#include "world/save/loaded.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "collide/period.h"

/* Warns of what is missed when it is gone without a word. */
static void report_left(const TalusWorld *world, int drives)
{
    if (world->joints.count > 0)
        talus_log_to(
            &world->log, TALUS_LOG_WARNING, "start.joints",
            "%d joint%s of the earlier state stay%s behind: bodies that hung together come "
            "apart",
            world->joints.count, world->joints.count > 1 ? "s" : "",
            world->joints.count > 1 ? "" : "s");
    if (drives > 0)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "start.drives",
                     "%d driven bod%s of the earlier state %s fixed: drives stay behind", drives,
                     drives > 1 ? "ies" : "y", drives > 1 ? "are" : "is");
}

/* Makes bodies those of a world without groups and drives, within the period. */
static void reset_bodies(TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    for (int i = 0; i < b->counts.slots; i++) {
        b->group[i] = 0;
        b->dissipated[i] = 0.0;
        if (talus_slot_is_driven(b, i)) {
            b->mobility[i] = TALUS_MOBILITY_FIXED;
            b->velocity[i] = b->spin[i] = talus_vec3(0.0, 0.0, 0.0);
        }
        if (b->shape[i] >= 0)
            b->position[i] = talus_wrap_position(&world->def.period, b->position[i]);
    }
}

/* Gives the world the cell of its own def, upright, in which bodies keep the flow that they have. */
static void reset_cell(TalusWorld *world, TalusPeriod earlier)
{
    const TalusGradient flow = world->cell.now.cell.last;
    earlier.tilt = world->def.period.tilt;
    world->def.period.tilt = 0.0;
    world->cell = (TalusWorldCell){0};
    talus_cell_init(world);
    talus_cell_continue(world, &earlier, flow);
}

void talus_loaded_start(TalusLoaded *l, TalusWorld *world, const TalusPeriod *earlier)
{
    reset_cell(world, *earlier);
    report_left(world, world->drives + l->drives);
    talus_joints_clear(world);
    talus_probes_clear(world);
    talus_sources_clear(world);
    talus_forces_clear(world);
    talus_filters_clear(&world->filters);
    world->filters = (TalusFilters){0};
    talus_filters_init(&world->filters);
    world->drives = l->drives = l->exclusions = 0;
    reset_bodies(world);
    world->steps = world->base_steps = world->missed_steps = 0;
    world->base_time = 0.0;
    world->said_missed = world->said_infeasible = false;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}

void talus_loaded_end_sleep(TalusWorld *world, const TalusWorldDef *start)
{
    talus_wake_all(world);
    for (int i = 0; i < world->sleep.slots; i++)
        world->sleep.calm[i] = 0;
    if (start->sleep_speed == 0.0)
        talus_sleep_clear(world);
    world->def.sleep_speed = start->sleep_speed;
    world->def.sleep_steps = start->sleep_steps;
}
