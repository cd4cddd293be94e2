/* io/problem/problem_file.c - reader and writer of a problem file.
 *
 * docs/reference/problem-file.md is the specification: a fixed header, then arrays in a fixed order, each padded to
 * eight bytes. All sizes follow from the header and are compared with the size of the file first. The reader accepts
 * any bytes and refuses invalid ones: every index is in range and every number valid (problem_check.c) before
 * talus_problem_create is called.
 *
 * Later versions of the format have more arrays; a problem is written in the first version that has all the arrays it
 * needs. */
#include "io/problem/problem_file.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/file/file.h"
#include "io/problem/problem_stored.h"
#include "problem/build.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 3 }; /* latest version of the format */

/* Checksum of a header, all members but the last, which stores the checksum. */
static uint64_t hash_header(const TalusProblemHeader *header)
{
    return talus_hash(TALUS_HASH_SEED, header, offsetof(TalusProblemHeader, header_hash));
}

/* ---- the list of arrays, for reading and writing ---- */

enum { MAX_ARRAYS = 12 }; /* at least the number of arrays that a file may have */

/* An array of a file. */
typedef struct Array {
    void *field;    /* address of the member of the content that points to the array */
    uint64_t bytes; /* without padding */
} Array;

/* The arrays of a file, in file order. */
typedef struct Layout {
    Array arrays[MAX_ARRAYS];
    int count;
} Layout;

/* Appends an array of `count` elements of `element` bytes each to the list. */
static void list_array(Layout *layout, void *field, uint64_t count, uint64_t element)
{
    layout->arrays[layout->count++] = (Array){field, count * element};
}

/* Lists the arrays of a problem with this header in file order, with the members of the content that point to them. No
 * product overflows: counts are below 2^31. */
static Layout list_arrays(const TalusProblemHeader *h, TalusProblemContent *content)
{
    TalusProblemDef *def = &content->def;
    Layout layout = {.count = 0};
    uint64_t size = h->rows * h->blocks;
    if (h->form == FORM_BODIES) {
        list_array(&layout, &def->inv_mass, h->bodies, sizeof(double));
        list_array(&layout, &def->inv_inertia, h->bodies, sizeof(TalusSym3));
        if (h->flags & HAS_RADIUS)
            list_array(&layout, &def->radius, h->bodies, sizeof(double));
        list_array(&layout, &def->free_velocity, 6 * h->bodies, sizeof(double));
        list_array(&layout, &content->contacts, h->blocks, sizeof(TalusStoredContact));
    } else {
        list_array(&layout, &def->row_start, size + 1, sizeof(int32_t));
        list_array(&layout, &def->column, h->nonzeros, sizeof(int32_t));
        list_array(&layout, &def->values, h->nonzeros, sizeof(double));
        list_array(&layout, &def->offset, size, sizeof(double));
        if (h->rows == 3)
            list_array(&layout, &def->mu, h->blocks, sizeof(double));
    }
    if (h->flags & HAS_MODELS)
        list_array(&layout, &content->models, h->blocks, sizeof(TalusStoredModel));
    if (h->flags & HAS_MOMENTS)
        list_array(&layout, &content->moments, h->blocks, sizeof(TalusStoredMoments));
    list_array(&layout, &content->gamma, size, sizeof(double));
    if (h->flags & HAS_ESTIMATE)
        list_array(&layout, &content->estimate, h->blocks, sizeof(double));
    if (h->flags & HAS_CERTIFICATE)
        list_array(&layout, &content->certificate, size, sizeof(double));
    return layout;
}

/* Rounds up to a multiple of 8. */
static uint64_t padded_size(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Bytes of all arrays, each padded. */
static uint64_t count_payload(const Layout *layout)
{
    uint64_t size = 0;
    for (int i = 0; i < layout->count; i++)
        size += padded_size(layout->arrays[i].bytes);
    return size;
}

/* ---- writing ---- */

/* Copies the arrays to `out`, each at its padded place; padding is left as it is. */
static void copy_payload(const Layout *layout, char *out)
{
    for (int i = 0; i < layout->count; i++) {
        const Array *array = &layout->arrays[i];
        const void *data;
        memcpy(&data, array->field, sizeof data);
        if (array->bytes)
            memcpy(out, data, array->bytes);
        out += padded_size(array->bytes);
    }
}

/* Friction model of block i. */
static TalusFrictionModel friction_model(const TalusProblemDef *def, int i)
{
    if (def->contacts)
        return def->contacts[i].model;
    return def->model ? def->model[i] : (TalusFrictionModel){0};
}

/* Returns the flags of the optional arrays that the file needs: estimate, certificate and radius if the problem has
 * them, models and moments if one of their numbers is not 0. */
static uint32_t needed_flags(TalusProblem *problem, const TalusProblemDef *def, int blocks)
{
    uint32_t flags = talus_problem_estimate(problem) ? HAS_ESTIMATE : 0;
    if (talus_problem_certificate(problem))
        flags |= HAS_CERTIFICATE;
    if (def->contacts && def->radius)
        flags |= HAS_RADIUS;
    for (int i = 0; i < blocks; i++) {
        const TalusContactDef *c = def->contacts ? &def->contacts[i] : NULL;
        TalusFrictionModel m = friction_model(def, i);
        if (m.section || m.law || m.sides)
            flags |= HAS_MODELS;
        if (c && (c->spinning != 0.0 || c->rolling != 0.0 || c->length != 0.0))
            flags |= HAS_MOMENTS;
    }
    return flags;
}

/* Returns the first version of the format that has the arrays of these flags. */
static uint32_t needed_version(uint32_t flags)
{
    if (flags & HAS_CERTIFICATE)
        return VERSION;
    return flags & ~(uint32_t)HAS_RADIUS ? 2 : 1;
}

/* Returns the header of the problem's file, without payload size and checksums. */
static TalusProblemHeader make_header(TalusProblem *problem, const TalusProblemDef *def)
{
    bool matrix = def->values != NULL;
    int blocks = talus_problem_blocks(problem);
    uint32_t flags = needed_flags(problem, def, blocks);
    TalusProblemHeader h = {.version = needed_version(flags),
                            .form = matrix ? FORM_MATRIX : FORM_BODIES,
                            .rows = (uint32_t)(matrix ? def->rows : talus_problem_rows(problem)),
                            .flags = flags,
                            .blocks = (uint64_t)blocks};
    memcpy(h.magic, TALUS_PROBLEM_MAGIC, sizeof h.magic);
    if (matrix)
        h.nonzeros = (uint64_t)def->row_start[h.rows * h.blocks];
    else
        h.bodies = (uint64_t)def->body_count;
    return h;
}

/* Arrays whose form in the file differs from that in TalusProblemDef, converted for writing. */
typedef struct Packed {
    TalusStoredContact *contacts;
    TalusStoredModel *models;
    TalusStoredMoments *moments;
    double *gamma, *certificate;
} Packed;

/* Replaces *vector, which has one row per block, by a new vector with h->rows rows per block, the added rows 0; does
 * nothing if *vector is NULL. Needed for an explicit problem whose blocks all have the section none: the file has the
 * whole matrix, the problem only its normal rows. *packed is the new vector too, which the caller frees. */
static TalusStatus expand_rows(const TalusProblemHeader *h, const double **vector, double **packed)
{
    size_t rows = (size_t)h->rows, blocks = (size_t)h->blocks;
    if (!*vector)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(*packed, rows * blocks, "impulses"));
    for (size_t i = 0; i < blocks; i++)
        (*packed)[rows * i] = (*vector)[i];
    *vector = *packed;
    return TALUS_OK;
}

/* Converts contacts, friction models and moments to the structs of the file, and points the content to them. */
static TalusStatus convert_to_stored(const TalusProblemHeader *h, TalusProblemContent *content,
                                     Packed *packed)
{
    const TalusProblemDef *def = &content->def;
    size_t blocks = (size_t)h->blocks;
    if (def->contacts)
        TALUS_TRY(TALUS_ALLOC(packed->contacts, blocks, "contacts"));
    if (h->flags & HAS_MODELS)
        TALUS_TRY(TALUS_ALLOC(packed->models, blocks, "friction models"));
    if (h->flags & HAS_MOMENTS)
        TALUS_TRY(TALUS_ALLOC(packed->moments, blocks, "moments"));
    for (size_t i = 0; i < blocks; i++) {
        const TalusContactDef *c = def->contacts ? &def->contacts[i] : NULL;
        TalusFrictionModel m = friction_model(def, (int)i);
        if (c)
            packed->contacts[i] = (TalusStoredContact){c->a,     c->b,  c->normal, c->arm_a,
                                                       c->arm_b, c->mu, c->bias,   c->compliance};
        if (packed->models)
            packed->models[i] = (TalusStoredModel){(int32_t)m.section, (int32_t)m.law, m.sides};
        if (packed->moments)
            packed->moments[i] = (TalusStoredMoments){c->spinning, c->rolling, c->length};
    }
    content->contacts = packed->contacts;
    content->models = packed->models;
    content->moments = packed->moments;
    return TALUS_OK;
}

/* Writes the file: completes the header by payload size and checksums, then writes header and arrays. */
static TalusStatus write_file(const char *path, TalusProblemHeader *header,
                              TalusProblemContent *content)
{
    Layout layout = list_arrays(header, content);
    TalusFile *file;
    char *payload;
    header->payload_size = count_payload(&layout);
    TALUS_TRY(TALUS_ALLOC(payload, header->payload_size, path));
    copy_payload(&layout, payload);
    header->payload_hash = talus_hash(TALUS_HASH_SEED, payload, header->payload_size);
    header->header_hash = hash_header(header);
    TalusStatus status = talus_file_create(path, &file);
    if (status == TALUS_OK) {
        talus_file_put(file, header, sizeof *header);
        talus_file_put(file, payload, header->payload_size);
        status = talus_file_commit(file);
    }
    talus_release(payload);
    return status;
}

TalusStatus talus_problem_write(const char *path, TalusProblem *problem)
{
    TalusProblemContent content = {.gamma = talus_problem_gamma(problem),
                                   .estimate = talus_problem_estimate(problem),
                                   .certificate = talus_problem_certificate(problem)};
    Packed packed = {0};
    TALUS_TRY(talus_problem_export(problem, &content.def));
    TalusProblemHeader header = make_header(problem, &content.def);
    TalusStatus status = convert_to_stored(&header, &content, &packed);
    if (talus_problem_rows(problem) < (int)header.rows) {
        TALUS_THEN(status, expand_rows(&header, &content.gamma, &packed.gamma));
        TALUS_THEN(status, expand_rows(&header, &content.certificate, &packed.certificate));
    }
    TALUS_THEN(status, write_file(path, &header, &content));
    TALUS_RELEASE(packed.contacts, packed.models, packed.moments, packed.gamma, packed.certificate);
    return status;
}

/* ---- reading: header ---- */

/* Checks magic, length, version and checksum of the header. */
static TalusStatus check_header(const char *path, const TalusProblemHeader *h, size_t size)
{
    if (size < sizeof h->magic || memcmp(h->magic, TALUS_PROBLEM_MAGIC, sizeof h->magic) != 0)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "is not a Talus problem file");
    if (size < sizeof *h)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "truncated: %zu bytes, the header has %zu",
                               size, sizeof *h);
    if (h->version < 1 || h->version > VERSION)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "has format version %" PRIu32
                               ", this program reads versions 1 to %d",
                               h->version, VERSION);
    if (h->header_hash != hash_header(h))
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "damaged: the header does not match its checksum");
    return TALUS_OK;
}

/* Returns the flags HAS_... that a file of this version and form may have. */
static uint32_t allowed_flags(const TalusProblemHeader *h)
{
    uint32_t own = h->form == FORM_BODIES ? HAS_RADIUS : 0;
    if (h->version == 1)
        return own;
    own |= HAS_MODELS | HAS_ESTIMATE | (h->form == FORM_BODIES ? HAS_MOMENTS : 0);
    return own | (h->version > 2 ? HAS_CERTIFICATE : 0);
}

/* Checks form, rows, flags and counts of the header. */
static TalusStatus check_counts(const char *path, const TalusProblemHeader *h)
{
    if (h->form != FORM_BODIES && h->form != FORM_MATRIX)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "form %" PRIu32 ": expected 1 or 2",
                               h->form);
    bool six = h->version > 1 && h->form == FORM_BODIES; /* 6 rows per block are possible */
    if (h->rows != 1 && h->rows != 3 && !(six && h->rows == 6))
        return talus_fail_file(path, TALUS_ERR_FORMAT, "%" PRIu32 " rows per block: expected %s",
                               h->rows, six ? "1, 3 or 6" : "1 or 3");
    if (h->flags & ~allowed_flags(h))
        return talus_fail_file(path, TALUS_ERR_FORMAT, "unknown flags %" PRIx32, h->flags);
    if (h->bodies > INT32_MAX || h->blocks > INT32_MAX / 6 - 1 || h->nonzeros > INT32_MAX)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "a count exceeds the format's limit");
    if (h->form == FORM_BODIES ? h->nonzeros != 0 : h->bodies != 0)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "a count of the other form is not zero");
    return TALUS_OK;
}

/* Checks size and checksum of the payload: the bytes after the header. */
static TalusStatus check_payload(const char *path, const TalusProblemHeader *h,
                                 const Layout *layout, const char *bytes, size_t size)
{
    uint64_t expected = count_payload(layout);
    if (h->payload_size != expected)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "the header gives %" PRIu64 " bytes of content, its counts ask for "
                               "%" PRIu64,
                               h->payload_size, expected);
    if (size - sizeof *h != expected)
        return talus_fail_file(
            path, TALUS_ERR_FORMAT, "%s: %zu bytes of content, expected %" PRIu64,
            size - sizeof *h < expected ? "truncated" : "too long", size - sizeof *h, expected);
    if (talus_hash(TALUS_HASH_SEED, bytes + sizeof *h, expected) != h->payload_hash)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "damaged: the content does not match its checksum");
    return TALUS_OK;
}

/* Sets the members of the content to the arrays in `bytes`, the payload; all arrays are aligned to 8 bytes. */
static void set_array_pointers(const Layout *layout, const char *bytes)
{
    for (int i = 0; i < layout->count; i++) {
        memcpy(layout->arrays[i].field, &bytes, sizeof bytes);
        bytes += padded_size(layout->arrays[i].bytes);
    }
}

/* ---- reading: content ---- */

/* Contacts and models converted from the structs of the file to those of the library. */
typedef struct Unpacked {
    TalusContactDef *contacts;
    TalusFrictionModel *models;
} Unpacked;

/* Converts contacts and friction models from the structs of the file, and sets those of content->def. */
static TalusStatus convert_from_stored(const TalusProblemHeader *h, TalusProblemContent *content,
                                       Unpacked *out)
{
    bool matrix = h->form == FORM_MATRIX;
    size_t blocks = (size_t)h->blocks;
    if (!matrix)
        TALUS_TRY(TALUS_ALLOC(out->contacts, blocks, "contacts"));
    if (matrix && content->models)
        TALUS_TRY(TALUS_ALLOC(out->models, blocks, "friction models"));
    for (size_t i = 0; i < blocks; i++) {
        TalusFrictionModel model = {0};
        TalusStoredMoments moments = {0};
        if (content->models)
            model = (TalusFrictionModel){(TalusSection)content->models[i].section,
                                         (TalusFrictionLaw)content->models[i].law,
                                         content->models[i].sides};
        if (content->moments)
            moments = content->moments[i];
        if (out->models)
            out->models[i] = model;
        if (!out->contacts)
            continue;
        const TalusStoredContact *c = &content->contacts[i];
        out->contacts[i] = (TalusContactDef){.a = c->a,
                                             .b = c->b,
                                             .normal = c->normal,
                                             .arm_a = c->arm_a,
                                             .arm_b = c->arm_b,
                                             .mu = c->mu,
                                             .bias = c->bias,
                                             .compliance = c->compliance,
                                             .model = model,
                                             .spinning = moments.spinning,
                                             .rolling = moments.rolling,
                                             .length = moments.length};
    }
    content->def.contacts = out->contacts;
    content->def.model = out->models;
    return TALUS_OK;
}

/* Copies the first `rows` rows of each block of a vector of the file, which has h->rows rows per block, to `out`. */
static void copy_first_rows(const TalusProblemHeader *h, int rows, const double *stored,
                            double *out)
{
    for (uint64_t i = 0; i < h->blocks; i++)
        memcpy(out + i * (uint64_t)rows, stored + i * h->rows, (size_t)rows * sizeof *out);
}

/* Copies impulses, estimates and certificate into the problem. Fails if file and problem have different numbers of rows
 * per block, unless the problem has only the normal rows of a matrix; also if the file has estimates and the problem
 * has none. */
static TalusStatus fill_problem(const char *path, const TalusProblemHeader *h,
                                const TalusProblemContent *content, TalusProblem *problem)
{
    double *estimate = talus_problem_estimate(problem);
    int rows = talus_problem_rows(problem);
    bool normals = h->form == FORM_MATRIX && rows == 1; /* all sections are none: see expand_rows */
    if (rows != (int)h->rows && !normals)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "%" PRIu32 " rows per block, but the contacts' friction asks for %d",
                               h->rows, rows);
    if (content->estimate && !estimate)
        return talus_fail_file(path, TALUS_ERR_FORMAT,
                               "has estimates, but no contact whose bounds are fixed by them");
    copy_first_rows(h, rows, content->gamma, talus_problem_gamma(problem));
    if (h->blocks && content->estimate)
        memcpy(estimate, content->estimate, h->blocks * sizeof *estimate);
    if (!content->certificate)
        return TALUS_OK;
    double *certificate;
    TALUS_TRY(talus_problem_reserve_certificate(problem, &certificate));
    copy_first_rows(h, rows, content->certificate, certificate);
    return TALUS_OK;
}

/* Creates the problem from the checked content of a file. */
static TalusStatus create_problem(const char *path, const TalusProblemHeader *h,
                                  TalusProblemContent *content, TalusPool *pool, TalusProblem **out)
{
    bool matrix = h->form == FORM_MATRIX;
    Unpacked unpacked = {0};
    TalusProblemDef *def = &content->def;
    def->body_count = (int)h->bodies;
    def->contact_count = matrix ? 0 : (int)h->blocks;
    def->block_count = matrix ? (int)h->blocks : 0;
    def->rows = (int)h->rows;
    TalusStatus status = convert_from_stored(h, content, &unpacked);
    TALUS_THEN(status, talus_problem_create(def, pool, out));
    TALUS_RELEASE(unpacked.contacts, unpacked.models);
    if (status != TALUS_OK)
        return talus_error_in_file(path, status);
    status = fill_problem(path, h, content, *out);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_problem_destroy(*out);
    *out = NULL;
    return status;
}

/* Checks the bytes of a file and creates the problem. */
static TalusStatus parse_file(const char *path, const char *bytes, size_t size, TalusPool *pool,
                              TalusProblem **out)
{
    TalusProblemHeader header = {.version = 0};
    TalusProblemContent content = {.gamma = NULL};
    memcpy(&header, bytes, size < sizeof header ? size : sizeof header);
    TALUS_TRY(check_header(path, &header, size));
    TALUS_TRY(check_counts(path, &header));
    Layout layout = list_arrays(&header, &content);
    TALUS_TRY(check_payload(path, &header, &layout, bytes, size));
    set_array_pointers(&layout, bytes + sizeof header);
    TALUS_TRY(talus_problem_check(path, &header, &content));
    return create_problem(path, &header, &content, pool, out);
}

TalusStatus talus_problem_read(const char *path, TalusPool *pool, TalusProblem **out)
{
    char *bytes;
    size_t size;
    *out = NULL;
    TALUS_TRY(talus_read_file(path, SIZE_MAX - 1, &bytes, &size));
    TalusStatus status = parse_file(path, bytes, size, pool, out);
    talus_release(bytes);
    return status;
}
