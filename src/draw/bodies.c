/* draw/bodies.c - moving bodies, shown fixed ones and force chains as solids. */
#include "draw/picture.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/fields.h"

#include <string.h>

static TalusStatus make_room(TalusSolids *solids, int count, int forms)
{
    TALUS_TRY(TALUS_ALLOC(solids->solid, (size_t)count, "solids"));
    return TALUS_ALLOC(solids->form, (size_t)forms, "solids");
}

static TalusSolid *add_solid(TalusSolids *solids, TalusF3 centre, double radius, uint32_t rgb)
{
    TalusSolid *solid = &solids->solid[solids->count++];
    *solid = (TalusSolid){centre, (float)radius, -1, rgb};
    return solid;
}

static void add_form(TalusSolids *solids, TalusSolid *solid, TalusFormKind kind, TalusVec3 half,
                     TalusQuat q)
{
    TalusForm *form = &solids->form[solids->form_count];
    solid->form = solids->form_count++;
    solid->radius = (float)(talus_norm(half) * (1.0 + 1e-6));
    *form = (TalusForm){kind,
                        talus_f3_of(half),
                        {talus_f3_of(talus_rotate(q, talus_vec3(1, 0, 0))),
                         talus_f3_of(talus_rotate(q, talus_vec3(0, 1, 0))),
                         talus_f3_of(talus_rotate(q, talus_vec3(0, 0, 1)))}};
}

/* ---- bodies ---- */

/* Beyond this the squares of singles overflow. */
#define FARTHEST 1e18

/* Fixed bodies may be solids too; walls are panes (container.c). */
static bool is_solid(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    TalusShapeKind kind = picture->head->shapes[s->shape[row]].kind;
    if (kind == TALUS_SHAPE_PLANE || kind == TALUS_SHAPE_REVOLVE)
        return false;
    if (s->fixed[row] && !picture->fixed_solid)
        return false;
    return talus_norm(talus_sub(s->position[row], picture->origin)) < FARTHEST &&
           s->radius[row] > 0.0;
}

static void add_body(TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    const TalusShapeDef *def = &picture->head->shapes[s->shape[row]];
    TalusF3 centre = talus_f3_of(talus_sub(s->position[row], picture->origin));
    TalusSolid *solid =
        add_solid(&picture->bodies, centre, s->radius[row], talus_picture_colour(picture, row));
    TalusQuat q = s->orientation[row];
    if (def->kind == TALUS_SHAPE_BOX)
        add_form(&picture->bodies, solid, TALUS_FORM_BOX, def->half, q);
    if (def->kind == TALUS_SHAPE_CYLINDER)
        add_form(&picture->bodies, solid, TALUS_FORM_CYLINDER,
                 talus_vec3(def->radius, def->radius, def->half_height), q);
}

/* The half that is cut away is the camera's. */
static void set_cut(TalusPicture *picture)
{
    const TalusDrawDef *def = picture->def;
    TalusVec3 axis = talus_vec3(def->clip_axis == 0, def->clip_axis == 1, def->clip_axis == 2);
    TalusVec3 back = talus_picture_direction(picture, def->azimuth, def->elevation);
    double at = def->clip_at - talus_dot(axis, picture->origin);
    double side = talus_dot(axis, back) < -1e-6 ? -1.0 : 1.0;
    picture->bodies.cut =
        (TalusCut){true, talus_f3_of(talus_scale(side, axis)), (float)(side * at)};
}

TalusStatus talus_picture_bodies(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    int count = 0, forms = 0;
    for (int i = 0; i < s->body_count; i++) {
        bool solid = is_solid(picture, i);
        count += solid;
        forms += solid && picture->head->shapes[s->shape[i]].kind != TALUS_SHAPE_SPHERE;
    }
    TALUS_TRY(make_room(&picture->bodies, count, forms));
    for (int i = 0; i < s->body_count; i++)
        if (is_solid(picture, i))
            add_body(picture, i);
    if (picture->def->clip)
        set_cut(picture);
    return TALUS_OK;
}

/* ---- chains ---- */

/* The strong network: contacts above the mean of those that carry any. A snapshot that holds the
 * chains alone has lost the others, so all of it counts. Returns the force to exceed. */
static double weakest_chain(const TalusSnapshot *s)
{
    double sum = 0.0;
    int loaded = 0;
    for (int k = 0; k < s->contact_count; k++) {
        double force = talus_contact_force(s, k);
        sum += force > 0.0 ? force : 0.0;
        loaded += force > 0.0;
    }
    return s->fields & TALUS_SNAPSHOT_CONTACTS && loaded ? sum / loaded : 0.0;
}

/* Counts the chains and sets the scale. */
static TalusStatus measure_chains(TalusPicture *picture, double least, int *count)
{
    const TalusSnapshot *s = picture->snapshot;
    double *force;
    TALUS_TRY(TALUS_ALLOC(force, (size_t)s->contact_count, "chains"));
    *count = 0;
    for (int k = 0; k < s->contact_count; k++)
        if (talus_contact_force(s, k) > least)
            force[(*count)++] = talus_contact_force(s, k);
    double high = talus_percentile(force, (size_t)*count);
    if (isnan(picture->def->high))
        picture->high = fmax(high > 0.0 ? talus_nice(high) : 1.0, picture->low);
    talus_release(force);
    return TALUS_OK;
}

/* The rotation that takes z to a unit vector. */
static TalusQuat turn_to(TalusVec3 n)
{
    TalusQuat half = {1.0 + n.z, -n.y, n.x, 0.0}, over = {0.0, 1.0, 0.0, 0.0};
    return half.w > 1e-9 ? talus_quat_normalize(half) : over;
}

/* From centre to centre, or to the point on a wall: a tube with round ends. */
static void add_chain(TalusPicture *picture, int k, double force)
{
    const TalusSnapshot *s = picture->snapshot;
    int a = s->contact_a[k], b = s->contact_b[k];
    TalusVec3 from = s->fixed[a] ? s->contact[k].point : s->position[a];
    TalusVec3 to = s->fixed[b] ? s->contact[k].point : s->position[b];
    TalusVec3 way = talus_sub(to, from);
    double length = talus_norm(way), part = force / picture->high;
    double radius = TALUS_CHAIN_RADIUS * picture->head->radius * sqrt(fmin(part, 1.0));
    uint32_t rgb =
        talus_palette_sequential((force - picture->low) / (picture->high - picture->low));
    if (!(length > 0.0 && isfinite(length)))
        return;
    TalusVec3 middle = talus_sub(talus_madd(from, 0.5, way), picture->origin);
    TalusSolid *tube = add_solid(&picture->chains, talus_f3_of(middle), length, rgb);
    add_form(&picture->chains, tube, TALUS_FORM_CYLINDER, talus_vec3(radius, radius, 0.5 * length),
             turn_to(talus_scale(1.0 / length, way)));
    add_solid(&picture->chains, talus_f3_of(talus_sub(from, picture->origin)), radius, rgb);
    add_solid(&picture->chains, talus_f3_of(talus_sub(to, picture->origin)), radius, rgb);
}

TalusStatus talus_picture_chains(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (!s->contact)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "chains: this frame holds no contacts; frames of more "
                          "than %d bodies leave them out",
                          TALUS_LEAN_ABOVE);
    int count;
    double least = weakest_chain(s);
    TALUS_TRY(measure_chains(picture, least, &count));
    TALUS_TRY(make_room(&picture->chains, 3 * count, count));
    for (int k = 0; k < s->contact_count; k++)
        if (talus_contact_force(s, k) > least)
            add_chain(picture, k, talus_contact_force(s, k));
    picture->chains.cut = picture->bodies.cut;
    return TALUS_OK;
}

void talus_picture_clear(TalusPicture *picture)
{
    talus_release(picture->bodies.solid);
    talus_release(picture->bodies.form);
    talus_release(picture->chains.solid);
    talus_release(picture->chains.form);
    talus_release(picture->pane);
    talus_release(picture->line);
    memset(picture, 0, sizeof *picture);
}
