/* talus/io.h - scenes, output directories, checkpoints, problem files and surfaces. */
#ifndef TALUS_IO_H
#define TALUS_IO_H

#include <talus/base.h>
#include <talus/fclib.h>
#include <talus/frames.h>
#include <talus/measure.h>
#include <talus/problem.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Continuum fields in the cells of a box, or bulk figures of the bodies in it, measured as a run goes on: DIR/fields-NAME.csv has
 * the columns and, to the last bit, the numbers of talus measure. */
typedef struct TalusFieldProbe {
    const char *name; /* letters, digits, - and _ */
    TalusQuantity quantity[TALUS_QUANTITIES];
    int quantity_count; /* 0: bulk figures */
    TalusGridDef grid;  /* of bulk figures lo and hi alone; cells must be 1 or more */
    double every;       /* s: a row where a step reaches a multiple; 0: after each step */
    int tag;            /* the bodies that flow; TALUS_ANY_TAG: all that are not fixed */
} TalusFieldProbe;

/* ---- scenes: JSON with comments, see docs/reference/scenes.md and scenes/schema.json ---- */
typedef struct TalusScene TalusScene;

/* Loads a scene. `overrides` are "name=value": a name of the params block or a key path such as "solver.tolerance" or
 * "bodies[1].material". Errors have FILE:LINE:COLUMN, the key path, what was expected and the nearest valid key. */
TALUS_API TalusStatus talus_scene_load(const char *path, const char *const *overrides,
                                       int override_count, TalusScene **out);
TALUS_API TalusStatus talus_scene_parse(const char *text, size_t length, const char *name,
                                        const char *const *overrides, int override_count,
                                        TalusScene **out);
TALUS_API void talus_scene_destroy(TalusScene *scene);

/* Bodies of a scene's world by the entry of `bodies` that they come from; an entry without a name is "bodies[N]". Bodies
 * of `from` come first, under that name. Those that arrive later, from emitters and entries with a `time`, share the last
 * range, named by all these. */
typedef struct TalusSceneEntries {
    TalusFramesEntry *entry;
    int count;
    char *names;
} TalusSceneEntries;

TALUS_API void talus_scene_entries_free(TalusSceneEntries *entries);
/* Sets *first and *last to the bodies of the first range of this name, the name of an entry of `bodies`; fails if there is
 * none. Number 0 of *last: all bodies from the first on. */
TALUS_API TalusStatus talus_scene_entries_find(const TalusSceneEntries *entries, const char *name,
                                               TalusBodyId *first, TalusBodyId *last);

/* Command-line choices that override the scene; NULL or 0 leaves the scene's value. */
typedef struct TalusSceneChoice {
    const char *solver, *backend;
    int threads;        /* -1: one per processor */
    bool allow_overlap; /* ignore `max_overlap`, to inspect a wrong scene */
    /* Ranks that build the world together (talus/comm.h), with the same scene and choice; each keeps its part of the
     * bodies, and no rank ever has all. NULL: this process alone. */
    TalusComm *comm;
    TalusSceneEntries *
        entries; /* set by talus_scene_build on success, for the caller to free; NULL: not wanted */
} TalusSceneChoice;

/* Creates the scene's world. Fails if bodies overlap by more than the scene's `max_overlap`. Other probable mistakes,
 * such as sizes in mm, are logged ("scene.step" and others). */
TALUS_API TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                                        TalusWorld **out);

TALUS_API const char *talus_scene_title(const TalusScene *scene);
TALUS_API double talus_scene_until(const TalusScene *scene); /* seconds to simulate */
TALUS_API double talus_scene_every(const TalusScene *scene); /* seconds between frames */
/* Probes of fields of the scene, for TalusOutputDef; 0 <= index < count; the scene owns the name. */
TALUS_API int talus_scene_field_probe_count(const TalusScene *scene);
TALUS_API TalusFieldProbe talus_scene_field_probe(const TalusScene *scene, int index);
TALUS_API int64_t talus_scene_seed(const TalusScene *scene); /* its key `seed`; 0: none */
TALUS_API int talus_scene_param_count(const TalusScene *scene);
TALUS_API const char *talus_scene_param_name(const TalusScene *scene, int index);
TALUS_API double talus_scene_param_value(const TalusScene *scene, int index);

/* ---- a run's directory: frames, steps.csv, probes.csv, flows.csv, joints.csv, checkpoint-{a,b}; docs/reference/output.md ---- */
typedef struct TalusOutput TalusOutput;

/* Returns the first line of a table of a run, the names of its columns with commas between and a line feed behind; NULL if
 * there is no such table. `name`: "steps.csv", "probes.csv", "joints.csv" or "ranks.csv". */
TALUS_API const char *talus_output_columns(const char *name);

/* A zeroed def starts a run that writes frames.talus and the tables. */
typedef struct TalusOutputDef {
    const char *title, *scene; /* for the frames; NULL: "" */
    const TalusFramesEntry
        *entries; /* copied, for the frames; a resumed run has those of its file */
    int entry_count;
    /* Formats beyond frames.talus: "vtp", "vtkhdf", "lammps", "csv", "bulk"; and "exact": frames.talus has all numbers bit by
     * bit (TalusFramesDef). */
    const char *const *kinds;
    int kind_count;
    bool resume; /* continue in the directory; rows and frames after `time` are dropped */
    double time;
    bool accept_changes; /* resume although files were changed, see below */
    const TalusFieldProbe *fields;
    int field_count;
} TalusOutputDef;

/* Creates the directory, removes an earlier run's files from it, or resumes. The directory stays open: files are
 * written there even if it is renamed. A link, pipe or device in place of a file is refused.
 *
 * Resuming compares the files with the lengths and contents recorded by the checkpoint of that time, if the directory
 * has one. If files are missing or changed, the call fails with TALUS_ERR_FORMAT, names them and changes nothing; with
 * `accept_changes` a warning "output.changed" names them and the run continues. */
TALUS_API TalusStatus talus_output_open(const char *dir, const TalusOutputDef *def,
                                        TalusOutput **out);
/* On several ranks talus_output_frame, talus_output_step, talus_output_checkpoint and talus_output_rescue are called by all
 * of them, by others than rank 0 with output NULL. */
/* Appends a frame of the present state to frames.talus and to the files of all other formats; before, on several ranks, to
 * ranks.csv which rank owns which bodies, if that has changed. */
TALUS_API TalusStatus talus_output_frame(TalusOutput *output, const TalusWorld *world);
/* Appends the rows of a step to steps.csv and, for each probe, plane or sink, and joint, to probes.csv, flows.csv and
 * joints.csv; and to the tables of probes of fields. */
TALUS_API TalusStatus talus_output_step(TalusOutput *output, const TalusWorld *world,
                                        const TalusStepInfo *info);
/* Fails with TALUS_ERR_IO if another program removed, renamed or replaced the directory, frames.talus or a table. */
TALUS_API TalusStatus talus_output_check(const TalusOutput *output);
/* Does talus_output_check and flushes all rows and frames to the disk. */
TALUS_API TalusStatus talus_output_sync(TalusOutput *output);
/* Does talus_output_sync, then writes a checkpoint of the world, which lists all files with their lengths and
 * checksums. */
TALUS_API TalusStatus talus_output_checkpoint(TalusOutput *output, const TalusWorld *world,
                                              const char *note);
/* After a failed check: writes a checkpoint to the open directory, wherever it is now, and the directory's path to
 * path[size]. Fails if the directory was removed; `path` is then "". If `world` is NULL, no checkpoint is written and
 * the last one stays. */
TALUS_API TalusStatus talus_output_rescue(TalusOutput *output, const TalusWorld *world,
                                          const char *note, char *path, size_t size);
/* Completes the files, which can still be resumed. Frees `output` in any case; NULL is allowed. */
TALUS_API TalusStatus talus_output_close(TalusOutput *output);
/* After a failure: frees `output` and leaves the files as a crash would, readable and resumable. NULL is allowed. */
TALUS_API void talus_output_abandon(TalusOutput *output);

/* On several ranks all of them write a checkpoint together; the directory is that of rank 0.
 *
 * Checkpoints alternate between two files, checksummed and written atomically. A run with an output uses
 * talus_output_checkpoint, so that everything up to the checkpoint's time is on the disk. Reading takes the newest
 * intact file and logs "checkpoint.damaged" if the other is damaged. `note` (may be NULL) is stored verbatim; reading
 * allocates *note, which the caller frees with talus_free. */
TALUS_API TalusStatus talus_checkpoint_write(const char *dir, const TalusWorld *world,
                                             const char *note);
TALUS_API TalusStatus talus_checkpoint_read(const char *dir, int threads, const char *backend,
                                            TalusWorld **world,
                                            char **note); /* as talus_world_load */
/* The same on several ranks, which call this together: each gets its part of the world, and the note. Rank 0 reads the
 * files, piece by piece, and no rank ever has all bodies or contacts. */
TALUS_API TalusStatus talus_checkpoint_read_part(const char *dir, TalusComm *comm, int threads,
                                                 const char *backend, TalusWorld **world,
                                                 char **note);

/* ---- one contact problem as a file (docs/reference/problem-file.md) ---- */
TALUS_API TalusStatus talus_problem_write(const char *path, TalusProblem *problem);
TALUS_API TalusStatus talus_problem_read(const char *path, TalusPool *pool, TalusProblem **out);
/* Opens a problem file of either format, with this friction model on all contacts with friction; NULL: the file's
 * model, which is the convex relaxation for FCLIB. *fclib is the content of an FCLIB file, which the caller destroys,
 * else NULL; the problem of an FCLIB file starts from zero impulses even if the file has guesses. */
TALUS_API TalusStatus talus_problem_open(const char *path, const TalusFrictionModel *model,
                                         TalusPool *pool, TalusProblem **out, TalusFclib **fclib);

/* ---- surfaces: STL (binary and text) and OBJ files, see docs/how-to/meshes.md ---- */

/* Triangles over shared vertices, anticlockwise seen from outside if the surface is closed. Repairs are counted here
 * and logged ("surface.repaired"). */
typedef struct TalusSurface {
    TalusVec3 *vertex;
    int vertex_count;
    int32_t *triangle; /* three vertices each */
    int triangle_count;

    TalusVec3 lo, hi; /* bounds */
    double volume;    /* enclosed by the closed parts; 0 if there are none */
    int parts, closed_parts;
    int open_edges;    /* edges of one triangle; none if the surface is closed */
    int crowded_edges; /* edges of more than two triangles */

    int joined;     /* vertices merged with others or used by no remaining triangle */
    int degenerate; /* triangles without area, dropped */
    int duplicate;  /* repeated triangles, dropped */
    int turned;     /* triangles flipped to agree with their neighbours */
    int twisted;    /* non-orientable parts, such as a Moebius strip; left unchanged */
    bool inverted;  /* turned inside out as a whole: the enclosed volume was negative */
} TalusSurface;

/* Reads a surface. Binary STL is recognised by its size, then OBJ by its name, then text STL by its first word; other
 * files by name. Fails with TALUS_ERR_FORMAT and the line or byte
 * for numbers not finite, indices out of range, counts that disagree with the file's length, or no triangle left. */
TALUS_API TalusStatus talus_surface_read(const char *path, TalusSurface *out);
/* Reads a surface from memory; `name` is for messages. */
TALUS_API TalusStatus talus_surface_parse(const char *name, const void *bytes, size_t size,
                                          TalusSurface *out);
TALUS_API void talus_surface_free(TalusSurface *surface);

#ifdef __cplusplus
}
#endif

#endif
