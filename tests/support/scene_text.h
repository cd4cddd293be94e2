/* Scenes as text in which ' stands for ", so that they can be written in C. */
#ifndef TALUS_TESTS_SUPPORT_SCENE_TEXT_H
#define TALUS_TESTS_SUPPORT_SCENE_TEXT_H

#include <talus/io.h>

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* As talus_scene_parse. */
static inline TalusStatus parse_scene_text(const char *text, const char *const *set, int sets,
                                           TalusScene **out)
{
    const size_t size = strlen(text);
    char *json = malloc(size + 1);
    for (size_t i = 0; i <= size; i++)
        json[i] = text[i] == '\'' ? '"' : text[i];
    const TalusStatus status = talus_scene_parse(json, size, "text", set, sets, out);
    free(json);
    return status;
}

/* Builds the scene, with one thread, on one rank. */
static inline TalusStatus build_scene_text(const char *text, TalusWorld **world)
{
    const TalusSceneChoice choice = {.threads = 1};
    TalusScene *scene;
    TalusStatus status = parse_scene_text(text, NULL, 0, &scene);
    if (status != TALUS_OK)
        return status;
    status = talus_scene_build(scene, &choice, world);
    talus_scene_destroy(scene);
    return status;
}

#endif
