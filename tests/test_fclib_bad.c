/* Malformed FCLIB files: each is refused, with the file, the dataset, what is there and what would
 * be right. Every file is a sound one with one thing changed. */
#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/problem/fclib.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#ifdef TALUS_HDF5
#include "fclib_file.h"

static void expect_refusal(Image image, const char *message)
{
    TalusFclib *fclib;
    CHECK_INT(talus_fclib_parse("bad.hdf5", image.bytes, image.size, &fclib), TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), message);
    CHECK(fclib == NULL);
    free(image.bytes);
}

static void spoil(const Item *items, Item with, const char *message)
{
    expect_refusal(make_image(items, &(Change){.item = with}, 1), message);
}

static void spoil_local(Item with, const char *message)
{
    spoil(local_file, with, message);
}

static void spoil_global(Item with, const char *message)
{
    spoil(global_file, with, message);
}

static void spoil_by(const char *path, void (*make)(hid_t file, const char *path),
                     const char *message)
{
    Change change = {.item = {.path = path}, .make = make};
    expect_refusal(make_image(local_file, &change, 1), message);
}

#define INTS_AT(...) ((Item)INT_ITEM(__VA_ARGS__))
#define REALS_AT(...) ((Item)REAL_ITEM(__VA_ARGS__))
#define NONE(p) ((Item){p, DROP, NULL, 0})

TEST(the_files_are_sound)
{
    const Item *const files[] = {local_file, global_file};
    for (int k = 0; k < 2; k++) {
        TalusFclib *fclib = NULL;
        TalusProblem *problem = NULL;
        Image image = make_image(files[k], NULL, 0);
        CHECK_OK(talus_fclib_parse("sound.hdf5", image.bytes, image.size, &fclib));
        free(image.bytes);
        REQUIRE(fclib != NULL);
        CHECK_OK(talus_fclib_problem(fclib, NULL, NULL, &problem));
        CHECK_INT(talus_fclib_joints(fclib), k);
        talus_problem_destroy(problem);
        talus_fclib_destroy(fclib);
    }
}

TEST(kinds)
{
    spoil_local(NONE("/fclib_local"),
                "bad.hdf5: has neither /fclib_local nor /fclib_global: expected one of the two");
    spoil_local((Item){"/fclib_global", GROUP, NULL, 0},
                "bad.hdf5: has both /fclib_local and /fclib_global: expected one of the two");
    spoil_local(INTS_AT("/fclib_local", 3),
                "bad.hdf5: /fclib_local: is a dataset: expected a group");
    spoil_local(NONE("/fclib_local/spacedim"),
                "bad.hdf5: /fclib_local/spacedim: is missing: expected a dataset");
    spoil_local(INTS_AT("/fclib_local/spacedim", 4),
                "bad.hdf5: /fclib_local/spacedim: is 4: expected 2 or 3");
    spoil_local(INTS_AT("/fclib_local/spacedim", 3, 3),
                "bad.hdf5: /fclib_local/spacedim: has 2 entries: expected one integer");
    spoil_local(REALS_AT("/fclib_local/spacedim", 3.0),
                "bad.hdf5: /fclib_local/spacedim: holds reals: expected integers");
    spoil_local((Item){"/fclib_local/spacedim", GROUP, NULL, 0},
                "bad.hdf5: /fclib_local/spacedim: is a group: expected a dataset");
    spoil_local((Item){"/fclib_local/spacedim", WIDE, (int64_t[]){(int64_t)1 << 40}, 1},
                "bad.hdf5: /fclib_local/spacedim: is 1099511627776: expected 2 or 3");
}

TEST(vectors)
{
    spoil_local(NONE("/fclib_local/vectors/q"),
                "bad.hdf5: /fclib_local/vectors/q: is missing: expected a dataset");
    spoil_local(NONE("/fclib_local/vectors"),
                "bad.hdf5: /fclib_local/vectors/q: is missing: expected a dataset");
    spoil_local(REALS_AT("/fclib_local/vectors/q", 1.0, 2.0, 3.0, 4.0),
                "bad.hdf5: /fclib_local/vectors/q: has 4 entries: expected a multiple of spacedim, "
                "which is 3");
    spoil_local(REALS_AT("/fclib_local/vectors/q", 1, 2, NAN, 4, 5, 6),
                "bad.hdf5: /fclib_local/vectors/q: entry 2 is nan: expected a finite number");
    spoil_local(INTS_AT("/fclib_local/vectors/q", 1, 2, 3, 4, 5, 6),
                "bad.hdf5: /fclib_local/vectors/q: holds integers: expected reals");
    spoil_local(
        REALS_AT("/fclib_local/vectors/mu", 0.5),
        "bad.hdf5: /fclib_local/vectors/mu: has 1 entries: expected 2, one for each contact");
    spoil_local(REALS_AT("/fclib_local/vectors/mu", 0.5, -0.25),
                "bad.hdf5: /fclib_local/vectors/mu: entry 1 is -0.25: expected 0 or more");
    spoil_local(REALS_AT("/fclib_local/vectors/mu", INFINITY, 0.5),
                "bad.hdf5: /fclib_local/vectors/mu: entry 0 is inf: expected a finite number");
}

TEST(dimensions_of_matrices)
{
    spoil_local(NONE("/fclib_local/W"), "bad.hdf5: /fclib_local/W: is missing: expected a group");
    spoil_local(INTS_AT("/fclib_local/W/m", 9),
                "bad.hdf5: /fclib_local/W/m: is 9: expected 6, the length of vectors/q");
    spoil_local(INTS_AT("/fclib_local/W/n", -6),
                "bad.hdf5: /fclib_local/W/n: is -6: expected 6, the length of vectors/q");
    spoil_local(INTS_AT("/fclib_local/W/nzmax", -1),
                "bad.hdf5: /fclib_local/W/nzmax: is -1: expected 0 to 2147483647");
    spoil_local(
        INTS_AT("/fclib_local/W/nz", -3),
        "bad.hdf5: /fclib_local/W/nz: is -3: expected -1 (columns), -2 (rows) or a count of "
        "entries");
    spoil_local(INTS_AT("/fclib_local/W/nz", 9),
                "bad.hdf5: /fclib_local/W/nz: is 9: expected at most nzmax, which is 8");
    spoil_global(INTS_AT("/fclib_global/M/n", 3),
                 "bad.hdf5: /fclib_global/M/n: is 3: expected 4, the length of vectors/f");
    spoil_global(INTS_AT("/fclib_global/H/m", 3),
                 "bad.hdf5: /fclib_global/H/m: is 3: expected 4, the length of vectors/f");
    spoil_global(INTS_AT("/fclib_global/H/n", 6),
                 "bad.hdf5: /fclib_global/H/n: is 6: expected 3, the length of vectors/w");
    spoil_global(INTS_AT("/fclib_global/G/n", 2),
                 "bad.hdf5: /fclib_global/G/n: is 2: expected 1, the length of vectors/b");
    spoil_global(NONE("/fclib_global/vectors/b"),
                 "bad.hdf5: /fclib_global/vectors/b: is missing: expected a dataset");
}

TEST(entries_of_matrices)
{
    spoil_local(INTS_AT("/fclib_local/W/p", 0, 2, 3, 4, 6, 8),
                "bad.hdf5: /fclib_local/W/p: has 6 entries: expected 7, one more than columns");
    spoil_local(INTS_AT("/fclib_local/W/p", 1, 2, 3, 4, 6, 7, 8),
                "bad.hdf5: /fclib_local/W/p: begins with 1: expected 0");
    spoil_local(INTS_AT("/fclib_local/W/p", 0, 2, 3, 2, 6, 7, 8),
                "bad.hdf5: /fclib_local/W/p: entry 3 falls from 3 to 2: expected it to rise");
    spoil_local(INTS_AT("/fclib_local/W/p", 0, 2, 3, 4, 6, 7, 9),
                "bad.hdf5: /fclib_local/W/p: ends with 9: expected at most nzmax, which is 8");
    spoil_local(
        (Item){"/fclib_local/W/p", WIDE, (int64_t[]){0, 2, 3, 4, 6, 7, (int64_t)1 << 40}, 7},
        "bad.hdf5: /fclib_local/W/p: ends with 2147483647: expected at most nzmax, which is 8");
    spoil_local(INTS_AT("/fclib_local/W/i", 0, 3, 1, 2, 0, 3, 4, 6),
                "bad.hdf5: /fclib_local/W/i: entry 7 is 6: expected a row from 0 to 5");
    spoil_local(INTS_AT("/fclib_local/W/i", 0, -1, 1, 2, 0, 3, 4, 5),
                "bad.hdf5: /fclib_local/W/i: entry 1 is -1: expected a row from 0 to 5");
    spoil_local(INTS_AT("/fclib_local/W/i", 0, 3, 1, 2, 0, 3, 4),
                "bad.hdf5: /fclib_local/W/i: has 7 entries: expected the 8 in use or nzmax, 8");
    spoil_local(REALS_AT("/fclib_local/W/x", 1, 2, 3),
                "bad.hdf5: /fclib_local/W/x: has 3 entries: expected the 8 in use or nzmax, 8");
    spoil_local(REALS_AT("/fclib_local/W/x", 1, 2, 3, 4, 5, 6, 7, -INFINITY),
                "bad.hdf5: /fclib_local/W/x: entry 7 is -inf: expected a finite number");
    spoil_local(NONE("/fclib_local/W/x"),
                "bad.hdf5: /fclib_local/W/x: is missing: expected a dataset");
    spoil_global(INTS_AT("/fclib_global/H/p", 0, 1, 3, 0),
                 "bad.hdf5: /fclib_global/H/p: entry 2 is 3: expected a column from 0 to 2");
    spoil_global(INTS_AT("/fclib_global/H/i", 0, 1, 4, 3),
                 "bad.hdf5: /fclib_global/H/i: entry 2 is 4: expected a row from 0 to 3");
    const Change twice[] = {
        {.item = INT_ITEM("/fclib_global/M/i", 0, 1, 2, 3, 1, 1)},
        {.item = INT_ITEM("/fclib_global/M/p", 0, 1, 2, 3, 0, 0)},
        {.item = REAL_ITEM("/fclib_global/M/x", 2.0, 2.0, 1.0, 4.0, 1.5e308, 1.5e308)}};
    expect_refusal(
        make_image(global_file, twice, 3),
        "bad.hdf5: /fclib_global/M/x: entries of one place sum to inf: expected a finite "
        "number");
}

TEST(points_and_texts)
{
    spoil_local(REALS_AT("/solution/r", 1.0),
                "bad.hdf5: /solution/r: has 1 entries: expected 6, one for each contact row");
    spoil_local(REALS_AT("/solution/u", NAN, 0, 0, 0, 0, 0),
                "bad.hdf5: /solution/u: entry 0 is nan: expected a finite number");
    spoil_local(INTS_AT("/solution", 1), "bad.hdf5: /solution: is a dataset: expected a group");
    spoil_local(INTS_AT("/guesses/number_of_guesses", -1),
                "bad.hdf5: /guesses/number_of_guesses: is -1: expected 0 to 10000");
    spoil_local(INTS_AT("/guesses/number_of_guesses", 2),
                "bad.hdf5: /guesses/2: is missing: expected a group");
    spoil_local(NONE("/guesses/number_of_guesses"),
                "bad.hdf5: /guesses/number_of_guesses: is missing: expected a dataset");
    spoil_local(INTS_AT("/fclib_local/info/title", 1),
                "bad.hdf5: /fclib_local/info/title: holds integers: expected text");
}

/* ---- what only HDF5 can do ---- */

static void soft_link(hid_t file, const char *path)
{
    H5Lcreate_soft("/fclib_local/W/i", file, path, H5P_DEFAULT, H5P_DEFAULT);
}

static void link_to_itself(hid_t file, const char *path)
{
    H5Lcreate_soft(path, file, path, H5P_DEFAULT, H5P_DEFAULT);
}

static void external_link(hid_t file, const char *path)
{
    H5Lcreate_external("other.hdf5", "/x", file, path, H5P_DEFAULT, H5P_DEFAULT);
}

static void external_storage(hid_t file, const char *path)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, "/etc/hostname", 0, 64);
    put_list(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, NULL, 8, list);
    H5Pclose(list);
}

static void virtual_set(hid_t file, const char *path)
{
    hsize_t extent = 8;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &extent, NULL);
    H5Pset_virtual(list, space, "other.hdf5", "/x", space);
    put_list(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, NULL, 8, list);
    H5Sclose(space);
    H5Pclose(list);
}

/* Two thousand million numbers in no bytes at all. */
static void huge_and_empty(hid_t file, const char *path)
{
    hsize_t chunk = 1024;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    put_list(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, NULL, 2000000001, list);
    H5Pclose(list);
}

static void more_than_an_int(hid_t file, const char *path)
{
    hsize_t chunk = 1024;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    put_list(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, NULL, (size_t)1 << 40, list);
    H5Pclose(list);
}

static void other_filter(hid_t file, const char *path)
{
    static const int32_t data[8];
    hsize_t chunk = 8;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_scaleoffset(list, H5Z_SO_INT, 0);
    put_list(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, data, 8, list);
    H5Pclose(list);
}

static void table(hid_t file, const char *path)
{
    static const double data[6];
    hsize_t extents[2] = {2, 3};
    hid_t space = H5Screate_simple(2, extents, NULL);
    hid_t id = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(id);
    H5Sclose(space);
}

static void no_space(hid_t file, const char *path)
{
    hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
}

static void short_integers(hid_t file, const char *path)
{
    static const int32_t data[8];
    hid_t type = H5Tcopy(H5T_STD_I32LE);
    H5Tset_precision(type, 17);
    put_list(file, path, type, H5T_NATIVE_INT32, data, 8, H5P_DEFAULT);
    H5Tclose(type);
}

static void odd_reals(hid_t file, const char *path)
{
    static const double data[6];
    hid_t type = H5Tcopy(H5T_IEEE_F64LE);
    H5Tset_ebias(type, 500);
    put_list(file, path, type, H5T_NATIVE_DOUBLE, data, 6, H5P_DEFAULT);
    H5Tclose(type);
}

static void named_type(hid_t file, const char *path)
{
    hid_t type = H5Tcopy(H5T_STD_I32LE);
    H5Tcommit2(file, path, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
}

static void long_text(hid_t file, const char *path)
{
    size_t size = (1 << 20) + 1;
    char *text = calloc(1, size);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, size);
    hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    H5Dclose(id);
    H5Sclose(space);
    H5Tclose(type);
    free(text);
}

TEST(links_and_storage)
{
    spoil_by("/fclib_local/W/p", soft_link,
             "bad.hdf5: /fclib_local/W/p: is a soft or external link: expected a dataset of the "
             "file itself");
    spoil_by("/fclib_local/W", link_to_itself,
             "bad.hdf5: /fclib_local/W: is a soft or external link: expected a group of the file "
             "itself");
    spoil_by("/fclib_local/W/x", external_link,
             "bad.hdf5: /fclib_local/W/x: is a soft or external link: expected a dataset of the "
             "file itself");
    spoil_by(
        "/fclib_local/W/i", external_storage,
        "bad.hdf5: /fclib_local/W/i: takes its data from other files: expected it in this one");
    spoil_by(
        "/fclib_local/W/i", virtual_set,
        "bad.hdf5: /fclib_local/W/i: takes its data from other files: expected it in this one");
    spoil_by("/fclib_local/vectors/q", huge_and_empty,
             "bad.hdf5: /fclib_local/vectors/q: claims 2000000001 entries, but the file stores 0 "
             "bytes of it");
    spoil_by("/fclib_local/vectors/q", more_than_an_int,
             "bad.hdf5: /fclib_local/vectors/q: has 1099511627776 entries: expected fewer than "
             "2147483647");
    spoil_by("/fclib_local/W/i", other_filter,
             "bad.hdf5: /fclib_local/W/i: is stored with filter 6: expected none, shuffle, "
             "fletcher32 or deflate once");
}

TEST(types_and_extents)
{
    spoil_by("/fclib_local/vectors/q", table,
             "bad.hdf5: /fclib_local/vectors/q: has 2 dimensions: expected 1");
    spoil_by("/fclib_local/vectors/q", no_space,
             "bad.hdf5: /fclib_local/vectors/q: has 0 dimensions: expected 1");
    spoil_by("/fclib_local/W/i", short_integers,
             "bad.hdf5: /fclib_local/W/i: holds integers of 4 bytes: expected 1, 2, 4 or 8, all in "
             "use");
    spoil_by("/fclib_local/vectors/q", odd_reals,
             "bad.hdf5: /fclib_local/vectors/q: holds reals of an unusual kind: expected IEEE of 4 "
             "or 8 bytes");
    spoil_by("/fclib_local/W/i", named_type,
             "bad.hdf5: /fclib_local/W/i: is a named type: expected a dataset");
    spoil_by("/fclib_local/info/title", long_text,
             "bad.hdf5: /fclib_local/info/title: has 1048577 bytes of text: expected at most "
             "1048576");
}

/* ---- files ---- */

static void expect_file(const char *path, TalusStatus status, const char *message)
{
    TalusFclib *fclib;
    CHECK_INT(talus_fclib_read(path, &fclib), status);
    CHECK_STR(talus_error(), message);
    CHECK(fclib == NULL);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    TalusFile *file;
    REQUIRE_OK(talus_file_create(path, &file));
    talus_file_put(file, bytes, size);
    CHECK_OK(talus_file_commit(file));
}

TEST(files)
{
    Image image = make_image(local_file, NULL, 0);
    write_bytes("empty.hdf5", "", 0);
    expect_file("empty.hdf5", TALUS_ERR_FORMAT, "empty.hdf5: is empty: expected an HDF5 file");
    write_bytes("text.hdf5", "nothing of the kind\n", 20);
    expect_file("text.hdf5", TALUS_ERR_FORMAT, "text.hdf5: is not an HDF5 file");
    write_bytes("cut.hdf5", image.bytes, image.size / 2);
    expect_file("cut.hdf5", TALUS_ERR_FORMAT,
                "cut.hdf5: cannot be opened by HDF5: the file is truncated or damaged");
    write_bytes("head.hdf5", image.bytes, 8);
    expect_file("head.hdf5", TALUS_ERR_FORMAT,
                "head.hdf5: cannot be opened by HDF5: the file is truncated or damaged");
    mkdir("folder.hdf5", 0777);
    expect_file("folder.hdf5", TALUS_ERR_IO, "folder.hdf5: is not a regular file");
    expect_file("absent.hdf5", TALUS_ERR_IO, "absent.hdf5: cannot open: No such file or directory");
    free(image.bytes);
}

/* ---- damaged metadata ---- */

/* The n-th heap of names in the file: its header holds a size and, 16 bytes on, an address. */
static void spoil_heap(int n, size_t offset, uint64_t with, const char *message)
{
    Image image = make_image(local_file, NULL, 0);
    char *bytes = image.bytes;
    for (size_t i = 0; i + 32 <= image.size; i++)
        if (memcmp(bytes + i, "HEAP", 4) == 0 && n-- == 0)
            memcpy(bytes + i + offset, &with, sizeof with);
    CHECK(n < 0);
    expect_refusal(image, message);
}

/* Where HDF5's own memory driver would ask for gigabytes, or crash. */
TEST(damaged_heaps)
{
    enum { SIZE = 8, ADDRESS = 24 };
    spoil_heap(0, ADDRESS, UINT64_MAX,
               "bad.hdf5: /fclib_local: cannot be read: the file is damaged");
    spoil_heap(0, SIZE, (uint64_t)1 << 31,
               "bad.hdf5: /fclib_local: cannot be read: the file is damaged");
    spoil_heap(1, ADDRESS, UINT64_MAX,
               "bad.hdf5: /fclib_local/spacedim: cannot be read: the file is damaged");
    spoil_heap(1, SIZE, (uint64_t)1 << 40,
               "bad.hdf5: /fclib_local/spacedim: cannot be read: the file is damaged");
}

/* The place of the reference to a text in the heap: its length, the heap's address, its number. */
static char *find_reference(const Image *image, uint64_t *heap)
{
    char *bytes = image->bytes;
    *heap = 0;
    for (size_t i = 0; i + 16 <= image->size && !*heap; i += 8)
        if (memcmp(bytes + i, "GCOL", 4) == 0)
            *heap = i;
    for (size_t i = 0; i + 16 <= image->size; i++)
        if (memcmp(bytes + i, &(uint32_t){12}, 4) == 0 && memcmp(bytes + i + 4, heap, 8) == 0)
            return bytes + i;
    return NULL;
}

static void spoil_text(bool in_heap, size_t offset, uint32_t with)
{
    const Change change = {{.path = "/fclib_local/info/title"}, variable_text};
    Image image = make_image(local_file, &change, 1);
    uint64_t heap;
    char *at = find_reference(&image, &heap);
    REQUIRE(at != NULL && heap > 0);
    memcpy((in_heap ? (char *)image.bytes + heap : at) + offset, &with, sizeof with);
    expect_refusal(image, "bad.hdf5: /fclib_local/info/title: cannot be read: the file is damaged");
}

/* HDF5 would write past its buffer where the reference and the heap differ in length. */
TEST(damaged_texts)
{
    spoil_text(false, 0, 1000); /* longer than what the heap has */
    spoil_text(false, 0, UINT32_MAX);
    spoil_text(false, 4, UINT32_MAX); /* a heap outside the file */
    spoil_text(false, 4, 8);          /* no heap there */
    spoil_text(false, 12, 2);         /* no such object */
    spoil_text(true, 8, 1u << 30);    /* a heap longer than the file */
    spoil_text(true, 24, 1u << 30);   /* an object longer than the heap */
    spoil_text(true, 24, 4);          /* one shorter than the text */
    spoil_text(true, 4, 7);           /* another version */
}

/* ---- what cannot be condensed ---- */

static void expect_no_problem(const Change *changes, int count, const char *message)
{
    TalusFclib *fclib = NULL;
    TalusProblem *problem;
    Image image = make_image(global_file, changes, count);
    CHECK_OK(talus_fclib_parse("sound.hdf5", image.bytes, image.size, &fclib));
    free(image.bytes);
    REQUIRE(fclib != NULL);
    CHECK_INT(talus_fclib_problem(fclib, NULL, NULL, &problem), TALUS_ERR_NUMERIC);
    CHECK_STR(talus_error(), message);
    CHECK(problem == NULL);
    talus_fclib_destroy(fclib);
}

TEST(singular_systems)
{
    const Change mass = {.item = REAL_ITEM("/fclib_global/M/x", 2.0, 2.0, -1.0, 4.0, 0.5, 0.5)};
    expect_no_problem(&mass, 1,
                      "M: degree of freedom 2: M is not positive definite (row 2: pivot -1 of "
                      "diagonal entry -1: expected a positive one)");
    const Change joints[] = {{.item = INT_ITEM("/fclib_global/G/n", 2)},
                             {.item = INT_ITEM("/fclib_global/G/nzmax", 4)},
                             {.item = INT_ITEM("/fclib_global/G/p", 0, 2, 4)},
                             {.item = INT_ITEM("/fclib_global/G/i", 1, 3, 1, 3)},
                             {.item = REAL_ITEM("/fclib_global/G/x", 1.0, -1.0, -2.0, 2.0)},
                             {.item = REAL_ITEM("/fclib_global/vectors/b", 0.125, -0.25)}};
    expect_no_problem(joints, 6,
                      "G: joint row 1 follows from the others: expected independent columns");
}

/* ---- every allocation made to fail in turn ---- */

TEST(allocations_that_fail)
{
    Image image = make_image(global_file, NULL, 0);
    bool done = false;
    int failures = 0;
    for (int n = 1; !done && n < 1000; n++) {
        TalusFclib *fclib = NULL;
        TalusProblem *problem = NULL;
        talus_fail_allocation_in(n);
        TalusStatus status = talus_fclib_parse("sound.hdf5", image.bytes, image.size, &fclib);
        if (status == TALUS_OK)
            status = talus_fclib_problem(fclib, NULL, NULL, &problem);
        if (status == TALUS_OK)
            status = talus_fclib_set_solution(fclib, problem, talus_problem_gamma(problem));
        if (status == TALUS_OK)
            status = talus_fclib_write("out.hdf5", fclib);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        done = status == TALUS_OK;
        failures += !done;
        talus_problem_destroy(problem);
        talus_fclib_destroy(fclib);
    }
    CHECK(done);
    CHECK(failures > 50);
    free(image.bytes);
}

int main(void)
{
    RUN(the_files_are_sound);
    RUN(kinds);
    RUN(vectors);
    RUN(dimensions_of_matrices);
    RUN(entries_of_matrices);
    RUN(points_and_texts);
    RUN(links_and_storage);
    RUN(types_and_extents);
    RUN(files);
    RUN(damaged_heaps);
    RUN(damaged_texts);
    RUN(singular_systems);
    RUN(allocations_that_fail);
    return talus_test_result();
}

#else

TEST(without_hdf5)
{
    TalusFclib *fclib;
    CHECK(!talus_fclib_available());
    CHECK_INT(talus_fclib_read("any.hdf5", &fclib), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(),
              "any.hdf5: this build of Talus has no HDF5, which FCLIB files need; install "
              "libhdf5-dev, then configure without TALUS_CORE_ONLY and build");
    CHECK(fclib == NULL);
}

int main(void)
{
    RUN(without_hdf5);
    return talus_test_result();
}

#endif
