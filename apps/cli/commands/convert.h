/* cli/commands/convert.h - talus export --to KIND: converts the frames of a run to files of another program. */
#ifndef TALUS_CLI_CONVERT_H
#define TALUS_CLI_CONVERT_H

#include "cli/cli.h"
#include "cli/serve/serve_files.h"

/* Continues the help of --to: "write another program's files instead of a page:". */
#define CONVERT_KINDS "vtp or vtkhdf (ParaView), lammps (OVITO), csv"

/* Selection of frames, simulated seconds; NAN: no limit. */
typedef struct ConvertRange {
    double every, from, until;
} ConvertRange;

/* Writes the frames of `place` into the directory `out` and prints their precision. Returns the exit code. */
int export_convert(const CliCommand *command, const RunPlace *place, const char *kind,
                   const char *out, ConvertRange range);

#endif
