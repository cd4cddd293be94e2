/* io/scene/scene_types.h - what the tables of scene keys share: plain types, and macros that define an object. */
#ifndef TALUS_IO_SCENE_SCENE_TYPES_H
#define TALUS_IO_SCENE_SCENE_TYPES_H

#include "io/scene/scene.h"

static const SceneType any_real = {.kind = SCENE_REAL};
static const SceneType positive = {.kind = SCENE_REAL, .min = 0, .max = 1e300, .above = true};
static const SceneType not_negative = {.kind = SCENE_REAL, .min = 0, .max = 1e300};
static const SceneType flag = {.kind = SCENE_FLAG};
static const SceneType text = {.kind = SCENE_TEXT};
static const SceneType vector = {.kind = SCENE_REALS, .length = 3};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
/* Sets SceneField.offset to the offset of a member in STRUCT, a macro that each table of keys defines as its struct. */
#define AT(member) .offset = offsetof(STRUCT, member)
/* Defines `variable`, the type of an object whose keys are in the table variable_fields. */
#define OBJECT(variable, title, ...)                                            \
    static const SceneType variable = {.kind = SCENE_OBJECT,                    \
                                       .name = title,                           \
                                       .fields = variable##_fields,             \
                                       .field_count = COUNT(variable##_fields), \
                                       .size = sizeof(STRUCT),                  \
                                       __VA_ARGS__}
/* Defines a function for SceneType.init, which sets the member `def` of struct `type` to the last argument. */
#define INIT(name, type, ...)                     \
    static void name(void *structure)             \
    {                                             \
        ((type *)structure)->def = (__VA_ARGS__); \
    }

#endif
