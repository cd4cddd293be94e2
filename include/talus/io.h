/* talus/io.h - scenes in, frames, tables, checkpoints and problem files out. */
#ifndef TALUS_IO_H
#define TALUS_IO_H

#include <talus/base.h>
#include <talus/fclib.h>
#include <talus/problem.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scenes: JSON with comments, see docs/reference/scenes.md and scenes/schema.json ---- */
typedef struct TalusScene TalusScene;

/* `overrides` are "name=value": a name of the params block or a key path such as
 * "solver.tolerance" or "bodies[1].material". A wrong file fails with FILE:LINE:COLUMN, the key
 * path, what was expected and the nearest valid key. */
TalusStatus talus_scene_load(const char *path, const char *const *overrides, int override_count,
                             TalusScene **out);
TalusStatus talus_scene_parse(const char *text, size_t length, const char *name,
                              const char *const *overrides, int override_count, TalusScene **out);
void talus_scene_destroy(TalusScene *scene);

/* Command-line choices that win over the file: NULL, 0 leave the scene's own. */
typedef struct TalusSceneChoice {
    const char *solver, *backend;
    int threads;        /* -1: one per processor, whatever the scene says */
    bool allow_overlap; /* whatever `max_overlap` says: for a look at a scene that is wrong */
} TalusSceneChoice;

/* Fails where bodies lie deeper in each other than the scene's `max_overlap`. What else looks like a mistake, such as
 * sizes in mm, is told by the log, "scene.step" and the like. */
TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                              TalusWorld **out);

const char *talus_scene_title(const TalusScene *scene);
double talus_scene_until(const TalusScene *scene); /* seconds to simulate */
double talus_scene_every(const TalusScene *scene); /* seconds between frames */
int talus_scene_param_count(const TalusScene *scene);
const char *talus_scene_param_name(const TalusScene *scene, int index);
double talus_scene_param_value(const TalusScene *scene, int index);

/* ---- a run's directory: frames, steps.csv, probes.csv, checkpoint-{a,b}; docs/reference/output.md ---- */
typedef struct TalusOutput TalusOutput;

/* A zeroed def starts a run that writes frames.talus and the tables. */
typedef struct TalusOutputDef {
    const char *title, *scene; /* for the frames; NULL: "" */
    const char *const *kinds;  /* of frames beyond frames.talus: "vtp", "vtkhdf", "lammps", "csv" */
    int kind_count;
    bool resume; /* go on with the directory: rows and frames after `time` are dropped */
    double time;
    bool accept_changes; /* resume with what there is of the files, see below */
} TalusOutputDef;

/* Creates the directory, or removes an earlier run's files from it, or continues. The directory is held
 * from here on: what is written goes there, whatever becomes of its name. A link, a pipe or a device that
 * stands where one of the files would is refused.
 *
 * To continue, the files are compared with what the checkpoint of that time, where the directory has one,
 * says of their lengths and contents. If some are missing or changed the call fails with
 * TALUS_ERR_FORMAT and names them, and nothing has been touched; with `accept_changes` a warning
 * "output.changed" names them, and the run goes on with what there is. */
TalusStatus talus_output_open(const char *dir, const TalusOutputDef *def, TalusOutput **out);
TalusStatus talus_output_frame(TalusOutput *output, const TalusWorld *world);
TalusStatus talus_output_step(TalusOutput *output, const TalusWorld *world,
                              const TalusStepInfo *info);
/* Fails with TALUS_ERR_IO where the directory, frames.talus or a table was removed, renamed or replaced by
 * someone else. */
TalusStatus talus_output_check(const TalusOutput *output);
/* Checks as above and brings all rows and frames so far to the disk. */
TalusStatus talus_output_sync(TalusOutput *output);
/* The same, then a checkpoint of the world, which lists all files with their lengths and checksums. */
TalusStatus talus_output_checkpoint(TalusOutput *output, const TalusWorld *world, const char *note);
/* After a check that failed: a checkpoint in the directory that is held, wherever it is now. `path` becomes
 * the one that leads there. Fails where it was removed. Without a world the last checkpoint stays. */
TalusStatus talus_output_rescue(TalusOutput *output, const TalusWorld *world, const char *note,
                                char *path, size_t size);
/* Completes the files, which may still be resumed. Frees `output` in any case; NULL is fine. */
TalusStatus talus_output_close(TalusOutput *output);
/* After a failure: frees `output` and leaves the files as a crash would, readable and fit to be
 * resumed. NULL is fine. */
void talus_output_abandon(TalusOutput *output);

/* Checkpoints: two files in turn, checksummed, atomic. Of a run with an output talus_output_checkpoint writes
 * them: a checkpoint says that all up to its time is on the disk. Reading takes the newest sound one; if the
 * other is damaged a warning "checkpoint.damaged" is logged. `note` (may be NULL) is kept verbatim. */
TalusStatus talus_checkpoint_write(const char *dir, const TalusWorld *world, const char *note);
TalusStatus talus_checkpoint_read(const char *dir, int threads, const char *backend,
                                  TalusWorld **world, char **note); /* as talus_world_load */

/* ---- one contact problem as a file (docs/reference/problem-file.md) ---- */
TalusStatus talus_problem_write(const char *path, TalusProblem *problem);
TalusStatus talus_problem_read(const char *path, TalusPool *pool, TalusProblem **out);
/* A problem file of either kind, with this friction model on all contacts that have friction; NULL: the
 * file's own, which of FCLIB is the convex relaxation. For an FCLIB file *fclib is what it holds, else
 * NULL; its problem starts at zero, whatever guesses the file has. */
TalusStatus talus_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                               TalusProblem **out, TalusFclib **fclib);

/* ---- surfaces: STL (binary and text) and OBJ files, see docs/how-to/meshes.md ---- */

/* Triangles over shared vertices, anticlockwise seen from outside where the surface is closed. What was
 * repaired on the way is counted here and told by the log, "surface.repaired". */
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

    int joined;     /* vertices that lay on others or were used by no triangle that is left */
    int degenerate; /* triangles without area, dropped */
    int duplicate;  /* triangles that were there before, dropped */
    int turned;     /* triangles turned to agree with their neighbours */
    int twisted; /* parts whose triangles cannot all agree, as on a Moebius strip; left as they were */
    bool inverted; /* turned inside out as a whole */
} TalusSurface;

/* Reads a surface; a file is known by its content, where that tells too little by its name. Fails with
 * TALUS_ERR_FORMAT and the line or byte on numbers that are not finite, indices out of range, counts that
 * disagree with the file's length, and where no triangle is left. */
TalusStatus talus_surface_read(const char *path, TalusSurface *out);
/* The same of bytes in memory; `name` is for messages. */
TalusStatus talus_surface_parse(const char *name, const void *bytes, size_t size,
                                TalusSurface *out);
void talus_surface_free(TalusSurface *surface);

#ifdef __cplusplus
}
#endif

#endif
