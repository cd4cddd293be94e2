/* io/run/exact_start.h - the bodies of an exact frame of a run as the start of another world (docs/how-to/prepare.md). */
#ifndef TALUS_IO_RUN_EXACT_START_H
#define TALUS_IO_RUN_EXACT_START_H

#include <talus/frames.h>

/* Sets *found to the time of the last exact frame of DIR/frames.talus at or before `time`, s; NAN: there is none. */
TalusStatus talus_exact_find(const char *dir, double time, double *found);
/* Creates a world with these settings and the bodies of the last exact frame at or before `time`: their positions,
 * orientations, velocities, spins and masses bit by bit, their shapes, materials and tags. Contacts begin without impulses,
 * driven bodies are fixed; without `fixed` bodies that do not move stay behind. All ranks of def->comm call this together, and each reads the file. */
TalusStatus talus_exact_start(const char *dir, double time, bool fixed, const TalusWorldDef *def,
                              TalusWorld **world);

#endif
