/* What is written of a world comes back, within what docs/reference/frames.md promises. */
#include "frames_scene.h"
#include "world/state.h"

#include <float.h>
#include <stdlib.h>

enum { MOST_FRAMES = 64 };

/* ---- comparison with the world ---- */

/* Returns the difference relative to the larger number, or to the least normal float: below it floats have fewer
 * digits. */
static double relative(double a, double b)
{
    return a == b ? 0.0 : fabs(a - b) / fmax(fmax(fabs(a), fabs(b)), FLT_MIN);
}

static double component(TalusVec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static double largest_part(TalusVec3 v)
{
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

/* A half rounds to 8 bits: at most half of 2^-7, relative to a number of at least 1. */
static const double half_error = 0x1p-8 * 1.0001;

static bool same_turn(TalusQuat a, TalusQuat b)
{
    return fabs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z) > 1.0 - 1e-8;
}

static bool same_body(const TalusSnapshot *w, const TalusSnapshot *f, int i,
                      const TalusFramesHead *head)
{
    bool sphere = head->shapes[w->shape[i]].kind == TALUS_SHAPE_SPHERE;
    bool same = w->id[i].number == f->id[i].number;
    same &= w->shape[i] == f->shape[i] && w->material[i] == f->material[i];
    same &= w->tag[i] == f->tag[i] && w->fixed[i] == f->fixed[i];
    same &= relative(w->radius[i], f->radius[i]) <= (head->lean ? 0x1p-7 : 0x1p-24) * 1.0001;
    TalusVec3 off = talus_sub(w->position[i], f->position[i]);
    same &= largest_part(off) <= 0.5 * head->quantum * (1.0 + 1e-9);
    same &= sphere || same_turn(w->orientation[i], f->orientation[i]);
    return same;
}

static bool same_motion(const TalusSnapshot *w, const TalusSnapshot *f, int i, bool lean)
{
    double error = lean ? 0x1p-4 * 1.0001 : half_error;
    bool same = relative(w->force[i], f->force[i]) <= error;
    same &= relative(w->speed[i], f->speed[i]) <= (lean ? error : 2.0 * half_error);
    if (w->dissipated)
        same &= relative(w->dissipated[i], f->dissipated[i]) <= (lean ? 0x1p-7 : 0x1p-24) * 1.0001;
    for (int k = 0; !lean && k < 3; k++)
        same &= relative(component(w->velocity[i], k), component(f->velocity[i], k)) <= error;
    return same && (lean || w->touching[i] == f->touching[i]);
}

static double normal_force(const TalusSnapshot *s, int i)
{
    return talus_dot(s->contact[i].impulse, s->contact[i].normal) / s->length;
}

static double impulse_of(const TalusSnapshot *s, int i)
{
    return talus_dot(s->contact[i].impulse, s->contact[i].normal);
}

static double mean_impulse(const TalusSnapshot *s)
{
    double sum = 0.0;
    int loaded = 0;
    for (int i = 0; i < s->contact_count; i++)
        if (impulse_of(s, i) > 0.0) {
            sum += impulse_of(s, i);
            loaded++;
        }
    return loaded ? sum / loaded : 0.0;
}

/* The chain that a contact of the world became; chains of one pair keep the contacts' order. */
static int find_chain(const TalusSnapshot *f, int a, int b, int occurrence)
{
    for (int i = 0; i < f->contact_count; i++)
        if (f->contact_a[i] == a && f->contact_b[i] == b && occurrence-- == 0)
            return i;
    return -1;
}

static int occurrence_of(const TalusSnapshot *w, int i, double mean)
{
    int before = 0;
    for (int k = 0; k < i; k++)
        before += w->contact_a[k] == w->contact_a[i] && w->contact_b[k] == w->contact_b[i] &&
                  impulse_of(w, k) > mean;
    return before;
}

static int large_chains; /* that check_chains has seen end at a large moving body */

/* Whether a chain's point is in the file: at fixed bodies, and at those that are large beside the other. */
static bool has_point(const TalusSnapshot *f, int a, int b)
{
    bool large =
        !f->fixed[b] && talus_chain_large_end((float)f->radius[a], (float)f->radius[b]) >= 0;
    large_chains += large;
    return f->fixed[b] || large;
}

static bool same_chain(const TalusSnapshot *w, int i, const TalusSnapshot *f, int k, double quantum)
{
    int a = f->contact_a[k], b = f->contact_b[k];
    const TalusContactState *c = &f->contact[k];
    bool same = c->a.number == f->id[a].number && c->b.number == f->id[b].number;
    same &= relative(normal_force(w, i), normal_force(f, k)) <= half_error + 1e-9;
    if (has_point(f, a, b))
        same &= largest_part(talus_sub(w->contact[i].point, c->point)) <= 0.5 * quantum * 1.000001;
    return same;
}

static int check_chains(const TalusSnapshot *w, const TalusSnapshot *f, double quantum)
{
    double mean = mean_impulse(w);
    int strong = 0, walls = 0;
    for (int i = 0; i < w->contact_count; i++) {
        if (!(impulse_of(w, i) > mean))
            continue;
        strong++;
        walls += w->fixed[w->contact_b[i]];
        int k = find_chain(f, w->contact_a[i], w->contact_b[i], occurrence_of(w, i, mean));
        if (!CHECK(k >= 0) || !CHECK(same_chain(w, i, f, k, quantum)))
            return walls;
    }
    CHECK_INT(f->contact_count, strong);
    for (int k = 1; k < f->contact_count; k++)
        if (!CHECK(f->contact_a[k - 1] <= f->contact_a[k]))
            break;
    return walls;
}

/* Returns how many chains end at a wall. */
static int check_frame(const TalusSnapshot *w, const TalusSnapshot *f, const TalusFramesHead *head)
{
    CHECK(f->time == w->time && f->step == w->step);
    CHECK_INT(f->contact_total, w->contact_total);
    if (!CHECK_INT(f->body_count, w->body_count) ||
        !CHECK((f->dissipated != NULL) == (w->dissipated != NULL)) ||
        !CHECK(!(f->fields & TALUS_SNAPSHOT_DISSIPATED) == !f->dissipated))
        return 0;
    for (int i = 0; i < w->body_count; i++)
        if (!CHECK(same_body(w, f, i, head)) || !CHECK(same_motion(w, f, i, head->lean)))
            break;
    if (!head->lean)
        return check_chains(w, f, head->quantum);
    CHECK(f->contact_count == 0 && !f->velocity && !f->touching);
    return 0;
}

/* ---- round trips ---- */

typedef struct Record {
    TalusSnapshot world[MOST_FRAMES];
    int frames;
} Record;

static void record(Record *r, const char *path, TalusWorld *world, TalusDetail detail, int frames,
                   int steps)
{
    TalusFramesDef def = {.title = "Rain", .scene = "rain", .detail = detail};
    TalusFramesWriter *writer;
    *r = (Record){.frames = frames};
    REQUIRE_OK(talus_frames_create(path, &def, &writer));
    for (int i = 0; i < frames; i++) {
        CHECK_OK(talus_snapshot_take(&r->world[i], world, TALUS_SNAPSHOT_ALL));
        CHECK_OK(talus_frames_add(writer, world));
        step_world(world, steps);
    }
    CHECK_OK(talus_frames_finish(writer));
}

static void forget(Record *r)
{
    for (int i = 0; i < r->frames; i++)
        talus_snapshot_free(&r->world[i]);
}

/* All frames forward, then backward, then one twice. Returns the number of wall chains. */
static int check_file(const Record *r, const char *path)
{
    TalusFrames *frames;
    TalusSnapshot s = {0};
    int walls = 0;
    if (!CHECK_OK(talus_frames_open(path, &frames)))
        return 0;
    CHECK(talus_frames_complete(frames));
    CHECK_INT(talus_frames_count(frames), r->frames);
    for (int k = 0; k < 2 * r->frames + 2; k++) {
        int i = k < r->frames ? k : k < 2 * r->frames ? 2 * r->frames - 1 - k : r->frames / 2;
        if (!CHECK_OK(talus_frames_read(frames, i, &s)))
            break;
        TalusFrameInfo info = talus_frames_info(frames, i);
        CHECK(info.time == s.time && info.step == s.step && info.bodies == s.body_count);
        walls += check_frame(&r->world[i], &s, talus_frames_head(frames, i));
        CHECK_INT(talus_frames_at(frames, s.time), i);
    }
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    return walls;
}

static void copy_frames(const char *from, const char *to, TalusDetail detail)
{
    TalusFrames *frames;
    TalusFramesWriter *writer;
    TalusFramesDef def = {.detail = detail};
    TalusSnapshot s = {0};
    REQUIRE_OK(talus_frames_open(from, &frames));
    REQUIRE_OK(talus_frames_create(to, &def, &writer));
    for (int i = 0; i < talus_frames_count(frames); i++) {
        CHECK_OK(talus_frames_read(frames, i, &s));
        CHECK_OK(talus_frames_add_snapshot(writer, talus_frames_head(frames, i), &s));
    }
    CHECK_OK(talus_frames_finish(writer));
    talus_snapshot_free(&s);
    talus_frames_close(frames);
}

TEST(scenes_come_back)
{
    static const struct {
        const char *scene, *set;
        int steps;
        bool walls;
    } cases[] = {
        {"hourglass", "bodies=150", 6, true},       {"box-stack", "bodies=4", 2, true},
        {"dominoes", "bodies=8", 5, true},          {"settle-box", "bodies=125", 8, true},
        {"settle-cylinder", "bodies=100", 8, true}, {"pebble-bed", "bodies=60", 12, false},
        {"heavy-on-light", "bodies=60", 8, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TalusScene *scene;
        TalusWorld *world;
        TalusSceneChoice choice = {.threads = 1};
        Record r;
        char path[256];
        snprintf(path, sizeof path, "%s/scenes/%s.json", getenv("TALUS_SOURCE_DIR"),
                 cases[i].scene);
        REQUIRE_OK(talus_scene_load(path, &cases[i].set, 1, &scene));
        REQUIRE_OK(talus_scene_build(scene, &choice, &world));
        record(&r, "scene.talus", world, TALUS_DETAIL_AUTO, 20, cases[i].steps);
        int walls = check_file(&r, "scene.talus");
        CHECK(walls > 0 || !cases[i].walls);
        forget(&r);
        talus_world_destroy(world);
        talus_scene_destroy(scene);
    }
}

/* Of full frames and of lean ones, which are in parts. A copy has them, too. */
TEST(dissipated_energies_come_back)
{
    for (int k = 0; k < 2; k++) {
        TalusScene *scene;
        TalusWorld *world;
        TalusSceneChoice choice = {.threads = 1};
        Record r;
        char path[256];
        const char *set[] = {"bodies=100", "dissipation=true"};
        const TalusDetail detail = k ? TALUS_DETAIL_LEAN : TALUS_DETAIL_FULL;
        snprintf(path, sizeof path, "%s/scenes/settle-box.json", getenv("TALUS_SOURCE_DIR"));
        REQUIRE_OK(talus_scene_load(path, set, 2, &scene));
        REQUIRE_OK(talus_scene_build(scene, &choice, &world));
        record(&r, "energies.talus", world, detail, 20, 8);
        check_file(&r, "energies.talus");
        CHECK(r.world[19].dissipated && r.world[19].dissipated[r.world[19].body_count - 1] > 0.0);
        copy_frames("energies.talus", "copy.talus", detail);
        check_file(&r, "copy.talus");
        forget(&r);
        talus_world_destroy(world);
        talus_scene_destroy(scene);
    }
}

/* A large ball on four small ones, others beside, so that these contacts are above the mean: where they touch it comes from the file, not from the line of
 * centres. */
TEST(chains_end_at_large_bodies)
{
    static const char text[] =
        "{\"bodies\": [{\"shape\": {\"kind\": \"plane\"}, \"at\": [[0, 0, 0]], \"fixed\": true},"
        "{\"shape\": {\"kind\": \"sphere\", \"radius\": 0.1}, \"at\": [[0.2, 0.2, 0.1], [0.2, -0.2, 0.1], "
        "[-0.2, 0.2, 0.1], [-0.2, -0.2, 0.1], [2, 2, 0.1], [2, -2, 0.1], [-2, 2, 0.1], [-2, -2, 0.1]]},"
        "{\"shape\": {\"kind\": \"sphere\", \"radius\": 0.5}, \"at\": [[0, 0, 0.63]]}], \"step\": 0.004, \"until\": 1}";
    TalusSceneChoice choice = {.threads = 1};
    TalusScene *scene;
    TalusWorld *world;
    Record r;
    REQUIRE_OK(talus_scene_parse(text, strlen(text), "large", NULL, 0, &scene));
    REQUIRE_OK(talus_scene_build(scene, &choice, &world));
    large_chains = 0;
    record(&r, "large.talus", world, TALUS_DETAIL_AUTO, 20, 1);
    check_file(&r, "large.talus");
    CHECK(large_chains > 10);
    forget(&r);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* Bodies in a slot that was used before come ahead of older ones, but not in frames. */
static int reused(const TalusWorld *world, const Record *r)
{
    int count = 0;
    const TalusSnapshot *last = &r->world[r->frames - 1];
    for (int i = 0; i + 1 < world->bodies.counts.slots; i++)
        count += world->bodies.id[i] > world->bodies.id[i + 1];
    for (int i = 0; i + 1 < last->body_count; i++)
        CHECK(last->id[i].number < last->id[i + 1].number);
    return count;
}

TEST(bodies_come_and_go)
{
    TalusWorld *world = rain_world(0.0, true);
    Record r;
    record(&r, "rain.talus", world, TALUS_DETAIL_AUTO, 50, 3);
    CHECK(check_file(&r, "rain.talus") > 0);
    CHECK(r.world[49].body_count > 50);
    CHECK(reused(world, &r) > 5);
    forget(&r);
    talus_world_destroy(world);
}

TEST(lean_frames_are_coarse)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *frames;
    Record r;
    record(&r, "lean.talus", world, TALUS_DETAIL_LEAN, 40, 3);
    check_file(&r, "lean.talus");
    REQUIRE_OK(talus_frames_open("lean.talus", &frames));
    const TalusFramesHead *head = talus_frames_head(frames, 39);
    REQUIRE(head != NULL);
    CHECK(head->lean && head->quantum <= head->radius / 48 && head->quantum > head->radius / 54.1);
    talus_frames_close(frames);
    forget(&r);
    talus_world_destroy(world);
}

TEST(every_sixteenth_is_a_key)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *frames;
    write_frames("keys.talus", world, TALUS_DETAIL_FULL, 34, 1);
    REQUIRE_OK(talus_frames_open("keys.talus", &frames));
    for (int i = 0; i < 34; i++) {
        /* frame 1 has a new head: the emitter's first grains bring a shape */
        uint64_t offset, size, before = 0, none;
        talus_frames_head_location(frames, i, &offset, &size);
        if (i > 0)
            talus_frames_head_location(frames, i - 1, &before, &none);
        CHECK(talus_frames_info(frames, i).key == (i % 16 == 0 || offset != before));
        CHECK(size > 40 && size % 8 == 0);
    }
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* ---- heads ---- */

TEST(heads_tell_shapes_and_materials)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *frames;
    step_world(world, 20);
    write_frames("head.talus", world, TALUS_DETAIL_FULL, 1, 1);
    REQUIRE_OK(talus_frames_open("head.talus", &frames));
    const TalusFramesHead *head = talus_frames_head(frames, 0);
    REQUIRE(head != NULL);
    CHECK_STR(head->title, "Rain");
    CHECK_STR(head->scene, "rain");
    CHECK(!head->lean && head->step == 1.0 / 128.0 && head->gravity.x == 2.0);
    CHECK_INT(head->shape_count, talus_world_shape_count(world));
    CHECK(head->shapes[0].kind == TALUS_SHAPE_BOX && head->shapes[0].half.z == 0.05);
    CHECK(head->shapes[1].kind == TALUS_SHAPE_REVOLVE && head->shapes[1].point_count == 2);
    CHECK(head->shapes[1].profile[3] == 0.4);
    CHECK(head->shapes[4].kind == TALUS_SHAPE_CYLINDER && head->shapes[4].half_height == 0.07);
    CHECK_INT(head->material_count, 2);
    CHECK_STR(head->materials[1].name, "ice \"1\"\\\n?\xc3\xa9");
    CHECK(head->materials[1].friction == 0.02 && head->materials[1].density == 917.0);
    CHECK(head->quantum <= head->radius / 128 && head->quantum > head->radius / 144.1);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* The bodies of each entry: through a file, through its continuation, through a copy of its head, and from a scene. */
TEST(heads_tell_entries)
{
    const TalusFramesEntry entries[] = {{"drum \"a\"", 1, 1},
                                        {"grains", 2, INT64_C(5000000000)},
                                        {"later", INT64_C(5000000001), 0}};
    TalusFramesDef def = {.title = "Rain", .entries = entries, .entry_count = 3};
    TalusWorld *world = rain_world(0.0, false);
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusHeadStore copy = {0};
    REQUIRE_OK(talus_frames_create("entries.talus", &def, &writer));
    CHECK_OK(talus_frames_add(writer, world));
    talus_frames_abandon(writer);
    REQUIRE_OK(talus_frames_resume("entries.talus", -1.0,
                                   &writer)); /* keeps no frame: a new file with the old names */
    CHECK_OK(talus_frames_add(writer, world));
    CHECK_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("entries.talus", &frames));
    REQUIRE(talus_frames_head(frames, 0) != NULL);
    CHECK_OK(talus_frames_head_copy(talus_frames_head(frames, 0), &copy));
    for (int i = 0; CHECK_INT(copy.head.entry_count, 3) && i < 3; i++) {
        CHECK_STR(copy.head.entries[i].name, entries[i].name);
        CHECK(copy.head.entries[i].first == entries[i].first &&
              copy.head.entries[i].last == entries[i].last);
    }
    talus_frames_head_clear(&copy);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

TEST(scenes_tell_entries)
{
    static const char text[] =
        "{\"bodies\": [{\"name\": \"floor\", \"shape\": {\"kind\": \"plane\"}, \"at\": [[0, 0, 0]], \"fixed\": true},"
        "{\"shape\": {\"kind\": \"sphere\", \"radius\": 0.1}, \"at\": [[0, 0, 1], [0, 0, 2]]},"
        "{\"name\": \"late\", \"time\": 1, \"shape\": {\"kind\": \"sphere\", \"radius\": 0.1}, \"at\": [[0, 0, 3]]}],"
        "\"step\": 0.01, \"until\": 1}";
    static const TalusFramesEntry expected[] = {
        {"floor", 1, 1}, {"bodies[1]", 2, 3}, {"late", 4, 0}};
    TalusSceneEntries entries = {0};
    TalusSceneChoice choice = {.threads = 1, .entries = &entries};
    TalusScene *scene;
    TalusWorld *world;
    REQUIRE_OK(talus_scene_parse(text, strlen(text), "entries", NULL, 0, &scene));
    REQUIRE_OK(talus_scene_build(scene, &choice, &world));
    for (int i = 0; CHECK_INT(entries.count, 3) && i < 3; i++) {
        CHECK_STR(entries.entry[i].name, expected[i].name);
        CHECK(entries.entry[i].first == expected[i].first &&
              entries.entry[i].last == expected[i].last);
    }
    talus_scene_entries_free(&entries);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
}

/* Nothing moves at first: the grid can only be chosen when the first grains are there. */
TEST(the_grid_waits_for_what_moves)
{
    TalusWorld *world = rain_world(0.05, false);
    TalusFrames *frames;
    Record r;
    record(&r, "wait.talus", world, TALUS_DETAIL_FULL, 20, 1);
    check_file(&r, "wait.talus");
    REQUIRE_OK(talus_frames_open("wait.talus", &frames));
    int first = 0;
    while (r.world[first].body_count == 3)
        first++;
    CHECK(first > 2);
    CHECK(isnan(talus_frames_head(frames, first - 1)->floor));
    CHECK(talus_frames_info(frames, first).key);
    const TalusFramesHead *head = talus_frames_head(frames, first);
    CHECK(head->radius >= 0.02 && head->radius <= 0.04 && !isnan(head->floor));
    CHECK(talus_frames_head(frames, 19)->radius == head->radius);
    talus_frames_close(frames);
    forget(&r);
    talus_world_destroy(world);
}

/* Most are large; the small ones are not to stand on one another's places. */
TEST(the_grid_is_fine_enough_for_the_small)
{
    enum { LARGE = 60, SMALL = 40, ALL = LARGE + SMALL };
    TalusFramesHead head = {.gravity = {0.0, 0.0, -9.81}};
    TalusSnapshot s = {0};
    REQUIRE_OK(talus_snapshot_resize(&s, 0, ALL, 0));
    for (int i = 0; i < ALL; i++) {
        s.position[i] = talus_vec3(i, 0.0, 0.0);
        s.fixed[i] = false;
        s.radius[i] = i < LARGE ? 1.0 : 1e-4;
    }
    CHECK_OK(talus_frames_head_set_grid(&head, &s, NULL));
    CHECK(head.radius == 1.0);
    CHECK(head.quantum <= 1e-4 / 16 && head.quantum > 1e-4 / 18.1);
    for (int i = 0; i < ALL - 1; i++)
        s.radius[i] = 1.0; /* for a single one it is not worth the bytes */
    CHECK_OK(talus_frames_head_set_grid(&head, &s, NULL));
    CHECK(head.quantum == 1.0 / 128);
    s.radius[ALL - 1] = 0.9999;
    for (int i = 0; i < ALL; i++)
        s.radius[i] *= 0.1;
    CHECK_OK(talus_frames_head_set_grid(&head, &s, NULL));
    CHECK(head.quantum <= 0.1 / 128 && head.quantum > 0.1 / 144.1);
    for (int k = 1; k < 1 << 20; k *= 3) /* multiples of it are exact */
        CHECK(head.quantum * k / k == head.quantum && fmod(head.quantum * k, 0x1p-40) == 0.0);
    talus_snapshot_free(&s);
}

TEST(new_shapes_bring_a_new_head)
{
    TalusWorld *world = rain_world(100.0, true);
    TalusShapeDef can = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.03, .half_height = 0.02};
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusSnapshot s = {0};
    int shapes = talus_world_shape_count(world);
    REQUIRE_OK(talus_frames_create("shapes.talus", NULL, &writer));
    for (int i = 0; i < 6; i++) {
        if (i == 3)
            CHECK_OK(add_body(world, can, talus_vec3(0.0, 0.0, 0.5), false, 9));
        CHECK_OK(talus_frames_add(writer, world));
        step_world(world, 1);
    }
    CHECK_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("shapes.talus", &frames));
    for (int i = 0; i < 6; i++) {
        CHECK_INT(talus_frames_head(frames, i)->shape_count, shapes + (i >= 3));
        CHECK(talus_frames_info(frames, i).key == (i == 0 || i == 3));
        CHECK_OK(talus_frames_read(frames, i, &s));
    }
    CHECK(talus_frames_head(frames, 0)->quantum == talus_frames_head(frames, 5)->quantum);
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* A body keeps the layer it started in, also over key frames. */
TEST(layers_stay)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *frames;
    TalusSnapshot s = {0};
    static int layer[1000];
    static bool known[1000];
    int seen = 0, above = 0;
    write_frames("layers.talus", world, TALUS_DETAIL_FULL, 40, 3);
    REQUIRE_OK(talus_frames_open("layers.talus", &frames));
    memset(known, 0, sizeof known);
    for (int i = 0; i < 40; i++) {
        REQUIRE_OK(talus_frames_read(frames, i, &s));
        for (int b = 0; b < s.body_count; b++) {
            uint64_t k = s.id[b].number;
            REQUIRE(k < 1000);
            if (known[k])
                seen += CHECK(layer[k] == s.layer[b]);
            known[k] = true;
            layer[k] = s.layer[b];
            above += s.layer[b] > 3;
        }
    }
    CHECK(seen > 1000 && above > 500);
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* A quaternion and its negative are one orientation: the file does not jump between them. */
TEST(orientations_keep_their_sign)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusHeadStore head = {0};
    TalusSnapshot s = {0}, first = {0};
    REQUIRE_OK(talus_frames_create("sign.talus", NULL, &writer));
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    for (int i = 0; i < 20; i++) {
        CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
        TalusQuat q = s.orientation[3];
        if (i % 3)
            s.orientation[3] = (TalusQuat){-q.w, -q.x, -q.y, -q.z};
        CHECK_OK(talus_frames_add_snapshot(writer, &head.head, &s));
    }
    CHECK_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("sign.talus", &frames));
    CHECK_OK(talus_frames_read(frames, 0, &first));
    for (int i = 0; i < 20; i++) {
        CHECK_OK(talus_frames_read(frames, i, &s));
        CHECK(memcmp(&s.orientation[3], &first.orientation[3], sizeof(TalusQuat)) == 0);
    }
    talus_frames_close(frames);
    talus_snapshot_free(&first);
    talus_snapshot_free(&s);
    talus_frames_head_clear(&head);
    talus_world_destroy(world);
}

/* ---- the end of the grid ---- */

static int warnings;

static void count_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    warnings += level == TALUS_LOG_WARNING && strcmp(id, "frames.clamped") == 0 &&
                strstr(text, "far.talus: at time 0 1 bodies are more than ") != NULL;
}

TEST(bodies_beyond_the_grid_are_told)
{
    TalusWorld *world = rain_world(100.0, true);
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.06, 0.05, 0.04}};
    TalusFrames *frames;
    TalusSnapshot s = {0};
    CHECK_OK(add_body(world, box, talus_vec3(1e9, 0.0, 5.0), false, 9));
    warnings = 0;
    talus_set_log(count_warning, NULL);
    write_frames("far.talus", world, TALUS_DETAIL_FULL, 2, 1);
    talus_set_log(NULL, NULL);
    CHECK_INT(warnings, 1);
    REQUIRE_OK(talus_frames_open("far.talus", &frames));
    REQUIRE_OK(talus_frames_read(frames, 0, &s));
    const TalusFramesHead *head = talus_frames_head(frames, 0);
    int last = s.body_count - 1;
    CHECK(s.position[last].x == head->origin.x + head->quantum * INT32_MAX);
    CHECK_NEAR(s.position[last].z, 5.0, 0.5 * head->quantum);
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* ---- files from files ---- */

/* Numbers that were rounded once round to themselves. */
TEST(a_copy_is_the_same)
{
    TalusWorld *world = rain_world(0.05, false);
    write_frames("one.talus", world, TALUS_DETAIL_FULL, 40, 2);
    copy_frames("one.talus", "two.talus", TALUS_DETAIL_AUTO);
    CHECK(same_files("one.talus", "two.talus"));
    talus_world_destroy(world);
    world = rain_world(0.05, false);
    write_frames("one.talus", world, TALUS_DETAIL_LEAN, 40, 2);
    copy_frames("one.talus", "two.talus", TALUS_DETAIL_AUTO);
    CHECK(same_files("one.talus", "two.talus"));
    talus_world_destroy(world);
}

TEST(what_cannot_be_written_is_refused)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFramesWriter *writer;
    TalusHeadStore head = {0};
    TalusSnapshot s = {0};
    TalusFramesDef odd = {.detail = (TalusDetail)7};
    CHECK(talus_frames_create("odd.talus", &odd, &writer) == TALUS_ERR_ARGUMENT);
    CHECK(talus_frames_create("missing/odd.talus", NULL, &writer) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "missing/odd.talus: cannot open: No such file or directory");
    CHECK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_LAYER) == TALUS_ERR_ARGUMENT);
    REQUIRE_OK(talus_frames_create("odd.talus", NULL, &writer));
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_SPEED | TALUS_SNAPSHOT_FORCE));
    CHECK(talus_frames_add_snapshot(writer, &head.head, &s) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "frames: the snapshot has fields 0xa; full frames need velocities, "
                             "forces and chains");
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
    s.time = 1.0;
    CHECK_OK(talus_frames_add_snapshot(writer, &head.head, &s));
    s.time = 0.5;
    CHECK(talus_frames_add_snapshot(writer, &head.head, &s) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "odd.talus: a frame at time 0.5 cannot follow one at 1");
    s.time = 2.0;
    s.shape[1] = 99;
    CHECK(talus_frames_add_snapshot(writer, &head.head, &s) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "has id 2, shape 99 and material 0") != NULL);
    s.shape[1] = 0;
    s.velocity[1].y = NAN;
    CHECK(talus_frames_add_snapshot(writer, &head.head, &s) == TALUS_ERR_NUMERIC);
    CHECK(strstr(talus_error(), "a value of velocity is not finite") != NULL);
    s.velocity[1].y = INFINITY; /* the largest number */
    CHECK_OK(talus_frames_add_snapshot(writer, &head.head, &s));
    CHECK_OK(talus_frames_finish(writer));
    CHECK_OK(talus_frames_finish(NULL));
    talus_frames_abandon(NULL);
    talus_snapshot_free(&s);
    talus_frames_head_clear(&head);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(scenes_come_back);
    RUN(dissipated_energies_come_back);
    RUN(chains_end_at_large_bodies);
    RUN(bodies_come_and_go);
    RUN(lean_frames_are_coarse);
    RUN(every_sixteenth_is_a_key);
    RUN(heads_tell_shapes_and_materials);
    RUN(heads_tell_entries);
    RUN(scenes_tell_entries);
    RUN(the_grid_waits_for_what_moves);
    RUN(the_grid_is_fine_enough_for_the_small);
    RUN(new_shapes_bring_a_new_head);
    RUN(layers_stay);
    RUN(orientations_keep_their_sign);
    RUN(bodies_beyond_the_grid_are_told);
    RUN(a_copy_is_the_same);
    RUN(what_cannot_be_written_is_refused);
    return talus_test_result();
}
