/* io/scene/scene_start.c - checks of a scene's world before the first step.
 *
 * Deep overlaps, at the start or on arrival, are errors, or warnings if the caller allows them. Other values that look
 * like wrong units or positions give a warning. The bounds below are estimates, with their reasons. */
#include "io/scene/scene_start.h"
#include "io/scene/scene_copies.h"
#include "io/scene/scene_joint.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- values beyond which a warning is logged ---- */

/* Depth of overlap over the smaller body's size; generators leave no overlaps. */
static const double overlap_warning = 0.1;
/* Step over sqrt(d/g); at 0.5 a body falls an eighth of its width d in a step. */
static const double step_warning = 0.5;
/* Ratio of radii; 50 m written for 50 mm gives 1000. */
static const double ratio_warning = 200.0;
/* Ratio of masses. */
static const double mass_warning = 1e8;
/* Radius of a body, m, where gravity is above 1 and at most 100 m/s2. */
static const double width_warning = 30.0;
/* Gravity, m/s2; that of the Earth in cm/s2 is 981. */
static const double gravity_warning = 100.0;
/* High density, kg/m3; osmium has 22,600. */
static const double density_heavy = 25000;
/* Low density, kg/m3, that of foam; sand in g/cm3 has 2.6. Densities up to 1 give no warning. */
static const double density_light = 25;
/* Mesh width over the largest body's; a ratio of 2 becomes 2000 if mm are read as m. */
static const double mesh_warning = 2000.0;
/* Distance of a body's centre from its joint, over its radius. */
static const double arm_warning = 20.0;
/* Speed of a body, in its widths per step. */
static const double speed_warning = 20.0;

/* Sizes of buffers; EMITTER_TRIES: number of random positions in the box of an emitter at which a free one is
 * sought. */
enum { NAME_BYTES = 160, OWNER_BYTES = 32, LOCATION_BYTES = 1024, EMITTER_TRIES = 64 };

/* ---- names of bodies ---- */

/* Returns the index, among those of all copies, of the entry of `bodies` that a body comes from. */
static int find_entry_index(const SceneStart *s, const TalusSurveyBody *body)
{
    int all = talus_scene_copy_count(s->scene) * s->scene->bodies.count, entry = 0;
    const int batch = body->who.pending;
    while (entry + 1 < all &&
           (batch < 0 ? s->created[entry + 1] < body->number : s->pending[entry + 1] <= batch))
        entry++;
    return entry;
}

static const SceneBody *get_entry(const SceneStart *s, int entry)
{
    int entries = s->scene->bodies.count;
    const TalusScene *copy = talus_scene_copy(s->scene, entry / entries);
    return (const SceneBody *)copy->bodies.items + entry % entries;
}

/* True if the body comes from an earlier run, and so from no entry. */
static bool is_from_run(const SceneStart *s, const TalusSurveyBody *body)
{
    return body->who.pending < 0 && body->number <= s->created[0];
}

/* Writes where the scene has the entry that a body comes from: "bodies[2]", or "the earlier run". */
static const char *write_owner(const SceneStart *s, const TalusSurveyBody *body,
                               char text[OWNER_BYTES])
{
    if (is_from_run(s, body))
        snprintf(text, OWNER_BYTES, "the earlier run");
    else
        snprintf(text, OWNER_BYTES, "bodies[%d]",
                 find_entry_index(s, body) % s->scene->bodies.count);
    return text;
}

/* Returns the index of a body among those of its entry, in the order of numbers or of batches. */
static int number_in_entry(const SceneStart *s, const TalusSurveyBody *body)
{
    int entry = find_entry_index(s, body), number = body->who.index;
    if (body->who.pending < 0)
        return (int)(body->number - 1 - s->created[entry]);
    for (int k = s->pending[entry]; k < body->who.pending; k++)
        number += s->world->sources.pending[k].batch.count;
    return number;
}

/* Writes a body's shape, the name of its entry if given, and its number if the entry has several: sphere "grains" 17 */
static void write_body_name(const SceneStart *s, const TalusSurveyBody *body, char text[NAME_BYTES])
{
    if (is_from_run(s, body)) {
        snprintf(text, NAME_BYTES, "%s %llu", talus_shape_name(body->shape->def.kind),
                 (unsigned long long)body->number);
        return;
    }
    int entry = find_entry_index(s, body);
    const SceneBody *given = get_entry(s, entry);
    char shown[TALUS_JSON_PRINTABLE_BYTES], number[24] = "", copy[24] = "";
    if (s->count[entry] > 1)
        snprintf(number, sizeof number, " %d", number_in_entry(s, body));
    if (talus_scene_copy_count(s->scene) > 1)
        snprintf(copy, sizeof copy, " of copy %d", entry / s->scene->bodies.count);
    snprintf(text, NAME_BYTES, "%s%s%s%s%s%s", talus_shape_name(body->shape->def.kind),
             given->name ? " \"" : "", given->name ? talus_json_printable(given->name, shown) : "",
             given->name ? "\"" : "", number, copy);
}

/* Returns the JSON object of the entry that a body comes from, or of `from`, to locate messages. */
static const TalusJson *entry_json(const SceneStart *s, const TalusSurveyBody *body)
{
    return is_from_run(s, body) ? s->scene->from->json
                                : get_entry(s, find_entry_index(s, body))->json;
}

static void warn_at(const TalusJson *json, const char *id, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* Logs a warning `id` with the location of a value in the scene. */
static void warn_at(const TalusJson *json, const char *id, const char *format, ...)
{
    char place[LOCATION_BYTES], text[768];
    TALUS_FORMAT(text, format);
    talus_json_write_location(json, place, sizeof place);
    talus_log(TALUS_LOG_WARNING, id, "%s%s", place, text);
}

/* ---- overlaps ---- */

/* The worst overlap, that of the largest depth over size, at the start or of arrivals. */
typedef struct Overlap {
    TalusSurveyBody a, b; /* the two bodies; a moves */
    double depth;         /* m */
    double size;          /* size of the smaller body, or of a if b is fixed, m */
    double time;          /* time of arrival, s; 0 at the start */
    int64_t pairs; /* number of pairs that overlap at the start; 1 for arrivals or inside meshes */
} Overlap;

/* Returns the words for Overlap.size: "radius" of a sphere, else "least half width". */
static const char *size_words(const Overlap *o)
{
    const TalusSurveyBody *small = !o->b.fixed && o->b.size == o->size ? &o->b : &o->a;
    bool sphere = small->shape->def.kind == TALUS_SHAPE_SPHERE;
    return sphere ? "radius" : "least half width";
}

/* Writes: sphere "grains" 17 at (0, 0, 1) overlaps plane "floor" of bodies[0] by 0.5 m, 10 times the radius 0.05 m */
static void describe_overlap(const SceneStart *s, const Overlap *o, char *text, size_t size)
{
    char a[NAME_BYTES], b[NAME_BYTES], owner[OWNER_BYTES], when[48] = "", many[64] = "";
    TalusVec3 x = o->a.position;
    bool mesh = o->b.shape->def.kind == TALUS_SHAPE_MESH;
    write_body_name(s, &o->a, a);
    write_body_name(s, &o->b, b);
    if (o->time > 0.0)
        snprintf(when, sizeof when, " when it arrives at t = %g s", o->time);
    if (o->pairs > 1)
        snprintf(many, sizeof many, "; %lld pairs overlap, this one most", (long long)o->pairs);
    snprintf(text, size,
             "%s at (%.4g, %.4g, %.4g) overlaps %s of %s%s by %.3g m, %.3g times the %s %.3g m%s%s",
             a, x.x, x.y, x.z, b, write_owner(s, &o->b, owner), when, o->depth, o->depth / o->size,
             size_words(o), o->size, mesh && o->depth > o->size ? " (a closed mesh is solid)" : "",
             many);
}

/* Fails if depth / size of the overlap exceeds the scene's max_overlap and s->allow_overlap is not set. Otherwise warns
 * if it exceeds max_overlap or overlap_warning. */
static TalusStatus judge_overlap(const SceneStart *s, const Overlap *o)
{
    char text[640];
    double ratio = o->depth / o->size, limit = s->scene->max_overlap;
    if (!(ratio > fmin(overlap_warning, limit)))
        return TALUS_OK;
    describe_overlap(s, o, text, sizeof text);
    if (ratio > limit && !s->allow_overlap)
        return talus_json_fail(
            entry_json(s, &o->a), 0,
            "%s; more than %g is refused: move the bodies apart, or allow it with "
            "\"max_overlap\": %.2g",
            text, limit, 1.1 * ratio);
    if (ratio > limit)
        warn_at(entry_json(s, &o->a), "scene.overlap", "%s; a run refuses more than %g", text,
                limit);
    else
        warn_at(entry_json(s, &o->a), "scene.overlap", "%s", text);
    return TALUS_OK;
}

/* Adds a location in the scene to an error of the overlap search, which has none: that of the key `period` if given,
 * else of the scene. No effect on an error of another rank, which locates it. */
static TalusStatus locate_detection_error(const SceneStart *s, TalusStatus status)
{
    if (status == TALUS_ERR_CANCELLED)
        return status;
    return talus_json_error_at(s->scene->period ? s->scene->period->json : s->scene->json, status);
}

/* Finds and judges the worst overlap at the start. */
static TalusStatus check_overlap(const SceneStart *s)
{
    TalusOverlap worst;
    TALUS_TRY(locate_detection_error(s, talus_world_worst_overlap(s->world, &worst)));
    if (!(worst.depth > 0.0))
        return TALUS_OK;
    Overlap o = {.depth = worst.depth, .size = worst.size, .pairs = worst.pairs};
    TALUS_TRY(talus_survey_find(s->world, worst.a, &o.a));
    TALUS_TRY(talus_survey_find(s->world, worst.b, &o.b));
    return judge_overlap(s, &o);
}

/* Finds and judges the worst overlap of delayed bodies, on their arrival, with fixed bodies and with each other. */
static TalusStatus check_arrivals(const SceneStart *s)
{
    TalusArrivalOverlap worst;
    TALUS_TRY(locate_detection_error(s, talus_world_arrival_overlap(s->world, &worst)));
    if (!(worst.depth > 0.0))
        return TALUS_OK;
    Overlap o = {worst.a, worst.b, worst.depth, worst.size, worst.time, 1};
    return judge_overlap(s, &o);
}

/* ---- sizes, masses, steps ---- */

/* Warns if the thinnest body falls too far, relative to its width, within a step (step_warning). */
static void check_step(const SceneStart *s, const TalusSurvey *v)
{
    double h = talus_world_step_length(s->world), fall = v->fall_time;
    char name[NAME_BYTES];
    if (!(h > step_warning * fall))
        return;
    write_body_name(s, &v->thinnest, name);
    warn_at(
        talus_json_get_or_self(s->scene->json, "step"), "scene.step",
        "h = %.3g s is %.3g times sqrt(d/g) = %.3g s of the width %.3g m of %s: bodies fall %.3g of it in a "
        "step; expected at most %.2g s",
        h, h / fall, fall, 2.0 * v->thinnest.size, name, 0.5 * h * h / (fall * fall), 0.1 * fall);
}

static void check_gravity(const SceneStart *s)
{
    double g = talus_norm(talus_world_gravity(s->world));
    if (g > gravity_warning)
        warn_at(talus_json_get_or_self(s->scene->json, "gravity"), "scene.gravity",
                "%.4g m/s2 is %.3g times the Earth's 9.81; is it in cm/s2, and are sizes in m?", g,
                g / 9.81);
}

/* Warns if radii differ by more than the factor ratio_warning; else if a body is larger than width_warning and gravity
 * is above 1 m/s2 and at most gravity_warning. */
static void check_sizes(const SceneStart *s, const TalusSurvey *v)
{
    char small[NAME_BYTES], large[NAME_BYTES], owner[OWNER_BYTES];
    double g = talus_norm(talus_world_gravity(s->world)),
           ratio = v->largest.radius / v->smallest.radius;
    write_body_name(s, &v->smallest, small);
    write_body_name(s, &v->largest, large);
    if (ratio > ratio_warning)
        warn_at(entry_json(s, &v->largest), "scene.sizes",
                "%s has the radius %.3g m, %.3g times that of %s of %s, %.3g m; sizes are in m",
                large, v->largest.radius, ratio, small, write_owner(s, &v->smallest, owner),
                v->smallest.radius);
    else if (v->largest.radius > width_warning && g > 1.0 && g <= gravity_warning)
        warn_at(entry_json(s, &v->largest), "scene.sizes",
                "%s has the radius %.3g m; sizes are in m", large, v->largest.radius);
}

/* Warns if masses differ by more than the factor mass_warning. */
static void check_masses(const SceneStart *s, const TalusSurvey *v)
{
    char light[NAME_BYTES], heavy[NAME_BYTES], owner[OWNER_BYTES];
    double ratio = v->heaviest.mass / v->lightest.mass;
    if (!(ratio > mass_warning))
        return;
    write_body_name(s, &v->lightest, light);
    write_body_name(s, &v->heaviest, heavy);
    warn_at(
        entry_json(s, &v->heaviest), "scene.masses",
        "%s has %.3g kg, %.3g times as much as %s of %s, %.3g kg: contacts between such bodies take "
        "many iterations",
        heavy, v->heaviest.mass, ratio, light, write_owner(s, &v->lightest, owner),
        v->lightest.mass);
}

/* True if a density is improbable. Densities up to 1 are accepted, since 1 is common where units do not matter. */
static bool is_odd_density(double density)
{
    return density > density_heavy || (density > 1.0 && density < density_light);
}

/* Warns about the first improbable density in the scene, materials before bodies. */
static void check_densities(const SceneStart *s)
{
    const SceneMaterial *m = (const SceneMaterial *)s->scene->materials.items;
    const TalusJson *odd = NULL;
    double density = 0.0;
    for (int i = s->scene->bodies.count - 1; i >= 0; i--)
        if (is_odd_density(get_entry(s, i)->density)) {
            odd = talus_json_get(get_entry(s, i)->json, "density");
            density = get_entry(s, i)->density;
        }
    for (int i = s->scene->materials.count - 1; i >= 0; i--)
        if (is_odd_density(m[i].def.density)) {
            odd = talus_json_get(m[i].json, "density");
            density = m[i].def.density;
        }
    if (odd)
        warn_at(odd, "scene.density", "%g kg/m3 is %s; sand has 2600 kg/m3, which is 2.6 g/cm3",
                density,
                density > density_heavy ? "more than any metal has" : "no more than foam has");
}

/* Warns if the fastest body moves more than speed_warning of its widths in a step. */
static void check_speed(const SceneStart *s, const TalusSurvey *v)
{
    double speed = talus_norm(v->fastest.velocity), h = talus_world_step_length(s->world);
    char name[NAME_BYTES];
    if (!(speed * h > speed_warning * 2.0 * v->fastest.size))
        return;
    write_body_name(s, &v->fastest, name);
    warn_at(entry_json(s, &v->fastest), "scene.speed",
            "%s has %.3g m/s and moves %.3g m in a step, %.3g times its width", name, speed,
            speed * h, 0.5 * speed * h / v->fastest.size);
}

/* ---- positions ---- */

/* A search for a mesh of an unusual width. */
typedef struct MeshSearch {
    double body;           /* m: width of the largest body that moves */
    TalusSurveyFind first; /* of such meshes */
} MeshSearch;

/* Returns the largest extent of a mesh. */
static double mesh_width(const TalusShape *mesh)
{
    TalusVec3 d = talus_sub(mesh->box.hi, mesh->box.lo);
    return fmax(d.x, fmax(d.y, d.z));
}

/* For talus_survey_each: finds the first mesh that is more than mesh_warning times as wide as the largest moving body, or
 * less than half as wide. */
static void find_mesh(void *context, const TalusSurveyBody *b)
{
    MeshSearch *m = context;
    if (b->shape->def.kind != TALUS_SHAPE_MESH)
        return;
    double width = mesh_width(b->shape);
    if (width > mesh_warning * m->body || width < 0.5 * m->body)
        talus_survey_take(&m->first, 0.0, b);
}

/* Warns about the first mesh of an unusual width. */
static TalusStatus check_meshes(const SceneStart *s, const TalusSurvey *v)
{
    MeshSearch m = {.body = 2.0 * v->largest.radius};
    char name[NAME_BYTES];
    talus_survey_each(s->world, find_mesh, &m);
    TALUS_TRY(talus_survey_share(s->world, &m.first));
    if (!m.first.any)
        return TALUS_OK;
    const double width = mesh_width(m.first.body.shape);
    write_body_name(s, &m.first.body, name);
    warn_at(
        entry_json(s, &m.first.body), "scene.mesh",
        "%s is %.3g m wide, %.3g times the largest body that moves (%.3g m): files of triangles have no "
        "unit, `scale` gives one (0.001 for mm)",
        name, width, width / m.body, m.body);
    return TALUS_OK;
}

/* Warns if bodies start beside or beyond the fixed bodies that should hold them. */
static TalusStatus check_strays(const SceneStart *s)
{
    TalusStrays strays;
    char name[NAME_BYTES], more[48] = "";
    TALUS_TRY(talus_world_strays(s->world, &strays));
    if (strays.count == 0)
        return TALUS_OK;
    TalusVec3 x = strays.first.position;
    write_body_name(s, &strays.first, name);
    if (strays.count > 1)
        snprintf(more, sizeof more, "; so do %" PRId64 " bodies in all", strays.count);
    warn_at(entry_json(s, &strays.first), "scene.outside", "%s at (%.4g, %.4g, %.4g) starts %s%s",
            name, x.x, x.y, x.z,
            strays.held ? "beside the fixed bodies that almost all others start between"
                        : "beyond everything fixed, with nothing below it, and falls for ever",
            more);
    return TALUS_OK;
}

/* Warns if what an emitter emits would fall for ever, or if fixed bodies fill its box. */
static TalusStatus check_emitter(const SceneStart *s, const TalusEmitter *e, const TalusJson *json)
{
    int free;
    if (talus_box_is_stray(s->world, e->def.lo, e->def.hi))
        warn_at(json, "scene.emitter",
                "its box lies beyond everything fixed: what it emits falls for ever");
    TALUS_TRY(
        locate_detection_error(s, talus_emitter_count_free(s->world, e, EMITTER_TRIES, &free)));
    if (free == 0)
        warn_at(json, "scene.emitter-room",
                "fixed bodies leave no place in its box: of %d random ones none is free",
                EMITTER_TRIES);
    return TALUS_OK;
}

/* Checks the emitters of copy 0; the world has one for each species of an emitter of the scene. */
static TalusStatus check_emitters(const SceneStart *s)
{
    const SceneEmitter *emitters = (const SceneEmitter *)s->scene->emitters.items;
    const TalusEmitter *e = s->world->sources.emitter;
    for (int i = 0; i < s->scene->emitters.count; i++) {
        const int species = emitters[i].species.count;
        for (int k = 0; k < (species > 0 ? species : 1); k++)
            TALUS_TRY(check_emitter(s, e++, emitters[i].json));
    }
    return TALUS_OK;
}

/* Warns if the k-th body of a joint is not fixed and its centre is far from the point `at` where the joint holds it. */
static TalusStatus check_arm(const SceneStart *s, const SceneJoint *j, int k, TalusVec3 at)
{
    char name[NAME_BYTES];
    int entry = talus_scene_find_joint_entry(s->scene, j, k);
    TalusSurveyBody body;
    TALUS_TRY(talus_survey_find(s->world, (TalusBodyId){s->created[entry] + 1}, &body));
    double distance = talus_norm(talus_sub(body.position, at));
    if (body.fixed || !(distance > arm_warning * body.radius))
        return TALUS_OK;
    write_body_name(s, &body, name);
    warn_at(j->json, "scene.joint",
            "it holds %s %.3g m from its centre, %.3g times its radius %.3g m", name, distance,
            distance / body.radius, body.radius);
    return TALUS_OK;
}

/* Calls check_arm for all bodies of all joints. */
static TalusStatus check_joints(const SceneStart *s)
{
    const SceneJoint *joints = (const SceneJoint *)s->scene->joints.items;
    for (int i = 0; i < s->scene->joints.count; i++)
        for (int k = 0; k < joints[i].bodies.count; k++) {
            bool line = talus_json_get(joints[i].json, "to") != NULL;
            TALUS_TRY(check_arm(s, &joints[i], k,
                                line && k == 1 ? joints[i].def.point_b : joints[i].def.point));
        }
    return TALUS_OK;
}

TalusStatus talus_scene_check_start(const SceneStart *s)
{
    TalusSurvey survey;
    TALUS_TRY(check_overlap(s));
    TALUS_TRY(check_arrivals(s));
    TALUS_TRY(talus_world_survey(s->world, &survey));
    check_gravity(s);
    check_densities(s);
    if (survey.moving > 0) {
        check_step(s, &survey);
        check_sizes(s, &survey);
        check_masses(s, &survey);
        check_speed(s, &survey);
        TALUS_TRY(check_meshes(s, &survey));
    }
    TALUS_TRY(check_strays(s));
    TALUS_TRY(check_joints(s));
    return check_emitters(s);
}
