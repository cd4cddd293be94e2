/* Small FCLIB files in memory, written by HDF5 itself, so that tests can spoil any part of them. */
#ifndef TALUS_TESTS_FCLIB_FILE_H
#define TALUS_TESTS_FCLIB_FILE_H

#include "support/test.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind {
    DROP, /* not written at all */
    GROUP,
    INTS,   /* of int32_t */
    WIDE,   /* of int64_t, stored big-endian */
    REALS,  /* of double */
    SINGLE, /* of double, stored as 32-bit big-endian */
    TEXT
} Kind;

typedef struct Item {
    const char *path;
    Kind kind;
    const void *data;
    size_t count;
} Item;

/* In place of the item of that path: another one, or whatever `make` does. */
typedef struct Change {
    Item item;
    void (*make)(hid_t file, const char *path);
} Change;

typedef struct Image {
    void *bytes;
    size_t size;
} Image;

#define INT_ITEM(p, ...)                                                              \
    {                                                                                 \
        p, INTS, (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / 4 \
    }
#define REAL_ITEM(p, ...)                                                            \
    {                                                                                \
        p, REALS, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / 8 \
    }

/* Two contacts in space whose normals are coupled. */
static const Item local_file[] = {
    {"/fclib_local", GROUP, NULL, 0},
    INT_ITEM("/fclib_local/spacedim", 3),
    {"/fclib_local/vectors", GROUP, NULL, 0},
    REAL_ITEM("/fclib_local/vectors/q", -1.0, 0.1, 0.2, -2.0, 0.3, 0.4),
    REAL_ITEM("/fclib_local/vectors/mu", 0.3, 0.7),
    {"/fclib_local/W", GROUP, NULL, 0},
    INT_ITEM("/fclib_local/W/nzmax", 8),
    INT_ITEM("/fclib_local/W/m", 6),
    INT_ITEM("/fclib_local/W/n", 6),
    INT_ITEM("/fclib_local/W/nz", -1),
    INT_ITEM("/fclib_local/W/p", 0, 2, 3, 4, 6, 7, 8),
    INT_ITEM("/fclib_local/W/i", 0, 3, 1, 2, 0, 3, 4, 5),
    REAL_ITEM("/fclib_local/W/x", 2.0, -0.5, 1.0, 1.0, -0.5, 3.0, 1.5, 1.5),
    {"/fclib_local/info", GROUP, NULL, 0},
    {"/fclib_local/info/title", TEXT, "two contacts", 0},
    {"/solution", GROUP, NULL, 0},
    REAL_ITEM("/solution/u", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    REAL_ITEM("/solution/r", 0.5, 0.0, 0.0, 0.75, 0.0, 0.0),
    {"/guesses", GROUP, NULL, 0},
    INT_ITEM("/guesses/number_of_guesses", 1),
    {"/guesses/1", GROUP, NULL, 0},
    REAL_ITEM("/guesses/1/r", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    {NULL, DROP, NULL, 0}};

/* One contact, four degrees of freedom, one joint row; M and H as triplets. */
static const Item global_file[] = {{"/fclib_global", GROUP, NULL, 0},
                                   INT_ITEM("/fclib_global/spacedim", 3),
                                   {"/fclib_global/vectors", GROUP, NULL, 0},
                                   REAL_ITEM("/fclib_global/vectors/f", -1.0, 0.5, 0.0, 2.0),
                                   REAL_ITEM("/fclib_global/vectors/w", -0.25, 0.0, 0.0),
                                   REAL_ITEM("/fclib_global/vectors/mu", 0.5),
                                   REAL_ITEM("/fclib_global/vectors/b", 0.125),
                                   {"/fclib_global/M", GROUP, NULL, 0},
                                   INT_ITEM("/fclib_global/M/nzmax", 6),
                                   INT_ITEM("/fclib_global/M/m", 4),
                                   INT_ITEM("/fclib_global/M/n", 4),
                                   INT_ITEM("/fclib_global/M/nz", 6),
                                   INT_ITEM("/fclib_global/M/p", 0, 1, 2, 3, 1, 0),
                                   INT_ITEM("/fclib_global/M/i", 0, 1, 2, 3, 0, 1),
                                   REAL_ITEM("/fclib_global/M/x", 2.0, 2.0, 1.0, 4.0, 0.5, 0.5),
                                   {"/fclib_global/H", GROUP, NULL, 0},
                                   INT_ITEM("/fclib_global/H/nzmax", 4),
                                   INT_ITEM("/fclib_global/H/m", 4),
                                   INT_ITEM("/fclib_global/H/n", 3),
                                   INT_ITEM("/fclib_global/H/nz", 4),
                                   INT_ITEM("/fclib_global/H/p", 0, 1, 2, 0),
                                   INT_ITEM("/fclib_global/H/i", 0, 1, 2, 3),
                                   REAL_ITEM("/fclib_global/H/x", 1.0, 1.0, 1.0, -1.0),
                                   {"/fclib_global/G", GROUP, NULL, 0},
                                   INT_ITEM("/fclib_global/G/nzmax", 2),
                                   INT_ITEM("/fclib_global/G/m", 4),
                                   INT_ITEM("/fclib_global/G/n", 1),
                                   INT_ITEM("/fclib_global/G/nz", -1),
                                   INT_ITEM("/fclib_global/G/p", 0, 2),
                                   INT_ITEM("/fclib_global/G/i", 1, 3),
                                   REAL_ITEM("/fclib_global/G/x", 1.0, -1.0),
                                   {NULL, DROP, NULL, 0}};

/* A list, plain or as `list` of creation properties says. */
static inline void put_list(hid_t file, const char *path, hid_t stored, hid_t type,
                            const void *data, size_t count, hid_t list)
{
    hsize_t extent = count;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t id = H5Dcreate2(file, path, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(id >= 0);
    if (data)
        CHECK(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(id);
    H5Sclose(space);
}

/* "two contacts" as text of variable length, which lies in a heap of its own. */
static inline void variable_text(hid_t file, const char *path)
{
    const char *text = "two contacts";
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0);
    H5Dclose(id);
    H5Tclose(type);
    H5Sclose(space);
}

static inline void put_item(hid_t file, const Item *item)
{
    const char *path = item->path;
    size_t n = item->count;
    hid_t type, space;
    switch (item->kind) {
    case DROP: return;
    case GROUP: H5Gclose(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); return;
    case INTS:
        put_list(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, item->data, n, H5P_DEFAULT);
        return;
    case WIDE:
        put_list(file, path, H5T_STD_I64BE, H5T_NATIVE_INT64, item->data, n, H5P_DEFAULT);
        return;
    case REALS:
        put_list(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, item->data, n, H5P_DEFAULT);
        return;
    case SINGLE:
        put_list(file, path, H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, item->data, n, H5P_DEFAULT);
        return;
    case TEXT:
        type = H5Tcopy(H5T_C_S1);
        space = H5Screate(H5S_SCALAR);
        H5Tset_size(type, strlen(item->data) + 1);
        hid_t id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, item->data);
        H5Dclose(id);
        H5Sclose(space);
        H5Tclose(type);
    }
}

/* What is below a dropped or replaced group goes with it. */
static inline bool is_below(const char *path, const char *group)
{
    size_t n = strlen(group);
    return strncmp(path, group, n) == 0 && path[n] == '/';
}

static inline void put_file(hid_t file, const Item *items, const Change *changes, int count)
{
    for (const Item *item = items; item->path; item++) {
        const Change *change = NULL;
        bool below = false;
        for (int k = 0; k < count; k++) {
            if (strcmp(changes[k].item.path, item->path) == 0)
                change = &changes[k];
            below = below || is_below(item->path, changes[k].item.path);
        }
        if (change && change->make)
            change->make(file, item->path);
        else if (change || !below)
            put_item(file, change ? &change->item : item);
    }
}

/* The file with those changes; a change whose path is not in it is added at the end. */
static inline Image make_image(const Item *items, const Change *changes, int count)
{
    Image image = {0};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 12, 0);
    hid_t file = H5Fcreate("/dev/null/test", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(file >= 0);
    put_file(file, items, changes, count);
    for (int k = 0; k < count; k++) {
        bool known = false;
        for (const Item *item = items; item->path; item++)
            known = known || strcmp(item->path, changes[k].item.path) == 0;
        if (!known && changes[k].make)
            changes[k].make(file, changes[k].item.path);
        else if (!known)
            put_item(file, &changes[k].item);
    }
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    CHECK(size > 0);
    image.size = (size_t)size;
    image.bytes = malloc(image.size);
    CHECK(image.bytes && H5Fget_file_image(file, image.bytes, image.size) == size);
    H5Fclose(file);
    H5Pclose(access);
    return image;
}

#endif
