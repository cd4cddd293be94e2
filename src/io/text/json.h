/* io/text/json.h - a strict JSON reader that stores the location of every key and value.
 *
 * JSON as in RFC 8259, plus line and block comments and trailing commas. Duplicate keys, more than TALUS_JSON_KEYS keys
 * of an object, malformed UTF-8, U+0000 in strings, numbers that overflow double or have more than 158 characters, and
 * nesting deeper than TALUS_JSON_DEPTH are errors. The tree lives in an arena that its owner may use for other data
 * too. */
#ifndef TALUS_IO_TEXT_JSON_H
#define TALUS_IO_TEXT_JSON_H

#include "base/arena.h"
#include "base/status.h"

#include <talus/base.h>

enum {
    TALUS_JSON_DEPTH = 64,          /* maximum nesting of arrays and objects */
    TALUS_JSON_KEYS = 1000,         /* maximum of keys of an object */
    TALUS_JSON_PRINTABLE_BYTES = 64 /* size of the buffer for talus_json_printable */
};

typedef enum TalusJsonKind {
    TALUS_JSON_NULL,
    TALUS_JSON_FALSE,
    TALUS_JSON_TRUE,
    TALUS_JSON_NUMBER,
    TALUS_JSON_STRING,
    TALUS_JSON_ARRAY,
    TALUS_JSON_OBJECT
} TalusJsonKind;

/* A value of the tree. */
typedef struct TalusJson TalusJson;
struct TalusJson {
    TalusJsonKind kind;
    TalusDomain domain;       /* domain of errors about this value */
    const char *source;       /* file name, or the whole "--set name=value" */
    int line, column;         /* position of the value, from 1; line 0: the source has no lines */
    int key_line, key_column; /* position of the key of a member; key_line 0: unknown */
    const char *key;          /* key of a member of an object, else NULL */
    int index;                /* position among the children of the parent, from 0 */
    TalusJson *parent;        /* NULL at the root */
    TalusJson *first, *last, *next; /* children in file order, next sibling */
    int count;                      /* number of children */
    double number;                  /* value of a number */
    const char *text;               /* value of a string, NUL-terminated UTF-8 */
};

/* Parses a text into a tree in `arena`. `source`, for messages, must outlive the tree; `text` need not. With
 * `positions` false, values and messages have no line. Errors have the domain io. On failure *out is not set. */
TalusStatus talus_json_parse(TalusArena *arena, const char *text, size_t length, const char *source,
                             bool positions, TalusJson **out);
/* As talus_json_parse, with errors of the given domain. */
TalusStatus talus_json_parse_in(TalusDomain domain, TalusArena *arena, const char *text,
                                size_t length, const char *source, bool positions, TalusJson **out);

/* Returns the member `key` of an object, or NULL. */
TalusJson *talus_json_get(const TalusJson *object, const char *key);
/* Returns the member `key` if the object has it, else the object itself: the node to which an error refers. */
const TalusJson *talus_json_get_or_self(const TalusJson *object, const char *key);
/* Appends `child` as the last member (with its key set) or element of `parent`. */
void talus_json_append(TalusJson *parent, TalusJson *child);
/* Removes `child` from the children of `parent`; its memory stays in the arena. */
void talus_json_remove(TalusJson *parent, TalusJson *child);
/* Gives `node` the content, domain, source and position of `value`; its key and place in the tree stay. The children of
 * `value` become children of `node`. If `value` has no line, the position of the key counts as unknown too. */
void talus_json_replace(TalusJson *node, const TalusJson *value);

/* Writes the path of a node: "bodies[1].radius"; "" for the root. */
void talus_json_write_path(const TalusJson *node, char *text, size_t size);
/* Writes "FILE:LINE:COLUMN: key.path: ", without unknown parts, with which messages about the node begin. */
void talus_json_write_location(const TalusJson *node, char *text, size_t size);
/* Returns "a number", "an object" and so on, for messages. */
const char *talus_json_kind_name(TalusJsonKind kind);
/* Copies user text for a message and returns `shown`: control bytes become '?'; a text too long for the buffer is cut
 * between characters and ends in "...". */
const char *talus_json_printable(const char *text, char shown[TALUS_JSON_PRINTABLE_BYTES]);

/* Fails with TALUS_ERR_FORMAT: "FILE:LINE:COLUMN: key.path: ...", `shift` columns after the start of the value. */
TalusStatus talus_json_fail(const TalusJson *node, int shift, const char *format, ...)
    TALUS_PRINTF(3, 4);
/* As talus_json_fail, but located at the key of the node, if its position is known. */
TalusStatus talus_json_fail_key(const TalusJson *node, const char *format, ...) TALUS_PRINTF(2, 3);
/* Adds the location of the value to the error of a call that failed with `status`, and returns `status`. TALUS_OK and
 * out-of-memory errors, which the value does not cause, pass unchanged. */
TalusStatus talus_json_error_at(const TalusJson *node, TalusStatus status);

/* Returns the number of bytes of the UTF-8 character at the start of a text of `length` > 0 bytes; 0 if the bytes are
 * not well-formed UTF-8. */
size_t talus_utf8_length(const char *text, size_t length);
/* Returns the number of characters of the JSON number at the start of the text; 0 if there is no number or a malformed
 * one, such as "1.". */
size_t talus_number_length(const char *text, size_t length);
/* Sets *value to the JSON number of `length` characters, in any locale; false if the text is too long or the value
 * overflows. */
bool talus_number_parse(const char *text, size_t length, double *value);

#endif
