/* io/run/snapshot_arrays.c - the arrays of a snapshot. Those of bodies share one block of memory and those of contacts another,
 * because the number of contacts is known only after the forces have been summed. */
#include "base/memory.h"
#include "io/frames/frames.h"
#include "io/run/snapshot.h"
#include "world/contacts.h"

#include <stdlib.h>
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
    BODIES(TALUS_SNAPSHOT_DISSIPATED, dissipated),
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

TalusStatus talus_snapshot_resize_contacts(TalusSnapshot *snapshot, int count)
{
    return allocate_arrays(snapshot, true, count);
}

void talus_snapshot_free(TalusSnapshot *snapshot)
{
    if (!snapshot)
        return;
    TALUS_RELEASE(snapshot->body_memory, snapshot->contact_memory);
    *snapshot = (TalusSnapshot){0};
}

/* ---- rows ---- */

TalusSentBody talus_snapshot_get_body(const TalusBodies *b, int slot)
{
    return (TalusSentBody){.position = b->position[slot],
                           .velocity = b->velocity[slot],
                           .spin = b->spin[slot],
                           .orientation = b->orientation[slot],
                           .mass = b->mass[slot],
                           .dissipated = b->dissipated[slot],
                           .radius = b->radius[slot],
                           .shape = b->shape[slot],
                           .material = b->material[slot],
                           .tag = b->tag[slot],
                           .fixed = !talus_slot_is_dynamic(b, slot)};
}

/* Sets a value of an array that the snapshot may lack. */
#define STORE(array, index, value)    \
    do {                              \
        if (array)                    \
            (array)[index] = (value); \
    } while (0)

void talus_snapshot_store_body(TalusSnapshot *s, int i, const TalusSentBody *body)
{
    s->position[i] = body->position;
    s->orientation[i] = body->orientation;
    s->radius[i] = body->radius;
    s->shape[i] = body->shape;
    s->material[i] = body->material;
    s->tag[i] = body->tag;
    s->fixed[i] = body->fixed;
    STORE(s->velocity, i, body->velocity);
    STORE(s->speed, i, talus_norm(body->velocity));
    STORE(s->spin, i, body->spin);
    STORE(s->mass, i, body->mass);
    STORE(s->dissipated, i, body->dissipated);
    STORE(s->force, i, body->force);
    STORE(s->touching, i, body->touching);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

_Static_assert(sizeof(TalusBodyId) == sizeof(uint64_t), "ids are searched as numbers");

int talus_snapshot_find(const TalusSnapshot *s, uint64_t number)
{
    if (s->body_count == 0)
        return -1;
    const TalusBodyId *at =
        bsearch(&number, s->id, (size_t)s->body_count, sizeof *s->id, compare_numbers);
    return at ? (int)(at - s->id) : -1;
}

void talus_snapshot_place_branches(TalusSnapshot *s, const TalusPeriod *period)
{
    const TalusVec3 none = {0.0, 0.0, 0.0};
    for (int i = 0; i < s->contact_count; i++) {
        TalusContactState *c = &s->contact[i];
        const int a = s->contact_a[i], b = s->contact_b[i];
        c->branch_a = a < 0 ? none : talus_branch(period, s->position[a], c->point);
        c->branch_b = b < 0 ? none : talus_branch(period, s->position[b], c->point);
    }
}
