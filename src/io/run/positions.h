/* io/run/positions.h - the positions of moving bodies as a text. */
#ifndef TALUS_IO_RUN_POSITIONS_H
#define TALUS_IO_RUN_POSITIONS_H

#include <talus/world.h>

/* Writes the file `path` with a line "x y z" per body that is not fixed, m, by ascending ids. On several ranks all of them
 * call this; rank 0 writes. */
TalusStatus talus_positions_write(const char *path, const TalusWorld *world);

#endif
