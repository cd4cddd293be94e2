/* Problem files: bit for bit there and back, and no bytes that are not a problem get through. */
#include "support/test.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "io/problem/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 72 };

/* Two spheres and a box on top of the fixed world. */
static TalusProblem *make_bodies(double mu)
{
    static const double inv_mass[3] = {0.5, 0.25, 0.0};
    static const double radius[3] = {1.0, 1.5, 0.0};
    static TalusSym3 inertia[3];
    static double velocity[18];
    TalusContactDef contacts[3] = {
        {.a = 0, .b = -1, .normal = {0, 0, -1}, .arm_a = {0, 0, -1}, .mu = mu, .bias = 0.1},
        {.a = 0,
         .b = 1,
         .normal = {0.6, 0, 0.8},
         .arm_a = {0.6, 0, 0.8},
         .arm_b = {-0.9, 0, -1.2},
         .mu = 0.5 * mu,
         .bias = -0.25},
        {.a = 1,
         .b = 2,
         .normal = {1, 0, 0},
         .arm_a = {1.5, 0, 0},
         .arm_b = {-1, 0.1, 0},
         .compliance = 1e-6}};
    for (int i = 0; i < 2; i++) {
        double k = 2.5 * inv_mass[i] / (radius[i] * radius[i]);
        inertia[i] = (TalusSym3){k, k, k, 0, 0, 0};
    }
    for (int i = 0; i < 12; i++)
        velocity[i] = 0.1 * i - 0.5;
    TalusProblemDef def = {.body_count = 3,
                           .inv_mass = inv_mass,
                           .inv_inertia = inertia,
                           .radius = radius,
                           .free_velocity = velocity,
                           .contact_count = 3,
                           .contacts = contacts};
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    for (int i = 0; problem && i < talus_problem_size(problem); i++)
        talus_problem_gamma(problem)[i] = 1.0 / (i + 3);
    return problem;
}

static TalusProblem *make_matrix(void)
{
    static const int32_t row_start[] = {0, 2, 3, 4, 6, 7, 8};
    static const int32_t column[] = {0, 3, 1, 2, 0, 3, 4, 5};
    static const double values[] = {2.0, -0.5, 1.0, 1.0, -0.5, 3.0, 1.5, 1.5};
    static const double offset[] = {-1.0, 0.1, 0.2, -2.0, 0.3, 0.4};
    static const double mu[] = {0.3, 0.7};
    TalusProblemDef def = {.block_count = 2,
                           .rows = 3,
                           .row_start = row_start,
                           .column = column,
                           .values = values,
                           .offset = offset,
                           .mu = mu};
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    return problem;
}

/* The same with a model each, the first turning or, for three rows, all without. */
static TalusProblem *make_models(bool turning)
{
    TalusProblem *plain = make_bodies(0.3), *problem = NULL;
    TalusContactDef contacts[3];
    TalusProblemDef def;
    if (!plain || !CHECK_OK(talus_problem_export(plain, &def)))
        return NULL;
    memcpy(contacts, def.contacts, sizeof contacts);
    contacts[0].model =
        (TalusFrictionModel){.section = TALUS_SECTION_SQUARE, .law = TALUS_LAW_FIXED};
    contacts[1].model = (TalusFrictionModel){
        .section = TALUS_SECTION_POLYGON, .law = TALUS_LAW_COULOMB, .sides = 5};
    contacts[2].mu = 0.1;
    if (turning) {
        contacts[0].spinning = 0.05;
        contacts[1].rolling = 0.02;
        contacts[0].length = contacts[1].length = contacts[2].length = 0.6;
    }
    def.contacts = contacts;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    for (int i = 0; problem && i < talus_problem_size(problem); i++)
        talus_problem_gamma(problem)[i] = 1.0 / (i + 3);
    for (int i = 0; problem && i < 3; i++)
        talus_problem_estimate(problem)[i] = 0.25 * i;
    talus_problem_destroy(plain);
    return problem;
}

static TalusProblem *make_matrix_models(void)
{
    static const TalusFrictionModel models[2] = {
        {.law = TALUS_LAW_COULOMB}, {.section = TALUS_SECTION_SQUARE, .law = TALUS_LAW_FIXED}};
    TalusProblem *plain = make_matrix(), *problem = NULL;
    TalusProblemDef def;
    if (!plain || !CHECK_OK(talus_problem_export(plain, &def)))
        return NULL;
    def.model = models;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    if (problem)
        talus_problem_estimate(problem)[1] = 0.5;
    talus_problem_destroy(plain);
    return problem;
}

/* ---- there and back ---- */

static void check_models(TalusProblem *a, TalusProblem *b)
{
    size_t blocks = (size_t)talus_problem_blocks(a);
    const double *x = talus_problem_estimate(a), *y = talus_problem_estimate(b);
    CHECK((x != NULL) == (y != NULL));
    CHECK(!x || !y || memcmp(x, y, blocks * sizeof *x) == 0);
    for (int i = 0; i < talus_problem_blocks(a); i++) {
        TalusFrictionModel m = talus_problem_friction(a, i), n = talus_problem_friction(b, i);
        CHECK(m.section == n.section && m.law == n.law && m.sides == n.sides);
    }
}

static void check_certificates(const TalusProblem *a, const TalusProblem *b)
{
    const double *x = talus_problem_certificate(a), *y = talus_problem_certificate(b);
    CHECK((x != NULL) == (y != NULL));
    CHECK(!x || !y || memcmp(x, y, (size_t)talus_problem_size(a) * sizeof *x) == 0);
}

/* Written, read and written again: the files and what the problems compute are the same. */
static void check_round_trip(TalusProblem *problem, int version)
{
    TalusProblem *copy;
    char *first, *second;
    size_t first_size, second_size;
    REQUIRE(problem != NULL);
    REQUIRE_OK(talus_problem_write("first.problem", problem));
    REQUIRE_OK(talus_problem_read("first.problem", NULL, &copy));
    REQUIRE_OK(talus_problem_write("second.problem", copy));
    REQUIRE_OK(talus_read_file("first.problem", 1 << 20, &first, &first_size));
    REQUIRE_OK(talus_read_file("second.problem", 1 << 20, &second, &second_size));
    CHECK(first_size == second_size && memcmp(first, second, first_size) == 0);
    CHECK_INT(first[8], version);
    int n = talus_problem_size(problem);
    double a[18], b[18];
    REQUIRE(n == talus_problem_size(copy) && n <= 18);
    check_models(problem, copy);
    check_certificates(problem, copy);
    CHECK(memcmp(talus_problem_gamma(problem), talus_problem_gamma(copy), (size_t)n * sizeof *a) ==
          0);
    talus_problem_gradient(problem, talus_problem_gamma(problem), a);
    talus_problem_gradient(copy, talus_problem_gamma(copy), b);
    CHECK(memcmp(a, b, (size_t)n * sizeof *a) == 0);
    talus_release(first);
    talus_release(second);
    talus_problem_destroy(copy);
    talus_problem_destroy(problem);
}

TEST(bodies_with_friction)
{
    check_round_trip(make_bodies(0.3), 1);
}

/* Some direction, which need not prove anything to be kept. */
static TalusProblem *with_certificate(TalusProblem *problem)
{
    double delta[18];
    for (int i = 0; i < 18; i++)
        delta[i] = 0.1 * i - 0.3;
    CHECK_OK(talus_problem_set_certificate(problem, delta));
    return problem;
}

TEST(certificates)
{
    check_round_trip(with_certificate(make_bodies(0.3)), 3);
    check_round_trip(with_certificate(make_bodies(0.0)), 3);
    check_round_trip(with_certificate(make_matrix()), 3);
    check_round_trip(with_certificate(make_models(true)), 3);
    check_round_trip(with_certificate(make_matrix_models()), 3);
    TalusProblem *problem = with_certificate(make_bodies(0.3));
    CHECK_OK(talus_problem_set_certificate(problem, NULL));
    CHECK(!talus_problem_certificate(problem));
    check_round_trip(problem, 1);
}

TEST(bodies_without_friction)
{
    check_round_trip(make_bodies(0.0), 1);
}

TEST(explicit_matrix)
{
    check_round_trip(make_matrix(), 1);
}

TEST(models_and_bounds)
{
    check_round_trip(make_models(false), 2);
    check_round_trip(make_matrix_models(), 2);
}

/* Their friction is switched off, not lost; a matrix without sections is solved on its normal rows. */
TEST(switched_off_friction)
{
    TalusFrictionModel none = {.section = TALUS_SECTION_NONE}, disc = {0};
    TalusProblem *problem[2] = {make_bodies(0.3), make_matrix()}, *copy;
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(talus_problem_set_friction(problem[i], none));
        CHECK_INT(talus_problem_rows(problem[i]), 1);
        for (int k = 0; k < talus_problem_size(problem[i]); k++)
            talus_problem_gamma(problem[i])[k] = 1.0 / (k + 3);
        REQUIRE_OK(talus_problem_write("none.problem", problem[i]));
        check_round_trip(problem[i], 2);
        REQUIRE_OK(talus_problem_read("none.problem", NULL, &copy));
        REQUIRE_OK(talus_problem_set_friction(copy, disc));
        CHECK_INT(talus_problem_rows(copy), 3);
        CHECK(talus_problem_mu(copy, 0) == 0.3);
        talus_problem_destroy(copy);
    }
}

TEST(turning_friction)
{
    TalusProblem *problem = make_models(true);
    CHECK_INT(talus_problem_rows(problem), 6);
    check_round_trip(problem, 2);
}

/* ---- malformed files ---- */

typedef struct Bytes {
    char *data;
    size_t size;
} Bytes;

/* The bytes of a sound file, to be spoilt. */
static Bytes sound_bytes(TalusProblem *problem)
{
    Bytes bytes = {0};
    CHECK_OK(talus_problem_write("sound.problem", problem));
    CHECK_OK(talus_read_file("sound.problem", 1 << 20, &bytes.data, &bytes.size));
    talus_problem_destroy(problem);
    return bytes;
}

/* So that the reader gets past the checksums. */
static void seal(Bytes *bytes)
{
    uint64_t hash = talus_hash(TALUS_HASH_SEED, bytes->data + HEADER, bytes->size - HEADER);
    memcpy(bytes->data + 56, &hash, 8);
    hash = talus_hash(TALUS_HASH_SEED, bytes->data, 64);
    memcpy(bytes->data + 64, &hash, 8);
}

/* Without the library's care for power cuts, which takes longer than all the rest. */
static bool put(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, size, file) == size;
    return (!file || fclose(file) == 0) && good;
}

static void expect_refusal(Bytes *bytes, const char *message)
{
    TalusProblem *problem;
    REQUIRE(put("bad.problem", bytes->data, bytes->size));
    CHECK(talus_problem_read("bad.problem", NULL, &problem) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), message);
    CHECK(problem == NULL);
    /* an element that the message names is the record's key, too */
    const TalusError *e = talus_error_record();
    const char *rest = message + strlen("bad.problem: ");
    size_t element = strcspn(rest, "] ");
    CHECK(e->code == TALUS_ERR_FORMAT && e->domain == TALUS_DOMAIN_IO);
    CHECK_STR(e->file, "bad.problem");
    if (rest[element] == ']')
        CHECK(strlen(e->key) == element + 1 && memcmp(rest, e->key, element + 1) == 0);
    talus_release(bytes->data);
    bytes->data = NULL;
}

/* A sound file with `size` bytes at `place` replaced, its checksums right again. */
static void spoil(TalusProblem *problem, size_t place, const void *with, size_t size,
                  const char *message)
{
    Bytes bytes = sound_bytes(problem);
    REQUIRE(bytes.data != NULL && place + size <= bytes.size);
    memcpy(bytes.data + place, with, size);
    seal(&bytes);
    expect_refusal(&bytes, message);
}

static void spoil_u32(TalusProblem *problem, size_t place, uint32_t with, const char *message)
{
    spoil(problem, place, &with, sizeof with, message);
}

static void spoil_u64(TalusProblem *problem, size_t place, uint64_t with, const char *message)
{
    spoil(problem, place, &with, sizeof with, message);
}

static void spoil_f64(TalusProblem *problem, size_t place, double with, const char *message)
{
    spoil(problem, place, &with, sizeof with, message);
}

TEST(wrong_frames_are_refused)
{
    Bytes bytes = sound_bytes(make_bodies(0.3));
    bytes.size = 4;
    expect_refusal(&bytes, "bad.problem: is not a Talus problem file");
    bytes = sound_bytes(make_bodies(0.3));
    bytes.size = 40;
    expect_refusal(&bytes, "bad.problem: truncated: 40 bytes, the header has 72");
    bytes = sound_bytes(make_bodies(0.3));
    bytes.size -= 8;
    expect_refusal(&bytes, "bad.problem: truncated: 712 bytes of content, expected 720");
    bytes = sound_bytes(make_bodies(0.3));
    bytes.data[24] ^= 1;
    expect_refusal(&bytes, "bad.problem: damaged: the header does not match its checksum");
    bytes = sound_bytes(make_bodies(0.3));
    bytes.data[bytes.size - 1] ^= 1;
    expect_refusal(&bytes, "bad.problem: damaged: the content does not match its checksum");
}

TEST(wrong_headers_are_refused)
{
    spoil_u32(make_bodies(0.3), 8, 4,
              "bad.problem: has format version 4, this program reads versions 1 to 3");
    spoil_u32(make_bodies(0.3), 8, 0,
              "bad.problem: has format version 0, this program reads versions 1 to 3");
    spoil_u32(make_bodies(0.3), 12, 3, "bad.problem: form 3: expected 1 or 2");
    spoil_u32(make_bodies(0.3), 16, 2, "bad.problem: 2 rows per block: expected 1 or 3");
    spoil_u32(make_bodies(0.3), 16, 6, "bad.problem: 6 rows per block: expected 1 or 3");
    spoil_u32(make_models(true), 16, 2, "bad.problem: 2 rows per block: expected 1, 3 or 6");
    spoil_u32(make_matrix_models(), 16, 6, "bad.problem: 6 rows per block: expected 1 or 3");
    spoil_u32(make_bodies(0.3), 20, 3, "bad.problem: unknown flags 3");
    spoil_u32(make_models(true), 20, 31, "bad.problem: unknown flags 1f");
    spoil_u32(make_matrix_models(), 20, 14, "bad.problem: unknown flags e");
    spoil_u32(make_models(false), 20, 3,
              "bad.problem: the header gives 784 bytes of content, its counts ask for 760");
    spoil_u64(make_bodies(0.3), 24, UINT64_MAX / 8,
              "bad.problem: a count exceeds the format's limit");
    spoil_u64(make_bodies(0.3), 40, 1, "bad.problem: a count of the other form is not zero");
    spoil_u64(make_bodies(0.3), 32, 4,
              "bad.problem: the header gives 720 bytes of content, its counts ask for 848");
}

/* Offsets for three bodies: inverse masses, inertias, radii, velocities, contacts, impulses. */
enum { MASS = HEADER, RADIUS = MASS + 24 + 144, VELOCITY = RADIUS + 24, CONTACT = VELOCITY + 144 };

TEST(wrong_bodies_are_refused)
{
    spoil_f64(make_bodies(0.3), MASS + 8, -1.0,
              "bad.problem: inv_mass[1] is -1: expected a non-negative number");
    spoil_f64(make_bodies(0.3), RADIUS, INFINITY,
              "bad.problem: radius[0] is inf: expected a non-negative number");
    spoil_f64(make_bodies(0.3), VELOCITY + 16, INFINITY,
              "bad.problem: free_velocity[2] is inf: expected a finite number");
    spoil_u32(make_bodies(0.3), CONTACT, 3,
              "bad.problem: contacts[0] joins bodies 3 and -1: expected two of 3, or -1 in b");
    spoil_u32(make_bodies(0.3), CONTACT + 104 + 4, 0,
              "bad.problem: contacts[1] joins bodies 0 and 0: expected two of 3, or -1 in b");
    spoil_f64(make_bodies(0.3), CONTACT + 8, 1.0,
              "bad.problem: contacts[0]: the normal's length is 1.41421: expected 1");
    spoil_f64(make_bodies(0.3), CONTACT + 32, INFINITY,
              "bad.problem: contacts[0]: normal and arms: number 3 is inf: expected a finite "
              "number");
    spoil_f64(make_bodies(0.3), CONTACT + 80, -0.5,
              "bad.problem: contacts[0]: mu -0.5, bias 0.1, compliance 0: expected finite numbers, "
              "mu and compliance not negative");
    spoil_f64(make_bodies(0.3), CONTACT + 3 * 104, INFINITY,
              "bad.problem: gamma[0] is inf: expected a finite number");
    spoil_f64(with_certificate(make_bodies(0.3)), CONTACT + 3 * 104 + 9 * 8 + 16, INFINITY,
              "bad.problem: certificate[2] is inf: expected a finite number");
    spoil_f64(make_bodies(0.3), CONTACT + 80, INFINITY,
              "bad.problem: contacts[0]: mu inf, bias 0.1, compliance 0: expected finite numbers, "
              "mu and compliance not negative");
    spoil_f64(make_bodies(0.0), CONTACT + 80, 0.5,
              "bad.problem: 1 rows per block, but the contacts' friction asks for 3");
}

/* Then models of 12 bytes each, padded, turning friction, impulses and estimates. */
enum { MODEL = CONTACT + 3 * 104, TURNING = MODEL + 40, GAMMA = TURNING + 72 };

TEST(wrong_models_are_refused)
{
    spoil_u32(make_models(true), MODEL, TALUS_SECTIONS,
              "bad.problem: models[0]: friction model: no section 5, law 1");
    spoil_u32(
        make_models(true), MODEL + 12 + 8, 2,
        "bad.problem: models[1]: friction model: 2 sides; a polygon has 3 to 64, the other sections 0");
    spoil_f64(make_models(true), TURNING + 24 + 8, -1.0,
              "bad.problem: moments[1]: spinning 0, rolling -1, length 0.6: expected finite "
              "numbers, not negative, and a length with friction");
    spoil_f64(make_models(true), TURNING + 16, 0.0,
              "bad.problem: moments[0]: spinning 0.05, rolling 0, length 0: expected finite "
              "numbers, not negative, and a length with friction");
    spoil_f64(make_models(true), GAMMA + 8 * 18 + 8, -1.0,
              "bad.problem: estimate[1] is -1: expected a non-negative number");
    spoil_u32(make_models(true), MODEL + 4, TALUS_LAW_CCP,
              "bad.problem: has estimates, but no contact whose bounds are fixed by them");
}

/* Offsets for two blocks of three rows with eight entries. */
enum {
    START = HEADER,
    COLUMN = START + 32,
    VALUE = COLUMN + 32,
    OFFSET = VALUE + 64,
    MU = OFFSET + 48
};

TEST(wrong_matrices_are_refused)
{
    spoil_u32(make_matrix(), START, 1, "bad.problem: row_start runs from 1 to 8: expected 0 to 8");
    spoil_u32(make_matrix(), START + 8, 1, "bad.problem: row_start[2] falls from 2 to 1");
    spoil_u32(make_matrix(), COLUMN + 4, 6,
              "bad.problem: column[1] is 6: expected rising columns below 6 in row 0");
    spoil_u32(make_matrix(), COLUMN + 4, 0,
              "bad.problem: column[1] is 0: expected rising columns below 6 in row 0");
    spoil_f64(make_matrix(), VALUE, INFINITY,
              "bad.problem: values[0] is inf: expected a finite number");
    spoil_f64(make_matrix(), OFFSET + 8, -INFINITY,
              "bad.problem: offset[1] is -inf: expected a finite number");
    spoil_f64(make_matrix(), MU, -1.0, "bad.problem: mu[0] is -1: expected a non-negative number");
}

/* Random damage under right checksums: the reader refuses or gives a problem, and never crashes. */
TEST(any_bytes_are_safe)
{
    TalusRng rng = talus_rng_from_seed(1);
    Bytes sound[4] = {sound_bytes(make_bodies(0.3)), sound_bytes(make_matrix()),
                      sound_bytes(make_models(true)), sound_bytes(make_matrix_models())};
    for (int trial = 0; trial < 1000; trial++) {
        char data[4096];
        Bytes bytes = {data, sound[trial % 4].size};
        TalusProblem *problem;
        REQUIRE(bytes.size <= sizeof data);
        memcpy(data, sound[trial % 4].data, bytes.size);
        for (uint64_t k = 0; k < 1 + talus_rng_below(&rng, 3); k++)
            data[talus_rng_below(&rng, bytes.size)] = (char)talus_rng_next(&rng);
        seal(&bytes);
        REQUIRE(put("random.problem", data, bytes.size));
        TalusStatus status = talus_problem_read("random.problem", NULL, &problem);
        CHECK((status == TALUS_OK) == (problem != NULL));
        talus_problem_destroy(problem);
    }
    for (int i = 0; i < 4; i++)
        talus_release(sound[i].data);
}

int main(void)
{
    RUN(bodies_with_friction);
    RUN(bodies_without_friction);
    RUN(certificates);
    RUN(explicit_matrix);
    RUN(models_and_bounds);
    RUN(switched_off_friction);
    RUN(turning_friction);
    RUN(wrong_frames_are_refused);
    RUN(wrong_headers_are_refused);
    RUN(wrong_bodies_are_refused);
    RUN(wrong_models_are_refused);
    RUN(wrong_matrices_are_refused);
    RUN(any_bytes_are_safe);
    return talus_test_result();
}
