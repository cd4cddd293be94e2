/* io/hdf5_memory.c - a file driver of our own for libhdf5.
 *
 * HDF5's memory driver fills what is asked for past the end with zeros, however much that is, and
 * has metadata pass through a buffer that a damaged address breaks (1.10.8 copies from NULL). This
 * one copies what is there and fails otherwise, so that a wrong address or length in a file ends in
 * an error before memory is touched. */
#include "io/hdf5_memory.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct MemoryFile {
    H5FD_t head; /* HDF5's own, must be first */
    const char *bytes;
    size_t size;
    haddr_t end; /* of what the library has allocated, by its own account */
} MemoryFile;

typedef struct Offer { /* what the access list carries to open_file */
    MemoryFile *file;
    bool *taken; /* close_file will free it */
} Offer;

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t largest)
{
    const Offer *offer = H5Pget_driver_info(access);
    (void)name, (void)largest;
    if (!offer || flags != H5F_ACC_RDONLY || *offer->taken)
        return NULL;
    *offer->taken = true;
    return &offer->file->head;
}

static herr_t close_file(H5FD_t *file)
{
    talus_release(file);
    return 0;
}

static int compare_files(const H5FD_t *a, const H5FD_t *b)
{
    return (a > b) - (a < b);
}

static herr_t no_features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const MemoryFile *)file)->end;
}

static herr_t set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((MemoryFile *)file)->end = end;
    return 0;
}

static haddr_t file_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const MemoryFile *)file)->size;
}

static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *out)
{
    const MemoryFile *memory = (const MemoryFile *)file;
    (void)type, (void)transfer;
    if (address > memory->size || size > memory->size - address)
        return -1;
    memcpy(out, memory->bytes + address, size);
    return 0;
}

static herr_t write_nothing(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                            size_t size, const void *from)
{
    (void)file, (void)type, (void)transfer, (void)address, (void)size, (void)from;
    return -1;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 512, /* the first that HDF5 leaves to others */
#endif
    .name = "talus_memory",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(Offer),
    .open = open_file,
    .close = close_file,
    .cmp = compare_files,
    .query = no_features,
    .get_eoa = get_end,
    .set_eoa = set_end,
    .get_eof = file_size,
    .read = read_bytes,
    .write = write_nothing,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out)
{
    MemoryFile *file;
    bool taken = false;
    *out = -1;
    TALUS_TRY(TALUS_ALLOC(file, 1, "HDF5 file"));
    file->bytes = bytes;
    file->size = size;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), id = H5FDregister(&driver);
    if (access >= 0 && id >= 0 && H5Pset_driver(access, id, &(Offer){file, &taken}) >= 0)
        *out = H5Fopen("memory", H5F_ACC_RDONLY, access);
    if (!taken)
        talus_release(file);
    if (access >= 0)
        H5Pclose(access);
    if (id >= 0)
        H5FDunregister(id); /* a file that is open keeps it */
    return TALUS_OK;
}
