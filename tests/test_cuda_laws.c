/* Worlds under every law of friction and material on the cuda backend beside the same worlds on the host. */
#include "cuda_world.h"

/* ---- a bed ---- */

enum { BED = 36, LEAD = 45 };

/* Spheres of unlike sizes, so that no force network is redundant, fall into a corner of two walls, onto a
 * floor; a soft sphere and a smooth one are among them. */
static TalusStatus add_bed(TalusWorld *world)
{
    TalusMaterialDef soft = talus_material_def_default(), ice = soft;
    TalusVec3 x[BED], v[BED];
    double radius[BED];
    soft.stiffness = 2e5;
    soft.damping = 50.0;
    ice.friction = 0.0;
    TALUS_TRY(talus_world_add_material(world, &soft, NULL));
    TALUS_TRY(talus_world_add_material(world, &ice, NULL));
    TALUS_TRY(add_floor(world, NULL));
    TALUS_TRY(add_wall(world, -0.1, 1.0));
    TALUS_TRY(add_wall(world, 0.62, -1.0));
    for (int i = 0; i < BED; i++) {
        x[i] = talus_vec3(0.24 * (i % 3) + 0.01 * (i % 5), 0.23 * (i / 3 % 3) + 0.008 * (i % 7),
                          0.12 + 0.235 * (i / 9));
        v[i] = talus_vec3(0.2 * (i % 2), -0.1 * (i % 3), -0.4);
        radius[i] = 0.08 + 0.004 * (i % 6);
    }
    for (int material = 0; material < 3; material++) { /* the last ones are soft and smooth */
        TalusBodyBatch batch = talus_body_batch_default();
        int first = material ? BED - 3 + material : 0;
        TALUS_TRY(talus_world_require_sphere_shape(world, 0.1, &batch.shape));
        batch.count = material ? 1 : BED - 2;
        batch.material = material;
        batch.position = x + first;
        batch.velocity = v + first;
        batch.radius = radius + first;
        TALUS_TRY(talus_world_add_bodies(world, &batch, NULL));
    }
    TalusProbeDef floor = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = {1}};
    TalusProbeDef region = {.name = "region",
                            .kind = TALUS_PROBE_REGION,
                            .lo = {-0.1, -0.2, 0.0},
                            .hi = {0.4, 0.3, 0.3}};
    TALUS_TRY(talus_world_add_probe(world, &floor, NULL));
    return talus_world_add_probe(world, &region, NULL);
}

/* On the host, as its spheres push each other. */
static TalusWorld *make_bed(void)
{
    TalusWorldDef def = relaxed_def(1);
    def.backend = "cpu";
    def.solver = "apgd:check=1"; /* solves end in the same iteration on either side */
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_bed(world));
    run(world, LEAD);
    return world;
}

typedef struct Case {
    const char *name;
    TalusFrictionLaw law;
    TalusSection section;
    double restitution, moment_mu, cohesion;
    int rows, steps;
} Case;

/* A step under exact friction may have several solutions, and small differences decide between them: after
 * a dozen steps of this bed the host parts from itself as soon as one of two runs starts cold. */
enum { UNIQUE = 12, SEVERAL = 6 };

static const Case cases[] = {
    {.name = "ccp square", TALUS_LAW_CCP, TALUS_SECTION_SQUARE, .rows = 3, .steps = UNIQUE},
    {.name = "ccp polygon", TALUS_LAW_CCP, TALUS_SECTION_POLYGON, .rows = 3, .steps = UNIQUE},
    {.name = "fixed disc", TALUS_LAW_FIXED, TALUS_SECTION_DISC, .rows = 3, .steps = UNIQUE},
    {.name = "fixed square", TALUS_LAW_FIXED, TALUS_SECTION_SQUARE, .rows = 3, .steps = UNIQUE},
    {.name = "fixed polygon", TALUS_LAW_FIXED, TALUS_SECTION_POLYGON, .rows = 3, .steps = UNIQUE},
    {.name = "coulomb disc", TALUS_LAW_COULOMB, TALUS_SECTION_DISC, .rows = 3, .steps = SEVERAL},
    {.name = "coulomb square",
     TALUS_LAW_COULOMB,
     TALUS_SECTION_SQUARE,
     .rows = 3,
     .steps = SEVERAL},
    {.name = "coulomb polygon",
     TALUS_LAW_COULOMB,
     TALUS_SECTION_POLYGON,
     .rows = 3,
     .steps = SEVERAL},
    {.name = "no section", TALUS_LAW_COULOMB, TALUS_SECTION_NONE, .rows = 3, .steps = UNIQUE},
    {.name = "restitution", .restitution = 0.6, .rows = 3, .steps = UNIQUE},
    {.name = "cohesion", .cohesion = 3.0, .rows = 3, .steps = UNIQUE},
    {.name = "moment_mu, ccp", .moment_mu = 0.05, .rows = 6, .steps = UNIQUE},
    {.name = "moment_mu, coulomb",
     TALUS_LAW_COULOMB,
     .moment_mu = 0.05,
     .rows = 6,
     .steps = SEVERAL},
    {"all", TALUS_LAW_COULOMB, TALUS_SECTION_DISC, 0.3, 0.05, 3.0, 6, SEVERAL},
};

enum { CASES = sizeof cases / sizeof *cases };

/* Of the rigid spheres with each other and with floor and walls; others keep the circular cone. */
static TalusStatus set_case(TalusWorld *world, const Case *c)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model = (TalusFrictionModel){.section = c->section, .law = c->law};
    pair.model.sides = c->section == TALUS_SECTION_POLYGON ? 6 : 0;
    pair.restitution = c->restitution;
    pair.spinning = pair.rolling = c->moment_mu;
    pair.cohesion = c->cohesion;
    return talus_world_set_pair(world, 0, 0, &pair);
}

/* ---- beside the host ---- */

static void compare_ledgers(const TalusLedger *a, const TalusLedger *b)
{
    double scale = 1e-8 * (a->kinetic + fabs(a->impact));
    CHECK_NEAR(b->friction, a->friction, scale);
    CHECK_NEAR(b->impact, a->impact, scale);
    CHECK_NEAR(b->stabilisation, a->stabilisation, scale);
    CHECK_NEAR(b->cohesion, a->cohesion, scale);
    CHECK(fabs(b->imbalance) <= 1e-12 * (a->kinetic + fabs(a->potential)));
}

/* Steps of both worlds, compared; false where one fails. */
static bool step_both(TalusWorld *host, TalusWorld *cuda, const Case *c, TalusStepInfo *last)
{
    for (int i = 0; i < c->steps; i++) {
        TalusStepInfo info;
        double dx, dv;
        if (!CHECK_OK(talus_world_step(host, last)) || !CHECK_OK(talus_world_step(cuda, &info)))
            return false;
        CHECK(!last->missed && !info.missed);
        CHECK_INT(info.contacts, last->contacts);
        CHECK_INT(talus_problem_operator(host->problem)->rows, c->rows);
        differences(host, cuda, 0.08, &dx, &dv);
        CHECK(dx <= 1e-9 && dv <= 1e-9);
        compare_probes(host, cuda, 1e-8);
        compare_ledgers(&last->ledger, &info.ledger);
        if (i == c->steps - 1)
            printf("  %-16s %d steps, %lld contacts: positions %.1e, velocities %.1e\n", c->name,
                   c->steps, (long long)info.contacts, dx, dv);
    }
    return true;
}

static void compare_case(TalusWorld *start, const Case *c)
{
    TalusWorld *host = moved_to(start, "cpu"), *cuda = moved_to(start, "cuda");
    TalusStepInfo last = {0};
    REQUIRE(host && cuda);
    CHECK_OK(set_case(host, c));
    CHECK_OK(set_case(cuda, c));
    make_tight(host);
    make_tight(cuda);
    if (step_both(host, cuda, c, &last)) {
        CHECK((last.ledger.cohesion != 0.0) == (c->cohesion > 0.0));
        CHECK(last.ledger.impact != 0.0);
    }
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

TEST(every_law_agrees_to_rounding)
{
    TalusWorld *start = make_bed();
    for (int i = 0; i < CASES; i++)
        compare_case(start, &cases[i]);
    talus_world_destroy(start);
}

/* ---- a body with many contacts ---- */

enum { SHELL = 90 };

/* A large sphere in a shell of small ones that stick to it and roll on it, in free fall. */
static TalusWorld *make_shell(void)
{
    TalusWorldDef def = quick_def(1);
    TalusPairDef pair = talus_pair_def_default();
    TalusVec3 x[SHELL + 1] = {{0.0, 0.0, 0.0}}, v[SHELL + 1] = {{0.0, 0.0, 0.0}};
    TalusVec3 spin[SHELL + 1] = {{0.0, 0.0, 2.0}};
    double radius[SHELL + 1] = {0.5};
    TalusBodyBatch batch = talus_body_batch_default();
    def.solver = "apgd";
    TalusWorld *world = make_world(&def);
    pair.spinning = pair.rolling = 0.05;
    pair.cohesion = 5.0;
    CHECK_OK(talus_world_set_pair(world, 0, 0, &pair));
    for (int i = 1; i <= SHELL; i++) { /* on a spiral */
        double z = (2.0 * i - 1.0) / SHELL - 1.0, r = sqrt(1.0 - z * z);
        radius[i] = 0.04 + 0.001 * (i % 5);
        x[i] = talus_scale(0.5 + radius[i], talus_vec3(r * cos(2.4 * i), r * sin(2.4 * i), z));
        v[i] = talus_vec3(0.1 * (i % 3), 0.0, 0.05 * (i % 2));
        spin[i] = talus_vec3(0.0, 3.0 * (i % 4), 0.0);
    }
    CHECK_OK(talus_world_require_sphere_shape(world, 0.1, &batch.shape));
    batch.count = SHELL + 1;
    batch.position = x;
    batch.velocity = v;
    batch.spin = spin;
    batch.radius = radius;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    make_tight(world);
    return world;
}

TEST(a_body_with_many_contacts_is_pulled_as_on_the_host)
{
    test_backend = "cpu";
    TalusWorld *host = make_shell();
    test_backend = "cuda";
    TalusWorld *cuda = make_shell();
    Case shell = {.name = "shell", .rows = 6, .steps = 2};
    TalusStepInfo last = {0};
    step_both(host, cuda, &shell, &last);
    CHECK(last.contacts >= SHELL && last.ledger.cohesion != 0.0);
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

/* ---- restart ---- */

static bool same_state(const TalusWorld *a, const TalusWorld *b)
{
    void *bytes[2];
    size_t size[2];
    if (!CHECK_OK(talus_world_save(a, &bytes[0], &size[0])) ||
        !CHECK_OK(talus_world_save(b, &bytes[1], &size[1])))
        return false;
    bool same = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    talus_free(bytes[0]);
    talus_free(bytes[1]);
    return same;
}

TEST(a_loaded_world_goes_on_bitwise_under_every_law)
{
    TalusWorld *start = make_bed();
    for (int k = 0; k < CASES; k++) {
        TalusWorld *world = moved_to(start, k % 2 ? "cuda-mixed" : "cuda");
        CHECK_OK(set_case(world, &cases[k]));
        run(world, 2);
        TalusWorld *copy = moved_to(world, world->backend_name);
        REQUIRE(copy && same_state(world, copy));
        run(world, 3);
        run(copy, 3);
        CHECK(same_state(world, copy));
        talus_world_destroy(copy);
        talus_world_destroy(world);
    }
    talus_world_destroy(start);
}

int main(void)
{
    if (!have_cuda())
        return 77;
    RUN(every_law_agrees_to_rounding);
    RUN(a_body_with_many_contacts_is_pulled_as_on_the_host);
    RUN(a_loaded_world_goes_on_bitwise_under_every_law);
    return talus_test_result();
}
