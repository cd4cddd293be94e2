/* io/surface/surface.c - surfaces from files: choice of the reader, and the stages common to all. */
#include "io/surface/surface.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const size_t file_limit = (size_t)1 << 34; /* bytes of the largest file that is read */

/* ---- choice of the reader ---- */

/* True if the name ends with the suffix, which is in lower case, ignoring case. */
static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    if (n < m)
        return false;
    for (size_t k = 0; k < m; k++) {
        char c = name[n - m + k];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != suffix[k])
            return false;
    }
    return true;
}

/* Reads a binary STL file, known by its size, an OBJ file, known by its name, or a text STL file, known by its first
 * word and by having no NUL; any other file as binary STL if its name ends with .stl, else as OBJ. */
static TalusStatus read_soup(TalusSoup *soup, const void *bytes, size_t size)
{
    if (size == 0)
        return talus_fail_file(soup->name, TALUS_ERR_FORMAT, "is empty");
    if (talus_stl_is_binary(bytes, size))
        return talus_stl_read_binary(soup, bytes, size);
    if (has_suffix(soup->name, ".obj"))
        return talus_obj_read(soup, bytes, size);
    if (talus_stl_is_text(bytes, size) && !memchr(bytes, 0, size))
        return talus_stl_read_text(soup, bytes, size);
    if (has_suffix(soup->name, ".stl"))
        return talus_stl_read_binary(soup, bytes, size);
    return talus_obj_read(soup, bytes, size);
}

/* ---- messages ---- */

/* Summary, in one line, of what was changed in the surface; truncated if too long. */
typedef struct Line {
    char text[400];
    size_t used;
} Line;

static void append_phrase(Line *line, const char *format, ...) TALUS_PRINTF(2, 3);

/* Appends formatted text to the line, after a comma if the line has text already. */
static void append_phrase(Line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t capacity = sizeof line->text - line->used;
    int n = snprintf(line->text + line->used, capacity, "%s", line->used ? ", " : "");
    if (n >= 0 && (size_t)n < capacity)
        n += vsnprintf(line->text + line->used + n, capacity - (size_t)n, format, args);
    line->used += n >= 0 && (size_t)n < capacity ? (size_t)n : capacity - 1;
    va_end(args);
}

/* Logs a warning of what was changed in the surface, and a note of parts that are not closed. */
static void log_repairs(const char *name, const TalusSurface *s)
{
    Line line = {.used = 0};
    if (s->degenerate)
        append_phrase(&line, "%d triangle%s without area dropped", s->degenerate,
                      s->degenerate > 1 ? "s" : "");
    if (s->duplicate)
        append_phrase(&line, "%d duplicate triangle%s dropped", s->duplicate,
                      s->duplicate > 1 ? "s" : "");
    if (s->turned)
        append_phrase(&line, "%d triangle%s turned to agree with the neighbours", s->turned,
                      s->turned > 1 ? "s" : "");
    if (s->inverted)
        append_phrase(&line, "turned inside out, as it enclosed a negative volume");
    if (s->twisted)
        append_phrase(&line, "%d part%s left whose triangles cannot all agree", s->twisted,
                      s->twisted > 1 ? "s" : "");
    if (line.used)
        talus_log(TALUS_LOG_WARNING, "surface.repaired", "%s: %s", name, line.text);
    if (s->closed_parts < s->parts)
        talus_log(TALUS_LOG_INFO, "surface.open",
                  "%s: %d of %d part%s not closed (%d open edges); these act as thin walls with "
                  "two sides",
                  name, s->parts - s->closed_parts, s->parts, s->parts > 1 ? "s are" : " is",
                  s->open_edges);
}

/* ---- the calls ---- */

/* Merges vertices, orients the triangles and logs repairs. On success `out` takes over the arrays of the soup. */
static TalusStatus make_surface(TalusSoup *soup, TalusSurface *out)
{
    if (soup->triangles == 0)
        return talus_fail_file(soup->name, TALUS_ERR_FORMAT, "has no triangles (%d vertices)",
                               soup->vertices);
    TALUS_TRY(talus_surface_weld(soup, out));
    if (soup->triangles == 0)
        return talus_fail_file(soup->name, TALUS_ERR_FORMAT, "none of its %d triangles has an area",
                               out->degenerate);
    TALUS_TRY(talus_surface_orient(soup, out));
    out->vertex = soup->vertex;
    out->vertex_count = soup->vertices;
    out->triangle = soup->triangle;
    out->triangle_count = soup->triangles;
    soup->vertex = NULL;
    soup->triangle = NULL;
    log_repairs(soup->name, out);
    return TALUS_OK;
}

TalusStatus talus_surface_parse(const char *name, const void *bytes, size_t size, TalusSurface *out)
{
    TalusSoup soup = {.name = name};
    memset(out, 0, sizeof *out);
    TalusStatus status = read_soup(&soup, bytes, size);
    TALUS_THEN(status, make_surface(&soup, out));
    talus_soup_clear(&soup);
    if (status != TALUS_OK)
        memset(out, 0, sizeof *out);
    return status;
}

TalusStatus talus_surface_read(const char *path, TalusSurface *out)
{
    char *bytes;
    size_t size;
    memset(out, 0, sizeof *out);
    TALUS_TRY(talus_read_file(path, file_limit, &bytes, &size));
    TalusStatus status = talus_surface_parse(path, bytes, size, out);
    talus_release(bytes);
    return status;
}

void talus_surface_free(TalusSurface *surface)
{
    TALUS_RELEASE(surface->vertex, surface->triangle);
    memset(surface, 0, sizeof *surface);
}
