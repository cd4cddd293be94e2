/* Ids of bodies: each given once, found again whatever slot the body has, kept by states and frames. */
#include "frames_scene.h"
#include "test_world_scene.h"

#include "world/save/change.h"

#include "base/deflate.h"
#include "base/rng.h"

enum { ROUNDS = 400, BATCH = 40, MOST = ROUNDS * BATCH };

/* Above what 32 bits hold. */
static const uint64_t high = UINT64_C(5) << 32;

/* ---- numbers and slots ---- */

/* What is known of each number ever given: slots of living bodies, -1 of the others. */
typedef struct Truth {
    int slot[MOST + 1];
    int created;
} Truth;

static void add_batch(TalusWorld *world, Truth *truth, uint64_t first, int count)
{
    static TalusVec3 at[BATCH];
    static TalusBodyId id[BATCH];
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = count;
    batch.position = at;
    REQUIRE_OK(talus_world_add_bodies(world, &batch, id));
    for (int i = 0; i < count; i++) {
        CHECK(id[i].number == first + (uint64_t)truth->created + 1);
        int slot = 0;
        while (world->bodies.shape[slot] < 0 || world->bodies.id[slot] != id[i].number)
            slot++;
        truth->slot[++truth->created] = slot;
    }
}

static void remove_some(TalusWorld *world, Truth *truth, uint64_t first, TalusRng *rng, double part)
{
    for (int k = 1; k <= truth->created; k++)
        if (truth->slot[k] >= 0 && talus_rng_uniform(rng) < part) {
            CHECK_OK(talus_world_remove_body(world, (TalusBodyId){first + (uint64_t)k}));
            truth->slot[k] = -1;
        }
}

static void check_all(const TalusWorld *world, const Truth *truth, uint64_t first)
{
    int wrong = 0;
    for (int k = 1; k <= truth->created; k++)
        wrong += talus_slot_of(world, (TalusBodyId){first + (uint64_t)k}) != truth->slot[k];
    CHECK_INT(wrong, 0);
    CHECK(talus_slot_of(world, (TalusBodyId){0}) < 0);
    CHECK(talus_slot_of(world, (TalusBodyId){first + (uint64_t)truth->created + 1}) < 0);
    CHECK(talus_slot_of(world, (TalusBodyId){UINT64_MAX}) < 0);
}

static TalusWorld *reloaded(TalusWorld *world)
{
    TalusWorld *copy = NULL;
    void *bytes;
    size_t size;
    if (CHECK_OK(talus_world_save(world, &bytes, &size))) {
        CHECK_OK(talus_world_load(bytes, size, 1, NULL, &copy));
        talus_free(bytes);
    }
    talus_world_destroy(world);
    return copy;
}

/* A loaded world has its bodies in slots by ascending numbers. */
static void give_slots_by_numbers(Truth *truth)
{
    int slot = 0;
    for (int k = 1; k <= truth->created; k++)
        if (truth->slot[k] >= 0)
            truth->slot[k] = slot++;
}

/* The first batch has slots number - 1; with numbers that begin high, no body has. */
static void check_lookup(uint64_t first)
{
    static Truth truth;
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusRng rng = talus_rng_from_seed(3);
    truth.created = 0;
    world->bodies.counts.created = first;
    REQUIRE_OK(talus_world_add_shape(world, &ball, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        add_batch(world, &truth, first, 1 + (int)(talus_rng_uniform(&rng) * BATCH) % BATCH);
        remove_some(world, &truth, first, &rng, round % 50 == 49 ? 0.9 : 0.2);
        if (round % 20 == 0)
            check_all(world, &truth, first);
        if (round % 100 == 70) {
            world = reloaded(world);
            give_slots_by_numbers(&truth);
        }
        REQUIRE(world != NULL);
    }
    check_all(world, &truth, first);
    CHECK(truth.created > 20 * world->bodies.counts.slots); /* slots are used again, numbers not */
    CHECK(TALUS_CAPACITY(world->bodies.displaced) < 8 * (size_t)world->bodies.counts.slots);
    talus_world_destroy(world);
}

TEST(bodies_are_found_whatever_slots_they_have)
{
    check_lookup(0);
    check_lookup(high);
}

/* Bodies that stay put need no list: a hundred million of them fit. */
TEST(bodies_in_their_first_slots_cost_no_list)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    static Truth truth;
    truth.created = 0;
    REQUIRE_OK(talus_world_add_shape(world, &ball, NULL));
    for (int i = 0; i < 5; i++)
        add_batch(world, &truth, 0, BATCH);
    CHECK(TALUS_CAPACITY(world->bodies.displaced) == 0);
    talus_world_destroy(world);
}

TEST(ids_of_bodies_that_have_gone_name_nothing)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id, next;
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 5.0), &id));
    CHECK_OK(talus_world_remove_body(world, id));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 5.0), &next));
    CHECK_INT(talus_slot_of(world, next), 0);
    CHECK_INT(talus_world_remove_body(world, id), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "body 1: there is no such body now");
    CHECK_INT(talus_world_set_force(world, id, zero, zero), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_exclude(world, next, id), TALUS_ERR_ARGUMENT);
    TalusProbeDef probe = {.name = "p", .kind = TALUS_PROBE_BODY, .body = id};
    CHECK_INT(talus_world_add_probe(world, &probe, NULL), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "probe \"p\": there is no body 1");
    talus_world_destroy(world);
}

/* ---- contacts ---- */

static void check_contacts(const TalusWorld *world, int count)
{
    TalusForceSummary sums;
    CHECK_INT(talus_world_get_contacts(world, NULL, 0), count);
    CHECK_OK(talus_world_get_forces(world, NULL, NULL, &sums));
    CHECK_INT(sums.contacts, count);
    CHECK_OK(talus_world_get_forces(world, NULL, NULL, NULL));
}

/* Two balls on a floor; another takes the slot of the second one, in the air and then on the floor. */
TEST(a_body_in_a_slot_used_again_has_no_contacts_before_a_step)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusBodyId id;
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    REQUIRE_OK(add_one(world, ball, talus_vec3(1.0, 0.0, 0.1), &id));
    step_world(world, 3);
    check_contacts(world, 2);
    for (int k = 0; k < 2; k++) {
        int slot = talus_slot_of(world, id);
        CHECK_OK(talus_world_remove_body(world, id));
        check_contacts(world, 1);
        REQUIRE_OK(add_one(world, ball, talus_vec3(1.0, 0.0, k == 0 ? 5.0 : 0.1), &id));
        CHECK_INT(talus_slot_of(world, id), slot);
        check_contacts(world, 1);
        world = reloaded(world);
        REQUIRE(world != NULL);
        check_contacts(world, 1);
        step_world(world, 1);
        check_contacts(world, 1 + k);
    }
    talus_world_destroy(world);
}

/* A ball that arrives in a failed step is taken back; the next body has its slot and its number. */
TEST(a_body_after_a_failed_arrival_has_no_contacts_before_a_step)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    TalusVec3 at = {0.0, 0.0, 0.1};
    TalusBodyBatch batch = talus_body_batch_default();
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_one(world, brick, talus_vec3(1.0, 0.0, 0.08), NULL));
    REQUIRE_OK(talus_world_add_shape(world, &ball, &batch.shape));
    step_world(world, 1);
    check_contacts(world, 4);
    batch.count = 1;
    batch.position = &at;
    REQUIRE_OK(talus_world_add_bodies_at(world, talus_world_time(world), &batch));
    world->def.on_miss = TALUS_MISS_STOP;
    REQUIRE_OK(talus_world_set_accuracy(world, 1e-300, 1));
    CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
    check_contacts(world, 4);
    REQUIRE_OK(add_one(world, ball, talus_vec3(5.0, 0.0, 5.0), NULL));
    check_contacts(world, 4);
    talus_world_destroy(world);
}

/* ---- sources and sinks ---- */

static uint64_t newest_of(const TalusSnapshot *s)
{
    uint64_t newest = 0;
    for (int i = 0; i < s->body_count; i++)
        newest = s->id[i].number > newest ? s->id[i].number : newest;
    return newest;
}

/* Bodies of the second that are not in the first. */
static int count_new(const TalusSnapshot *a, const TalusSnapshot *b, uint64_t *least)
{
    int count = 0;
    *least = UINT64_MAX;
    for (int i = 0; i < b->body_count; i++) {
        bool known = false;
        for (int k = 0; k < a->body_count; k++)
            known = known || a->id[k].number == b->id[i].number;
        if (!known && b->id[i].number < *least)
            *least = b->id[i].number;
        count += !known;
    }
    return count;
}

TEST(what_flows_in_is_new)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusSnapshot s[2] = {{0}, {0}};
    int came = 0;
    step_world(world, 60);
    REQUIRE_OK(talus_snapshot_take(&s[0], world, 0));
    for (int i = 0; i < 200; i++) {
        TalusSnapshot *before = &s[i % 2], *now = &s[(i + 1) % 2];
        uint64_t newest = newest_of(before), given = world->bodies.counts.created, least;
        step_world(world, 1);
        REQUIRE_OK(talus_snapshot_take(now, world, 0));
        int fresh = count_new(before, now, &least);
        CHECK(least > newest && least > given);
        CHECK(world->bodies.counts.created >= given + (uint64_t)fresh);
        came += fresh;
    }
    CHECK(came > 300 && world->bodies.counts.created > 1.5 * world->bodies.counts.slots);
    talus_snapshot_free(&s[0]);
    talus_snapshot_free(&s[1]);
    talus_world_destroy(world);
}

/* ---- states ---- */

TEST(a_loaded_world_gives_the_numbers_that_the_saved_one_would)
{
    TalusWorld *world = rain_world(0.0, true), *copy = NULL;
    world->bodies.counts.created = high;
    void *bytes;
    size_t size;
    step_world(world, 150);
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    talus_free(bytes);
    for (int part = 0; part < 2; part++) {
        TalusSnapshot a = {0}, b = {0};
        REQUIRE_OK(talus_snapshot_take(&a, world, TALUS_SNAPSHOT_ALL));
        REQUIRE_OK(talus_snapshot_take(&b, copy, TALUS_SNAPSHOT_ALL));
        REQUIRE(a.body_count == b.body_count && newest_of(&a) > high);
        CHECK(memcmp(a.id, b.id, (size_t)a.body_count * sizeof *a.id) == 0);
        CHECK(world->bodies.counts.created == copy->bodies.counts.created);
        talus_snapshot_free(&a);
        talus_snapshot_free(&b);
        step_world(world, 50);
        step_world(copy, 50);
        CHECK(talus_world_hash(world) == talus_world_hash(copy));
    }
    talus_world_destroy(world);
    talus_world_destroy(copy);
}

/* Every body names itself twice, and one names a number that was never given. */
TEST(states_with_ids_that_cannot_be_are_refused)
{
    static const char *const why[] = {"two bodies have the id 2", "contradict each other",
                                      "contradict each other", "out of range"};
    for (int i = 0; i < 4; i++) {
        TalusWorldDef def = quick_def(1);
        TalusWorld *world = make_world(&def), *out = NULL;
        for (int k = 0; k < 3; k++)
            REQUIRE_OK(add_one(world, ball, talus_vec3(k, 0.0, 5.0), NULL));
        world->bodies.id[0] = i == 0 ? 2 : i == 1 ? 0 : i == 2 ? 4 : 1;
        if (i == 3)
            world->bodies.counts.created = TALUS_ID_LIMIT;
        void *bytes;
        size_t size;
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_FORMAT);
        CHECK(out == NULL && said(why[i]));
        talus_free(bytes);
        talus_world_destroy(world);
    }
}

/* ---- what earlier versions have written ---- */

static const char *kept_file(const char *name)
{
    static char path[512];
    const char *source = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/%s", source ? source : ".", name);
    return path;
}

static TalusWorld *load_state(const char *name)
{
    TalusWorld *world = NULL;
    Bytes state = read_bytes(kept_file(name));
    CHECK_OK(talus_world_load(state.bytes, state.size, 1, NULL, &world));
    talus_release(state.bytes);
    return world;
}

static TalusWorld *load_kept(void)
{
    return load_state("states/version-5.state");
}

/* Two balls of a springy material fall on a floor, 30 steps. Contacts without a material's stiffness stay rigid. */
TEST(states_of_version_7_have_no_compliance)
{
    TalusWorld *world = load_state("states/version-7.state");
    REQUIRE(world != NULL);
    CHECK(world->def.compliance == 0.0 && world->def.elastic_overlap > 0.0);
    step_world(world, 20);
    CHECK(talus_world_hash(world) == UINT64_C(0xe653bf4de4c62404)); /* as version 7 would go on */
    talus_world_destroy(world);
}

/* The same without the springy material, at a tolerance of 1e-4. The compliance of the last step is not in the file: that
 * of the next is what TALUS_COMPLIANCE_AUTO means. */
TEST(states_of_version_9_go_on_at_the_compliance_of_their_tolerance)
{
    TalusWorld *world = load_state("states/version-9.state");
    REQUIRE(world != NULL);
    CHECK(talus_world_compliance(world) == 1e-3);
    step_world(world, 20);
    CHECK(talus_world_hash(world) == UINT64_C(0xcbad36b5c42bf189)); /* as version 9 would go on */
    talus_world_destroy(world);
}

/* Loaded at another tolerance it follows that one from the compliance that it had. */
TEST(states_of_version_9_follow_another_tolerance)
{
    TalusWorld *world = NULL;
    Bytes state = read_bytes(kept_file("states/version-9.state"));
    TalusWorldDef d = talus_world_def_default();
    TalusWorldChanges changes = {d.friction.law, d.compliance, d.elastic_overlap,
                                 1e-5,           0.005,        d.on_miss};
    REQUIRE_OK(talus_world_load_changed(state.bytes, state.size, 1, NULL, &changes, &world));
    CHECK_NEAR(talus_world_compliance(world), 1e-3 / 1.01, 1e-15);
    talus_release(state.bytes);
    talus_world_destroy(world);
}

/* Four pendulums a, b, c, d; the joints of b and c were removed, and e took the slot of the first of them. */
TEST(joints_of_version_6_are_numbered_by_their_slots)
{
    TalusWorld *world = load_state("states/version-6.state");
    REQUIRE(world != NULL);
    static const char *const name[3] = {"a", "e", "d"};
    TalusJointState joint[3];
    REQUIRE(talus_world_get_joints(world, joint, 3) == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(joint[i].id.number, i + 1);
        CHECK_STR(joint[i].name, name[i]);
        CHECK_INT(joint[i].a.number, i < 2 ? i + 1 : 4);
    }
    step_world(world, 20);
    CHECK(talus_world_hash(world) == UINT64_C(0x3366029ac23bbaca)); /* as version 6 went on */
    TalusJointDef def = talus_joint_def_default();
    TalusJointId id;
    def.a = joint[0].a;
    REQUIRE_OK(talus_world_add_joint(world, &def, &id));
    CHECK_INT(id.number, 4);
    REQUIRE_OK(talus_world_remove_joint(world, joint[1].id));
    TalusWorld *copy = reloaded(world);
    REQUIRE(copy != NULL);
    REQUIRE(talus_world_get_joints(copy, joint, 3) == 3);
    CHECK_INT(joint[0].id.number, 1);
    CHECK_INT(joint[1].id.number, 3);
    CHECK_INT(joint[2].id.number, 4);
    REQUIRE_OK(talus_world_add_joint(copy, &def, &id));
    CHECK_INT(id.number, 5);
    talus_world_destroy(copy);
}

/* A box in slot 8, its second body, hangs from a joint and has a probe; others are of the first or second body. */
TEST(ids_are_made_from_slots_and_generations)
{
    TalusWorld *world = load_kept();
    REQUIRE(world != NULL);
    TalusBodyId box = {(UINT64_C(1) << 32) + 9}, ground = {1};
    CHECK_INT(talus_world_body_count(world), 50);
    CHECK_INT(talus_slot_of(world, box), 8);
    CHECK_INT(talus_slot_of(world, ground), 0);
    CHECK_INT(talus_slot_of(world, (TalusBodyId){9}), -1);
    CHECK_INT(world->bodies.tag[8], 9);
    TalusJointState joint;
    REQUIRE(talus_world_get_joints(world, &joint, 1) == 1);
    CHECK(joint.a.number == box.number && joint.b.number == 0 && joint.error < 1e-3);
    CHECK(world->probe[0].def.body.number == box.number);
    uint64_t given = world->bodies.counts.created;
    step_world(world, 60);
    CHECK(world->bodies.counts.created > given && talus_slot_of(world, box) == 8);
    TalusWorld *copy = reloaded(world);
    REQUIRE(copy != NULL);
    CHECK(talus_slot_of(copy, box) > 8 && copy->bodies.tag[talus_slot_of(copy, box)] == 9);
    CHECK(copy->probe[0].def.body.number == box.number);
    talus_world_destroy(copy);
}

/* The frames that went with that state: the last one is before its last steps. */
TEST(frames_of_version_2_are_read_and_gone_on_with)
{
    if (!talus_deflate_available())
        SKIP("no zlib in this build, with which the file is compressed");
    Bytes bytes = read_bytes(kept_file("frames/version-2.talus"));
    TalusWorld *world = load_kept();
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusSnapshot s = {0}, now = {0};
    write_bytes("going.talus", bytes.bytes, bytes.size);
    talus_release(bytes.bytes);
    REQUIRE(world != NULL);
    REQUIRE_OK(talus_frames_resume("going.talus", 10.0, &writer));
    REQUIRE_OK(talus_frames_add(writer, world));
    step_world(world, 40);
    REQUIRE_OK(talus_frames_add(writer, world));
    REQUIRE_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("going.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 22);
    int boxes = 0;
    for (int i = 0; i < 22; i++) {
        REQUIRE_OK(talus_frames_read(frames, i, &s));
        for (int b = 0; b < s.body_count; b++)
            if (s.id[b].number == (UINT64_C(1) << 32) + 9)
                boxes += CHECK_INT(s.tag[b], 9);
    }
    CHECK_INT(boxes, 10); /* frames 12 to 21 */
    REQUIRE_OK(talus_snapshot_take(&now, world, 0));
    CHECK(now.body_count == s.body_count &&
          memcmp(now.id, s.id, (size_t)s.body_count * sizeof *s.id) == 0);
    talus_snapshot_free(&s);
    talus_snapshot_free(&now);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* ---- frames ---- */

/* Frames of spheres with these numbers, encoded and decoded one after the other. */
enum { ROWS = 5, MOMENTS = 4 };
typedef struct Moment {
    int count;
    uint64_t number[ROWS];
    bool key; /* has to be one, for bodies have changed their order */
} Moment;

static void fill_moment(TalusSnapshot *s, const Moment *m)
{
    unsigned fields = TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_CONTACTS;
    REQUIRE_OK(talus_snapshot_resize(s, fields, m->count, 0));
    s->length = 0.01;
    for (int i = 0; i < m->count; i++) {
        s->id[i] = (TalusBodyId){m->number[i]};
        s->position[i] = talus_vec3((double)(m->number[i] % 1000), 0.0, i);
        s->orientation[i] = talus_quat_identity();
        s->velocity[i] = zero;
        s->radius[i] = 0.5;
        s->shape[i] = s->material[i] = s->tag[i] = s->touching[i] = 0;
        s->fixed[i] = false;
        s->force[i] = 0.0;
    }
}

TEST(frames_follow_bodies_by_number)
{
    static const Moment moment[MOMENTS] = {
        {4, {1, 2, 3, 4}, true},
        {4, {1, 6, 3, 5}, false}, /* two have gone, and others are in their slots */
        {5, {7, 6, (UINT64_C(1) << 40) + 3, 5, UINT64_C(1) << 40}, false},
        {3, {5, 6, 8}, true},
    };
    const TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    const TalusFramesMaterial plain = {.name = ""};
    const TalusFramesHead head = {.title = "",
                                  .scene = "",
                                  .step = 0.01,
                                  .radius = 0.5,
                                  .quantum = 1.0,
                                  .shape_count = 1,
                                  .material_count = 1,
                                  .shapes = &sphere,
                                  .materials = &plain};
    TalusFrameEncoder encoder = {0};
    TalusFrameDecoder decoder = {0};
    TalusFrameState state[MOMENTS + 1] = {{0}};
    TalusSnapshot s = {0}, back = {0};
    for (int i = 0; i < MOMENTS; i++) {
        bool key = i == 0;
        TalusChunk chunk;
        fill_moment(&s, &moment[i]);
        REQUIRE_OK(talus_frame_encode(&encoder, &head, &s, &key));
        CHECK(key == moment[i].key);
        const unsigned char *bytes = encoder.packer.bytes;
        memcpy(&chunk, bytes, sizeof chunk);
        REQUIRE_OK(talus_frame_decode(&decoder, &head, &chunk, bytes + sizeof chunk,
                                      key ? NULL : &state[i], &state[i + 1], &back));
        CHECK_INT(back.body_count, moment[i].count);
        CHECK(memcmp(back.id, s.id, (size_t)s.body_count * sizeof *s.id) == 0);
        CHECK(memcmp(back.position, s.position, (size_t)s.body_count * sizeof *s.position) == 0);
        if (i == 1) /* upon another frame it makes no sense, and says so */
            CHECK_INT(talus_frame_decode(&decoder, &head, &chunk, bytes + sizeof chunk,
                                         &state[i + 1], &state[i + 2], &back),
                      TALUS_ERR_FORMAT);
        talus_frame_encoder_commit(&encoder);
    }
    for (int i = 0; i <= MOMENTS; i++)
        talus_frame_state_clear(&state[i]);
    talus_frame_encoder_clear(&encoder);
    talus_frame_decoder_clear(&decoder);
    talus_snapshot_free(&s);
    talus_snapshot_free(&back);
}

int main(void)
{
    RUN(bodies_are_found_whatever_slots_they_have);
    RUN(bodies_in_their_first_slots_cost_no_list);
    RUN(ids_of_bodies_that_have_gone_name_nothing);
    RUN(a_body_in_a_slot_used_again_has_no_contacts_before_a_step);
    RUN(a_body_after_a_failed_arrival_has_no_contacts_before_a_step);
    RUN(what_flows_in_is_new);
    RUN(a_loaded_world_gives_the_numbers_that_the_saved_one_would);
    RUN(states_with_ids_that_cannot_be_are_refused);
    RUN(ids_are_made_from_slots_and_generations);
    RUN(states_of_version_9_go_on_at_the_compliance_of_their_tolerance);
    RUN(states_of_version_9_follow_another_tolerance);
    RUN(joints_of_version_6_are_numbered_by_their_slots);
    RUN(states_of_version_7_have_no_compliance);
    RUN(frames_of_version_2_are_read_and_gone_on_with);
    RUN(frames_follow_bodies_by_number);
    return talus_test_result();
}
