/* test_measure.c - continuum fields: totals, the divergence of the contact stress, known states, a definition written out,
 * threads, means over time, refusals. */
#include "base/rng.h"
#include "support/test.h"

#include <float.h>
#include <string.h>
#include <talus/talus.h>

enum { BODIES = 40, CONTACTS = 90, ALL = (1 << TALUS_QUANTITIES) - 1 };

/* An assembly with arrays of its own. */
typedef struct Sample {
    TalusAssembly assembly;
    TalusVec3 position[BODIES], velocity[BODIES], spin[BODIES];
    double mass[BODIES], volume[BODIES], radius[BODIES], rotation[BODIES], power[BODIES];
    int tag[BODIES];
    TalusAssemblyContact contact[CONTACTS];
} Sample;

static void connect_sample(Sample *s, int bodies, int contacts)
{
    s->assembly = (TalusAssembly){.data = TALUS_ASSEMBLY_VELOCITY | TALUS_ASSEMBLY_SPIN |
                                          TALUS_ASSEMBLY_CONTACTS | TALUS_ASSEMBLY_POWER,
                                  .power = s->power,
                                  .body_count = bodies,
                                  .position = s->position,
                                  .velocity = s->velocity,
                                  .spin = s->spin,
                                  .mass = s->mass,
                                  .volume = s->volume,
                                  .radius = s->radius,
                                  .rotation = s->rotation,
                                  .tag = s->tag,
                                  .contact_count = contacts,
                                  .contact = s->contact};
}

static TalusVec3 random_vector(TalusRng *rng, double size)
{
    const double x = talus_rng_uniform(rng), y = talus_rng_uniform(rng), z = talus_rng_uniform(rng);
    return talus_vec3(size * (2.0 * x - 1.0), size * (2.0 * y - 1.0), size * (2.0 * z - 1.0));
}

/* Bodies anywhere in the cube of half side 1, contacts of any force, every fourth with the boundary. */
static void make_random(Sample *s)
{
    TalusRng rng = talus_rng_from_seed(7);
    connect_sample(s, BODIES, CONTACTS);
    for (int i = 0; i < BODIES; i++) {
        s->position[i] = random_vector(&rng, 1.0);
        s->velocity[i] = random_vector(&rng, 3.0);
        s->spin[i] = random_vector(&rng, 5.0);
        s->mass[i] = 0.5 + talus_rng_uniform(&rng);
        s->volume[i] = 1e-3 * s->mass[i];
        s->power[i] = 2.0 - 0.1 * i;
    }
    for (int i = 0; i < CONTACTS; i++) {
        TalusAssemblyContact *c = &s->contact[i];
        const int a = i % BODIES;
        *c = (TalusAssemblyContact){.a = a, .b = i % 4 ? (a + 7) % BODIES : -1, .pair = i};
        c->arm_a = random_vector(&rng, 0.3);
        c->normal = talus_normalize(random_vector(&rng, 1.0), talus_vec3(0, 0, 1));
        c->force = random_vector(&rng, 10.0);
        if (c->b >= 0)
            c->arm_b = talus_sub(talus_add(s->position[a], c->arm_a), s->position[c->b]);
    }
}

static TalusContinuum *measure(const TalusGridDef *def, unsigned quantities,
                               const TalusAssembly *assembly, TalusPool *pool)
{
    TalusContinuum *c = NULL;
    CHECK_OK(talus_continuum_create(def, quantities, &c));
    CHECK_OK(talus_continuum_add(c, assembly, pool));
    return c;
}

/* Writes the integral of a field over the grid. */
static void integrate(const TalusContinuum *c, TalusQuantity quantity, double total[9])
{
    const TalusGridDef def = talus_continuum_grid(c);
    const TalusVec3 side = talus_sub(def.hi, def.lo);
    const double cell = side.x * side.y * side.z / (def.cells[0] * def.cells[1] * def.cells[2]);
    memset(total, 0, 9 * sizeof *total);
    for (int k = 0; k < def.cells[2]; k++)
        for (int j = 0; j < def.cells[1]; j++)
            for (int i = 0; i < def.cells[0]; i++) {
                double value[TALUS_QUANTITY_COMPONENTS] = {0};
                talus_continuum_get(c, quantity, i, j, k, value);
                for (int n = 0; n < talus_quantity_row(quantity).components; n++)
                    total[n] += cell * value[n];
            }
}

/* ---- totals ---- */

static const TalusGridDef wide = {{-2.5, -2.25, -2.5}, {2.5, 2.75, 2.25}, {13, 11, 17}, 0.4};
static const TalusGridDef narrow = {{-2.5, -2.25, -2.5}, {2.5, 2.75, 2.25}, {31, 11, 2}, 0.05};

/* Checks the integral of a field against what it must be, to 1e-12 of the sum of magnitudes. */
static void check_total(const TalusContinuum *c, TalusQuantity quantity, const double *expected,
                        double scale)
{
    double total[9];
    integrate(c, quantity, total);
    for (int n = 0; n < talus_quantity_row(quantity).components; n++)
        CHECK_NEAR(total[n], expected[n], 1e-12 * scale);
}

static void check_totals(const Sample *s, const TalusGridDef *def)
{
    TalusContinuum *c = measure(def, ALL, &s->assembly, NULL);
    double mass = 0.0, volume = 0.0, power = 0.0, momentum[3] = {0}, stress[9] = {0},
           boundary[3] = {0};
    for (int i = 0; i < s->assembly.body_count; i++) {
        mass += s->mass[i];
        volume += s->volume[i];
        power += s->power[i];
        for (int n = 0; n < 3; n++)
            momentum[n] += s->mass[i] * talus_along(s->velocity[i], n);
    }
    for (int i = 0; i < s->assembly.contact_count; i++) {
        const TalusAssemblyContact *k = &s->contact[i];
        const TalusVec3 branch = k->b < 0 ? k->arm_a : talus_sub(k->arm_a, k->arm_b);
        for (int n = 0; n < 9; n++)
            stress[n] -= talus_along(k->force, n / 3) * talus_along(branch, n % 3);
        for (int n = 0; n < 3; n++)
            boundary[n] -= k->b < 0 ? talus_along(k->force, n) : 0.0;
    }
    const double zero[3] = {0};
    check_total(c, TALUS_QUANTITY_DENSITY, &mass, mass);
    check_total(c, TALUS_QUANTITY_SOLID, &volume, volume);
    check_total(c, TALUS_QUANTITY_DISSIPATION, &power, 100.0);
    check_total(c, TALUS_QUANTITY_MOMENTUM, momentum, 3.0 * mass);
    check_total(c, TALUS_QUANTITY_CONTACT_STRESS, stress, 3.0 * CONTACTS);
    check_total(c, TALUS_QUANTITY_BOUNDARY_FORCE, boundary, 10.0 * CONTACTS);
    check_total(c, TALUS_QUANTITY_CONTACT_FORCE, boundary, 10.0 * CONTACTS);
    check_total(c, TALUS_QUANTITY_DIVERGENCE, zero, 10.0 * CONTACTS);
    talus_continuum_destroy(c);
}

TEST(totals_are_exact)
{
    static Sample s;
    make_random(&s);
    check_totals(&s, &wide);
    check_totals(&s, &narrow);
}

TEST(totals_are_exact_over_a_period)
{
    static Sample s;
    make_random(&s);
    s.assembly.period = (TalusPeriod){{-1, -1, -1}, {1, 1, 1}, {1, 1, 1}, 0.0};
    const TalusGridDef cells = {{-1, -1, -1}, {1, 1, 1}, {5, 7, 9}, 0.4};
    const TalusGridDef smooth = {{-1, -1, -1}, {1, 1, 1}, {1, 3, 4}, 2.7};
    check_totals(&s, &cells);
    check_totals(&s, &smooth);
}

/* ---- balance ---- */

static void check_balance(const Sample *s, const TalusGridDef *def)
{
    TalusContinuum *c = measure(def, ALL, &s->assembly, NULL);
    double worst = 0.0, largest = 0.0;
    for (int k = 0; k < def->cells[2]; k++)
        for (int j = 0; j < def->cells[1]; j++)
            for (int i = 0; i < def->cells[0]; i++) {
                double divergence[9], boundary[9], force[9];
                talus_continuum_get(c, TALUS_QUANTITY_DIVERGENCE, i, j, k, divergence);
                talus_continuum_get(c, TALUS_QUANTITY_BOUNDARY_FORCE, i, j, k, boundary);
                talus_continuum_get(c, TALUS_QUANTITY_CONTACT_FORCE, i, j, k, force);
                for (int n = 0; n < 3; n++) {
                    worst = fmax(worst, fabs(divergence[n] + boundary[n] - force[n]));
                    largest = fmax(largest, fabs(force[n]));
                }
            }
    CHECK(largest > 1.0);
    CHECK_NEAR(worst / largest, 0.0, 1e-10);
    talus_continuum_destroy(c);
}

TEST(divergence_of_stress_is_force)
{
    static Sample s;
    const TalusGridDef inside = {{-0.5, -0.4, 0.1}, {0.7, 0.4, 0.5}, {9, 4, 5}, 0.3};
    make_random(&s);
    check_balance(&s, &wide);
    check_balance(&s, &narrow);
    check_balance(&s, &inside);
    s.assembly.period = (TalusPeriod){{-1, -1, -1}, {1, 1, 1}, {1, 0, 1}, 0.0};
    check_balance(&s, &inside);
    check_balance(&s, &wide);
}

/* ---- the definition written out ---- */

static double kernel_at(TalusVec3 d, double w)
{
    double product = 1.0;
    for (int k = 0; k < 3; k++) {
        const double t = talus_along(d, k) / w;
        product *= fabs(t) < 1.0 ? 15.0 / (16.0 * w) * (1.0 - t * t) * (1.0 - t * t) : 0.0;
    }
    return product;
}

/* The contact stress of one contact with the boundary, xz, as sums over points of the cell and of the arm. */
static double stress_by_points(const Sample *s, TalusVec3 lo, TalusVec3 hi, double w)
{
    enum { N = 24, LINE = 400 };
    double sum = 0.0;
    for (int n = 0; n < N * N * N; n++) {
        const TalusVec3 part =
            talus_vec3((n % N + 0.5) / N, (n / N % N + 0.5) / N, (n / (N * N) + 0.5) / N);
        const TalusVec3 x = talus_vec3(lo.x + part.x * (hi.x - lo.x), lo.y + part.y * (hi.y - lo.y),
                                       lo.z + part.z * (hi.z - lo.z));
        for (int l = 0; l < LINE; l++)
            sum += kernel_at(
                talus_sub(x, talus_madd(s->position[0], (l + 0.5) / LINE, s->contact[0].arm_a)), w);
    }
    return -s->contact[0].force.x * s->contact[0].arm_a.z * sum / (N * N * N * LINE);
}

TEST(stress_is_as_defined)
{
    static Sample s;
    const TalusGridDef def = {{0, 0, 0}, {0.6, 0.4, 1.0}, {3, 2, 4}, 0.25};
    connect_sample(&s, 1, 1);
    s.position[0] = talus_vec3(0.1, 0.05, 0.15);
    s.mass[0] = 1.0;
    s.contact[0] = (TalusAssemblyContact){.b = -1,
                                          .arm_a = talus_vec3(0.45, 0.25, 0.7),
                                          .normal = talus_vec3(0, 0, 1),
                                          .force = talus_vec3(-3, 2, 5)};
    TalusContinuum *c = measure(&def, 1u << TALUS_QUANTITY_CONTACT_STRESS, &s.assembly, NULL);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            double stress[9];
            const TalusVec3 lo = talus_vec3(0.2 * i, 0.2, 0.25 * k);
            talus_continuum_get(c, TALUS_QUANTITY_CONTACT_STRESS, i, 1, k, stress);
            CHECK_NEAR(stress[2],
                       stress_by_points(&s, lo, talus_add(lo, talus_vec3(0.2, 0.2, 0.25)), 0.25),
                       0.02);
        }
    talus_continuum_destroy(c);
}

/* ---- known states ---- */

TEST(two_touching_spheres)
{
    static Sample s;
    const TalusGridDef def = {{-1, -1, -1}, {1, 1, 1}, {1, 1, 1}, 0.1};
    double stress[9], fabric[9], contacts[9];
    connect_sample(&s, 2, 1);
    s.position[0] = talus_vec3(-0.1, 0, 0);
    s.position[1] = talus_vec3(0.1, 0, 0);
    s.mass[0] = s.mass[1] = 2.0;
    s.contact[0] = (TalusAssemblyContact){.a = 0,
                                          .b = 1,
                                          .arm_a = talus_vec3(0.1, 0, 0),
                                          .arm_b = talus_vec3(-0.1, 0, 0),
                                          .normal = talus_vec3(1, 0, 0),
                                          .force = talus_vec3(4, 0, 0)};
    TalusContinuum *c = measure(&def, ALL, &s.assembly, NULL);
    talus_continuum_get(c, TALUS_QUANTITY_STRESS, 0, 0, 0, stress);
    talus_continuum_get(c, TALUS_QUANTITY_FABRIC, 0, 0, 0, fabric);
    talus_continuum_get(c, TALUS_QUANTITY_CONTACTS, 0, 0, 0, contacts);
    CHECK_NEAR(stress[0], -4.0 * 0.2 / 8.0, 1e-14); /* force times distance over volume: pressed */
    for (int n = 1; n < 9; n++)
        CHECK_NEAR(stress[n], 0.0, 0.0);
    CHECK_NEAR(fabric[0], 1.0, 1e-14);
    CHECK_NEAR(contacts[0], 1.0 / 8.0, 1e-14);
    talus_continuum_destroy(c);
}

/* A column of spheres on a floor in a period of one diameter: a simple cubic lattice that rests under gravity. */
static void make_lattice(Sample *s, double d, double weight)
{
    connect_sample(s, BODIES, BODIES);
    s->assembly.period = (TalusPeriod){{0, 0, 0}, {d, d, 0}, {1, 1, 0}, 0.0};
    for (int i = 0; i < BODIES; i++) {
        s->position[i] = talus_vec3(0.5 * d, 0.5 * d, (i + 0.5) * d);
        s->mass[i] = 1.0;
        s->velocity[i] = s->spin[i] = talus_vec3(0, 0, 0);
        /* The contact below body i bears what lies above it. */
        s->contact[i] = (TalusAssemblyContact){.a = i,
                                               .b = i - 1,
                                               .arm_a = talus_vec3(0, 0, -0.5 * d),
                                               .arm_b = talus_vec3(0, 0, i ? 0.5 * d : 0.0),
                                               .normal = talus_vec3(0, 0, -1),
                                               .force = talus_vec3(0, 0, -weight * (BODIES - i))};
    }
}

TEST(stress_of_a_lattice_is_its_weight)
{
    static Sample s;
    const double d = 0.02, weight = 9.81, height = BODIES * d;
    /* cells of one diameter: the mean density over each is that of the lattice */
    const TalusGridDef def = {{0, 0, 0}, {d, d, height}, {1, 1, BODIES}, 3.0 * d};
    make_lattice(&s, d, weight);
    TalusContinuum *c = measure(&def, ALL, &s.assembly, NULL);
    const double density = 1.0 / (d * d * d);
    for (int k = 4; k < BODIES - 4; k++) {
        double rho[9], stress[9];
        talus_continuum_get(c, TALUS_QUANTITY_DENSITY, 0, 0, k, rho);
        talus_continuum_get(c, TALUS_QUANTITY_STRESS, 0, 0, k, stress);
        CHECK_NEAR(rho[0], density, 1e-3 * density);
        CHECK_NEAR(stress[8], -density * weight * (height - (k + 0.5) * d), 1e-9 * density);
    }
    talus_continuum_destroy(c);
}

TEST(uniform_flow_has_no_kinetic_stress)
{
    static Sample s;
    make_random(&s);
    for (int i = 0; i < BODIES; i++)
        s.velocity[i] = talus_vec3(3.0, -2.0, 0.7);
    TalusContinuum *c = measure(&wide, ALL, &s.assembly, NULL);
    for (int k = 5; k < 12; k++) {
        double stress[9], velocity[9], rho[9];
        talus_continuum_get(c, TALUS_QUANTITY_DENSITY, 6, 5, k, rho);
        talus_continuum_get(c, TALUS_QUANTITY_VELOCITY, 6, 5, k, velocity);
        talus_continuum_get(c, TALUS_QUANTITY_KINETIC_STRESS, 6, 5, k, stress);
        CHECK(rho[0] > 0.1);
        CHECK_NEAR(velocity[0], 3.0, 1e-13);
        for (int n = 0; n < 6; n++)
            CHECK_NEAR(stress[n], 0.0, 1e-13 * rho[0]);
    }
    talus_continuum_destroy(c);
}

TEST(fluctuations_have_a_temperature)
{
    static Sample s;
    const TalusGridDef def = {{-1, -1, -1}, {1, 1, 1}, {1, 1, 1}, 0.1};
    double stress[9], temperature[9];
    connect_sample(&s, 2, 0);
    s.mass[0] = s.mass[1] = 2.0;
    s.position[0] = s.position[1] = talus_vec3(0, 0, 0);
    s.velocity[0] = talus_vec3(11.0, 0, 0);
    s.velocity[1] = talus_vec3(9.0, 0, 0);
    TalusContinuum *c = measure(&def, ALL, &s.assembly, NULL);
    talus_continuum_get(c, TALUS_QUANTITY_KINETIC_STRESS, 0, 0, 0, stress);
    talus_continuum_get(c, TALUS_QUANTITY_TEMPERATURE, 0, 0, 0, temperature);
    CHECK_NEAR(stress[0], -2.0 * 2.0 / 8.0, 1e-13); /* sum m v'v' over the volume */
    CHECK_NEAR(temperature[0], 1.0 / 3.0, 1e-13);
    talus_continuum_destroy(c);
}

/* A uniform shear: its gradient is found, and nothing is left when it is taken out. */
TEST(shear_has_no_agitation)
{
    static Sample s;
    static const double shear[9] = {0.1, 2.0, -0.5, 0.0, -0.3, 4.0, 0.7, 0.0, 0.2};
    const TalusGridDef def = {{-1, -1, -1}, {1, 1, 1}, {2, 2, 2}, 0.8};
    make_random(&s);
    for (int i = 0; i < BODIES; i++) {
        const TalusVec3 x = s.position[i];
        double v[3];
        for (int k = 0; k < 3; k++)
            v[k] = 5.0 - k + shear[3 * k] * x.x + shear[3 * k + 1] * x.y + shear[3 * k + 2] * x.z;
        s.velocity[i] = talus_vec3(v[0], v[1], v[2]);
    }
    TalusContinuum *c = measure(&def, ALL, &s.assembly, NULL);
    for (int n = 0; n < 8; n++) {
        double gradient[9], agitation[9], temperature[9];
        const int i = n & 1, j = n >> 1 & 1, k = n >> 2;
        talus_continuum_get(c, TALUS_QUANTITY_VELOCITY_GRADIENT, i, j, k, gradient);
        talus_continuum_get(c, TALUS_QUANTITY_AGITATION, i, j, k, agitation);
        talus_continuum_get(c, TALUS_QUANTITY_TEMPERATURE, i, j, k, temperature);
        for (int m = 0; m < 9; m++)
            CHECK_NEAR(gradient[m], shear[m], 1e-12);
        CHECK(temperature[0] > 0.1);
        CHECK_NEAR(agitation[0], 0.0, 1e-13);
    }
    talus_continuum_destroy(c);
    s.assembly.body_count = 3; /* three bodies lie in a plane */
    s.assembly.contact_count = 0;
    c = measure(&wide, ALL, &s.assembly, NULL);
    double gradient[9];
    talus_continuum_get(c, TALUS_QUANTITY_VELOCITY_GRADIENT, 6, 5, 8, gradient);
    CHECK(isnan(gradient[0]));
    talus_continuum_destroy(c);
}

/* ---- threads, time, refusals ---- */

static bool same_bits(const TalusContinuum *a, const TalusContinuum *b, const TalusGridDef *def)
{
    for (int q = 0; q < TALUS_QUANTITIES; q++)
        for (int n = 0; n < def->cells[0] * def->cells[1] * def->cells[2]; n++) {
            const int i = n % def->cells[0], j = n / def->cells[0] % def->cells[1];
            const int k = n / (def->cells[0] * def->cells[1]);
            double x[9] = {0}, y[9] = {0};
            talus_continuum_get(a, (TalusQuantity)q, i, j, k, x);
            talus_continuum_get(b, (TalusQuantity)q, i, j, k, y);
            if (memcmp(x, y, sizeof x) != 0)
                return false;
        }
    return true;
}

TEST(bits_do_not_depend_on_threads)
{
    static Sample s;
    TalusPool *pool;
    make_random(&s);
    REQUIRE_OK(talus_pool_create(3, &pool));
    TalusContinuum *one = measure(&wide, ALL, &s.assembly, NULL);
    TalusContinuum *three = measure(&wide, ALL, &s.assembly, pool);
    CHECK(same_bits(one, three, &wide));
    talus_continuum_destroy(one);
    talus_continuum_destroy(three);
    talus_pool_destroy(pool);
}

TEST(fields_are_means_over_time)
{
    static Sample s;
    const TalusGridDef def = {{-1, -1, -1}, {1, 1, 1}, {1, 1, 1}, 0.1};
    double density[9], velocity[9];
    connect_sample(&s, 1, 0);
    s.mass[0] = 8.0;
    s.position[0] = talus_vec3(0, 0, 0);
    s.velocity[0] = talus_vec3(1, 0, 0);
    TalusContinuum *c = measure(&def, ALL, &s.assembly, NULL);
    s.mass[0] = 24.0;
    s.velocity[0] = talus_vec3(2, 0, 0);
    CHECK_OK(talus_continuum_add(c, &s.assembly, NULL));
    talus_continuum_get(c, TALUS_QUANTITY_DENSITY, 0, 0, 0, density);
    talus_continuum_get(c, TALUS_QUANTITY_VELOCITY, 0, 0, 0, velocity);
    CHECK_NEAR(density[0], 2.0, 1e-14);
    CHECK_NEAR(velocity[0], (8.0 + 48.0) / 32.0, 1e-14);
    talus_continuum_clear(c);
    CHECK_OK(talus_continuum_add(c, &s.assembly, NULL));
    talus_continuum_get(c, TALUS_QUANTITY_DENSITY, 0, 0, 0, density);
    CHECK_NEAR(density[0], 3.0, 1e-14);
    talus_continuum_destroy(c);
}

TEST(bad_grids_are_refused)
{
    TalusContinuum *c;
    TalusGridDef def = wide;
    def.cells[1] = 0;
    CHECK_INT(talus_continuum_create(&def, ALL, &c), TALUS_ERR_ARGUMENT);
    CHECK(!c);
    def = wide;
    def.width = 0.0;
    CHECK_INT(talus_continuum_create(&def, ALL, &c), TALUS_ERR_ARGUMENT);
    def = wide;
    def.hi.z = def.lo.z;
    CHECK_INT(talus_continuum_create(&def, ALL, &c), TALUS_ERR_ARGUMENT);
    def = wide;
    def.cells[0] = def.cells[1] = 100000;
    CHECK_INT(talus_continuum_create(&def, ALL, &c), TALUS_ERR_ARGUMENT);
}

TEST(fields_without_data_are_refused)
{
    static Sample s;
    TalusContinuum *c;
    make_random(&s);
    s.assembly.data = TALUS_ASSEMBLY_VELOCITY;
    REQUIRE_OK(talus_continuum_create(&wide, 1u << TALUS_QUANTITY_STRESS, &c));
    CHECK_INT(talus_continuum_add(c, &s.assembly, NULL), TALUS_ERR_ARGUMENT);
    talus_continuum_destroy(c);
}

int main(void)
{
    RUN(totals_are_exact);
    RUN(totals_are_exact_over_a_period);
    RUN(divergence_of_stress_is_force);
    RUN(stress_is_as_defined);
    RUN(two_touching_spheres);
    RUN(stress_of_a_lattice_is_its_weight);
    RUN(uniform_flow_has_no_kinetic_stress);
    RUN(fluctuations_have_a_temperature);
    RUN(shear_has_no_agitation);
    RUN(bits_do_not_depend_on_threads);
    RUN(fields_are_means_over_time);
    RUN(bad_grids_are_refused);
    RUN(fields_without_data_are_refused);
    return talus_test_result();
}
