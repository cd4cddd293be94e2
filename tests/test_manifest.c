/* The list of a run's files: found by name, as bytes and back, damaged in every place. */
#include "io/run/manifest.h"
#include "support/test.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { FILES = 300 };

static void fill(TalusManifest *list)
{
    char name[64];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "frames/bodies-%06d.vtp", (i * 7919) % FILES);
        TalusEntry entry = {.name = name,
                            .size = (uint64_t)i << 33,
                            .crc = 0xdeadbeef + (uint32_t)i,
                            .kind = (TalusEntryKind)(i % TALUS_ENTRY_KINDS)};
        CHECK_OK(talus_manifest_add(list, &entry, NULL));
    }
}

TEST(comes_back_from_its_bytes)
{
    TalusManifest list = {0}, again;
    char *bytes;
    size_t size;
    fill(&list);
    REQUIRE_OK(talus_manifest_pack(&list, &bytes, &size));
    REQUIRE_OK(talus_manifest_unpack(bytes, size, &again));
    CHECK_INT(again.count, FILES);
    for (int i = 0; i < FILES; i++) {
        const TalusEntry *a = &list.entry[i], *b = talus_manifest_find(&again, a->name);
        REQUIRE(b != NULL);
        CHECK(a->size == b->size && a->crc == b->crc && a->kind == b->kind);
        CHECK(talus_manifest_find_unchanged(&again, a->name) == NULL); /* nobody has compared it */
    }
    CHECK(talus_manifest_find(&again, "frames/bodies-000300.vtp") == NULL);
    CHECK(talus_manifest_find(NULL, "steps.csv") == NULL);
    talus_release(bytes);
    talus_manifest_clear(&list);
    talus_manifest_clear(&again);
    REQUIRE_OK(talus_manifest_unpack("", 0, &again));
    CHECK(again.count == 0 && talus_manifest_find(&again, "steps.csv") == NULL);
}

TEST(damage_is_refused)
{
    TalusManifest list = {0}, again;
    TalusEntry entry = {.name = "steps.csv", .size = 7};
    char *bytes, copy[64];
    size_t size;
    CHECK_OK(talus_manifest_add(&list, &entry, NULL));
    REQUIRE_OK(talus_manifest_pack(&list, &bytes, &size));
    REQUIRE(size <= sizeof copy);
    for (size_t cut = 1; cut < size; cut++)
        CHECK(talus_manifest_unpack(bytes, size - cut, &again) == TALUS_ERR_FORMAT);
    static const char *const names[] = {"/etc/x.csv", "../up.csv", "a/../b.cs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        memcpy(copy, bytes, size);
        memcpy(copy + 16, names[i], 9);
        CHECK(talus_manifest_unpack(copy, size, &again) == TALUS_ERR_FORMAT);
    }
    memcpy(copy, bytes, size);
    copy[12] = 9; /* no such kind */
    CHECK(talus_manifest_unpack(copy, size, &again) == TALUS_ERR_FORMAT);
    talus_release(bytes);
    talus_manifest_clear(&list);
}

int main(void)
{
    RUN(comes_back_from_its_bytes);
    RUN(damage_is_refused);
    return talus_test_result();
}
