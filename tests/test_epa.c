/* The polytope of the expanding polytope algorithm: it is a closed surface whether a point is added or has no room. */
#include "collide/epa.h"
#include "geometry/kinds.h"
#include "support/test.h"

enum { EQUATOR = TALUS_EPA_POINTS - 3 };

/* Two pyramids on a common base of EQUATOR corners, apexes at the last two points. The upper faces with even number
 * come first, with lower ones between them: no two of them share an edge. */
static void make_pyramids(TalusEpa *e)
{
    *e = (TalusEpa){.points = EQUATOR + 2, .extent = 1.0};
    for (int k = 0; k < EQUATOR; k++) {
        double angle = 2.0 * TALUS_PI * k / EQUATOR;
        e->w[k] = talus_vec3(cos(angle), sin(angle), 0.0);
    }
    e->w[EQUATOR] = talus_vec3(0.0, 0.0, 0.5);
    e->w[EQUATOR + 1] = talus_vec3(0.0, 0.0, -0.5);
    for (int odd = 0; odd < 2; odd++) {
        for (int k = odd; k < EQUATOR; k += 2) {
            int next = (k + 1) % EQUATOR;
            talus_epa_add_face(e, next, k, EQUATOR + 1);
            talus_epa_add_face(e, k, next, EQUATOR);
        }
    }
}

static int count_edge(const TalusEpa *e, int from, int to)
{
    int count = 0;
    for (int f = 0; f < e->faces; f++) {
        for (int k = 0; k < 3; k++)
            count += e->face[f].corner[k] == from && e->face[f].corner[(k + 1) % 3] == to;
    }
    return count;
}

/* Every edge is traversed once in either direction, as on a closed surface. */
static bool is_closed(const TalusEpa *e)
{
    for (int f = 0; f < e->faces; f++) {
        for (int k = 0; k < 3; k++) {
            int from = e->face[f].corner[k], to = e->face[f].corner[(k + 1) % 3];
            if (count_edge(e, from, to) != 1 || count_edge(e, to, from) != 1)
                return false;
        }
    }
    return true;
}

/* The point sees one upper face alone. */
TEST(a_face_is_lifted)
{
    static TalusEpa e;
    make_pyramids(&e);
    REQUIRE(is_closed(&e));
    TalusEpaFace *top = &e.face[9];
    TalusVec3 middle =
        talus_add(talus_add(e.w[top->corner[0]], e.w[top->corner[1]]), e.w[top->corner[2]]);
    TalusVec3 w = talus_add(talus_scale(1.0 / 3.0, middle), talus_scale(1e-3, top->normal));
    CHECK(talus_epa_add_point(&e, 9, w));
    CHECK_INT(e.faces, 2 * EQUATOR + 2);
    CHECK_INT(e.points, EQUATOR + 3);
    CHECK(is_closed(&e));
}

/* The point sees all upper faces, and the first of them, which share no edge, have more edges than the rim has room
 * for. */
TEST(a_rim_without_room_leaves_the_polytope)
{
    static TalusEpa e;
    make_pyramids(&e);
    CHECK(!talus_epa_add_point(&e, 1, talus_vec3(0.0, 0.0, 100.0)));
    CHECK_INT(e.faces, 2 * EQUATOR);
    CHECK_INT(e.points, EQUATOR + 2);
    CHECK(is_closed(&e));
}

/* A single triangle is seen, and the faces from its rim are more than there is room for. */
TEST(faces_without_room_leave_the_polytope)
{
    static TalusEpa e;
    make_pyramids(&e);
    while (e.faces < TALUS_EPA_FACES)
        talus_epa_add_face(&e, 0, 1, 2);
    int faces = e.faces;
    CHECK(!talus_epa_add_point(&e, faces - 1, e.w[0]));
    CHECK_INT(e.faces, faces);
    CHECK_INT(e.points, EQUATOR + 2);
    CHECK_INT(count_edge(&e, 0, 1), 1 + TALUS_EPA_FACES - 2 * EQUATOR);
}

int main(void)
{
    RUN(a_face_is_lifted);
    RUN(a_rim_without_room_leaves_the_polytope);
    RUN(faces_without_room_leave_the_polytope);
    return talus_test_result();
}
