/* How shapes are drawn: levels of detail, pieces, and the same numbers as files keep. */
#include "all_shapes.h"
#include "geometry/figure.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static const double cup[] = {0.0, -1.5, 1.5, -1.5, 1.5, 1.5};
static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 2.0};
static const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.7, 0.9}};
static const TalusShapeDef drum = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.8};
static const TalusShapeDef vessel = {.kind = TALUS_SHAPE_REVOLVE, .profile = cup, .point_count = 3};

static double volume_of(const TalusMesh *mesh)
{
    double sum = 0.0;
    for (int k = 0; k < mesh->triangle_count; k++) {
        const int *t = mesh->triangle + 3 * k;
        TalusVec3 a = mesh->vertex[t[0]], b = mesh->vertex[t[1]], c = mesh->vertex[t[2]];
        sum += talus_dot(a, talus_cross(b, c)) / 6.0;
    }
    return sum;
}

static void check_numbers(const TalusMesh *mesh)
{
    int wrong = 0, pieces = 0;
    for (int k = 0; k < mesh->vertex_count; k++) {
        TalusVec3 p = mesh->vertex[k], n = mesh->normal[k];
        wrong += p.x != (float)p.x || p.y != (float)p.y || p.z != (float)p.z;
        wrong += n.x * TALUS_NORMAL_STEPS != rint(n.x * TALUS_NORMAL_STEPS);
        wrong += fabs(talus_norm(n) - 1.0) > 1e-4;
        for (int j = 0; j < k && mesh->vertex_count < 600; j++)
            wrong += memcmp(&p, &mesh->vertex[j], sizeof p) == 0 &&
                     memcmp(&n, &mesh->normal[j], sizeof n) == 0;
    }
    for (int k = 0; k < 3 * mesh->triangle_count; k++)
        wrong += mesh->triangle[k] < 0 || mesh->triangle[k] >= mesh->vertex_count;
    for (int k = 0; k < 2 * mesh->edge_count; k++)
        wrong += mesh->edge[k] < 0 || mesh->edge[k] >= mesh->vertex_count;
    for (int k = 0; k < mesh->piece_count; k++)
        pieces += mesh->piece[k];
    CHECK_INT(wrong, 0);
    CHECK_INT(pieces, mesh->piece_count ? mesh->triangle_count : 0);
}

static void check_figure(const TalusShapeDef *def, TalusDrawn drawn, int levels, int pieces)
{
    TalusFigure figure;
    TalusMassProperties unit;
    REQUIRE_OK(talus_figure_of_shape(def, &figure));
    CHECK_STR(talus_drawn_name(figure.drawn), talus_drawn_name(drawn));
    CHECK_INT(figure.levels, levels);
    for (int k = 0; k < figure.levels; k++) {
        check_numbers(&figure.level[k]);
        CHECK_INT(figure.level[k].piece_count, pieces);
        CHECK(k == 0 || figure.level[k].triangle_count > figure.level[k - 1].triangle_count);
    }
    if (pieces == 1) { /* parts of a compound may overlap */
        REQUIRE_OK(talus_shape_mass(def, 0.0, 1.0, &unit));
        CHECK_NEAR(volume_of(&figure.level[levels - 1]), unit.mass, 0.005 * unit.mass);
    }
    talus_figure_free(&figure);
}

TEST(shapes_have_figures)
{
    check_figure(&ball, TALUS_DRAWN_SPHERE, 0, 0);
    check_figure(&plane, TALUS_DRAWN_HALF_SPACE, 0, 0);
    check_figure(&brick, TALUS_DRAWN_SOLID, 1, 1);
    check_figure(&drum, TALUS_DRAWN_SOLID, 4, 1);
    check_figure(&vessel, TALUS_DRAWN_VESSEL, 4, 0);
    check_figure(&all_shapes[PILL], TALUS_DRAWN_SOLID, 3, 1); /* round both ways: 192 is too fine */
    check_figure(&all_shapes[HAT], TALUS_DRAWN_SOLID, 4, 1);
    check_figure(&all_shapes[EGG], TALUS_DRAWN_SOLID, 3, 1);
    check_figure(&all_shapes[STONE], TALUS_DRAWN_SOLID, 1, 1);
    check_figure(&all_shapes[DUMBBELL], TALUS_DRAWN_SOLID, 3, 3);
    check_figure(&all_shapes[TRAY], TALUS_DRAWN_SHEET, 1, 0);
    check_figure(&all_shapes[HILL], TALUS_DRAWN_GROUND, 1, 0);
}

TEST(a_figure_has_its_box)
{
    TalusFigure figure;
    REQUIRE_OK(talus_figure_of_shape(&brick, &figure));
    CHECK_INT(figure.level[0].vertex_count, 24);
    CHECK_INT(figure.level[0].triangle_count, 12);
    CHECK(figure.box.lo.x == -0.5 && figure.box.hi.y == (float)0.7 &&
          figure.box.hi.z == (float)0.9);
    talus_figure_free(&figure);
    CHECK(figure.levels == 0 && !figure.level[0].vertex);
}

/* Of a tray without doubled corners: vertices that differ in their normals alone stay apart. */
TEST(equal_vertices_are_one)
{
    TalusFigure figure;
    REQUIRE_OK(talus_figure_of_shape(&all_shapes[TRAY], &figure));
    CHECK_INT(figure.level[0].triangle_count, 10);
    CHECK_INT(figure.level[0].vertex_count, 20); /* four corners of five faces */
    talus_figure_free(&figure);
}

TEST(figures_fail_as_their_shapes_do)
{
    TalusFigure figure;
    TalusShapeDef bad = brick, huge = brick;
    bad.half.x = -1.0;
    huge.half.x = 1e200;
    CHECK(talus_figure_of_shape(&bad, &figure) == TALUS_ERR_ARGUMENT);
    CHECK_INT(figure.levels, 0);
    CHECK(talus_figure_of_shape(&huge, &figure) == TALUS_ERR_UNSUPPORTED);
    CHECK_INT(figure.levels, 0);
}

int main(void)
{
    RUN(shapes_have_figures);
    RUN(a_figure_has_its_box);
    RUN(equal_vertices_are_one);
    RUN(figures_fail_as_their_shapes_do);
    return talus_test_result();
}
