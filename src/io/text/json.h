/* io/text/json.h - a strict JSON reader that keeps the place of every key and value.
 *
 * JSON as in RFC 8259, plus line and block comments and trailing commas. Duplicate keys, malformed
 * UTF-8, U+0000 in strings, numbers beyond double and nesting deeper than TALUS_JSON_DEPTH are
 * errors. The tree, and whatever else its owner puts there, lives in one arena. */
#ifndef TALUS_IO_TEXT_JSON_H
#define TALUS_IO_TEXT_JSON_H

#include "base/status.h"
#include "io/scene/scene_arena.h"

#include <talus/base.h>

enum { TALUS_JSON_DEPTH = 64, TALUS_JSON_KEYS = 1000, TALUS_JSON_SHOWN = 64 };

typedef enum TalusJsonKind {
    TALUS_JSON_NULL,
    TALUS_JSON_FALSE,
    TALUS_JSON_TRUE,
    TALUS_JSON_NUMBER,
    TALUS_JSON_STRING,
    TALUS_JSON_ARRAY,
    TALUS_JSON_OBJECT
} TalusJsonKind;

typedef struct TalusJson TalusJson;
struct TalusJson {
    TalusJsonKind kind;
    TalusDomain domain;             /* of errors in it */
    const char *source;             /* the file's name, or the whole of "--set name=value" */
    int line, column;               /* of the value, from 1; line 0: the source has no lines */
    int key_line, key_column;       /* of the key, in an object */
    const char *key;                /* in an object, else NULL */
    int index;                      /* in the parent */
    TalusJson *parent;              /* NULL at the root */
    TalusJson *first, *last, *next; /* children in file order, next sibling */
    int count;                      /* children */
    double number;
    const char *text; /* of a string, NUL-terminated UTF-8 */
};

/* `source` must outlive the tree. Without `positions` messages and values carry no line. Errors are of the
 * domain io. */
TalusStatus talus_json_parse(TalusArena *arena, const char *text, size_t length, const char *source,
                             bool positions, TalusJson **out);
/* The same for errors of another domain. */
TalusStatus talus_json_parse_in(TalusDomain domain, TalusArena *arena, const char *text,
                                size_t length, const char *source, bool positions, TalusJson **out);

/* The member `key` of an object, or NULL. */
TalusJson *talus_json_get(const TalusJson *object, const char *key);
/* The place to blame for a key: its value where given, else the object. */
const TalusJson *talus_json_at(const TalusJson *object, const char *key);
/* Makes `child` the last member (with its key set) or element of `parent`. */
void talus_json_append(TalusJson *parent, TalusJson *child);
void talus_json_remove(TalusJson *parent, TalusJson *child);
/* Puts the content and the source of `value` in the place of `node`, which keeps its key. */
void talus_json_replace(TalusJson *node, const TalusJson *value);

/* "bodies[1].radius"; "" for the root. */
void talus_json_path(const TalusJson *node, char *text, size_t size);
/* "FILE:LINE:COLUMN: key.path: ", as messages begin. */
void talus_json_location(const TalusJson *node, char *text, size_t size);
/* "a number", "an object": for messages. */
const char *talus_json_kind_name(TalusJsonKind kind);
/* A piece of user text fit for a message: control bytes replaced, cut to TALUS_JSON_SHOWN bytes. */
const char *talus_json_print_value(const char *text, char shown[TALUS_JSON_SHOWN]);

/* Fails with TALUS_ERR_FORMAT: "FILE:LINE:COLUMN: key.path: ...", `shift` columns after the value's
 * first. */
TalusStatus talus_json_fail(const TalusJson *node, int shift, const char *format, ...)
    TALUS_PRINTF(3, 4);
/* The same at the key of the value. */
TalusStatus talus_json_fail_key(const TalusJson *node, const char *format, ...) TALUS_PRINTF(2, 3);
/* Adds the location of the value to the error of a call that has failed with `status`, which is returned. Being
 * out of memory has nothing to do with the value. */
TalusStatus talus_json_error_at(const TalusJson *node, TalusStatus status);

/* Length of the JSON number at the start of the text, 0 if there is none. */
size_t talus_number_scan(const char *text, size_t length);
/* The value of such a number, whatever the locale; false when it is too long or overflows. */
bool talus_number_value(const char *text, size_t length, double *value);

#endif
