/* world/save/loaded.h - what a rank has of a saved state while several ranks load it.
 *
 * Each rank loads an even piece of the rows of bodies, and of each run of contacts; all of them load the rest. Rows, by which
 * contacts, drives and exclusions name bodies, are asked for at the ranks that have them (comm/questions.h). Then bodies and
 * contacts go to the ranks that are to own them, and the world is one on several ranks. */
#ifndef TALUS_WORLD_SAVE_LOADED_H
#define TALUS_WORLD_SAVE_LOADED_H

#include "comm/stream.h"
#include "world/drive.h"
#include "world/save/rows.h"

typedef struct TalusLoaded {
    TalusComm
        *comm;      /* NULL: one rank loads the whole, and has no use for what follows but `rows` */
    TalusSpan rows; /* of bodies; the first of this rank is in slot 0 */
    TalusExcludedRows *excluded; /* [exclusions] */
    int exclusions;
    TalusDrive *drive; /* [drives]; `slot` is a row */
    int drives;
    TalusContactRecord *contact; /* [contacts]; a, b: rows + 1 */
    int64_t contacts;
} TalusLoaded;

/* Makes the pieces of all ranks a world on several ranks; all of them call this together, and fail together. A state that
 * contradicts itself gives TALUS_ERR_FORMAT. */
TalusStatus talus_loaded_divide(TalusLoaded *loaded, TalusWorld *world);
/* Before that: makes the loaded world the start of another one (start.c). earlier: the saved period, without its tilt,
 * which the world has. */
void talus_loaded_start(TalusLoaded *loaded, TalusWorld *world, const TalusPeriod *earlier);
/* After it: wakes all bodies, and gives the world, which had the saved settings of sleep, those of `start`. */
void talus_loaded_end_sleep(TalusWorld *world, const TalusWorldDef *start);
void talus_loaded_clear(TalusLoaded *loaded);

#endif
