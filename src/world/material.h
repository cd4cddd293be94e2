/* world/material.h - materials and shapes of a world. */
#ifndef TALUS_WORLD_MATERIAL_H
#define TALUS_WORLD_MATERIAL_H

#include "engine/contact_terms.h"

#include <talus/world.h>

typedef struct TalusMaterials {
    int count;
    TalusMaterialDef *def; /* [count]; owns the names */
    TalusLaw *law;         /* [count * count], symmetric */
    TalusPairDef *pair; /* [count * count], symmetric: properties set for pairs; below 0: not set */
    double max_friction; /* of all pairs */
    /* true if some pair has stiffness, a friction model other than ccp on the disc, restitution, moments, cohesion */
    bool any_compliance, any_models, any_restitution, any_moments, any_cohesion;
} TalusMaterials;

void talus_materials_clear(TalusMaterials *materials);
/* Computes the laws of all pairs of materials anew, with max_friction and the flags any_*. */
void talus_materials_update(TalusWorld *world);
/* Changes a material, but for its name; pairs stay. */
TalusStatus talus_material_change(TalusWorld *world, int index, const TalusMaterialDef *def);
/* Replaces the properties of a material, and those set for its pairs by the rule; bodies keep their masses. */
TalusStatus talus_world_replace_material(TalusWorld *world, int index, const TalusMaterialDef *def);
void talus_shapes_clear(TalusWorld *world);
/* Sets *index to the index of the world's first sphere shape; if there is none, adds a sphere with this default
 * radius. */
TalusStatus talus_world_require_sphere_shape(TalusWorld *world, double radius, int *index);

#endif
