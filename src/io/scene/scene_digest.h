/* io/scene/scene_digest.h - a hash of all that a scene's run depends on (scene_digest.c). */
#ifndef TALUS_IO_SCENE_SCENE_DIGEST_H
#define TALUS_IO_SCENE_SCENE_DIGEST_H

#include <talus/io.h>

/* Sets *digest to a hash of the scene after its overrides and of what it reads: files of shapes and bodies, checkpoints of
 * the run that it starts from. Layout, comments, title, description and $schema do not count. Fails if a file cannot be
 * read. */
TalusStatus talus_scene_digest(const TalusScene *scene, uint64_t *digest);

/* Return the number of probes or joints of a scene, and the name of one, without the number of a copy. */
int talus_scene_probe_count(const TalusScene *scene);
const char *talus_scene_probe_name(const TalusScene *scene, int index);
int talus_scene_joint_count(const TalusScene *scene);
const char *talus_scene_joint_name(const TalusScene *scene, int index);

#endif
