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
    bool bodies_behind, contacts_behind; /* the engine has moved on */
    bool bodies_ahead, contacts_ahead;   /* the host has changes that the engine has not */
    bool tables_ahead;                   /* the same of shapes and materials, */
    bool forces_ahead, filters_ahead;    /*   of applied forces, and of which bodies meet */
    int slots_sent;
    bool any_forgotten;
    uint8_t *forgotten; /* by slot: contacts that lose their impulses with the next bodies sent */
    TalusContactList list; /* on its way to the host's engine */
    int32_t *few;          /* slots of driven bodies, and their states, on their way */
    TalusMotion *motion;
} TalusMirror;

/* Brings the host's bodies, or contacts, up to date. Functions that are const to their callers call
 * these as well: what the world holds does not change by being looked at. Those that cannot fail use
 * talus_world_see, which tells a failure as a warning; the next step meets it too. */
TalusStatus talus_world_look(const TalusWorld *world);
TalusStatus talus_world_look_contacts(const TalusWorld *world);
void talus_world_see(const TalusWorld *world, bool contacts);
/* To be called before the host's bodies change: brings them up to date and marks them as newer. */
TalusStatus talus_world_touch(TalusWorld *world);
/* Forgets the impulses of a body's contacts. */
void talus_world_forget(TalusWorld *world, int slot);
/* Gives the engine what the host has changed. */
TalusStatus talus_mirror_send(TalusWorld *world);
/* States of driven bodies, which are the host's to say, to the engine; and back where a step is taken back. */
TalusStatus talus_mirror_send_driven(TalusWorld *world);
TalusStatus talus_mirror_fetch_driven(TalusWorld *world);
/* The engine has changed bodies, or contacts. */
void talus_mirror_bodies_changed(TalusWorld *world);
void talus_mirror_contacts_changed(TalusWorld *world);
/* The contacts of the last step, once they have been looked at. */
TalusContactList *talus_world_contacts(const TalusWorld *world);
void talus_mirror_clear(TalusMirror *mirror);

#endif
