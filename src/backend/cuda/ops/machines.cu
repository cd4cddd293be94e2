/* backend/cuda/ops/machines.cu - elimination of free joints from an operator on the device, and their satisfaction in
 * velocities.
 *
 * The host factors the joints, which are few (linalg/eliminate.h). Their rows are formed on the device and downloaded;
 * the factorisation is uploaded in one piece, and applied by a block of threads for each machine (linalg/machine.h).
 *
 * If all machines are small (machines.h has the limits), form_matrices makes a dense matrix for each from the
 * factorisation. The matrix and its column 0 as offset map the velocities of the machine's bodies to those that satisfy
 * its joints. After that the factorisation serves only to recover the impulses of joints. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/ops/machines.h"

extern "C" {
#include "backend/arms.h"
#include "linalg/eliminate.h"
}

static void clear_machines(void *at)
{
    CuMachines *m = (CuMachines *)at;
    talus_release(m->staging);
    cu_clear(m->arrays, m->x, m->y, m->response, m->work, m->contact_start, m->vertex, m->taken);
    talus_release(m);
}

/* Writes the address of the operator's machines to *out; allocates them on the first call. */
static TalusStatus get_machines(const TalusOperator *op, CuMachines **out)
{
    CuScratch *s;
    TALUS_TRY(cu_get_scratch(op, &s));
    return cu_get_owned(&s->machines, clear_machines, "machines", out);
}

/* ---- rows ---- */

/* Forms rows 0 to 2 of each free joint block, in row[3 * joints]; body[0] of a row that the block lacks is -1. */
static __global__ void form_joint_rows(TalusOperator op, TalusJointRow *row)
{
    int64_t t = item_index();
    if (t >= 3 * (int64_t)op.joints)
        return;
    int i = op.blocks - op.joints + (int)(t / 3), k = (int)(t % 3);
    if (talus_joint_has_row(&op, i, k))
        talus_joint_fill_row(&op, i, k, &row[t]);
    else
        row[t].body[0] = -1;
}

TalusStatus cu_joint_get_rows(const TalusOperator *op, TalusJointRow *row, int *count)
{
    CuMachines *m;
    const int64_t all = 3 * (int64_t)op->joints;
    TALUS_TRY(get_machines(op, &m));
    TALUS_TRY(m->arrays.reserve(all * (int64_t)sizeof *row, "rows of joints"));
    launch(cu_context_of(op), form_joint_rows, blocks_for(all), THREADS, *op,
           (TalusJointRow *)m->arrays.at);
    cu_get(cu_context_of(op), row, m->arrays, (size_t)all * sizeof *row);
    *count = 0;
    for (int64_t t = 0; t < all; t++)
        if (row[t].body[0] >= 0)
            row[(*count)++] = row[t];
    return cu_check(cu_context_of(op));
}

/* ---- the operator without joints ---- */

/* Kernel argument: the operator with joints and the one without; arrays as in CuMachines. */
struct Elimination {
    TalusOperator whole, op; /* with joints, without */
    uint32_t *contact_start;
    int32_t *vertex;
    const int32_t *vertex_body;
    int vertices;
    const double (*taken)[36];
    unsigned
        *kinds; /* on the device, 0 before: bits of the friction kinds, as TalusOperator.kinds */
};

/* contact_start[b] = number of body b's entries in `incidence` that are not of joints (joints have the last records),
 * and 0 for b = bodies; vertex[b] = -1. */
static __global__ void count_contact_incidences(Elimination t)
{
    int64_t b = item_index();
    if (b > t.op.bodies)
        return;
    const int32_t end = 2 * (t.op.blocks + t.op.general);
    uint32_t count = 0;
    for (int32_t k = t.whole.incidence_start[b];
         b < t.op.bodies && k < t.whole.incidence_start[b + 1]; k++)
        count += t.whole.incidence[k] < end;
    t.contact_start[b] = count;
    if (b < t.op.bodies)
        t.vertex[b] = -1;
}

/* After a prefix sum of contact_start: writes incidence_start and incidence of the operator without joints; in the
 * other one the entries of joints are the last of each body. vertex becomes the inverse of vertex_body. */
static __global__ void copy_contact_incidences(Elimination t)
{
    int64_t b = item_index();
    if (b < t.vertices)
        t.vertex[t.vertex_body[b]] = (int32_t)b;
    if (b > t.op.bodies)
        return;
    t.op.incidence_start[b] = (int32_t)t.contact_start[b];
    for (uint32_t k = 0; b < t.op.bodies && k < t.contact_start[b + 1] - t.contact_start[b]; k++)
        t.op.incidence[t.contact_start[b] + k] =
            t.whole.incidence[t.whole.incidence_start[b] + (int32_t)k];
}

/* Writes the diagonals after elimination, and collects the bits of the friction kinds that occur. */
static __global__ void reduce_diagonals(Elimination t)
{
    int64_t i = item_index();
    if (i >= t.op.blocks)
        return;
    talus_reduced_diagonal(&t.whole, (int)i, t.vertex, t.taken, t.op.diagonal[i]);
    unsigned kind = talus_block_kind(&t.op, (int)i);
    if (kind & ~*t.kinds) /* no atomic operation if the bit is already set */
        atomicOr(t.kinds, kind);
}

static TalusStatus upload_factorisation(const TalusOperator *op, CuMachines *m);
static TalusStatus form_matrices(const TalusOperator *op, CuMachines *m);

TalusStatus cu_joint_finish_reduced(const TalusOperator *whole, TalusOperator *op)
{
    CuMachines *m;
    CuContext *cu = cu_context_of(op);
    const TalusMachines host = talus_elimination_machines(op->elimination);
    const int64_t starts = (int64_t)op->bodies + 1;
    TALUS_TRY(get_machines(op, &m));
    TALUS_TRY(upload_factorisation(op, m));
    TALUS_TRY(form_matrices(op, m));
    TALUS_TRY(m->contact_start.reserve(starts, "body contacts"));
    TALUS_TRY(m->vertex.reserve(op->bodies, "jointed bodies"));
    TALUS_TRY(m->taken.reserve(36 * (int64_t)host.vertices, "jointed bodies"));
    cu_put(cu, m->taken, talus_elimination_reductions(op->elimination),
           36 * (size_t)host.vertices * sizeof(double));
    Elimination t = {*whole,
                     *op,
                     m->contact_start,
                     m->vertex,
                     m->view.vertex_body,
                     host.vertices,
                     (const double(*)[36])m->taken.at,
                     (unsigned *)cu->totals};
    cu_zero(cu, cu->totals, sizeof(double));
    launch(cu, count_contact_incidences, blocks_for(starts), THREADS, t);
    TALUS_TRY(cu_scan(cu, m->contact_start, m->contact_start, starts));
    launch(cu, copy_contact_incidences, blocks_for(starts), THREADS, t);
    launch(cu, reduce_diagonals, blocks_for(op->blocks), THREADS, t);
    cu_get(cu, &op->kinds, cu->totals, sizeof op->kinds);
    return cu_check(cu);
}

/* ---- the factorisation ---- */

/* One array of the factorisation in the common piece of memory. */
struct Part {
    const void **at; /* field of the view: its host address, replaced by the device address */
    size_t bytes;
};

#define PART(field, count)                                               \
    {                                                                    \
        (const void **)&view.field, (size_t)(count) * sizeof *view.field \
    }

/* Uploads all arrays of the factorisation as one piece and sets m->view to point to them. */
static TalusStatus upload_factorisation(const TalusOperator *op, CuMachines *m)
{
    TalusMachines view = talus_elimination_machines(op->elimination);
    const int64_t machines = view.machines, nodes = view.nodes, vertices = view.vertices;
    const Part part[] = {PART(value, view.diagonal_at[nodes]),
                         PART(row, view.rows),
                         PART(bias, view.rows),
                         PART(diagonal_at, nodes + 1),
                         PART(block_at, view.start[nodes]),
                         PART(below, view.start[nodes]),
                         PART(start, nodes + 1),
                         PART(first_row, nodes + 1),
                         PART(vertex, nodes),
                         PART(body, nodes),
                         PART(vertex_node, view.vertex_node_start[vertices]),
                         PART(vertex_node_start, vertices + 1),
                         PART(vertex_body, vertices),
                         PART(machine_start, machines + 1),
                         PART(machine_vertex, machines + 1),
                         PART(rounds, machines)};
    size_t bytes = 0;
    for (const Part &p : part)
        bytes += p.bytes;
    bytes = (bytes + 7) / 8 * 8;
    TALUS_TRY(TALUS_GROW(m->staging, bytes, 0, "machines"));
    TALUS_TRY(m->arrays.reserve((int64_t)bytes, "machines"));
    TALUS_TRY(m->x.reserve(view.rows, "impulses of joints"));
    TALUS_TRY(m->y.reserve(view.rows, "impulses of joints"));
    size_t at = 0;
    for (const Part &p : part) { /* arrays with 8-byte numbers come first, for alignment */
        memcpy(m->staging + at, *p.at, p.bytes);
        *p.at = m->arrays.at + at;
        at += p.bytes;
    }
    cu_put(cu_context_of(op), m->arrays, m->staging, bytes);
    view.x = m->x;
    view.y = m->y;
    m->view = view;
    m->bytes = bytes;
    return TALUS_OK;
}

/* ---- matrices ---- */

/* bias[row] = offset b of each row of machine m, plus the velocity along the row of bodies that impulses do not move
 * (driven ones): the response has records of bodies that impulses move only. All threads of a block call it. */
static __device__ void add_driven_velocities(const TalusMachines *e, int m, const double (*body)[8],
                                             double *bias)
{
    for (int p = e->machine_start[m] + (int)threadIdx.x; p < e->machine_start[m + 1];
         p += MACHINE_THREADS)
        for (int row = e->first_row[p]; row < e->first_row[p + 1]; row++) {
            bias[row] = e->bias[row];
            for (int side = 0; side < 2; side++)
                if (e->vertex[p][side] < 0 && e->body[p][side] >= 0)
                    bias[row] += talus_row_velocity(e->row[row].arm[side], body[e->body[p][side]]);
        }
    __syncthreads();
}

/* Forms the machines' dense matrices, one block per machine and column c (CuMachinesView): sets the bodies at rest, or
 * component c - 1 to 1 if c is not 0, and applies the factorisation, with offsets in column 0 only. A machine smaller
 * than the largest has fewer columns. work: [2 columns + 1][rows], x and y of each column, then the bias of column
 * 0. */
static __global__ void __launch_bounds__(MACHINE_THREADS)
    form_dense_columns(CuMachinesView view, int columns, const double (*body)[8],
                       double (*response)[8], double *work)
{
    double *shared = cu_machine_shared();
    const int m = (int)blockIdx.x / columns, c = (int)blockIdx.x % columns;
    view.machines.x = work + (int64_t)2 * c * view.machines.rows;
    view.machines.y = view.machines.x + view.machines.rows;
    TalusMachines e = cu_machines_in_shared(&view, shared);
    const int first = e.machine_vertex[m], last = e.machine_vertex[m + 1];
    if (c > 6 * (last - first))
        return;
    if (c == 0)
        add_driven_velocities(&e, m, body, work + (int64_t)2 * columns * e.rows);
    e.bias = c ? nullptr : work + (int64_t)2 * columns * e.rows;
    e.body = e.vertex;
    e.vertex_body = nullptr;
    response += (int64_t)c * e.vertices;
    for (int k = 8 * first + (int)threadIdx.x; k < 8 * last; k += MACHINE_THREADS)
        response[k / 8][k % 8] = c && k - 8 * first == component_place(c - 1) ? 1.0 : 0.0;
    __syncthreads();
    talus_machine_apply(&e, m, response, cu_thread_team());
}

/* Returns the number of bodies of the largest machine. */
static int largest_machine(const TalusMachines *host)
{
    int largest = 0;
    for (int m = 0; m < host->machines; m++) {
        int bodies = host->machine_vertex[m + 1] - host->machine_vertex[m];
        largest = bodies > largest ? bodies : largest;
    }
    return largest;
}

/* Forms the dense matrices of all machines and sets m->dense; if they are too large, only sets m->dense to NULL. */
static TalusStatus form_matrices(const TalusOperator *op, CuMachines *m)
{
    const TalusMachines host = talus_elimination_machines(op->elimination);
    const int largest = largest_machine(&host), columns = 1 + 6 * largest;
    const int64_t numbers = (int64_t)8 * host.vertices * columns;
    m->dense = nullptr;
    if (largest > RESPONSE_BODIES || numbers * (int64_t)sizeof(double) > RESPONSE_BYTES)
        return TALUS_OK;
    TALUS_TRY(m->response.reserve(numbers, "matrices of machines"));
    TALUS_TRY(m->work.reserve((int64_t)(2 * columns + 1) * host.rows, "matrices of machines"));
    launch_block(cu_context_of(op), form_dense_columns, (unsigned)(host.machines * columns),
                 MACHINE_THREADS, cu_machines(op), columns, (const double(*)[8])op->body,
                 (double(*)[8])m->response.at, m->work.at);
    m->dense = m->response;
    return TALUS_OK;
}

/* ---- impulses ---- */

/* Writes the impulses of joints, minus the multipliers x of the factorisation, to the joints' part of gamma. */
static __global__ void write_joint_impulses(TalusMachines e, double *joints)
{
    int64_t row = item_index();
    if (row < e.rows)
        joints[e.row[row].entry] = -e.x[row];
}

void cu_joint_recover_impulses(const TalusOperator *whole, const TalusOperator *op, bool offset,
                               double *gamma)
{
    CuMachinesView view = cu_machines(op);
    const TalusMachines e = view.machines;
    double *joints = gamma + (int64_t)op->rows * op->blocks;
    double(*velocity)[8] = (double(*)[8])cu_scratch_of(op)->velocity.at;
    view.response = nullptr; /* the dense matrices give no impulses */
    cu_gather_velocities(op, gamma, offset, velocity);
    cu_machines_apply_view(op, view, offset, velocity);
    cu_zero(cu_context_of(op), joints, (size_t)op->rows * (size_t)whole->joints * sizeof *joints);
    launch(cu_context_of(op), write_joint_impulses, blocks_for(e.rows), THREADS, e, joints);
}
