/* lab/widen.c - copies a world with the envelope that gives a wanted number of contacts. */
#include "widen.h"

#include "base/status.h"

/* Adds a copy of body i of the snapshot. */
static TalusStatus add_body(TalusWorld *world, const TalusSnapshot *s, int i)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = s->shape[i];
    batch.material = s->material[i];
    batch.fixed = s->fixed[i];
    batch.position = &s->position[i];
    batch.orientation = &s->orientation[i];
    batch.velocity = &s->velocity[i];
    batch.spin = &s->spin[i];
    batch.radius = s->fixed[i] ? NULL : &s->radius[i];
    batch.mass = s->mass[i];
    batch.tag = s->tag[i];
    return talus_world_add_bodies(world, &batch, NULL);
}

/* ---- the world ---- */

/* Adds the materials and shapes of `world` to the copy, except material 0, the default one, which every world has. */
static TalusStatus add_materials_and_shapes(TalusWorld *copy, const TalusWorld *world)
{
    int index;
    for (int i = 1; i < talus_world_material_count(world); i++) {
        TalusMaterialDef def = talus_world_material(world, i);
        TALUS_TRY(talus_world_add_material(copy, &def, &index));
    }
    for (int i = 0; i < talus_world_shape_count(world); i++) {
        TalusShapeDef def = talus_world_shape(world, i);
        TALUS_TRY(talus_world_add_shape(copy, &def, &index));
    }
    return TALUS_OK;
}

/* Creates a world with this envelope; copies from `world` and `bodies` as widen_world says. */
static TalusStatus copy_world(const TalusWorld *world, const TalusSnapshot *bodies, double envelope,
                              TalusWorld **out)
{
    TalusWorldDef def = talus_world_def_default();
    def.gravity = talus_world_gravity(world);
    def.step = talus_world_step_length(world);
    def.friction = talus_world_friction(world);
    def.compliance = talus_world_compliance(world);
    def.threads = talus_world_threads(world);
    def.envelope = envelope;
    TALUS_TRY(talus_world_create(&def, out));
    TalusStatus status = add_materials_and_shapes(*out, world);
    for (int i = 0; status == TALUS_OK && i < bodies->body_count; i++)
        status = add_body(*out, bodies, i);
    if (status != TALUS_OK) {
        talus_world_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Counts the contacts of the next step of a copy of the world with this envelope. */
static TalusStatus count_contacts(const TalusWorld *world, const TalusSnapshot *bodies,
                                  double envelope, int *contacts)
{
    TalusWorld *copy;
    TalusProblem *problem;
    TALUS_TRY(copy_world(world, bodies, envelope, &copy));
    TalusStatus status = talus_world_build(copy, &problem);
    if (status == TALUS_OK)
        *contacts = talus_problem_blocks(problem);
    talus_world_destroy(copy);
    return status;
}

/* Finds by bisection the setting TalusWorldDef.envelope that gives `contacts` contacts or, if none does, the most below
 * that number. Fails if 0 gives more, or if 128, the largest one tried, does not give more. */
static TalusStatus find_envelope(const TalusWorld *world, const TalusSnapshot *bodies, int contacts,
                                 double *envelope)
{
    enum { HALVINGS = 40 };
    const double max_envelope = 64.0;
    double low = 0.0, high = 0.5;
    int found = 0;
    TALUS_TRY(count_contacts(world, bodies, low, &found));
    if (found > contacts)
        return talus_reject("there are %d contacts without an envelope: not to be brought to %d",
                            found, contacts);
    while (true) {
        TALUS_TRY(count_contacts(world, bodies, high, &found));
        if (found > contacts)
            break;
        if (high > max_envelope)
            return talus_reject("an envelope of %g sizes has %d contacts, not %d", high, found,
                                contacts);
        low = high;
        high *= 2.0;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        TALUS_TRY(count_contacts(world, bodies, middle, &found));
        if (found <= contacts)
            low = middle;
        else
            high = middle;
        if (found == contacts)
            break;
    }
    *envelope = low;
    return TALUS_OK;
}

TalusStatus widen_world(const TalusWorld *world, int contacts, TalusWorld **out, double *envelope)
{
    TalusSnapshot bodies = {0};
    *out = NULL;
    TalusStatus status = talus_snapshot_take(
        &bodies, world, TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_SPIN | TALUS_SNAPSHOT_MASS);
    TALUS_THEN(status, find_envelope(world, &bodies, contacts, envelope));
    TALUS_THEN(status, copy_world(world, &bodies, *envelope, out));
    talus_snapshot_free(&bodies);
    return status;
}
