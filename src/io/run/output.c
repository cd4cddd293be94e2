/* io/run/output.c - the output directory of a run: frames in all requested formats, and tables.
 *
 * All output depends on the state only, and every file can be truncated to the time of a checkpoint. So a run that was
 * stopped and resumed leaves the same files as an uninterrupted one, except for columns of measured seconds. The
 * directory stays open by its descriptor: nothing is written into another directory that gets its name, and its removal
 * is noticed. A checkpoint lists every file with length and checksum; a resumed run first compares its files with this
 * list. */
#include "base/memory.h"
#include "io/formats/formats.h"
#include "io/frames/frames.h"
#include "io/run/checkpoint.h"
#include "io/run/compare.h"
#include "io/run/field_probes.h"
#include "io/text/csv.h"
#include "io/text/text.h"
#include "world/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <talus/io.h>
#include <talus/joint.h>

#define FRAMES_NAME "frames.talus"

/* Tables of a run. The table of probes exists only if the run has probes of forces, that of flows only if it has planes or
 * sinks, that of joints only if it has joints, that of the cell only if it deforms, that of ranks only if it has been on
 * several. */
enum { STEPS, PROBES, FLOWS, JOINTS, CELL, RANKS, TABLES };
static const struct {
    const char *name, *header;
} tables[TABLES] = {
    [STEPS] =
        {"steps.csv",
         "time,step,bodies,contacts,solver,iterations,products,factorisations,outcome,missed,"
         "halvings,projection_fallbacks,residual_rms,residual_max,reference_speed,tolerance,"
         "penetration_mean,penetration_max,loaded,overlap_mean,overlap_p99,overlap_max,kappa,"
         "kinetic,potential,elastic,"
         "kinetic_change,potential_change,elastic_change,friction,impact,stabilisation,stiffening,"
         "cohesion,gravity_error,spin,"
         "joints,driven,applied,cell,projection,exchange,imbalance,asleep,sleep_speed,"
         "impacts,impact_rounds,impacts_inexact,"
         "detect_seconds,build_seconds,solve_seconds,integrate_seconds\n"},
    [PROBES] =
        {"probes.csv",
         "time,step,probe,force_x,force_y,force_z,torque_x,torque_y,torque_z,contacts,bodies,mass,"
         "momentum_x,momentum_y,momentum_z\n"},
    [FLOWS] = {"flows.csv", "time,step,flow,kind,bodies,mass,total_bodies,total_mass\n"},
    [JOINTS] =
        {"joints.csv",
         "time,step,joint,coordinate,speed,force_x,force_y,force_z,torque_x,torque_y,torque_z,effort,"
         "error\n"},
    [CELL] = {"cell.csv",
              "time,step,length_x,length_y,length_z,tilt,rate_xx,rate_yy,rate_zz,rate_xy,"
              "strain_x,strain_y,strain_z,shear,"
              "contact_stress_xx,contact_stress_yy,contact_stress_zz,contact_stress_xy,"
              "contact_stress_xz,contact_stress_yz,"
              "kinetic_stress_xx,kinetic_stress_yy,kinetic_stress_zz,kinetic_stress_xy,"
              "kinetic_stress_xz,kinetic_stress_yz,work,total_work\n"},
    [RANKS] = {"ranks.csv", "time,step,rank,first,last\n"},
};

const char *talus_output_columns(const char *name)
{
    for (int t = 0; t < TABLES; t++)
        if (strcmp(tables[t].name, name) == 0)
            return tables[t].header;
    return NULL;
}

enum { ROW_BYTES = 2048 }; /* maximum size of a row of a table, with its NUL */

struct TalusOutput {
    TalusDir dir;
    TalusManifest files;   /* files written so far */
    TalusManifest resumed; /* list of the resumed checkpoint; empty if there is none */
    TalusHeadStore names;  /* title, scene and entries */
    TalusFramesDef about;  /* of `names`, for heads */
    TalusGrowing table[TABLES];
    TalusFramesWriter *frames;  /* writer of frames.talus, for the viewer */
    TalusFormatWriter **format; /* one per format */
    int format_count;
    TalusFieldProbes *probes; /* of fields; NULL: none */
    unsigned fields;          /* TalusSnapshotField bits that any of the formats needs */
    TalusJointState *joint;   /* states of all joints, work space of the table joints.csv */
    TalusSnapshot snapshot;   /* of the last frame; memory is reused */
    TalusOwnedBlocks *owned;  /* [owned_count]: what the last rows of ranks.csv say */
    int64_t owned_count;
};

/* Names of the files that every run may have; formats add others. */
static const char *const own_names[] =
    {
        TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B, FRAMES_NAME,  "steps.csv",
        "probes.csv",       "flows.csv",        "joints.csv", "cell.csv",
        "ranks.csv",        "profile.html",     "fields.csv"}; /* what `talus measure` has made of the earlier run, and the viewer shows */
enum { OWN_NAMES = sizeof own_names / sizeof *own_names };

/* ---- files of an earlier run ---- */

/* Fails if something that is no regular file has one of own_names. Called before anything is removed or truncated. */
static TalusStatus check_own_names(const TalusDir *dir)
{
    for (int i = 0; i < OWN_NAMES; i++)
        TALUS_TRY(talus_dir_expect_file(dir, own_names[i]));
    return TALUS_OK;
}

/* Removes the files of an earlier run, its checkpoints among them: otherwise a resume could continue that run. */
static TalusStatus remove_old_run(TalusDir *dir)
{
    for (int i = 0; i < OWN_NAMES; i++)
        TALUS_TRY(talus_dir_remove_file(dir, own_names[i]));
    TALUS_TRY(talus_field_probes_remove(dir));
    return talus_format_remove_all(dir);
}

/* ---- opening ---- */

/* Creates table i with its header. */
static TalusStatus create_table(TalusOutput *output, int i)
{
    return talus_csv_create(&output->dir, tables[i].name, tables[i].header, &output->table[i]);
}

/* Creates the table of steps or, to resume, opens all tables that exist, truncated to `time`. */
static TalusStatus open_tables(TalusOutput *output, bool resume, double time)
{
    TalusDir *dir = &output->dir;
    if (!resume)
        return create_table(output, STEPS);
    for (int i = 0; i < TABLES; i++)
        if (i == STEPS || talus_dir_has_name(dir, tables[i].name))
            TALUS_TRY(
                talus_csv_resume(dir, tables[i].name, tables[i].header, time, &output->table[i]));
    return TALUS_OK;
}

/* True if frames.talus is as the resumed checkpoint lists it and has no frame. Then the run that wrote the checkpoint
 * had itself been resumed without frames.talus, had started a new file and ended before a frame was due. */
static bool has_no_frame_yet(const TalusOutput *output)
{
    TalusFrames *frames;
    char *path;
    bool empty = false;
    if (!talus_manifest_find_unchanged(&output->resumed, FRAMES_NAME) ||
        talus_path_format(&path, "%s/" FRAMES_NAME, output->dir.path) != TALUS_OK)
        return false;
    if (talus_frames_open(path, &frames) == TALUS_OK) {
        empty = talus_frames_count(frames) == 0;
        talus_frames_close(frames);
    }
    talus_release(path);
    return empty;
}

/* Creates frames.talus or, to resume, opens it, truncated to def->time. If the file of a resumed run is missing or has
 * no frame, starts a new file and logs the warning "output.gap". */
static TalusStatus open_frames_file(TalusOutput *output, const TalusOutputDef *def)
{
    TalusDir *dir = &output->dir;
    bool there = talus_dir_has_name(dir, FRAMES_NAME);
    if (def->resume && there && has_no_frame_yet(output)) {
        TALUS_TRY(talus_dir_remove_file(dir, FRAMES_NAME));
        there = false;
    }
    if (def->resume && !there)
        talus_log(TALUS_LOG_WARNING, "output.gap",
                  "%s/" FRAMES_NAME ": frames up to time %g are missing", dir->path, def->time);
    return def->resume && there
               ? talus_frames_resume_in(dir, FRAMES_NAME, def->time, &output->frames)
               : talus_frames_create_in(dir, FRAMES_NAME, &output->about, &output->frames);
}

static bool is_exact(const char *kind)
{
    return strcmp(kind, TALUS_FRAMES_EXACT) == 0;
}

static bool asks_for_exact(const TalusOutputDef *def)
{
    for (int i = 0; i < def->kind_count; i++)
        if (is_exact(def->kinds[i]))
            return true;
    return false;
}

/* Opens the writers of all requested formats and collects the fields that they need. */
static TalusStatus open_formats(TalusOutput *output, const TalusOutputDef *def)
{
    TALUS_TRY(TALUS_ALLOC(output->format, (size_t)def->kind_count, "writers of frames"));
    for (int i = 0; i < def->kind_count; i++) {
        TalusFormatWriter **writer = &output->format[output->format_count];
        if (is_exact(def->kinds[i]))
            continue;
        TALUS_TRY(
            talus_format_open_in(def->kinds[i], &output->dir, def->resume, def->time, writer));
        output->fields |= talus_format_fields(*writer);
        output->format_count++;
    }
    return TALUS_OK;
}

/* Reads the list of the checkpoint at def->time into output->resumed, if the directory has that checkpoint, and
 * compares the files with the list. Called before anything is truncated. */
static TalusStatus compare_with_checkpoint(TalusOutput *output, const TalusOutputDef *def)
{
    bool found;
    TALUS_TRY(talus_checkpoint_read_files(&output->dir, def->time, &found, &output->resumed));
    if (!found)
        return TALUS_OK;
    output->dir.resumed = &output->resumed;
    return talus_compare_files(&output->dir, &output->resumed, def->time, def->accept_changes);
}

/* Opens the directory, records files created in it in output->files, and checks the names of the run's own files. */
static TalusStatus open_dir(TalusOutput *output, const char *path)
{
    TALUS_TRY(talus_dir_open(path, &output->dir));
    output->dir.files = &output->files;
    return check_own_names(&output->dir);
}

/* Copies what heads of frames get from `def`. */
static TalusStatus copy_names(TalusOutput *output, const TalusOutputDef *def)
{
    const TalusFramesHead *names = &output->names.head;
    const TalusFramesHead given = {.title = def->title,
                                   .scene = def->scene,
                                   .entries = def->entries,
                                   .entry_count = def->entry_count};
    TALUS_TRY(talus_frames_head_copy(&given, &output->names));
    output->about = (TalusFramesDef){.title = names->title,
                                     .scene = names->scene,
                                     .entries = names->entries,
                                     .entry_count = names->entry_count,
                                     .exact = asks_for_exact(def)};
    return TALUS_OK;
}

/* Opens directory, frames, formats and tables; compares the files first to resume, else removes those of an earlier
 * run. */
static TalusStatus open_all(TalusOutput *output, const char *path, const TalusOutputDef *def)
{
    TALUS_TRY(copy_names(output, def));
    TALUS_TRY(open_dir(output, path));
    TALUS_TRY(def->resume ? compare_with_checkpoint(output, def) : remove_old_run(&output->dir));
    if (def->resume) /* the profile is of the earlier part alone */
        TALUS_TRY(talus_dir_remove_file(&output->dir, "profile.html"));
    TALUS_TRY(open_frames_file(output, def));
    TALUS_TRY(open_formats(output, def));
    TALUS_TRY(talus_field_probes_open(&output->dir, def->fields, def->field_count, def->resume,
                                      def->time, &output->probes));
    return open_tables(output, def->resume, def->time);
}

TalusStatus talus_output_open(const char *dir, const TalusOutputDef *def, TalusOutput **out)
{
    TalusOutput *output;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(output, 1, "output"));
    TalusStatus status = open_all(output, dir, def);
    if (status != TALUS_OK) {
        TalusError why = *talus_error_record();
        talus_output_abandon(output);
        talus_error_restore(&why);
        return status;
    }
    *out = output;
    return TALUS_OK;
}

/* ---- closing ---- */

/* Closes the writers of all formats; returns the first failure. */
static TalusStatus close_formats(TalusOutput *output)
{
    TalusStatus status = TALUS_OK;
    TalusError why;
    for (int i = 0; i < output->format_count; i++) {
        TalusStatus closed = talus_format_close(output->format[i]);
        if (closed == TALUS_OK || status != TALUS_OK)
            continue;
        status = closed;
        why = *talus_error_record();
    }
    output->format_count = 0;
    if (status != TALUS_OK)
        talus_error_restore(&why);
    return status;
}

void talus_output_abandon(TalusOutput *output)
{
    if (!output)
        return;
    talus_frames_abandon(output->frames);
    (void)close_formats(output);
    talus_field_probes_close(output->probes);
    for (int i = 0; i < TABLES; i++)
        talus_growing_close(&output->table[i]);
    talus_snapshot_free(&output->snapshot);
    TALUS_RELEASE(output->format, output->joint, output->owned);
    talus_frames_head_clear(&output->names);
    talus_manifest_clear(&output->files);
    talus_manifest_clear(&output->resumed);
    talus_dir_close(&output->dir);
    talus_release(output);
}

TalusStatus talus_output_close(TalusOutput *output)
{
    if (!output)
        return TALUS_OK;
    TalusStatus status = close_formats(output);
    TALUS_THEN(status, talus_output_check(output));
    if (status == TALUS_OK) {
        status = talus_frames_finish(output->frames);
        output->frames = NULL;
    }
    talus_output_abandon(output);
    return status;
}

/* ---- sync ---- */

/* Writes all files and the directory through to disk. */
static TalusStatus sync_files(TalusOutput *output)
{
    for (int i = 0; i < output->format_count; i++)
        TALUS_TRY(talus_format_sync(output->format[i]));
    TALUS_TRY(talus_frames_sync(output->frames));
    TALUS_TRY(talus_field_probes_sync(output->probes));
    for (int i = 0; i < TABLES; i++)
        TALUS_TRY(talus_growing_sync(&output->table[i]));
    return talus_dir_sync(&output->dir); /* which has the names of the files */
}

TalusStatus talus_output_check(const TalusOutput *output)
{
    TALUS_TRY(talus_dir_check(&output->dir));
    TALUS_TRY(talus_frames_check(output->frames));
    TALUS_TRY(talus_field_probes_verify(output->probes));
    for (int i = 0; i < TABLES; i++)
        TALUS_TRY(talus_growing_check(&output->table[i]));
    return TALUS_OK;
}

TalusStatus talus_output_sync(TalusOutput *output)
{
    TALUS_TRY(talus_output_check(output));
    return sync_files(output);
}

/* output NULL: this rank is not the first. */
static TalusStatus write_checkpoint(TalusOutput *output, const TalusWorld *world, const char *note)
{
    return talus_checkpoint_write_in(output ? &output->dir : NULL, world, note,
                                     output ? &output->files : NULL);
}

TalusStatus talus_output_checkpoint(TalusOutput *output, const TalusWorld *world, const char *note)
{
    TALUS_TRY(talus_comm_agree(world->ranks.comm, output ? talus_output_sync(output) : TALUS_OK));
    return write_checkpoint(output, world, note);
}

/* Finds where the directory is now, and syncs what was written there. */
static TalusStatus prepare_rescue(TalusOutput *output, char *path, size_t size)
{
    talus_dir_path_now(&output->dir, path, size);
    if (!path[0])
        return talus_fail_file(output->dir.path, TALUS_ERR_IO,
                               "nothing leads to the directory any more");
    (void)sync_files(output); /* a failure is ignored: the next resume reports what is missing */
    return TALUS_OK;
}

TalusStatus talus_output_rescue(TalusOutput *output, const TalusWorld *world, const char *note,
                                char *path, size_t size)
{
    TalusComm *comm = world ? world->ranks.comm : NULL;
    TALUS_TRY(talus_comm_agree(comm, output ? prepare_rescue(output, path, size) : TALUS_OK));
    return world ? write_checkpoint(output, world, note) : TALUS_OK;
}

/* ---- frames ---- */

/* Returns the TalusSnapshotField bits that frames.talus needs. */
static unsigned frames_file_fields(const TalusOutput *output, const TalusWorld *world)
{
    const TalusFramesHead *head = talus_frames_writer_head(output->frames);
    bool lean = head ? head->lean : talus_world_body_count(world) > TALUS_LEAN_ABOVE;
    if (talus_frames_writes_exact(output->frames))
        return TALUS_EXACT_FIELDS;
    return talus_frame_fields(lean);
}

/* Adds the snapshot to the files of all formats. Their head (shapes, materials and so on) is that of frames.talus,
 * which stays the same after a resume, but with quantum 0: positions are exact, not on a grid. */
static TalusStatus add_to_formats(TalusOutput *output)
{
    TalusFramesHead head = *talus_frames_writer_head(output->frames);
    head.quantum = 0.0;
    for (int i = 0; i < output->format_count; i++)
        TALUS_TRY(talus_format_add_frame(output->format[i], &head, &output->snapshot));
    return TALUS_OK;
}

/* Writes the snapshot to frames.talus and to the files of all formats. */
static TalusStatus write_snapshot(TalusOutput *output, const TalusWorld *world)
{
    TalusHeadStore head = {0};
    TalusStatus status = talus_frames_head_of_world(world, &output->about, NULL, &head);
    TALUS_THEN(status, talus_frames_add_snapshot(output->frames, &head.head, &output->snapshot));
    talus_frames_head_clear(&head);
    return status == TALUS_OK ? add_to_formats(output) : status;
}

/* Appends the rows of all owned blocks by one write, so that a reader sees all or none. */
static TalusStatus write_owners(TalusOutput *output, const TalusWorld *world,
                                const TalusOwnedBlocks *owned, int64_t count)
{
    const double time = talus_world_time(world);
    TalusText rows = {0};
    for (int64_t k = 0; k < count; k++) {
        const uint64_t first = owned[k].first * BODY_GRAIN + 1;
        talus_text_print(&rows, "%.17g,%lld,%lld,%llu,%llu\n", time,
                         (long long)talus_world_steps(world), (long long)owned[k].rank,
                         (unsigned long long)first,
                         (unsigned long long)(first + owned[k].count * BODY_GRAIN - 1));
    }
    TalusStatus status = rows.status;
    if (status == TALUS_OK && !output->table[RANKS].open)
        status = create_table(output, RANKS);
    TALUS_THEN(status, talus_growing_append(&output->table[RANKS], rows.bytes, rows.size));
    talus_release(rows.bytes);
    return status;
}

/* Appends to ranks.csv which rank owns which bodies, unless the last rows say the same. Nothing of a world on one rank, unless
 * its directory has the table from ranks before. */
static TalusStatus update_owners(TalusOutput *output, const TalusWorld *world)
{
    TalusOwnedBlocks *owned;
    int64_t count;
    if (!talus_world_is_dealt(world) && !output->table[RANKS].open)
        return TALUS_OK;
    TALUS_TRY(talus_ranks_gather_owners(world, &owned, &count));
    const size_t bytes = (size_t)count * sizeof *owned;
    if (!output || (count == output->owned_count &&
                    (count == 0 || memcmp(owned, output->owned, bytes) == 0))) {
        talus_release(owned);
        return TALUS_OK;
    }
    talus_release(output->owned);
    output->owned = owned;
    output->owned_count = count;
    return write_owners(output, world, owned, count);
}

/* Writes frames.talus of a world on several ranks without a rank that has all bodies. */
static TalusStatus write_parts(TalusOutput *output, const TalusWorld *world)
{
    return talus_frames_add_from_ranks(output ? output->frames : NULL,
                                       output ? &output->about : NULL, world);
}

TalusStatus talus_output_frame(TalusOutput *output, const TalusWorld *world)
{
    TalusComm *comm = world->ranks.comm;
    TalusSnapshot none = {0};
    /* before the frame, so that whoever reads it finds its ranks */
    TALUS_TRY(talus_comm_agree(comm, update_owners(output, world)));
    const bool parts = output && talus_world_is_dealt(world) && output->format_count == 0 &&
                       talus_frames_has_parts(output->frames, world);
    if (talus_comm_any(comm, parts))
        return write_parts(output, world);
    double fields = output ? output->fields | frames_file_fields(output, world) : 0;
    fields = talus_comm_share(comm, fields);
    if (!(fields >= 0.0)) /* NaN: a rank has failed */
        return talus_comm_agree(comm, TALUS_OK);
    TALUS_TRY(talus_snapshot_take(output ? &output->snapshot : &none, world, (unsigned)fields));
    return output ? write_snapshot(output, world) : TALUS_OK;
}

/* ---- rows ---- */

static TalusStatus write_row(TalusOutput *output, int table, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* Appends a row to a table; creates the table, with its header, if it is not open yet. */
static TalusStatus write_row(TalusOutput *output, int table, const char *format, ...)
{
    TalusGrowing *file = &output->table[table];
    char row[ROW_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(row, sizeof row, format, args);
    va_end(args);
    if (!file->open)
        TALUS_TRY(create_table(output, table));
    if (length < 0 || length >= ROW_BYTES)
        return talus_fail_file(file->path, TALUS_ERR_ARGUMENT,
                               "a row would be longer than %d bytes", ROW_BYTES);
    return talus_growing_append(file, row, (size_t)length);
}

/* Writes a row of steps.csv. Energies of the ledger are written with all 17 digits, so that their balance can be
 * checked up to rounding. */
static TalusStatus write_step(TalusOutput *output, const TalusStepInfo *info)
{
    const TalusLedger *e = &info->ledger;
    const TalusOverlapSummary *o = &info->overlap;
    const TalusSolveInfo *solve = &info->solve;
    return write_row(
        output, STEPS,
        "%.17g,%lld,%lld,%lld,%s,%d,%d,%d,%s,%d,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,"
        "%lld,%.9g,%.9g,%.9g,%.9g,"
        "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
        "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
        "%lld,%.9g,%lld,%lld,%lld,%.3e,%.3e,%.3e,%.3e\n",
        info->time, (long long)info->step, (long long)info->bodies, (long long)info->contacts,
        solve->solver ? solve->solver : "", solve->iterations, solve->products,
        solve->factorisations, talus_outcome_name(solve->outcome), info->missed, info->halvings,
        info->projection_fallbacks, solve->residual.rms, solve->residual.max, info->reference_speed,
        info->tolerance, info->penetration_mean, info->penetration_max, (long long)o->loaded,
        o->mean, o->p99, o->max, o->kappa, e->kinetic, e->potential, e->elastic, e->kinetic_change,
        e->potential_change, e->elastic_change, e->friction, e->impact, e->stabilisation,
        e->stiffening, e->cohesion, e->gravity_error, e->spin, e->joints, e->driven, e->applied,
        e->cell, e->projection, e->exchange, e->imbalance, (long long)info->asleep,
        info->sleep_speed, (long long)info->impacts.contacts, (long long)info->impacts.rounds,
        (long long)info->impacts.inexact, info->detect_seconds, info->build_seconds,
        info->solve_seconds, info->integrate_seconds);
}

/* Writes a name, given by the user, in quotes, as RFC 4180 requires: quotes in it are doubled. Line feeds become
 * spaces. Cuts the name to fit into `size` bytes. */
static void quote_name(const char *name, char *out, size_t size)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *name && n + 3 < size; name++) {
        if (*name == '"')
            out[n++] = '"';
        out[n++] = *name == '\n' ? ' ' : *name; /* truncation relies on one line per row */
    }
    out[n++] = '"';
    out[n] = '\0';
}

/* Writes a row of probes.csv. */
static TalusStatus write_probe(TalusOutput *output, const TalusWorld *world,
                               const TalusStepInfo *info, int index)
{
    TalusProbeValue v = talus_world_probe_value(world, index);
    char name[256];
    quote_name(talus_world_probe_name(world, index), name, sizeof name);
    return write_row(output, PROBES,
                     "%.17g,%lld,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%lld,%lld,%.9g,%.9g,%.9g,%.9g\n",
                     info->time, (long long)info->step, name, v.force.x, v.force.y, v.force.z,
                     v.torque.x, v.torque.y, v.torque.z, (long long)v.contacts, (long long)v.bodies,
                     v.mass, v.momentum.x, v.momentum.y, v.momentum.z);
}

/* Writes a row of flows.csv; masses with all 17 digits, so that their sum can be checked up to rounding. */
static TalusStatus write_flow(TalusOutput *output, const TalusStepInfo *info, const char *flow,
                              const char *kind, const TalusFlow *f)
{
    char name[256];
    quote_name(flow, name, sizeof name);
    return write_row(output, FLOWS, "%.17g,%lld,%s,%s,%lld,%.17g,%lld,%.17g\n", info->time,
                     (long long)info->step, name, kind, (long long)f->bodies, f->mass,
                     (long long)f->total_bodies, f->total_mass);
}

/* Writes the rows of the planes and sinks. */
static TalusStatus write_flows(TalusOutput *output, const TalusWorld *world,
                               const TalusStepInfo *info)
{
    for (int i = 0; i < talus_world_probe_count(world); i++) {
        if (talus_world_probe_kind(world, i) != TALUS_PROBE_PLANE)
            continue;
        const TalusProbeValue v = talus_world_probe_value(world, i);
        const TalusFlow flow = {v.bodies, v.mass, v.total_bodies, v.total_mass};
        TALUS_TRY(write_flow(output, info, talus_world_probe_name(world, i), "plane", &flow));
    }
    for (int i = 0; i < talus_world_sink_count(world); i++) {
        const TalusFlow flow = talus_world_sink_flow(world, i);
        TALUS_TRY(write_flow(output, info, talus_world_sink_name(world, i), "sink", &flow));
    }
    return TALUS_OK;
}

/* Writes a row of joints.csv. */
static TalusStatus write_joint(TalusOutput *output, const TalusStepInfo *info,
                               const TalusJointState *j)
{
    char name[256];
    quote_name(j->name, name, sizeof name);
    return write_row(
        output, JOINTS, "%.17g,%lld,%s,%.17g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.3e\n",
        info->time, (long long)info->step, name, j->coordinate, j->speed, j->force.x, j->force.y,
        j->force.z, j->torque.x, j->torque.y, j->torque.z, j->effort, j->error);
}

/* Writes a row of cell.csv. */
static TalusStatus write_cell(TalusOutput *output, const TalusStepInfo *info, TalusCellState s)
{
    const TalusVec3 length = talus_sub(s.period.hi, s.period.lo);
    const TalusSym3 *c = &s.contact_stress, *k = &s.kinetic_stress;
    return write_row(output, CELL,
                     "%.17g,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
                     "%.17g,%.17g,%.17g,%.17g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,"
                     "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.17g,%.17g\n",
                     info->time, (long long)info->step, length.x, length.y, length.z, s.period.tilt,
                     s.rate.xx, s.rate.yy, s.rate.zz, s.rate.xy, s.strain[0], s.strain[1],
                     s.strain[2], s.shear, c->xx, c->yy, c->zz, c->xy, c->xz, c->yz, k->xx, k->yy,
                     k->zz, k->xy, k->xz, k->yz, s.work, s.total_work);
}

/* Gets the states of all joints; on several ranks from all of them, also if this one has no memory for them. */
static TalusStatus get_joints(TalusOutput *output, const TalusWorld *world, int *count)
{
    *count = output ? talus_world_joint_count(world) : 0;
    const TalusStatus status =
        output ? TALUS_GROW(output->joint, (size_t)*count, 0, "joints") : TALUS_OK;
    if (status != TALUS_OK)
        *count = 0;
    talus_world_get_joints(world, *count > 0 ? output->joint : NULL, *count);
    return status;
}

/* Measures the snapshot for the probes of fields that are due. */
static TalusStatus write_fields(TalusOutput *output, const TalusWorld *world)
{
    TalusHeadStore head = {0};
    TalusStatus status = talus_frames_head_of_world(world, &output->about, NULL, &head);
    TALUS_THEN(status,
               talus_field_probes_add(output->probes, &head.head, &output->snapshot, world->pool));
    talus_frames_head_clear(&head);
    return status;
}

/* Appends to the tables of fields what is due. All ranks take part in the snapshot, and rank 0 alone knows of the probes. */
static TalusStatus measure_fields(TalusOutput *output, const TalusWorld *world,
                                  const TalusStepInfo *info)
{
    TalusComm *comm = world->ranks.comm;
    TalusSnapshot none = {0};
    const bool due = output && talus_field_probes_due(output->probes, info->time);
    double fields = due ? talus_field_probes_fields(output->probes) : 0;
    if (comm)
        fields = talus_comm_share(comm, fields);
    if (!(fields >= 0.0)) /* NaN: a rank has failed */
        return talus_comm_agree(comm, TALUS_OK);
    if (fields == 0.0)
        return TALUS_OK;
    TALUS_TRY(talus_snapshot_take(output ? &output->snapshot : &none, world, (unsigned)fields));
    return output ? write_fields(output, world) : TALUS_OK;
}

/* Writes the rows of steps.csv, probes.csv and joints.csv. */
static TalusStatus write_rows(TalusOutput *output, const TalusWorld *world,
                              const TalusStepInfo *info, int joints)
{
    TALUS_TRY(write_step(output, info));
    for (int i = 0; i < talus_world_probe_count(world); i++)
        if (talus_world_probe_kind(world, i) != TALUS_PROBE_PLANE)
            TALUS_TRY(write_probe(output, world, info, i));
    TALUS_TRY(write_flows(output, world, info));
    for (int i = 0; i < joints; i++)
        TALUS_TRY(write_joint(output, info, &output->joint[i]));
    if (talus_world_cell_deforms(world))
        TALUS_TRY(write_cell(output, info, talus_world_cell(world)));
    return TALUS_OK;
}

TalusStatus talus_output_step(TalusOutput *output, const TalusWorld *world,
                              const TalusStepInfo *info)
{
    int joints;
    TalusStatus status = get_joints(output, world, &joints);
    if (output)
        TALUS_THEN(status, write_rows(output, world, info, joints));
    const TalusStatus measured = measure_fields(output, world, info);
    return status == TALUS_OK ? measured : status;
}
