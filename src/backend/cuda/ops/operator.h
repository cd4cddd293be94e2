/* backend/cuda/ops/operator.h - the matrix-free operator on the device, contact by contact and body by body.
 *
 * The formulas are those of backend/cpu/contact.c, in the same order, for double and single precision. A product takes
 * two kernels, and a third if joints are eliminated: each body sums the impulses of its contacts into its velocity;
 * machines.h makes the velocities satisfy the joints; each contact reads the velocities of its two bodies (contact
 * velocity: backend/operator.h). Unlike on the host no kernel stores each contact's impulse and torque in between.
 *
 * A kernel that needs gradients calls cu_compute_motion on the host and block_velocity in the kernel:
 *
 *     CuMotion motion = cu_compute_motion(op, x, metric, true);
 *     LAUNCH_ROWS(launch_block, op, my_kernel, blocks, THREADS, cu_view(op), motion, ...);
 *     template <int ROWS> __global__ void my_kernel(CuView<double> c, CuMotion motion, ...)
 *     { ... block_velocity(c, motion, i, u) ... } */
#ifndef TALUS_BACKEND_CUDA_OPS_OPERATOR_H
#define TALUS_BACKEND_CUDA_OPS_OPERATOR_H

#include "backend/cuda/ops/block.h"

/* One thread, or a few, sums the impulses on a body. A body with more contacts than this is block-summed: a whole CUDA
 * thread block does it. */
enum { BLOCK_SUM_ABOVE = 64 };

/* Launches a kernel template<int ROWS> for 1, 3 or 6 rows; `how` is launch, launch_block or launch_sums. */
#define LAUNCH_ROWS(how, op, kernel, ...)                               \
    ((op)->rows == 1   ? how(cu_context_of(op), kernel<1>, __VA_ARGS__) \
     : (op)->rows == 3 ? how(cu_context_of(op), kernel<3>, __VA_ARGS__) \
                       : how(cu_context_of(op), kernel<6>, __VA_ARGS__))

/* The same for kernels that support only half lines (1 row) and circular cones (3 rows). */
#define LAUNCH_CONES(how, op, kernel, ...)                            \
    ((op)->rows == 1 ? how(cu_context_of(op), kernel<1>, __VA_ARGS__) \
                     : how(cu_context_of(op), kernel<3>, __VA_ARGS__))

/* Kernel argument: the arrays of a TalusOperator (backend/operator.h), NULL where it has none; T: double or float. */
template <class T> struct CuView {
    int blocks, bodies;
    /* number of contacts of two spheres; number of all contacts before the general ones */
    int sphere_sphere, spheres;
    const int2 *pair; /* NULL: explicit */
    const T (*frame)[4], (*arm)[6], (*lever)[2], (*body)[8], (*inverse_inertia)[6];
    const T *bias, *compliance, *mu;
    const T (*diagonal)[2];
    const int32_t *incidence_start, *incidence;
    const int32_t *block_summed; /* bodies with more than BLOCK_SUM_ABOVE contacts */
    int block_summed_count;
};

/* Kernel argument: impulses gamma = S x; metric NULL: x is gamma. x NULL, where a kernel allows it: gamma = 0. */
template <class T> struct CuImpulses {
    const T *x;
    const T (*metric)[4];
};

/* Input of block_velocity: velocities of bodies or, for an explicit matrix, N gamma, with offset plus q; the other
 * pointer is NULL. */
struct CuMotion {
    const double (*velocity)[8];
    const double *product;
    bool offset; /* add the bias to D' velocity; `velocity` contains v_f, `product` q already */
};

/* ---- device data of an operator: TalusOperator.device ---- */

/* Device data of an operator; source files keep more in CuOwned. */
struct CuScratch {
    long long
        serial; /* number of calls of cu_scratch_begin; data made under another serial is out of date */
    CuArray<double> velocity, wrench;  /* 8 per body; 6 per body, for runs of mprgp only */
    CuArray<double> product, unscaled; /* explicit operator: CuMotion.product; gamma = S x */
    CuArray<int32_t> block_summed;     /* bodies with more than BLOCK_SUM_ABOVE contacts */
    int block_summed_count;
    struct CuMirror
        *mirror; /* operator.cu: arrays copied from the host; NULL: op was built on the device */
    CuOwned iterate, machines, part; /* data of the files with these names */
};

/* Returns the device data of an operator; NULL before cu_get_scratch. */
static inline CuScratch *cu_scratch_of(const TalusOperator *op)
{
    return (CuScratch *)op->device;
}

/* operator.cu. cu_get_scratch writes the address of the operator's device data, op->device, to *out and creates the
 * data if there are none. cu_scratch_begin and cu_scratch_end together are cu_op_reserve_scratch, for callers that
 * download the totals anyway: they do so in between and pass all CU_TOTALS of them to cu_scratch_end. The last total is
 * that of cu_scratch_begin: no kernel in between may write it. */
TalusStatus cu_get_scratch(const TalusOperator *op, CuScratch **out);
TalusStatus cu_scratch_begin(const TalusOperator *op);
void cu_scratch_end(const TalusOperator *op, const double *totals);
/* cu_view returns the operator as kernel argument. cu_compute_motion computes the input of block_velocity for gamma = S
 * x; `offset` false omits v_f, bias and q. x NULL means gamma = 0 and needs `offset`. The result is valid until another
 * operation uses the scratch. */
CuView<double> cu_view(const TalusOperator *op);
CuMotion cu_compute_motion(const TalusOperator *op, const double *x, const TalusMetricBlock *metric,
                           bool offset);
/* terms.cu: returns the sums of the terms that bound the rounding of the gradient at gamma (TalusTermSums). Overwrites
 * the velocities of the scratch; waits for the stream. */
TalusTermSums cu_gradient_terms(const TalusOperator *op, const double *gamma);
/* sparse.cu: out = N x, plus q if `offset`. */
void cu_matrix_product(const TalusOperator *op, const double *x, bool offset, double *out);
/* Returns the number of blocks, of THREADS threads, of a kernel that calls gather_body_velocities or divides its work
 * in the same way. Start the kernel by launch_block if there are block-summed bodies. */
unsigned cu_gather_block_count(const TalusOperator *op);
/* velocity[bodies] = v_f, if `free_motion`, plus M^-1 D gamma, as cu_op_body_velocities, but eliminated joints are not
 * satisfied. */
void cu_gather_velocities(const TalusOperator *op, const double *gamma, bool free_motion,
                          double (*velocity)[8]);

/* ---- loads ---- */

/* 16 bytes, which a thread loads by one instruction. */
template <class T> struct alignas(16) Pack {
    T v[16 / sizeof(T)];
};

/* Loads N numbers, a multiple of 16 bytes, from an address that is a multiple of 16 bytes; store_packs stores them. */
template <int N, class T> static __device__ inline void load_packs(const T *from, T *to)
{
    enum { W = 16 / sizeof(T) };
    for (int k = 0; k < N / W; k++) {
        Pack<T> p = ((const Pack<T> *)from)[k];
        for (int j = 0; j < W; j++)
            to[k * W + j] = p.v[j];
    }
}

template <int N, class T> static __device__ inline void store_packs(const T *from, T *to)
{
    enum { W = 16 / sizeof(T) };
    for (int k = 0; k < N / W; k++) {
        Pack<T> p;
        for (int j = 0; j < W; j++)
            p.v[j] = from[k * W + j];
        ((Pack<T> *)to)[k] = p;
    }
}

/* ---- frames (backend/frame.h) in either precision ---- */

/* frame_local: local = (normal, tangent 1, tangent 2) components of a world vector; frame_world: the reverse. */

template <class T>
static __device__ inline void frame_local(const T frame[4], const T world[3], T local[3])
{
    T s = frame[0] < T(0) ? T(-1) : T(1);
    T wx = frame[0] + s;
    T d = frame[3] * (wx * world[0] + frame[1] * world[1] + frame[2] * world[2]);
    local[0] = -s * (world[0] - d * wx);
    local[1] = world[1] - d * frame[1];
    local[2] = s * (world[2] - d * frame[2]);
}

template <class T>
static __device__ inline void frame_world(const T frame[4], const T local[3], T world[3])
{
    T s = frame[0] < T(0) ? T(-1) : T(1);
    T wx = frame[0] + s;
    T gx = -s * local[0], gy = local[1], gz = s * local[2];
    T d = frame[3] * (wx * gx + frame[1] * gy + frame[2] * gz);
    world[0] = gx - d * wx;
    world[1] = gy - d * frame[1];
    world[2] = gz - d * frame[2];
}

/* r = a x b; r may be neither a nor b. */
template <class T> static __device__ inline void cross(const T a[3], const T b[3], T r[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- bodies ---- */

/* Number of components of a block's impulse in its frame: three, also with one row; with six rows also the moments. */
template <int ROWS> constexpr int LOCAL = ROWS == 6 ? 6 : 3;

/* local = gamma of block i, with zeros for tangents that it has no rows for. */
template <int ROWS, class T>
static __device__ inline void load_impulse(const CuImpulses<T> &g, int i, T local[LOCAL<ROWS>])
{
    local[1] = local[2] = T(0);
    for (int k = 0; k < ROWS; k++) {
        T x = g.x[(int64_t)i * ROWS + k];
        local[k] = g.metric ? g.metric[i][k > 0] * x : x;
    }
}

/* Returns the contact of an entry of `incidence`, 2 * record + side. General contacts have two records, others one. */
template <class T>
static __device__ inline int incidence_contact(const CuView<T> &c, int32_t incidence)
{
    int record = incidence >> 1;
    return record < c.spheres ? record : c.spheres + (record - c.spheres) / 2;
}

/* Adds the impulse `local` of contact i on its body a (side 0) or b (side 1) to sum = {p, t}: p the impulse on that
 * body, t minus its torque, for arms over l (backend/operator.h). Minus, because for spheres t is then n x (the impulse
 * on b) on both sides. With one row spheres have no torque. */
template <int ROWS, class T>
static __device__ inline void add_wrench(const CuView<T> &c, int i, int side, const T frame[4],
                                         const T local[LOCAL<ROWS>], T sum[6])
{
    T p[3], t[3];
    if (i < c.spheres) {
        if (ROWS == 1) {
            for (int k = 0; k < 3; k++)
                sum[k] += side ? local[0] * frame[k] : -(local[0] * frame[k]);
            return;
        }
        frame_world(frame, local, p);
        cross(frame, p, t);
    } else {
        T arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = c.arm[i - c.spheres][3 * side + k];
        frame_world(frame, local, p);
        cross(arm, p, t);
        for (int k = 0; k < 3; k++)
            t[k] = side ? -t[k] : t[k];
        if constexpr (ROWS == 6) {
            T moment[3], lever = c.lever[i - c.spheres][side];
            frame_world(frame, local + 3, moment);
            for (int k = 0; k < 3; k++)
                t[k] += side ? -(lever * moment[k]) : lever * moment[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        sum[k] += side ? p[k] : -p[k];
        sum[3 + k] += t[k];
    }
}

/* Adds the impulse of one entry of `incidence` to the sum of its body (add_wrench). */
template <int ROWS, class T>
static __device__ inline void add_incidence_wrench(const CuView<T> &c, const CuImpulses<T> &g,
                                                   int32_t incidence, T sum[6])
{
    int i = incidence_contact(c, incidence);
    T frame[4], local[LOCAL<ROWS>];
    load_packs<4>(c.frame[i], frame);
    load_impulse<ROWS>(g, i, local);
    add_wrench<ROWS>(c, i, incidence & 1, frame, local, sum);
}

/* velocity[b] = v_f, if `free_motion`, plus M^-1 D gamma, from the sum {p, t} of body b's contacts (add_wrench). */
template <class T>
static __device__ inline void write_body_velocity(const CuView<T> &c, int b, const T sum[6],
                                                  bool free_motion, T (*velocity)[8])
{
    T body[8], turn[3];
    load_packs<8>(c.body[b], body);
    if (c.inverse_inertia) {
        const T *m = c.inverse_inertia[b], *t = sum + 3;
        turn[0] = m[0] * t[0] + m[3] * t[1] + m[4] * t[2];
        turn[1] = m[3] * t[0] + m[1] * t[1] + m[5] * t[2];
        turn[2] = m[4] * t[0] + m[5] * t[1] + m[2] * t[2];
    } else {
        for (int k = 0; k < 3; k++)
            turn[k] = sum[3 + k] * body[7];
    }
    T keep = free_motion ? T(1) : T(0);
    for (int k = 0; k < 3; k++) {
        body[k] = keep * body[k] + body[3] * sum[k];
        body[4 + k] = keep * body[4 + k] - turn[k];
    }
    store_packs<8>(body, velocity[b]);
}

/* Does the whole work of a kernel: writes the velocities of all bodies (write_body_velocity). In the first blocks each
 * thread takes one body and skips block-summed ones; each of the following blocks takes one block-summed body. */
template <int ROWS, class T>
static __device__ inline void gather_body_velocities(const CuView<T> &c, const CuImpulses<T> &g,
                                                     bool free_motion, T (*velocity)[8])
{
    unsigned first_blocks = (unsigned)((c.bodies + (int)blockDim.x - 1) / (int)blockDim.x);
    T sum[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    if (blockIdx.x < first_blocks) {
        int64_t b = item_index();
        if (b >= c.bodies)
            return;
        int32_t begin = c.incidence_start[b], end = c.incidence_start[b + 1];
        if (end - begin > BLOCK_SUM_ABOVE)
            return;
        for (int32_t k = begin; k < end; k++)
            add_incidence_wrench<ROWS>(c, g, c.incidence[k], sum);
        write_body_velocity(c, (int)b, sum, free_motion, velocity);
        return;
    }
    int b = c.block_summed[blockIdx.x - first_blocks];
    for (int32_t k = c.incidence_start[b] + (int)threadIdx.x; k < c.incidence_start[b + 1];
         k += (int)blockDim.x)
        add_incidence_wrench<ROWS>(c, g, c.incidence[k], sum);
    double total[6];
    for (int k = 0; k < 6; k++)
        total[k] = (double)sum[k];
    reduce_block<6, 0>(total);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 6; k++)
            sum[k] = (T)total[k];
        write_body_velocity(c, b, sum, free_motion, velocity);
    }
}

/* ---- contacts ---- */

/* u = D'v at contact i, in its frame: velocity of b relative to a and, with six rows, lever_b s_b - lever_a s_a, the
 * relative spin times L. */
template <int ROWS, class T>
static __device__ inline void contact_velocity(const CuView<T> &c, const T (*velocity)[8], int i,
                                               T (&u)[ROWS])
{
    int2 pair = c.pair[i];
    enum { SPIN = 4 }; /* index of the spin; spheres with one row load only what is before it */
    T frame[4], a[8], b[8] = {T(0)}, world[3], turn[3];
    const bool spins = ROWS >= 3 || i >= c.spheres;
    load_packs<4>(c.frame[i], frame);
    load_packs<SPIN>(velocity[pair.x], a);
    if (spins)
        load_packs<8 - SPIN>(velocity[pair.x] + SPIN, a + SPIN);
    if (pair.y >= 0) {
        load_packs<SPIN>(velocity[pair.y], b);
        if (spins)
            load_packs<8 - SPIN>(velocity[pair.y] + SPIN, b + SPIN);
    }
    if (i < c.spheres) {
        if constexpr (ROWS == 1) {
            u[0] = -(frame[0] * a[0] + frame[1] * a[1] + frame[2] * a[2]);
            if (i < c.sphere_sphere)
                u[0] += frame[0] * b[0] + frame[1] * b[1] + frame[2] * b[2];
            return;
        } else {
            T spin[3];
            for (int k = 0; k < 3; k++) {
                world[k] = b[k] - a[k];
                spin[k] = a[4 + k] + b[4 + k];
            }
            cross(spin, frame, turn);
            for (int k = 0; k < 3; k++)
                world[k] -= turn[k];
        }
    } else {
        const T *arm = c.arm[i - c.spheres];
        T arm_a[3] = {arm[0], arm[1], arm[2]}, arm_b[3] = {arm[3], arm[4], arm[5]};
        cross(a + 4, arm_a, turn);
        for (int k = 0; k < 3; k++)
            world[k] = -a[k] - turn[k];
        cross(b + 4, arm_b, turn);
        if (pair.y >= 0)
            for (int k = 0; k < 3; k++)
                world[k] += b[k] + turn[k];
    }
    T local[3];
    frame_local(frame, world, local);
    for (int k = 0; k < ROWS && k < 3; k++)
        u[k] = local[k];
    if constexpr (ROWS == 6) {
        const T *lever = c.lever[i - c.spheres];
        for (int k = 0; k < 3; k++)
            world[k] = lever[1] * b[4 + k] - lever[0] * a[4 + k];
        frame_local(frame, world, u + 3);
    }
}

/* u = N gamma at block i, plus q if `motion` was computed with offset; without E gamma. */
template <int ROWS>
static __device__ inline void block_velocity(const CuView<double> &c, const CuMotion &motion, int i,
                                             double (&u)[ROWS])
{
    if (motion.velocity) {
        contact_velocity(c, motion.velocity, i, u);
        if (motion.offset)
            u[0] += c.bias[i];
        return;
    }
    for (int k = 0; k < ROWS; k++)
        u[k] = motion.product[(int64_t)i * ROWS + k];
}

/* u = S (u + E S x) at block i, with u = N S x before. x: block i of x; s = (s_n, s_t) of the block. */
template <int ROWS>
static __device__ inline void scale_velocity(const CuView<double> &c, int i, double2 s,
                                             const double (&x)[ROWS], double (&u)[ROWS])
{
    if (c.compliance)
        u[0] += c.compliance[i] * s.x * x[0];
    for (int k = 0; k < ROWS; k++)
        u[k] *= k ? s.y : s.x;
}

/* u = S (N + E) S x at block i, plus S q if `motion` was computed with offset. x: block i of x; motion:
 * cu_compute_motion of x in the same metric; s = (s_n, s_t) of the block. */
template <int ROWS>
static __device__ inline void scaled_gradient(const CuView<double> &c, const CuMotion &motion,
                                              int i, double2 s, const double (&x)[ROWS],
                                              double (&u)[ROWS])
{
    block_velocity(c, motion, i, u);
    scale_velocity(c, i, s, x, u);
}

/* ---- sets ---- */

/* Returns the mean of the block's diagonal entries of N + E. */
template <int ROWS, class T>
static __device__ inline T block_mean_diagonal(const CuView<T> &c, int i)
{
    return mean_diagonal<ROWS>(c.diagonal[i]);
}

/* Returns |d (gamma - P(gamma - g / d))|^2, the squared natural residual of a block; d is its mean diagonal entry.
 * Where the projection changes nothing this is |g|^2, and g itself is used: the difference would lose a small g beside
 * huge impulses. */
template <class Set, int ROWS>
static __device__ inline double exact_natural_residual2(const Set &set, double d,
                                                        const double (&gamma)[ROWS],
                                                        const double (&g)[ROWS])
{
    double eta = 1.0 / d, step[ROWS], r2 = 0.0;
    bool inside = true;
    for (int k = 0; k < ROWS; k++)
        step[k] = gamma[k] - eta * g[k];
    project_block(set, step);
    for (int k = 0; k < ROWS; k++)
        inside = inside && step[k] == gamma[k] - eta * g[k];
    for (int k = 0; k < ROWS; k++) {
        double r = inside ? g[k] : d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

#endif
