/* io/hdf5/hdf5.c - bounded reading and writing of HDF5 files in memory. */
#include "io/hdf5/hdf5.h"

#include "base/memory.h"
#include "io/hdf5/hdf5_memory.h"
#include "io/hdf5/hdf5_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* NAME_BYTES: capacity for one name of a path. TEXT_BYTES: longest text. DEFLATE_RATIO: largest expansion by deflate.
 * SLACK_BYTES: bytes that reads may return beyond that expansion of the whole file; size of a chunk that is always
 * accepted; increment by which a file written in memory grows. */
enum { NAME_BYTES = 256, TEXT_BYTES = 1 << 20, DEFLATE_RATIO = 1032, SLACK_BYTES = 1 << 16 };

struct TalusH5 {
    const char *name;  /* for messages */
    const void *bytes; /* content, of a file open for reading; owned by the caller */
    size_t size;       /* of `bytes` */
    uint64_t budget;   /* bytes that reads may still return; stops files that claim too much */
    hid_t file;        /* negative: not open */
    H5E_auto2_t error_output; /* HDF5's error output before the opening, restored on closing */
    void *error_output_data;  /* argument of error_output */
    char no_file[40];         /* name that neither the disk nor an open HDF5 file has */
};

static TalusStatus fail_at(const TalusH5 *h5, const char *path, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* Fails with TALUS_ERR_FORMAT at a path in the file. */
static TalusStatus fail_at(const TalusH5 *h5, const char *path, const char *format, ...)
{
    char text[512];
    TALUS_FORMAT(text, format);
    return talus_fail_at(talus_locate(TALUS_DOMAIN_IO, h5->name, 0, path), TALUS_ERR_FORMAT, "%s",
                         text);
}

/* ---- opening ---- */

/* Creates an empty HDF5 file in memory, which is never written to disk; negative on failure. */
static hid_t create_memory_file(const TalusH5 *h5)
{
    hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, SLACK_BYTES, 0) >= 0)
        file = H5Fcreate(h5->no_file, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

/* Allocates a TalusH5 without a file and switches HDF5's error output off. */
static TalusStatus allocate_h5(const char *name, TalusH5 **out)
{
    TalusH5 *h5;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(h5, 1, name));
    h5->name = name;
    h5->file = -1;
    snprintf(h5->no_file, sizeof h5->no_file, "/dev/null/%p", (void *)h5);
    H5Eget_auto2(H5E_DEFAULT, &h5->error_output, &h5->error_output_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    *out = h5;
    return TALUS_OK;
}

void talus_h5_close(TalusH5 *h5)
{
    if (!h5)
        return;
    if (h5->file >= 0)
        H5Fclose(h5->file);
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, h5->error_output, h5->error_output_data);
    talus_release(h5);
}

TalusStatus talus_h5_open(const char *name, const void *bytes, size_t size, TalusH5 **out)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    *out = NULL;
    if (size == 0)
        return talus_fail_file(name, TALUS_ERR_FORMAT, "is empty: expected an HDF5 file");
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return talus_fail_file(name, TALUS_ERR_FORMAT, "is not an HDF5 file");
    TALUS_TRY(allocate_h5(name, out));
    (*out)->bytes = bytes;
    (*out)->size = size;
    (*out)->budget = (uint64_t)DEFLATE_RATIO * size + SLACK_BYTES;
    TalusStatus status = talus_h5_open_memory(bytes, size, &(*out)->file);
    if ((*out)->file >= 0)
        return TALUS_OK;
    talus_h5_close(*out);
    *out = NULL;
    TALUS_TRY(status);
    return talus_fail_file(name, TALUS_ERR_FORMAT,
                           "cannot be opened by HDF5: the file is truncated or damaged");
}

TalusStatus talus_h5_create(const char *name, TalusH5 **out)
{
    TALUS_TRY(allocate_h5(name, out));
    (*out)->file = create_memory_file(*out);
    if ((*out)->file >= 0)
        return TALUS_OK;
    talus_h5_close(*out);
    *out = NULL;
    return talus_fail_file(name, TALUS_ERR_IO, "HDF5 cannot create a file in memory");
}

/* ---- objects ---- */

/* Copies the first name of a path, "" at its end, into part[NAME_BYTES]. Returns the rest of the path; NULL if the name
 * is too long. */
static const char *split_first_name(const char *path, char *part)
{
    path += strspn(path, "/");
    size_t length = strcspn(path, "/");
    if (length >= NAME_BYTES)
        return NULL;
    memcpy(part, path, length);
    part[length] = '\0';
    return path + length;
}

/* Result of looking for an object. LINKED: there is a link, but not a hard one. */
typedef enum Found { FOUND, MISSING, LINKED, DAMAGED } Found;

/* Returns FOUND if the group has a hard link of this name, LINKED if it has another kind of link, MISSING if it has
 * none or if `group` is no group, DAMAGED if HDF5 cannot tell. */
static Found find_link(hid_t group, const char *name)
{
    H5L_info_t link;
    if (H5Iget_type(group) != H5I_GROUP)
        return MISSING;
    htri_t exists = H5Lexists(group, name, H5P_DEFAULT);
    if (exists == 0)
        return MISSING;
    if (exists < 0 || H5Lget_info(group, name, &link, H5P_DEFAULT) < 0)
        return DAMAGED;
    return link.type == H5L_TYPE_HARD ? FOUND : LINKED;
}

/* Opens the object at a path, link by link. The caller closes *id if the result is FOUND. A path with a name that is
 * too long is MISSING. */
static Found open_object(const TalusH5 *h5, const char *path, hid_t *id)
{
    char part[NAME_BYTES];
    const char *rest = split_first_name(path, part);
    hid_t at = H5Oopen(h5->file, "/", H5P_DEFAULT);
    for (; at >= 0 && (!rest || *part); rest = split_first_name(rest, part)) {
        Found found = rest ? find_link(at, part) : MISSING;
        hid_t next = found == FOUND ? H5Oopen(at, part, H5P_DEFAULT) : -1;
        H5Oclose(at);
        at = next;
        if (found != FOUND)
            return found;
    }
    *id = at;
    return at >= 0 ? FOUND : DAMAGED;
}

bool talus_h5_has(const TalusH5 *h5, const char *path)
{
    hid_t id;
    Found found = open_object(h5, path, &id);
    if (found == FOUND)
        H5Oclose(id);
    return found != MISSING;
}

bool talus_h5_is_written(const TalusH5 *h5, const char *path)
{
    hid_t id;
    if (open_object(h5, path, &id) != FOUND)
        return true; /* reading it will report the error */
    bool written = true;
    if (H5Iget_type(id) == H5I_DATASET && H5Dget_storage_size(id) == 0) {
        hid_t space = H5Dget_space(id);
        written = H5Sget_simple_extent_npoints(space) == 0;
        H5Sclose(space);
    }
    H5Oclose(id);
    return written;
}

/* Opens the object at a path; fails unless it is of the HDF5 type `type`, which `what` names in messages. */
static TalusStatus open_object_of_type(const TalusH5 *h5, const char *path, H5I_type_t type,
                                       const char *what, hid_t *id)
{
    switch (open_object(h5, path, id)) {
    case FOUND: break;
    case LINKED:
        return fail_at(h5, path, "is a soft or external link: expected %s of the file itself",
                       what);
    case MISSING: return fail_at(h5, path, "is missing: expected %s", what);
    case DAMAGED: return fail_at(h5, path, "cannot be read: the file is damaged");
    }
    if (H5Iget_type(*id) == type)
        return TALUS_OK;
    TalusStatus status = fail_at(h5, path, "is %s: expected %s",
                                 H5Iget_type(*id) == H5I_GROUP     ? "a group"
                                 : H5Iget_type(*id) == H5I_DATASET ? "a dataset"
                                                                   : "a named type",
                                 what);
    H5Oclose(*id);
    return status;
}

TalusStatus talus_h5_expect_group(const TalusH5 *h5, const char *path)
{
    hid_t id;
    TALUS_TRY(open_object_of_type(h5, path, H5I_GROUP, "a group", &id));
    H5Oclose(id);
    return TALUS_OK;
}

/* ---- datasets ---- */

/* An open dataset. */
typedef struct Dataset {
    hid_t id, type, space;
    hid_t properties; /* with which it was created */
    uint64_t count;   /* number of entries; 1 for a scalar */
} Dataset;

static void close_dataset(Dataset *set)
{
    if (set->properties >= 0)
        H5Pclose(set->properties);
    if (set->space >= 0)
        H5Sclose(set->space);
    if (set->type >= 0)
        H5Tclose(set->type);
    H5Oclose(set->id);
}

/* Name of a class of HDF5 types, in the plural, for messages. */
static const char *class_name(H5T_class_t class)
{
    switch (class) {
    case H5T_INTEGER: return "integers";
    case H5T_FLOAT: return "reals";
    case H5T_STRING: return "text";
    case H5T_COMPOUND: return "compounds";
    case H5T_ENUM: return "names";
    case H5T_VLEN: return "lists";
    case H5T_ARRAY: return "arrays";
    default: return "other data";
    }
}

/* Fails unless the entries are of this class and of a size that is read. */
static TalusStatus check_type(const TalusH5 *h5, const char *path, const Dataset *set,
                              H5T_class_t class)
{
    H5T_class_t found = H5Tget_class(set->type);
    size_t size = H5Tget_size(set->type);
    if (found != class)
        return fail_at(h5, path, "holds %s: expected %s", class_name(found), class_name(class));
    bool usual = size == 1 || size == 2 || size == 4 || size == 8;
    if (class == H5T_INTEGER && !(usual && H5Tget_precision(set->type) == 8 * size))
        return fail_at(h5, path, "holds integers of %zu bytes: expected 1, 2, 4 or 8, all in use",
                       size);
    if (class == H5T_FLOAT && H5Tequal(set->type, H5T_IEEE_F64LE) <= 0 &&
        H5Tequal(set->type, H5T_IEEE_F64BE) <= 0 && H5Tequal(set->type, H5T_IEEE_F32LE) <= 0 &&
        H5Tequal(set->type, H5T_IEEE_F32BE) <= 0)
        return fail_at(h5, path, "holds reals of an unusual kind: expected IEEE of 4 or 8 bytes");
    return TALUS_OK;
}

/* Sets set->count; fails unless the dataset is a scalar or a list, and not too long. */
static TalusStatus check_extent(const TalusH5 *h5, const char *path, Dataset *set)
{
    hsize_t extent[1] = {1};
    H5S_class_t kind = H5Sget_simple_extent_type(set->space);
    int rank = kind == H5S_SCALAR ? 0 : H5Sget_simple_extent_ndims(set->space);
    if ((kind != H5S_SCALAR && kind != H5S_SIMPLE) || rank < 0 || rank > 1)
        return fail_at(h5, path, "has %d dimensions: expected 1", kind == H5S_NULL ? 0 : rank);
    if (rank == 1 && H5Sget_simple_extent_dims(set->space, extent, NULL) != 1)
        return fail_at(h5, path, "has no readable extent");
    set->count = extent[0];
    if (set->count > INT32_MAX - 1)
        return fail_at(h5, path, "has %" PRIu64 " entries: expected fewer than %d", set->count,
                       INT32_MAX);
    return TALUS_OK;
}

/* Sets *ratio to the largest expansion by the filters of a dataset: DEFLATE_RATIO with deflate, else 1. Fails on
 * deflate twice and on filters other than deflate, shuffle and fletcher32. */
static TalusStatus check_filters(const TalusH5 *h5, const char *path, const Dataset *set,
                                 uint64_t *ratio)
{
    *ratio = 1;
    for (int i = 0, n = H5Pget_nfilters(set->properties); i < n; i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter =
            H5Pget_filter2(set->properties, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        if (filter == H5Z_FILTER_DEFLATE && *ratio == 1)
            *ratio = DEFLATE_RATIO;
        else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            return fail_at(
                h5, path,
                "is stored with filter %d: expected none, shuffle, fletcher32 or deflate "
                "once",
                (int)filter);
    }
    return TALUS_OK;
}

/* Fails if a dataset takes data from other files, if the dataset or one of its chunks (of more than SLACK_BYTES) claims
 * more bytes than its storage in the file can unpack to, or if its bytes exceed the budget of reads. Subtracts its
 * bytes from the budget. */
static TalusStatus check_storage(TalusH5 *h5, const char *path, const Dataset *set)
{
    uint64_t bytes = set->count * H5Tget_size(set->type), ratio, chunk = 0;
    H5D_layout_t layout = H5Pget_layout(set->properties);
    hsize_t extent;
    if (layout == H5D_VIRTUAL || H5Pget_external_count(set->properties) > 0)
        return fail_at(h5, path, "takes its data from other files: expected it in this one");
    TALUS_TRY(check_filters(h5, path, set, &ratio));
    if (layout == H5D_CHUNKED) {
        if (H5Pget_chunk(set->properties, 1, &extent) != 1)
            return fail_at(h5, path, "has chunks that cannot be read");
        chunk = extent * H5Tget_size(set->type);
    }
    uint64_t stored = H5Dget_storage_size(set->id);
    uint64_t limit = stored < h5->size ? stored * ratio : h5->size * ratio;
    if (bytes > limit)
        return fail_at(h5, path,
                       "claims %" PRIu64 " entries, but the file stores %" PRIu64 " bytes of it",
                       set->count, stored);
    if (bytes && chunk > limit && chunk > SLACK_BYTES)
        return fail_at(h5, path, "has chunks of %" PRIu64 " bytes, but stores %" PRIu64, chunk,
                       stored);
    if (bytes > h5->budget)
        return fail_at(h5, path, "is too much for a file of %zu bytes", h5->size);
    h5->budget -= bytes;
    return TALUS_OK;
}

/* Opens a dataset of this class and makes all checks; the caller closes it with close_dataset. */
static TalusStatus open_dataset(TalusH5 *h5, const char *path, H5T_class_t class, Dataset *set)
{
    *set = (Dataset){.type = -1, .space = -1, .properties = -1};
    TALUS_TRY(open_object_of_type(h5, path, H5I_DATASET, "a dataset", &set->id));
    set->type = H5Dget_type(set->id);
    set->space = H5Dget_space(set->id);
    set->properties = H5Dget_create_plist(set->id);
    TalusStatus status = set->type < 0 || set->space < 0 || set->properties < 0
                             ? fail_at(h5, path, "cannot be read: the file is damaged")
                             : TALUS_OK;
    TALUS_THEN(status, check_type(h5, path, set, class));
    TALUS_THEN(status, check_extent(h5, path, set));
    TALUS_THEN(status, check_storage(h5, path, set));
    if (status != TALUS_OK)
        close_dataset(set);
    return status;
}

/* Reads all entries, converted to `type`, into `out`. */
static TalusStatus read_entries(TalusH5 *h5, const char *path, const Dataset *set, hid_t type,
                                void *out)
{
    if (set->count && H5Dread(set->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return fail_at(h5, path, "cannot be read: the file is truncated or damaged");
    return TALUS_OK;
}

/* Reads a list of entries of this class, converted to `type`, of `element` bytes each, into new memory. */
static TalusStatus read_list(TalusH5 *h5, const char *path, H5T_class_t class, hid_t type,
                             size_t element, void **out, size_t *count)
{
    Dataset set;
    *out = NULL;
    *count = 0;
    TALUS_TRY(open_dataset(h5, path, class, &set));
    TalusStatus status = talus_alloc(out, set.count, element, path);
    TALUS_THEN(status, read_entries(h5, path, &set, type, *out));
    if (status != TALUS_OK) {
        talus_release(*out);
        *out = NULL;
    } else {
        *count = set.count;
    }
    close_dataset(&set);
    return status;
}

TalusStatus talus_h5_read_ints(TalusH5 *h5, const char *path, int32_t **out, size_t *count)
{
    return read_list(h5, path, H5T_INTEGER, H5T_NATIVE_INT32, sizeof **out, (void **)out, count);
}

TalusStatus talus_h5_read_reals(TalusH5 *h5, const char *path, double **out, size_t *count)
{
    return read_list(h5, path, H5T_FLOAT, H5T_NATIVE_DOUBLE, sizeof **out, (void **)out, count);
}

TalusStatus talus_h5_read_int(TalusH5 *h5, const char *path, int64_t *out)
{
    Dataset set;
    TALUS_TRY(open_dataset(h5, path, H5T_INTEGER, &set));
    TalusStatus status =
        set.count == 1
            ? read_entries(h5, path, &set, H5T_NATIVE_INT64, out)
            : fail_at(h5, path, "has %" PRIu64 " entries: expected one integer", set.count);
    close_dataset(&set);
    return status;
}

/* ---- text ---- */

/* Reads a text of fixed length into new memory; the caller frees *out, also on failure. */
static TalusStatus read_fixed_text(TalusH5 *h5, const char *path, const Dataset *set, char **out)
{
    size_t size = H5Tget_size(set->type);
    if (size > TEXT_BYTES)
        return fail_at(h5, path, "has %zu bytes of text: expected at most %d", size, TEXT_BYTES);
    TALUS_TRY(TALUS_ALLOC(*out, size + 1, path));
    return read_entries(h5, path, set, set->type, *out);
}

/* Reads a text of variable length. Fails if addresses or sizes in the file have other than 8 bytes:
 * talus_h5_find_variable_text does not read them. */
static TalusStatus read_variable_text(TalusH5 *h5, const char *path, const Dataset *set, char **out)
{
    const char *text;
    size_t length, address = 0, size = 0;
    hid_t list = H5Fget_create_plist(h5->file);
    if (list < 0 || H5Pget_sizes(list, &address, &size) < 0 || address != 8 || size != 8)
        address = 0;
    if (list >= 0)
        H5Pclose(list);
    haddr_t offset = H5Dget_offset(set->id);
    if (!address || offset == HADDR_UNDEF)
        return fail_at(h5, path, "is stored in an unusual way: expected text of fixed length");
    if (!talus_h5_find_variable_text(h5->bytes, h5->size, offset, &text, &length))
        return fail_at(h5, path, "cannot be read: the file is damaged");
    if (length > TEXT_BYTES)
        return fail_at(h5, path, "has %zu bytes of text: expected at most %d", length, TEXT_BYTES);
    TALUS_TRY(TALUS_ALLOC(*out, length + 1, path));
    memcpy(*out, text, length);
    return TALUS_OK;
}

TalusStatus talus_h5_read_text(TalusH5 *h5, const char *path, char **out)
{
    Dataset set;
    *out = NULL;
    TALUS_TRY(open_dataset(h5, path, H5T_STRING, &set));
    TalusStatus status;
    if (set.count != 1)
        status = fail_at(h5, path, "has %" PRIu64 " texts: expected one", set.count);
    else if (H5Tis_variable_str(set.type) > 0)
        status = read_variable_text(h5, path, &set, out);
    else
        status = read_fixed_text(h5, path, &set, out);
    if (status != TALUS_OK) {
        talus_release(*out);
        *out = NULL;
    }
    close_dataset(&set);
    return status;
}

/* ---- writing ---- */

/* Fails with TALUS_ERR_IO at a path in the file. */
static TalusStatus fail_write(const TalusH5 *h5, const char *path)
{
    return talus_fail_at(talus_locate(TALUS_DOMAIN_IO, h5->name, 0, path), TALUS_ERR_IO,
                         "HDF5 cannot write it");
}

TalusStatus talus_h5_put_group(TalusH5 *h5, const char *path)
{
    return talus_hdf_make_group(h5->file, path) ? TALUS_OK : fail_write(h5, path);
}

/* Creates a dataset with entries of type `stored` from the values x of type `type` in memory, and closes `space`. The
 * dataset has no time stamps, so that equal data gives equal bytes. */
static TalusStatus put_dataset(TalusH5 *h5, const char *path, hid_t space, hid_t stored, hid_t type,
                               const void *x)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), id = -1;
    bool ok = space >= 0 && list >= 0 && H5Pset_obj_track_times(list, 0) >= 0;
    if (ok)
        id = H5Dcreate2(h5->file, path, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ok = id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    if (id >= 0)
        ok = H5Dclose(id) >= 0 && ok;
    H5Pclose(list);
    H5Sclose(space);
    return ok ? TALUS_OK : fail_write(h5, path);
}

/* Makes the HDF5 extent of a list. */
static hid_t make_list_space(size_t count)
{
    hsize_t extent = count;
    return H5Screate_simple(1, &extent, NULL);
}

TalusStatus talus_h5_put_ints(TalusH5 *h5, const char *path, const int32_t *x, size_t count)
{
    return put_dataset(h5, path, make_list_space(count), H5T_STD_I32LE, H5T_NATIVE_INT32, x);
}

TalusStatus talus_h5_put_reals(TalusH5 *h5, const char *path, const double *x, size_t count)
{
    return put_dataset(h5, path, make_list_space(count), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x);
}

TalusStatus talus_h5_put_text(TalusH5 *h5, const char *path, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, strlen(text) + 1) < 0)
        return fail_write(h5, path);
    TalusStatus status = put_dataset(h5, path, H5Screate(H5S_SCALAR), type, type, text);
    H5Tclose(type);
    return status;
}

TalusStatus talus_h5_get_bytes(TalusH5 *h5, void **bytes, size_t *size)
{
    *bytes = NULL;
    if (H5Fflush(h5->file, H5F_SCOPE_GLOBAL) < 0)
        return fail_write(h5, "/");
    ssize_t length = H5Fget_file_image(h5->file, NULL, 0);
    if (length <= 0)
        return fail_write(h5, "/");
    *size = (size_t)length;
    TALUS_TRY(talus_alloc(bytes, *size, 1, h5->name));
    if (H5Fget_file_image(h5->file, *bytes, *size) == length)
        return TALUS_OK;
    talus_release(*bytes);
    *bytes = NULL;
    return fail_write(h5, "/");
}
