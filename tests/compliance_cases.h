/* Relative compliance of contacts: overlaps, their limit under load, elastic energy, and what it leaves unchanged; for
 * worlds on any backend. */
#ifndef TALUS_TEST_COMPLIANCE_CASES_H
#define TALUS_TEST_COMPLIANCE_CASES_H

#include "material_world.h"

#include <stdio.h>

static inline TalusWorldDef soft_def(double h, double compliance)
{
    TalusWorldDef def = tight_def(h);
    def.compliance = compliance;
    return def;
}

/* Overlap of a contact under the load gamma with gamma N_nn = `speed`: hardening towards the limit. */
static inline double overlap_of(const TalusWorldDef *def, double size, double speed)
{
    double soft = def->step * def->compliance * speed, limit = def->elastic_overlap * size;
    return 2.0 * soft / (1.0 + sqrt(1.0 + 4.0 * soft * soft / (limit * limit)));
}

/* At rest gamma = m g h: the overlap does not depend on the mass. The elastic energy is half of weight times overlap. */
TEST(a_sphere_at_rest_sinks_by_its_compliance)
{
    const double h = 0.01, eps = 0.01, mass[] = {1e-3, 1.0, 1e5};
    for (int k = 0; k < 3; k++) {
        TalusWorldDef def = soft_def(h, eps);
        TalusWorld *world = make_world(&def, NULL);
        add_floor(world);
        add_body(world, sphere(0.1), mass[k], talus_vec3(0, 0, 0.1), zero, zero);
        State s = {0};
        for (int i = 0; i < 50; i++)
            s = step(world);
        double overlap = overlap_of(&def, 0.1, g * h), energy = 0.5 * mass[k] * g * overlap;
        CHECK_NEAR(0.1 - s.x.z, overlap, 1e-8 * overlap);
        CHECK_NEAR(info.ledger.elastic, energy, 1e-6 * energy);
        CHECK(fabs(info.ledger.stiffening) < 1e-6 * energy);
        CHECK(fabs(info.ledger.stabilisation) < 1e-6 * energy);
        talus_world_destroy(world);
    }
}

/* A box has four contacts, whose N_nn includes rotation; the overlap is that of the load on each. */
TEST(a_box_at_rest_sinks_evenly)
{
    const double h = 0.01, eps = 0.01;
    TalusWorldDef def = soft_def(h, eps);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, box(0.2, 0.2, 0.2), 3.0, talus_vec3(0, 0, 0.2), zero, zero);
    State s = {0};
    for (int i = 0; i < 100; i++)
        s = step(world);
    /* N_nn = 1/m (1 + r^2/k^2) with r^2 = 2 half^2, k^2 = 2/3 half^2: 4/m; each corner bears a quarter */
    double overlap = overlap_of(&def, 0.2, g * h);
    CHECK_NEAR(0.2 - s.x.z, overlap, 1e-6 * overlap);
    CHECK(talus_norm(s.w) < 1e-9);
    talus_world_destroy(world);
}

/* A heavy ball falls on a light one: overlaps stay near the limit at the first impact as later, at any ratio that the
 * solver takes: beyond some 1e3 only direct methods do, which the cpu has. */
TEST(load_does_not_exceed_the_elastic_overlap)
{
    double most = strcmp(material_backend, "cpu") == 0 ? 1e8 : 1e2;
    for (double ratio = 1.0; ratio < 2.0 * most; ratio *= 100.0) {
        const double h = 0.005, limit = 1e-3, r = 0.1;
        TalusWorldDef def = talus_world_def_default();
        def.backend = material_backend;
        def.step = h;
        def.compliance = 3e-3;
        def.elastic_overlap = limit;
        TalusWorld *world = make_world(&def, NULL);
        add_floor(world);
        add_body(world, sphere(r), 1.0, talus_vec3(0, 0, r), zero, zero);
        add_body(world, sphere(r), ratio, talus_vec3(0, 0, 3.1 * r), talus_vec3(0, 0, -1.0), zero);
        double deepest = 0.0;
        for (int i = 0; i < 60; i++) {
            CHECK_OK(talus_world_step(world, &info));
            CHECK(!info.missed);
            deepest = fmax(deepest, info.penetration_max);
        }
        if (!CHECK(deepest < 1.1 * limit))
            printf("    ratio %g: overlap %g, limit %g\n", ratio, deepest, limit);
        talus_world_destroy(world);
    }
}

/* Newton's coefficient means what it does for rigid contacts: the first bounce is the same to the last bit. */
TEST(restitution_keeps_its_meaning)
{
    const double e[] = {0.0, 0.5, 0.9};
    for (int k = 0; k < 3; k++) {
        double speed[2];
        for (int soft = 0; soft < 2; soft++) {
            TalusWorldDef def = soft_def(0.001, soft ? 3e-3 : 0.0);
            TalusPairDef pair = talus_pair_def_default();
            pair.restitution = e[k];
            TalusWorld *world = make_world(&def, &pair);
            add_floor(world);
            add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.1), talus_vec3(0, 0, -2.0), zero);
            speed[soft] = step(world).v.z;
            talus_world_destroy(world);
        }
        CHECK_NEAR(speed[0], e[k] * 2.0, 1e-9);
        CHECK_NEAR(speed[1], speed[0], k ? 0.0 : (2.0 + 0.001 * g) * 3e-3);
    }
}

/* Cohesion presses a contact together by c h, which counts as load: the ball rests within the limit, and its elastic
 * energy stays. */
TEST(cohesion_is_load)
{
    const double h = 0.005, r[] = {1e-3, 0.1}, eps = 0.01;
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = soft_def(h, eps);
        TalusPairDef pair = talus_pair_def_default();
        pair.cohesion = 100.0 * g;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        add_body(world, sphere(r[k]), 1.0, talus_vec3(0, 0, r[k]), zero, zero);
        State s = {0};
        for (int i = 0; i < 80; i++)
            s = step(world);
        double overlap = overlap_of(&def, r[k], 101.0 * g * h);
        CHECK_NEAR(r[k] - s.x.z, overlap, 1e-4 * overlap);
        CHECK(info.ledger.elastic > 0.0 &&
              fabs(info.ledger.stiffening) < 1e-4 * info.ledger.elastic);
        talus_world_destroy(world);
    }
}

/* A ball squeezed between fixed boxes, deeper than the limit, bears the force of a spring, not a growing one. */
TEST(a_squeezed_ball_bears_a_steady_force)
{
    for (int deep = 0; deep < 2; deep++) {
        const double h = 0.01, eps = 3e-3, overlap = deep ? 0.005 : 0.0015;
        TalusWorldDef def = talus_world_def_default();
        def.backend = material_backend;
        def.step = h;
        def.compliance = eps;
        def.elastic_overlap = 0.01;
        def.tolerance = 1e-4;
        TalusWorld *world = make_world(&def, NULL);
        add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0, 0, -0.3 + overlap), zero, zero);
        add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0, 0, 0.3 - overlap), zero, zero);
        add_body(world, sphere(0.1), 1.0, zero, zero, zero);
        double last = 0.0;
        for (int i = 0; i < 200; i++) {
            CHECK_OK(talus_world_step(world, &info));
            CHECK(!info.missed);
            last = i == 150 ? info.ledger.elastic : last;
        }
        double spring = overlap * overlap / (h * h * eps); /* of both contacts, without hardening */
        if (!CHECK(info.ledger.elastic > 0.5 * spring && info.ledger.elastic < 2.0 * spring))
            printf("    %g J, of springs %g\n", info.ledger.elastic, spring);
        CHECK_NEAR(info.ledger.elastic, last, 1e-3 * last);
        talus_world_destroy(world);
    }
}

/* Largest kinetic energy within 30 steps of a column of spheres each of which overlaps with the next by 5 % of its
 * radius, 25 times what a step undoes. */
static inline double energy_of_overlapping_column(double compliance)
{
    const double h = 0.001, r = 0.1;
    double most = 0.0;
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.step = h;
    def.threads = 1;
    def.compliance = compliance;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    for (int i = 0; i < 10; i++)
        add_body(world, sphere(r), 1.0, talus_vec3(0, 0, (0.975 + 1.95 * i) * r), zero, zero);
    for (int i = 0; i < 30; i++) {
        CHECK_OK(talus_world_step(world, &info));
        const TalusLedger *l = &info.ledger;
        most = fmax(most, l->kinetic);
        CHECK(fabs(l->imbalance) < 1e-12 * most);
    }
    talus_world_destroy(world);
    return most;
}

/* Overlap that no load explains is undone as by rigid contacts: what undoes it is not stored and given back, which
 * made 1.75 times the energy. */
TEST(an_overlapping_start_comes_apart_as_if_rigid)
{
    double rigid = energy_of_overlapping_column(0.0);
    double soft = energy_of_overlapping_column(TALUS_COMPLIANCE_AUTO);
    if (!CHECK(soft < 1.1 * rigid && soft > 0.8 * rigid))
        printf("    %g J, rigid %g J\n", soft, rigid);
}

/* A rod spins on a fixed box without friction. It touches the box at four of the eight corners of its face, which change
 * as it turns: the new ones take over the load of those that are gone, else its overlap would be undone as an error. */
TEST(new_points_of_a_manifold_take_over_the_load)
{
    const double h = 0.01, r = 0.1;
    TalusWorldDef def = soft_def(h, 0.5);
    TalusPairDef pair = talus_pair_def_default();
    TalusShapeDef rod = {.kind = TALUS_SHAPE_CYLINDER, .radius = r, .half_height = r};
    pair.friction = 0.0;
    TalusWorld *world = make_world(&def, &pair);
    add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0, 0, -0.2), zero, zero);
    add_body(world, rod, 1.0, talus_vec3(0, 0, r), zero, talus_vec3(0, 0, 7.0));
    State s = {0};
    for (int i = 0; i < 100; i++)
        s = step(world);
    double rest = s.x.z, worst = 0.0;
    for (int i = 0; i < 100; i++)
        worst = fmax(worst, fabs(step(world).x.z - rest));
    if (!CHECK(worst < 1e-3 * (r - rest)))
        printf("    moves by %g, overlap %g\n", worst, r - rest);
    talus_world_destroy(world);
}

/* A wedged step of a rigid world has no elastic energy: what undoes its overlap is stabilisation. */
TEST(a_rigid_wedge_is_not_elastic)
{
    TalusWorldDef def = talus_world_def_relaxed();
    def.backend = material_backend;
    TalusWorld *world = make_world(&def, NULL);
    add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0, 0, -0.295), zero, zero);
    add_body(world, box(0.2, 0.2, 0.2), 0.0, talus_vec3(0, 0, 0.295), zero, zero);
    add_body(world, sphere(0.1), 1.0, zero, zero, zero);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK(info.ledger.elastic == 0.0 && info.ledger.stiffening == 0.0);
        CHECK(info.ledger.stabilisation > 0.0);
    }
    talus_world_destroy(world);
}

/* The energy that an impact stores is given back or lost, never made: kinetic, potential and elastic energy together
 * do not grow. */
TEST(a_fall_makes_no_energy)
{
    TalusWorldDef def = soft_def(0.002, 0.05);
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.15), zero, zero);
    for (int i = 0; i < 300; i++) {
        step(world);
        const TalusLedger *l = &info.ledger;
        double change = l->kinetic_change + l->potential_change + l->elastic_change - l->exchange;
        if (!CHECK(change - l->gravity_error <= 1e-9))
            printf("    step %d: %g J of %g\n", i, change - l->gravity_error, l->kinetic);
    }
    CHECK(info.ledger.kinetic < 1e-12);
    talus_world_destroy(world);
}

/* Lengths times s, times times sqrt(s): the same motion to the last bit if s is a power of 4. */
TEST(a_scaled_world_is_the_same_world)
{
    double height[2];
    for (int k = 0; k < 2; k++) {
        double s = k ? 0x1p-8 : 1.0, root = k ? 0x1p-4 : 1.0;
        TalusWorldDef def = soft_def(0.005 * root, 3e-3);
        def.elastic_overlap = 2e-4;
        TalusWorld *world = make_world(&def, NULL);
        add_floor(world);
        add_body(world, sphere(0.1 * s), 1.0, talus_vec3(0, 0, 0.12 * s), zero, zero);
        add_body(world, sphere(0.1 * s), 50.0, talus_vec3(0.01 * s, 0, 0.35 * s), zero, zero);
        TalusVec3 x[3];
        for (int i = 0; i < 80; i++)
            CHECK_OK(talus_world_step(world, NULL));
        talus_world_get_state(world, &(TalusBodyState){.position = x});
        height[k] = x[1].z / s;
        talus_world_destroy(world);
    }
    CHECK(height[0] == height[1]);
}

/* A saved world goes on as the one that was not saved. */
TEST(elastic_energy_survives_saving)
{
    TalusWorldDef def = soft_def(0.005, 3e-3);
    TalusWorld *world = make_world(&def, NULL), *copy = NULL;
    add_floor(world);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.101), zero, zero);
    for (int i = 0; i < 40; i++)
        step(world);
    void *bytes = NULL;
    size_t size = 0;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    step(world);
    TalusLedger first = info.ledger;
    step(copy);
    CHECK(memcmp(&first, &info.ledger, sizeof first) == 0);
    CHECK(talus_world_hash(world) == talus_world_hash(copy));
    talus_free(bytes);
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

/* A column of 20 boxes of 1 kg at rest, of default compliance. */
static inline TalusWorld *column_at_rest(void)
{
    const double r = 0.1;
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.threads = 1;
    def.tolerance = 1e-3;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    for (int i = 0; i < 20; i++)
        add_body(world, box(r, r, r), 1.0, talus_vec3(0, 0, (2 * i + 1) * r), zero, zero);
    for (int i = 0; i < 200; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK(info.ledger.kinetic < 1e-5);
    return world;
}

/* TALUS_COMPLIANCE_AUTO follows the tolerance so slowly that the column stretches without being thrown up: springs that
 * become ten times as stiff at once gave it 0.1 J. */
TEST(a_tighter_tolerance_does_not_disturb_rest)
{
    TalusWorld *world = column_at_rest();
    double compliance = talus_world_compliance(world), kinetic = 0.0;
    CHECK(compliance == 1e-2);
    CHECK_OK(talus_world_set_accuracy(world, 1e-4, 2000));
    for (int i = 0; i < 300; i++) {
        double next = talus_world_compliance(world);
        CHECK(next <= compliance && next > 0.99 * compliance);
        compliance = next;
        CHECK_OK(talus_world_step(world, &info));
        kinetic = fmax(kinetic, info.ledger.kinetic);
    }
    CHECK(compliance == 1e-3);
    if (!CHECK(kinetic < 1e-4))
        printf("    %g J\n", kinetic);
    talus_world_destroy(world);
}

/* While masses of 1 and 1e7 kg are there, contacts become rigid; afterwards compliant again. */
TEST(uneven_masses_make_contacts_rigid_gradually)
{
    TalusWorld *world = column_at_rest();
    TalusBodyId heavy = add_body(world, sphere(1.0), 1e7, talus_vec3(0, 0, 1e4), zero, zero);
    double last = talus_world_compliance(world);
    CHECK(last > 0.99e-2);
    for (int i = 0; i < 2200; i++) {
        CHECK_OK(talus_world_step(world, &info));
        double now = talus_world_compliance(world);
        CHECK(now >= 0.99 * last || last < 1.02e-11); /* 1e-4 over the ratio of masses */
        last = now;
    }
    CHECK(last == 0.0);
    CHECK_OK(talus_world_remove_body(world, heavy));
    CHECK_OK(talus_world_step(world, &info));
    CHECK(talus_world_compliance(world) > 0.0 && talus_world_compliance(world) < 2e-4);
    CHECK(info.ledger.kinetic < 1e-4);
    talus_world_destroy(world);
}

/* A plate of 9e5 kg has pressed five boxes of 1 kg in to their limit when a grain of 0.5 kg makes masses too uneven for
 * compliant contacts. Boxes whose contacts became rigid at a compliance of 1e-4 threw it up at 1.2 m/s. Such a ratio
 * takes direct methods, which the cpu has. */
TEST(contacts_under_a_heavy_body_become_rigid_gently)
{
    const double r = 0.1;
    if (strcmp(material_backend, "cpu") != 0)
        return;
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.threads = 1;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    for (int i = 0; i < 5; i++)
        add_body(world, box(r, r, r), 1.0,
                 talus_vec3(i < 4 ? (i % 2 ? 1 : -1) : 0, i < 4 ? (i < 2 ? 1 : -1) : 0, r), zero,
                 zero);
    add_body(world, box(1.5, 1.5, r), 9e5, talus_vec3(0, 0, 3 * r), zero, zero);
    for (int i = 0; i < 60; i++)
        CHECK_OK(talus_world_step(world, &info));
    add_body(world, sphere(0.01), 0.5, talus_vec3(0, 0, 1e4), zero, zero);
    double fastest = 0.0;
    for (int i = 0; i < 2300; i++) {
        CHECK_OK(talus_world_step(world, &info));
        TalusVec3 v[8];
        talus_world_get_state(world, &(TalusBodyState){.velocity = v});
        fastest = fmax(fastest, talus_norm(v[6]));
    }
    CHECK(talus_world_compliance(world) == 0.0);
    if (!CHECK(fastest < 2.0 * g * def.step))
        printf("    %g m/s\n", fastest);
    talus_world_destroy(world);
}

/* A floor, on which bodies sleep after ten calm steps. */
static inline TalusWorld *sleepy_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.threads = 1;
    def.tolerance = 1e-3;
    def.sleep_speed = 0.5;
    def.sleep_steps = 10;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    return world;
}

/* Bodies wake for a change of compliance and stay awake until it ends; each then has a part of it in every step. */
TEST(sleeping_bodies_wake_while_compliance_changes)
{
    TalusWorld *world = sleepy_world();
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.1), zero, zero);
    for (int i = 0; i < 100; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK_INT(info.asleep, 1);
    CHECK_OK(talus_world_set_accuracy(world, 0.7e-3, 2000));
    for (int i = 0; i < 36; i++) { /* 1.01^36 = 1.43 */
        CHECK(talus_world_compliance(world) > 0.701e-2 || i == 35);
        CHECK_OK(talus_world_step(world, &info));
        CHECK(info.asleep == 0 || i == 35);
    }
    CHECK_NEAR(talus_world_compliance(world), 0.7e-2, 1e-15);
    for (int i = 0; i < 20; i++)
        CHECK_OK(talus_world_step(world, &info));
    CHECK_INT(info.asleep, 1);
    talus_world_destroy(world);
}

/* Contacts of sleeping bodies have no impulses when these wake: a column at rest that wakes for a change of compliance
 * moves as one that is woken by a call, whatever the change, or no faster than five times the speed of the tolerance:
 * how far a solve from zero impulses ends below the tolerance differs from solve to solve. */
TEST(a_sleeping_column_wakes_for_a_change_as_for_a_call)
{
    double most[2];
    for (int k = 0; k < 2; k++) {
        const double r = 0.1;
        TalusWorld *world = sleepy_world();
        TalusBodyId id = {0};
        for (int i = 0; i < 5; i++)
            id = add_body(world, box(r, r, r), 1.0, talus_vec3(0, 0, (2 * i + 1) * r), zero, zero);
        for (int i = 0; i < 100; i++)
            CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.asleep, 5);
        if (k)
            CHECK_OK(talus_world_set_accuracy(world, 1e-4, 2000));
        else
            CHECK_OK(talus_world_set_force(world, id, zero, zero));
        most[k] = 0.0;
        for (int i = 0; i < 50; i++) {
            CHECK_OK(talus_world_step(world, &info));
            most[k] = fmax(most[k], info.ledger.kinetic);
        }
        talus_world_destroy(world);
    }
    const double speed = 1e-3 * 9.81 * talus_world_def_default().step;
    if (!CHECK(most[1] < fmax(2.0 * most[0], 5 * 0.5 * 25.0 * speed * speed)))
        printf("    %g J woken by a call, %g J by a change\n", most[0], most[1]);
}

/* Where nothing touches, no elastic energy is stored: the compliance changes at once. */
TEST(without_contacts_compliance_changes_at_once)
{
    TalusWorldDef def = talus_world_def_default();
    def.backend = material_backend;
    def.tolerance = 1e-3;
    TalusWorld *world = make_world(&def, NULL);
    add_floor(world);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 5.0), zero, zero);
    CHECK_OK(talus_world_step(world, &info));
    CHECK(talus_world_compliance(world) == 1e-2);
    CHECK_OK(talus_world_set_accuracy(world, 1e-5, 2000));
    CHECK(talus_world_compliance(world) == 1e-4);
    talus_world_destroy(world);
}

/* A body of 1e7 kg arrives in a step that fails: its mass does not count for the body that is added next. */
TEST(a_failed_step_leaves_no_masses)
{
    TalusWorld *world = column_at_rest();
    TalusShapeDef ball = sphere(0.1);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 above = talus_vec3(0, 0, 50.0), beside = talus_vec3(50.0, 0, 0.1);
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.position = &above;
    batch.mass = 1e7;
    CHECK_OK(talus_world_add_bodies_at(world, 0.0, &batch));
    world->def.on_miss = TALUS_MISS_STOP;
    CHECK_OK(talus_world_set_accuracy(world, 1e-14, 1));
    CHECK(talus_world_step(world, &info) != TALUS_OK);
    CHECK_OK(talus_world_set_accuracy(world, 1e-3, 2000));
    add_body(world, ball, 1.0, beside, zero, zero);
    CHECK(talus_world_compliance(world) == 1e-2);
    talus_world_destroy(world);
}

/* A world saved while its compliance changes goes on as the one that was not saved. */
TEST(changing_compliance_survives_saving)
{
    TalusWorld *world = column_at_rest(), *copy = NULL;
    CHECK_OK(talus_world_set_accuracy(world, 1e-4, 2000));
    for (int i = 0; i < 50; i++)
        CHECK_OK(talus_world_step(world, &info));
    void *bytes = NULL;
    size_t size = 0;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    CHECK(talus_world_compliance(world) == talus_world_compliance(copy));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_OK(talus_world_step(copy, &info));
    }
    CHECK(talus_world_hash(world) == talus_world_hash(copy));
    talus_free(bytes);
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

static inline void run_compliance_cases(void)
{
    RUN(a_sphere_at_rest_sinks_by_its_compliance);
    RUN(a_box_at_rest_sinks_evenly);
    RUN(load_does_not_exceed_the_elastic_overlap);
    RUN(restitution_keeps_its_meaning);
    RUN(cohesion_is_load);
    RUN(a_squeezed_ball_bears_a_steady_force);
    RUN(an_overlapping_start_comes_apart_as_if_rigid);
    RUN(new_points_of_a_manifold_take_over_the_load);
    RUN(a_rigid_wedge_is_not_elastic);
    RUN(a_fall_makes_no_energy);
    RUN(a_scaled_world_is_the_same_world);
    RUN(elastic_energy_survives_saving);
    RUN(a_tighter_tolerance_does_not_disturb_rest);
    RUN(uneven_masses_make_contacts_rigid_gradually);
    RUN(contacts_under_a_heavy_body_become_rigid_gently);
    RUN(sleeping_bodies_wake_while_compliance_changes);
    RUN(a_sleeping_column_wakes_for_a_change_as_for_a_call);
    RUN(without_contacts_compliance_changes_at_once);
    RUN(a_failed_step_leaves_no_masses);
    RUN(changing_compliance_survives_saving);
}

#endif
