/* cli/commands/render_film.c - films: an animated PNG written here, numbered PNG files, or frames sent to ffmpeg. */
#include "cli/commands/render_film.h"

#include "base/memory.h"
#include "draw/apng.h"
#include "draw/png.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILM_KINDS \
    "FILE.png (animated), FILE.mp4 or FILE.webm (by ffmpeg), or DIR/ for numbered pictures"

/* A film that is being made. */
typedef struct Film {
    const FilmDef *film;
    TalusDrawDef def;
    const char *path; /* of the frames */
    TalusFrames *frames;
    TalusSnapshot snapshot;
    TalusDrawSpan span;
    int *chosen, count;
    double first, last; /* times, s */
    TalusPool *pool;
    TalusApng *apng;
    pid_t ffmpeg; /* its process; 0: none */
    int pipe;     /* to ffmpeg */
} Film;

/* ---- kinds ---- */

static bool is_numbered(const char *output)
{
    return cli_ends_with(output, "/");
}

static bool is_by_ffmpeg(const char *output)
{
    return cli_ends_with(output, ".mp4") || cli_ends_with(output, ".webm");
}

int film_check(const CliCommand *command, const FilmDef *film, const TalusDrawDef *def)
{
    const char *output = film->output;
    if (!is_numbered(output) && !is_by_ffmpeg(output) && !cli_ends_with(output, ".png"))
        return cli_fail_usage(command, "--film %s: expected " FILM_KINDS, output);
    if (!(film->rate >= TALUS_APNG_RATE_MIN && film->rate <= TALUS_APNG_RATE_MAX))
        return cli_fail_usage(command, "--fps %g: expected a number from %g to %g", film->rate,
                              TALUS_APNG_RATE_MIN, TALUS_APNG_RATE_MAX);
    if (is_by_ffmpeg(output) && def->transparent)
        return cli_fail_usage(
            command, "--transparent: %s has no opacity; a .png or numbered pictures have", output);
    if (is_by_ffmpeg(output) && (def->width % 2 || def->height % 2))
        return cli_fail_usage(command, "--size %dx%d: %s needs even numbers of pixels", def->width,
                              def->height, output);
    return CLI_OK;
}

/* ---- ffmpeg ---- */

/* Starts ffmpeg with pipe[0] as its standard input. Returns 0 or an error number. */
static int spawn_ffmpeg(Film *f, int ends[2])
{
    extern char **environ;
    char size[32], rate[32], output[CLI_PATH_MAX];
    snprintf(size, sizeof size, "%dx%d", f->def.width, f->def.height);
    snprintf(rate, sizeof rate, "%.17g", f->film->rate);
    /* a name that begins with "-" would be an option, one with ":" a protocol */
    snprintf(output, sizeof output, "file:%s", f->film->output);
    char *words[] = {"ffmpeg", "-loglevel", "error",   "-y",   "-f", "rawvideo", "-pix_fmt",
                     "rgb24",  "-s",        size,      "-r",   rate, "-i",       "-",
                     "-an",    "-pix_fmt",  "yuv420p", output, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&how, &pipes);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    int error = posix_spawnp(&f->ffmpeg, words[0], &files, &how, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return error;
}

static TalusStatus start_ffmpeg(Film *f)
{
    int ends[2];
    if (pipe(ends) != 0)
        return talus_fail(TALUS_ERR_IO, "ffmpeg: no pipe: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN); /* if ffmpeg ends early, writing fails instead */
    int error = spawn_ffmpeg(f, ends);
    close(ends[0]);
    f->pipe = ends[1];
    if (error == 0)
        return TALUS_OK;
    f->ffmpeg = 0;
    close(ends[1]);
    return talus_fail_file(
        f->film->output, TALUS_ERR_UNSUPPORTED,
        "ffmpeg, which makes such films, cannot be started (%s; Debian: ffmpeg); "
        "a .png film or DIR/ needs no other program",
        strerror(error));
}

/* Ends ffmpeg's input and waits for it. */
static TalusStatus finish_ffmpeg(Film *f)
{
    int status = 0;
    close(f->pipe);
    while (waitpid(f->ffmpeg, &status, 0) < 0 && errno == EINTR)
        continue;
    f->ffmpeg = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return TALUS_OK;
    return talus_fail_file(f->film->output, TALUS_ERR_IO, "ffmpeg failed (%s %d)",
                           WIFEXITED(status) ? "exit code" : "signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static TalusStatus send_image(const Film *f, const TalusImage *image)
{
    size_t size = 3 * (size_t)image->width * (size_t)image->height;
    for (size_t done = 0; done < size;) {
        ssize_t n = write(f->pipe, image->pixel + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return talus_fail_file(f->film->output, TALUS_ERR_IO,
                                   "ffmpeg takes no more frames (%s)", strerror(errno));
        done += (size_t)n;
    }
    return TALUS_OK;
}

/* ---- what is written ---- */

static TalusStatus make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return TALUS_OK;
    return talus_fail_file(path, TALUS_ERR_IO, "cannot be created (%s)", strerror(errno));
}

static TalusStatus open_output(Film *f)
{
    const char *output = f->film->output;
    if (is_numbered(output))
        return make_folder(output);
    if (is_by_ffmpeg(output))
        return start_ffmpeg(f);
    const TalusApngDef def = {.width = f->def.width,
                              .height = f->def.height,
                              .channels = f->def.transparent ? 4 : 3,
                              .frames = f->count,
                              .rate = f->film->rate};
    return talus_apng_create(output, &def, &f->apng);
}

static TalusStatus put_image(Film *f, int k, const TalusImage *image)
{
    char path[CLI_PATH_MAX];
    if (f->apng)
        return talus_apng_add(f->apng, image);
    if (f->ffmpeg)
        return send_image(f, image);
    snprintf(path, sizeof path, "%s%05d.png", f->film->output, k + 1);
    return talus_png_write(path, image);
}

/* Ends what is written; after a failure, removes a film that would be a part only. */
static TalusStatus close_output(Film *f, TalusStatus status)
{
    TalusStatus closed = TALUS_OK;
    if (f->ffmpeg) {
        closed = finish_ffmpeg(f);
        if (status != TALUS_OK || closed != TALUS_OK)
            unlink(f->film->output);
    } else if (f->apng && status == TALUS_OK) {
        closed = talus_apng_finish(f->apng);
    } else {
        talus_apng_abandon(f->apng);
    }
    f->apng = NULL;
    return status == TALUS_OK ? closed : status;
}

/* ---- frames ---- */

static TalusStatus read_frame(Film *f, int k, const TalusFramesHead **head)
{
    TALUS_TRY(talus_frames_read(f->frames, f->chosen[k], &f->snapshot));
    *head = talus_frames_head(f->frames, f->chosen[k]);
    return *head ? TALUS_OK : talus_error_record()->code;
}

static void show_progress(const char *doing, int done, int count)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (done == count)
        fprintf(stderr, "\r\033[K");
    else
        fprintf(stderr, "\r\033[K%s frame %d of %d", doing, done + 1, count);
    fflush(stderr);
}

/* Finds camera and colour scale that suit all frames. */
static TalusStatus measure_frames(Film *f)
{
    for (int k = 0; k < f->count; k++) {
        const TalusFramesHead *head;
        show_progress("reading", k, f->count);
        TALUS_TRY(read_frame(f, k, &head));
        TALUS_TRY(talus_draw_measure(head, &f->snapshot, &f->def, k == 0, &f->span));
    }
    f->def.room = &f->span.room;
    if (isnan(f->def.high) && isfinite(f->span.high)) {
        f->def.low = isnan(f->def.low) ? 0.0 : f->def.low;
        f->def.high = f->span.high;
    }
    return TALUS_OK;
}

static TalusStatus draw_frames(Film *f)
{
    for (int k = 0; k < f->count && cli_stop_signal() == 0; k++) {
        const TalusFramesHead *head;
        TalusImage image;
        show_progress("drawing", k, f->count);
        TALUS_TRY(read_frame(f, k, &head));
        TALUS_TRY(talus_draw(head, &f->snapshot, &f->def, f->pool, &image));
        TalusStatus status = put_image(f, k, &image);
        talus_image_free(&image);
        if (status != TALUS_OK)
            return status;
    }
    if (cli_stop_signal() == 0)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_IO, "stopped by %s; the film has not been made", cli_stop_name());
}

static TalusStatus make_film(Film *f)
{
    TALUS_TRY(talus_frames_open(f->path, &f->frames));
    TALUS_TRY(export_choose_frames(f->frames, f->path, &f->film->range, &f->chosen, &f->count));
    f->first = talus_frames_info(f->frames, f->chosen[0]).time;
    f->last = talus_frames_info(f->frames, f->chosen[f->count - 1]).time;
    TALUS_TRY(talus_pool_create(f->film->threads > 0 ? f->film->threads : 0, &f->pool));
    TALUS_TRY(measure_frames(f));
    TALUS_TRY(open_output(f));
    return close_output(f, draw_frames(f));
}

int film_draw(const char *path, const FilmDef *film, const TalusDrawDef *def)
{
    Film f = {.film = film, .def = *def, .path = path};
    cli_catch_signals();
    TalusStatus status = make_film(&f);
    show_progress("", f.count, f.count);
    if (status == TALUS_OK)
        printf("%s: %d frames of %d x %d pixels, t = %g to %g s, %g a second\n", film->output,
               f.count, def->width, def->height, f.first, f.last, film->rate);
    talus_snapshot_free(&f.snapshot);
    talus_frames_close(f.frames);
    talus_pool_destroy(f.pool);
    talus_release(f.chosen);
    if (status == TALUS_OK)
        return CLI_OK;
    const int code = cli_fail_library();
    return cli_stop_signal() ? 128 + cli_stop_signal() : code;
}
