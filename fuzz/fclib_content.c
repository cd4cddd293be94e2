/* fuzz/fclib_content.c - libFuzzer target: any content under FCLIB's names.
 *
 * This file stands in for io/hdf5/hdf5.c, so that the reader asks the input itself instead of libhdf5,
 * and what comes after HDF5's decoding is tested alone, and fast: every count, length, index and
 * number is the input's. Small bytes give what would be right (the answers given before tell what
 * that is), so that all checks are reached; 0xe0 and above give anything else. */
#include "io/hdf5/hdf5.h"
#include "limits.h"

#include "base/memory.h"

#include <stdio.h>

struct TalusH5 {
    const char *name;
    const uint8_t *at, *end;
    int64_t dimension, rows, freedoms, joints;    /* of the problem */
    int64_t entries, storage, matrix_m, matrix_n; /* of the matrix being read */
};

enum { ODD = 0xe0, MOST = 300 };

static uint8_t byte(TalusH5 *h5)
{
    return h5->at < h5->end ? *h5->at++ : 0;
}

static uint64_t word(TalusH5 *h5)
{
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++)
        bits = bits << 8 | byte(h5);
    return bits;
}

static bool ends(const char *path, const char *name)
{
    size_t n = strlen(path), m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0;
}

static bool within(const char *path, const char *group)
{
    return strstr(path, group) != NULL;
}

static TalusStatus refuse(TalusH5 *h5, const char *path)
{
    return talus_fail(TALUS_ERR_FORMAT, "%s: %s: odd", h5->name, path);
}

/* ---- the interface of io/hdf5/hdf5.h ---- */

TalusStatus talus_h5_open(const char *name, const void *bytes, size_t size, TalusH5 **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, 1, "input"));
    **out = (TalusH5){.name = name, .at = bytes, .end = (const uint8_t *)bytes + size};
    return TALUS_OK;
}

void talus_h5_close(TalusH5 *h5)
{
    talus_release(h5);
}

/* The kind is the first byte's; other parts are there unless odd. */
bool talus_h5_has(const TalusH5 *h5, const char *path)
{
    TalusH5 *in = (TalusH5 *)(uintptr_t)h5;
    if (strcmp(path, "/fclib_local") == 0 || strcmp(path, "/fclib_global") == 0)
        return (in->at < in->end && *in->at % 2) == ends(path, "global") || byte(in) >= ODD;
    if (ends(path, "/G"))
        return byte(in) % 2;
    return byte(in) < ODD;
}

bool talus_h5_is_written(const TalusH5 *h5, const char *path)
{
    (void)path;
    return byte((TalusH5 *)(uintptr_t)h5) < ODD;
}

TalusStatus talus_h5_expect_group(const TalusH5 *h5, const char *path)
{
    TalusH5 *in = (TalusH5 *)(uintptr_t)h5;
    return byte(in) < ODD ? TALUS_OK : refuse(in, path);
}

static int64_t right_int(TalusH5 *h5, const char *path)
{
    if (ends(path, "spacedim"))
        return h5->dimension = byte(h5) % 2 ? 2 : 3;
    if (ends(path, "nzmax"))
        return h5->entries = byte(h5) % 64 + (within(path, "/M/") ? h5->freedoms : 0);
    if (ends(path, "nz"))
        return h5->storage = within(path, "/M/") ? h5->entries
                             : byte(h5) % 3 == 0 ? h5->entries
                                                 : -1 - byte(h5) % 2;
    if (ends(path, "number_of_guesses"))
        return byte(h5) % 4;
    bool columns = ends(path, "/n");
    int64_t lines = within(path, "/W/")   ? h5->rows
                    : !columns            ? h5->freedoms
                    : within(path, "/H/") ? h5->rows
                    : within(path, "/G/") ? h5->joints
                                          : h5->freedoms;
    return *(columns ? &h5->matrix_n : &h5->matrix_m) = lines;
}

TalusStatus talus_h5_read_int(TalusH5 *h5, const char *path, int64_t *out)
{
    uint8_t how = byte(h5);
    *out = right_int(h5, path);
    if (how == 0xff)
        return refuse(h5, path);
    if (how >= ODD)
        *out = how < 0xf0 ? *out + how - 0xe8 : (int64_t)word(h5);
    return TALUS_OK;
}

static size_t length_of(TalusH5 *h5, int64_t right)
{
    uint8_t how = byte(h5);
    int64_t length = how >= ODD ? right + how - 0xf0 : right;
    return length < 0 ? 0 : length > MOST ? MOST : (size_t)length;
}

static int32_t index_of(TalusH5 *h5, bool starts, int64_t below, size_t k, size_t count)
{
    uint8_t b = byte(h5);
    if (b >= 0xfc)
        return (int32_t)word(h5);
    if (!starts)
        return below > 0 ? (int32_t)(b % below) : 0;
    return k == 0           ? 0
           : k + 1 == count ? (int32_t)h5->entries
                            : (int32_t)((int64_t)k * h5->entries / (int64_t)count);
}

TalusStatus talus_h5_read_ints(TalusH5 *h5, const char *path, int32_t **out, size_t *count)
{
    bool starts = h5->storage < 0 && ends(path, "/p");
    bool diagonal = within(path, "/M/");
    *out = NULL;
    int64_t lines = h5->storage == -1 ? h5->matrix_n : h5->matrix_m;
    int64_t below = ends(path, "/i") && h5->storage != -2 ? h5->matrix_m : h5->matrix_n;
    *count = length_of(h5, starts ? lines + 1 : h5->entries);
    TALUS_TRY(TALUS_ALLOC(*out, *count, path));
    for (size_t k = 0; k < *count; k++)
        (*out)[k] = diagonal && (int64_t)k < h5->freedoms ? (int32_t)k
                                                          : index_of(h5, starts, below, k, *count);
    return TALUS_OK;
}

static double real_of(TalusH5 *h5)
{
    uint8_t b = byte(h5);
    uint64_t bits;
    double x;
    if (b < 0xfa)
        return (b - 125) / 16.0;
    bits = word(h5);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int64_t right_length(TalusH5 *h5, const char *path)
{
    if (ends(path, "/x"))
        return h5->entries;
    if (ends(path, "/q") || ends(path, "/w"))
        return h5->rows = byte(h5) % 16 * 6;
    if (ends(path, "/f"))
        return h5->freedoms = byte(h5) % 48;
    if (ends(path, "/b"))
        return h5->joints = byte(h5) % 8;
    if (ends(path, "/mu"))
        return h5->rows / (h5->dimension ? h5->dimension : 3);
    return ends(path, "/v") ? h5->freedoms : ends(path, "/l") ? h5->joints : h5->rows;
}

TalusStatus talus_h5_read_reals(TalusH5 *h5, const char *path, double **out, size_t *count)
{
    bool mass = within(path, "/M/"), friction = ends(path, "/mu");
    *out = NULL;
    *count = length_of(h5, right_length(h5, path));
    TALUS_TRY(TALUS_ALLOC(*out, *count, path));
    for (size_t k = 0; k < *count; k++) {
        double x = real_of(h5);
        if (mass && (int64_t)k < h5->freedoms)
            x = x * x + 4.0;
        (*out)[k] = friction && x < 0.0 && x > -4.0 ? 0.0 : x;
    }
    return TALUS_OK;
}

TalusStatus talus_h5_read_text(TalusH5 *h5, const char *path, char **out)
{
    *out = NULL;
    if (byte(h5) >= ODD)
        return refuse(h5, path);
    return TALUS_ALLOC(*out, 8, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_and_exercise(data, size);
    return 0;
}
