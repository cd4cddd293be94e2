/* cli/commands/convert.h - talus export --to KIND: converts the frames of a run to files of another program. */
#ifndef TALUS_CLI_CONVERT_H
#define TALUS_CLI_CONVERT_H

#include "cli/cli.h"
#include "cli/serve/serve_files.h"

/* Kinds of files, for the help of --to and for messages. */
#define CONVERT_KINDS "vtp or vtkhdf (ParaView), lammps (OVITO), csv"

/* Frames from time `from` to `until`, at least `every` apart; simulated seconds, NAN: no limit. */
typedef struct FrameRange {
    double every, from, until;
} FrameRange;

/* Writes the indices of the frames in the range to *chosen, which the caller releases, also on failure, and their
 * number. Fails if no frame is in the range; `path` is for the message. */
TalusStatus export_choose_frames(const TalusFrames *frames, const char *path,
                                 const FrameRange *range, int **chosen, int *count);

/* Writes the frames of the run at `location` into the directory `out`, as files of `kind` (one of CONVERT_KINDS), and
 * prints the precision of the values. Returns the exit code. */
int export_convert_run(const CliCommand *command, const RunLocation *location, const char *kind,
                       const char *out, const FrameRange *range);

#endif
