/* world/step/mirror.h - the host's copy of the state of an engine with memory of its own. Shared engines need none. */
#ifndef TALUS_WORLD_STEP_MIRROR_H
#define TALUS_WORLD_STEP_MIRROR_H

#include "collide/contact.h"
#include "engine/engine.h"

#include <talus/world.h>

/* State of the mirror. The mirror is the world's body arrays and the contact list of the host's engine. Mirror or
 * engine may have the newer data; mirror.c copies on demand. With a shared engine nothing is ever stale. */
typedef struct TalusMirror {
    bool bodies_stale, contacts_stale; /* true if the engine's data is newer */
    bool bodies_dirty, contacts_dirty; /* true if the host has changes to upload */
    bool tables_dirty;                 /* true if shapes or materials must be uploaded */
    bool forces_dirty, filters_dirty;  /* true if applied forces or filters must be uploaded */
    int uploaded_slots;                /* number of slots in the last upload of bodies */
    bool any_dropped;                  /* true if some entry of `dropped` is set */
    uint8_t *dropped;      /* by slot: 1 if its contacts lose their impulses at the next upload */
    TalusContactList list; /* staging: contacts on their way from the engine to the host's engine */
    int32_t *driven;       /* [staged], staging: slots of the driven bodies that this rank owns */
    int staged;
    TalusMotion *motion; /* staging: states of driven bodies */
} TalusMirror;

/* Download bodies or contacts into the mirror if they are stale. `world` is const, because the state that callers see
 * does not change. */
TalusStatus talus_world_download_bodies(const TalusWorld *world);
TalusStatus talus_world_download_contacts(const TalusWorld *world);
/* Downloads bodies and, if `contacts`, contacts, if they are stale; logs a failure as a warning. For functions that
 * return no status: a device keeps its error, so the next step returns it. */
void talus_world_refresh(const TalusWorld *world, bool contacts);
/* After the host's bodies have got other slots: entries of `dropped`, which the host's contacts already know, are forgotten. */
void talus_mirror_forget_dropped(TalusWorld *world);
/* Call before changing the host's bodies: downloads the bodies if they are stale and marks them dirty. */
TalusStatus talus_world_mark_bodies_dirty(TalusWorld *world);
/* Zeroes the impulses of a body's contacts: in the host's list now, in the engine at the next upload of bodies. */
void talus_world_drop_impulses(TalusWorld *world, int slot);
/* Returns pointers to the world's body arrays, for the engine; ranks are those of the last talus_id_order_update. The
 * engine never gets fewer slots than in the last upload: its contacts may still name slots that a rollback has
 * removed. */
TalusBodyArrays talus_mirror_body_arrays(TalusWorld *world);
/* Uploads all changes of the host to the engine; a shared engine gets pointers to all arrays instead. */
TalusStatus talus_mirror_upload(TalusWorld *world);
/* On several ranks, for an engine with memory of its own (ranks/halo_engine.c). Uploads changed shapes, laws and forces and, if
 * bodies have changed, this rank's own alone, without a halo; the contacts of the list keep their slots, and impulses wait
 * for talus_mirror_move_contacts to be dropped. */
TalusStatus talus_mirror_upload_own(TalusWorld *world);
/* Uploads the bodies of the halo behind them. */
TalusStatus talus_mirror_upload_halo(TalusWorld *world);
/* Downloads the states of the bodies in slot[count]; the mirror stays as stale as it is. */
TalusStatus talus_mirror_download_states(TalusWorld *world, const int32_t *slot, int count);
/* Gives the engine's contacts other slots, and drops impulses. The host's copy is then stale. */
TalusStatus talus_mirror_move_contacts(TalusWorld *world, const TalusSlotChange *change);
/* Upload the states of driven bodies, which the host determines, before a detection; download them after a rollback. No
 * effect with a shared engine. */
TalusStatus talus_mirror_upload_driven(TalusWorld *world);
TalusStatus talus_mirror_download_driven(TalusWorld *world);
/* Call after the engine has changed bodies or contacts: marks the host's copy stale. No effect with a shared
 * engine. */
void talus_mirror_mark_bodies_stale(TalusWorld *world);
void talus_mirror_mark_contacts_stale(TalusWorld *world);
/* Returns the contacts of the host's engine: those of the last download, or of a shared engine. */
TalusContactList *talus_world_contacts(const TalusWorld *world);
/* Releases the arrays of the mirror and zeroes its state. Bodies and contacts of the world stay. */
void talus_mirror_clear(TalusMirror *mirror);

#endif
