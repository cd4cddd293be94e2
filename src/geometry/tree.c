/* geometry/tree.c - builds the tree of bounding boxes of a mesh (tree.h). */
#include "geometry/tree.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"

#include <float.h>

/* A triangle to be placed in the tree. */
typedef struct TreeItem {
    TalusVec3 middle; /* centre of the bounding box of the triangle */
    int32_t triangle;
} TreeItem;

/* Arguments of build_subtree. */
typedef struct TreeBuilder {
    TalusTreeNode *node;
    int32_t nodes;  /* nodes written so far */
    TreeItem *item; /* all triangles; each subtree has a contiguous range */
    const TalusVec3 *vertex;
    const int32_t *triangle;
} TreeBuilder;

/* True if p comes before q along an axis; ties are broken by the index of the triangle. */
static bool is_before_along(const TreeItem *p, const TreeItem *q, int axis)
{
    double x = talus_along(p->middle, axis), y = talus_along(q->middle, axis);
    return x < y || (x == y && p->triangle < q->triangle);
}

static void swap_items(TreeItem *p, TreeItem *q)
{
    TreeItem item = *p;
    *p = *q;
    *q = item;
}

/* Partially sorts items begin .. end - 1 along an axis: the item that belongs at index k is moved there, smaller items
 * before it, larger ones after it (Hoare's selection). */
static void select_rank(TreeItem *item, int begin, int end, int k, int axis)
{
    while (end - begin > 2) {
        int middle = begin + (end - begin) / 2, last = end - 1;
        if (is_before_along(&item[middle], &item[begin], axis))
            swap_items(&item[middle], &item[begin]);
        if (is_before_along(&item[last], &item[begin], axis))
            swap_items(&item[last], &item[begin]);
        if (is_before_along(&item[last], &item[middle], axis))
            swap_items(&item[last], &item[middle]);
        TreeItem pivot = item[middle];
        int i = begin, j = last;
        while (i <= j) {
            while (is_before_along(&item[i], &pivot, axis))
                i++;
            while (is_before_along(&pivot, &item[j], axis))
                j--;
            if (i <= j)
                swap_items(&item[i++], &item[j--]);
        }
        if (k <= j)
            end = j + 1;
        else if (k >= i)
            begin = i;
        else
            return;
    }
    if (end - begin == 2 && is_before_along(&item[begin + 1], &item[begin], axis))
        swap_items(&item[begin + 1], &item[begin]);
}

/* Axis along which the centres of items begin .. end - 1 extend farthest. */
static int axis_of_longest_extent(const TreeItem *item, int begin, int end)
{
    TalusAabb box = {item[begin].middle, item[begin].middle};
    for (int k = begin + 1; k < end; k++)
        box = talus_aabb_add_point(box, item[k].middle);
    TalusVec3 d = talus_sub(box.hi, box.lo);
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

/* Largest float that is not above x. */
static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -FLT_MAX) : f;
}

/* Smallest float that is not below x. */
static float round_up(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, FLT_MAX) : f;
}

/* Sets the box of a leaf to that of its triangle, rounded outwards. */
static void set_triangle_bounds(const TreeBuilder *b, TalusTreeNode *node)
{
    const int32_t *t = b->triangle + 3 * (size_t)node->item;
    for (int axis = 0; axis < 3; axis++) {
        double x = talus_along(b->vertex[t[0]], axis), y = talus_along(b->vertex[t[1]], axis),
               z = talus_along(b->vertex[t[2]], axis);
        node->lo[axis] = round_down(fmin(fmin(x, y), z));
        node->hi[axis] = round_up(fmax(fmax(x, y), z));
    }
}

/* Sets the box of an inner node to that of its two children. */
static void set_bounds_of_children(const TreeBuilder *b, TalusTreeNode *node)
{
    const TalusTreeNode *left = node + 1, *right = b->node + left->skip;
    for (int axis = 0; axis < 3; axis++) {
        node->lo[axis] = fminf(left->lo[axis], right->lo[axis]);
        node->hi[axis] = fmaxf(left->hi[axis], right->hi[axis]);
    }
}

/* Writes the nodes of the subtree over items begin .. end - 1. The depth of recursion is the binary logarithm
 * of their number, rounded up. */
static void build_subtree(TreeBuilder *b, int begin, int end)
{
    TalusTreeNode *node = &b->node[b->nodes++];
    if (end - begin == 1) {
        node->item = b->item[begin].triangle;
        set_triangle_bounds(b, node);
    } else {
        int middle = begin + (end - begin) / 2;
        select_rank(b->item, begin, end, middle, axis_of_longest_extent(b->item, begin, end));
        node->item = -1;
        build_subtree(b, begin, middle);
        build_subtree(b, middle, end);
        set_bounds_of_children(b, node);
    }
    node->skip = b->nodes;
}

TalusStatus talus_tree_build(TalusTreeNode *node, const TalusVec3 *vertex, const int32_t *triangle,
                             int triangles)
{
    TreeBuilder b = {.node = node, .vertex = vertex, .triangle = triangle};
    TALUS_TRY(TALUS_ALLOC(b.item, (size_t)triangles, "tree of triangles"));
    for (int t = 0; t < triangles; t++) {
        const int32_t *v = triangle + 3 * (size_t)t;
        TalusAabb box = {vertex[v[0]], vertex[v[0]]};
        box = talus_aabb_add_point(talus_aabb_add_point(box, vertex[v[1]]), vertex[v[2]]);
        b.item[t] = (TreeItem){talus_scale(0.5, talus_add(box.lo, box.hi)), t};
    }
    build_subtree(&b, 0, triangles);
    talus_release(b.item);
    return TALUS_OK;
}
