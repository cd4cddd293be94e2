/* io/scene/scene_size.c - sizes and species of a scene: their distributions, shares and checks.
 *
 * Where fractions f_i of species are of mass, a body is of species i with a probability in proportion to f_i / m_i, m_i the
 * mean mass of a body of the species: then n bodies hold n (f_i / m_i) m_i, in proportion to f_i. */
#include "io/scene/scene.h"

#include <math.h>

/* Largest difference of the sum of fractions from 1, for those rounded to six digits. */
#define SUM_SLACK 1e-5

/* ---- sizes ---- */

/* True if the object of the size gives the key. */
static bool gives(const SceneSize *size, const char *key)
{
    return talus_json_get(size->json, key) != NULL;
}

TalusSizeDef talus_scene_size_def(const SceneSize *size)
{
    TalusSizeDef def = size->def;
    const bool rosin = size->kind == SCENE_ROSIN_RAMMLER, sieve = size->kind == TALUS_SIZES_SIEVE;
    def.kind = rosin ? TALUS_SIZES_WEIBULL : (TalusSizeKind)size->kind;
    def.by_mass = gives(size, "by") ? size->by == SCENE_BY_MASS : rosin || sieve;
    def.sieve = (const double *)size->sieve.items;
    def.sieve_count = size->sieve.count;
    if (size->kind == TALUS_SIZES_UNIFORM && !gives(size, "min")) {
        def.min = def.mean * (1.0 - size->spread);
        def.max = def.mean * (1.0 + size->spread);
    }
    return def;
}

bool talus_scene_size_varies(const SceneSize *size)
{
    if (!size)
        return false;
    const TalusSizeDef def = talus_scene_size_def(size);
    return def.kind != TALUS_SIZES_UNIFORM || def.min < def.max;
}

TalusStatus talus_scene_make_sizes(const SceneSize *size, const SceneShape *shape,
                                   TalusSizeCurve *curve)
{
    TalusSizeDef def = talus_size_def_default();
    *curve = (TalusSizeCurve){0};
    if (size) {
        def = talus_scene_size_def(size);
        return talus_json_error_at(size->json, talus_size_curve_make(&def, curve));
    }
    def.min = def.max = shape ? shape->def.radius : 0.0;
    return def.max > 0.0 ? talus_json_error_at(shape->json, talus_size_curve_make(&def, curve))
                         : TALUS_OK;
}

/* Checks the keys that a uniform distribution is given by: either `mean`, with `spread`, or `min` and `max`. */
static TalusStatus check_uniform(const SceneSize *size)
{
    const TalusJson *min = talus_json_get(size->json, "min"),
                    *max = talus_json_get(size->json, "max");
    bool mean = size->def.mean > 0.0; /* also of a bare number */
    if (mean && (min || max))
        return talus_json_fail_key(min ? min : max, "cannot be given together with 'mean'");
    if (!mean && !min && !max)
        return talus_json_fail(size->json, 0, "a size needs the key 'mean' or 'min'");
    if (!mean && !(min && max))
        return talus_json_fail_key(min ? min : max, "needs the key '%s' along with it",
                                   min ? "max" : "min");
    if (size->spread >= 1.0)
        return talus_json_fail(talus_json_get_or_self(size->json, "spread"), 0,
                               "expected less than 1: sizes must be positive");
    return TALUS_OK;
}

/* Fails if a size has a key that its kind has not. */
static TalusStatus check_kind_keys(const SceneSize *size)
{
    static const char *const uniform[] = {"mean", "spread"}, *const bounds[] = {"min", "max"};
    const bool normal = size->kind == TALUS_SIZES_NORMAL, sieve = size->kind == TALUS_SIZES_SIEVE;
    const TalusJson *kind = talus_json_get(size->json, "kind");
    for (int i = 0; i < 2; i++) {
        const TalusJson *key = talus_json_get(size->json, uniform[i]);
        if (key && !(normal && i == 0))
            return talus_json_fail_key(key, "not for kind \"%s\"", kind->text);
        if (sieve && gives(size, bounds[i]))
            return talus_json_fail_key(talus_json_get(size->json, bounds[i]),
                                       "not for kind \"%s\": the first and last sieve are bounds",
                                       kind->text);
    }
    if (normal && !gives(size, "mean"))
        return talus_json_fail(size->json, 0, "missing key 'mean': of a normal distribution");
    return TALUS_OK;
}

TalusStatus talus_scene_check_size(const SceneSize *size)
{
    TalusSizeRange range;
    if (!size)
        return TALUS_OK;
    TALUS_TRY(size->kind == TALUS_SIZES_UNIFORM ? check_uniform(size) : check_kind_keys(size));
    if (gives(size, "min") && gives(size, "max") && size->def.max < size->def.min)
        return talus_json_fail(talus_json_get(size->json, "max"), 0, "%g is below 'min', %g",
                               size->def.max, size->def.min);
    const TalusSizeDef def = talus_scene_size_def(size);
    return talus_json_error_at(size->json, talus_sizes_range(&def, &range));
}

/* ---- species ---- */

/* Checks the shape of a species, defined or named, and its size. */
static TalusStatus check_species_shape(const TalusScene *scene, const SceneSpecies *s,
                                       bool spheres_only)
{
    const SceneShape *shape;
    TALUS_TRY(talus_scene_resolve_shape(scene, s->shape, &shape));
    const bool sphere = shape->kind == TALUS_SHAPE_SPHERE;
    if (talus_scene_is_wall(shape))
        return talus_json_fail(s->shape->json, 0, "a wall is always fixed, and no species");
    if (spheres_only && !sphere)
        return talus_json_fail(s->shape->json, 0, "an emitter emits spheres only");
    if (!sphere && s->radius)
        return talus_json_fail_key(talus_json_get(s->json, "radius"),
                                   "for spheres only; other shapes have a `scale`");
    if (sphere && !s->radius && shape->def.radius == 0.0)
        return talus_json_fail(s->json, 0, "missing key 'radius': the size of its spheres");
    return talus_scene_check_size(s->radius);
}

TalusStatus talus_scene_check_species(const TalusScene *scene, const SceneList *species,
                                      const TalusJson *owner, bool spheres_only)
{
    const SceneSpecies *s = (const SceneSpecies *)species->items;
    double sum = 0.0;
    for (int i = 0; i < species->count; i++) {
        int material;
        sum += s[i].fraction;
        TALUS_TRY(check_species_shape(scene, &s[i], spheres_only));
        TALUS_TRY(talus_scene_find_material(scene, talus_json_get_or_self(s[i].json, "material"),
                                            s[i].material, &material));
    }
    if (species->count > 0 && !(fabs(sum - 1.0) <= SUM_SLACK))
        return talus_json_fail(talus_json_get(owner, "species"), 0,
                               "the fractions add up to %.6g, expected 1", sum);
    return TALUS_OK;
}

TalusStatus talus_scene_species_shares(const SceneList *species, int by, const double *mass,
                                       double *share)
{
    const SceneSpecies *s = (const SceneSpecies *)species->items;
    double sum = 0.0;
    for (int i = 0; i < species->count; i++) {
        share[i] = by == SCENE_BY_MASS ? s[i].fraction / mass[i] : s[i].fraction;
        sum += share[i];
    }
    if (!(sum > 0.0) || !isfinite(sum))
        return talus_json_fail(s[0].json, 0, "the masses of its bodies are out of range");
    for (int i = 0; i < species->count; i++)
        share[i] /= sum;
    return TALUS_OK;
}
