/* cli/commands/convert.h - talus export --to KIND: the frames of a run as another program's files. */
#ifndef TALUS_CLI_CONVERT_H
#define TALUS_CLI_CONVERT_H

#include "cli/cli.h"
#include "cli/serve/serve_files.h"

/* For the help of --to, as it continues "write another program's files instead of a page:". */
#define CONVERT_KINDS "vtp or vtkhdf (ParaView), lammps (OVITO), csv"

/* Which frames; NAN: no such limit. */
typedef struct ConvertRange {
    double every, from, until;
} ConvertRange;

/* Writes the frames of `place` into the directory `out` and says how exact they are; returns the
 * exit code. */
int export_convert(const CliCommand *command, const RunPlace *place, const char *kind,
                   const char *out, ConvertRange range);

#endif
