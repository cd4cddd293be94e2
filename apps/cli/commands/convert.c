/* cli/commands/convert.c - reads frames.talus and writes it in the formats of io/formats/formats.h. */
#include "convert.h"

#include "cli/cli.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "io/file/file.h"
#include "io/formats/formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double redraw_seconds = 0.2; /* least time between two redraws of the bar */

typedef struct Conversion {
    const char *kind, *out;
    char *path; /* frames file */
    TalusFrames *frames;
    TalusFormatWriter *writer;
    TalusSnapshot snapshot;
    const FrameRange *range;
    int *chosen;     /* indices of the frames in the range */
    int count;       /* number of these frames */
    double quantum;  /* largest quantum of positions in the frames so far, m */
    unsigned fields; /* which data the last frame has, TALUS_SNAPSHOT_... */
    bool bar;        /* shows progress on a terminal */
    bool lean;       /* some frame so far has lean detail */
    double last_bar; /* wall clock at the last redraw of the bar; 0: none */
} Conversion;

/* ---- messages ---- */

/* On a terminal, prints which frame is being converted, at most every redraw_seconds. */
static void draw_bar(Conversion *c, int index, int count)
{
    double now = talus_now();
    if (!c->bar || now - c->last_bar < redraw_seconds)
        return;
    fprintf(stderr, "\r\033[K%s: frame %d of %d", c->out, index + 1, count);
    fflush(stderr);
    c->last_bar = now;
}

static void erase_bar(const Conversion *c)
{
    if (c->bar && c->last_bar > 0.0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* Prints how many frames were written, how precise their values are (docs/reference/frames.md) and what they lack. */
static void print_precision(const Conversion *c)
{
    printf("%s: %d frame%s as %s\n", c->out, c->count, c->count == 1 ? "" : "s", c->kind);
    printf("positions to %.2g m, %s and forces to %s; no spins, no masses, spheres do not turn;\n"
           "%s\n",
           0.5 * c->quantum, c->fields & TALUS_SNAPSHOT_VELOCITY ? "velocities" : "speeds",
           c->lean ? "6 %" : "0.2 %",
           c->fields & TALUS_SNAPSHOT_CHAINS && strcmp(c->kind, "vtp") == 0
               ? "of the contacts the chains of those with a normal force above the mean"
               : "no contacts");
    printf("everything, and all digits: talus run --frames %s\n", c->kind);
}

/* ---- the frames ---- */

TalusStatus export_choose_frames(const TalusFrames *frames, const char *path,
                                 const FrameRange *range, int **chosen, int *count)
{
    int total = talus_frames_count(frames);
    double next = -INFINITY;
    TALUS_TRY(TALUS_ALLOC(*chosen, (size_t)total, "frames to export"));
    *count = 0;
    for (int i = 0; i < total; i++) {
        double time = talus_frames_info(frames, i).time;
        if (time < range->from || time > range->until || time < next) /* NAN, no limit: false */
            continue;
        (*chosen)[(*count)++] = i;
        /* The factor admits a frame whose time is early by rounding. */
        next = range->every > 0.0 ? time + range->every * (1.0 - 1e-9) : -INFINITY;
    }
    if (total == 0)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "there are no frames in it yet");
    if (*count == 0)
        return talus_fail_file(path, TALUS_ERR_ARGUMENT,
                               "no frame is between --from and --until; they go from %g to %g s",
                               talus_frames_info(frames, 0).time,
                               talus_frames_info(frames, total - 1).time);
    return TALUS_OK;
}

/* Reads a frame and passes it to the writer; updates quantum, lean and fields. */
static TalusStatus convert_frame(Conversion *c, int index)
{
    TALUS_TRY(talus_frames_read(c->frames, index, &c->snapshot));
    const TalusFramesHead *head = talus_frames_head(c->frames, index);
    if (!head)
        return talus_error_record()->code;
    c->quantum = fmax(c->quantum, head->quantum);
    c->lean = c->lean || head->lean;
    c->fields = c->snapshot.fields;
    return talus_format_add_frame(c->writer, head, &c->snapshot);
}

static TalusStatus convert_frames(Conversion *c)
{
    for (int i = 0; i < c->count; i++) {
        draw_bar(c, i, c->count);
        TALUS_TRY(convert_frame(c, c->chosen[i]));
    }
    return TALUS_OK;
}

/* Fails if the output is the run's directory `dir`, which may hold frames of the same kind with all digits. */
static TalusStatus refuse_own_directory(const Conversion *c, const char *dir)
{
    if (cli_same_dir(dir, c->out))
        return talus_fail_file(c->out, TALUS_ERR_ARGUMENT,
                               "is the run's own directory, which may hold exact frames; choose "
                               "another with -o");
    return TALUS_OK;
}

/* Opens the run's frames, chooses those in the range and writes them in the format. */
static TalusStatus convert_run(Conversion *c, const RunLocation *location)
{
    TALUS_TRY(refuse_own_directory(c, location->dir));
    TALUS_TRY(talus_path_format(&c->path, "%s/%s", location->dir, location->name));
    TALUS_TRY(talus_frames_open(c->path, &c->frames));
    TALUS_TRY(export_choose_frames(c->frames, c->path, c->range, &c->chosen, &c->count));
    TALUS_TRY(talus_format_open(c->kind, c->out, false, 0.0, &c->writer));
    TalusStatus status = convert_frames(c);
    TALUS_THEN(status, talus_format_sync(c->writer));
    erase_bar(c);
    return status;
}

int export_convert_run(const CliCommand *command, const RunLocation *location, const char *kind,
                       const char *out, const FrameRange *range)
{
    Conversion c = {.kind = kind, .out = out, .range = range, .bar = isatty(STDERR_FILENO)};
    if (strcmp(kind, "bulk") == 0)
        return cli_fail_usage(command, "--to bulk: talus measure makes this table of any run");
    if (talus_format_find(kind) < 0)
        return cli_fail_usage(command, "--to %s: no such kind of files; there are " CONVERT_KINDS,
                              kind);
    TalusStatus status = convert_run(&c, location);
    if (status == TALUS_OK)
        status = talus_format_close(c.writer);
    else
        (void)talus_format_close(c.writer); /* status ignored: the first failure is reported */
    talus_frames_close(c.frames);
    talus_snapshot_free(&c.snapshot);
    TALUS_RELEASE(c.path, c.chosen);
    if (status != TALUS_OK)
        return cli_fail_library();
    print_precision(&c);
    return CLI_OK;
}
