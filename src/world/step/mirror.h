/* world/step/mirror.h - the host's arrays beside an engine with memory of its own. Nothing to do where the engine shares the
 * host's memory. */
#ifndef TALUS_WORLD_STEP_MIRROR_H
#define TALUS_WORLD_STEP_MIRROR_H

#include "collide/contact.h"
#include "engine/engine.h"

#include <talus/world.h>

/* Where the engine does not share the host's memory, the arrays of the world's bodies and the contacts of the
 * host's engine are a mirror: either side may know more than the other, and mirror.c brings it across when it is
 * asked for. Nothing is ever behind otherwise. */
typedef struct TalusMirror {
    bool bodies_stale, contacts_stale; /* the engine has moved on */
    bool bodies_dirty, contacts_dirty; /* the host has changes that the engine has not */
    bool tables_dirty;                 /* the same of shapes and materials, */
    bool forces_dirty, filters_dirty;  /*   of applied forces, and of which bodies meet */
    int slots_sent;
    bool any_dropped;
    uint8_t *dropped; /* by slot: contacts that lose their impulses with the next bodies sent */
    TalusContactList list; /* on its way to the host's engine */
    int32_t *few;          /* slots of driven bodies, and their states, on their way */
    TalusMotion *motion;
} TalusMirror;

/* Brings the host's bodies, or contacts, up to date. Functions that are const to their callers call
 * these as well: what the world holds does not change by being looked at. Those that cannot fail use
 * talus_world_refresh, which tells a failure as a warning; the next step meets it too. */
TalusStatus talus_world_download_bodies(const TalusWorld *world);
TalusStatus talus_world_download_contacts(const TalusWorld *world);
void talus_world_refresh(const TalusWorld *world, bool contacts);
/* To be called before the host's bodies change: brings them up to date and marks them as newer. */
TalusStatus talus_world_mark_dirty(TalusWorld *world);
/* Forgets the impulses of a body's contacts. */
void talus_world_drop_impulses(TalusWorld *world, int slot);
/* Gives the engine what the host has changed. */
TalusStatus talus_mirror_upload(TalusWorld *world);
/* States of driven bodies, which are the host's to say, to the engine; and back where a step is taken back. */
TalusStatus talus_mirror_upload_driven(TalusWorld *world);
TalusStatus talus_mirror_download_driven(TalusWorld *world);
/* The engine has changed bodies, or contacts. */
void talus_mirror_mark_bodies_stale(TalusWorld *world);
void talus_mirror_mark_contacts_stale(TalusWorld *world);
/* The contacts of the last step, once they have been looked at. */
TalusContactList *talus_world_contacts(const TalusWorld *world);
void talus_mirror_clear(TalusMirror *mirror);

#endif
