/* json_out.c - the JSON writer: encodes values and places commas. */
#include "json_out.h"

#include "io/file/file.h"
#include "io/text/json.h"
#include "io/text/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes ---- */

static void flush_buffer(JsonOut *json)
{
    if (json->used > 0)
        json->sink(json->user, json->buffer, json->used);
    json->used = 0;
}

/* Appends at most JSON_OUT_BUFFER bytes; passes the content of the buffer to the sink first if they do not fit. */
static void append_bytes(JsonOut *json, const char *bytes, size_t size)
{
    if (size > sizeof json->buffer - json->used)
        flush_buffer(json);
    assert(size <= sizeof json->buffer);
    memcpy(json->buffer + json->used, bytes, size);
    json->used += size;
}

static void append_text(JsonOut *json, const char *text)
{
    append_bytes(json, text, strlen(text));
}

void json_to_stream(void *user, const char *bytes, size_t size)
{
    fwrite(bytes, 1, size, user);
}

void json_to_file(void *user, const char *bytes, size_t size)
{
    talus_file_put(user, bytes, size);
}

void json_to_text(void *user, const char *bytes, size_t size)
{
    talus_text_put(user, bytes, size);
}

void json_start(JsonOut *json, JsonSink *sink, void *user)
{
    json->sink = sink;
    json->user = user;
    json->depth = 0;
    json->filled[0] = false;
    json->used = 0;
}

void json_finish(JsonOut *json)
{
    assert(json->depth == 0 && json->filled[0]);
    append_bytes(json, "\n", 1);
    flush_buffer(json);
}

/* ---- texts ---- */

/* Appends the text as a JSON string: in quotes, with escapes. */
static void append_quoted(JsonOut *json, const char *text)
{
    append_bytes(json, "\"", 1);
    for (const char *p = text, *end = p + strlen(p); p < end;) {
        size_t length = talus_utf8_length(p, (size_t)(end - p));
        if (length == 0) {
            append_text(json, "\\ufffd");
            length = 1;
        } else if (*p == '"' || *p == '\\') {
            char escaped[] = {'\\', *p};
            append_bytes(json, escaped, sizeof escaped);
        } else if ((unsigned char)*p < 0x20 || *p == '<') {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*p);
            append_text(json, escaped);
        } else {
            append_bytes(json, p, length);
        }
        p += length;
    }
    append_bytes(json, "\"", 1);
}

/* ---- values ---- */

/* Writes the comma and the key before a value. */
static void begin_value(JsonOut *json, const char *key)
{
    assert(json->depth > 0 || !json->filled[0]);
    if (json->filled[json->depth])
        append_bytes(json, key ? "," : ", ", key ? 1 : 2);
    json->filled[json->depth] = true;
    if (key) {
        append_bytes(json, "\n", 1);
        append_quoted(json, key);
        append_bytes(json, ": ", 2);
    }
}

static void open_level(JsonOut *json, const char *key, const char *bracket)
{
    begin_value(json, key);
    append_text(json, bracket);
    assert(json->depth < JSON_OUT_DEPTH);
    json->filled[++json->depth] = false;
}

static void close_level(JsonOut *json, const char *bracket)
{
    assert(json->depth > 0);
    json->depth--;
    append_text(json, bracket);
}

void json_open_object(JsonOut *json, const char *key)
{
    open_level(json, key, "{");
}

void json_close_object(JsonOut *json)
{
    close_level(json, "}");
}

void json_open_array(JsonOut *json, const char *key)
{
    open_level(json, key, "[");
}

void json_close_array(JsonOut *json)
{
    close_level(json, "]");
}

void json_write_text(JsonOut *json, const char *key, const char *text)
{
    if (!text) {
        json_write_null(json, key);
        return;
    }
    begin_value(json, key);
    append_quoted(json, text);
}

void json_write_real(JsonOut *json, const char *key, double value)
{
    if (!isfinite(value)) {
        json_write_null(json, key);
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    begin_value(json, key);
    append_text(json, text);
}

void json_write_int(JsonOut *json, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    begin_value(json, key);
    append_text(json, text);
}

void json_write_bool(JsonOut *json, const char *key, bool value)
{
    begin_value(json, key);
    append_text(json, value ? "true" : "false");
}

void json_write_null(JsonOut *json, const char *key)
{
    begin_value(json, key);
    append_text(json, "null");
}

void json_write_reals(JsonOut *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_write_real(json, NULL, values[i]);
    json_close_array(json);
}

void json_write_plotted(JsonOut *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++) {
        char text[32] = "null";
        const bool whole = values[i] == floor(values[i]) && fabs(values[i]) < 1e15;
        if (isfinite(values[i]))
            snprintf(text, sizeof text, whole ? "%.0f" : "%.5g", values[i]);
        append_text(json, i > 0 ? "," : "");
        append_text(json, text);
    }
    json_close_array(json);
}

void json_write_ints(JsonOut *json, const char *key, const int *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_write_int(json, NULL, values[i]);
    json_close_array(json);
}
