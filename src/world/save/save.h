/* world/save/save.h - saving and loading (load.c), and the parts of a saved state: save.c, save_motion.c, save_contacts.c,
 * save_shape.c, save_joints.c. */
#ifndef TALUS_WORLD_SAVE_SAVE_H
#define TALUS_WORLD_SAVE_SAVE_H

#include "world/save/archive.h"
#include "world/save/change.h"
#include "world/save/rows.h"

#include <talus/world.h>

/* Transfers item `index` of a list of the world. */
typedef void TalusTransferFn(TalusArchive *archive, TalusWorld *world, int index);

/* Transfers the number of items, `count` when saving, then the items. Items have at least `least` bytes each; loading
 * ignores `count`. */
static inline void talus_archive_list(TalusArchive *a, TalusWorld *world, int count, size_t least,
                                      TalusTransferFn *transfer)
{
    talus_archive_count(a, &count, least);
    for (int i = 0; i < count && a->status == TALUS_OK; i++)
        transfer(a, world, i);
}

/* What a state has, in order, before its hash. Header: magic, version and the size in bytes, hash included; refuses other magic
 * or versions. Def: without the number of threads. World: all else; changed: loading with other settings, which discards the
 * solver's state. */
void talus_archive_header(TalusArchive *archive, uint64_t *size);
void talus_archive_def(TalusArchive *archive, TalusWorldDef *def, char **solver, char **backend);
void talus_archive_world(TalusArchive *archive, TalusWorld *world, bool changed);
/* Transfers groups, exclusions, applied forces, drives and sleep. */
void talus_archive_motion(TalusArchive *archive, TalusWorld *world);
void talus_archive_contacts(TalusArchive *archive, TalusWorld *world);
/* Transfers shape `index`; loading adds it. */
void talus_archive_shape(TalusArchive *archive, TalusWorld *world, int index);
void talus_archive_joints(TalusArchive *archive, TalusWorld *world);

/* Puts the state into the sink. All ranks call this together; the sinks of others than rank 0 are not used, may be NULL, and
 * a failure of rank 0's is a failure of all. No rank has all bodies or contacts. */
TalusStatus talus_world_save_to(const TalusWorld *world, const TalusByteSink *sink);

/* How a state is loaded; zeros: as it was saved, on one rank. */
typedef struct TalusLoadDef {
    int threads;                      /* as in TalusWorldDef */
    const char *backend;              /* NULL: the saved one */
    const TalusWorldChanges *changes; /* NULL: none */
    /* The settings of another world, of which the bodies are the start (start.c): all of them hold in place of the saved ones
     * and of those above. Its `comm` is not used. NULL: the saved world goes on. */
    const TalusWorldDef *start;
    TalusComm *
        comm; /* of the ranks that load the state together, each its part; NULL: one rank loads the whole */
} TalusLoadDef;

/* Loads a state of `size` bytes from the source, in pieces of bounded size. All ranks of load->comm call this together, and
 * a failure is one of all; source and size are those of rank 0. No rank has all bodies or contacts. */
TalusStatus talus_world_load_from(const TalusByteSource *source, size_t size,
                                  const TalusLoadDef *load, TalusWorld **out);

/* As talus_world_save, without bodies and what refers to them: contacts, forces, drives, exclusions, joints. On several
 * ranks it saves what all of them have. */
TalusStatus talus_world_save_without_bodies(const TalusWorld *world, void **bytes, size_t *size);

#endif
