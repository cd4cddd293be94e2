/* io/formats/paraview_script.h - the script that shows a run's .vtp files in ParaView. */
#ifndef TALUS_IO_FORMATS_PARAVIEW_SCRIPT_H
#define TALUS_IO_FORMATS_PARAVIEW_SCRIPT_H

#include "io/file/dir.h"

#define TALUS_PARAVIEW_SCRIPT "show_in_paraview.py"

/* Writes DIR/show_in_paraview.py. */
TalusStatus talus_paraview_script_write(TalusDir *dir);

#endif
