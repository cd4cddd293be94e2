/* linalg/machine.h - application of a factorisation (eliminate.h), for host and device: makes the velocities of bodies
 * satisfy their joints, machine by machine.
 *
 * A team processes a machine: one thread on the host, a block of threads on the device. Every number is computed by one
 * thread, in an order that does not depend on the size of the team. */
#ifndef TALUS_LINALG_MACHINE_H
#define TALUS_LINALG_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talus/math.h>

/* One row of D' of a joint: coefficients of velocity and spin of its two bodies, in any units that agree with those of
 * M^-1. */
typedef struct TalusJointRow {
    int32_t body[2];   /* two different bodies; -1: the fixed world */
    double arm[2][6];  /* coefficients of v, then of the spin */
    double push[2][6]; /* M^-1 times arm; all zeros: the body does not move */
    double compliance; /* diagonal entry of E */
    double bias;       /* b, for talus_elimination_apply */
    int64_t entry;     /* index of the row's impulse; used by the caller only */
} TalusJointRow;

/* A factored elimination. A machine is a set of moving bodies connected by joints, a vertex a moving body with joints,
 * a node up to six rows between the same two bodies. Vertices, nodes (in order of elimination) and rows are numbered
 * machine by machine. */
typedef struct TalusMachines {
    int machines, nodes, vertices, rows;
    const int32_t *machine_start, *machine_vertex; /* [machines + 1]: first node, first vertex */
    const int32_t *rounds;                         /* [machines]: refinements of a solution */
    const int32_t *first_row;                      /* [nodes + 1]: first row of a node */
    /* [nodes]: vertices of a node's two bodies; -1: the body does not move */
    const int32_t (*vertex)[2];
    const int32_t (*body)[2];   /* [nodes]: indices of a node's two velocity records; -1: none */
    const int32_t *vertex_body; /* [vertices]: index of its velocity record; NULL: the vertex */
    const int32_t *vertex_node_start, *vertex_node; /* [vertices + 1]: nodes at a vertex, rising */
    const int32_t *start, *below; /* [nodes + 1]: later nodes that L couples to a node, rising */
    const int64_t *diagonal_at;   /* [nodes + 1]: index of a node's square block in `value` */
    const int64_t *block_at;      /* [start[nodes]]: index in `value` of each block of `below` */
    const TalusJointRow *row;     /* [rows]: coefficients of a row */
    const double *bias;           /* [rows]: offsets b; NULL: none */
    const double *value;          /* L, with 1 / L_kk on diagonals */
    double *x, *y;                /* [rows]: impulses found; residual, then correction of x */
} TalusMachines;

/* One thread of a team of `lanes` threads: number `lane`. The threads also form `groups` groups of `members` threads
 * each; this thread is number `member` of group `group`. Work is divided among all lanes, or among groups and then
 * among the members of a group. */
typedef struct TalusTeam {
    int lane, lanes, group, groups, member, members;
} TalusTeam;

/* The team of a single thread, on the host. */
static const TalusTeam talus_team_of_one = {0, 1, 0, 1, 0, 1};

/* Waits for all threads of the team. */
TALUS_INLINE void talus_team_wait(TalusTeam team)
{
#if defined(__CUDA_ARCH__) || (defined(TALUS_EMULATED) && defined(__cplusplus))
    if (team.lanes > 1)
        __syncthreads();
#else
    (void)team;
#endif
}

/* Returns the number of rows of a node. */
TALUS_INLINE int talus_node_size(const TalusMachines *e, int node)
{
    return e->first_row[node + 1] - e->first_row[node];
}

/* ---- y = A^-1 y ---- */

/* Forward substitution with node p: replaces y_p by L_pp^-1 y_p, then subtracts L_qp y_p from y_q of the nodes q below
 * p. */
TALUS_INLINE void talus_node_forward(const TalusMachines *e, int p, TalusTeam team)
{
    const int size = talus_node_size(e, p);
    const double *a = e->value + e->diagonal_at[p];
    double *mine = e->y + e->first_row[p];
    for (int k = 0; k < size && team.lane == 0; k++) {
        double sum = mine[k];
        for (int j = 0; j < k; j++)
            sum -= a[k * size + j] * mine[j];
        mine[k] = sum * a[k * size + k];
    }
    talus_team_wait(team);
    for (int32_t i = e->start[p] + team.group; i < e->start[p + 1]; i += team.groups) {
        const int rows = talus_node_size(e, e->below[i]);
        double *other = e->y + e->first_row[e->below[i]];
        for (int r = team.member; r < rows; r += team.members) {
            const double *block = e->value + e->block_at[i] + r * size;
            double sum = other[r];
            for (int k = 0; k < size; k++)
                sum -= block[k] * mine[k];
            other[r] = sum;
        }
    }
    talus_team_wait(team);
}

/* Back substitution with node p: subtracts L_qp' y_q of the nodes q below p from y_p, then replaces y_p by L_pp'^-1
 * y_p. */
TALUS_INLINE void talus_node_backward(const TalusMachines *e, int p, TalusTeam team)
{
    const int size = talus_node_size(e, p);
    const double *a = e->value + e->diagonal_at[p];
    double *mine = e->y + e->first_row[p];
    for (int k = team.lane; k < size; k += team.lanes) {
        double sum = mine[k];
        for (int32_t i = e->start[p]; i < e->start[p + 1]; i++) {
            const double *block = e->value + e->block_at[i] + k;
            const double *other = e->y + e->first_row[e->below[i]];
            for (int r = 0; r < talus_node_size(e, e->below[i]); r++)
                sum -= block[r * size] * other[r];
        }
        mine[k] = sum;
    }
    talus_team_wait(team);
    for (int k = size - 1; k >= 0 && team.lane == 0; k--) {
        double sum = mine[k];
        for (int j = k + 1; j < size; j++)
            sum -= a[j * size + k] * mine[j];
        mine[k] = sum * a[k * size + k];
    }
    talus_team_wait(team);
}

/* ---- velocities ---- */

/* Returns one body's part of a row of D'v, from the body's velocity record: v in 0 to 2, spin in 4 to 6. */
TALUS_INLINE double talus_row_velocity(const double arm[6], const double v[8])
{
    return (arm[0] * v[0] + arm[1] * v[1] + arm[2] * v[2]) +
           (arm[3] * v[4] + arm[4] * v[5] + arm[5] * v[6]);
}

/* For machine m: y = D' velocity + bias, and less E x if `again`. x are the impulses so far, whose effect `velocity`
 * contains already. */
TALUS_INLINE void talus_machine_residual(const TalusMachines *e, int m, double (*velocity)[8],
                                         bool again, TalusTeam team)
{
    for (int p = e->machine_start[m] + team.group; p < e->machine_start[m + 1]; p += team.groups)
        for (int row = e->first_row[p] + team.member; row < e->first_row[p + 1];
             row += team.members) {
            double sum = e->bias ? e->bias[row] : 0.0;
            if (again)
                sum -= e->row[row].compliance * e->x[row];
            for (int side = 0; side < 2; side++)
                if (e->body[p][side] >= 0)
                    sum += talus_row_velocity(e->row[row].arm[side], velocity[e->body[p][side]]);
            e->y[row] = sum;
        }
    talus_team_wait(team);
}

/* Returns the index of a vertex's velocity record. */
TALUS_INLINE int talus_vertex_body(const TalusMachines *e, int vertex)
{
    return e->vertex_body ? e->vertex_body[vertex] : vertex;
}

/* Subtracts from v the vertex's part of M^-1 D y; the members of a group divide the six components among themselves. */
TALUS_INLINE void talus_vertex_push(const TalusMachines *e, int vertex, double v[8], TalusTeam team)
{
    for (int32_t i = e->vertex_node_start[vertex]; i < e->vertex_node_start[vertex + 1]; i++) {
        const int p = e->vertex_node[i], side = e->vertex[p][0] == vertex ? 0 : 1;
        for (int row = e->first_row[p]; row < e->first_row[p + 1]; row++)
            for (int k = team.member; k < 6; k += team.members)
                v[k < 3 ? k : k + 1] -= e->row[row].push[side][k] * e->y[row];
    }
}

/* For machine m: y = A^-1 y; x += y, or x = y unless `again`; velocity -= M^-1 D y. */
TALUS_INLINE void talus_machine_step(const TalusMachines *e, int m, double (*velocity)[8],
                                     bool again, TalusTeam team)
{
    const int first = e->machine_start[m], last = e->machine_start[m + 1];
    for (int p = first; p < last; p++)
        talus_node_forward(e, p, team);
    for (int p = last - 1; p >= first; p--)
        talus_node_backward(e, p, team);
    for (int v = e->machine_vertex[m] + team.group; v < e->machine_vertex[m + 1]; v += team.groups)
        talus_vertex_push(e, v, velocity[talus_vertex_body(e, v)], team);
    for (int row = e->first_row[first] + team.lane; row < e->first_row[last]; row += team.lanes)
        e->x[row] = again ? e->x[row] + e->y[row] : e->y[row];
    talus_team_wait(team);
}

/* For machine m: velocity -= M^-1 D x with x = A^-1 (D' velocity + b), refined rounds[m] times. */
TALUS_INLINE void talus_machine_apply(const TalusMachines *e, int m, double (*velocity)[8],
                                      TalusTeam team)
{
    for (int round = 0; round <= e->rounds[m]; round++) {
        talus_machine_residual(e, m, velocity, round > 0, team);
        talus_machine_step(e, m, velocity, round > 0, team);
    }
}

#endif
