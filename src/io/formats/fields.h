/* io/formats/fields.h - the fields of bodies and contacts that files contain.
 *
 * One table serves all formats, so that a field has one name, meaning and precision everywhere; the LAMMPS dump renames
 * some for OVITO. Names follow the draft of the DEM community (ON-DEM): snake_case; quaternions are w x y z. */
#ifndef TALUS_IO_FORMATS_FIELDS_H
#define TALUS_IO_FORMATS_FIELDS_H

#include <talus/frames.h>

/* Type of a value in binary formats; text formats print integers, and reals as doubles with 17 digits. */
typedef enum TalusFieldType {
    TALUS_FIELD_F64,
    TALUS_FIELD_F32,
    TALUS_FIELD_I64,
    TALUS_FIELD_I32,
    TALUS_FIELD_U8
} TalusFieldType;

/* How a value is obtained. ID to FLAG: an element of an array of the snapshot, or a member of TalusContactState, whose
 * C type the name tells (TalusBodyId, TalusVec3, TalusQuat, double, int, bool). */
typedef enum TalusFieldSource {
    TALUS_SOURCE_ID,
    TALUS_SOURCE_VEC3,
    TALUS_SOURCE_QUAT,
    TALUS_SOURCE_REAL,
    TALUS_SOURCE_INT,
    TALUS_SOURCE_FLAG,
    TALUS_SOURCE_SHAPE_KIND,  /* kind of the body's shape, from the head */
    TALUS_SOURCE_FORCE,       /* force vector of a contact: impulse over step length */
    TALUS_SOURCE_NORMAL_FORCE /* component of that force along the contact normal */
} TalusFieldSource;

/* A row of the table: a field of bodies or contacts. */
typedef struct TalusField {
    const char *name;
    TalusFieldType type;
    TalusFieldSource source;
    size_t offset; /* of the pointer in TalusSnapshot, or of the member in TalusContactState */
    bool contact;  /* true: field of contacts; false: of bodies */
    bool lasting;  /* true if the value of a body is constant during its life */
} TalusField;

/* Bytes that suffice for the values of a field in one row: in binary form; as text. */
enum { TALUS_FIELD_BYTES = 32, TALUS_FIELD_TEXT = 128 };

typedef struct TalusFieldList {
    const TalusField *field;
    int count;
} TalusFieldList;

/* The fields of bodies begin with body_id, position, radius; those of contacts with id1, id2, point. */
extern const TalusFieldList talus_fields_of_bodies, talus_fields_of_contacts;

/* Returns the field of that name, which must exist. */
const TalusField *talus_field_find(const TalusFieldList *list, const char *name);

/* True if the field is to be written for this snapshot. For a field of bodies the snapshot must have its array; speed
 * is left out if there is a velocity. For a field of contacts the snapshot must have all contacts, not chains only. */
bool talus_field_present(const TalusField *field, const TalusSnapshot *snapshot);
/* Returns the number of values per row: 3 for vectors, 4 for quaternions, else 1. */
int talus_field_components(const TalusField *field);
/* Returns the letters of the components, such as "xyz"; "" for a single component. */
const char *talus_field_letters(const TalusField *field);
/* Returns the number of bytes of a value of this type. */
size_t talus_field_type_size(TalusFieldType type);

/* Writes the values of one row (body or contact) into `out` in the field's type. Returns the number of bytes. */
size_t talus_field_write(const TalusField *field, const TalusFramesHead *head,
                         const TalusSnapshot *snapshot, int row, void *out);
/* Writes the values of one row as text, separated by `separator`; reals have 17 digits. Returns the length. */
size_t talus_field_print(const TalusField *field, const TalusFramesHead *head,
                         const TalusSnapshot *snapshot, int row, char separator,
                         char out[TALUS_FIELD_TEXT]);

/* Returns the kind of shape of the body in this row of the snapshot. */
static inline TalusShapeKind talus_frame_body_kind(const TalusFramesHead *head,
                                                   const TalusSnapshot *snapshot, int row)
{
    return head->shapes[snapshot->shape[row]].kind;
}

/* Returns the normal force of a contact, N: impulse over step length; 0 if the length is 0. */
double talus_snapshot_contact_force(const TalusSnapshot *snapshot, int contact);

/* A list of bodies or contacts by their rows in a snapshot. Starts zeroed; its memory is reused from frame to frame. */
typedef struct TalusRows {
    int *row;
    int count;
} TalusRows;

/* Lists the bodies that a viewer may draw as balls of their bounding radius. Leaves out planes, whose radius is 0, and
 * walls of revolution, meshes and height fields, whose balls would hide all bodies inside. */
TalusStatus talus_rows_collect_bodies(TalusRows *rows, const TalusFramesHead *head,
                                      const TalusSnapshot *snapshot);
void talus_rows_free(TalusRows *rows);

#endif
