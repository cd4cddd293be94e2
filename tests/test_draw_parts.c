/* What pictures are made of: PNG files, colours, letters. */
#include "base/deflate.h"
#include "base/memory.h"
#include "base/rng.h"
#include "draw/image.h"
#include "draw/palette.h"
#include "draw/picture.h"
#include "draw/png.h"
#include "draw/text.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- polyhedra ---- */

/* A lid and a wall meet at a right angle, each with vertices of its own: 0 and 3, 1 and 2. */
TEST(an_edge_of_two_facets_is_sharp_whatever_the_numbers_of_its_vertices)
{
    TalusVec3 up = talus_vec3(0, 0, 1), back = talus_vec3(0, 1, 0), zero = talus_vec3(0, 0, 0);
    TalusVec3 end = talus_vec3(1, 0, 0), half = talus_vec3(1, 1, 1);
    TalusVec3 vertex[] = {zero, end, zero, end, talus_vec3(0, -1, 0), talus_vec3(0, 0, -1)};
    TalusVec3 normal[] = {up, back, back, up, up, back};
    int triangle[] = {0, 4, 3, 2, 1, 5}, sharp = 0;
    const TalusMesh mesh = {.vertex_count = 6,
                            .triangle_count = 2,
                            .vertex = vertex,
                            .normal = normal,
                            .triangle = triangle};
    TalusPolyhedron p;
    REQUIRE_OK(talus_polyhedron_create(&mesh, 0, 2, zero, half, &p));
    CHECK_INT(p.facets, 2);
    for (int k = 0; k < p.corners; k++)
        sharp += p.corner[k].sharp;
    CHECK_INT(sharp, 2);
    talus_polyhedron_free(&p);
}

/* ---- PNG, read by the book ---- */

static uint32_t u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Bit by bit, from the definition. */
static uint32_t crc(const unsigned char *p, size_t size)
{
    uint32_t c = 0xffffffff;
    for (size_t k = 0; k < size; k++) {
        c ^= p[k];
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    }
    return ~c;
}

static uint32_t adler(const unsigned char *p, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t k = 0; k < size; k++) {
        a = (a + p[k]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* A stream of stored blocks, which is what a build without zlib writes. */
static bool read_stored(const unsigned char *p, size_t size, unsigned char *out, size_t expected)
{
    size_t at = 2, made = 0;
    bool last = false;
    while (!last && at + 5 <= size) {
        size_t n = (size_t)p[at + 1] | (size_t)p[at + 2] << 8;
        size_t inverse = (size_t)p[at + 3] | (size_t)p[at + 4] << 8;
        last = p[at] == 1;
        if (p[at] > 1 || n + inverse != 0xffff || made + n > expected || at + 5 + n > size)
            return false;
        memcpy(out + made, p + at + 5, n);
        made += n;
        at += 5 + n;
    }
    return last && made == expected && at + 4 == size && u32(p + at) == adler(out, made);
}

static bool inflate(const unsigned char *p, size_t size, unsigned char *out, size_t expected)
{
    if (size < 6 || (p[0] * 256 + p[1]) % 31 != 0)
        return false;
    return talus_deflate_available() ? talus_inflate(p, size, out, expected) == TALUS_OK
                                     : read_stored(p, size, out, expected);
}

static unsigned char guess(int filter, int left, int up, int corner)
{
    int p = left + up - corner, a = abs(p - left), b = abs(p - up), c = abs(p - corner);
    switch (filter) {
    case 1: return (unsigned char)left;
    case 2: return (unsigned char)up;
    case 3: return (unsigned char)((left + up) / 2);
    case 4: return (unsigned char)(a <= b && a <= c ? left : b <= c ? up : corner);
    default: return 0;
    }
}

/* Undoes the filters of `rows` in place; the pixels go to `out`. */
static bool unfilter(const unsigned char *rows, int width, int height, int step, unsigned char *out)
{
    int size = width * step;
    for (int y = 0; y < height; y++) {
        const unsigned char *row = rows + (size_t)y * (size_t)(size + 1);
        unsigned char *to = out + (size_t)y * (size_t)size;
        if (row[0] > 4)
            return false;
        for (int k = 0; k < size; k++) {
            int left = k >= step ? to[k - step] : 0, up = y ? to[k - size] : 0;
            int corner = y && k >= step ? to[k - size - step] : 0;
            to[k] = (unsigned char)(row[k + 1] + guess(row[0], left, up, corner));
        }
    }
    return true;
}

/* The pixels of a PNG file of three chunks; NULL where anything is wrong. */
static unsigned char *decode(const unsigned char *p, size_t size, int width, int height,
                             int channels)
{
    const unsigned char header[] = {8, (unsigned char)(channels == 4 ? 6 : 2), 0, 0, 0};
    size_t rows_size = ((size_t)width * (size_t)channels + 1) * (size_t)height;
    if (size < 8 + 25 + 12 + 12 || memcmp(p, "\x89PNG\r\n\x1a\n", 8) != 0 || u32(p + 8) != 13 ||
        memcmp(p + 12, "IHDR", 4) != 0 || u32(p + 16) != (uint32_t)width ||
        u32(p + 20) != (uint32_t)height || memcmp(p + 24, header, 5) != 0 ||
        u32(p + 29) != crc(p + 12, 17))
        return NULL;
    size_t n = u32(p + 33);
    if (n != size - 57 || memcmp(p + 37, "IDAT", 4) != 0 || u32(p + 41 + n) != crc(p + 37, n + 4) ||
        memcmp(p + 45 + n, "\0\0\0\0IEND\xae\x42\x60\x82", 12) != 0)
        return NULL;
    unsigned char *rows = malloc(rows_size), *out = malloc(rows_size);
    bool ok = rows && out && inflate(p + 41, n, rows, rows_size) &&
              unfilter(rows, width, height, channels, out);
    free(rows);
    if (!ok) {
        free(out);
        return NULL;
    }
    return out;
}

/* Slopes, noise and flat parts, so that every filter has its rows. */
static void paint(TalusImage *image)
{
    TalusRng rng = talus_rng_from_seed(3);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width * image->channels; x++) {
            size_t at = (size_t)y * (size_t)image->width * (size_t)image->channels + (size_t)x;
            int kind = y / 3 % 4;
            int value = kind == 0   ? x
                        : kind == 1 ? 3 * y + x
                        : kind == 2 ? (int)talus_rng_below(&rng, 256)
                                    : 77;
            image->pixel[at] = (unsigned char)value;
        }
}

TEST(png_files_decode)
{
    static const int sizes[][3] = {{1, 1, 3},  {1, 1, 4},   {3, 2, 3},    {17, 31, 4},
                                   {64, 1, 3}, {1, 100, 3}, {300, 200, 3}};
    for (int k = 0; k < 7; k++) {
        TalusImage image;
        unsigned char *bytes;
        size_t size;
        REQUIRE_OK(talus_image_create(sizes[k][0], sizes[k][1], sizes[k][2], &image));
        paint(&image);
        REQUIRE_OK(talus_png_encode(&image, &bytes, &size));
        unsigned char *pixels = decode(bytes, size, image.width, image.height, image.channels);
        CHECK(pixels &&
              memcmp(pixels, image.pixel,
                     (size_t)image.width * (size_t)image.height * (size_t)image.channels) == 0);
        free(pixels);
        talus_release(bytes);
        talus_image_free(&image);
    }
}

TEST(png_files_are_written_whole)
{
    TalusImage image;
    REQUIRE_OK(talus_image_create(5, 4, 3, &image));
    CHECK_OK(talus_png_write("picture.png", &image));
    FILE *file = fopen("picture.png", "rb");
    REQUIRE(file != NULL);
    unsigned char head[8];
    CHECK(fread(head, 1, 8, file) == 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0);
    fclose(file);
    CHECK(talus_png_write("no/such/folder/picture.png", &image) == TALUS_ERR_IO);
    talus_image_free(&image);
}

/* ---- colours ---- */

TEST(light_and_numbers)
{
    int wrong = 0;
    for (unsigned k = 0; k < 256; k++)
        wrong += talus_srgb_encode(talus_srgb_decode(k)) != k;
    CHECK_INT(wrong, 0);
    CHECK_NEAR(talus_srgb_decode(128), 0.21586, 1e-5);
    CHECK_INT(talus_srgb_encode(-1.0f), 0);
    CHECK_INT(talus_srgb_encode(7.0f), 255);
}

/* As the eye sees it, relative to white (CIE Y). */
static double luminance(uint32_t rgb)
{
    return 0.2126 * talus_srgb_decode(rgb >> 16 & 255) +
           0.7152 * talus_srgb_decode(rgb >> 8 & 255) + 0.0722 * talus_srgb_decode(rgb & 255);
}

TEST(the_scale_becomes_lighter)
{
    double last = 0.0;
    for (int k = 0; k <= 200; k++) {
        double y = luminance(talus_palette_sequential(k / 200.0));
        CHECK(y > last - 0.002); /* rounding to bytes */
        last = y;
    }
    CHECK(luminance(talus_palette_sequential(1.0)) >
          5.0 * luminance(talus_palette_sequential(0.0)));
    CHECK_INT(talus_palette_sequential(-3.0), talus_palette_sequential(0.0));
    CHECK_INT(talus_palette_sequential(3.0), talus_palette_sequential(1.0));
    CHECK_INT(talus_palette_sequential(NAN), talus_palette_sequential(0.0));
}

TEST(categories_and_identities)
{
    CHECK_INT(talus_palette_category(0, false), 0x0064ad);
    CHECK_INT(talus_palette_category(8, true), 0xff8b52);
    CHECK_INT(talus_palette_category(-1, false), talus_palette_category(6, false));
    int equal = 0;
    for (uint32_t k = 0; k < 1000; k++)
        equal += talus_palette_identity((TalusBodyId){k}) ==
                 talus_palette_identity((TalusBodyId){k + 1});
    CHECK(equal < 50);
}

/* The n-th "#rrggbb" of a text from `at` on; -1 where there is none. */
static long nth_colour(const char *at, int n)
{
    for (; at && n >= 0; n--)
        at = strchr(at + 1, '#');
    return at ? strtol(at + 1, NULL, 16) : -1;
}

/* A file of the source tree that has the scale after the words `heading`. */
static void check_scale_in(const char *name, const char *heading)
{
    static char text[1 << 16];
    char path[4096];
    const char *root = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, heading);
    REQUIRE(at != NULL);
    for (int k = 0; k <= 32; k++)
        CHECK_INT(nth_colour(at, k), talus_palette_sequential(k / 32.0));
}

TEST(the_page_and_the_viewer_have_the_same_scale)
{
    if (!getenv("TALUS_SOURCE_DIR"))
        SKIP("TALUS_SOURCE_DIR is not set");
    check_scale_in("docs/how-to/render.md", "**Scale.**");
    check_scale_in("apps/viewer/src/engine/palette.ts", "SEQUENTIAL = [");
}

TEST(nice_numbers)
{
    CHECK_NEAR(talus_round_up_nice(0.91), 1.0, 1e-12);
    CHECK_NEAR(talus_round_up_nice(1.0), 1.0, 1e-12);
    CHECK_NEAR(talus_round_up_nice(1.01), 1.5, 1e-12);
    CHECK_NEAR(talus_round_up_nice(6.4e-7), 8e-7, 1e-18);
    CHECK_NEAR(talus_round_up_nice(8.1e9), 1e10, 1.0);
    double value[200];
    for (int k = 0; k < 200; k++)
        value[k] = 200 - k;
    CHECK_NEAR(talus_percentile_99(value, 200), 198.0, 0.0);
    CHECK_NEAR(talus_percentile_99(value, 0), 0.0, 0.0);
}

/* The scale of speeds ends at sqrt(2 g r) / 4 or above (docs/how-to/render.md): slower bodies count as at rest. */
TEST(slow_bodies_do_not_stretch_the_scale_of_speeds)
{
    TalusFramesHead head = {.gravity = {0.0, 0.0, -10.0}, .radius = 0.05};
    double speed = 1e-6;
    bool fixed = false;
    TalusSnapshot snapshot = {.body_count = 1, .speed = &speed, .fixed = &fixed};
    TalusDrawDef def = talus_draw_def_default();
    TalusPicture picture = {.head = &head, .snapshot = &snapshot, .def = &def};
    REQUIRE_OK(talus_picture_set_scale(&picture));
    CHECK_NEAR(picture.high, talus_round_up_nice(0.25 * sqrt(2.0 * 10.0 * 0.05)), 1e-12);
    speed = 7.0;
    REQUIRE_OK(talus_picture_set_scale(&picture));
    CHECK_NEAR(picture.high, 8.0, 1e-12);
}

/* ---- text ---- */

static double ink(const char *text)
{
    TalusImage image;
    double sum = 0.0;
    if (!CHECK_OK(talus_image_create(120, 60, 3, &image)))
        return 0.0;
    talus_text_draw(&image, 10.0, 40.0, 40.0, 0xffffff, text);
    for (int k = 0; k < 3 * 120 * 60; k++)
        sum += image.pixel[k];
    talus_image_free(&image);
    return sum / (3.0 * 255.0);
}

/* Every printable character leaves strokes, all but the same as any other; a space leaves none. */
TEST(every_letter_is_drawn)
{
    double seen[128];
    int few = 0, alike = 0;
    for (int c = 33; c <= 126; c++) {
        char text[2] = {(char)c, '\0'};
        seen[c] = ink(text);
        few += seen[c] < 8.0;
        for (int d = 33; d < c; d++)
            alike += seen[c] == seen[d];
    }
    CHECK_INT(few, 0);
    CHECK(alike < 20); /* mirrored pairs, such as ( and ) */
    CHECK(ink(" ") == 0.0);
    CHECK(ink("\xc3\xa4") == seen['?']);
}

TEST(text_is_as_wide_as_it_says)
{
    TalusImage image;
    const char *text = "Wide 0.25";
    double width = talus_text_width(text, 20.0);
    REQUIRE_OK(talus_image_create(200, 40, 4, &image));
    talus_text_draw(&image, 20.0, 30.0, 20.0, 0x123456, text);
    int first = 200, last = 0;
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 200; x++)
            if (image.pixel[4 * (y * 200 + x) + 3] > 0) {
                first = x < first ? x : first;
                last = x > last ? x : last;
            }
    CHECK(first >= 18 && first <= 23);
    CHECK_NEAR(last - 20, width, 4.0);
    CHECK(talus_text_width("", 20.0) == 0.0);
    talus_image_free(&image);
}

int main(void)
{
    RUN(an_edge_of_two_facets_is_sharp_whatever_the_numbers_of_its_vertices);
    RUN(png_files_decode);
    RUN(png_files_are_written_whole);
    RUN(light_and_numbers);
    RUN(the_scale_becomes_lighter);
    RUN(categories_and_identities);
    RUN(the_page_and_the_viewer_have_the_same_scale);
    RUN(nice_numbers);
    RUN(slow_bodies_do_not_stretch_the_scale_of_speeds);
    RUN(every_letter_is_drawn);
    RUN(text_is_as_wide_as_it_says);
    return talus_test_result();
}
