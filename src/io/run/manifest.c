/* io/run/manifest.c - the list of a run's files and its encoding in a checkpoint.
 *
 * The encoding of an entry is size (u64), crc (u32), kind (u16), length of the name (u16), name without NUL. */
#include "io/run/manifest.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIXED_BYTES = 16,    /* bytes of an entry before its name */
    NAME_MAX_BYTES = 255 /* longest name */
};

void talus_manifest_clear(TalusManifest *manifest)
{
    for (int i = 0; i < manifest->count; i++)
        talus_release(manifest->entry[i].name);
    talus_release(manifest->entry);
    *manifest = (TalusManifest){0};
}

TalusStatus talus_manifest_add(TalusManifest *manifest, const TalusEntry *entry, int *index)
{
    size_t count = (size_t)manifest->count, length = strlen(entry->name);
    TalusEntry added = *entry;
    if (length > NAME_MAX_BYTES)
        return talus_reject("%.60s...: a name of %zu bytes is too long", entry->name, length);
    TALUS_TRY(TALUS_GROW(manifest->entry, count + 1, count, "list of files"));
    TALUS_TRY(talus_copy_text(entry->name, "list of files", &added.name));
    manifest->entry[count] = added;
    manifest->sorted = false;
    if (index)
        *index = manifest->count;
    manifest->count++;
    return TALUS_OK;
}

/* ---- search ---- */

/* Comparison for qsort and bsearch. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(((const TalusEntry *)a)->name, ((const TalusEntry *)b)->name);
}

const TalusEntry *talus_manifest_find(const TalusManifest *manifest, const char *name)
{
    TalusEntry key = {.name = (char *)name};
    if (!manifest || !manifest->sorted || manifest->count == 0)
        return NULL;
    return bsearch(&key, manifest->entry, (size_t)manifest->count, sizeof key, compare_names);
}

const TalusEntry *talus_manifest_find_unchanged(const TalusManifest *manifest, const char *name)
{
    const TalusEntry *entry = talus_manifest_find(manifest, name);
    return entry && entry->unchanged ? entry : NULL;
}

/* ---- encoding ---- */

/* Entries are sorted by name, so that the bytes do not depend on the order in which files were opened. */
TalusStatus talus_manifest_pack(const TalusManifest *manifest, char **bytes, size_t *size)
{
    TalusEntry *order;
    *size = 0;
    TALUS_TRY(TALUS_ALLOC(order, (size_t)manifest->count, "list of files"));
    for (int i = 0; i < manifest->count; i++) {
        order[i] = manifest->entry[i];
        *size += FIXED_BYTES + strlen(order[i].name);
    }
    qsort(order, (size_t)manifest->count, sizeof *order, compare_names);
    TalusStatus status = TALUS_ALLOC(*bytes, *size, "list of files");
    char *at = *bytes;
    for (int i = 0; status == TALUS_OK && i < manifest->count; i++) {
        const TalusEntry *e = &order[i];
        uint16_t kind = (uint16_t)e->kind, length = (uint16_t)strlen(e->name);
        memcpy(at, &e->size, 8);
        memcpy(at + 8, &e->crc, 4);
        memcpy(at + 12, &kind, 2);
        memcpy(at + 14, &length, 2);
        memcpy(at + FIXED_BYTES, e->name, length);
        at += FIXED_BYTES + length;
    }
    talus_release(order);
    return status;
}

/* False for names that only a damaged list has: an empty name, or one that may lead outside the run's directory. */
static bool is_valid_name(const char *name)
{
    return name[0] && name[0] != '/' && !strstr(name, "..");
}

/* Decodes the entry at *at, adds it to the list, moves *at past it and subtracts its bytes from *left, the number of
 * bytes from *at to the end of the encoding. */
static TalusStatus unpack_entry(const char **at, size_t *left, TalusManifest *out)
{
    char name[NAME_MAX_BYTES + 1] = "";
    uint16_t kind = 0, length = 0;
    TalusEntry e = {.name = name};
    if (*left >= FIXED_BYTES) {
        memcpy(&e.size, *at, 8);
        memcpy(&e.crc, *at + 8, 4);
        memcpy(&kind, *at + 12, 2);
        memcpy(&length, *at + 14, 2);
    }
    if (*left < FIXED_BYTES || length > NAME_MAX_BYTES || length > *left - FIXED_BYTES ||
        kind >= TALUS_ENTRY_KINDS)
        return talus_fail(TALUS_ERR_FORMAT, "damaged: the list of the run's files is not whole");
    memcpy(name, *at + FIXED_BYTES, length);
    if (!is_valid_name(name))
        return talus_fail(TALUS_ERR_FORMAT, "damaged: a run has no file '%s'", name);
    e.kind = (TalusEntryKind)kind;
    *at += FIXED_BYTES + length;
    *left -= (size_t)FIXED_BYTES + length;
    return talus_manifest_add(out, &e, NULL);
}

TalusStatus talus_manifest_unpack(const char *bytes, size_t size, TalusManifest *out)
{
    *out = (TalusManifest){0};
    while (size > 0) {
        TalusStatus status = unpack_entry(&bytes, &size, out);
        if (status != TALUS_OK) {
            talus_manifest_clear(out);
            return status;
        }
    }
    if (out->count > 0)
        qsort(out->entry, (size_t)out->count, sizeof *out->entry, compare_names);
    out->sorted = true;
    return TALUS_OK;
}
