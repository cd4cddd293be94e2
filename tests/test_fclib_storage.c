/* One matrix in every storage, width and byte order that HDF5 files come in: all give the same. */
#include "support/test.h"

#include "io/hdf5/hdf5.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"

#include <stdio.h>

#ifdef TALUS_HDF5
#include "fclib_file.h"

static TalusFclib *parse(const Item *items, const Change *changes, int count)
{
    TalusFclib *fclib = NULL;
    Image image = make_image(items, changes, count);
    CHECK_OK(talus_fclib_parse("file.hdf5", image.bytes, image.size, &fclib));
    free(image.bytes);
    return fclib;
}

/* The local file with W = 2.0 at (0,0), -0.5 at (0,3) and -0.25 at (3,0): not symmetric, so that
 * rows and columns cannot be confused. */
#define VALUES 2.0, -0.25, 1.0, 1.0, -0.5, 3.0, 1.5, 1.5

static void check_matrix(const TalusSparse *W)
{
    static const int32_t start[] = {0, 2, 3, 4, 6, 7, 8}, column[] = {0, 3, 1, 2, 0, 3, 4, 5};
    static const double value[] = {2.0, -0.5, 1.0, 1.0, -0.25, 3.0, 1.5, 1.5};
    REQUIRE(W->rows == 6 && W->columns == 6 && talus_sparse_entries(W) == 8);
    CHECK(memcmp(W->start, start, sizeof start) == 0);
    CHECK(memcmp(W->column, column, sizeof column) == 0);
    CHECK(memcmp(W->value, value, sizeof value) == 0);
}

static void check_storage(const Change *changes, int count)
{
    TalusFclib *f = parse(local_file, changes, count);
    REQUIRE(f != NULL);
    check_matrix(&f->W);
    CHECK_STR(f->title, "two contacts");
    CHECK(f->description == NULL);
    CHECK(f->mu[0] == 0.3 && f->mu[1] == 0.7 && f->q[3] == -2.0);
    CHECK(f->solution.r[3] == 0.75 && f->solution.v == NULL);
    CHECK(f->guess_count == 1 && f->guesses[0].r[5] == 6.0 && f->guesses[0].u == NULL);
    talus_fclib_destroy(f);
}

TEST(columns)
{
    const Change changes[] = {{.item = REAL_ITEM("/fclib_local/W/x", VALUES)}};
    check_storage(changes, 1);
}

TEST(rows)
{
    const Change changes[] = {
        {.item = INT_ITEM("/fclib_local/W/nz", -2)},
        {.item = REAL_ITEM("/fclib_local/W/x", 2.0, -0.5, 1.0, 1.0, -0.25, 3.0, 1.5, 1.5)}};
    check_storage(changes, 2);
}

/* i is the row and p the column; two entries of one place; one beyond nz that is not looked at. */
TEST(triplets)
{
    const Change changes[] = {{.item = INT_ITEM("/fclib_local/W/nz", 9)},
                              {.item = INT_ITEM("/fclib_local/W/nzmax", 10)},
                              {.item = INT_ITEM("/fclib_local/W/i", 3, 0, 5, 4, 3, 0, 2, 1, 0)},
                              {.item = INT_ITEM("/fclib_local/W/p", 3, 0, 5, 4, 0, 3, 2, 1, 0)},
                              {.item = REAL_ITEM("/fclib_local/W/x", 3.0, 1.75, 1.5, 1.5, -0.25,
                                                 -0.5, 1.0, 1.0, 0.25, 0.0)}};
    check_storage(changes, 5);
}

TEST(unsorted_columns_with_room_to_spare)
{
    const Change changes[] = {
        {.item = INT_ITEM("/fclib_local/W/nzmax", 9)},
        {.item = INT_ITEM("/fclib_local/W/i", 3, 0, 1, 2, 3, 0, 4, 5, -77)},
        {.item = REAL_ITEM("/fclib_local/W/x", -0.25, 2.0, 1.0, 1.0, 3.0, -0.5, 1.5, 1.5, 1e300)}};
    check_storage(changes, 3);
}

TEST(other_widths_and_byte_orders)
{
    const Change changes[] = {
        {.item = {"/fclib_local/spacedim", WIDE, (int64_t[]){3}, 1}},
        {.item = {"/fclib_local/W/m", WIDE, (int64_t[]){6}, 1}},
        {.item = {"/fclib_local/W/nz", WIDE, (int64_t[]){-1}, 1}},
        {.item = {"/fclib_local/W/p", WIDE, (int64_t[]){0, 2, 3, 4, 6, 7, 8}, 7}},
        {.item = {"/fclib_local/W/i", WIDE, (int64_t[]){0, 3, 1, 2, 0, 3, 4, 5}, 8}},
        {.item = {"/fclib_local/W/x", SINGLE, (double[]){VALUES}, 8}}};
    check_storage(changes, 6);
}

static void packed(hid_t file, const char *path)
{
    static const double values[] = {VALUES};
    hsize_t chunk = 3;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 9);
    H5Pset_fletcher32(list);
    put_list(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, 8, list);
    H5Pclose(list);
}

static void scalar(hid_t file, const char *path)
{
    const int32_t three = 3;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = H5Dcreate2(file, path, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(id, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, &three);
    H5Dclose(id);
    H5Sclose(space);
}

TEST(packed_scalars_and_variable_text)
{
    const Change changes[] = {{{.path = "/fclib_local/W/x"}, packed},
                              {{.path = "/fclib_local/spacedim"}, scalar},
                              {{.path = "/fclib_local/info/title"}, variable_text}};
    check_storage(changes, 3);
}

/* Older tools made /solution/r and never wrote it: that is no impulse of zero. */
static void never_written(hid_t file, const char *path)
{
    put_list(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, NULL, 6, H5P_DEFAULT);
}

TEST(unwritten_impulses_are_absent)
{
    const Change change = {{.path = "/solution/r"}, never_written};
    TalusFclib *f = parse(local_file, &change, 1);
    REQUIRE(f != NULL);
    CHECK(f->solution.r == NULL && f->solution.u != NULL);
    talus_fclib_destroy(f);
}

/* HDF5's own error output, switched off while a file is open, is put back. */
static int reported;

static herr_t report(hid_t stack, void *user)
{
    (void)stack, (void)user;
    reported++;
    return 0;
}

TEST(error_output_is_left_alone)
{
    TalusFclib *f;
    H5E_auto2_t before;
    void *user;
    H5Eget_auto2(H5E_DEFAULT, &before, &user);
    H5Eset_auto2(H5E_DEFAULT, report, NULL);
    const Change change = {.item = {"/fclib_local/W", DROP, NULL, 0}};
    Image image = make_image(local_file, &change, 1);
    CHECK(talus_fclib_parse("bad.hdf5", image.bytes, image.size, &f) == TALUS_ERR_FORMAT);
    CHECK(talus_fclib_parse("cut.hdf5", image.bytes, image.size / 2, &f) == TALUS_ERR_FORMAT);
    free(image.bytes);
    CHECK_INT(reported, 0);
    H5Fopen("no-such-file", H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK_INT(reported, 1);
    H5Eset_auto2(H5E_DEFAULT, before, user);
}

/* Makes "/nnn...", a path of a group whose name has `length` bytes. */
static const char *path_of(char *path, size_t length)
{
    path[0] = '/';
    memset(path + 1, 'n', length);
    path[length + 1] = '\0';
    return path;
}

static void write_long_group(const char *file, size_t length)
{
    static const double r[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    char group[400], vector[sizeof group + 2];
    snprintf(vector, sizeof vector, "%s/r", path_of(group, length));
    const Change changes[] = {{.item = {group, GROUP, NULL, 0}}, {.item = {vector, REALS, r, 6}}};
    Image image = make_image(local_file, changes, 2);
    FILE *out = fopen(file, "wb");
    REQUIRE(out != NULL);
    CHECK(fwrite(image.bytes, 1, image.size, out) == image.size);
    fclose(out);
    free(image.bytes);
}

/* Names of groups are taken whole or refused, never cut. */
TEST(long_names_of_groups)
{
    char path[400];
    TalusFclib *f = NULL;
    TalusFclibPoint point;
    write_long_group("long.hdf5", 200);
    REQUIRE_OK(talus_fclib_read("long.hdf5", &f));
    CHECK(talus_fclib_has("long.hdf5", path_of(path, 200) + 1));
    CHECK_OK(talus_fclib_read_point("long.hdf5", path + 1, f, &point));
    CHECK(point.r && point.r[5] == 6.0);
    talus_fclib_free_point(&point);
    const size_t absent[] = {126, 199, 201, 255, 300}; /* 126: all that fits into 128 bytes */
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++) {
        CHECK(!talus_fclib_has("long.hdf5", path_of(path, absent[k]) + 1));
        CHECK(talus_fclib_read_point("long.hdf5", path + 1, f, &point) != TALUS_OK);
        CHECK(strstr(talus_error(),
                     absent[k] < 256
                         ? "is missing: expected a group"
                         : "the name of the group has 300 bytes: expected at most 255"));
    }
    talus_fclib_destroy(f);
    remove("long.hdf5");
}

/* Names of more than 255 bytes are not looked up, and are not taken for the end of a path. */
TEST(names_beyond_the_limit_are_missing)
{
    char path[400];
    TalusH5 *h5;
    Image image = make_image(local_file, NULL, 0);
    REQUIRE_OK(talus_h5_open("file.hdf5", image.bytes, image.size, &h5));
    for (size_t length = 255; length < 258; length++) {
        CHECK(!talus_h5_has(h5, path_of(path, length)));
        CHECK_INT(talus_h5_expect_group(h5, path), TALUS_ERR_FORMAT);
    }
    CHECK(talus_h5_has(h5, "/solution") && talus_h5_has(h5, "//solution/") &&
          talus_h5_has(h5, "/"));
    talus_h5_close(h5);
    free(image.bytes);
}

int main(void)
{
    RUN(columns);
    RUN(rows);
    RUN(triplets);
    RUN(unsorted_columns_with_room_to_spare);
    RUN(other_widths_and_byte_orders);
    RUN(packed_scalars_and_variable_text);
    RUN(unwritten_impulses_are_absent);
    RUN(error_output_is_left_alone);
    RUN(long_names_of_groups);
    RUN(names_beyond_the_limit_are_missing);
    return talus_test_result();
}

#else

TEST(storage)
{
    SKIP("this build has no HDF5");
}

int main(void)
{
    RUN(storage);
    return talus_test_result();
}

#endif
