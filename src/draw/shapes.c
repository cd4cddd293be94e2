/* draw/shapes.c - prepares the shapes of a head once for all bodies: finds ground, makes polyhedra of convex pieces. */
#include "base/memory.h"
#include "base/status.h"
#include "draw/picture.h"
#include "io/frames/frames.h"

/* Cosine of 45 degrees: a sheet that is nowhere steeper is ground, not a container. */
#define GROUND_SLOPE 0.7071067811865476

/* ---- ground ---- */

/* True if no triangle of the mesh, rotated by q, is steeper than GROUND_SLOPE. */
static bool is_nowhere_steep(const TalusMesh *mesh, TalusQuat q, TalusVec3 up)
{
    TalusVec3 up_in_body = talus_rotate_back(q, up);
    for (int k = 0; k < mesh->triangle_count; k++) {
        TalusVec3 n = talus_area_normal(mesh, mesh->triangle + 3 * (size_t)k);
        if (!(talus_dot(n, up_in_body) >= GROUND_SLOPE * talus_norm(n)))
            return false;
    }
    return true;
}

bool talus_is_ground(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    return s->fixed[row] && picture->shape[s->shape[row]].ground &&
           picture->def->container != TALUS_CONTAINER_HIDDEN;
}

/* Sets `ground` of each shape. Whether a sheet is level depends on the orientation of its body. Usually it has one
 * body; of several the first counts, hence the order of the loop. */
static void find_grounds(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    for (int i = s->body_count - 1; i >= 0; i--) {
        TalusDrawnShape *shape = &picture->shape[s->shape[i]];
        if (shape->figure->drawn == TALUS_DRAWN_GROUND)
            shape->ground = true;
        else if (shape->figure->drawn == TALUS_DRAWN_SHEET)
            shape->ground =
                is_nowhere_steep(&shape->figure->level[0], s->orientation[i], picture->up);
    }
}

/* ---- pieces ---- */

/* Returns the index in the mesh of the first triangle of a piece. */
static int first_triangle_of_piece(const TalusMesh *mesh, int piece)
{
    int start = 0;
    for (int k = 0; k < piece; k++)
        start += mesh->piece[k];
    return start;
}

/* Makes piece `which` of a figure: a polyhedron per level, all relative to the middle of the finest level's box. */
static TalusStatus make_piece(TalusPicture *picture, const TalusFigure *figure, int which,
                              TalusPiece *out)
{
    const TalusMesh *fine = &figure->level[figure->levels - 1];
    int start = first_triangle_of_piece(fine, which);
    TalusAabb b = talus_figure_bounds(fine, start, start + fine->piece[which]);
    *out = (TalusPiece){talus_scale(0.5, talus_add(b.lo, b.hi)),
                        talus_scale(0.5, talus_sub(b.hi, b.lo)), picture->polyhedra, 0};
    for (; out->levels < figure->levels; out->levels++) {
        const TalusMesh *mesh = &figure->level[out->levels];
        start = first_triangle_of_piece(mesh, which);
        TALUS_TRY(talus_polyhedron_create(mesh, start, start + mesh->piece[which], out->middle,
                                          out->half, &picture->polyhedron[picture->polyhedra]));
        picture->polyhedra++;
    }
    return TALUS_OK;
}

/* Makes the pieces and polyhedra of all shapes. */
static TalusStatus make_pieces(TalusPicture *picture)
{
    size_t pieces = 0, polyhedra = 0;
    for (int k = 0; k < picture->head->shape_count; k++) {
        TalusDrawnShape *shape = &picture->shape[k];
        shape->first = (int)pieces;
        shape->pieces =
            shape->figure->drawn == TALUS_DRAWN_SOLID ? shape->figure->level[0].piece_count : 0;
        pieces += (size_t)shape->pieces;
        polyhedra += (size_t)shape->pieces * (size_t)shape->figure->levels;
    }
    TALUS_TRY(TALUS_ALLOC(picture->piece, pieces, "pieces"));
    TALUS_TRY(TALUS_ALLOC(picture->polyhedron, polyhedra, "pieces"));
    for (int k = 0; k < picture->head->shape_count; k++)
        for (int i = 0; i < picture->shape[k].pieces; i++)
            TALUS_TRY(make_piece(picture, picture->shape[k].figure, i,
                                 &picture->piece[picture->shape[k].first + i]));
    picture->bodies.polyhedron = picture->polyhedron;
    return TALUS_OK;
}

/* Bodies farther from the origin, m, are not drawn: squares of single-precision numbers overflow from 2e19 on. */
#define MAX_DISTANCE 1e18

bool talus_is_in_bodies(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    if (talus_is_surface(picture, row)) {
        if (!talus_is_ground(picture, row))
            return false;
    } else if (s->fixed[row] && !picture->fixed_solid) {
        return false;
    }
    return talus_norm(talus_sub(s->position[row], picture->origin)) < MAX_DISTANCE &&
           s->radius[row] > 0.0;
}

/* ---- the shapes of a picture ---- */

TalusStatus talus_picture_prepare_shapes(TalusPicture *picture)
{
    const TalusFramesHead *head = picture->head;
    if (!head->figures)
        TALUS_TRY(talus_head_make_figures(head, &picture->own_figures));
    TALUS_TRY(TALUS_ALLOC(picture->shape, (size_t)head->shape_count, "shapes"));
    for (int k = 0; k < head->shape_count; k++)
        picture->shape[k].figure =
            picture->own_figures ? &picture->own_figures[k] : &head->figures[k];
    find_grounds(picture);
    return make_pieces(picture);
}

void talus_picture_clear_shapes(TalusPicture *picture)
{
    for (int k = 0; k < picture->polyhedra; k++)
        talus_polyhedron_free(&picture->polyhedron[k]);
    TALUS_RELEASE(picture->polyhedron, picture->piece, picture->shape);
    talus_head_free_figures(&picture->own_figures, picture->head ? picture->head->shape_count : 0);
}
