/* io/hdf5/hdf5_memory.c - a file driver for libhdf5 that reads from memory.
 *
 * HDF5's own memory driver ("core") fills reads past the end with zeros, however many, and passes metadata through a
 * buffer that a damaged address breaks (1.10.8 copies from NULL). This driver copies only bytes within the file and
 * fails on all other reads, so that a wrong address or length in a file gives an error before memory is accessed. */
#include "io/hdf5/hdf5_memory.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* A file of the driver. */
typedef struct MemoryFile {
    H5FD_t head;       /* HDF5's part; must be first */
    const char *bytes; /* content, the caller's */
    size_t size;       /* of `bytes` */
    haddr_t end;       /* end of the address range that libhdf5 has allocated */
} MemoryFile;

/* Driver data of the file access properties: the file that open_file is to open. */
typedef struct Offer {
    MemoryFile *file;
    bool *taken; /* set by open_file: from then on close_file frees `file` */
} Offer;

/* The functions up to `driver` are callbacks of an HDF5 file driver. This one opens the offered file, once. */
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

/* Orders files for HDF5 by address: equal only if they are the same. */
static int compare_files(const H5FD_t *a, const H5FD_t *b)
{
    return (a > b) - (a < b);
}

/* Says that the driver has no optional features. */
static herr_t query_features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

/* End of the address range that libhdf5 has allocated. */
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

static haddr_t get_file_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const MemoryFile *)file)->size;
}

/* Copies bytes of the file; fails if they are not all within it. */
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

/* Fails: the driver only reads. */
static herr_t refuse_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *from)
{
    (void)file, (void)type, (void)transfer, (void)address, (void)size, (void)from;
    return -1;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 512, /* first value that HDF5 leaves to other drivers */
#endif
    .name = "talus_memory",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(Offer),
    .open = open_file,
    .close = close_file,
    .cmp = compare_files,
    .query = query_features,
    .get_eoa = get_end,
    .set_eoa = set_end,
    .get_eof = get_file_size,
    .read = read_bytes,
    .write = refuse_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Returns the id of the driver, which is registered at the first call and released by HDF5 at exit. The driver is not
 * released with each file: HDF5 1.10 still calls the driver after it has dropped the file's reference to it. */
static hid_t get_driver(void)
{
    static hid_t id = -1;
    if (id < 0 || H5Iis_valid(id) <= 0)
        id = H5FDregister(&driver);
    return id;
}

TalusStatus talus_h5_open_memory(const void *bytes, size_t size, hid_t *out)
{
    MemoryFile *file;
    bool taken = false;
    *out = -1;
    TALUS_TRY(TALUS_ALLOC(file, 1, "HDF5 file"));
    file->bytes = bytes;
    file->size = size;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), id = get_driver();
    if (access >= 0 && id >= 0 && H5Pset_driver(access, id, &(Offer){file, &taken}) >= 0)
        *out = H5Fopen("memory", H5F_ACC_RDONLY, access);
    if (!taken)
        talus_release(file);
    if (access >= 0)
        H5Pclose(access);
    return TALUS_OK;
}

/* ---- text of variable length ---- */

/* Copies `count` bytes at `offset` to `out`; false if they are not all within the file. */
static bool copy_bytes(const char *bytes, size_t size, uint64_t offset, void *out, size_t count)
{
    if (offset > size || count > size - offset)
        return false;
    memcpy(out, bytes + offset, count);
    return true;
}

/* Head of an object in a global heap collection; its data follow. */
typedef struct HeapObject {
    uint16_t index, references;
    uint32_t reserved;
    uint64_t size;
} HeapObject;

_Static_assert(sizeof(HeapObject) == 16, "heap objects are read as they lie in the file");

/* Finds the object with this index in HDF5's global heap collection ("GCOL") at address `heap`; sets address and length
 * of its data. False if there is none or the collection is damaged. Index 0 ends the list of objects. */
static bool find_heap_object(const char *bytes, size_t size, uint64_t heap, uint32_t index,
                             uint64_t *data, uint64_t *length)
{
    struct {
        char magic[4];
        uint8_t version, reserved[3];
        uint64_t size;
    } head;
    HeapObject object;
    if (!copy_bytes(bytes, size, heap, &head, sizeof head) || memcmp(head.magic, "GCOL", 4) != 0 ||
        head.version != 1 || head.size > size - heap)
        return false;
    uint64_t end = heap + head.size;
    for (uint64_t at = heap + sizeof head; at + sizeof object <= end;) {
        if (!copy_bytes(bytes, size, at, &object, sizeof object) || object.index == 0)
            return false;
        at += sizeof object;
        if (object.size > end - at)
            return false;
        if (object.index == index) {
            *data = at;
            *length = object.size;
            return true;
        }
        at += (object.size + 7) / 8 * 8;
    }
    return false;
}

bool talus_h5_find_variable_text(const void *bytes, size_t size, uint64_t offset, const char **text,
                                 size_t *length)
{
    char reference[16];
    uint32_t count, index;
    uint64_t heap, data = 0, stored = 0;
    if (!copy_bytes(bytes, size, offset, reference, sizeof reference))
        return false;
    memcpy(&count, reference, sizeof count);
    memcpy(&heap, reference + 4, sizeof heap);
    memcpy(&index, reference + 12, sizeof index);
    if (count > 0 &&
        (!find_heap_object(bytes, size, heap, index, &data, &stored) || stored < count))
        return false;
    *text = (const char *)bytes + data;
    *length = count;
    return true;
}
