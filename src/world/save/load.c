/* world/save/load.c - a world from its saved state, on one rank or several.
 *
 * A loaded world continues bitwise as the saved world would have, on the same backend. Loading trusts nothing: the hash
 * detects accidental damage, and every count, index and number is checked as well, so that forged bytes with a valid
 * hash do no harm either. A refusal gives TALUS_ERR_FORMAT with the offset. */
#include "world/save/loaded.h"
#include "world/save/save.h"
#include "world/state.h"

#include "backend/backend.h"
#include "base/hash.h"

#include <string.h>

enum { HEADER_BYTES = 24 };

/* Loads the header and checks magic, version and length; sets a->size to the bytes before the hash. */
static void load_header(TalusArchive *a)
{
    uint64_t stated;
    talus_archive_header(a, &stated);
    if (stated != a->size || a->size < HEADER_BYTES + sizeof(uint64_t))
        talus_archive_refuse(a, "the length differs from the one stated: cut off or joined");
    if (a->status == TALUS_OK)
        a->size -= sizeof(uint64_t);
}

/* Compares the hash of bytes that are all in memory before anything is made of them. */
static void check_hash(TalusArchive *a, const unsigned char *bytes)
{
    uint64_t hash;
    if (a->status != TALUS_OK)
        return;
    memcpy(&hash, bytes + a->size, sizeof hash);
    if (hash != talus_hash(TALUS_HASH_SEED, bytes, a->size))
        talus_archive_refuse(a, "the hash does not match: the bytes are damaged");
}

/* Loads the hash behind the content. Rank 0, which has read all bytes, compares it with theirs. */
static void check_end(TalusArchive *a)
{
    const uint64_t expected = talus_hasher_end(&a->hash);
    uint64_t hash;
    if (a->status == TALUS_OK && a->offset != a->size)
        talus_archive_refuse(a, "there are more bytes than expected");
    a->size += sizeof hash;
    talus_archive_u64(a, &hash);
    if (talus_comm_rank(a->comm) == 0 && hash != expected)
        talus_archive_refuse(a, "the hash does not match: the bytes are damaged");
}

/* True if some build has a backend of this name. */
static bool is_known_backend(const char *name)
{
    for (int i = 0; i < talus_backend_count(); i++)
        if (strcmp(talus_backend_row(i).name, name) == 0)
            return true;
    return false;
}

/* Separates failures of talus_world_create (`status`) that are no fault of the bytes: returns TALUS_ERR_UNSUPPORTED if
 * this build lacks the saved backend or solver, which other builds have, or the backend of the caller's choice. Returns
 * TALUS_OK otherwise; talus_archive_record then turns other failures, and a saved backend that no build has, into
 * TALUS_ERR_FORMAT. */
static TalusStatus check_backend(TalusStatus status, const char *saved, const char *choice)
{
    if (status != TALUS_ERR_UNSUPPORTED || (!choice && !is_known_backend(saved)))
        return TALUS_OK;
    return choice || talus_backend_find(saved)
               ? status
               : talus_fail_around(status,
                                   "saved on backend %s, which is not available here: %s; the "
                                   "state can be loaded onto another backend",
                                   saved, talus_error());
}

static void apply_changes(TalusWorldDef *def, const TalusWorldChanges *c)
{
    def->friction.law = c->law;
    def->compliance = c->compliance;
    def->elastic_overlap = c->elastic_overlap;
    def->tolerance = c->tolerance;
    def->step = c->step;
    def->on_miss = c->on_miss;
}

/* Sleep stays as it was saved until the bodies are loaded, as the state depends on it. */
static void apply_start(TalusWorldDef *def, const TalusWorldDef *start)
{
    const double sleep_speed = def->sleep_speed;
    const int sleep_steps = def->sleep_steps;
    *def = *start;
    def->sleep_speed = sleep_speed;
    def->sleep_steps = sleep_steps;
    def->comm = NULL; /* until the bodies are divided (loaded.c) */
}

/* After loading with another step length: makes the present time and step count the base from which time is counted,
 * because the steps so far had the saved length. */
static void rebase_time(TalusWorld *world, double saved_step)
{
    world->base_time += (double)(world->steps - world->base_steps) * saved_step;
    world->base_steps = world->steps;
}

/* Returns the compliance of the last step of a world saved before version 10, whose state does not have it. With a
 * tolerance of 0 its contacts were rigid. */
static double last_compliance_of_old(const TalusWorld *world, const TalusWorldDef *saved)
{
    if (world->steps == 0)
        return -1.0;
    if (saved->compliance != TALUS_COMPLIANCE_AUTO)
        return saved->compliance;
    return saved->tolerance > 0.0 ? talus_auto_compliance(world, saved->tolerance) : 0.0;
}

/* What is left once bodies and contacts are where they belong. */
static void finish_world(TalusArchive *a, TalusWorld *world, const TalusWorldDef *saved,
                         const TalusLoadDef *load)
{
    if (load->changes)
        rebase_time(world, saved->step);
    if (load->start)
        talus_loaded_end_sleep(world, load->start);
    world->mirror.bodies_dirty = world->mirror.contacts_dirty = true;
    if (a->version < 10)
        world->last_compliance = last_compliance_of_old(world, saved);
}

/* True if it is the caller's settings that a world refuses, and not the saved ones. */
static bool is_refusal(const TalusLoadDef *load, TalusStatus status)
{
    return load->start || (load->changes && status == TALUS_ERR_ARGUMENT);
}

/* Creates a world from the loaded def and loads the rest. After a failure, in a->status, the caller destroys the world. */
static TalusWorld *load_content(TalusArchive *a, const TalusLoadDef *load,
                                const unsigned char *memory)
{
    TalusWorldDef def = talus_world_def_default();
    char *solver = NULL, *backend = NULL;
    TalusWorld *world = NULL;
    load_header(a);
    if (memory)
        check_hash(a, memory);
    talus_archive_def(a, &def, &solver, &backend);
    def.solver = solver;
    def.backend = load->backend ? load->backend : backend;
    def.threads = load->threads;
    const TalusWorldDef saved = def;
    if (load->changes)
        apply_changes(&def, load->changes);
    if (load->start)
        apply_start(&def, load->start);
    const bool changed = load->changes || load->start;
    if (a->status == TALUS_OK)
        a->status = talus_world_check_ranks(&def, a->comm); /* def.comm is NULL as yet */
    TalusStatus status = a->status == TALUS_OK ? talus_world_create(&def, &world) : TALUS_OK;
    if (a->status == TALUS_OK)
        a->status =
            is_refusal(load, status) ? status : check_backend(status, backend, load->backend);
    talus_archive_record(a, status);
    if (a->status == TALUS_OK)
        talus_archive_world(a, world, changed);
    check_end(a);
    if (talus_archive_agree(a) && load->start)
        talus_loaded_start(a->loaded, world, &saved.period);
    if (a->status == TALUS_OK && a->comm)
        a->status = talus_loaded_divide(a->loaded, world);
    if (a->status == TALUS_OK)
        finish_world(a, world, &saved, load);
    TALUS_RELEASE(solver, backend);
    return world;
}

/* As talus_world_load_from; memory: all bytes of the source, NULL: they come piece by piece. */
static TalusStatus load_world(const TalusByteSource *source, size_t size, const TalusLoadDef *load,
                              const unsigned char *memory, TalusWorld **out)
{
    TalusComm *comm = talus_comm_size(load->comm) > 1 ? load->comm : NULL;
    uint64_t bytes = size;
    *out = NULL;
    TALUS_TRY(talus_comm_broadcast(comm, 0, &bytes, sizeof bytes));
    TalusLoaded loaded = {.comm = comm};
    TalusArchive a = {.loading = true,
                      .comm = comm,
                      .source = source,
                      .loaded = &loaded,
                      .size = (size_t)bytes,
                      .left = (size_t)bytes,
                      .hash = {.hash = TALUS_HASH_SEED}};
    a.status = TALUS_ALLOC(a.buffer, TALUS_ARCHIVE_BUFFER, "saved state");
    TalusWorld *world = load_content(&a, load, memory);
    talus_loaded_clear(&loaded);
    talus_release(a.buffer);
    if (a.status != TALUS_OK) {
        talus_world_destroy(world);
        return a.status;
    }
    *out = world;
    return TALUS_OK;
}

TalusStatus talus_world_load_from(const TalusByteSource *source, size_t size,
                                  const TalusLoadDef *load, TalusWorld **out)
{
    return load_world(source, size, load, NULL, out);
}

/* Saved bytes that are read. */
typedef struct Reading {
    const unsigned char *bytes;
    size_t at;
} Reading;

static TalusStatus get_from_memory(void *context, void *bytes, size_t size)
{
    Reading *reading = context;
    if (size > 0)
        memcpy(bytes, reading->bytes + reading->at, size);
    reading->at += size;
    return TALUS_OK;
}

TalusStatus talus_world_load_changed(const void *bytes, size_t size, int threads,
                                     const char *backend, const TalusWorldChanges *changes,
                                     TalusWorld **out)
{
    Reading reading = {.bytes = bytes};
    const TalusByteSource source = {get_from_memory, &reading};
    const TalusLoadDef load = {.threads = threads, .backend = backend, .changes = changes};
    return load_world(&source, size, &load, bytes, out);
}

TalusStatus talus_world_load(const void *bytes, size_t size, int threads, const char *backend,
                             TalusWorld **out)
{
    return talus_world_load_changed(bytes, size, threads, backend, NULL, out);
}
