/* geometry/tree.c - builds the tree of bounding boxes of a mesh (tree.h). */
#include "geometry/tree.h"

#include "base/memory.h"
#include "base/status.h"
#include "geometry/bounds.h"

#include <float.h>

typedef struct Item {
    TalusVec3 middle;
    int32_t triangle;
} Item;

typedef struct Builder {
    TalusTreeNode *node;
    int32_t nodes;
    Item *item;
    const TalusVec3 *vertex;
    const int32_t *triangle;
} Builder;

static bool before(const Item *p, const Item *q, int axis)
{
    double x = talus_along(p->middle, axis), y = talus_along(q->middle, axis);
    return x < y || (x == y && p->triangle < q->triangle);
}

static void swap(Item *p, Item *q)
{
    Item item = *p;
    *p = *q;
    *q = item;
}

/* Moves the item of rank k of begin .. end - 1 to index k, smaller ones before it (Hoare's selection). */
static void select_rank(Item *item, int begin, int end, int k, int axis)
{
    while (end - begin > 2) {
        int middle = begin + (end - begin) / 2, last = end - 1;
        if (before(&item[middle], &item[begin], axis))
            swap(&item[middle], &item[begin]);
        if (before(&item[last], &item[begin], axis))
            swap(&item[last], &item[begin]);
        if (before(&item[last], &item[middle], axis))
            swap(&item[last], &item[middle]);
        Item pivot = item[middle];
        int i = begin, j = last;
        while (i <= j) {
            while (before(&item[i], &pivot, axis))
                i++;
            while (before(&pivot, &item[j], axis))
                j--;
            if (i <= j)
                swap(&item[i++], &item[j--]);
        }
        if (k <= j)
            end = j + 1;
        else if (k >= i)
            begin = i;
        else
            return;
    }
    if (end - begin == 2 && before(&item[begin + 1], &item[begin], axis))
        swap(&item[begin + 1], &item[begin]);
}

static int longest_axis(const Item *item, int begin, int end)
{
    TalusAabb box = {item[begin].middle, item[begin].middle};
    for (int k = begin + 1; k < end; k++)
        box = talus_aabb_add(box, item[k].middle);
    TalusVec3 d = talus_sub(box.hi, box.lo);
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -FLT_MAX) : f;
}

static float round_up(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, FLT_MAX) : f;
}

static void bound_triangle(const Builder *b, TalusTreeNode *node)
{
    const int32_t *t = b->triangle + 3 * (size_t)node->item;
    for (int axis = 0; axis < 3; axis++) {
        double x = talus_along(b->vertex[t[0]], axis), y = talus_along(b->vertex[t[1]], axis),
               z = talus_along(b->vertex[t[2]], axis);
        node->lo[axis] = round_down(fmin(fmin(x, y), z));
        node->hi[axis] = round_up(fmax(fmax(x, y), z));
    }
}

static void bound_children(const Builder *b, TalusTreeNode *node)
{
    const TalusTreeNode *left = node + 1, *right = b->node + left->skip;
    for (int axis = 0; axis < 3; axis++) {
        node->lo[axis] = fminf(left->lo[axis], right->lo[axis]);
        node->hi[axis] = fmaxf(left->hi[axis], right->hi[axis]);
    }
}

/* Writes the subtree of items begin .. end - 1. The depth of recursion is the logarithm of their number. */
static void build(Builder *b, int begin, int end)
{
    TalusTreeNode *node = &b->node[b->nodes++];
    if (end - begin == 1) {
        node->item = b->item[begin].triangle;
        bound_triangle(b, node);
    } else {
        int middle = begin + (end - begin) / 2;
        select_rank(b->item, begin, end, middle, longest_axis(b->item, begin, end));
        node->item = -1;
        build(b, begin, middle);
        build(b, middle, end);
        bound_children(b, node);
    }
    node->skip = b->nodes;
}

TalusStatus talus_tree_build(TalusTreeNode *node, const TalusVec3 *vertex, const int32_t *triangle,
                             int triangles)
{
    Builder b = {.node = node, .vertex = vertex, .triangle = triangle};
    TALUS_TRY(TALUS_ALLOC(b.item, (size_t)triangles, "tree of triangles"));
    for (int t = 0; t < triangles; t++) {
        const int32_t *v = triangle + 3 * (size_t)t;
        TalusAabb box = {vertex[v[0]], vertex[v[0]]};
        box = talus_aabb_add(talus_aabb_add(box, vertex[v[1]]), vertex[v[2]]);
        b.item[t] = (Item){talus_scale(0.5, talus_add(box.lo, box.hi)), t};
    }
    build(&b, 0, triangles);
    talus_release(b.item);
    return TALUS_OK;
}
