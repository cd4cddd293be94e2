/* cli/commands/info_run.c - talus info of a run's directory, its frames and its checkpoints. */
#include "cli/run/dir.h"
#include "info.h"

#include "io/run/checkpoint.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- frames ---- */

/* Prints the smallest and largest number of bodies in a frame. */
static void print_bodies(const TalusFrames *frames)
{
    int count = talus_frames_count(frames);
    int64_t low = talus_frames_info(frames, 0).bodies, high = low;
    for (int i = 1; i < count; i++) {
        const int64_t bodies = talus_frames_info(frames, i).bodies;
        low = bodies < low ? bodies : low;
        high = bodies > high ? bodies : high;
    }
    if (low == high)
        info_print_fact("bodies", "%lld", (long long)high);
    else
        info_print_fact("bodies", "%lld to %lld", (long long)low, (long long)high);
}

/* Prints number, times, bodies and bytes of the frames. */
static void print_frames_summary(const TalusFrames *frames)
{
    int count = talus_frames_count(frames);
    double bytes = 0.0;
    info_print_fact("frames", "%d", count);
    if (count == 0)
        return;
    TalusFrameInfo first = talus_frames_info(frames, 0);
    TalusFrameInfo last = talus_frames_info(frames, count - 1);
    info_print_fact("times", "%g s to %g s, step %" PRId64 " to %" PRId64, first.time, last.time,
                    first.step, last.step);
    print_bodies(frames);
    for (int i = 0; i < count; i++)
        bytes += (double)talus_frames_info(frames, i).size;
    info_print_fact("bytes", "%.0f, %.0f per frame", bytes, bytes / count);
}

static void print_period(const TalusPeriod *period)
{
    const double *lo = &period->lo.x, *hi = &period->hi.x;
    for (int k = 0; k < 3; k++)
        if (period->on[k])
            info_print_fact("period", "%c from %g to %g m", "xyz"[k], lo[k], hi[k]);
}

/* Prints period and detail of the last frame; `titled`: also title and scene. */
static void print_last_head(TalusFrames *frames, bool titled)
{
    int count = talus_frames_count(frames);
    const TalusFramesHead *head = count > 0 ? talus_frames_head(frames, count - 1) : NULL;
    if (!head)
        return;
    if (titled) {
        info_print_line("title", head->title);
        info_print_line("scene", head->scene);
    }
    print_period(&head->period);
    info_print_fact("detail", "%s, positions to %.3g m", head->lean ? "lean" : "full",
                    head->quantum);
}

int info_print_frames(const char *path, bool alone)
{
    TalusFrames *frames;
    if (talus_frames_open(path, &frames) != TALUS_OK)
        return cli_fail_library();
    if (alone)
        printf("%s: frames\n", path);
    print_frames_summary(frames);
    print_last_head(frames, alone);
    info_print_fact("complete", "%s",
                    talus_frames_complete(frames) ? "yes" : "no: its writer has not finished");
    talus_frames_close(frames);
    return CLI_OK;
}

/* ---- the directory ---- */

/* Prints title, scene, state, speed and overlaps from run.json. */
static void print_state(const char *dir)
{
    RunState state;
    if (!run_state_read(AT_FDCWD, dir, &state)) {
        info_print_fact("state", "%s", state.state);
        info_print_line("", state.message);
        return;
    }
    info_print_line("title", state.title);
    info_print_line("scene", state.scene);
    info_print_fact("state", "%s at t = %g s, step %" PRId64 ", to t = %g s", state.state,
                    state.time, state.step, state.until);
    if (state.alive)
        info_print_fact("speed", "%.1f steps/s", state.steps_per_second);
    if (state.overlap_mean > 0.0)
        info_print_fact("overlap",
                        "mean %.2e, 99th percentile %.2e, largest %.2e over size; kappa %.2g",
                        state.overlap_mean, state.overlap_p99, state.overlap_max, state.kappa);
    info_print_line("", state.message);
}

static bool has_file(const char *dir, const char *name)
{
    char path[CLI_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* Prints the lines "key value" of a checkpoint's note; changes the text. */
static void print_note(char *note)
{
    char *rest;
    for (char *line = strtok_r(note, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        info_print_fact(line, "%s", value ? value : "");
    }
}

int info_print_checkpoint(const char *path)
{
    TalusCheckpointInfo info;
    if (talus_checkpoint_inspect(path, &info) != TALUS_OK)
        return cli_fail_library();
    printf("%s: checkpoint, sound\n", path);
    info_print_fact("number", "%" PRIu64, info.sequence);
    info_print_fact("time", "%g s, step %" PRId64, info.time, info.steps);
    info_print_fact("state", "%zu bytes", info.world_size);
    print_note(info.note);
    talus_free(info.note);
    return CLI_OK;
}

/* Describes the checkpoint `name` if the directory has one; returns false if it cannot be read. */
static bool print_checkpoint(const char *dir, const char *name)
{
    char path[CLI_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return !has_file(dir, name) || info_print_checkpoint(path) == CLI_OK;
}

bool info_print_run(const char *dir, int *code)
{
    char path[CLI_PATH_MAX];
    int64_t rows = run_table_count_rows(dir, "steps.csv");
    if (rows < 0 && !has_file(dir, "frames.talus"))
        return false;
    printf("%s: run\n", dir);
    print_state(dir);
    info_print_fact("steps", "%" PRId64 " rows in steps.csv", rows > 0 ? rows : 0);
    snprintf(path, sizeof path, "%s/frames.talus", dir);
    bool frames = !has_file(dir, "frames.talus") || info_print_frames(path, false) == CLI_OK;
    bool a = print_checkpoint(dir, TALUS_CHECKPOINT_A);
    bool b = print_checkpoint(dir, TALUS_CHECKPOINT_B);
    *code = frames && a && b ? CLI_OK : CLI_FAILED;
    return true;
}
