/* io/output.c - a run's directory: frames, their collection, and the two tables.
 *
 * Everything that is written depends on the state alone, and every file can be cut back to the time
 * of a checkpoint. A run that was stopped and resumed therefore leaves the same files as one that
 * was not, except for the columns of measured seconds. */
#include "base/memory.h"
#include "io/checkpoint.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/vtp.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <talus/io.h>

#define FRAME_NAME "frame-%06d.vtp"
#define STEPS_HEADER                                                                             \
    "time,step,bodies,contacts,solver,iterations,products,outcome,missed,halvings,residual_rms," \
    "residual_max,reference_speed,penetration_mean,penetration_max,kinetic,potential,"           \
    "kinetic_change,potential_change,friction,impact,stabilisation,gravity_error,spin,exchange," \
    "imbalance,detect_seconds,build_seconds,solve_seconds,integrate_seconds\n"
#define PROBES_HEADER                                                                          \
    "time,step,probe,force_x,force_y,force_z,torque_x,torque_y,torque_z,contacts,bodies,mass," \
    "momentum_x,momentum_y,momentum_z\n"

enum { COLLECTION_LIMIT = 1 << 30, ROW_BYTES = 2048 };

struct TalusOutput {
    char *dir;
    TalusCsv steps, probes; /* probes.csv exists only in a run that has probes */
    double *times;          /* of the frames so far */
    size_t capacity;
    int frames;
};

/* ---- the collection: run.pvd ---- */

static TalusStatus add_time(TalusOutput *output, double time)
{
    size_t count = (size_t)output->frames;
    TALUS_TRY(TALUS_RESERVE(output->times, output->capacity, count + 1, count, "frame times"));
    output->times[output->frames++] = time;
    return TALUS_OK;
}

static TalusStatus write_collection(const TalusOutput *output)
{
    char *path;
    TalusFile *file;
    TALUS_TRY(talus_path(&path, "%s/run.pvd", output->dir));
    TalusStatus status = talus_file_create(path, &file);
    talus_release(path);
    if (status != TALUS_OK)
        return status;
    talus_file_print(file,
                     "<?xml version=\"1.0\"?>\n"
                     "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
                     "<Collection>\n");
    for (int i = 0; i < output->frames; i++)
        talus_file_print(
            file, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"frames/" FRAME_NAME "\"/>\n",
            output->times[i], i);
    talus_file_print(file, "</Collection>\n</VTKFile>\n");
    return talus_file_commit(file);
}

/* Takes over the frames up to `limit` from the lines that write_collection wrote. */
static TalusStatus parse_collection(TalusOutput *output, const char *text, double limit)
{
    static const char mark[] = "<DataSet timestep=\"";
    for (const char *p = text; (p = strstr(p, mark)) != NULL;) {
        p += strlen(mark);
        double time = strtod(p, NULL);
        if (!(time <= limit))
            break;
        TALUS_TRY(add_time(output, time));
    }
    return TALUS_OK;
}

static TalusStatus read_collection(TalusOutput *output, double limit)
{
    char *path, *text = NULL;
    size_t size;
    TALUS_TRY(talus_path(&path, "%s/run.pvd", output->dir));
    TalusStatus status = TALUS_OK;
    if (access(path, F_OK) == 0)
        status = talus_read_file(path, COLLECTION_LIMIT, &text, &size);
    if (status == TALUS_OK && text)
        status = parse_collection(output, text, limit);
    talus_release(path);
    talus_release(text);
    return status;
}

/* ---- files of an earlier or longer run ---- */

static TalusStatus remove_file(const char *dir, const char *name)
{
    char *path;
    TALUS_TRY(talus_path(&path, "%s/%s", dir, name));
    TalusStatus status = TALUS_OK;
    if (unlink(path) != 0 && errno != ENOENT)
        status = talus_fail(TALUS_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    talus_release(path);
    return status;
}

/* The number of a frame's file, or -1 for any other name. */
static int frame_number(const char *name)
{
    int number, end = 0;
    if (sscanf(name, "frame-%d.vtp%n", &number, &end) != 1 || end == 0 || name[end] != '\0')
        return -1;
    return number;
}

static TalusStatus remove_frames_from(const char *frames, int first)
{
    DIR *dir = opendir(frames);
    if (!dir)
        return talus_fail(TALUS_ERR_IO, "%s: cannot list: %s", frames, strerror(errno));
    TalusStatus status = TALUS_OK;
    for (struct dirent *entry; status == TALUS_OK && (entry = readdir(dir)) != NULL;)
        if (frame_number(entry->d_name) >= first)
            status = remove_file(frames, entry->d_name);
    closedir(dir);
    return status;
}

/* A run that starts anew must not leave another run's checkpoint behind: it could be resumed. */
static TalusStatus remove_old_run(const char *dir)
{
    static const char *const names[] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B, "run.pvd",
                                        "steps.csv", "probes.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TALUS_TRY(remove_file(dir, names[i]));
    return TALUS_OK;
}

/* ---- opening ---- */

static TalusStatus open_tables(TalusOutput *output, bool resume, double time)
{
    char *steps, *probes;
    TALUS_TRY(talus_path(&steps, "%s/steps.csv", output->dir));
    TalusStatus status = resume ? talus_csv_resume(steps, STEPS_HEADER, time, &output->steps)
                                : talus_csv_create(steps, STEPS_HEADER, &output->steps);
    talus_release(steps);
    if (status != TALUS_OK || !resume)
        return status;
    TALUS_TRY(talus_path(&probes, "%s/probes.csv", output->dir));
    if (access(probes, F_OK) == 0)
        status = talus_csv_resume(probes, PROBES_HEADER, time, &output->probes);
    talus_release(probes);
    return status;
}

static TalusStatus prepare(TalusOutput *output, const char *dir, bool resume, double time)
{
    char *frames;
    TALUS_TRY(talus_path(&output->dir, "%s", dir));
    TALUS_TRY(talus_path(&frames, "%s/frames", dir));
    TalusStatus status = talus_make_directory(frames);
    if (status == TALUS_OK)
        status = resume ? read_collection(output, time) : remove_old_run(dir);
    /* The collection shrinks before its frames go, so that it never names a missing file. */
    if (status == TALUS_OK && resume)
        status = write_collection(output);
    if (status == TALUS_OK)
        status = remove_frames_from(frames, output->frames);
    talus_release(frames);
    return status == TALUS_OK ? open_tables(output, resume, time) : status;
}

TalusStatus talus_output_open(const char *dir, bool resume, double time, TalusOutput **out)
{
    TalusOutput *output;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(output, 1, "output"));
    output->steps.fd = output->probes.fd = -1;
    TalusStatus status = prepare(output, dir, resume, time);
    if (status != TALUS_OK) {
        talus_output_close(output);
        return status;
    }
    *out = output;
    return TALUS_OK;
}

void talus_output_close(TalusOutput *output)
{
    if (!output)
        return;
    talus_csv_close(&output->steps);
    talus_csv_close(&output->probes);
    talus_release(output->dir);
    talus_release(output->times);
    talus_release(output);
}

/* ---- writing ---- */

TalusStatus talus_output_frame(TalusOutput *output, const TalusWorld *world)
{
    char *path;
    TALUS_TRY(talus_path(&path, "%s/frames/" FRAME_NAME, output->dir, output->frames));
    TalusStatus status = talus_vtp_write(path, world);
    talus_release(path);
    if (status != TALUS_OK)
        return status;
    TALUS_TRY(add_time(output, talus_world_time(world)));
    return write_collection(output);
}

static TalusStatus write_row(TalusCsv *csv, const char *row, int length)
{
    if (length < 0 || length >= ROW_BYTES)
        return talus_fail(TALUS_ERR_ARGUMENT, "%s: a row would be longer than %d bytes", csv->path,
                          ROW_BYTES);
    return talus_csv_write(csv, row, (size_t)length);
}

/* The ledger is written in full so that its balance can be checked to rounding. */
static TalusStatus write_step(TalusOutput *output, const TalusStepInfo *info)
{
    const TalusLedger *e = &info->ledger;
    const TalusSolveInfo *solve = &info->solve;
    char row[ROW_BYTES];
    int n = snprintf(
        row, sizeof row,
        "%.17g,%lld,%d,%d,%s,%d,%d,%s,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,"
        "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
        "%.3e,%.3e,%.3e,%.3e\n",
        info->time, (long long)info->step, info->bodies, info->contacts,
        solve->solver ? solve->solver : "", solve->iterations, solve->products,
        talus_outcome_name(solve->outcome), info->missed, info->halvings, solve->residual.rms,
        solve->residual.max, info->reference_speed, info->penetration_mean, info->penetration_max,
        e->kinetic, e->potential, e->kinetic_change, e->potential_change, e->friction, e->impact,
        e->stabilisation, e->gravity_error, e->spin, e->exchange, e->imbalance,
        info->detect_seconds, info->build_seconds, info->solve_seconds, info->integrate_seconds);
    return write_row(&output->steps, row, n);
}

/* A name is the user's text: quoted, with quotes doubled, as RFC 4180 asks. */
static void quote(const char *name, char *out, size_t size)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *name && n + 3 < size; name++) {
        if (*name == '"')
            out[n++] = '"';
        out[n++] = *name == '\n' ? ' ' : *name; /* a row is a line: the cut relies on it */
    }
    out[n++] = '"';
    out[n] = '\0';
}

static TalusStatus write_probe(TalusOutput *output, const TalusWorld *world,
                               const TalusStepInfo *info, int index)
{
    TalusProbeValue v = talus_world_probe_value(world, index);
    char name[256], row[ROW_BYTES];
    quote(talus_world_probe_name(world, index), name, sizeof name);
    int n = snprintf(row, sizeof row,
                     "%.17g,%lld,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d,%d,%.9g,%.9g,%.9g,%.9g\n",
                     info->time, (long long)info->step, name, v.force.x, v.force.y, v.force.z,
                     v.torque.x, v.torque.y, v.torque.z, v.contacts, v.bodies, v.mass, v.momentum.x,
                     v.momentum.y, v.momentum.z);
    return write_row(&output->probes, row, n);
}

static TalusStatus start_probes(TalusOutput *output)
{
    char *path;
    TALUS_TRY(talus_path(&path, "%s/probes.csv", output->dir));
    TalusStatus status = talus_csv_create(path, PROBES_HEADER, &output->probes);
    talus_release(path);
    return status;
}

TalusStatus talus_output_step(TalusOutput *output, const TalusWorld *world,
                              const TalusStepInfo *info)
{
    int probes = talus_world_probe_count(world);
    TALUS_TRY(write_step(output, info));
    if (probes > 0 && output->probes.fd < 0)
        TALUS_TRY(start_probes(output));
    for (int i = 0; i < probes; i++)
        TALUS_TRY(write_probe(output, world, info, i));
    return TALUS_OK;
}
