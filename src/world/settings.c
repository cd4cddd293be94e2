/* world/settings.c - settings of a world that change between steps: gravity, step, solver, friction model, materials.
 *
 * What they change in contacts acts at once, also on bodies that sleep, which wake. Impulses are scaled to another length
 * of the step (TalusBuildOptions.impulse_ratio). */
#include "world/state.h"
#include "world/step/wake.h"

#include <string.h>

/* Sets what follows from gravity, step and TalusWorldDef.reference_speed. */
static void update_scales(TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    world->gravity_norm = talus_norm(def->gravity);
    world->reference_speed = fmax(world->gravity_norm * def->step, def->reference_speed);
}

/* Adds the potential energies of free and sleeping bodies, times `sign`, to *exchange. */
static void add_potential(const TalusWorld *world, double sign, TalusExchange *exchange)
{
    const TalusBodies *b = &world->bodies;
    for (int i = 0; i < b->counts.slots; i++) {
        if (!talus_slot_is_dynamic(b, i))
            continue;
        const double m = b->mass[i];
        const double potential = -sign * m * talus_dot(world->def.gravity, b->position[i]);
        talus_sum_add(&exchange->potential, &potential, 1);
    }
}

TalusStatus talus_world_set_gravity(TalusWorld *world, TalusVec3 gravity)
{
    TalusExchange exchange = {0};
    TALUS_TRY(talus_world_check_gravity(gravity, world->def.reference_speed));
    if (world->def.cell.on && talus_norm(gravity) > 0.0)
        return talus_fail_key("gravity", TALUS_ERR_ARGUMENT,
                              "a cell that deforms has no gravity; expected (0, 0, 0)");
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_world_download_bodies(world)));
    talus_wake_all(world);
    add_potential(world, -1.0, &exchange);
    world->def.gravity = gravity;
    add_potential(world, 1.0, &exchange);
    talus_exchange_book(world, &exchange);
    update_scales(world);
    return TALUS_OK;
}

TalusStatus talus_world_set_step(TalusWorld *world, double step)
{
    if (!(step > 0.0) || !isfinite(step))
        return talus_fail_key("step", TALUS_ERR_ARGUMENT,
                              "step is %g; expected seconds, more than 0", step);
    if (world->def.cell.on)
        return talus_fail_key(
            "step", TALUS_ERR_UNSUPPORTED,
            "the rates of a cell that deforms were checked with its step of %g s, "
            "which stays; talus_world_step_to makes shorter ones",
            world->def.step);
    world->base_time = talus_time(world);
    world->base_steps = world->steps;
    world->def.step = step;
    update_scales(world);
    return TALUS_OK;
}

TalusStatus talus_world_set_solver(TalusWorld *world, const char *solver)
{
    TalusSolver *made = NULL;
    char *spec = NULL;
    if (!solver)
        return talus_fail_key("solver", TALUS_ERR_ARGUMENT,
                              "solver is NULL; \"auto\" is the default");
    TalusStatus status = talus_copy_text(solver, "world solver", &spec);
    TALUS_THEN(status, talus_solver_create(solver, &made));
    status = talus_comm_agree(world->ranks.comm, status);
    if (status != TALUS_OK) {
        talus_solver_destroy(made);
        talus_release(spec);
        return status;
    }
    talus_solver_destroy(world->solver);
    talus_release(world->solver_spec);
    world->solver = made;
    world->def.solver = world->solver_spec = spec;
    return TALUS_OK;
}

TalusStatus talus_world_set_friction_model(TalusWorld *world, TalusFrictionModel model)
{
    TALUS_TRY(talus_model_check(model));
    world->def.friction = model;
    talus_materials_update(world);
    talus_wake_all(world);
    return TALUS_OK;
}

TalusStatus talus_world_set_material(TalusWorld *world, int index, const TalusMaterialDef *def)
{
    TALUS_TRY(talus_material_change(world, index, def));
    talus_wake_all(world);
    return TALUS_OK;
}

TalusStatus talus_world_find_material(const TalusWorld *world, const char *name, int *index)
{
    const TalusMaterials *m = &world->materials;
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->def[i].name, name) == 0) {
            *index = i;
            return TALUS_OK;
        }
    return talus_fail_key(name, TALUS_ERR_ARGUMENT, "the world has no material of this name");
}
