/* io/hdf5/hdf5_rows.c - groups, attributes and growing datasets by calls of libhdf5. */
#include "io/hdf5/hdf5_rows.h"

bool talus_hdf_make_rows(hid_t file, const char *path, hid_t type, int columns, hsize_t chunk_rows)
{
    hsize_t width = columns ? (hsize_t)columns : 1;
    hsize_t size[2] = {0, width}, limit[2] = {H5S_UNLIMITED, width}, chunk[2] = {chunk_rows, width};
    int rank = columns ? 2 : 1;
    static const double zero; /* its bytes are zero in any type of up to 8 bytes */
    hid_t space = H5Screate_simple(rank, size, limit), list = H5Pcreate(H5P_DATASET_CREATE),
          set = -1;
    if (space >= 0 && list >= 0 && H5Pset_chunk(list, rank, chunk) >= 0 &&
        H5Pset_fill_value(list, type, &zero) >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    return set >= 0 && H5Dclose(set) >= 0;
}

bool talus_hdf_make_group(hid_t file, const char *path)
{
    hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return group >= 0 && H5Gclose(group) >= 0;
}

bool talus_hdf_put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                             hsize_t count, const void *value)
{
    bool ok = false;
    hid_t at = H5Oopen(file, path, H5P_DEFAULT);
    hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Aexists(at, name) > 0
                          ? H5Aopen(at, name, H5P_DEFAULT)
                          : H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Oclose(at);
    return ok;
}

bool talus_hdf_append_rows(hid_t file, const char *path, hid_t type, hsize_t rows,
                           const void *values)
{
    hsize_t size[2], start[2] = {0, 0}, count[2];
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    bool ok = rank >= 1;
    H5Sclose(space);
    if (ok && rows > 0) {
        start[0] = size[0];
        size[0] += rows;
        count[0] = rows;
        count[1] = rank == 2 ? size[1] : 1;
        ok = H5Dset_extent(set, size) >= 0;
        hid_t memory = H5Screate_simple(rank, count, NULL);
        space = H5Dget_space(set);
        ok = ok && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
             H5Dwrite(set, type, memory, space, H5P_DEFAULT, values) >= 0;
        H5Sclose(space);
        H5Sclose(memory);
    }
    H5Dclose(set);
    return ok;
}

bool talus_hdf_append_number(hid_t file, const char *path, hsize_t value)
{
    int64_t x = (int64_t)value;
    return talus_hdf_append_rows(file, path, H5T_NATIVE_INT64, 1, &x);
}

bool talus_hdf_read_rows(hid_t file, const char *path, hid_t type, hsize_t first, hsize_t rows,
                         void *out)
{
    hsize_t size[2] = {0, 1}, start[2] = {first, 0}, count[2] = {rows, 1};
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    bool ok = (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, size, NULL) == rank &&
              first + rows <= size[0];
    count[1] = size[1];
    if (ok && rows > 0) {
        hid_t memory = H5Screate_simple(rank, count, NULL);
        ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
             H5Dread(set, type, memory, space, H5P_DEFAULT, out) >= 0;
        H5Sclose(memory);
    }
    H5Sclose(space);
    H5Dclose(set);
    return ok;
}

hid_t talus_hdf_access_properties(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7) && !(H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 12 && H5_VERS_RELEASE < 1)
    H5Pset_file_locking(list, false, true);
#endif
    return list;
}
