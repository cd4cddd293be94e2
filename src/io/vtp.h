/* io/vtp.h - the bodies of one moment as a VTK PolyData file. */
#ifndef TALUS_IO_VTP_H
#define TALUS_IO_VTP_H

#include <talus/world.h>

/* One point per body, planes and revolved walls left out: no point with a radius can stand for one.
 * docs/output.md lists the fields. */
TalusStatus talus_vtp_write(const char *path, const TalusWorld *world);

#endif
