/* cli/commands/export.c - talus export: writes a run as one page, or as files of other programs. */
#include "cli/cli.h"
#include "cli/run/dir.h"
#include "cli/serve/serve_files.h"
#include "cli/serve/viewer_page.h"
#include "convert.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/file/file.h"
#include "io/frames/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 64, NOTE_MAX = 256 }; /* --limit if not given, MB; bytes of the note */

/* Values of the options, which option_table describes. NULL, NAN: not given. */
typedef struct Options {
    const char *output, *to;
    double limit;
    FrameRange range;
} Options;

static Options options = {.limit = NAN, .range = {NAN, NAN, NAN}};

static const CliOption option_table[] = {
    {"output", 'o', CLI_TEXT, &options.output, "FILE",
     "the page to write, or with --to the directory"},
    {"limit", 0, CLI_REAL, &options.limit, "MB",
     "size of the page at most, in millions of bytes (default 64);\n"
     "frames are left out evenly until it fits"},
    {"every", 0, CLI_REAL, &options.range.every, "DT",
     "keep frames that are at least DT seconds apart"},
    {"from", 0, CLI_REAL, &options.range.from, "T", "keep frames from time T on"},
    {"until", 0, CLI_REAL, &options.range.until, "T", "keep frames up to time T"},
    {"to", 0, CLI_TEXT, &options.to, "KIND",
     "write another program's files instead of a page:\n" CONVERT_KINDS},
};

/* State of one export to a page. */
typedef struct Export {
    const Options *options;
    char *path; /* frames file */
    TalusFrames *frames;
    int *chosen; /* indices of the frames that the options select */
    int count;   /* number of chosen frames */
    int total;   /* number of frames in the file */
    RunState run;
    Steps steps;
    int steps_fd;        /* descriptor of steps.csv; -1: none */
    char note[NOTE_MAX]; /* says which frames the page has; "": all */
    ViewerRun page;      /* what the page says of the run; points into the other fields */
    uint64_t base_bytes; /* bytes of the JSON value about the run, with a reserve for the note */
} Export;

/* Returns the maximum size of the page, bytes. */
static uint64_t get_limit_bytes(const Export *x)
{
    return (uint64_t)fmin(x->options->limit * 1e6, 1e18);
}

/* ---- frames ---- */

/* Returns the file offset of the end of the last frame. */
static uint64_t get_frames_end(const Export *x)
{
    TalusFrameInfo last = talus_frames_info(x->frames, x->total - 1);
    return last.offset + last.size;
}

static TalusStatus get_file_size(const char *path, uint64_t *bytes)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
    *bytes = (uint64_t)about.st_size;
    return TALUS_OK;
}

/* Adds every n-th chosen frame, and the last one, until the file exceeds `limit` bytes; *added receives the number of
 * chosen frames up to there, skipped ones included. */
static TalusStatus add_frames(const Export *x, TalusFramesWriter *writer, const char *path, int n,
                              uint64_t limit, int *added)
{
    TalusSnapshot snapshot = {0};
    TalusStatus status = TALUS_OK;
    uint64_t bytes = 0;
    *added = 0;
    for (int i = 0; status == TALUS_OK && i < x->count && bytes <= limit; i++) {
        if (i % n == 0 || i == x->count - 1) {
            int index = x->chosen[i];
            status = talus_frames_read(x->frames, index, &snapshot);
            TALUS_THEN(status, talus_frames_add_snapshot(
                                   writer, talus_frames_head(x->frames, index), &snapshot));
            TALUS_THEN(status, get_file_size(path, &bytes));
        }
        *added = i + 1;
    }
    talus_snapshot_free(&snapshot);
    return status;
}

/* Writes a frames file with every n-th chosen frame and the last, and its size to *bytes. If the size exceeds `limit`,
 * the file lacks the frames after the limit; *added: as in add_frames. */
static TalusStatus write_thinned(const Export *x, const char *path, int n, uint64_t limit,
                                 uint64_t *bytes, int *added)
{
    const TalusFramesHead *head = talus_frames_head(x->frames, x->chosen[0]);
    if (!head)
        return talus_error_record()->code;
    TalusFramesWriter *writer;
    TALUS_TRY(talus_frames_create(
        path,
        &(TalusFramesDef){.title = head->title,
                          .scene = head->scene,
                          .entries = head->entries,
                          .entry_count = head->entry_count,
                          .detail = head->lean ? TALUS_DETAIL_LEAN : TALUS_DETAIL_FULL},
        &writer));
    TalusStatus status = add_frames(x, writer, path, n, limit, added);
    if (status != TALUS_OK)
        talus_frames_abandon(writer);
    else
        status = talus_frames_finish(writer);
    return status == TALUS_OK ? get_file_size(path, bytes) : status;
}

/* Writes a frames file with the first and the last frame to measure it; fails with a message that gives the limit which
 * would suffice for these. */
static TalusStatus fail_too_large(const Export *x, const char *path)
{
    uint64_t bytes;
    int added;
    TALUS_TRY(write_thinned(x, path, x->count, UINT64_MAX, &bytes, &added));
    double needed = ceil((double)viewer_page_size(x->base_bytes, bytes) / 1e6);
    return talus_fail_file(
        x->path, TALUS_ERR_ARGUMENT,
        "%s alone would make a page of %.0f MB, above the limit of %g; --limit %.0f "
        "would do, and `talus view` shows frames of any size",
        x->count > 1 ? "the first and the last frame" : "one frame", needed, x->options->limit,
        needed);
}

/* Writes a frames file with every n-th chosen frame, for about the smallest n with which the page stays within the
 * limit, and sets *every to n. As frames differ in size, the next n is estimated from how many frames fitted with the
 * last n. */
static TalusStatus write_fitting_frames(const Export *x, const char *path, uint64_t *bytes,
                                        int *every)
{
    uint64_t page = get_limit_bytes(x), empty = viewer_page_size(x->base_bytes, 0);
    uint64_t limit = page > empty ? (page - empty) / 4 * 3 : 0; /* frames are in base64 */
    for (int n = 1, added;;) {
        TALUS_TRY(write_thinned(x, path, n, limit, bytes, &added));
        *every = n;
        if (*bytes <= limit)
            return TALUS_OK;
        if (n >= x->count)
            return fail_too_large(x, path);
        double guess = ceil((double)n * x->count / added);
        n = guess > n ? (guess < x->count ? (int)guess : x->count) : n + 1;
    }
}

/* ---- texts of the page ---- */

static void add_note(Export *x, const char *format, ...) CLI_PRINTF(2, 3);

/* Appends the formatted text to the page's note, after "; ". */
static void add_note(Export *x, const char *format, ...)
{
    size_t used = strlen(x->note);
    va_list args;
    if (used > 0)
        used += (size_t)snprintf(x->note + used, sizeof x->note - used, "; ");
    va_start(args, format);
    vsnprintf(x->note + used, sizeof x->note - used, format, args);
    va_end(args);
}

/* Returns "st", "nd", "rd" or "th". */
static const char *get_ordinal_suffix(int n)
{
    int last = n % 10, two = n % 100;
    return last == 1 && two != 11   ? "st"
           : last == 2 && two != 12 ? "nd"
           : last == 3 && two != 13 ? "rd"
                                    : "th";
}

/* Adds --from, --until and --every to the note. */
static void note_range(Export *x)
{
    const FrameRange *range = &x->options->range;
    if (range->from >= 0.0)
        add_note(x, "from %g s", range->from);
    if (range->until >= 0.0)
        add_note(x, "until %g s", range->until);
    if (range->every > 0.0)
        add_note(x, "frames %g s apart", range->every);
}

/* Sets title, scene and state of the page from run.json or, without one, from the frames file. */
static void describe_page(Export *x, const RunLocation *location)
{
    bool known = !location->alone && run_state_read(AT_FDCWD, location->dir, &x->run);
    const TalusFramesHead *head = talus_frames_head(x->frames, 0);
    if (!known) {
        x->run = (RunState){.state = talus_frames_complete(x->frames) ? "finished" : "died",
                            .until = NAN};
        snprintf(x->run.title, sizeof x->run.title, "%s", head ? head->title : "");
        snprintf(x->run.scene, sizeof x->run.scene, "%s", head ? head->scene : "");
    }
    x->page = (ViewerRun){.title = x->run.title,
                          .scene = x->run.scene,
                          .state = x->run.state,
                          .note = x->note,
                          .until = x->run.until,
                          .steps = x->steps.rows > 0 ? &x->steps : NULL,
                          .steps_fd = x->steps_fd};
}

/* Opens and indexes steps.csv; leaves x->steps empty if there is none. */
static TalusStatus read_steps(Export *x, const RunLocation *location)
{
    char *path;
    bool anew = false;
    if (location->alone)
        return TALUS_OK;
    TALUS_TRY(talus_path_format(&path, "%s/steps.csv", location->dir));
    x->steps_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    talus_release(path);
    return x->steps_fd < 0 ? TALUS_OK : steps_refresh(&x->steps, x->steps_fd, &anew);
}

/* JsonSink that counts bytes in the uint64_t `user`. */
static void count_bytes(void *user, const char *bytes, size_t size)
{
    uint64_t *count = user;
    (void)bytes;
    *count += size;
}

/* Sets x->base_bytes to the size of the JSON value about the run, plus 2 NOTE_MAX for the note, whose text is known
 * only with the number of frames. */
static TalusStatus measure_run_json(Export *x)
{
    JsonOut json;
    json_start(&json, count_bytes, &x->base_bytes);
    TalusStatus status = viewer_write_run(&x->page, &json);
    json_finish(&json);
    x->base_bytes += 2 * NOTE_MAX;
    return status;
}

/* ---- the page ---- */

/* Prints what was written; omits the size if the output is a pipe or a device. */
static void print_written(const Export *x, int written)
{
    struct stat about;
    printf("%s: ", x->options->output);
    if (stat(x->options->output, &about) == 0 && S_ISREG(about.st_mode))
        printf("%.1f MB, ", (double)about.st_size / 1e6);
    printf("%d of %d frames%s%s\n", written, x->total, x->note[0] ? ": " : "", x->note);
}

/* Creates an empty file with an unused name beside the page. The caller removes the file and releases *path. */
static TalusStatus make_temporary(const Export *x, char **path)
{
    TALUS_TRY(talus_path_format(path, "%s.frames-XXXXXX", x->options->output));
    int fd = mkstemp(*path);
    if (fd >= 0) {
        close(fd);
        return TALUS_OK;
    }
    TalusStatus status = talus_fail_file(x->options->output, TALUS_ERR_IO,
                                         "cannot create a file beside it: %s", strerror(errno));
    talus_release(*path);
    return status;
}

/* Writes the page with every n-th chosen frame, by way of a temporary frames file, and prints what was written. */
static TalusStatus write_thinned_page(Export *x)
{
    char *path;
    uint64_t bytes;
    int n = 1;
    TALUS_TRY(make_temporary(x, &path));
    TalusStatus status = write_fitting_frames(x, path, &bytes, &n);
    int written = (x->count - 1) / n + 1 + ((x->count - 1) % n > 0);
    if (status == TALUS_OK && n > 1)
        add_note(x, "every %d%s frame%s, to stay within %g MB", n, get_ordinal_suffix(n),
                 (x->count - 1) % n > 0 ? " and the last" : "", x->options->limit);
    TALUS_THEN(status, viewer_page_write(x->options->output, &x->page, path, bytes));
    if (status == TALUS_OK)
        print_written(x, written);
    unlink(path);
    talus_release(path);
    return status;
}

/* Writes the page: with the frames file as it is if all frames are chosen and fit, else thinned. */
static TalusStatus write_page(Export *x, const RunLocation *location)
{
    TALUS_TRY(talus_path_format(&x->path, "%s/%s", location->dir, location->name));
    TALUS_TRY(talus_frames_open(x->path, &x->frames));
    x->total = talus_frames_count(x->frames);
    TALUS_TRY(export_choose_frames(x->frames, x->path, &x->options->range, &x->chosen, &x->count));
    TALUS_TRY(read_steps(x, location));
    describe_page(x, location);
    note_range(x);
    TALUS_TRY(measure_run_json(x));
    /* A frames file of an earlier version is converted: version 1 lacks the triangles by which the page draws shapes,
     * and versions 1 and 2 name bodies by slots. */
    if (x->count < x->total || talus_frames_version(x->frames) < TALUS_FRAMES_VERSION ||
        viewer_page_size(x->base_bytes, get_frames_end(x)) > get_limit_bytes(x))
        return write_thinned_page(x);
    TALUS_TRY(viewer_page_write(x->options->output, &x->page, x->path, get_frames_end(x)));
    print_written(x, x->total);
    return TALUS_OK;
}

/* Writes the page, then closes files and releases memory. Returns the exit code. */
static int export_page(const RunLocation *location, const Options *o)
{
    Export x = {.options = o, .steps_fd = -1};
    TalusStatus status = write_page(&x, location);
    talus_frames_close(x.frames);
    TALUS_RELEASE(x.chosen, x.path);
    steps_clear(&x.steps);
    if (x.steps_fd >= 0)
        close(x.steps_fd);
    return status == TALUS_OK ? CLI_OK : cli_fail_library();
}

/* ---- the command ---- */

/* Checks the options; among others, that the output is named like a page, so that no file of the run is overwritten.
 * Returns the exit code. */
static int check_options(const Options *o)
{
    if (!o->output)
        return cli_fail_usage(&cli_export, "expected -o FILE");
    if (!o->to && !cli_ends_with(o->output, ".html") && !cli_ends_with(o->output, ".htm"))
        return cli_fail_usage(&cli_export,
                              "-o %s: expected a name that ends in .html; --to KIND writes others",
                              o->output);
    if (o->to && !isnan(o->limit))
        return cli_fail_usage(&cli_export, "--limit: is for pages, and --to writes none");
    if (o->limit == 0.0)
        return cli_fail_usage(&cli_export, "--limit 0: expected a number above 0");
    return CLI_OK;
}

static int export_main(const CliList *operands)
{
    Options *o = &options;
    RunLocation location;
    int code = check_options(o);
    if (code != CLI_OK)
        return code;
    if (run_location_find(operands->item[0], &location) != TALUS_OK)
        return cli_fail_library();
    if (o->to) {
        code = export_convert_run(&cli_export, &location, o->to, o->output, &o->range);
    } else {
        o->limit = isnan(o->limit) ? LIMIT_DEFAULT : o->limit;
        code = export_page(&location, o);
    }
    run_location_clear(&location);
    return code;
}

const CliCommand cli_export = {
    .name = "export",
    .summary = "Makes one page of a run to mail or publish, or files for other programs.",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "The page holds frames, plots and the viewer, and opens in any browser without a server.\n"
        "It takes 64 MB at most unless --limit says otherwise; where all frames do not fit, every\n"
        "n-th is kept, and the page says so. DIR may be a frames file.\n",
    CLI_OPTIONS(option_table),
    .main = export_main};
