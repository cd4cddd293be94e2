/* A periodic cell that deforms: Lees and Edwards's boundary, stretching axes, stress, work, control of pressures. */
#include "material_world.h"

#include "base/rng.h"
#include "collide/cell.h"
#include "io/frames/frames.h"

#include <talus/measure.h>

enum { MANY = 512 };

static TalusWorldDef cell_def(double h, double length)
{
    TalusWorldDef def = talus_world_def_default();
    def.step = h;
    def.threads = 1;
    def.gravity = zero;
    def.reference_speed = 0.01;
    def.period = (TalusPeriod){
        .lo = {-0.3, 0.1, 0.0}, .hi = {length - 0.3, length + 0.1, length}, .on = {1, 1, 1}};
    def.cell.on = true;
    return def;
}

/* As the step of material_world.h, with the work of the cell. */
static void cell_step(TalusWorld *world)
{
    CHECK_OK(talus_world_step(world, &info));
    const TalusLedger *l = &info.ledger;
    double scale = l->kinetic + l->elastic + fabs(l->kinetic_change) + fabs(l->elastic_change) +
                   fabs(l->stiffening) + fabs(l->friction) + fabs(l->impact) +
                   fabs(l->stabilisation) + fabs(l->cell);
    double sum = l->friction + l->impact + l->stabilisation + l->stiffening + l->gravity_error +
                 l->cell + l->exchange;
    CHECK(fabs(l->imbalance) <= 1e-12 * scale);
    CHECK_NEAR(l->kinetic_change + l->elastic_change, sum, 1e-12 * scale);
}

typedef struct Bodies {
    int count;
    TalusVec3 x[MANY], v[MANY], w[MANY];
    double r[MANY], m[MANY];
} Bodies;

static Bodies bodies_of(const TalusWorld *world)
{
    static Bodies b;
    b.count = (int)talus_world_body_count(world);
    TalusBodyState arrays = {
        .position = b.x, .velocity = b.v, .spin = b.w, .radius = b.r, .mass = b.m};
    talus_world_get_state(world, &arrays);
    return b;
}

/* Velocity of body i relative to the flow of the last step. */
static TalusVec3 relative(const TalusWorld *world, const Bodies *b, int i)
{
    const TalusCell *cell = &world->cell.now.cell;
    return talus_sub(b->v[i], talus_flow_at(&cell->last, cell->centre, b->x[i]));
}

/* ---- two spheres ---- */

static const TalusGradient mixed = {0.05, -0.2, 0.1, 1.5};

/* Two spheres collide, the first at `at`, in lengths of the cell. relative velocities, spins and vectors between the two after
 * some steps are independent of `at`. */
static void collide(const char *solver, double compliance, TalusVec3 at, State end[3])
{
    TalusWorldDef def = cell_def(1e-3, 1.0);
    def.cell.rate = mixed;
    def.solver = solver;
    def.compliance = compliance;
    def.tolerance = 1e-9;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 20000;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.5;
    pair.restitution = compliance > 0.0 ? -1.0 : 0.7;
    TalusWorld *world = make_world(&def, &pair);
    TalusVec3 x = talus_add(def.period.lo, at);
    add_body(world, sphere(0.05), 1.0, x, talus_vec3(0.3, 0.5, 0.1), talus_vec3(0, 2, 0));
    add_body(world, sphere(0.06), 2.0, talus_add(x, talus_vec3(0.02, 0.14, 0.03)),
             talus_vec3(0.0, -0.5, 0.0), talus_vec3(1, 0, -1));
    for (int i = 0; i < 150; i++)
        cell_step(world);
    Bodies b = bodies_of(world);
    TalusPeriod p = talus_world_period(world);
    for (int i = 0; i < 2; i++) {
        end[i].v = relative(world, &b, i);
        end[i].w = b.w[i];
        CHECK(b.x[i].x >= p.lo.x && b.x[i].x < p.hi.x && b.x[i].y >= p.lo.y && b.x[i].y < p.hi.y);
    }
    end[2].x = talus_nearest_image_vector(&p, talus_sub(b.x[1], b.x[0]));
    talus_world_destroy(world);
}

static void compare_collisions(const char *solver, double compliance)
{
    /* the middle, a side along y, one along x, a corner, behind the tilted side */
    const TalusVec3 place[5] = {
        {0.5, 0.5, 0.5}, {0.5, 0.93, 0.5}, {0.96, 0.4, 0.5}, {0.97, 0.93, 0.99}, {0.1, 0.9, 0.3}};
    State first[3], other[3];
    collide(solver, compliance, place[0], first);
    CHECK(first[0].v.y < 0.2 && talus_norm(talus_sub(first[0].w, talus_vec3(0, 2, 0))) > 0.5);
    for (int k = 1; k < 5; k++) {
        collide(solver, compliance, place[k], other);
        for (int i = 0; i < 2; i++) {
            CHECK_NEAR(talus_norm(talus_sub(first[i].v, other[i].v)), 0.0, 1e-8);
            CHECK_NEAR(talus_norm(talus_sub(first[i].w, other[i].w)), 0.0, 1e-7);
        }
        CHECK_NEAR(talus_norm(talus_sub(first[2].x, other[2].x)), 0.0, 1e-8);
    }
}

TEST(a_collision_is_the_same_everywhere)
{
    compare_collisions("auto", 0.0);
    compare_collisions("auto", 1e-2);
}

/* A body without contacts keeps its velocity; one that crosses the sheared side gets that of its image. */
TEST(a_body_that_crosses_keeps_its_relative_velocity)
{
    TalusWorldDef def = cell_def(1e-2, 1.0);
    def.cell.rate.xy = 2.0;
    TalusWorld *world = make_world(&def, NULL);
    add_body(world, sphere(0.05), 1.0, talus_vec3(0.2, 1.05, 0.5), talus_vec3(0, 0.2, 0), zero);
    cell_step(world);
    Bodies b = bodies_of(world);
    CHECK_NEAR(b.v[0].x, 2.0 * (1.05 - 0.6), 1e-14);
    double before = b.v[0].x;
    for (int i = 0; i < 60; i++)
        cell_step(world);
    b = bodies_of(world);
    CHECK_NEAR(b.v[0].x, before - 2.0, 1e-14);
    CHECK_NEAR(b.v[0].y, 0.2, 0.0);
    CHECK_NEAR(b.x[0].y, 1.05 + 61 * 0.002 - 1.0, 1e-13);
    /* x: 61 steps, and the offset of the image below at the crossing, steps of 1e-2 at 2 per second */
    double x = 0.2 + 61 * 1e-2 * before;
    TalusPeriod p = talus_world_period(world);
    CHECK_NEAR(p.tilt, 61 * 2e-2 - 1.0, 1e-13);
    /* unwrap: since crossing after step n the position has followed the velocity of the image */
    int n = 25; /* 1.05 + 25 * 0.002 = 1.1 */
    double image = x - 0.02 * n - (61 - n) * 0.02, apart = b.x[0].x - image;
    CHECK_NEAR(apart - floor(apart + 0.5), 0.0, 1e-12);
    talus_world_destroy(world);
}

/* ---- many spheres ---- */

/* Spheres of two sizes on a jittered lattice, without overlap. */
static TalusWorld *make_crowd(TalusWorldDef *def, int side, double length)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.5;
    TalusWorld *world = make_world(def, &pair);
    TalusRng rng = talus_rng_from_seed(3);
    double a = length / side;
    for (int i = 0; i < side * side * side; i++) {
        double r = (i * 7 % 10 < 5 ? 0.495 : 0.465) * a, free = a - 2.0 * r;
        double jx = talus_rng_uniform(&rng), jy = talus_rng_uniform(&rng);
        TalusVec3 x = {(i % side) * a + free * jx, (i / side % side) * a + free * jy,
                       (i / side / side) * a + free * talus_rng_uniform(&rng)};
        TalusVec3 v = {talus_rng_uniform(&rng) - 0.5, talus_rng_uniform(&rng) - 0.5,
                       talus_rng_uniform(&rng) - 0.5};
        add_body(world, sphere(r), 2500.0 * 4.18879020478639 * r * r * r,
                 talus_add(talus_add(def->period.lo, x), talus_vec3(r, r, r)), talus_scale(0.1, v),
                 zero);
    }
    return world;
}

static TalusWorld *shear_crowd(int threads, int steps)
{
    TalusWorldDef def = cell_def(2e-3, 1.0);
    def.cell.rate = (TalusGradient){-0.1, 0.05, -0.1, 2.0};
    def.threads = threads;
    TalusWorld *world = make_crowd(&def, 6, 1.0);
    for (int i = 0; i < steps; i++)
        cell_step(world);
    return world;
}

/* Velocities relative to the flow after some steps of a small crowd in shear, with one solver. */
static Bodies shear_with(const char *solver, TalusFrictionLaw law)
{
    TalusWorldDef def = cell_def(4e-3, 1.0);
    def.cell.rate = (TalusGradient){-0.3, 0.1, -0.3, 4.0};
    def.solver = solver;
    def.friction.law = law;
    def.compliance = 1e-2;
    def.tolerance = 1e-7;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 100000;
    TalusWorld *world = make_crowd(&def, 4, 1.0);
    for (int i = 0; i < 12; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK(!info.missed);
    }
    CHECK(info.contacts > 60);
    Bodies b = bodies_of(world);
    talus_world_destroy(world);
    return b;
}

/* Products, sweeps and their forms in single precision each add slips in a place of their own. */
static void compare_solvers(const char *const *solver, TalusFrictionLaw law)
{
    Bodies first = shear_with("apgd", law);
    for (; *solver; solver++) {
        Bodies other = shear_with(*solver, law);
        double most = 0.0;
        for (int i = 0; i < first.count; i++)
            most = fmax(most, talus_norm(talus_sub(first.v[i], other.v[i])));
        if (!CHECK_NEAR(most, 0.0, 1e-5))
            CHECK_STR(*solver, "the same velocities");
    }
}

TEST(solvers_see_the_same_slip)
{
    static const char *const convex[] = {"lbfgs-fb", "gs",   "gs:order=symmetric",
                                         "jacobi",   "admm", "spg",
                                         "anderson", "prox", "ipm-soc",
                                         "ipm-hsd",  "bgs",  NULL};
    static const char *const exact[] = {"gs-coulomb", "bgs", "nscd", "prox", "continuation", NULL};
    compare_solvers(convex, TALUS_LAW_CCP);
    compare_solvers(exact, TALUS_LAW_COULOMB);
}

TEST(threads_give_the_same_bits)
{
    TalusWorld *one = shear_crowd(1, 40), *four = shear_crowd(4, 40);
    CHECK(talus_world_hash(one) == talus_world_hash(four));
    TalusCellState a = talus_world_cell(one), b = talus_world_cell(four);
    CHECK(memcmp(&a.contact_stress, &b.contact_stress, sizeof a.contact_stress) == 0);
    CHECK(memcmp(&a.kinetic_stress, &b.kinetic_stress, sizeof a.kinetic_stress) == 0);
    CHECK(a.total_work > 0.0);
    talus_world_destroy(one);
    talus_world_destroy(four);
}

/* Continues `world` and its copy by a saved state, which stay alike. */
static void check_restart(TalusWorld *world, int steps)
{
    TalusWorld *copy = NULL;
    void *bytes = NULL;
    size_t size = 0;
    CHECK_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    talus_free(bytes);
    for (int i = 0; i < steps; i++) {
        cell_step(world);
        cell_step(copy);
    }
    CHECK(talus_world_hash(world) == talus_world_hash(copy));
    TalusCellState a = talus_world_cell(world), b = talus_world_cell(copy);
    CHECK_NEAR(a.period.tilt, b.period.tilt, 0.0);
    CHECK_NEAR(a.period.hi.y, b.period.hi.y, 0.0);
    CHECK_NEAR(a.total_work, b.total_work, 0.0);
    CHECK_NEAR(a.strain[0], b.strain[0], 0.0);
    CHECK_NEAR(a.shear, b.shear, 0.0);
    talus_world_destroy(copy);
}

TEST(a_saved_cell_goes_on_bitwise)
{
    TalusWorld *world = shear_crowd(1, 30);
    check_restart(world, 20);
    talus_world_destroy(world);
}

/* Pairs are found once, whatever the tilt: against the distances of all pairs. */
TEST(every_pair_is_found_across_a_tilt)
{
    TalusWorldDef def = cell_def(1e-6, 1.0);
    def.max_iterations = 1;
    for (int turn = 0; turn < 6; turn++) {
        TalusWorld *world = make_world(&def, NULL);
        TalusRng rng = talus_rng_from_seed((uint64_t)turn);
        TalusVec3 x[160];
        double r[160];
        world->cell.now.cell.period.tilt = world->def.period.tilt =
            turn ? 0.15 * turn - 0.4 : 0.4999;
        TalusPeriod p = talus_world_period(world);
        for (int i = 0; i < 160; i++) {
            r[i] = i % 16 ? 0.03 : 0.2;
            double a = talus_rng_uniform(&rng), b = talus_rng_uniform(&rng);
            x[i] = talus_add(p.lo, talus_vec3(a, b, talus_rng_uniform(&rng)));
            add_body(world, sphere(r[i]), 1.0, x[i], zero, zero);
        }
        int overlaps = 0, found = 0, doubled = 0;
        for (int i = 0; i < 160; i++)
            for (int j = 0; j < i; j++) {
                double least = INFINITY;
                for (int k = 0; k < 27; k++) {
                    TalusVec3 s =
                        talus_period_vector(&p, talus_vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
                    /* a second period along x where the tilt needs it */
                    for (int m = -1; m <= 1; m++) {
                        TalusVec3 d = talus_add(talus_sub(x[i], x[j]), s);
                        d.x += m;
                        least = fmin(least, talus_norm(d));
                    }
                }
                overlaps += least < r[i] + r[j];
            }
        CHECK_OK(talus_world_step(world, NULL));
        static TalusContactState c[160 * 160];
        int64_t n = talus_world_get_contacts(world, c, 160 * 160);
        for (int64_t i = 0; i < n; i++) {
            found += c[i].gap < 0.0;
            doubled +=
                i > 0 && c[i].a.number == c[i - 1].a.number && c[i].b.number == c[i - 1].b.number;
        }
        CHECK_INT(found, overlaps);
        CHECK_INT(doubled, 0);
        CHECK(overlaps > 50);
        talus_world_destroy(world);
    }
}

/* In steady shear the velocity rises linearly across the cell, and the power of the stress is what friction and impacts
 * take; pressure and shear stress have their signs. */
TEST(steady_shear_is_linear_and_dissipates_its_work)
{
    enum { LAYERS = 5, STEPS = 2500, WARM = 1500 };
    TalusWorldDef def = cell_def(2e-3, 1.0);
    def.cell.rate.xy = 2.0;
    TalusWorld *world = make_crowd(&def, 6, 1.0);
    double sum[LAYERS] = {0.0}, count[LAYERS] = {0.0}, power = 0.0, work = 0.0, lost = 0.0;
    double energy = 0.0;
    for (int i = 0; i < WARM; i++)
        cell_step(world);
    energy = info.ledger.kinetic + info.ledger.elastic;
    for (int i = 0; i < STEPS; i++) {
        cell_step(world);
        TalusCellState s = talus_world_cell(world);
        power += def.step * (s.contact_stress.xy + s.kinetic_stress.xy) * def.cell.rate.xy;
        work += info.ledger.cell;
        lost -= info.ledger.friction + info.ledger.impact + info.ledger.stabilisation +
                info.ledger.stiffening;
        if (i % 10)
            continue;
        Bodies b = bodies_of(world);
        for (int k = 0; k < b.count; k++) {
            int layer = (int)((b.x[k].y - 0.1) * LAYERS);
            sum[layer] += b.v[k].x;
            count[layer] += 1.0;
        }
    }
    for (int k = 0; k < LAYERS; k++)
        CHECK_NEAR(sum[k] / count[k], 2.0 * ((k + 0.5) / LAYERS - 0.5), 0.12);
    energy = info.ledger.kinetic + info.ledger.elastic - energy;
    CHECK_NEAR(work, lost + energy, 1e-10 * work);
    CHECK(work > 0.0);
    CHECK_NEAR(power / work, 1.0, 0.05); /* V is 1 */
    talus_world_destroy(world);
}

/* ---- controlled pressure ---- */

static TalusWorldDef pressure_def(void)
{
    TalusWorldDef def = cell_def(5e-3, 1.0);
    for (int k = 0; k < 3; k++) {
        def.cell.control[k] = true;
        def.cell.pressure[k] = 1000.0;
    }
    return def;
}

/* Contact stress of the whole cell by coarse-graining, from the world's contact list. */
static void measure_stress(const TalusWorld *world, double out[9], double *fraction)
{
    TalusSnapshot snapshot = {0};
    TalusAssembly assembly;
    TalusContinuum *c;
    TalusHeadStore head = {0};
    TalusPeriod p = talus_world_period(world);
    TalusGridDef def = {p.lo, p.hi, {1, 1, 1}, 0.2};
    const TalusRegion region = {p.lo, p.hi, -1};
    CHECK_OK(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
    CHECK_OK(talus_frames_head_of_world(world, NULL, &snapshot, &head));
    CHECK_OK(talus_assembly_take(&snapshot, &head.head, TALUS_ANY_TAG, &assembly));
    CHECK_OK(talus_continuum_create(&def, 1u << TALUS_QUANTITY_CONTACT_STRESS, &c));
    CHECK_OK(talus_continuum_add(c, &assembly, NULL));
    talus_continuum_get(c, TALUS_QUANTITY_CONTACT_STRESS, 0, 0, 0, out);
    *fraction = talus_packing_fraction(&assembly, &region);
    talus_continuum_destroy(c);
    talus_assembly_free(&assembly);
    talus_frames_head_clear(&head);
    talus_snapshot_free(&snapshot);
}

/* Volume of the spheres over that of the cell. */
static double solid_fraction(const TalusWorld *world)
{
    Bodies b = bodies_of(world);
    TalusPeriod p = talus_world_period(world);
    double sum = 0.0;
    for (int i = 0; i < b.count; i++)
        sum += 4.18879020478639 * b.r[i] * b.r[i] * b.r[i];
    return sum / talus_cell_volume(&p);
}

TEST(pressure_is_reached_and_is_that_of_the_contacts)
{
    TalusWorldDef def = pressure_def();
    TalusWorld *world = make_crowd(&def, 6, 1.0);
    double stress[9], fraction;
    for (int i = 0; i < 700; i++)
        cell_step(world);
    TalusCellState s = talus_world_cell(world);
    CHECK_NEAR(s.contact_stress.xx + s.kinetic_stress.xx, -1000.0, 30.0);
    CHECK_NEAR(s.contact_stress.yy + s.kinetic_stress.yy, -1000.0, 30.0);
    CHECK_NEAR(s.contact_stress.zz + s.kinetic_stress.zz, -1000.0, 30.0);
    CHECK_NEAR(s.strain[0] + s.strain[1] + s.strain[2], log(talus_cell_volume(&s.period)), 1e-12);
    measure_stress(world, stress, &fraction);
    CHECK_NEAR(stress[0], s.contact_stress.xx, 1e-3 * 1000.0);
    CHECK_NEAR(stress[4], s.contact_stress.yy, 1e-3 * 1000.0);
    CHECK_NEAR(stress[8], s.contact_stress.zz, 1e-3 * 1000.0);
    CHECK_NEAR(0.5 * (stress[1] + stress[3]), s.contact_stress.xy, 1e-3 * 1000.0);
    CHECK_NEAR(fraction, solid_fraction(world), 1e-9);
    CHECK(fraction > 0.5 && fraction < 0.66);
    talus_world_destroy(world);
}

/* A pressure that is far too high for the step strains the cell by a tenth per step, as the largest prescribed rate would. */
TEST(controlled_rates_have_the_limit_of_prescribed_ones)
{
    TalusWorldDef def = cell_def(0.01, 1.0);
    def.cell.control[1] = true;
    def.cell.pressure[1] = 1e9;
    TalusWorld *world = make_crowd(&def, 4, 0.05);
    double length = 1.0;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(talus_world_step(world, &info));
        TalusPeriod p = talus_world_period(world);
        CHECK(p.hi.y - p.lo.y >= 0.9 * length * (1.0 - 1e-12));
        length = p.hi.y - p.lo.y;
    }
    CHECK(length < 0.7);
    talus_world_destroy(world);
}

/* Shear at constant pressure: the cell opens and closes to keep it, in the mean; a restart goes on bitwise, and what is
 * measured follows the tilt. */
TEST(shear_at_constant_pressure)
{
    TalusWorldDef def = cell_def(4e-3, 1.0);
    def.cell.rate.xy = 1.0;
    def.cell.control[1] = true;
    def.cell.pressure[1] = 1000.0;
    TalusWorld *world = make_crowd(&def, 6, 1.0);
    double pressure = 0.0, shear = 0.0, stress[9], fraction;
    for (int i = 0; i < 1250; i++)
        cell_step(world);
    for (int i = 0; i < 1250; i++) {
        cell_step(world);
        TalusCellState s = talus_world_cell(world);
        pressure -= (s.contact_stress.yy + s.kinetic_stress.yy) / 1250.0;
        shear += (s.contact_stress.xy + s.kinetic_stress.xy) / 1250.0;
    }
    CHECK_NEAR(pressure, 1000.0, 80.0);
    CHECK(shear > 300.0 && shear < 600.0);
    TalusCellState s = talus_world_cell(world);
    CHECK(fabs(s.period.tilt) > 0.01);
    CHECK_NEAR(s.shear, 10.0, 1e-9);
    measure_stress(world, stress, &fraction);
    CHECK_NEAR(stress[4], s.contact_stress.yy, 0.05 * 1000.0);
    CHECK_NEAR(0.5 * (stress[1] + stress[3]), s.contact_stress.xy, 0.05 * 1000.0);
    CHECK_NEAR(fraction, solid_fraction(world), 1e-9);
    check_restart(world, 20);
    talus_world_destroy(world);
}

/* ---- what is refused ---- */

static void refuse(TalusWorldDef def, const char *part)
{
    TalusWorld *world = NULL;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_ARGUMENT);
    if (!CHECK(strstr(talus_error(), part) != NULL))
        CHECK_STR(talus_error(), part);
}

TEST(what_a_cell_cannot_do_is_refused)
{
    TalusWorldDef def = cell_def(1e-3, 1.0);
    def.period.on[2] = 0;
    refuse(def, "periods along x, y and z");
    def = cell_def(1e-3, 1.0);
    def.gravity.z = -9.81;
    refuse(def, "gravity");
    def = cell_def(1e-3, 1.0);
    def.sleep_speed = 1.0;
    refuse(def, "sleep");
    def = cell_def(1e-3, 1.0);
    def.cell.rate.yy = 200.0;
    refuse(def, "per step");
    def = cell_def(1e-3, 1.0);
    def.cell.control[1] = true;
    refuse(def, "pressure");
    def.cell.pressure[1] = 10.0;
    def.cell.rate.yy = 0.1;
    refuse(def, "one of them");
    def.cell.rate.yy = 0.0;
    def.compliance = 0.0;
    refuse(def, "compliance");
    def = cell_def(1e-3, 1.0);
    def.cell.on = false;
    def.period.tilt = 0.1;
    refuse(def, "tilt");
    def = cell_def(1e-3, 1.0);
    TalusWorld *world = make_world(&def, NULL);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusShapeDef ball = sphere(0.1);
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &zero;
    CHECK_INT(talus_world_add_bodies(world, &batch, NULL), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "free bodies") != NULL);
    talus_world_destroy(world);
}

/* A step that fails leaves cell and bodies as they were. */
TEST(a_failed_step_leaves_the_cell)
{
    TalusWorldDef def = cell_def(2e-3, 1.0);
    def.cell.rate = (TalusGradient){-0.1, 0.05, -0.1, 2.0};
    def.on_miss = TALUS_MISS_STOP;
    TalusWorld *world = make_crowd(&def, 5, 1.0);
    for (int i = 0; i < 30; i++)
        CHECK_OK(talus_world_step(world, NULL));
    uint64_t hash = talus_world_hash(world);
    TalusPeriod p = talus_world_period(world);
    CHECK_OK(talus_world_set_accuracy(world, 1e-12, 1));
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    CHECK_NEAR(talus_world_period(world).tilt, p.tilt, 0.0);
    CHECK_NEAR(talus_world_period(world).hi.x, p.hi.x, 0.0);
    CHECK_OK(talus_world_set_accuracy(world, 1e-2, 1000));
    cell_step(world);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_collision_is_the_same_everywhere);
    RUN(a_body_that_crosses_keeps_its_relative_velocity);
    RUN(every_pair_is_found_across_a_tilt);
    RUN(solvers_see_the_same_slip);
    RUN(threads_give_the_same_bits);
    RUN(a_saved_cell_goes_on_bitwise);
    RUN(steady_shear_is_linear_and_dissipates_its_work);
    RUN(pressure_is_reached_and_is_that_of_the_contacts);
    RUN(controlled_rates_have_the_limit_of_prescribed_ones);
    RUN(shear_at_constant_pressure);
    RUN(what_a_cell_cannot_do_is_refused);
    RUN(a_failed_step_leaves_the_cell);
    return talus_test_result();
}
