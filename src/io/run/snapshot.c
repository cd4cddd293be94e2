/* io/run/snapshot.c - bodies and contacts of a world at one time, as arrays (TalusSnapshot). All arrays of bodies share
 * one block of memory and all arrays of contacts another, because the number of contacts is known only after the forces
 * have been summed. */
#include "base/memory.h"
#include "io/frames/frames.h"
#include "world/contacts.h"
#include "world/ids.h"
#include "world/state.h"

#include <string.h>

enum { ALIGNMENT = 64 }; /* of each array, bytes */

/* An array of a snapshot. */
typedef struct ArrayInfo {
    /* TalusSnapshotField bits, each of which requests the array; 0: always present */
    unsigned field;
    bool contacts;           /* true: an element per contact; false: per body */
    size_t pointer, element; /* offset of the array pointer in TalusSnapshot; bytes per element */
} ArrayInfo;

/* Rows of the table `arrays`, for a member of TalusSnapshot. */
#define BODIES(field, name)                                                             \
    {                                                                                   \
        field, false, offsetof(TalusSnapshot, name), sizeof *((TalusSnapshot *)0)->name \
    }
#define CONTACTS(name)                                                                        \
    {                                                                                         \
        TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS, true, offsetof(TalusSnapshot, name), \
            sizeof *((TalusSnapshot *)0)->name                                                \
    }

static const ArrayInfo arrays[] = {
    BODIES(0, id),
    BODIES(0, position),
    BODIES(0, orientation),
    BODIES(0, radius),
    BODIES(0, shape),
    BODIES(0, material),
    BODIES(0, tag),
    BODIES(0, fixed),
    BODIES(TALUS_SNAPSHOT_VELOCITY, velocity),
    BODIES(TALUS_SNAPSHOT_SPEED, speed),
    BODIES(TALUS_SNAPSHOT_SPIN, spin),
    BODIES(TALUS_SNAPSHOT_FORCE, force),
    BODIES(TALUS_SNAPSHOT_FORCE, touching),
    BODIES(TALUS_SNAPSHOT_MASS, mass),
    BODIES(TALUS_SNAPSHOT_LAYER, layer),
    CONTACTS(contact),
    CONTACTS(contact_a),
    CONTACTS(contact_b),
};

enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* Returns the bytes of an array, a multiple of ALIGNMENT above 0; 0 if `fields` does not request the array. */
static size_t array_bytes(const ArrayInfo *array, unsigned fields, int count)
{
    if (array->field && !(array->field & fields))
        return 0;
    return ((size_t)count * array->element + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

/* Sets the pointers of the arrays of bodies, or those of contacts, to memory for `count` elements, whose values are not
 * set; arrays that snapshot->fields does not request become NULL. */
static TalusStatus allocate_arrays(TalusSnapshot *snapshot, bool contacts, int count)
{
    void **memory = contacts ? &snapshot->contact_memory : &snapshot->body_memory;
    size_t bytes = 0;
    for (int i = 0; i < ARRAYS; i++)
        if (arrays[i].contacts == contacts)
            bytes += array_bytes(&arrays[i], snapshot->fields, count);
    char *cursor = talus_grow(*memory, bytes, 0, 1, "snapshot");
    *memory = cursor;
    TALUS_TRY(talus_check_capacity(cursor, bytes, 1));
    for (int i = 0; i < ARRAYS; i++) {
        if (arrays[i].contacts != contacts)
            continue;
        size_t size = array_bytes(&arrays[i], snapshot->fields, count);
        void *array = size ? cursor : NULL;
        memcpy((char *)snapshot + arrays[i].pointer, &array, sizeof array);
        cursor += size;
    }
    *(contacts ? &snapshot->contact_count : &snapshot->body_count) = count;
    return TALUS_OK;
}

/* Sets the fields and allocates the arrays of bodies; removes all contacts. Velocities in `fields` imply speeds. */
static TalusStatus resize_bodies(TalusSnapshot *snapshot, unsigned fields, int count)
{
    if (fields & TALUS_SNAPSHOT_VELOCITY)
        fields |= TALUS_SNAPSHOT_SPEED;
    *snapshot = (TalusSnapshot){.fields = fields,
                                .body_memory = snapshot->body_memory,
                                .contact_memory = snapshot->contact_memory};
    return allocate_arrays(snapshot, false, count);
}

TalusStatus talus_snapshot_resize(TalusSnapshot *snapshot, unsigned fields, int bodies,
                                  int contacts)
{
    TALUS_TRY(resize_bodies(snapshot, fields, bodies));
    return allocate_arrays(snapshot, true, contacts);
}

void talus_snapshot_free(TalusSnapshot *snapshot)
{
    if (!snapshot)
        return;
    TALUS_RELEASE(snapshot->body_memory, snapshot->contact_memory);
    *snapshot = (TalusSnapshot){0};
}

/* ---- from a world ---- */

/* Fails if a snapshot cannot hold so many. */
static TalusStatus check_count(const char *what, int64_t count)
{
    if (count <= INT32_MAX)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "snapshot: %lld %s; it holds at most %d",
                      (long long)count, what, INT32_MAX);
}

/* Copies the bodies of the world and computes their speeds. */
static void copy_bodies(TalusSnapshot *s, const TalusWorld *world)
{
    TalusBodyState state = {.id = s->id,
                            .position = s->position,
                            .velocity = s->velocity,
                            .spin = s->spin,
                            .orientation = s->orientation,
                            .radius = s->radius,
                            .mass = s->mass,
                            .shape = s->shape,
                            .material = s->material,
                            .tag = s->tag,
                            .fixed = s->fixed};
    talus_world_get_state(world, &state);
    for (int i = 0; s->speed && i < s->body_count; i++)
        s->speed[i] = talus_norm(s->velocity[i]);
}

/* Copies the contacts with a normal impulse above `min_impulse`, if the fields ask for contacts. rows: as in
 * fill_snapshot. */
static TalusStatus copy_contacts(TalusSnapshot *s, const TalusWorld *world, const int *rows,
                                 double min_impulse)
{
    bool asked = s->fields & (TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS);
    int64_t count = asked ? talus_world_get_strong_contacts(world, min_impulse, NULL, 0) : 0;
    TALUS_TRY(check_count("contacts", count));
    TALUS_TRY(allocate_arrays(s, true, (int)count));
    if (asked)
        talus_world_get_strong_contacts(world, min_impulse, s->contact, count);
    for (int i = 0; i < count; i++) {
        s->contact_a[i] = rows[talus_slot_of(world, s->contact[i].a)];
        s->contact_b[i] = rows[talus_slot_of(world, s->contact[i].b)];
    }
    return TALUS_OK;
}

/* Fills a snapshot whose arrays of bodies are allocated. rows[slot]: index in the arrays of the body in that slot of
 * the world; rows may be NULL if no field needs it. The field CONTACTS asks for all contacts, CHAINS alone for those
 * with more than the mean normal impulse of loaded contacts. */
static TalusStatus fill_snapshot(TalusSnapshot *s, const TalusWorld *world, const int *rows)
{
    TalusForceSummary sums;
    TALUS_TRY(talus_world_sum_forces(world, rows, s->force, s->touching, &sums));
    copy_bodies(s, world);
    bool all = s->fields & TALUS_SNAPSHOT_CONTACTS;
    TALUS_TRY(copy_contacts(s, world, rows, all ? -INFINITY : sums.mean_impulse));
    s->contact_total = sums.contacts;
    s->length = sums.length;
    s->time = talus_world_time(world);
    s->step = talus_world_steps(world);
    return TALUS_OK;
}

/* Allocates and fills the snapshot. */
static TalusStatus take_fields(TalusSnapshot *s, const TalusWorld *world, unsigned fields)
{
    const unsigned by_row = TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS;
    int *rows = NULL;
    TALUS_TRY(check_count("bodies", talus_world_body_count(world)));
    TALUS_TRY(resize_bodies(s, fields, (int)talus_world_body_count(world)));
    if (fields & by_row)
        TALUS_TRY(talus_living_indices(world, &rows));
    TalusStatus status = fill_snapshot(s, world, rows);
    talus_release(rows);
    return status;
}

TalusStatus talus_snapshot_take(TalusSnapshot *snapshot, const TalusWorld *world, unsigned fields)
{
    if (fields & ~(unsigned)TALUS_SNAPSHOT_ALL)
        return talus_reject("snapshot: fields %#x; a world has those of %#x", fields,
                            (unsigned)TALUS_SNAPSHOT_ALL);
    /* Speeds are computed from velocities, which are hidden afterwards if they were not requested. */
    bool hide = fields & TALUS_SNAPSHOT_SPEED && !(fields & TALUS_SNAPSHOT_VELOCITY);
    TalusStatus status =
        take_fields(snapshot, world, hide ? fields | TALUS_SNAPSHOT_VELOCITY : fields);
    if (status != TALUS_OK) {
        talus_snapshot_free(snapshot);
        return status;
    }
    if (hide) {
        snapshot->velocity = NULL;
        snapshot->fields &= ~(unsigned)TALUS_SNAPSHOT_VELOCITY;
    }
    return TALUS_OK;
}
