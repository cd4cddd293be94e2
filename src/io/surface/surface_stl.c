/* io/surface/surface_stl.c - reader of STL files.
 *
 * Binary: 80 arbitrary bytes, the number of triangles as uint32, then 50 bytes for each triangle: normal and three
 * corners as float32, and two bytes. Text: "solid NAME", facets, "endsolid", any number of times. Normals are ignored:
 * many programs write zeros, and the order of the corners gives the normal. */
#include "base/memory.h"
#include "io/surface/surface.h"
#include "io/surface/surface_text.h"

#include <string.h>

enum { HEAD = 84, RECORD = 50 }; /* bytes of a binary file before the triangles; per triangle */

/* Returns the number of triangles that the header of a binary file gives. */
static uint32_t count_triangles(const unsigned char *bytes)
{
    uint32_t count;
    memcpy(&count, bytes + 80, sizeof count);
    return count;
}

bool talus_stl_is_binary(const unsigned char *bytes, size_t size)
{
    return size >= HEAD && size == HEAD + (uint64_t)RECORD * count_triangles(bytes);
}

bool talus_stl_is_text(const char *text, size_t size)
{
    TalusWords words = {.at = text, .end = text + size, .line = 1};
    return talus_words_next(&words) && talus_words_equal(&words, "solid");
}

/* ---- binary ---- */

/* Fails if the file is too short for its triangles or has too many; warns of bytes after the last triangle. */
static TalusStatus check_size(const char *name, const unsigned char *bytes, size_t size)
{
    if (size < HEAD)
        return talus_fail_file(
            name, TALUS_ERR_FORMAT,
            "has %zu bytes; a binary STL file has at least %d, and this is not a "
            "text that starts with \"solid\" either",
            size, (int)HEAD);
    uint64_t need = HEAD + (uint64_t)RECORD * count_triangles(bytes);
    if (size < need)
        return talus_fail_file(name, TALUS_ERR_FORMAT,
                               "byte 80 tells of %u triangles, which take %llu bytes; the file has "
                               "%zu",
                               count_triangles(bytes), (unsigned long long)need, size);
    if (count_triangles(bytes) > TALUS_SURFACE_TRIANGLES)
        return talus_fail_file(name, TALUS_ERR_UNSUPPORTED, "%u triangles; at most %d are read",
                               count_triangles(bytes), (int)TALUS_SURFACE_TRIANGLES);
    if (size > need)
        talus_log(TALUS_LOG_WARNING, "surface.trailing",
                  "%s: %llu bytes after the last triangle are not read", name,
                  (unsigned long long)(size - need));
    return TALUS_OK;
}

/* Adds the triangle of a record, with three vertices of its own. */
static TalusStatus read_record(TalusSoup *soup, const unsigned char *record, uint32_t index)
{
    float x[9];
    memcpy(x, record + 12, sizeof x);
    for (int k = 0; k < 9; k++) {
        if (!talus_soup_accepts_coordinate(x[k]))
            return talus_fail_file(
                soup->name, TALUS_ERR_FORMAT,
                "triangle %u (byte %llu): coordinate %c of corner %d is %g; it "
                "must be a finite number of moderate size",
                index, (unsigned long long)(HEAD + (uint64_t)RECORD * index + 12 + 4 * (uint64_t)k),
                'x' + k % 3, k / 3, (double)x[k]);
    }
    int32_t first = soup->vertices;
    for (int k = 0; k < 3; k++)
        TALUS_TRY(talus_soup_add_vertex(soup, talus_vec3(x[3 * k], x[3 * k + 1], x[3 * k + 2])));
    return talus_soup_add_triangle(soup, first, first + 1, first + 2);
}

TalusStatus talus_stl_read_binary(TalusSoup *soup, const unsigned char *bytes, size_t size)
{
    TALUS_TRY(check_size(soup->name, bytes, size));
    uint32_t count = count_triangles(bytes);
    TALUS_TRY(TALUS_GROW(soup->vertex, 3 * (size_t)count, 0, "corners"));
    TALUS_TRY(TALUS_GROW(soup->triangle, 3 * (size_t)count, 0, "triangles"));
    for (uint32_t i = 0; i < count; i++)
        TALUS_TRY(read_record(soup, bytes + HEAD + (size_t)RECORD * i, i));
    return TALUS_OK;
}

/* ---- text ---- */

/* Moves to the next word; fails if it is not `text`. */
static TalusStatus expect_word(TalusWords *words, const char *text)
{
    char shown[TALUS_WORD_PRINTABLE_BYTES];
    if (!talus_words_next(words))
        return talus_words_fail(words, "the file ends where \"%s\" is expected", text);
    if (!talus_words_equal(words, text))
        return talus_words_fail(words, "\"%s\" where \"%s\" is expected",
                                talus_words_printable(words, shown), text);
    return TALUS_OK;
}

/* Reads the next word as a coordinate; `axis` is for messages. */
static TalusStatus read_coordinate(TalusWords *words, char axis, double *value)
{
    char shown[TALUS_WORD_PRINTABLE_BYTES];
    if (!talus_words_next(words))
        return talus_words_fail(words, "the file ends where coordinate %c is expected", axis);
    if (!talus_words_parse_number(words, value) || !talus_soup_accepts_coordinate(*value))
        return talus_words_fail(words,
                                "coordinate %c is \"%s\"; it must be a finite number of moderate "
                                "size",
                                axis, talus_words_printable(words, shown));
    return TALUS_OK;
}

/* Reads "vertex x y z" and adds the vertex. */
static TalusStatus read_corner(TalusSoup *soup, TalusWords *words)
{
    TalusVec3 x;
    TALUS_TRY(expect_word(words, "vertex"));
    TALUS_TRY(read_coordinate(words, 'x', &x.x));
    TALUS_TRY(read_coordinate(words, 'y', &x.y));
    TALUS_TRY(read_coordinate(words, 'z', &x.z));
    return talus_soup_add_vertex(soup, x);
}

/* Reads a facet after its first word and adds its triangle. Its normal may be any three words. */
static TalusStatus read_facet(TalusSoup *soup, TalusWords *words)
{
    TALUS_TRY(expect_word(words, "normal"));
    for (int k = 0; k < 3; k++)
        talus_words_next(words);
    TALUS_TRY(expect_word(words, "outer"));
    TALUS_TRY(expect_word(words, "loop"));
    int32_t first = soup->vertices;
    for (int k = 0; k < 3; k++)
        TALUS_TRY(read_corner(soup, words));
    TALUS_TRY(expect_word(words, "endloop"));
    TALUS_TRY(expect_word(words, "endfacet"));
    return talus_soup_add_triangle(soup, first, first + 1, first + 2);
}

TalusStatus talus_stl_read_text(TalusSoup *soup, const char *text, size_t size)
{
    TalusWords words = {.name = soup->name, .at = text, .end = text + size, .line = 1};
    char shown[TALUS_WORD_PRINTABLE_BYTES];
    bool within = false;
    while (talus_words_next(&words)) {
        if (!within && talus_words_equal(&words, "solid")) {
            within = true;
            talus_words_next_line(&words); /* the name may have several words */
        } else if (within && talus_words_equal(&words, "facet")) {
            TALUS_TRY(read_facet(soup, &words));
        } else if (within && talus_words_equal(&words, "endsolid")) {
            within = false;
            talus_words_next_line(&words);
        } else {
            return talus_words_fail(&words, "\"%s\" where %s is expected",
                                    talus_words_printable(&words, shown),
                                    within ? "\"facet\" or \"endsolid\"" : "\"solid\"");
        }
    }
    if (within)
        return talus_words_fail(&words,
                                "the file ends where \"facet\" or \"endsolid\" is expected");
    return TALUS_OK;
}
