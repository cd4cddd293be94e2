/* The engine of the cuda backend stage by stage against the same stages of a world on the host. Whatever is
 * computed body by body or contact by contact is the same to the bit; sums over several differ in their
 * order alone. */
#include "cuda_engine.h"

#include <stdio.h>

static void check_round_trip(const Scene *scene)
{
    Both both;
    if (open_both(&both, scene)) {
        check_bodies(&both, 0.0);
        check_contacts(&both);
    }
    close_both(&both);
}

TEST(bodies_and_contacts_go_in_and_come_out)
{
    NEEDS_CUDA();
    for (int i = 0; i < SCENES; i++)
        check_round_trip(&scenes[i]);
}

static void check_problem(const Scene *scene, bool soften)
{
    Both both;
    Copy copy = {0};
    if (open_both(&both, scene) && build_both(&both, soften, &copy)) {
        check_contacts(&both);
        CHECK_INT(copy.op.rows, scene->rows);
        CHECK(copy.op.blocks > 30);
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(the_problem_is_the_hosts)
{
    NEEDS_CUDA();
    for (int i = 0; i < SCENES; i++)
        for (int soften = 0; soften < 2; soften++)
            check_problem(&scenes[i], soften);
}

static void check_ledger(const TalusLedger *host, const TalusEngineLedger *l)
{
    double scale = 1e-12 * (fabs(host->kinetic) + fabs(host->potential));
    CHECK_NEAR(l->kinetic, host->kinetic, scale);
    CHECK_NEAR(l->potential, host->potential, scale);
    CHECK_NEAR(l->kinetic_change, host->kinetic_change, scale);
    CHECK_NEAR(l->potential_change, host->potential_change, scale);
    CHECK_NEAR(l->gravity_error, host->gravity_error, scale);
    CHECK_NEAR(l->spin, host->spin, scale);
    CHECK_NEAR(l->friction, host->friction, scale);
    CHECK_NEAR(l->stabilisation, host->stabilisation, scale);
    CHECK_NEAR(l->impact, host->impact, scale);
    CHECK_NEAR(l->cohesion, host->cohesion, scale);
}

/* Impulses of `size`, 0 for free flight; the worlds then hold the same bits. */
static void check_step(const Scene *scene, double size)
{
    Both both;
    Copy copy = {0};
    bool changed, on_host;
    double overlap_ratio;
    TalusEngineLedger ledger;
    if (open_both(&both, scene) && build_both(&both, false, &copy)) {
        TalusWorld *w = both.world;
        w->info = (TalusStepInfo){0};
        give_impulses(&both, &copy, size);
        CHECK_OK(ops()->compute_velocities(both.engine, talus_velocity_change_limit(w, both.h),
                                           &changed, &overlap_ratio));
        CHECK_OK(w->host.ops->compute_velocities(
            w->host.self, talus_velocity_change_limit(w, both.h), &on_host, &overlap_ratio));
        CHECK(changed == on_host);
        CHECK_OK(ops()->compute_velocities(both.engine, 1e6, &changed, &overlap_ratio));
        CHECK(!changed);
        CHECK_OK(ops()->integrate(both.engine, both.h, w->def.gravity, 1, &ledger));
        CHECK_OK(talus_stage_integrate(w, both.h));
        check_bodies(&both, size == 0.0 && !w->materials.any_cohesion ? 0.0 : 1e-13);
        check_contacts(&both);
        check_ledger(&w->info.ledger, &ledger);
        CHECK(size == 0.0 || fabs(w->info.ledger.friction) + fabs(w->info.ledger.impact) > 0.0);
        CHECK(w->materials.any_cohesion == (w->info.ledger.cohesion != 0.0));
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(a_step_leads_to_the_hosts_state)
{
    NEEDS_CUDA();
    for (int i = 0; i < SCENES; i++) {
        check_step(&scenes[i], 0.0);
        check_step(&scenes[i], 0.05);
        check_step(&scenes[i], 5.0); /* enough to surprise */
    }
}

static void check_second_look(const Scene *scene)
{
    Both both;
    Copy copy = {0};
    if (open_both(&both, scene) && build_both(&both, false, &copy)) {
        TalusWorld *w = both.world;
        TalusDetectOptions detect = talus_detect_options(w, both.h);
        TalusEngineCounts counts;
        bool changed;
        double overlap_ratio;
        int before = talus_world_contacts(w)->count;
        give_impulses(&both, &copy, 40.0);
        CHECK_OK(ops()->compute_velocities(both.engine, talus_velocity_change_limit(w, both.h),
                                           &changed, &overlap_ratio));
        CHECK(changed);
        CHECK_OK(ops()->store_impulses(both.engine));
        CHECK_OK(ops()->redetect(both.engine, &detect, w->def.gravity, &counts));
        CHECK_OK(talus_stage_redetect(w, both.h));
        check_contacts(&both);
        CHECK(talus_world_contacts(w)->count != before);
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(a_second_look_takes_the_solved_velocities)
{
    NEEDS_CUDA();
    check_second_look(&scenes[0]);
    check_second_look(&scenes[SCENES - 1]); /* impulses net of attraction */
}

/* Strong impulses drive bodies into others: both sides miss contacts that end below the same tolerances. */
static void check_missing(const Scene *scene)
{
    Both both;
    Copy copy = {0};
    if (open_both(&both, scene) && build_both(&both, false, &copy)) {
        TalusWorld *w = both.world;
        TalusDetectOptions detect = talus_detect_options(w, both.h);
        double limit = talus_velocity_change_limit(w, both.h), overlap_ratio;
        bool changed, missing = false, on_host = false;
        give_impulses(&both, &copy, 40.0);
        CHECK_OK(ops()->compute_velocities(both.engine, limit, &changed, &overlap_ratio));
        for (double tolerance = 1e-6; tolerance < 1e6; tolerance *= 1.25) {
            CHECK_OK(ops()->find_missing(both.engine, &detect, limit, tolerance, &missing));
            CHECK_OK(w->host.ops->find_missing(w->host.self, &detect, limit, tolerance, &on_host));
            CHECK(missing == on_host);
            CHECK(missing || tolerance > 1e-3);
        }
        CHECK(!missing);
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(the_same_contacts_are_missing)
{
    NEEDS_CUDA();
    for (int i = 0; i < SCENES; i++)
        check_missing(&scenes[i]);
}

TEST(backup_brings_bodies_and_contacts_back)
{
    NEEDS_CUDA();
    Both both;
    Copy copy = {0};
    TalusEngineLedger ledger;
    bool changed;
    double overlap_ratio;
    if (open_both(&both, &scenes[0]) && build_both(&both, false, &copy)) {
        CHECK_OK(ops()->snapshot_contacts(both.engine));
        CHECK_OK(ops()->snapshot_states(both.engine));
        give_impulses(&both, &copy, 0.5);
        CHECK_OK(ops()->compute_velocities(both.engine, 1.0, &changed, &overlap_ratio));
        CHECK_OK(ops()->integrate(both.engine, both.h, both.world->def.gravity, 1, &ledger));
        TalusDetectOptions detect = talus_detect_options(both.world, both.h);
        TalusEngineCounts counts;
        CHECK_OK(ops()->detect(both.engine, &detect, both.world->def.gravity, false, &counts));
        CHECK_OK(ops()->rollback(both.engine, true));
        check_bodies(&both, 0.0);
        check_contacts(&both);
        clear_copy(&copy);
        build_both(&both, false, &copy); /* and on from there */
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(forgotten_bodies_lose_their_impulses)
{
    NEEDS_CUDA();
    Both both;
    if (open_both(&both, &scenes[0])) {
        TalusWorld *w = both.world;
        TalusBodyArrays arrays = arrays_of(w);
        uint8_t *dropped = calloc((size_t)arrays.slots, 1);
        for (int i = 0; i < talus_world_contacts(w)->count; i += 7) {
            uint32_t slot = talus_world_contacts(w)->contact[i].b;
            dropped[slot] = 1;
            w->host.ops->drop_impulses(w->host.self, (int)slot);
        }
        CHECK_OK(ops()->put_bodies(both.engine, &arrays, dropped));
        check_contacts(&both);
        free(dropped);
    }
    close_both(&both);
}

TEST(bodies_below_are_counted)
{
    NEEDS_CUDA();
    Both both;
    if (open_both(&both, &scenes[0])) {
        const TalusBodies *b = &both.world->bodies;
        for (int axis = 0; axis < 3; axis++) {
            const double level = 0.3;
            int64_t expected = 0, count = -1;
            for (int i = 0; i < b->counts.slots; i++)
                expected += talus_slot_is_free(b, i) && (&b->position[i].x)[axis] < level;
            CHECK_OK(ops()->count_below(both.engine, axis, level, &count));
            CHECK_INT(count, expected);
            CHECK(expected > 0 && expected < b->counts.living);
        }
    }
    close_both(&both);
}

/* The lowest slot that block j of the host's problem pushes. */
static int lowest_of(const TalusOperator *op, int j)
{
    int a = op->pair[j][0], b = op->pair[j][1];
    return b >= 0 && b < a ? b : a;
}

TEST(a_step_that_is_not_finite_changes_nothing)
{
    NEEDS_CUDA();
    Both both;
    Copy copy = {0};
    TalusEngineLedger ledger;
    bool changed;
    double overlap_ratio;
    char expected[64];
    if (open_both(&both, &scenes[0]) && build_both(&both, false, &copy)) {
        double huge[3] = {1e200, 0.0, 0.0};
        int i = copy.op.blocks / 2;
        give_impulses(&both, &copy, 0.0);
        cuda->vector.put(cuda_op(), copy.device_gamma + copy.op.rows * i, huge,
                         (size_t)copy.op.rows);
        CHECK_OK(ops()->compute_velocities(both.engine, 1.0, &changed, &overlap_ratio));
        CHECK(changed);
        CHECK(ops()->integrate(both.engine, both.h, both.world->def.gravity, 12, &ledger) ==
              TALUS_ERR_NUMERIC);
        snprintf(expected, sizeof expected, "step 12: the solve gave body %d ",
                 lowest_of(talus_problem_operator(both.world->problem), copy.block[i]) + 1);
        CHECK(said(expected));
        check_bodies(&both, 0.0);
        check_contacts(&both);
    }
    clear_copy(&copy);
    close_both(&both);
}

TEST(a_state_that_is_not_finite_is_named)
{
    NEEDS_CUDA();
    Both both;
    if (open_both(&both, &scenes[1])) {
        TalusWorld *w = both.world;
        TalusDetectOptions detect = talus_detect_options(w, both.h);
        TalusEngineCounts counts;
        w->bodies.velocity[20].y = INFINITY;
        w->bodies.position[11].x = NAN;
        TalusBodyArrays arrays = arrays_of(w);
        CHECK_OK(ops()->put_bodies(both.engine, &arrays, NULL));
        CHECK(ops()->detect(both.engine, &detect, w->def.gravity, 1, &counts) == TALUS_ERR_NUMERIC);
        CHECK(said("body 12 "));
        check_contacts(&both);
    }
    close_both(&both);
}

TEST(a_world_without_bodies_steps)
{
    NEEDS_CUDA();
    TalusEngine *engine;
    TalusLaw law = {.mu = 0.3};
    TalusTables tables = {.law = &law, .materials = 1};
    TalusBodyArrays none = {0};
    TalusDetectOptions detect = {0.01, 0.1, 0.1, 0.3};
    TalusBuildOptions build = {.h = 0.01, .impulse_ratio = 1.0};
    TalusEngineCounts counts;
    TalusBuildReport report;
    TalusEngineLedger ledger;
    TalusOperator *op;
    double *gamma;
    bool changed = true;
    double overlap_ratio;
    REQUIRE_OK(ops()->create(&(TalusEngineSetup){.context = cuda_context()}, &engine));
    CHECK_OK(ops()->put_tables(engine, &tables));
    CHECK_OK(ops()->put_bodies(engine, &none, NULL));
    CHECK_OK(ops()->detect(engine, &detect, zero, 1, &counts));
    CHECK_INT(counts.contacts, 0);
    CHECK(counts.min_size == INFINITY);
    CHECK_OK(ops()->build(engine, &build, &op, &gamma, &report));
    CHECK_OK(ops()->compute_velocities(engine, 1.0, &changed, &overlap_ratio));
    CHECK(!changed);
    CHECK_OK(ops()->integrate(engine, 0.01, zero, 1, &ledger));
    CHECK(ledger.kinetic == 0.0 && ledger.impact == 0.0);
    ops()->destroy(engine);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(bodies_and_contacts_go_in_and_come_out);
    RUN(the_problem_is_the_hosts);
    RUN(a_step_leads_to_the_hosts_state);
    RUN(a_second_look_takes_the_solved_velocities);
    RUN(the_same_contacts_are_missing);
    RUN(backup_brings_bodies_and_contacts_back);
    RUN(forgotten_bodies_lose_their_impulses);
    RUN(bodies_below_are_counted);
    RUN(a_step_that_is_not_finite_changes_nothing);
    RUN(a_state_that_is_not_finite_is_named);
    RUN(a_world_without_bodies_steps);
    return cuda_test_result();
}
