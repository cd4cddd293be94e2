/* io/formats/fields.h - what is known of a body or a contact, under the names that files use.
 *
 * One table for all formats, so that a field has the same name, meaning and precision wherever it is
 * written. Names follow the draft of the DEM community (ON-DEM): snake_case, w x y z. */
#ifndef TALUS_IO_FORMATS_FIELDS_H
#define TALUS_IO_FORMATS_FIELDS_H

#include <talus/frames.h>

/* How binary formats store a value; text formats write all digits of it. */
typedef enum TalusFieldType {
    TALUS_FIELD_F64,
    TALUS_FIELD_F32,
    TALUS_FIELD_I64,
    TALUS_FIELD_I32,
    TALUS_FIELD_U8
} TalusFieldType;

/* Where the value is found: an element of an array of the snapshot, or made from several. */
typedef enum TalusFieldSource {
    TALUS_SOURCE_ID,
    TALUS_SOURCE_VEC3,
    TALUS_SOURCE_QUAT,
    TALUS_SOURCE_REAL,
    TALUS_SOURCE_INT,
    TALUS_SOURCE_FLAG,
    TALUS_SOURCE_SHAPE_KIND, /* of a body's shape */
    TALUS_SOURCE_FORCE,      /* of a contact: impulse over the length of the step */
    TALUS_SOURCE_NORMAL_FORCE
} TalusFieldSource;

typedef struct TalusField {
    const char *name;
    TalusFieldType type;
    TalusFieldSource source;
    size_t offset; /* bodies: of the array's pointer in TalusSnapshot; contacts: of the member */
    bool contact;
    bool lasting; /* never changes during a body's life */
} TalusField;

enum { TALUS_FIELD_BYTES = 32, TALUS_FIELD_TEXT = 128 }; /* more than any tuple needs */

/* Every body's field begins with body_id, position, radius; every contact's with id1, id2, point. */
extern const TalusField talus_fields_of_body[];
extern const int talus_fields_of_body_count;
extern const TalusField talus_fields_of_contact[];
extern const int talus_fields_of_contact_count;

/* NULL if there is none of that name. */
const TalusField *talus_field_of_body(const char *name);
const TalusField *talus_field_of_contact(const char *name);

/* Whether the snapshot holds it. */
bool talus_field_present(const TalusField *field, const TalusSnapshot *snapshot);
int talus_field_components(const TalusField *field);
/* Letters of the components, such as "xyz"; "" for a single one. */
const char *talus_field_letters(const TalusField *field);
size_t talus_field_type_size(TalusFieldType type);

/* The tuple of a row (a body's or a contact's) as `type` says; returns its bytes. */
size_t talus_field_put(const TalusField *field, const TalusFramesHead *head,
                       const TalusSnapshot *snapshot, int row, void *out);
/* The same as text, components with `separator` between; returns its length. */
size_t talus_field_print(const TalusField *field, const TalusFramesHead *head,
                         const TalusSnapshot *snapshot, int row, char separator,
                         char out[TALUS_FIELD_TEXT]);

static inline TalusShapeKind talus_body_kind(const TalusFramesHead *head,
                                             const TalusSnapshot *snapshot, int row)
{
    return head->shapes[snapshot->shape[row]].kind;
}

/* Newtons; what an impulse over no time would be is 0. */
double talus_contact_force(const TalusSnapshot *snapshot, int contact);

/* A list of rows that keeps its memory from frame to frame; starts zeroed. */
typedef struct TalusRows {
    int *row;
    int count;
} TalusRows;

/* All bodies but planes, which have no extent, and revolved walls, meshes and fields, which as a ball of
 * their radius would hide all they contain. */
TalusStatus talus_rows_of_bodies(TalusRows *rows, const TalusFramesHead *head,
                                 const TalusSnapshot *snapshot);
void talus_rows_free(TalusRows *rows);

#endif
