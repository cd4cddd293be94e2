/* Hulls against those of qhull (Barber, Dobkin and Huhdanpaa 1996), which is Debian's libqhull-dev: the same volume,
 * the same area and, where no point is on a face or an edge, the same vertices. */
#include "geometry/shape.h"
#include "hull_clouds.h"
#include "support/test.h"

#ifdef TALUS_HAVE_QHULL
#include <libqhull_r/libqhull_r.h>

typedef struct Oracle {
    int status, vertices;
    double volume, area;
} Oracle;

static Oracle ask(TalusVec3 *point, int count)
{
    qhT qh_qh, *qh = &qh_qh;
    int current, total;
    static char options[] = "qhull Qt FA Pp"; /* triangles, volume and area, no complaints */
    FILE *nowhere = fopen("/dev/null", "w");
    qh_zero(qh, nowhere);
    Oracle o = {.status = qh_new_qhull(qh, 3, count, &point->x, False, options, nowhere, nowhere)};
    if (o.status == 0) {
        o.volume = qh->totvol;
        o.area = qh->totarea;
        o.vertices = qh->num_vertices;
    }
    qh_freeqhull(qh, qh_ALL);
    qh_memfreeshort(qh, &current, &total);
    fclose(nowhere);
    return o;
}

static double surface_area(const TalusShape *s)
{
    double sum = 0.0;
    for (int f = 0; f < s->hull.faces; f++) {
        const int32_t *loop = s->hull.loop + s->hull.loop_start[f];
        int n = s->hull.loop_start[f + 1] - s->hull.loop_start[f];
        for (int k = 1; k + 1 < n; k++) {
            TalusVec3 a = s->def.vertex[loop[0]];
            sum += 0.5 * talus_norm(talus_cross(talus_sub(s->def.vertex[loop[k]], a),
                                                talus_sub(s->def.vertex[loop[k + 1]], a)));
        }
    }
    return sum;
}

static void compare(int kind, uint64_t seed, int count)
{
    TalusVec3 point[120];
    TalusShape s;
    cloud_fill(kind, seed, count, point);
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = count};
    TalusStatus status = talus_shape_init(&s, &def);
    Oracle o = ask(point, count);
    if (status != TALUS_OK) { /* flat; qhull may see a volume of rounding errors there */
        CHECK(o.status != 0 || o.volume < 1e-4 * o.area * sqrt(o.area));
        return;
    }
    bool sound = o.status == 0 && fabs(s.unit.mass - o.volume) <= 2e-6 * o.area * sqrt(o.area) &&
                 fabs(surface_area(&s) - o.area) <= 2e-6 * o.area;
    if (kind == CLOUD_CUBE || kind == CLOUD_SPHERE)
        sound = sound && s.def.vertex_count == o.vertices &&
                fabs(s.unit.mass - o.volume) <= 1e-12 * o.area * sqrt(o.area);
    if (!CHECK(sound))
        printf("    kind %d, seed %llu, %d points: volume %.17g and %.17g, area %.17g and %.17g\n",
               kind, (unsigned long long)seed, count, s.unit.mass, o.volume, surface_area(&s),
               o.area);
    talus_shape_clear(&s);
}

TEST(the_same_hulls)
{
    for (int kind = 0; kind < CLOUD_KINDS; kind++)
        for (uint64_t seed = 1000; seed < 1250; seed++)
            compare(kind, seed, 5 + (int)(seed % 100));
}
#else
TEST(the_same_hulls)
{
    SKIP("no qhull (Debian: libqhull-dev)");
}
#endif

int main(void)
{
    RUN(the_same_hulls);
    return talus_test_result();
}
