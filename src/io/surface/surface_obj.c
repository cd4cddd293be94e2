/* io/surface/surface_obj.c - reader of Wavefront OBJ files: lines "v x y z ..." and "f i/j/k ...". Other lines
 * (normals, textures, materials, groups, lines, curves) are ignored. */
#include "base/memory.h"
#include "io/surface/surface.h"
#include "io/surface/surface_text.h"

#include <string.h>

/* A face of the file. */
typedef struct Polygon {
    int32_t *corner; /* [count]: indices of vertices, from 0 */
    int count;
} Polygon;

/* Reads x, y and z of a vertex and adds it. */
static TalusStatus read_vertex(TalusSoup *soup, TalusWords *words)
{
    double x[3];
    char shown[TALUS_WORD_PRINTABLE_BYTES];
    for (int k = 0; k < 3; k++) {
        if (!talus_words_next(words))
            return talus_words_fail(words, "a vertex of %d coordinates; it needs x, y and z", k);
        if (!talus_words_parse_number(words, &x[k]) || !talus_soup_accepts_coordinate(x[k]))
            return talus_words_fail(words,
                                    "coordinate %c is \"%s\"; it must be a finite number of "
                                    "moderate size",
                                    'x' + k, talus_words_printable(words, shown));
    }
    return talus_soup_add_vertex(soup, talus_vec3(x[0], x[1], x[2]));
}

/* Sets *index, from 0, to the vertex of a word "7", "7/1", "7//3" or "-2/...": the number before the first slash, where
 * 1 is the first vertex of the file and -1 the last so far. */
static TalusStatus read_vertex_index(const TalusSoup *soup, const TalusWords *words, int32_t *index)
{
    char shown[TALUS_WORD_PRINTABLE_BYTES];
    const char *slash = memchr(words->word, '/', words->length);
    TalusWords number = *words;
    double value;
    number.length = slash ? (size_t)(slash - words->word) : words->length;
    if (!talus_words_parse_number(&number, &value) || value != floor(value) || value == 0.0)
        return talus_words_fail(words, "\"%s\" is not the number of a vertex",
                                talus_words_printable(words, shown));
    double from_zero = value > 0.0 ? value - 1.0 : soup->vertices + value;
    if (!(from_zero >= 0.0 && from_zero < soup->vertices))
        return talus_words_fail(words, "a face has vertex %.17g; there are %d so far", value,
                                soup->vertices);
    *index = (int32_t)from_zero;
    return TALUS_OK;
}

/* Reads the corners of a face into `polygon`, whose memory is reused, and adds its triangles. */
static TalusStatus read_face(TalusSoup *soup, TalusWords *words, Polygon *polygon)
{
    bool cut;
    polygon->count = 0;
    while (talus_words_next(words) && words->word[0] != '#') {
        TALUS_TRY(TALUS_GROW(polygon->corner, (size_t)polygon->count + 1, (size_t)polygon->count,
                             "corners of a face"));
        TALUS_TRY(read_vertex_index(soup, words, &polygon->corner[polygon->count]));
        polygon->count++;
    }
    if (polygon->count < 3)
        return talus_words_fail(words, "a face of %d vertices; it needs at least 3",
                                polygon->count);
    TALUS_TRY(talus_polygon_triangulate(soup, polygon->corner, polygon->count, &cut));
    return cut ? TALUS_OK
               : talus_words_fail(words,
                                  "a face of %d vertices that is not convex; triangulate it in the "
                                  "program that wrote the file",
                                  polygon->count);
}

/* Reads all lines of the file; ignores those that begin with neither "v" nor "f". */
static TalusStatus read_lines(TalusSoup *soup, TalusWords *words, Polygon *polygon)
{
    do {
        if (!talus_words_next(words))
            continue;
        if (talus_words_equal(words, "v"))
            TALUS_TRY(read_vertex(soup, words));
        else if (talus_words_equal(words, "f"))
            TALUS_TRY(read_face(soup, words, polygon));
    } while (talus_words_next_line(words));
    return TALUS_OK;
}

TalusStatus talus_obj_read(TalusSoup *soup, const char *text, size_t size)
{
    TalusWords words = {
        .name = soup->name, .at = text, .end = text + size, .line = 1, .stop_at_lines = true};
    Polygon polygon = {0};
    TalusStatus status = read_lines(soup, &words, &polygon);
    talus_release(polygon.corner);
    return status;
}
