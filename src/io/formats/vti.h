/* io/formats/vti.h - writes continuum fields as a VTK image (.vti): cell data of a grid, inline base64 as in vtp_xml.h. */
#ifndef TALUS_IO_FORMATS_VTI_H
#define TALUS_IO_FORMATS_VTI_H

#include "base/status.h"

#include <talus/measure.h>

/* Writes the fields with these numbers, at a time, to a file. Components of 6 are in VTK's order, xx yy zz xy yz xz. */
TalusStatus talus_vti_write(const char *path, const TalusContinuum *continuum,
                            const TalusQuantity *quantity, int count, double time);

#endif
