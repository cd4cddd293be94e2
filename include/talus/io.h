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

/* ---- scenes: JSON with comments, see docs/scenes.md and scenes/schema.json ---- */
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
    int threads; /* -1: one per processor, whatever the scene says */
} TalusSceneChoice;

TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                              TalusWorld **out);

const char *talus_scene_title(const TalusScene *scene);
double talus_scene_until(const TalusScene *scene); /* seconds to simulate */
double talus_scene_every(const TalusScene *scene); /* seconds between frames */
int talus_scene_param_count(const TalusScene *scene);
const char *talus_scene_param_name(const TalusScene *scene, int index);
double talus_scene_param_value(const TalusScene *scene, int index);

/* ---- a run's directory: frames/, run.pvd, steps.csv, probes.csv, checkpoint-{a,b} ---- */
typedef struct TalusOutput TalusOutput;

/* Creates or, with `resume`, continues the directory: rows and frames after `time` are dropped. */
TalusStatus talus_output_open(const char *dir, bool resume, double time, TalusOutput **out);
void talus_output_close(TalusOutput *output);
TalusStatus talus_output_frame(TalusOutput *output, const TalusWorld *world);
TalusStatus talus_output_step(TalusOutput *output, const TalusWorld *world,
                              const TalusStepInfo *info);

/* Checkpoints: two files in turn, checksummed, atomic. Reading takes the newest sound one; if the
 * other is damaged a warning "checkpoint.damaged" is logged. `note` (may be NULL) is kept verbatim. */
TalusStatus talus_checkpoint_write(const char *dir, const TalusWorld *world, const char *note);
TalusStatus talus_checkpoint_read(const char *dir, int threads, TalusWorld **world, char **note);

/* ---- one contact problem as a file (docs/problem-file.md) ---- */
TalusStatus talus_problem_write(const char *path, TalusProblem *problem);
TalusStatus talus_problem_read(const char *path, TalusPool *pool, TalusProblem **out);
/* A problem file of either kind. For an FCLIB file *fclib is what it holds, else NULL; its problem
 * starts at zero, whatever guesses the file has. */
TalusStatus talus_problem_open(const char *path, TalusPool *pool, TalusProblem **out,
                               TalusFclib **fclib);

#ifdef __cplusplus
}
#endif

#endif
