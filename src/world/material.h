/* world/material.h - materials, shapes and texts of a world. */
#ifndef TALUS_WORLD_MATERIAL_H
#define TALUS_WORLD_MATERIAL_H

#include "engine/contact.h"

#include <talus/world.h>

typedef struct TalusMaterials {
    int count;
    TalusMaterialDef *def; /* [count], with names of their own */
    TalusLaw *law;         /* [count * count], symmetric */
    TalusPairDef *pair;    /* [count * count]: what was set for pairs */
    double max_friction;
    bool any_compliance, any_models, any_restitution, any_turning, any_cohesion;
} TalusMaterials;

void talus_materials_clear(TalusMaterials *materials);
void talus_shapes_clear(TalusWorld *world);
/* Index of a sphere shape, added if there is none. */
TalusStatus talus_sphere_shape(TalusWorld *world, double radius, int *index);
TalusStatus talus_copy_text(const char *text, const char *what, char **out);

#endif
