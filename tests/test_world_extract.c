/* The problem that talus_world_build lends is that of the step: written to a file and read back, it is solved by the
 * step's impulses, which give the bodies their new velocities, and its own solution is the same. Compliance, hardening,
 * attraction, restitution and applied forces are all in it. */
#include "material_world.h"

#include "problem/problem.h"
#include "support/verified.h"

#include <stdio.h>
#include <talus/fclib.h>
#include <talus/io.h>

static const double world_tolerance = 1e-10; /* over the reference speed, as in tight_def */
/* SETTLE: steps to a state at which rigid contacts under exact Coulomb friction, which may stall, reach that. */
enum { SETTLE = 298, BALLS = 18, FIXED = 5, BODIES = FIXED + BALLS };

typedef struct Case {
    double compliance, elastic_overlap; /* of the world; 0: rigid, and the default */
    double stiffness, damping;          /* of the material */
    double cohesion, restitution;
    double kick;     /* speed at which the last ball moves down when the rest has settled, m/s */
    TalusVec3 force; /* on each ball */
    int steps;       /* before the one that is compared */
} Case;

/* Adds a pit of 0.5 by 0.5 m. */
static void add_pit(TalusWorld *world)
{
    const double c = sqrt(0.5);
    const TalusVec3 x[4] = {{0, 0, 0}, {0.5, 0, 0}, {0, 0, 0}, {0, 0.5, 0}};
    const TalusQuat turned[4] = {{c, 0, c, 0}, {c, 0, -c, 0}, {c, -c, 0, 0}, {c, c, 0, 0}};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &plane, &batch.shape));
    batch.count = 4;
    batch.fixed = true;
    batch.position = x;
    batch.orientation = turned;
    add_floor(world);
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

/* Adds balls in layers of two by two and one between. */
static void add_balls(TalusWorld *world, const Case *c, int material)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusShapeDef ball = sphere(0.1);
    TalusVec3 x[BALLS];
    for (int i = 0; i < BALLS; i++) {
        int layer = i / 5, k = i % 5;
        x[i] = talus_vec3(0.13 + 0.22 * (k % 2), 0.14 + 0.21 * (k / 2), 0.1 + 0.32 * layer);
        if (k == 4)
            x[i] = talus_vec3(0.24, 0.26, 0.26 + 0.32 * layer);
    }
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = BALLS;
    batch.mass = 1.0;
    batch.position = x;
    batch.force = c->force;
    batch.material = material;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

static TalusWorld *make_bed(const Case *c, TalusFrictionLaw law)
{
    int index;
    TalusWorldDef def = tight_def(0.005);
    TalusPairDef pair = talus_pair_def_default();
    TalusMaterialDef material = talus_material_def_default();
    def.compliance = c->compliance;
    if (c->elastic_overlap > 0.0)
        def.elastic_overlap = c->elastic_overlap;
    def.friction.law = law;
    def.restitution_threshold = 1.2;
    pair.cohesion = c->cohesion;
    pair.restitution = c->restitution;
    material.stiffness = c->stiffness;
    material.damping = c->damping;
    TalusWorld *world = make_world(&def, NULL);
    CHECK_OK(talus_world_add_material(world, &material, &index));
    CHECK_OK(talus_world_set_pair(world, 0, index, &pair));
    CHECK_OK(talus_world_set_pair(world, index, index, &pair));
    add_pit(world);
    add_balls(world, c, index);
    return world;
}

/* ---- the problem of the file ---- */

static TalusProblem *through_own(TalusProblem *built)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_write("step.talus", built));
    CHECK_OK(talus_problem_read("step.talus", NULL, &problem));
    return problem;
}

/* FCLIB has no place for the law, which the reader gives. */
static TalusProblem *through_fclib(TalusProblem *built, TalusFrictionLaw law, bool compliant)
{
    TalusProblem *problem = NULL;
    TalusFclib *f = NULL, *read = NULL;
    CHECK_OK(talus_fclib_from_problem(built, "step", &f));
    CHECK(f && f->global == !compliant);
    CHECK_OK(talus_fclib_write("step.hdf5", f));
    CHECK_OK(
        talus_problem_open("step.hdf5", &(TalusFrictionModel){.law = law}, NULL, &problem, &read));
    talus_fclib_destroy(f);
    talus_fclib_destroy(read);
    return problem;
}

static void solve(TalusProblem *problem, const TalusWorld *world)
{
    TalusSolver *solver;
    TalusSolveInfo result;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = world_tolerance * world->reference_speed;
    options.norm = TALUS_NORM_MAX;
    options.max_iterations = 100000;
    REQUIRE_OK(talus_solver_create("auto", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &result));
    CHECK_INT(result.outcome, TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(solver);
}

/* ---- against the step ---- */

/* The largest difference between the world's velocities and those of impulses gamma; spin times the radius. */
static double velocity_error(const TalusWorld *world, const TalusProblemDef *def,
                             const double *gamma)
{
    TalusVec3 v[BODIES], w[BODIES];
    TalusBodyState state = {.velocity = v, .spin = w};
    double error = 0.0, moved[6 * BODIES];
    talus_world_get_state(world, &state);
    verify_body_velocity(def, gamma, moved);
    for (int i = FIXED; i < BODIES; i++) {
        const double *f = &moved[6 * i];
        error = fmax(error, talus_norm(talus_sub(v[i], talus_vec3(f[0], f[1], f[2]))));
        error = fmax(error, 0.1 * talus_norm(talus_sub(w[i], talus_vec3(f[3], f[4], f[5]))));
    }
    return error;
}

/* The problem that the step solved, bit for bit: the bed is so calm that nothing is detected or solved again. */
static void check_same(TalusWorld *world, const TalusProblemDef *file)
{
    TalusProblemDef step;
    talus_problem_forget_def(world->problem); /* of the earlier build */
    REQUIRE_OK(talus_problem_export(world->problem, &step));
    REQUIRE(step.contact_count == file->contact_count);
    for (int i = 0; i < step.contact_count; i++) {
        const TalusContactDef *a = &step.contacts[i], *b = &file->contacts[i];
        CHECK(a->bias == b->bias && a->compliance == b->compliance && a->mu == b->mu);
        CHECK(a->a == b->a && a->b == b->b && a->model.law == b->model.law);
        CHECK(memcmp(&a->normal, &b->normal, sizeof a->normal) == 0);
    }
}

/* `gamma` are the impulses of the step. */
static void check_step(const TalusWorld *world, const TalusProblemDef *def, const double *gamma)
{
    double speed = world->reference_speed;
    CHECK(verify_residual(def, gamma).max <= 1.001 * world_tolerance * speed);
    CHECK(velocity_error(world, def, gamma) <= 1e-12 * speed);
}

/* Under ccp velocities are unique; exact Coulomb may have several solutions. */
static void check_solution(TalusProblem *file, const TalusWorld *world, const TalusProblemDef *def)
{
    REQUIRE(file != NULL);
    solve(file, world);
    double error = velocity_error(world, def, talus_problem_gamma(file));
    if (!CHECK(error <= 1e-6 * world->reference_speed))
        printf("    velocities differ by %g, g h is %g\n", error, world->reference_speed);
}

static void check_world(TalusWorld *world, TalusFrictionLaw law, TalusProblem *own,
                        TalusProblem *fclib)
{
    TalusProblemDef def;
    CHECK_OK(talus_world_step(world, &info));
    CHECK(!info.missed);
    REQUIRE_OK(talus_problem_export(own, &def));
    check_same(world, &def);
    check_step(world, &def, talus_problem_gamma(world->problem));
    if (law == TALUS_LAW_CCP)
        check_solution(own, world, &def);
    if (law == TALUS_LAW_CCP && fclib)
        check_solution(fclib, world, &def);
}

/* With restitution some contacts rebound, and are rigid in this step; else all or none are compliant. */
static void check_rigid(TalusProblem *problem, const Case *c)
{
    TalusProblemDef def;
    int rigid = 0;
    REQUIRE_OK(talus_problem_export(problem, &def));
    for (int i = 0; i < def.contact_count; i++)
        rigid += def.contacts[i].compliance == 0.0;
    CHECK((rigid > 0) == (c->restitution > 0.0 || c->compliance == 0.0));
    CHECK((rigid < def.contact_count) == (c->compliance > 0.0));
}

static TalusWorld *settled_bed(const Case *c, TalusFrictionLaw law)
{
    TalusWorld *world = make_bed(c, law);
    CHECK_OK(talus_world_set_accuracy(world, 1e-4, 1000));
    for (int i = 0; i < SETTLE; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK_OK(talus_world_set_accuracy(world, world_tolerance, 100000));
    if (c->kick > 0.0)
        CHECK_OK(talus_world_set_velocity(world, (TalusBodyId){BODIES}, talus_vec3(0, 0, -c->kick),
                                          zero));
    return world;
}

static void check_law(const Case *c, TalusFrictionLaw law)
{
    TalusWorld *world = settled_bed(c, law);
    TalusProblem *built, *fclib = NULL;
    REQUIRE_OK(talus_world_build(world, &built));
    CHECK(talus_problem_blocks(built) >= 2 * BALLS);
    TalusProblem *own = through_own(built);
    if (talus_fclib_available())
        fclib = through_fclib(built, law, c->compliance > 0.0);
    REQUIRE(own != NULL);
    check_rigid(own, c);
    check_world(world, law, own, fclib);
    talus_problem_destroy(own);
    talus_problem_destroy(fclib);
    talus_world_destroy(world);
}

static void check_case(Case c)
{
    check_law(&c, TALUS_LAW_CCP);
    check_law(&c, TALUS_LAW_COULOMB);
}

TEST(rigid_contacts)
{
    check_case((Case){.compliance = 0.0});
}

TEST(relative_compliance)
{
    check_case((Case){.compliance = 6e-3});
}

/* Overlaps near their limit: the tangent of the hardening law is far from that of zero load. */
TEST(hardened_contacts)
{
    check_case((Case){.compliance = 0.05, .elastic_overlap = 1e-3});
}

TEST(cohesion)
{
    check_case((Case){.compliance = 6e-3, .cohesion = 3.0});
}

/* Some contacts rebound, and are rigid; others rest. */
TEST(restitution)
{
    check_case((Case){.compliance = 6e-3, .restitution = 0.5, .kick = 0.1});
}

TEST(applied_forces)
{
    check_case((Case){.compliance = 6e-3, .force = {0.5, 0.0, -2.0}});
}

TEST(material_stiffness_and_damping)
{
    check_case((Case){.compliance = 6e-3, .stiffness = 1e5, .damping = 20.0});
}

int main(void)
{
    RUN(rigid_contacts);
    RUN(relative_compliance);
    RUN(hardened_contacts);
    RUN(cohesion);
    RUN(restitution);
    RUN(applied_forces);
    RUN(material_stiffness_and_damping);
    return talus_test_result();
}
