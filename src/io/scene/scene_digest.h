/* io/scene/scene_digest.h - a hash of all that a scene's run depends on (scene_digest.c). */
#ifndef TALUS_IO_SCENE_SCENE_DIGEST_H
#define TALUS_IO_SCENE_SCENE_DIGEST_H

#include <talus/io.h>

/* Sets *digest to a hash of the scene after its overrides and of what it reads: files of shapes and bodies, checkpoints of
 * the run that it starts from. Layout, comments, title, description and $schema do not count. Fails if a file cannot be
 * read. */
TalusStatus talus_scene_digest(const TalusScene *scene, uint64_t *digest);

/* Lists what has rows of its own in a table of a run of the scene, "probes.csv", "flows.csv" or "joints.csv": sets name[] to
 * at most `most` names, without the numbers of copies. In "flows.csv" sinks come first, with NULL for one that has no name; in
 * "joints.csv" servos have the names of their entries. Returns how many there are, which may be above `most`. */
int talus_scene_list_rows(const TalusScene *scene, const char *table, const char **name, int most);
/* Returns the name of the backend that the scene asks for. */
const char *talus_scene_backend(const TalusScene *scene);
/* True if a run of the scene has the table "cell.csv". */
bool talus_scene_has_cell(const TalusScene *scene);

#endif
