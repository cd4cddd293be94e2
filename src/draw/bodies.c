/* draw/bodies.c - moving bodies, opaque fixed bodies with an inside, ground, and force chains as solids. */
#include "draw/picture.h"

#include "io/frames/frames.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/period.h"
#include "io/formats/fields.h"

#include <limits.h>
#include <string.h>

/* Reserves capacity for so many more solids, forms and normals. */
static TalusStatus reserve_solids(TalusSolids *solids, int more, int forms, int normals)
{
    size_t have = (size_t)solids->count, of_forms = (size_t)solids->form_count;
    size_t of_normals = (size_t)solids->normal_count;
    TALUS_TRY(TALUS_GROW(solids->solid, have + (size_t)more, have, "solids"));
    TALUS_TRY(TALUS_GROW(solids->form, of_forms + (size_t)forms, of_forms, "solids"));
    return TALUS_GROW(solids->normal, of_normals + (size_t)normals, of_normals, "normals");
}

/* Adds a sphere of this radius, and returns it so that add_form can turn it into another solid. Capacity is
 * reserved. */
static TalusSolid *add_solid(TalusSolids *solids, TalusF3 centre, double radius, uint32_t rgb)
{
    TalusSolid *solid = &solids->solid[solids->count++];
    *solid = (TalusSolid){centre, (float)radius, -1, rgb};
    return solid;
}

/* Turns a solid into a form of this kind, whose box has half extents `half` and rotation q. Sets the radius of the
 * solid to that of the sphere around the box, slightly enlarged. Capacity is reserved. */
static TalusForm *add_form(TalusSolids *solids, TalusSolid *solid, TalusFormKind kind,
                           TalusVec3 half, TalusQuat q)
{
    TalusForm *form = &solids->form[solids->form_count];
    solid->form = solids->form_count++;
    solid->radius = (float)(talus_norm(half) * (1.0 + 1e-6));
    *form = (TalusForm){.kind = kind,
                        .half = talus_f3_from_vec3(half),
                        .axis = {talus_f3_from_vec3(talus_rotate(q, talus_vec3(1, 0, 0))),
                                 talus_f3_from_vec3(talus_rotate(q, talus_vec3(0, 1, 0))),
                                 talus_f3_from_vec3(talus_rotate(q, talus_vec3(0, 0, 1)))}};
    return form;
}

/* ---- bodies ---- */

TalusPlacement talus_picture_placement(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    TalusPlacement r = {talus_sub(s->position[row], picture->origin), s->orientation[row], 1.0,
                        talus_picture_colour(picture, row)};
    return r;
}

/* Adds a convex piece of a body as a polyhedron. */
static void add_piece(TalusSolids *solids, const TalusPlacement *p, const TalusPiece *piece)
{
    TalusVec3 at = talus_add(p->position, talus_rotate(p->q, piece->middle));
    TalusSolid *solid = add_solid(solids, talus_f3_from_vec3(at), 0.0, p->rgb);
    TalusForm *form = add_form(solids, solid, TALUS_FORM_POLYHEDRON, piece->half, p->q);
    form->item = piece->first;
    form->levels = piece->levels;
}

/* Adds a body to `bodies`: a sphere, or its convex pieces. */
static void add_body_solids(TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    const TalusDrawnShape *shape = &picture->shape[s->shape[row]];
    TalusPlacement p = talus_picture_placement(picture, row);
    if (shape->figure->drawn == TALUS_DRAWN_SPHERE)
        add_solid(&picture->bodies, talus_f3_from_vec3(p.position), s->radius[row], p.rgb);
    for (int k = 0; k < shape->pieces; k++)
        add_piece(&picture->bodies, &p, &picture->piece[shape->first + k]);
}

/* ---- surfaces ---- */

/* Adds a triangle of a mesh, with its three corner normals multiplied by `side`. The caller has set kind, item and
 * opaque_from of the form. */
static void add_triangle(TalusSolids *solids, const TalusPlacement *p, const TalusMesh *mesh,
                         const int *vertex, double side)
{
    TalusVec3 corner[3], middle = talus_vec3(0, 0, 0);
    TalusForm *form = &solids->form[solids->form_count];
    for (int k = 0; k < 3; k++) {
        TalusVec3 normal = talus_scale(side, mesh->normal[vertex[k]]);
        corner[k] = talus_madd(p->position, p->scale, talus_rotate(p->q, mesh->vertex[vertex[k]]));
        middle = talus_madd(middle, 1.0 / 3.0, corner[k]);
        solids->normal[solids->normal_count++] = talus_f3_from_vec3(talus_rotate(p->q, normal));
    }
    double radius = 0.0;
    for (int k = 0; k < 3; k++) {
        TalusVec3 off = talus_sub(corner[k], middle);
        form->axis[k] = talus_f3_from_vec3(off);
        radius = fmax(radius, talus_norm(off));
    }
    add_solid(solids, talus_f3_from_vec3(middle), radius * (1.0 + 1e-6), p->rgb)->form =
        solids->form_count++;
}

TalusStatus talus_solids_add_mesh(TalusSolids *solids, const TalusMesh *mesh,
                                  const TalusPlacement *placement, TalusOpaqueFrom opaque_from,
                                  const TalusVec3 *from)
{
    int more = mesh->triangle_count;
    TALUS_TRY(reserve_solids(solids, more, more, 3 * more));
    for (int k = 0; k < more; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        bool inward =
            from && talus_dot(mesh->normal[t[0]], talus_sub(mesh->vertex[t[0]], *from)) < 0.0;
        solids->form[solids->form_count] = (TalusForm){
            .kind = TALUS_FORM_TRIANGLE, .opaque_from = opaque_from, .item = solids->normal_count};
        add_triangle(solids, placement, mesh, t, inward ? -1.0 : 1.0);
    }
    return TALUS_OK;
}

/* Adds the finest level of a ground to `bodies`, opaque from both sides. */
static TalusStatus add_ground(TalusPicture *picture, int row)
{
    TalusPlacement p = talus_picture_placement(picture, row);
    return talus_solids_add_mesh(&picture->bodies,
                                 talus_figure_level(talus_picture_figure(picture, row), INT_MAX),
                                 &p, TALUS_OPAQUE_FROM_BOTH, NULL);
}

/* Sets bodies.cut to the plane x[clip_axis] = clip_at, oriented so that the part on the camera's side is removed. */
static void set_clip_cut(TalusPicture *picture)
{
    const TalusDrawDef *def = picture->def;
    TalusVec3 axis = talus_vec3(def->clip_axis == 0, def->clip_axis == 1, def->clip_axis == 2);
    TalusVec3 back = talus_picture_camera_direction(picture);
    double at = def->clip_at - talus_dot(axis, picture->origin);
    double side = talus_dot(axis, back) < -1e-6 ? -1.0 : 1.0;
    picture->bodies.cut =
        (TalusCut){true, talus_f3_from_vec3(talus_scale(side, axis)), (float)(side * at)};
}

TalusStatus talus_picture_add_bodies(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    int count = 0;
    for (int i = 0; i < s->body_count; i++)
        if (talus_is_in_bodies(picture, i))
            count += talus_is_drawn_as(picture, i, TALUS_DRAWN_SPHERE)
                         ? 1
                         : picture->shape[s->shape[i]].pieces;
    TALUS_TRY(reserve_solids(&picture->bodies, count, count, 0));
    for (int i = 0; i < s->body_count; i++)
        if (talus_is_in_bodies(picture, i) && !talus_is_ground(picture, i))
            add_body_solids(picture, i);
    for (int i = 0; i < s->body_count; i++) /* last, because add_ground reserves its own capacity */
        if (talus_is_in_bodies(picture, i) && talus_is_ground(picture, i))
            TALUS_TRY(add_ground(picture, i));
    if (picture->def->clip)
        set_clip_cut(picture);
    return TALUS_OK;
}

/* ---- force chains ---- */

/* Returns the normal force above which a contact is drawn as a chain: the mean over loaded contacts. Returns 0 without
 * loaded contacts, and for a snapshot that has chains only, since these have been selected already. */
static double min_chain_force(const TalusSnapshot *s)
{
    double sum = 0.0;
    int loaded = 0;
    for (int k = 0; k < s->contact_count; k++) {
        double force = talus_snapshot_contact_force(s, k);
        sum += force > 0.0 ? force : 0.0;
        loaded += force > 0.0;
    }
    return s->fields & TALUS_SNAPSHOT_CONTACTS && loaded ? sum / loaded : 0.0;
}

/* Sets *count to the number of contact forces above `least`. Sets picture->high, unless it is given, to the 99th
 * percentile of these forces, rounded up by talus_round_up_nice; to 1 N if there are none. */
static TalusStatus count_chains_and_set_high(TalusPicture *picture, double least, int *count)
{
    const TalusSnapshot *s = picture->snapshot;
    double *force;
    TALUS_TRY(TALUS_ALLOC(force, (size_t)s->contact_count, "chains"));
    *count = 0;
    for (int k = 0; k < s->contact_count; k++)
        if (talus_snapshot_contact_force(s, k) > least)
            force[(*count)++] = talus_snapshot_contact_force(s, k);
    double high = talus_percentile_99(force, (size_t)*count);
    if (isnan(picture->def->high)) {
        talus_picture_set_high(picture, high > 0.0 ? talus_round_up_nice(high) : 0.0);
        picture->high = fmax(picture->high, picture->low);
    }
    talus_release(force);
    return TALUS_OK;
}

/* Returns a rotation that takes the z axis to the unit vector n. */
static TalusQuat rotation_from_z_to(TalusVec3 n)
{
    TalusQuat half = {1.0 + n.z, -n.y, n.x, 0.0}, over = {0.0, 1.0, 0.0, 0.0};
    return half.w > 1e-9 ? talus_quat_normalize(half) : over;
}

/* Adds contact k, unless its ends coincide, as a tube with round ends (two spheres) between the centres of its bodies,
 * in a periodic space to the nearest image. At a fixed body, whose centre may be anywhere, and at one that is large beside
 * the other, the tube ends at the contact point. */
static void add_chain(TalusPicture *picture, int k, double force)
{
    const TalusSnapshot *s = picture->snapshot;
    int a = s->contact_a[k], b = s->contact_b[k];
    int large = s->fixed[b] ? -1 : talus_chain_large_end((float)s->radius[a], (float)s->radius[b]);
    TalusVec3 from = s->fixed[a] || large == 0 ? s->contact[k].point : s->position[a];
    TalusVec3 to = s->fixed[b] || large == 1 ? s->contact[k].point : s->position[b];
    TalusVec3 axis = talus_nearest_image_vector(&picture->head->period, talus_sub(to, from));
    if (talus_has_period(&picture->head->period))
        to = talus_add(from, axis);
    double length = talus_norm(axis), part = force / picture->high;
    double radius = TALUS_CHAIN_RADIUS * picture->head->radius * sqrt(fmin(part, 1.0));
    uint32_t rgb =
        talus_palette_sequential((force - picture->low) / (picture->high - picture->low));
    if (!(length > 0.0 && isfinite(length)))
        return;
    TalusVec3 middle = talus_sub(talus_madd(from, 0.5, axis), picture->origin);
    TalusSolid *tube = add_solid(&picture->chains, talus_f3_from_vec3(middle), length, rgb);
    add_form(&picture->chains, tube, TALUS_FORM_TUBE, talus_vec3(radius, radius, 0.5 * length),
             rotation_from_z_to(talus_scale(1.0 / length, axis)));
    add_solid(&picture->chains, talus_f3_from_vec3(talus_sub(from, picture->origin)), radius, rgb);
    add_solid(&picture->chains, talus_f3_from_vec3(talus_sub(to, picture->origin)), radius, rgb);
}

TalusStatus talus_picture_add_chains(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    if (!s->contact)
        return talus_reject("chains: this frame holds no contacts; frames of more "
                            "than %d bodies leave them out",
                            TALUS_LEAN_ABOVE);
    int count;
    double least = min_chain_force(s);
    TALUS_TRY(count_chains_and_set_high(picture, least, &count));
    TALUS_TRY(reserve_solids(&picture->chains, 3 * count, count, 0));
    for (int k = 0; k < s->contact_count; k++)
        if (talus_snapshot_contact_force(s, k) > least)
            add_chain(picture, k, talus_snapshot_contact_force(s, k));
    picture->chains.cut = picture->bodies.cut;
    return TALUS_OK;
}

/* Releases the arrays of the solids; not the polyhedra, which the picture owns. */
static void release_solids(TalusSolids *solids)
{
    TALUS_RELEASE(solids->solid, solids->form, solids->normal);
}

void talus_picture_clear(TalusPicture *picture)
{
    release_solids(&picture->bodies);
    release_solids(&picture->chains);
    release_solids(&picture->walls);
    talus_picture_clear_shapes(picture);
    talus_release(picture->line);
    memset(picture, 0, sizeof *picture);
}
