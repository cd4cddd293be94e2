/* io/scene/scene_entries.c - the bodies of each entry, by their numbers. Numbers are given in order of creation, so the
 * bodies that are there at the start lie entry by entry. Those that arrive later, from emitters and entries with a `time`,
 * follow all of them, in an order that only the run will show: they share one range. */
#include "io/scene/scene_entries.h"

#include "base/memory.h"
#include "io/scene/scene_copies.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a name that is made here: "bodies[N]" or "emitters[N]". */
enum { MADE_NAME = 32 };

/* Appends a name, made of the list's key and the index if the scene gives none, to `to` (NULL: only counts), after ", "
 * unless it is the first. Returns its number of bytes. */
static size_t append_name(char *to, size_t used, const char *given, const char *key, int index)
{
    char made[MADE_NAME];
    snprintf(made, sizeof made, "%s[%d]", key, index);
    const char *name = given ? given : made;
    size_t length = strlen(name), before = used > 0 ? 2 : 0;
    if (to) {
        memcpy(to + used, ", ", before);
        memcpy(to + used + before, name, length + 1);
    }
    return before + length;
}

/* Writes the names of all sources of later bodies, once each, to `to` (NULL: only counts). Returns the bytes, without the
 * final zero; 0 if there are no such bodies. */
static size_t join_sources(const TalusScene *s, char *to)
{
    size_t used = 0;
    for (int i = 0; i < s->bodies.count; i++) {
        const SceneBody *body = (const SceneBody *)s->bodies.items + i;
        if (body->time > 0.0)
            used += append_name(to, used, body->name, "bodies", i);
    }
    for (int i = 0; i < s->emitters.count; i++)
        used += append_name(to, used, NULL, "emitters", i);
    return used;
}

/* The most bytes that names take. */
static size_t bound_of_names(const TalusScene *s)
{
    size_t size = join_sources(s, NULL) + 1 + sizeof "from";
    for (int i = 0; i < s->bodies.count; i++) {
        const SceneBody *body = (const SceneBody *)s->bodies.items + i;
        size += (body->name ? strlen(body->name) : 0) + MADE_NAME;
    }
    return size;
}

/* Adds a range, unless it is empty. */
static void add_range(TalusSceneEntries *out, const char *name, uint64_t before, uint64_t after)
{
    if (after > before)
        out->entry[out->count++] = (TalusFramesEntry){name, (int64_t)before + 1, (int64_t)after};
}

/* Fills arrays that are large enough. */
static void fill_entries(const TalusScene *s, const uint64_t *created, TalusSceneEntries *out)
{
    char *at = out->names;
    int copies = talus_scene_copy_count(s), count = s->bodies.count;
    strcpy(at, "from");
    add_range(out, at, 0, created[0]);
    at += sizeof "from";
    for (int i = 0; i < count; i++) {
        const SceneBody *body = (const SceneBody *)s->bodies.items + i;
        char *name = at;
        at += append_name(name, 0, body->name, "bodies", i) + 1;
        for (int k = 0; k < copies; k++)
            add_range(out, name, created[k * count + i], created[k * count + i + 1]);
    }
    if (join_sources(s, at) > 0)
        out->entry[out->count++] = (TalusFramesEntry){at, (int64_t)created[copies * count] + 1, 0};
}

TalusStatus talus_scene_list_entries(const TalusScene *scene, const uint64_t *created,
                                     TalusSceneEntries *out)
{
    size_t ranges = (size_t)talus_scene_copy_count(scene) * (size_t)scene->bodies.count + 2;
    *out = (TalusSceneEntries){0};
    TalusStatus status = TALUS_ALLOC(out->entry, ranges, "entries");
    TALUS_THEN(status, TALUS_ALLOC(out->names, bound_of_names(scene), "entries"));
    if (status == TALUS_OK)
        fill_entries(scene, created, out);
    else
        talus_scene_entries_free(out);
    return status;
}

void talus_scene_entries_free(TalusSceneEntries *entries)
{
    TALUS_RELEASE(entries->entry, entries->names);
    *entries = (TalusSceneEntries){0};
}

TalusStatus talus_scene_entries_find(const TalusSceneEntries *entries, const char *name,
                                     TalusBodyId *first, TalusBodyId *last)
{
    for (int i = 0; i < entries->count; i++)
        if (strcmp(entries->entry[i].name, name) == 0) {
            *first = (TalusBodyId){(uint64_t)entries->entry[i].first};
            *last = (TalusBodyId){(uint64_t)entries->entry[i].last};
            return TALUS_OK;
        }
    return talus_fail_key(name, TALUS_ERR_ARGUMENT, "the scene has no entry of this name");
}
