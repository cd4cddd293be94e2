/* linalg/eliminate_order.c - the order in which nodes are eliminated, and the pattern of L.
 *
 * Vertices are moving bodies. A node is an edge between two vertices; it has one vertex if its other body does not
 * move, none if neither does. Eliminating a node merges its vertices, and L couples the node to the nodes that remain
 * at the merged vertex. So a node always has at most two vertices. The degree of a node is the number of half-edges
 * (node, side) at its vertices; its own half-edges count, and another node at both vertices counts twice. */
#include "linalg/eliminate_parts.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* State of the ordering. Half-edges, numbered 2 node + side, are in one list per vertex; nodes that are not yet
 * eliminated are in one list per degree. */
typedef struct Order {
    TalusElimination *e;
    int nodes, vertices, eliminated;
    int32_t filled; /* entries of e->below so far */
    /* [nodes]: first row and number of rows, in the caller's order */
    int32_t *row, *size;
    int32_t (*end)[2]; /* [nodes]: vertex of each side before merging (see vertex_of); -1: none */
    int32_t *merged;   /* [vertices]: a vertex that this one was merged into, or itself */
    /* [vertices]: first, last and number of half-edges of a vertex's list; after the elimination, work space */
    int32_t *head, *tail, *count;
    int32_t *after;       /* [2 nodes]: next half-edge of the vertex; -1: none */
    int32_t *degree;      /* [nodes]: degree of a node */
    int32_t *next, *last; /* [nodes]: node after and before in the list of its degree; -1: none */
    int32_t *degree_head; /* [2 nodes + 1]: first node of a degree, -1: none */
    /* [nodes]: 1 + index, in `sequence`, of the node eliminated last at a vertex of this node; 0: none */
    int32_t *mark;
    int32_t *sequence;           /* [nodes]: nodes in the order of elimination */
    int32_t *machine, *position; /* [nodes]: machine; final index, machine by machine */
    int32_t *old; /* [nodes + 1]: `start` of the pattern in the order of `sequence` */
} Order;

/* ---- rows, nodes, vertices ---- */

/* True if an impulse in the row moves the body on this side. */
static bool moves_body(const TalusJointRow *row, int side)
{
    bool any = false;
    for (int k = 0; k < 6; k++)
        any = any || row->push[side][k] != 0.0;
    return any && row->body[side] >= 0;
}

/* Sets e->moving: true for bodies that an impulse in some row moves. */
static void find_moving(TalusElimination *e)
{
    memset(e->moving, 0, (size_t)e->bodies * sizeof *e->moving);
    for (int i = 0; i < e->rows; i++)
        for (int side = 0; side < 2; side++)
            if (moves_body(&e->row[i], side))
                e->moving[e->row[i].body[side]] = true;
}

/* Returns the key of one side of a row: the body if the body moves, else -2 - body, which is negative (no body, -1, has
 * the key -1). The keys of all rows determine the nodes and their order of elimination. */
static int32_t side_key(const TalusElimination *e, int row, int side)
{
    int32_t body = e->row[row].body[side];
    return body >= 0 && e->moving[body] ? body : -2 - body;
}

/* Writes the keys of all rows into e->key. True if they equal the keys of the last analysis. */
static bool update_keys(TalusElimination *e)
{
    bool same = e->analysed_rows == e->rows;
    for (int i = 0; i < e->rows; i++)
        for (int side = 0; side < 2; side++) {
            int32_t key = side_key(e, i, side);
            same = same && e->key[i][side] == key;
            e->key[i][side] = key;
        }
    return same;
}

/* True if the row belongs to the node of the row before, which has `size` rows so far. */
static bool continues_node(const TalusElimination *e, int row, int size)
{
    return row > 0 && size < NODE_ROWS && e->key[row][0] == e->key[row - 1][0] &&
           e->key[row][1] == e->key[row - 1][1];
}

/* Groups consecutive rows into nodes: sets o->row, o->size and o->nodes. */
static void number_nodes(Order *o)
{
    const TalusElimination *e = o->e;
    for (int i = 0; i < e->rows; i++) {
        if (o->nodes > 0 && continues_node(e, i, o->size[o->nodes - 1])) {
            o->size[o->nodes - 1]++;
            continue;
        }
        o->row[o->nodes] = i;
        o->size[o->nodes++] = 1;
    }
}

/* Numbers the moving bodies as vertices (e->body_vertex), in the order in which they first occur in nodes, and sets
 * o->end. */
static void number_vertices(Order *o)
{
    TalusElimination *e = o->e;
    for (int b = 0; b < e->bodies; b++)
        e->body_vertex[b] = -1;
    for (int p = 0; p < o->nodes; p++)
        for (int side = 0; side < 2; side++) {
            int32_t body = e->key[o->row[p]][side];
            if (body >= 0 && e->body_vertex[body] == -1)
                e->body_vertex[body] = o->vertices++;
            o->end[p][side] = body >= 0 ? e->body_vertex[body] : -1;
        }
}

/* ---- lists ---- */

/* Returns the vertex that the given vertex is now part of after all merges, possibly itself, and shortens the path in
 * `merged`. */
static int32_t vertex_of(const Order *o, int32_t vertex)
{
    while (o->merged[vertex] != vertex) {
        o->merged[vertex] = o->merged[o->merged[vertex]];
        vertex = o->merged[vertex];
    }
    return vertex;
}

/* Appends half-edge `half` to the list of the vertex. */
static void append_half_edge(Order *o, int32_t vertex, int32_t half)
{
    o->after[half] = -1;
    if (o->head[vertex] < 0)
        o->head[vertex] = half;
    else
        o->after[o->tail[vertex]] = half;
    o->tail[vertex] = half;
    o->count[vertex]++;
}

/* Computes the degree of node p and puts p into the list of that degree. */
static void enlist_node(Order *o, int p)
{
    int32_t degree = 0;
    for (int side = 0; side < 2; side++)
        degree += o->end[p][side] >= 0 ? o->count[vertex_of(o, o->end[p][side])] : 0;
    o->degree[p] = degree;
    o->last[p] = -1;
    o->next[p] = o->degree_head[degree];
    if (o->next[p] >= 0)
        o->last[o->next[p]] = p;
    o->degree_head[degree] = p;
}

/* Takes node p out of the list of its degree. */
static void delist_node(Order *o, int p)
{
    if (o->last[p] >= 0)
        o->next[o->last[p]] = o->next[p];
    else
        o->degree_head[o->degree[p]] = o->next[p];
    if (o->next[p] >= 0)
        o->last[o->next[p]] = o->last[p];
}

/* Fills the lists of half-edges of all vertices and of nodes of all degrees. */
static void fill_lists(Order *o)
{
    for (int v = 0; v < o->vertices; v++) {
        o->merged[v] = v;
        o->head[v] = -1;
        o->count[v] = 0;
    }
    for (int p = 0; p < o->nodes; p++)
        for (int side = 0; side < 2; side++)
            if (o->end[p][side] >= 0)
                append_half_edge(o, o->end[p][side], 2 * p + side);
    memset(o->degree_head, 0xff, (2 * (size_t)o->nodes + 1) * sizeof *o->degree_head);
    for (int p = o->nodes - 1; p >= 0; p--)
        enlist_node(o, p);
}

/* ---- elimination ---- */

/* Moves the half-edges of a list, from `half` on, to vertex `to`, except those of node p, and appends their nodes to
 * the nodes below p. If both half-edges of a node would be moved, the second is dropped (its end becomes -1). */
static void move_nodes(Order *o, int p, int32_t half, int32_t to)
{
    while (half >= 0) {
        int32_t after = o->after[half], q = half / 2;
        if (q != p && o->mark[q] != o->eliminated + 1) {
            o->mark[q] = o->eliminated + 1;
            o->e->below[o->filled++] = q;
            o->end[q][half % 2] = to;
            append_half_edge(o, to, half);
        } else if (q != p) {
            o->end[q][half % 2] = -1;
        }
        half = after;
    }
}

/* Eliminates node p: merges its vertices, lists the nodes left at the merged vertex in e->below and updates their
 * degrees. */
static TalusStatus eliminate_node(Order *o, int p)
{
    TalusElimination *e = o->e;
    int32_t ends[2], heads[2] = {-1, -1};
    size_t filled = (size_t)o->filled, capacity = filled;
    for (int side = 0; side < 2; side++) {
        ends[side] = o->end[p][side] >= 0 ? vertex_of(o, o->end[p][side]) : -1;
        capacity += ends[side] >= 0 ? (size_t)o->count[ends[side]] : 0;
    }
    if (capacity > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "joints: the pattern of %d of them is too large",
                          o->nodes);
    TALUS_TRY(TALUS_GROW(e->below, capacity, filled, "pattern of joints"));
    int32_t to = ends[0] >= 0 ? ends[0] : ends[1];
    delist_node(o, p);
    for (int side = 0; side < 2; side++)
        if (ends[side] >= 0) {
            heads[side] = o->head[ends[side]]; /* -1 the second time if both are the same */
            o->head[ends[side]] = -1;
            o->count[ends[side]] = 0;
            o->merged[ends[side]] = to;
        }
    for (int side = 0; side < 2; side++)
        move_nodes(o, p, heads[side], to);
    for (int32_t i = e->start[o->eliminated]; i < o->filled; i++) {
        delist_node(o, e->below[i]);
        enlist_node(o, e->below[i]);
    }
    o->sequence[o->eliminated++] = p;
    e->start[o->eliminated] = o->filled;
    return TALUS_OK;
}

/* Eliminates all nodes, always one of least degree. */
static TalusStatus eliminate_all(Order *o)
{
    o->e->start[0] = 0;
    memset(o->mark, 0, (size_t)o->nodes * sizeof *o->mark);
    while (o->eliminated < o->nodes) {
        int32_t degree = 0;
        while (o->degree_head[degree] < 0)
            degree++;
        TALUS_TRY(eliminate_node(o, o->degree_head[degree]));
    }
    return TALUS_OK;
}

/* ---- machines ---- */

/* Numbers machines in the order of their first nodes. A node without moving bodies is a machine of its own. Writes the
 * machine of each node to o->machine, and that of each vertex to o->count. */
static void number_machines(Order *o)
{
    TalusElimination *e = o->e;
    int32_t *of_root = o->head; /* the lists are no longer needed */
    e->machines = 0;
    for (int v = 0; v < o->vertices; v++)
        of_root[v] = -1;
    for (int p = 0; p < o->nodes; p++) {
        const int32_t *key = e->key[o->row[p]];
        int32_t body = key[0] >= 0 ? key[0] : key[1];
        int32_t root = body >= 0 ? vertex_of(o, e->body_vertex[body]) : -1;
        if (root < 0 || of_root[root] < 0)
            o->machine[p] = e->machines++;
        else
            o->machine[p] = of_root[root];
        if (root >= 0)
            of_root[root] = o->machine[p];
    }
    for (int v = 0; v < o->vertices; v++)
        o->count[v] = of_root[vertex_of(o, v)];
}

/* Sets start[m], m in [0, machines], to the index of the first item of machine m when items are sorted by machine. */
static void count_items(const int32_t *machine, int items, int machines, int32_t *start)
{
    memset(start, 0, ((size_t)machines + 1) * sizeof *start);
    for (int i = 0; i < items; i++)
        start[machine[i] + 1]++;
    for (int m = 0; m < machines; m++)
        start[m + 1] += start[m];
}

/* Sets position[item] to the item's index when items are sorted by machine and, within a machine, in the order of
 * `taken`, a list of all items (NULL: 0, 1, 2...). `start` must be as count_items has set it, and is restored. */
static void position_items(const int32_t *machine, const int32_t *taken, int items, int machines,
                           int32_t *start, int32_t *position)
{
    for (int i = 0; i < items; i++) {
        int item = taken ? taken[i] : i;
        position[item] = start[machine[item]]++;
    }
    for (int m = machines; m > 0; m--)
        start[m] = start[m - 1];
    start[0] = 0;
}

/* Finds the final indices of nodes (o->position) and of vertices (e->body_vertex), machine by machine. */
static TalusStatus sort_by_machine(Order *o)
{
    TalusElimination *e = o->e;
    number_machines(o);
    size_t machines = (size_t)e->machines + 1;
    TALUS_TRY(TALUS_GROW(e->machine_start, machines, 0, "machines"));
    TALUS_TRY(TALUS_GROW(e->machine_vertex, machines, 0, "machines"));
    count_items(o->machine, o->nodes, e->machines, e->machine_start);
    position_items(o->machine, o->sequence, o->nodes, e->machines, e->machine_start, o->position);
    count_items(o->count, o->vertices, e->machines, e->machine_vertex);
    position_items(o->count, NULL, o->vertices, e->machines, e->machine_vertex, o->tail);
    for (int b = 0; b < e->bodies; b++)
        if (e->body_vertex[b] >= 0)
            e->body_vertex[b] = o->tail[e->body_vertex[b]];
    return TALUS_OK;
}

/* ---- the pattern, in its final order ---- */

/* Sorts in place by insertion. */
static void sort_rising(int32_t *a, int count)
{
    for (int i = 1; i < count; i++) {
        int32_t value = a[i], j = i;
        for (; j > 0 && a[j - 1] > value; j--)
            a[j] = a[j - 1];
        a[j] = value;
    }
}

/* Copies the lists of nodes below each node from `list` to `sorted`, as final indices, rising. In `list`, the nodes
 * below the k-th eliminated node begin at old[k]; in `sorted`, the nodes below the node of final index p begin at
 * e->start[p], which is set here. */
static void renumber_pattern(Order *o, const int32_t *old, const int32_t *list, int32_t *sorted)
{
    TalusElimination *e = o->e;
    for (int k = 0; k < o->nodes; k++)
        e->start[o->position[o->sequence[k]] + 1] = old[k + 1] - old[k];
    e->start[0] = 0;
    for (int p = 0; p < o->nodes; p++)
        e->start[p + 1] += e->start[p];
    for (int k = 0; k < o->nodes; k++) {
        int32_t *to = sorted + e->start[o->position[o->sequence[k]]], count = old[k + 1] - old[k];
        for (int i = 0; i < count; i++)
            to[i] = o->position[list[old[k] + i]];
        sort_rising(to, count);
    }
}

/* Renumbers the pattern by final indices and sets the first rows, caller's rows and vertices of the nodes. */
static TalusStatus finish_pattern(Order *o)
{
    TalusElimination *e = o->e;
    size_t filled = (size_t)o->filled, n = (size_t)o->nodes;
    TALUS_TRY(TALUS_GROW(e->below, 2 * filled, filled, "pattern of joints"));
    memcpy(o->old, e->start, (n + 1) * sizeof *o->old);
    renumber_pattern(o, o->old, e->below, e->below + filled);
    memmove(e->below, e->below + filled, filled * sizeof *e->below);
    for (int p = 0; p < o->nodes; p++) {
        int at = o->position[p];
        e->caller_row[at] = o->row[p];
        e->first_row[at + 1] = o->size[p];
        for (int side = 0; side < 2; side++) {
            int32_t body = e->key[o->row[p]][side];
            e->vertex[at][side] = body >= 0 ? e->body_vertex[body] : -1;
        }
    }
    e->first_row[0] = 0;
    for (int p = 0; p < o->nodes; p++)
        e->first_row[p + 1] += e->first_row[p];
    return TALUS_OK;
}

/* Sets the index in `value` at which each block of L begins: of each node its square block, then the blocks below
 * it. */
static TalusStatus locate_blocks(TalusElimination *e)
{
    int64_t at = 0;
    size_t blocks = (size_t)e->start[e->nodes];
    TALUS_TRY(TALUS_GROW(e->block_at, blocks, 0, "factor of joints"));
    for (int p = 0; p < e->nodes; p++) {
        int size = node_size(e, p);
        e->diagonal_at[p] = at;
        at += size * size;
        for (int32_t i = e->start[p]; i < e->start[p + 1]; i++) {
            e->block_at[i] = at;
            at += size * node_size(e, e->below[i]);
        }
    }
    e->diagonal_at[e->nodes] = at;
    return TALUS_OK;
}

/* Lists the nodes at each vertex, rising. */
static void list_nodes(TalusElimination *e)
{
    int32_t *start = e->vertex_node_start;
    memset(start, 0, ((size_t)e->vertices + 1) * sizeof *start);
    for (int p = 0; p < e->nodes; p++)
        for (int side = 0; side < 2; side++)
            if (e->vertex[p][side] >= 0)
                start[e->vertex[p][side] + 1]++;
    for (int v = 0; v < e->vertices; v++)
        start[v + 1] += start[v];
    for (int p = 0; p < e->nodes; p++)
        for (int side = 0; side < 2; side++)
            if (e->vertex[p][side] >= 0)
                e->vertex_node[start[e->vertex[p][side]]++] = p;
    for (int v = e->vertices; v > 0; v--)
        start[v] = start[v - 1];
    start[0] = 0;
}

/* ---- the whole analysis ---- */

/* Reserves e->work and points the arrays of *o into it. For n rows there are at most n nodes and 2 n vertices. */
static TalusStatus reserve_work(Order *o, size_t n)
{
    TalusElimination *e = o->e;
    int32_t **const single[] = {&o->row,  &o->size,     &o->degree,  &o->next,    &o->last,
                                &o->mark, &o->position, &o->machine, &o->sequence};
    int32_t **const twice[] = {&o->merged, &o->head,        &o->tail, &o->count,
                               &o->after,  &o->degree_head, &o->old};
    const size_t singles = sizeof single / sizeof *single, twices = sizeof twice / sizeof *twice;
    TALUS_TRY(TALUS_GROW(e->work, singles * n + (twices + 1) * (2 * n + 1), 0, "order of joints"));
    int32_t *at = e->work;
    o->end = (int32_t(*)[2])at;
    at += 2 * n;
    for (size_t i = 0; i < singles; i++, at += n)
        *single[i] = at;
    for (size_t i = 0; i < twices; i++, at += 2 * n + 1)
        *twice[i] = at;
    return TALUS_OK;
}

/* Reserves the arrays of order and pattern whose sizes e->rows bounds. */
static TalusStatus reserve_pattern(TalusElimination *e)
{
    size_t n = (size_t)e->rows;
    TALUS_TRY(TALUS_GROW(e->caller_row, n, 0, "order of joints"));
    TALUS_TRY(TALUS_GROW(e->first_row, n + 1, 0, "order of joints"));
    TALUS_TRY(TALUS_GROW(e->vertex, n, 0, "bodies of joints"));
    TALUS_TRY(TALUS_GROW(e->start, n + 1, 0, "pattern of joints"));
    TALUS_TRY(TALUS_GROW(e->diagonal_at, n + 1, 0, "factor of joints"));
    TALUS_TRY(TALUS_GROW(e->vertex_node_start, 2 * n + 1, 0, "bodies of joints"));
    return TALUS_GROW(e->vertex_node, 2 * n, 0, "bodies of joints");
}

/* Finds order and pattern for e->key and stores them in *e. */
static TalusStatus analyse_anew(TalusElimination *e)
{
    Order o = {.e = e};
    TALUS_TRY(reserve_work(&o, (size_t)e->rows));
    TALUS_TRY(reserve_pattern(e));
    number_nodes(&o);
    number_vertices(&o);
    fill_lists(&o);
    TALUS_TRY(eliminate_all(&o));
    e->nodes = o.nodes;
    e->vertices = o.vertices;
    TALUS_TRY(sort_by_machine(&o));
    TALUS_TRY(finish_pattern(&o));
    TALUS_TRY(locate_blocks(e));
    list_nodes(e);
    e->analyses++;
    return TALUS_OK;
}

TalusStatus talus_elimination_analyse(TalusElimination *e)
{
    size_t n = (size_t)e->rows;
    TALUS_TRY(TALUS_GROW(e->moving, (size_t)e->bodies, 0, "bodies of joints"));
    TALUS_TRY(TALUS_GROW(e->body_vertex, (size_t)e->bodies, 0, "bodies of joints"));
    TALUS_TRY(TALUS_GROW(e->key, n, 0, "bodies of joints"));
    find_moving(e);
    bool same = update_keys(e);
    e->analysed_rows = e->rows;
    if (same && e->analysed_bodies == e->bodies)
        return TALUS_OK;
    e->analysed_rows = -1;
    TALUS_TRY(analyse_anew(e));
    e->analysed_rows = e->rows;
    e->analysed_bodies = e->bodies;
    return TALUS_OK;
}
