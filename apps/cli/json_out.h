/* json_out.h - streaming JSON writer for --json and for the report page.
 *
 * `key` is the name of a value in its object; it is NULL in an array and for the outermost value. The writer
 * keeps track of commas and nesting. Doubles are written so that reading restores the same bits; NaN and infinity,
 * absent from JSON, become null. In texts '<' is escaped, so that the output may stand in an HTML script element,
 * and bytes that are not UTF-8 become U+FFFD, so that any file name gives valid JSON. Writing never fails: the
 * sink, which receives the bytes, records its own failures. */
#ifndef TALUS_CLI_JSON_OUT_H
#define TALUS_CLI_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum nesting of objects and arrays; bytes of the buffer. */
enum { JSON_OUT_DEPTH = 16, JSON_OUT_BUFFER = 4096 };

/* Receives the next bytes of the output. */
typedef void JsonSink(void *user, const char *bytes, size_t size);

typedef struct JsonOut {
    JsonSink *sink;
    void *user;
    int depth;                       /* number of open objects and arrays */
    bool filled[JSON_OUT_DEPTH + 1]; /* true if the level has a value: the next one needs a comma */
    size_t used;                     /* bytes in `buffer` that the sink has not received yet */
    char buffer[JSON_OUT_BUFFER];
} JsonOut;

/* Prepares `json` to pass its output to `sink`, together with `user`. */
void json_start(JsonOut *json, JsonSink *sink, void *user);
/* Sinks for json_start; `user` is a FILE, a TalusFile or a TalusText. */
JsonSink json_to_stream, json_to_file, json_to_text;
/* Call after the outermost value: adds a line end and passes the rest of the buffer to the sink. */
void json_finish(JsonOut *json);

void json_open_object(JsonOut *json, const char *key);
void json_close_object(JsonOut *json);
void json_open_array(JsonOut *json, const char *key);
void json_close_array(JsonOut *json);

/* Write one value of the open object or array. A text that is NULL and a real that is not finite are written as
 * null. */
void json_write_text(JsonOut *json, const char *key, const char *text);
void json_write_real(JsonOut *json, const char *key, double value);
void json_write_int(JsonOut *json, const char *key, int64_t value);
void json_write_bool(JsonOut *json, const char *key, bool value);
void json_write_null(JsonOut *json, const char *key);

/* Write `count` values as an array. */
void json_write_reals(JsonOut *json, const char *key, const double *values, size_t count);
/* The same for a plot, on which more than five digits do not show, in few bytes; whole numbers stay exact. */
void json_write_plotted(JsonOut *json, const char *key, const double *values, size_t count);
void json_write_ints(JsonOut *json, const char *key, const int *values, size_t count);

#endif
