/* io/scene/scene_field.c - probes of fields in a scene. They are no part of the world, which does not depend on them: the run's
 * output measures them (io/run/field_probes.c). */
#include "io/scene/scene_field.h"

#include "io/run/field_probes.h"

#include <string.h>

bool talus_scene_measures(const SceneProbe *probe)
{
    return probe->field.count > 0;
}

/* Makes the probe of an entry, whose fields have been checked. */
static TalusStatus make_probe(const SceneProbe *p, TalusFieldProbe *out)
{
    const double *lo = p->region->lo, *hi = p->region->hi;
    *out = (TalusFieldProbe){.name = p->name,
                             .grid = {{lo[0], lo[1], lo[2]},
                                      {hi[0], hi[1], hi[2]},
                                      {(int)p->grid[0], (int)p->grid[1], (int)p->grid[2]},
                                      p->width},
                             .every = p->every,
                             .tag = talus_json_get(p->json, "tag") ? (int)p->tag : TALUS_ANY_TAG};
    return talus_field_probe_set_quantities(out, (const char *const *)p->field.items,
                                            p->field.count);
}

/* Keys of probes of fields; the first two are not for bulk figures. */
static const char *const field_keys[] = {"grid", "width", "every", "tag"};
enum { CELL_KEYS = 2, FIELD_KEYS = 4 };

/* Fails at the first of `count` keys that the probe has. */
static TalusStatus refuse_keys(const SceneProbe *p, int count, const char *why)
{
    for (int i = 0; i < count; i++)
        if (talus_json_get(p->json, field_keys[i]))
            return talus_json_fail(talus_json_get(p->json, field_keys[i]), 0, "%s", why);
    return TALUS_OK;
}

TalusStatus talus_scene_check_field_probe(const TalusScene *scene, const SceneProbe *p)
{
    TalusFieldProbe probe;
    if (!talus_scene_measures(p))
        return refuse_keys(p, FIELD_KEYS,
                           "is for probes of fields; expected the key `field` beside it");
    const TalusJson *json = talus_json_get(p->json, "field");
    if (!p->region)
        return talus_json_fail(json, 0,
                               "is measured in a box; expected `region` in place of `body`");
    if (scene->copies && scene->copies->count > 1)
        return talus_json_fail(json, 0,
                               "is not measured in copies of a scene; expected no `copies`");
    TALUS_TRY(talus_json_error_at(json, make_probe(p, &probe)));
    if (probe.quantity_count == 0)
        TALUS_TRY(
            refuse_keys(p, CELL_KEYS, "is for fields; bulk figures are those of the whole region"));
    return talus_json_error_at(p->json, talus_field_probes_check(&probe, 1));
}

int talus_scene_field_probe_count(const TalusScene *scene)
{
    const SceneProbe *probes = (const SceneProbe *)scene->probes.items;
    int count = 0;
    for (int i = 0; i < scene->probes.count; i++)
        count += talus_scene_measures(&probes[i]);
    return count;
}

TalusFieldProbe talus_scene_field_probe(const TalusScene *scene, int index)
{
    const SceneProbe *probe = (const SceneProbe *)scene->probes.items;
    TalusFieldProbe out;
    for (; index > 0 || !talus_scene_measures(probe); probe++)
        index -= talus_scene_measures(probe);
    (void)make_probe(probe, &out); /* it was checked */
    return out;
}
