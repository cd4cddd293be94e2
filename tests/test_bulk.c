/* test_bulk.c - bulk figures: masses and energies, forces, neighbours by pairs, rattlers, the box, missing data; angles of heaps;
 * mixing. */
#include "support/test.h"

#include <math.h>
#include <talus/talus.h>

enum { BODIES = 6, CONTACTS = 12 };

/* A tetrahedron of spheres (0 to 3), a body that hangs on one of them (4), and one alone (5). Contact 7 is a second point of
 * the pair 0 and 1, contact 6 is open. */
typedef struct Heap {
    TalusAssembly assembly;
    TalusVec3 position[BODIES], velocity[BODIES];
    double mass[BODIES], volume[BODIES], radius[BODIES], rotation[BODIES];
    TalusAssemblyContact contact[CONTACTS];
} Heap;

static void add_contact(Heap *h, int a, int b, int pair, double force, double gap)
{
    h->contact[h->assembly.contact_count++] =
        (TalusAssemblyContact){.a = a,
                               .b = b,
                               .pair = pair,
                               .normal = talus_vec3(0, 0, 1),
                               .force = talus_vec3(1, 0, force),
                               .gap = gap};
    h->assembly.pair_count = pair + 1;
}

static void make_heap(Heap *h)
{
    *h = (Heap){.assembly = {.data = TALUS_ASSEMBLY_VELOCITY | TALUS_ASSEMBLY_SPIN |
                                     TALUS_ASSEMBLY_CONTACTS,
                             .body_count = BODIES}};
    h->assembly.position = h->position;
    h->assembly.velocity = h->velocity;
    h->assembly.mass = h->mass;
    h->assembly.volume = h->volume;
    h->assembly.radius = h->radius;
    h->assembly.rotation = h->rotation;
    h->assembly.contact = h->contact;
    for (int i = 0; i < BODIES; i++) {
        h->position[i] = talus_vec3(i, 0, 0);
        h->velocity[i] = talus_vec3(i % 2 ? 3 : 1, 0, 0);
        h->mass[i] = 2.0;
        h->volume[i] = 0.5;
        h->rotation[i] = 0.25;
    }
    int pair = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            add_contact(h, a, b, pair, 2.0, -0.1);
            if (pair == 0)
                add_contact(h, a, b, pair, 4.0, 0.01);
            pair++;
        }
    add_contact(h, 3, 4, pair++, 2.0, -0.3);
    add_contact(h, 4, 5, pair++, 0.0, 0.2);
    add_contact(h, 0, -1, pair++, 2.0, 0.0);
}

static TalusBulk measure(const Heap *h, const TalusBulkDef *def)
{
    TalusBulk bulk;
    CHECK_OK(talus_bulk_measure(&h->assembly, def, &bulk));
    return bulk;
}

TEST(bodies_are_summed)
{
    static Heap h;
    TalusBulkDef def = talus_bulk_def_default();
    make_heap(&h);
    TalusBulk bulk = measure(&h, &def);
    CHECK_INT(bulk.bodies, 6);
    CHECK_NEAR(bulk.mass, 12.0, 1e-15);
    CHECK_NEAR(bulk.volume, 3.0, 1e-15);
    CHECK_NEAR(bulk.centre.x, 2.5, 1e-15);
    CHECK_NEAR(bulk.velocity.x, 2.0, 1e-15);
    CHECK_NEAR(bulk.translation, 30.0, 1e-13);
    CHECK_NEAR(bulk.fluctuation, 6.0, 1e-13);
    CHECK_NEAR(bulk.rotation, 1.5, 1e-15);
    def.region.lo.x = 2.0; /* bodies 2 and 3 */
    def.region.hi.x = 4.0;
    bulk = measure(&h, &def);
    CHECK_INT(bulk.bodies, 2);
    CHECK_NEAR(bulk.centre.x, 2.5, 1e-15);
    CHECK_NEAR(bulk.fluctuation, 2.0, 1e-13);
}

TEST(forces_are_those_of_loaded_contacts)
{
    static Heap h;
    const TalusBulkDef def = talus_bulk_def_default();
    make_heap(&h);
    const TalusBulk bulk = measure(&h, &def);
    CHECK_NEAR(bulk.contacts, 9.0, 0.0);
    CHECK_NEAR(bulk.mean_force, 20.0 / 9.0, 1e-14);
    CHECK_NEAR(bulk.max_force, 4.0, 0.0);
    CHECK_NEAR(bulk.mean_overlap, 0.9 / 9.0, 1e-15);
    CHECK_NEAR(bulk.max_overlap, 0.3, 0.0);
}

TEST(neighbours_are_pairs)
{
    static Heap h;
    const TalusBulkDef def = talus_bulk_def_default();
    make_heap(&h);
    /* the tetrahedron has 3 each; 0 has the boundary, 3 and 4 each other */
    CHECK_NEAR(measure(&h, &def).coordination, (4 + 3 + 3 + 4 + 1 + 0) / 6.0, 1e-15);
}

TEST(rattlers_go_until_none_is_left)
{
    static Heap h;
    TalusBulkDef def = talus_bulk_def_default();
    make_heap(&h);
    TalusBulk bulk = measure(&h, &def);
    CHECK_NEAR(bulk.rattlers, 2.0 / 6.0, 1e-15);
    CHECK_NEAR(bulk.backbone, 13.0 / 4.0, 1e-15);
    def.rattler_contacts = 4; /* 1 and 2 go first, then the others */
    bulk = measure(&h, &def);
    CHECK_NEAR(bulk.rattlers, 1.0, 0.0);
    CHECK_NEAR(bulk.backbone, 0.0, 0.0);
}

TEST(histograms_count_contacts)
{
    static Heap h;
    TalusBulkDef def = talus_bulk_def_default();
    TalusHistogram force, gap;
    make_heap(&h);
    REQUIRE_OK(talus_histogram_measure(&h.assembly, &def, TALUS_DISTRIBUTION_FORCE, &force));
    REQUIRE_OK(talus_histogram_measure(&h.assembly, &def, TALUS_DISTRIBUTION_GAP, &gap));
    /* forces 2, eight times, and 4 */
    CHECK_INT(force.total, 9);
    CHECK_NEAR(force.lo, 0.0, 0.0);
    CHECK_NEAR(force.hi, 4.0 / (20.0 / 9.0), 1e-14);
    CHECK_INT(force.count[24] + force.count[25], 8); /* the middle, to rounding */
    CHECK_INT(force.count[TALUS_HISTOGRAM_BINS - 1], 1);
    /* gaps of all ten, from -0.3 to 0.2 */
    CHECK_INT(gap.total, 10);
    CHECK_NEAR(gap.lo, -0.3, 0.0);
    CHECK_NEAR(gap.hi, 0.2, 0.0);
    CHECK_INT(gap.count[0], 1);
    CHECK_INT(gap.count[TALUS_HISTOGRAM_BINS - 1], 1);
    def.region.lo.x = 4.5; /* body 5 and its open contact */
    REQUIRE_OK(talus_histogram_measure(&h.assembly, &def, TALUS_DISTRIBUTION_GAP, &gap));
    CHECK_INT(gap.total, 1);
    CHECK(gap.lo < 0.2 && gap.hi > 0.2); /* bins have a width, so that densities are finite */
    CHECK_INT(gap.count[24] + gap.count[25], 1);
    REQUIRE_OK(talus_histogram_measure(&h.assembly, &def, TALUS_DISTRIBUTION_FORCE, &force));
    CHECK_INT(force.total, 0);
    h.assembly.data = 0;
    CHECK_INT(talus_histogram_measure(&h.assembly, &def, TALUS_DISTRIBUTION_GAP, &gap),
              TALUS_ERR_ARGUMENT);
}

TEST(missing_data_are_unknown)
{
    static Heap h;
    const TalusBulkDef def = talus_bulk_def_default();
    make_heap(&h);
    h.assembly.data = 0;
    h.assembly.velocity = NULL;
    h.assembly.rotation = NULL;
    const TalusBulk bulk = measure(&h, &def);
    CHECK_NEAR(bulk.mass, 12.0, 1e-15);
    CHECK(isnan(bulk.velocity.x) && isnan(bulk.translation) && isnan(bulk.fluctuation));
    CHECK(isnan(bulk.rotation) && isnan(bulk.coordination) && isnan(bulk.mean_force));
}

/* ---- heaps ---- */

enum { GRAINS = 20000 };

/* Bodies of radius 0.01 and mass 1 at places that the caller sets. */
typedef struct Grains {
    TalusAssembly assembly;
    TalusVec3 position[GRAINS];
    double mass[GRAINS], volume[GRAINS], radius[GRAINS];
    int tag[GRAINS];
} Grains;

static void make_grains(Grains *g)
{
    g->assembly = (TalusAssembly){.position = g->position,
                                  .mass = g->mass,
                                  .volume = g->volume,
                                  .radius = g->radius,
                                  .tag = g->tag,
                                  .up = {0, 0, 1}};
    for (int i = 0; i < GRAINS; i++) {
        g->mass[i] = 1.0;
        g->radius[i] = 0.01;
        g->tag[i] = 0;
    }
}

static void add_grain(Grains *g, double x, double y, double z)
{
    g->position[g->assembly.body_count++] = talus_vec3(x, y, z);
}

TEST(a_cone_has_its_angle)
{
    static Grains g;
    const TalusBulkDef def = talus_bulk_def_default();
    TalusHeap heap;
    make_grains(&g);
    for (int i = -40; i <= 40; i++)
        for (int j = -40; j <= 40; j++) {
            const double x = 0.02 * i, y = 0.02 * j, z = 0.4 - 0.5 * sqrt(x * x + y * y);
            add_grain(&g, x + 3.0, y - 2.0, z > 0.0 ? z : 0.0);
        }
    add_grain(&g, 1e6, 0.0, 0.0); /* one that has rolled away, and moves the centre of mass */
    g.mass[g.assembly.body_count - 1] = 1e-9;
    REQUIRE_OK(talus_heap_measure(&g.assembly, &def, &heap));
    CHECK_NEAR(tan(heap.repose), 0.5, 0.01);
    CHECK(heap.repose_misfit < 0.01);
    CHECK(heap.slope_misfit > 0.02); /* no plane */
}

TEST(a_plane_has_its_slope)
{
    static Grains g;
    const TalusBulkDef def = talus_bulk_def_default();
    TalusHeap heap;
    make_grains(&g);
    g.assembly.up = talus_vec3(1, 0, 0);
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++) {
            add_grain(&g, 0.3 * 0.02 * i - 0.4 * 0.02 * j, 0.02 * i, 0.02 * j);
            add_grain(&g, -2.0 + 1e-3 * (i % 7), 0.02 * i, 0.02 * j); /* hidden below */
        }
    REQUIRE_OK(talus_heap_measure(&g.assembly, &def, &heap));
    CHECK_NEAR(tan(heap.slope), 0.5, 0.01);
    CHECK(heap.slope_misfit < 0.01);
}

TEST(few_grains_are_no_heap)
{
    static Grains g;
    const TalusBulkDef def = talus_bulk_def_default();
    TalusHeap heap;
    make_grains(&g);
    REQUIRE_OK(talus_heap_measure(&g.assembly, &def, &heap));
    CHECK(isnan(heap.repose) && isnan(heap.slope));
    for (int i = 0; i < 20; i++)
        add_grain(&g, 0.0, 0.0, 0.02 * i); /* one column */
    REQUIRE_OK(talus_heap_measure(&g.assembly, &def, &heap));
    CHECK(isnan(heap.repose) && isnan(heap.slope) && isnan(heap.repose_misfit));
}

/* ---- packing ---- */

static double packing(const Grains *g, TalusVec3 lo, TalusVec3 hi)
{
    return talus_packing_fraction(&g->assembly, &(TalusRegion){lo, hi, -1});
}

TEST(regions_may_be_cylinders)
{
    static Grains g;
    TalusBulkDef def = talus_bulk_def_default();
    TalusBulk bulk;
    make_grains(&g);
    def.region = (TalusRegion){{-1, 2, -1}, {1, 5, 1}, 1};
    add_grain(&g, 0.7, 3.0, 0.7);
    add_grain(&g, 0.72, 3.0, 0.72); /* in the box alone */
    add_grain(&g, 0.0, 1.0, 0.0);
    REQUIRE_OK(talus_bulk_measure(&g.assembly, &def, &bulk));
    CHECK_INT(bulk.bodies, 1);
    g.volume[0] = 0.001;
    CHECK_NEAR(talus_packing_fraction(&g.assembly, &def.region), 0.001 / (3.0 * acos(-1.0)), 1e-4);
}

TEST(packing_counts_parts_and_images)
{
    static Grains g;
    const double ball = 4.0 / 3.0 * acos(-1.0) * 0.125;
    make_grains(&g);
    for (int i = 0; i < 8; i++) {
        g.volume[i] = ball;
        add_grain(&g, i & 1, i >> 1 & 1, i >> 2);
    }
    /* a simple cubic cell between the centres, an eighth of each */
    CHECK_NEAR(packing(&g, talus_vec3(0, 0, 0), talus_vec3(1, 1, 1)), ball, 1e-9);
    CHECK_NEAR(packing(&g, talus_vec3(-1, -1, -1), talus_vec3(2, 2, 2)), 8.0 * ball / 27.0, 1e-14);
    g.assembly.body_count = 1;
    g.assembly.period = (TalusPeriod){{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 0.0};
    CHECK_NEAR(packing(&g, talus_vec3(0, 0, 0), talus_vec3(1, 1, 1)), ball, 1e-9);
    CHECK_NEAR(packing(&g, talus_vec3(-2.5, 0.3, 0), talus_vec3(0.5, 2.3, 1)), ball, 1e-9);
}

/* ---- mixing ---- */

/* A cubic lattice of 24^3 grains; grain (i, j, k) has tag `tag(i, j, k)`. */
static TalusMixing mix(int (*tag)(int i, int j, int k), bool by_size)
{
    static Grains g;
    const TalusBulkDef def = talus_bulk_def_default();
    TalusMixing mixing;
    make_grains(&g);
    for (int n = 0; n < 24 * 24 * 24; n++) {
        const int i = n % 24, j = n / 24 % 24, k = n / 576, class = tag(i, j, k);
        g.tag[n] = by_size ? 3 : class;
        g.radius[n] = by_size && class ? 0.0101 : 0.01;
        add_grain(&g, 0.02 * (i + 0.5), 0.02 * (j + 0.5), 0.02 * (k + 0.5));
    }
    CHECK_OK(talus_mixing_measure(&g.assembly, &def, &mixing));
    return mixing;
}

static int upper(int i, int j, int k)
{
    (void)i;
    (void)j;
    return k >= 12;
}

static int scattered(int i, int j, int k)
{
    const uint64_t x = (uint64_t)((i * 31 + j) * 37 + k) * UINT64_C(0x9e3779b97f4a7c15);
    return (int)((x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9) >> 63);
}

static int none(int i, int j, int k)
{
    (void)i;
    (void)j;
    (void)k;
    return 0;
}

TEST(layers_are_not_mixed)
{
    const TalusMixing mixing = mix(upper, false), by_size = mix(upper, true);
    CHECK_NEAR(mixing.fraction, 0.5, 0.0);
    CHECK_NEAR(mixing.lacey, 0.0, 1e-12); /* cubes of 4^3 grains are of one class */
    CHECK_NEAR(mixing.segregation, 12.0 / sqrt((24.0 * 24.0 - 1.0) / 12.0), 1e-12);
    CHECK_NEAR(by_size.segregation, mixing.segregation, 1e-12);
    CHECK(isnan(mix(none, false).lacey) && isnan(mix(none, false).segregation));
}

TEST(random_classes_are_mixed)
{
    const TalusMixing mixing = mix(scattered, false);
    CHECK_NEAR(mixing.lacey, 1.0, 0.01);
    CHECK_NEAR(mixing.segregation, 0.0, 0.05);
}

int main(void)
{
    RUN(bodies_are_summed);
    RUN(forces_are_those_of_loaded_contacts);
    RUN(neighbours_are_pairs);
    RUN(rattlers_go_until_none_is_left);
    RUN(histograms_count_contacts);
    RUN(missing_data_are_unknown);
    RUN(a_cone_has_its_angle);
    RUN(a_plane_has_its_slope);
    RUN(few_grains_are_no_heap);
    RUN(regions_may_be_cylinders);
    RUN(packing_counts_parts_and_images);
    RUN(layers_are_not_mixed);
    RUN(random_classes_are_mixed);
    return talus_test_result();
}
