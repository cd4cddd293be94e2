/* cli/commands/info_surface.c - talus info of an STL or OBJ file: properties of a mesh made of it. */
#include "info.h"

#include <stdio.h>
#include <talus/io.h>

static void print_repairs(const TalusSurface *s)
{
    if (s->degenerate + s->duplicate > 0)
        info_print_fact("dropped", "%d triangles without area, %d duplicates", s->degenerate,
                        s->duplicate);
    if (s->turned > 0)
        info_print_fact("turned", "%d triangles, to agree with their neighbours", s->turned);
    if (s->inverted)
        info_print_fact("inverted", "turned inside out, as it enclosed a negative volume");
    if (s->twisted > 0)
        info_print_fact("twisted", "%d parts whose triangles cannot all agree", s->twisted);
}

int info_print_surface(const char *path)
{
    TalusSurface s;
    if (talus_surface_read(path, &s) != TALUS_OK)
        return cli_fail_library();
    printf("%s: surface\n", path);
    info_print_fact("triangles", "%d over %d vertices", s.triangle_count, s.vertex_count);
    info_print_fact("bounds", "(%g, %g, %g) to (%g, %g, %g)", s.lo.x, s.lo.y, s.lo.z, s.hi.x,
                    s.hi.y, s.hi.z);
    info_print_fact("parts", "%d, of these %d closed", s.parts, s.closed_parts);
    if (s.closed_parts > 0)
        info_print_fact("volume", "%g, of the closed parts", s.volume);
    if (s.open_edges + s.crowded_edges > 0)
        info_print_fact("edges", "%d open, %d shared by more than two triangles", s.open_edges,
                        s.crowded_edges);
    print_repairs(&s);
    talus_surface_free(&s);
    return CLI_OK;
}
