/* cli/commands/convert.h - talus export --to KIND: converts the frames of a run to files of another program. */
#ifndef TALUS_CLI_CONVERT_H
#define TALUS_CLI_CONVERT_H

#include "cli/cli.h"
#include "cli/serve/serve_files.h"

/* Continues the help of --to: "write another program's files instead of a page:". */
#define CONVERT_KINDS "vtp or vtkhdf (ParaView), lammps (OVITO), csv"

/* Selection of frames, simulated seconds; NAN: no limit. */
typedef struct FrameRange {
    double every, from, until;
} FrameRange;

/* Lists the frames in the range; release *chosen also on failure, which is that there are none. `path` is for
 * messages. */
TalusStatus export_choose(const TalusFrames *frames, const char *path, const FrameRange *range,
                          int **chosen, int *count);

/* Writes the frames of `location` into the directory `out` and prints their precision. Returns the exit code. */
int export_convert(const CliCommand *command, const RunLocation *location, const char *kind,
                   const char *out, const FrameRange *range);

#endif
