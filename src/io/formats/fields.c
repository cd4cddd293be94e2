/* io/formats/fields.c - the table of fields and their values. */
#include "io/formats/fields.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/shape.h"

#include <stdio.h>
#include <string.h>

/* Rows of the tables below. BODY: field of bodies; LASTING: field of bodies that is constant during a body's life;
 * CONTACT: field of contacts. */
#define FIELD(name, type, source, struct, member, ...)                                         \
    {                                                                                          \
        name, TALUS_FIELD_##type, TALUS_SOURCE_##source, offsetof(struct, member), __VA_ARGS__ \
    }
#define BODY(name, type, source, member) \
    FIELD(name, type, source, TalusSnapshot, member, .contact = false)
#define LASTING(name, type, source, member) \
    FIELD(name, type, source, TalusSnapshot, member, .lasting = true)
#define CONTACT(name, type, source, member) \
    FIELD(name, type, source, TalusContactState, member, .contact = true)

/* Positions, and points of contacts, are doubles, which small grains far from the origin need; other reals are single,
 * enough for viewing. */
static const TalusField of_bodies[] = {
    LASTING("body_id", I64, ID, id),
    BODY("position", F64, VEC3, position),
    LASTING("radius", F32, REAL, radius),
    BODY("velocity", F32, VEC3, velocity),
    BODY("speed", F32, REAL, speed),
    BODY("angular_velocity", F32, VEC3, spin),
    BODY("orientation", F32, QUAT, orientation),
    LASTING("mass", F32, REAL, mass),
    BODY("dissipated", F32, REAL, dissipated),
    BODY("contact_force", F32, REAL, force),
    BODY("contact_count", I32, INT, touching),
    LASTING("material_id", I32, INT, material),
    LASTING("shape_id", I32, INT, shape),
    LASTING("shape_kind", U8, SHAPE_KIND, shape),
    LASTING("tag", I32, INT, tag),
    LASTING("fixed", U8, FLAG, fixed),
    LASTING("layer", I32, INT, layer),
};

static const TalusField of_contacts[] = {
    CONTACT("id1", I64, ID, a),
    CONTACT("id2", I64, ID, b),
    CONTACT("point", F64, VEC3, point),
    CONTACT("normal", F32, VEC3, normal),
    CONTACT("impulse", F32, VEC3, impulse),
    CONTACT("force", F32, FORCE, impulse),
    CONTACT("normal_force", F32, NORMAL_FORCE, impulse),
    CONTACT("gap", F32, REAL, gap),
    CONTACT("branch1", F32, VEC3, branch_a),
    CONTACT("branch2", F32, VEC3, branch_b),
};

const TalusFieldList talus_fields_of_bodies = {of_bodies, sizeof of_bodies / sizeof *of_bodies};
const TalusFieldList talus_fields_of_contacts = {of_contacts,
                                                 sizeof of_contacts / sizeof *of_contacts};

const TalusField *talus_field_find(const TalusFieldList *list, const char *name)
{
    const TalusField *field = list->field;
    while (strcmp(field->name, name) != 0)
        field++;
    return field;
}

/* ---- properties of a field ---- */

/* Returns the array of the snapshot that has a field of bodies; NULL if the snapshot lacks it. */
static const void *find_body_array(const TalusField *field, const TalusSnapshot *snapshot)
{
    const void *array;
    memcpy(&array, (const char *)snapshot + field->offset, sizeof array);
    return array;
}

bool talus_field_present(const TalusField *field, const TalusSnapshot *snapshot)
{
    if (field->contact)
        return (snapshot->fields & TALUS_SNAPSHOT_CONTACTS) != 0;
    if (field->offset == offsetof(TalusSnapshot, speed) && snapshot->velocity)
        return false; /* speed is redundant if there is a velocity */
    return find_body_array(field, snapshot) != NULL;
}

int talus_field_components(const TalusField *field)
{
    switch (field->source) {
    case TALUS_SOURCE_VEC3:
    case TALUS_SOURCE_FORCE: return 3;
    case TALUS_SOURCE_QUAT: return 4;
    default: return 1;
    }
}

const char *talus_field_letters(const TalusField *field)
{
    static const char *const letters[] = {"", "", "", "xyz", "wxyz"};
    return letters[talus_field_components(field)];
}

size_t talus_field_type_size(TalusFieldType type)
{
    static const size_t sizes[] = {sizeof(double), sizeof(float), sizeof(int64_t), sizeof(int32_t),
                                   sizeof(uint8_t)};
    return sizes[type];
}

/* ---- values ---- */

/* Returns the force of an impulse: over the length of the step; 0 if the length is 0. */
static double force_of_impulse(const TalusSnapshot *snapshot, double impulse)
{
    return snapshot->length > 0.0 ? impulse / snapshot->length : 0.0;
}

double talus_snapshot_contact_force(const TalusSnapshot *snapshot, int contact)
{
    const TalusContactState *c = &snapshot->contact[contact];
    return force_of_impulse(snapshot, talus_dot(c->impulse, c->normal));
}

/* Returns the address, in one row, of the value of a field or of the member from which the value is computed. */
static const void *find_element(const TalusField *field, const TalusSnapshot *snapshot, int row)
{
    static const size_t sizes[] = {
        [TALUS_SOURCE_ID] = sizeof(TalusBodyId), [TALUS_SOURCE_VEC3] = sizeof(TalusVec3),
        [TALUS_SOURCE_QUAT] = sizeof(TalusQuat), [TALUS_SOURCE_REAL] = sizeof(double),
        [TALUS_SOURCE_INT] = sizeof(int),        [TALUS_SOURCE_FLAG] = sizeof(bool),
        [TALUS_SOURCE_SHAPE_KIND] = sizeof(int)};
    if (field->contact)
        return (const char *)&snapshot->contact[row] + field->offset;
    return (const char *)find_body_array(field, snapshot) + (size_t)row * sizes[field->source];
}

/* Returns the value of a field of integer type in one row. */
static int64_t read_integer(const TalusField *field, const TalusFramesHead *head,
                            const TalusSnapshot *snapshot, int row)
{
    const void *at = find_element(field, snapshot, row);
    switch (field->source) {
    case TALUS_SOURCE_ID: return (int64_t)((const TalusBodyId *)at)->number;
    case TALUS_SOURCE_FLAG: return *(const bool *)at;
    case TALUS_SOURCE_SHAPE_KIND: return (int64_t)head->shapes[*(const int *)at].kind;
    default: return *(const int *)at;
    }
}

/* Sets `out` to the values of a field of type F64 or F32 in one row; returns their number. */
static int read_reals(const TalusField *field, const TalusSnapshot *snapshot, int row,
                      double out[4])
{
    const void *at = find_element(field, snapshot, row);
    int n = talus_field_components(field);
    if (field->source == TALUS_SOURCE_NORMAL_FORCE)
        out[0] = talus_snapshot_contact_force(snapshot, row);
    else
        memcpy(out, at, (size_t)n * sizeof *out); /* vectors and quaternions consist of n doubles */
    if (field->source == TALUS_SOURCE_FORCE)
        for (int i = 0; i < n; i++)
            out[i] = force_of_impulse(snapshot, out[i]);
    return n;
}

static bool is_real(const TalusField *field)
{
    return field->type == TALUS_FIELD_F64 || field->type == TALUS_FIELD_F32;
}

/* Writes numbers as doubles (F64) or floats; returns the number of bytes. */
static size_t write_reals(TalusFieldType type, const double *x, int count, void *out)
{
    float single[4];
    if (type == TALUS_FIELD_F64) {
        memcpy(out, x, (size_t)count * sizeof *x);
        return (size_t)count * sizeof *x;
    }
    for (int i = 0; i < count; i++)
        single[i] = (float)x[i];
    memcpy(out, single, (size_t)count * sizeof *single);
    return (size_t)count * sizeof *single;
}

/* Writes an integer as I64, I32 or U8; returns the number of bytes. */
static size_t write_integer(TalusFieldType type, int64_t x, void *out)
{
    int32_t narrow = (int32_t)x;
    uint8_t byte = (uint8_t)x;
    size_t size = talus_field_type_size(type);
    memcpy(out,
           type == TALUS_FIELD_I64   ? (const void *)&x
           : type == TALUS_FIELD_I32 ? (const void *)&narrow
                                     : (const void *)&byte,
           size);
    return size;
}

size_t talus_field_write(const TalusField *field, const TalusFramesHead *head,
                         const TalusSnapshot *snapshot, int row, void *out)
{
    double x[4];
    if (!is_real(field))
        return write_integer(field->type, read_integer(field, head, snapshot, row), out);
    int n = read_reals(field, snapshot, row, x);
    return write_reals(field->type, x, n, out);
}

size_t talus_field_print(const TalusField *field, const TalusFramesHead *head,
                         const TalusSnapshot *snapshot, int row, char separator,
                         char out[TALUS_FIELD_TEXT])
{
    double x[4];
    if (!is_real(field))
        return (size_t)snprintf(out, TALUS_FIELD_TEXT, "%lld",
                                (long long)read_integer(field, head, snapshot, row));
    int n = read_reals(field, snapshot, row, x);
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0)
            out[used++] = separator;
        used += (size_t)snprintf(out + used, TALUS_FIELD_TEXT - used, "%.17g", x[i]);
    }
    return used;
}

/* ---- rows ---- */

TalusStatus talus_rows_collect_bodies(TalusRows *rows, const TalusFramesHead *head,
                                      const TalusSnapshot *snapshot)
{
    rows->count = 0;
    TALUS_TRY(TALUS_GROW(rows->row, (size_t)snapshot->body_count, 0, "rows of a frame"));
    for (int i = 0; i < snapshot->body_count; i++) {
        if (!talus_shape_has(talus_frame_body_kind(head, snapshot, i), TALUS_TRAIT_WALL))
            rows->row[rows->count++] = i;
    }
    return TALUS_OK;
}

void talus_rows_free(TalusRows *rows)
{
    talus_release(rows->row);
    *rows = (TalusRows){0};
}
