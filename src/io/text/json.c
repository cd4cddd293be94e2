/* io/text/json.c - JSON reader: recursive descent over bytes, one node per value. */
#include "io/text/json.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

const char *talus_json_kind_name(TalusJsonKind kind)
{
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[kind];
}

const char *talus_json_printable(const char *text, char shown[TALUS_JSON_PRINTABLE_BYTES])
{
    enum { KEPT_BYTES = TALUS_JSON_PRINTABLE_BYTES - 4 };
    size_t n = strlen(text), cut = n;
    if (n > KEPT_BYTES)
        for (cut = KEPT_BYTES; cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80; cut--) {
        } /* back to the start of a UTF-8 character */
    for (size_t i = 0; i < cut; i++)
        shown[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i];
    strcpy(shown + cut, cut < n ? "..." : "");
    return shown;
}

void talus_json_write_path(const TalusJson *node, char *text, size_t size)
{
    const TalusJson *chain[TALUS_JSON_DEPTH + 2];
    int n = 0;
    for (; node && node->parent && n < TALUS_JSON_DEPTH + 2; node = node->parent)
        chain[n++] = node;
    size_t used = 0;
    text[0] = '\0';
    for (int i = n; i-- > 0 && used < size;) {
        char shown[TALUS_JSON_PRINTABLE_BYTES];
        int wrote = chain[i]->key ? snprintf(text + used, size - used, "%s%s", i < n - 1 ? "." : "",
                                             talus_json_printable(chain[i]->key, shown))
                                  : snprintf(text + used, size - used, "[%d]", chain[i]->index);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

enum { PATH_BYTES = 256 }; /* size of the path of a node in errors; longer ones are cut */

/* Returns the location of a node for errors, with the given line and column. Writes the path of the node to `path`, to
 * which the location points. */
static TalusLocation make_location(const TalusJson *node, int line, int column,
                                   char path[PATH_BYTES])
{
    talus_json_write_path(node, path, PATH_BYTES);
    TalusLocation at = {node->domain, node->source, line, column, path};
    return at;
}

void talus_json_write_location(const TalusJson *node, char *text, size_t size)
{
    char path[PATH_BYTES];
    talus_location_text(make_location(node, node->line, node->column, path), text, size);
}

/* Fails with the location of `node`, but at this line and column. */
static TalusStatus fail_at_position(const TalusJson *node, int line, int column,
                                    const char *message)
{
    char path[PATH_BYTES];
    return talus_fail_at(make_location(node, line, column, path), TALUS_ERR_FORMAT, "%s", message);
}

TalusStatus talus_json_error_at(const TalusJson *node, TalusStatus status)
{
    char path[PATH_BYTES];
    if (status == TALUS_ERR_MEMORY)
        return status;
    return talus_error_at(make_location(node, node->line, node->column, path), status);
}

TalusStatus talus_json_fail(const TalusJson *node, int shift, const char *format, ...)
{
    char message[640];
    TALUS_FORMAT(message, format);
    return fail_at_position(node, node->line, node->column + shift, message);
}

TalusStatus talus_json_fail_key(const TalusJson *node, const char *format, ...)
{
    char message[640];
    TALUS_FORMAT(message, format);
    bool keyed = node->key && node->key_line;
    return fail_at_position(node, keyed ? node->key_line : node->line,
                            keyed ? node->key_column : node->column, message);
}

/* ---- numbers ---- */

/* Returns the number of consecutive digits from offset `at` on. */
static size_t count_digits(const char *text, size_t length, size_t at)
{
    size_t n = 0;
    while (at + n < length && text[at + n] >= '0' && text[at + n] <= '9')
        n++;
    return n;
}

size_t talus_number_length(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-', n = count_digits(text, length, at);
    if (n == 0)
        return 0;
    at += text[at] == '0' ? 1 : n;
    if (at < length && text[at] == '.') {
        n = count_digits(text, length, at + 1);
        if (n == 0)
            return 0;
        at += 1 + n;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        size_t sign = at + 1 < length && (text[at + 1] == '+' || text[at + 1] == '-');
        n = count_digits(text, length, at + 1 + sign);
        if (n == 0)
            return 0;
        at += 1 + sign + n;
    }
    return at;
}

bool talus_number_parse(const char *text, size_t length, double *value)
{
    char copy[160];
    const char *point =
        localeconv()
            ->decimal_point; /* strtod expects that of the locale, which a host program may set */
    size_t used = 0, width = strlen(point);
    for (size_t i = 0; i < length; i++) {
        if (used + width + 1 >= sizeof copy)
            return false;
        if (text[i] == '.') {
            memcpy(copy + used, point, width);
            used += width;
        } else
            copy[used++] = text[i];
    }
    copy[used] = '\0';
    *value = strtod(copy, NULL);
    return isfinite(*value);
}

/* ---- characters ---- */

/* Accepts the byte sequences of table 3-7 of the Unicode standard. */
size_t talus_utf8_length(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (n == 1)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4 || length < n)
        return 0;
    unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

/* ---- reader ---- */

/* State of a parse. */
typedef struct Reader {
    TalusArena *arena;         /* for the nodes and their strings */
    TalusDomain domain;        /* of errors */
    const char *text, *source; /* source: for messages */
    size_t length, at;         /* bytes of `text`; offset of the next one */
    int line, column, depth;   /* position of the next byte; nesting of arrays and objects */
    bool positions;            /* store lines and columns in nodes and errors */
} Reader;

/* Line and column in the text, from 1. */
typedef struct Position {
    int line, column;
} Position;

static Position current_position(const Reader *r)
{
    Position position = {r->line, r->column};
    return position;
}

static TalusStatus fail_reading(const Reader *r, Position position, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* Fails at a position of the text, which the error has only if r->positions is set. */
static TalusStatus fail_reading(const Reader *r, Position position, const char *format, ...)
{
    char message[320];
    TALUS_FORMAT(message, format);
    TalusLocation at = {r->domain, r->source, 0, 0, NULL};
    if (r->positions) {
        at.line = position.line;
        at.column = position.column;
    }
    return talus_fail_at(at, TALUS_ERR_FORMAT, "%s", message);
}

/* Returns the next byte, or -1 at the end. */
static int peek(const Reader *r)
{
    return r->at < r->length ? (unsigned char)r->text[r->at] : -1;
}

/* True if the rest of the text begins with `word`. */
static bool next_is(const Reader *r, const char *word)
{
    size_t n = strlen(word);
    return r->length - r->at >= n && memcmp(r->text + r->at, word, n) == 0;
}

/* Moves past one byte and updates line and column. Columns count characters: the second and later bytes of a UTF-8
 * character do not change the column. */
static void skip_byte(Reader *r)
{
    unsigned char c = (unsigned char)r->text[r->at++];
    if (c == '\n') {
        r->line++;
        r->column = 1;
    } else if ((c & 0xC0) != 0x80)
        r->column++;
}

/* Fails with "found ..., expected ..." at the next byte. */
static TalusStatus fail_expected(const Reader *r, const char *expected)
{
    int c = peek(r);
    if (c < 0)
        return fail_reading(r, current_position(r), "found the end of the %s, expected %s",
                            r->positions ? "file" : "value", expected);
    if (c > 0x20 && c < 0x7F)
        return fail_reading(r, current_position(r), "found '%c', expected %s", c, expected);
    return fail_reading(r, current_position(r), "found byte 0x%02x, expected %s", (unsigned)c,
                        expected);
}

/* Moves past one character; fails if its bytes are not UTF-8. */
static TalusStatus skip_character(Reader *r)
{
    size_t n = talus_utf8_length(r->text + r->at, r->length - r->at);
    if (n == 0)
        return fail_reading(r, current_position(r), "byte 0x%02x is not UTF-8", (unsigned)peek(r));
    while (n-- > 0)
        skip_byte(r);
    return TALUS_OK;
}

static TalusStatus skip_comment(Reader *r)
{
    Position start = current_position(r);
    if (next_is(r, "//")) {
        while (peek(r) >= 0 && peek(r) != '\n')
            TALUS_TRY(skip_character(r));
        return TALUS_OK;
    }
    skip_byte(r);
    skip_byte(r);
    while (!next_is(r, "*/")) {
        if (peek(r) < 0)
            return fail_reading(r, start, "this comment has no end, expected */");
        TALUS_TRY(skip_character(r));
    }
    skip_byte(r);
    skip_byte(r);
    return TALUS_OK;
}

static TalusStatus skip_space_and_comments(Reader *r)
{
    for (;;) {
        int c = peek(r);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            skip_byte(r);
        else if (next_is(r, "//") || next_is(r, "/*"))
            TALUS_TRY(skip_comment(r));
        else
            return TALUS_OK;
    }
}

/* Reads four hexadecimal digits. */
static TalusStatus read_hex4(Reader *r, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(r);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return fail_expected(r, "four hexadecimal digits after \\u");
        *value = *value * 16 + (unsigned)digit;
        skip_byte(r);
    }
    return TALUS_OK;
}

/* Writes a code point as UTF-8; returns the number of bytes. */
static size_t encode_utf8(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[n] | code);
    return n;
}

/* Reads one code point after "\u", which may take two escapes (a surrogate pair), and appends it to `out` as UTF-8.
 * `start`: position of the escape, for messages. */
static TalusStatus read_unicode(Reader *r, Position start, char *out, size_t *used)
{
    unsigned code, low;
    TALUS_TRY(read_hex4(r, &code));
    if (code >= 0xD800 && code < 0xDC00 && next_is(r, "\\u")) {
        skip_byte(r);
        skip_byte(r);
        TALUS_TRY(read_hex4(r, &low));
        if (low < 0xDC00 || low > 0xDFFF)
            return fail_reading(r, start, "a high surrogate must be followed by a low one");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000)
        return fail_reading(r, start, "a lone surrogate is no character");
    if (code == 0)
        return fail_reading(r, start, "U+0000 is not allowed in a string");
    *used += encode_utf8(code, out + *used);
    return TALUS_OK;
}

/* Reads an escape from its backslash on and appends the character to `out` as UTF-8. */
static TalusStatus read_escape(Reader *r, char *out, size_t *used)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    Position start = current_position(r);
    skip_byte(r);
    int c = peek(r);
    const char *known = c > 0 ? strchr(names, c) : NULL;
    if (c != 'u' && !known)
        return fail_expected(r, "one of \" \\ / b f n r t u after \\");
    skip_byte(r);
    if (c == 'u')
        return read_unicode(r, start, out, used);
    out[(*used)++] = values[known - names];
    return TALUS_OK;
}

/* Returns the number of bytes up to the closing quote or the end of the line, a bound on the length of the decoded
 * string. */
static size_t raw_string_length(const Reader *r)
{
    size_t i = r->at;
    while (i < r->length && r->text[i] != '"' && r->text[i] != '\n')
        i += 1 + (r->text[i] == '\\');
    return (i < r->length ? i : r->length) - r->at;
}

/* Reads a string from its opening quote on; *out is in the arena. */
static TalusStatus read_string(Reader *r, const char **out)
{
    Position start = current_position(r);
    skip_byte(r);
    char *text;
    size_t used = 0;
    TALUS_TRY(TALUS_ARENA_ALLOC(r->arena, text, raw_string_length(r) + 1));
    while (peek(r) != '"') {
        int c = peek(r);
        if (c < 0 || c == '\n' || c == '\r')
            return fail_reading(r, start, "this string has no end, expected \" on the same line");
        if (c < 0x20)
            return fail_reading(r, current_position(r), "byte 0x%02x must be written as an escape",
                                (unsigned)c);
        if (c == '\\') {
            TALUS_TRY(read_escape(r, text, &used));
        } else {
            size_t from = r->at;
            TALUS_TRY(skip_character(r));
            memcpy(text + used, r->text + from, r->at - from);
            used += r->at - from;
        }
    }
    skip_byte(r);
    text[used] = '\0';
    *out = text;
    return TALUS_OK;
}

static TalusStatus read_number(Reader *r, TalusJson *node)
{
    const char *text = r->text + r->at;
    size_t n = talus_number_length(text, r->length - r->at);
    if (n == 0)
        return fail_reading(r, current_position(r),
                            "a malformed number, expected such as -1, 0.5 or 2e-3");
    if (!talus_number_parse(text, n, &node->number))
        return fail_reading(r, current_position(r), "a number too large or too long");
    node->kind = TALUS_JSON_NUMBER;
    while (n-- > 0)
        skip_byte(r);
    return TALUS_OK;
}

static TalusStatus read_true_false_null(Reader *r, TalusJson *node)
{
    static const struct {
        const char *text;
        TalusJsonKind kind;
    } words[] = {{"true", TALUS_JSON_TRUE}, {"false", TALUS_JSON_FALSE}, {"null", TALUS_JSON_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (next_is(r, words[i].text)) {
            node->kind = words[i].kind;
            for (size_t n = strlen(words[i].text); n > 0; n--)
                skip_byte(r);
            return TALUS_OK;
        }
    return fail_expected(r, "a value");
}

/* Allocates a node in the arena, without content and outside the tree. */
static TalusStatus new_node(Reader *r, TalusJson **out)
{
    TALUS_TRY(TALUS_ARENA_ALLOC(r->arena, *out, 1));
    (*out)->domain = r->domain;
    (*out)->source = r->source;
    return TALUS_OK;
}

static TalusStatus read_value(Reader *r, TalusJson *node);

/* Reads key and colon of `child`, a member of `parent` that is not yet appended; fails on a key that `parent` has, and
 * if `parent` has TALUS_JSON_KEYS members. */
static TalusStatus read_key(Reader *r, const TalusJson *parent, TalusJson *child)
{
    if (peek(r) != '"')
        return fail_expected(r, "a key in quotes or '}'");
    Position position = current_position(r);
    TALUS_TRY(read_string(r, &child->key));
    if (r->positions) {
        child->key_line = position.line;
        child->key_column = position.column;
    }
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    const TalusJson *twin = talus_json_get(parent, child->key);
    if (twin)
        return fail_reading(r, position, "key '%s' is given twice, first in line %d",
                            talus_json_printable(child->key, shown), twin->key_line);
    if (parent->count == TALUS_JSON_KEYS)
        return fail_reading(r, position, "more than %d keys in one object", TALUS_JSON_KEYS);
    TALUS_TRY(skip_space_and_comments(r));
    if (peek(r) != ':')
        return fail_expected(r, "':'");
    skip_byte(r);
    return skip_space_and_comments(r);
}

/* Reads the members of an object or the elements of an array, with both brackets; `close` is the closing one. */
static TalusStatus read_children(Reader *r, TalusJson *parent, int close)
{
    skip_byte(r);
    TALUS_TRY(skip_space_and_comments(r));
    while (peek(r) != close) {
        TalusJson *child;
        TALUS_TRY(new_node(r, &child));
        if (parent->kind == TALUS_JSON_OBJECT)
            TALUS_TRY(read_key(r, parent, child));
        TALUS_TRY(read_value(r, child));
        talus_json_append(parent, child);
        TALUS_TRY(skip_space_and_comments(r));
        if (peek(r) == ',') {
            skip_byte(r);
            TALUS_TRY(skip_space_and_comments(r));
        } else if (peek(r) != close)
            return fail_expected(r, close == ']' ? "',' or ']'" : "',' or '}'");
    }
    skip_byte(r);
    return TALUS_OK;
}

/* Reads an array or object with its children; fails if it is nested too deep. */
static TalusStatus read_array_or_object(Reader *r, TalusJson *node, TalusJsonKind kind, int close)
{
    node->kind = kind;
    if (++r->depth > TALUS_JSON_DEPTH)
        return fail_reading(r, current_position(r), "nested deeper than %d levels",
                            TALUS_JSON_DEPTH);
    TALUS_TRY(read_children(r, node, close));
    r->depth--;
    return TALUS_OK;
}

/* Reads a value of any kind into `node` and sets its position if r->positions. */
static TalusStatus read_value(Reader *r, TalusJson *node)
{
    if (r->positions) {
        node->line = r->line;
        node->column = r->column;
    }
    int c = peek(r);
    if (c == '{')
        return read_array_or_object(r, node, TALUS_JSON_OBJECT, '}');
    if (c == '[')
        return read_array_or_object(r, node, TALUS_JSON_ARRAY, ']');
    if (c == '"') {
        node->kind = TALUS_JSON_STRING;
        return read_string(r, &node->text);
    }
    if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'))
        return read_number(r, node);
    return read_true_false_null(r, node);
}

TalusStatus talus_json_parse(TalusArena *arena, const char *text, size_t length, const char *source,
                             bool positions, TalusJson **out)
{
    return talus_json_parse_in(TALUS_DOMAIN_IO, arena, text, length, source, positions, out);
}

TalusStatus talus_json_parse_in(TalusDomain domain, TalusArena *arena, const char *text,
                                size_t length, const char *source, bool positions, TalusJson **out)
{
    Reader r = {.arena = arena,
                .domain = domain,
                .text = text,
                .source = source,
                .length = length,
                .line = 1,
                .column = 1,
                .positions = positions};
    if (next_is(&r, "\xEF\xBB\xBF"))
        r.at = 3; /* a byte order mark */
    TalusJson *root;
    TALUS_TRY(new_node(&r, &root));
    TALUS_TRY(skip_space_and_comments(&r));
    TALUS_TRY(read_value(&r, root));
    TALUS_TRY(skip_space_and_comments(&r));
    if (peek(&r) >= 0)
        return fail_expected(&r, "the end of the file");
    *out = root;
    return TALUS_OK;
}

/* ---- tree ---- */

const TalusJson *talus_json_get_or_self(const TalusJson *object, const char *key)
{
    const TalusJson *value = talus_json_get(object, key);
    return value ? value : object;
}

TalusJson *talus_json_get(const TalusJson *object, const char *key)
{
    TalusJson *child = object->kind == TALUS_JSON_OBJECT ? object->first : NULL;
    while (child && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

void talus_json_append(TalusJson *parent, TalusJson *child)
{
    child->parent = parent;
    child->index = parent->count++;
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

void talus_json_remove(TalusJson *parent, TalusJson *child)
{
    TalusJson *before = NULL;
    for (TalusJson *c = parent->first; c && c != child; c = c->next)
        before = c;
    if (before)
        before->next = child->next;
    else
        parent->first = child->next;
    if (parent->last == child)
        parent->last = before;
    parent->count--;
    for (TalusJson *c = child->next; c; c = c->next)
        c->index--;
}

void talus_json_replace(TalusJson *node, const TalusJson *value)
{
    TalusJson kept = *node;
    *node = *value;
    node->key = kept.key;
    node->key_line = value->line ? kept.key_line : 0;
    node->key_column = kept.key_column;
    node->index = kept.index;
    node->parent = kept.parent;
    node->next = kept.next;
    for (TalusJson *c = node->first; c; c = c->next)
        c->parent = node;
}
