/* Errors as data: how a record is put together, and what is in those of real failures, one of each kind. */

#include "support/test.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>
#include <talus/talus.h>
#include <unistd.h>

typedef struct Expected {
    TalusStatus code;
    TalusDomain domain;
    int line, column;
    const char *file, *key, *reason; /* how the reason begins */
} Expected;

/* The text begins with file, line and column, where these are known, and holds the reason. */
static void check_text(const TalusError *e)
{
    char begin[1200] = "";
    if (e->file[0] && e->line == 0)
        snprintf(begin, sizeof begin, "%s: ", e->file);
    else if (e->file[0] && e->column == 0)
        snprintf(begin, sizeof begin, "%s:%d: ", e->file, e->line);
    else if (e->file[0])
        snprintf(begin, sizeof begin, "%s:%d:%d: ", e->file, e->line, e->column);
    CHECK(strncmp(e->text, begin, strlen(begin)) == 0);
    CHECK(e->reason >= (int)strlen(begin) && e->reason <= (int)strlen(e->text));
    CHECK_STR(e->text, talus_error());
}

static void check(TalusStatus status, Expected x)
{
    const TalusError *e = talus_error_record();
    CHECK_INT(status, x.code);
    CHECK_INT(e->code, x.code);
    CHECK_STR(talus_domain_name(e->domain), talus_domain_name(x.domain));
    CHECK_INT(e->line, x.line);
    CHECK_INT(e->column, x.column);
    CHECK_STR(e->file, x.file ? x.file : "");
    CHECK_STR(e->key, x.key ? x.key : "");
    if (x.reason && !CHECK(strncmp(talus_error_reason(), x.reason, strlen(x.reason)) == 0))
        printf("  %s\n", e->text);
    check_text(e);
}

/* ---- how a record is put together ---- */

static TalusLocation in_scene(int line, int column, const char *key)
{
    TalusLocation at = {TALUS_DOMAIN_SCENE, "s.json", line, column, key};
    return at;
}

TEST(texts_begin_with_the_location)
{
    talus_fail(TALUS_ERR_NUMERIC, "plain %d", 1);
    CHECK_STR(talus_error(), "plain 1");
    check(TALUS_ERR_NUMERIC,
          (Expected){TALUS_ERR_NUMERIC, TALUS_DOMAIN_PROGRAM, .reason = "plain"});
    talus_fail_file("a.txt", TALUS_ERR_IO, "cannot open");
    CHECK_STR(talus_error(), "a.txt: cannot open");
    talus_fail_line("a.txt", 7, TALUS_ERR_FORMAT, "no number");
    CHECK_STR(talus_error(), "a.txt:7: no number");
    talus_fail_at(in_scene(3, 9, "bodies[1].radius"), TALUS_ERR_FORMAT, "is %d", -1);
    CHECK_STR(talus_error(), "s.json:3:9: bodies[1].radius: is -1");
    check(TALUS_ERR_FORMAT, (Expected){TALUS_ERR_FORMAT, TALUS_DOMAIN_SCENE, 3, 9, "s.json",
                                       "bodies[1].radius", "is -1"});
    talus_fail_at(talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, "gs"), TALUS_ERR_NUMERIC, "no");
    CHECK_STR(talus_error(), "solver gs: no");
    talus_fail_at(talus_locate(TALUS_DOMAIN_DEVICE, NULL, 0, "cuda"), TALUS_ERR_NUMERIC, "no");
    CHECK_STR(talus_error(), "backend cuda: no");
}

/* A location from outside: code and domain are its own; nothing is said twice. */
TEST(locations_are_added)
{
    TalusLocation gs = talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, "gs");
    talus_fail_at(gs, TALUS_ERR_UNSUPPORTED, "no");
    check(talus_error_at(in_scene(2, 5, "bodies[0]"), TALUS_ERR_FORMAT),
          (Expected){TALUS_ERR_FORMAT, TALUS_DOMAIN_SCENE, 2, 5, "s.json", "bodies[0]", "no"});
    CHECK_STR(talus_error(), "s.json:2:5: bodies[0]: solver gs: no");
    talus_fail_at(gs, TALUS_ERR_UNSUPPORTED, "no");
    talus_error_at(in_scene(2, 5, "solver"), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "s.json:2:5: solver: gs: no");
    talus_fail_key("section", TALUS_ERR_ARGUMENT, "section 9");
    talus_error_at(in_scene(2, 5, "friction[0].section"), TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "s.json:2:5: friction[0].section: section 9");
    talus_fail(TALUS_ERR_ARGUMENT, "solver: none"); /* a reason is never cut */
    talus_error_at(in_scene(2, 5, "solver"), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "s.json:2:5: solver: solver: none");
}

TEST(files_and_keys_are_joined)
{
    TalusLocation frame = talus_locate(TALUS_DOMAIN_PROGRAM, "f", 0, "frame 3");
    talus_fail_file("f", TALUS_ERR_FORMAT, "damaged");
    check(talus_error_at(frame, TALUS_ERR_FORMAT),
          (Expected){TALUS_ERR_FORMAT, TALUS_DOMAIN_PROGRAM, 0, 0, "f", "frame 3", "damaged"});
    CHECK_STR(talus_error(), "f: frame 3: damaged");
    talus_fail_key("radius", TALUS_ERR_FORMAT, "twice");
    check(talus_error_at(frame, TALUS_ERR_FORMAT),
          (Expected){TALUS_ERR_FORMAT, TALUS_DOMAIN_PROGRAM, 0, 0, "f", "frame 3.radius", "twice"});
    CHECK_STR(talus_error(), "f: frame 3: radius: twice");
    talus_fail_line("other", 4, TALUS_ERR_FORMAT, "no number");
    talus_error_in_file("f", TALUS_ERR_IO);
    CHECK_STR(talus_error(), "f: other:4: no number");
    talus_fail_line("f", 4, TALUS_ERR_FORMAT, "no number");
    talus_error_at(talus_locate(TALUS_DOMAIN_IO, NULL, 0, "row"), TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "f:4: row: no number");
    CHECK_INT(talus_error_at(frame, TALUS_OK), TALUS_OK);
    CHECK_STR(talus_error(), "f:4: row: no number");
}

/* Whatever is too long is cut, never overrun. */
TEST(long_errors_are_cut)
{
    char name[3000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    talus_fail_at(talus_locate(TALUS_DOMAIN_IO, name, 2, name), TALUS_ERR_IO, "%s", name);
    talus_error_at(talus_locate(TALUS_DOMAIN_IO, name, 0, name), TALUS_ERR_IO);
    talus_error_at(talus_locate(TALUS_DOMAIN_SCENE, "short", 1, name), TALUS_ERR_IO);
    talus_error_key(name, TALUS_ERR_IO);
    const TalusError *e = talus_error_record();
    CHECK_INT((long long)strlen(e->text), sizeof e->text - 1);
    CHECK_INT((long long)strlen(e->key), sizeof e->key - 1);
    CHECK(e->reason <= (int)strlen(e->text));
    CHECK_STR(e->file, "short");
}

TEST(a_record_is_kept_and_restored)
{
    talus_fail_line("a.txt", 7, TALUS_ERR_FORMAT, "first");
    TalusError kept = *talus_error_record();
    talus_fail(TALUS_ERR_MEMORY, "second");
    talus_error_restore(&kept);
    check(TALUS_ERR_FORMAT,
          (Expected){TALUS_ERR_FORMAT, TALUS_DOMAIN_PROGRAM, 7, 0, "a.txt", NULL, "first"});
}

/* ---- real failures ---- */

static TalusStatus load(const char *text, const char *override, const TalusSceneChoice *choice)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusStatus status =
        talus_scene_parse(text, strlen(text), "s.json", &override, override ? 1 : 0, &scene);
    if (status == TALUS_OK)
        status = talus_scene_build(scene, choice, &world);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return status;
}

TEST(errors_in_a_scene)
{
    const TalusDomain scene = TALUS_DOMAIN_SCENE;
    check(load("{\n \"bodies\" []}", NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, scene, 2, 11, "s.json", NULL, "found '[', expected ':'"});
    check(load("{\"bodies\": [\n {\"radius\": -1, \"at\": [0, 0, 1]}]}", NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, scene, 2, 13, "s.json", "bodies[0].radius", NULL});
    check(load("{\"bodies\": [], \"graviti\": 1}", NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, scene, 1, 16, "s.json", "graviti", "unknown key"});
    check(load("{\"bodies\": [],\n \"section\": \"polygon:2\"}", NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, scene, 2, 13, "s.json", "section", "'polygon:2' needs"});
    check(load("{\"bodies\": [], \"joints\": [{\"type\": \"ball\", \"bodies\": [\"b\"], "
               "\"at\": [0, 0, 0]}]}",
               NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, scene, 1, 54, "s.json", "joints[0].bodies", "no entry"});
    check(load("{\"bodies\": [{\"file\": \"none.txt\", \"radius\": 1}]}", NULL, NULL),
          (Expected){TALUS_ERR_IO, scene, 1, 22, "s.json", "bodies[0].file", "cannot open"});
}

/* What the world refuses lies in the scene, unless it was chosen beside it. */
TEST(blame_for_a_choice)
{
    static const char solver[] = "{\"bodies\": [],\n \"solver\": {\"name\": \"gss\"}}";
    static const char backend[] = "{\"bodies\": [],\n \"backend\": \"abacus\"}";
    static const char threads[] = "{\"bodies\": [],\n \"threads\": 5000}";
    TalusSceneChoice gss = {.solver = "gss"}, abacus = {.backend = "abacus"},
                     many = {.threads = 5000};
    TalusSceneChoice one = {.threads = 1}, gs = {.solver = "gs"};
    const TalusSceneChoice *others[] = {NULL, &one};
    for (int i = 0; i < 2; i++) {
        check(load(solver, NULL, others[i]),
              (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SCENE, 2, 21, "s.json", "solver.name",
                         "solver: no solver 'gss'"});
        check(load(backend, NULL, others[i]),
              (Expected){TALUS_ERR_UNSUPPORTED, TALUS_DOMAIN_SCENE, 2, 13, "s.json", "backend",
                         "there is no such one"});
        CHECK(strstr(talus_error(), ": backend: abacus: there is no such one") != NULL);
    }
    check(load(threads, NULL, &gs), (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SCENE, 2, 13,
                                               "s.json", "threads", "5000 is not"});
    check(load("{\"bodies\": []}", NULL, &gss),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SOLVER, .key = "gss"});
    check(load("{\"bodies\": []}", NULL, &abacus),
          (Expected){TALUS_ERR_UNSUPPORTED, TALUS_DOMAIN_BACKEND, .key = "abacus",
                     .reason = "there is no such one"});
    check(load("{\"bodies\": []}", NULL, &many),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_BASE, .key = "threads", .reason = "5000"});
}

TEST(errors_in_an_override)
{
    static const char text[] = "{\"bodies\": [{\"radius\": 1, \"at\": [0, 0, 1]}]}";
    const TalusDomain override = TALUS_DOMAIN_OVERRIDE;
    check(load(text, "boxs=3", NULL), (Expected){TALUS_ERR_ARGUMENT, override, 0, 0, "--set boxs=3",
                                                 NULL, "no parameter or key 'boxs'"});
    check(
        load(text, "gravity=[0, 0", NULL),
        (Expected){TALUS_ERR_FORMAT, override, 0, 0, "--set gravity=[0, 0", NULL, "found the end"});
    check(load(text, "step=-1", NULL),
          (Expected){TALUS_ERR_FORMAT, override, 0, 0, "--set step=-1", "step", NULL});
    check(load(text, "bodies[4].radius=1", NULL),
          (Expected){TALUS_ERR_ARGUMENT, override, 0, 0, "--set bodies[4].radius=1", "bodies",
                     "bodies has no entry [4]"});
    check(load(text, "solver.name=gss", NULL), /* it is the world that finds this */
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_OVERRIDE, 0, 0, "--set solver.name=gss",
                     "solver.name", NULL});
}

TEST(errors_of_solvers)
{
    TalusSolver *solver;
    check(talus_solver_create("gss", &solver),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SOLVER, .key = "gss"});
    check(talus_solver_create("gs:omaga=1", &solver),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SOLVER, .key = "omaga"});
    check(talus_solver_create("gs:omega=7", &solver),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SOLVER, .key = "omega"});
    CHECK_STR(talus_error(), "gs: omega=7: expected a number from 1e-06 to 2");
    TalusContactDef contact = {.a = 0, .b = -1, .normal = {0, 0, 1}, .mu = 0.5};
    static const double inv_mass[] = {1.0}, velocity[6];
    static const TalusSym3 inertia[1];
    TalusProblemDef def = {.body_count = 1,
                           .inv_mass = inv_mass,
                           .inv_inertia = inertia,
                           .free_velocity = velocity,
                           .contact_count = 1,
                           .contacts = &contact};
    TalusProblem *problem;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    REQUIRE_OK(talus_solver_create("gpcg", &solver));
    check(talus_solver_supports(solver, problem),
          (Expected){TALUS_ERR_UNSUPPORTED, TALUS_DOMAIN_SOLVER, .key = "gpcg",
                     .reason = "takes problems without friction"});
    CHECK_STR(talus_error(), "solver gpcg: takes problems without friction, this one has it");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    contact.model.section = (TalusSection)9;
    check(talus_problem_create(&def, NULL, &problem),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_PROBLEM, .key = "contact 0"});
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    fputs(text, file);
    fclose(file);
}

TEST(errors_in_files)
{
    const TalusDomain io = TALUS_DOMAIN_IO;
    TalusScene *scene;
    TalusProblem *problem;
    TalusFclib *fclib;
    TalusFrames *frames;
    TalusWorld *world;
    char *note;
    check(talus_scene_load("nowhere.json", NULL, 0, &scene),
          (Expected){TALUS_ERR_IO, io, 0, 0, "nowhere.json", NULL, "cannot open"});
    write_text("odd.talus", "neither");
    check(talus_problem_open("odd.talus", NULL, NULL, &problem, &fclib),
          (Expected){TALUS_ERR_FORMAT, io, 0, 0, "odd.talus", NULL, "is not a Talus problem file"});
    check(talus_frames_open("odd.talus", &frames),
          (Expected){TALUS_ERR_FORMAT, io, 0, 0, "odd.talus", NULL, "is not a Talus frames file"});
    check(talus_checkpoint_read("nowhere", 1, NULL, &world, &note),
          (Expected){TALUS_ERR_IO, io, 0, 0, "nowhere", NULL, "there is no such directory"});
    write_text("points.txt", "0 0 1\n0 0 two\n");
    check(load("{\"bodies\": [{\"file\": \"points.txt\", \"radius\": 1}]}", NULL, NULL),
          (Expected){TALUS_ERR_FORMAT, io, 2, 0, "points.txt", NULL, "expected x y z"});
}

TEST(errors_of_calls)
{
    TalusWorld *world;
    TalusWorldDef def = talus_world_def_default();
    TalusFrictionModel model = {0};
    def.step = 0.0;
    check(talus_world_create(&def, &world),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_WORLD, .key = "step",
                     .reason = "world: step is 0"});
    check(
        talus_section_parse("polygon:2", &model),
        (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_PROBLEM, .key = "section", .reason = "'polyg"});
    CHECK(strncmp(talus_error(), "section: 'polygon:2' needs", 26) == 0);
    check(talus_law_parse("cpp", &model),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_PROBLEM, .key = "law"});
    def = talus_world_def_default();
    REQUIRE_OK(talus_world_create(&def, &world));
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_BOX};
    check(talus_world_add_shape(world, &sphere, NULL),
          (Expected){TALUS_ERR_ARGUMENT, TALUS_DOMAIN_SHAPE, .reason = "box: "});
    talus_world_destroy(world);
}

/* What a solver takes, as bits and in words. */
TEST(solvers_are_found_by_spec)
{
    CHECK_INT(talus_solver_find("auto"), 0);
    CHECK_INT(talus_solver_find("gss"), -1);
    CHECK_INT(talus_solver_find("g"), -1);
    CHECK_INT(talus_solver_find(""), -1);
    for (int i = 0; i < talus_solver_count(); i++) {
        TalusSolverRow row = talus_solver_row(i);
        char spec[64];
        snprintf(spec, sizeof spec, "%s:a=1", row.name);
        CHECK_INT(talus_solver_find(row.name), i);
        CHECK_INT(talus_solver_find(spec), i);
        CHECK(((row.takes & TALUS_TAKES_NONNEG) != 0) == (strstr(row.accepts, "nonneg") != NULL));
        CHECK(((row.takes & TALUS_TAKES_JOINT) != 0) == (strstr(row.accepts, "joints") != NULL));
        CHECK(((row.takes & TALUS_TAKES_MOMENTS) != 0) == (strstr(row.accepts, "moments") != NULL));
    }
    CHECK_INT(talus_solver_row(talus_solver_find("apgd")).takes, TALUS_TAKES_ALL);
    CHECK_INT(talus_solver_row(talus_solver_find("gpcg")).takes, TALUS_TAKES_NONNEG);
}

int main(void)
{
    RUN(texts_begin_with_the_location);
    RUN(locations_are_added);
    RUN(files_and_keys_are_joined);
    RUN(long_errors_are_cut);
    RUN(a_record_is_kept_and_restored);
    RUN(errors_in_a_scene);
    RUN(blame_for_a_choice);
    RUN(errors_in_an_override);
    RUN(errors_of_solvers);
    RUN(errors_in_files);
    RUN(errors_of_calls);
    RUN(solvers_are_found_by_spec);
    return talus_test_result();
}
