/* backend/cuda/iterate/iterate_contacts.h - the contacts' kernel of iterate.h: gradient, step, projection, sums. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_CONTACTS_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_CONTACTS_H

#include "backend/cuda/iterate/iterate_load.h"
#include "backend/cuda/iterate/iterate_parts.h"

extern "C" {
#include "backend/momentum.h"
}

/* 1 / s_n^2 and 1 / s_t^2 of a contact's metric, and d, the mean diagonal entry of its block of N + E. */
template <class T> struct Weights {
    T n, t, d;
};

/* Returns the weights of contact i. Those of contacts of spheres come from the bodies' records va and vb; those of
 * general contacts, and of all contacts if joints are eliminated, come from op.diagonal, which contains E. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline Weights<T> contact_weights(int i, T compliance, const T (&va)[8],
                                                    const T (&vb)[8])
{
    T nn = va[3] + vb[3], tt = nn + va[7] + vb[7];
    nn += compliance;
    if (GENERAL && (i >= args.op.spheres || args.machines.machines.machines)) {
        nn = (T)args.op.diagonal[i][0];
        tt = (T)args.op.diagonal[i][1];
    }
    T d = ROWS == 1 ? nn : (nn + T(2) * tt) * T(1.0 / 3.0);
    return args.trace ? Weights<T>{d, d, d} : Weights<T>{nn, tt, d};
}

/* Loads the velocity records of a contact's bodies; zeros for the fixed world. */
template <class T>
static __device__ inline void load_records(const void *v, int2 pair, T (&va)[8], T (&vb)[8])
{
    load_packs<8>((const T *)v + 8 * (int64_t)pair.x, va);
    if (pair.y >= 0)
        load_packs<8>((const T *)v + 8 * (int64_t)pair.y, vb);
    else
        for (int k = 0; k < 8; k++)
            vb[k] = T(0);
}

/* u = velocity of b relative to a at contact i, in its frame, from the two records. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline void relative_velocity(int i, const T (&frame)[4], const T (&va)[8],
                                                const T (&vb)[8], T (&u)[ROWS])
{
    T world[3], turn[3], spin[3], local[3];
    for (int k = 0; k < 3; k++)
        world[k] = vb[k] - va[k];
    if (GENERAL && i >= args.op.spheres) {
        const double *arm = args.op.arm[i - args.op.spheres];
        T side[3];
        for (int body = 0; body < 2; body++) {
            for (int k = 0; k < 3; k++)
                side[k] = (T)arm[3 * body + k];
            cross((body ? vb : va) + 4, side, turn);
            for (int k = 0; k < 3; k++)
                world[k] += body ? turn[k] : -turn[k];
        }
    } else if constexpr (ROWS == 3) {
        for (int k = 0; k < 3; k++)
            spin[k] = va[4 + k] + vb[4 + k];
        cross(spin, frame, turn);
        for (int k = 0; k < 3; k++)
            world[k] -= turn[k];
    }
    if constexpr (ROWS == 1) {
        u[0] = frame[0] * world[0] + frame[1] * world[1] + frame[2] * world[2];
    } else {
        frame_local(frame, world, local);
        for (int k = 0; k < 3; k++)
            u[k] = local[k];
    }
}

/* Projects z onto the cone |t| <= mu n, or with one row onto z >= 0, in the metric diag(b_n, b_t, b_t), kappa = mu b_t
 * / b_n; takes roots and divisions only if the result is on the mantle. Returns true if z is in the cone, with one row
 * if z is above 0, and so unchanged. */
static __device__ inline bool project_in_metric(double mu, double kappa, double (&z)[3])
{
    double t2 = z[1] * z[1] + z[2] * z[2];
    if (z[0] >= 0.0 && t2 <= mu * mu * z[0] * z[0])
        return true;
    if (z[0] <= 0.0 && kappa * kappa * t2 <= z[0] * z[0]) {
        z[0] = z[1] = z[2] = 0.0;
        return false;
    }
    double inverse = rsqrt(t2), mantle = (z[0] + kappa * t2 * inverse) / (1.0 + mu * kappa);
    double shrink = mu * mantle * inverse;
    z[0] = mantle;
    z[1] *= shrink;
    z[2] *= shrink;
    return false;
}

static __device__ inline bool project_in_metric(double, double, double (&z)[1])
{
    if (!(z[0] <= 0.0))
        return true;
    z[0] = 0.0;
    return false;
}

/* Data of a contact that are constant between refinements: gamma, the impulse at the last refinement, the gradient g
 * there, and E. In double precision gamma is 0 and g the bias, on the normal row: the rest of q comes from V, which
 * contains v_f. */
template <class T, int ROWS> struct Base {
    double gamma[ROWS], g[ROWS];
    T compliance;
};

/* Loads the Base of contact i; fourth[k]: what load_vector returns for args.x[k]. */
template <int ROWS>
static __device__ inline void load_base(int i, const float (&)[2], Base<double, ROWS> &base)
{
    for (int k = 0; k < ROWS; k++)
        base.gamma[k] = base.g[k] = 0.0;
    base.g[0] = args.op.bias[i];
    base.compliance = args.op.compliance ? args.op.compliance[i] : 0.0;
}

template <int ROWS>
static __device__ inline void load_base(int i, const float (&fourth)[2], Base<float, ROWS> &base)
{
    const float4 b = args.base[i];
    const char4 low = args.low[i];
    base.compliance = args.normal[i].w;
    base.gamma[0] = (double)b.x;
    base.g[0] = join_parts(b.w, low.x);
    if constexpr (ROWS == 3) {
        base.gamma[1] = (double)b.y;
        base.gamma[2] = (double)b.z;
        base.g[1] = join_parts(args.tangent1 ? fourth[1] : fourth[0], low.y);
        base.g[2] = join_parts(args.tangent1 ? fourth[0] : fourth[1], low.z);
    }
}

/* Returns the fourth number of a block of args.x[k] in single precision. */
template <class T, int ROWS>
static __device__ inline double fourth_of(const Base<T, ROWS> &base, int k)
{
    if constexpr (ROWS == 3 && sizeof(T) == sizeof(float))
        return k == args.tangent1 ? base.g[1] : base.g[2];
    else
        return 0.0;
}

/* Returns |(gamma - P(gamma - eta g)) / eta|^2, the squared natural residual; computed as |g|^2 if the projection
 * changes nothing. */
template <int ROWS>
static __device__ inline double natural_residual2_of(double mu, double d, double eta,
                                                     const double (&gamma)[ROWS],
                                                     const double (&g)[ROWS])
{
    double z[ROWS], r2 = 0.0;
    for (int k = 0; k < ROWS; k++)
        z[k] = gamma[k] - eta * g[k];
    bool inside = project_in_metric(mu, mu, z);
    for (int k = 0; k < ROWS; k++) {
        double r = inside ? g[k] : d * (gamma[k] - z[k]);
        r2 += r * r;
    }
    return r2;
}

/* Adds to the sums the natural residual of base.gamma + x, where the gradient is base.g + u, and d^2 |x|^2. As the
 * measuring kernel is limited by arithmetic in double, what only decides about refinements and step lengths is computed
 * in T, and eta = 1 / d is a quotient in T. */
template <class T, int ROWS>
static __device__ inline void add_residual(const Base<T, ROWS> &base, double mu,
                                           const Weights<T> &w, const T (&x)[ROWS],
                                           const T (&u)[ROWS], double (&sums)[ITERATE_SUMS])
{
    double gamma[ROWS], g[ROWS];
    T size2 = T(0); /* d^2 |x|^2 */
    for (int k = 0; k < ROWS; k++) {
        gamma[k] = base.gamma[k] + (double)x[k];
        g[k] = base.g[k] + (double)u[k];
        size2 += (w.d * x[k]) * (w.d * x[k]);
    }
    double r2 = natural_residual2_of(mu, (double)w.d, (double)divide(T(1), w.d), gamma, g);
    sums[RESIDUAL2] += r2;
    sums[RESIDUAL_MAX2] = larger(sums[RESIDUAL_MAX2], r2);
    sums[SIZE2] += (double)size2;
}

/* Returns v_n^2 + ratio |v_t|^2. */
template <class T, int ROWS> static __device__ inline T sum_squares(T ratio, const T (&v)[ROWS])
{
    if constexpr (ROWS == 1)
        return v[0] * v[0];
    else
        return v[0] * v[0] + ratio * (v[1] * v[1] + v[2] * v[2]);
}

/* Adds |x|^2 and the squares of the changes dx of x and du of the gradient since the previous iterate, in the metric,
 * for the test of the step length. */
template <class T, int ROWS>
static __device__ inline void add_step_changes(const Weights<T> &w, const T (&x)[ROWS],
                                               const T (&dx)[ROWS], const T (&du)[ROWS],
                                               double (&sums)[ITERATE_SUMS])
{
    const T ratio = ROWS == 1 ? T(1) : divide(w.n, w.t);
    T wx[ROWS], wdx[ROWS];
    for (int k = 0; k < ROWS; k++) {
        wx[k] = (k ? w.t : w.n) * x[k];
        wdx[k] = (k ? w.t : w.n) * dx[k];
    }
    /* squares of velocities in T: squares of impulses of very light or heavy bodies would leave the range of floats */
    const double mass = (double)divide(T(1), w.n);
    sums[X2] += mass * (double)sum_squares(ratio, wx);
    sums[DX2] += mass * (double)sum_squares(ratio, wdx);
    sums[DG2] += mass * (double)sum_squares(ratio, du);
}

/* next = P(gamma + y - step B^-1 g) - gamma, gamma = base.gamma, g = base.g + u, P the projection in the metric B =
 * diag(b_n, b_t, b_t). B^-1 and kappa come from the same rounded quotient, whose error then does not matter: any metric
 * has the same solutions. */
template <class T, int ROWS>
static __device__ inline void take_projected_step(const Base<T, ROWS> &base, double mu, double step,
                                                  T b_n, T b_t, const T (&y)[ROWS],
                                                  const T (&u)[ROWS], T (&next)[ROWS])
{
    double z[ROWS], ratio = (double)divide(b_t, b_n);
    double inverse = step * (double)divide(T(1), b_t);
    for (int k = 0; k < ROWS; k++) {
        double g = base.g[k] + (double)u[k];
        z[k] = base.gamma[k] + ((double)y[k] - (k ? inverse : inverse * ratio) * g);
    }
    project_in_metric(mu, mu * ratio, z);
    for (int k = 0; k < ROWS; k++)
        next[k] = (T)(z[k] - base.gamma[k]);
}

/* Scalars of a step. */
struct StepScalars {
    double beta, ahead, step; /* as in momentum.h; not used in Jacobi's method */
    double mu;                /* of all contacts if it is the same, 0 with one row; else negative */
    double restart_scale;     /* TalusMomentum.restart_scale */
};

/* Returns StepScalars.mu. */
template <int ROWS> static __device__ inline double common_friction()
{
    if (ROWS == 1)
        return 0.0;
    return args.mu_range[0] == -args.mu_range[1] ? args.mu_range[0] : -1.0;
}

/* Returns the scalars of the next step; mu: common_friction(). */
static __device__ inline StepScalars step_scalars(const IterateState &s, double mu)
{
    return {s.beta, talus_momentum_ahead(s.beta, s.momentum.lag),
            talus_momentum_step(&s.momentum, s.beta), mu, s.momentum.restart_scale};
}

/* Returns mu of contact i: the common value c.mu if there is one. */
template <int ROWS> static __device__ inline double contact_friction(const StepScalars &c, int i)
{
    return ROWS == 1 || c.mu >= 0.0 ? c.mu : args.op.mu[i];
}

/* Returns De Saxce's shift mu |g_t| of an iterate with gradient g = base.g + u. */
template <class T, int ROWS>
static __device__ inline double coulomb_shift(const Base<T, ROWS> &base, double mu,
                                              const T (&u)[ROWS])
{
    if constexpr (ROWS == 1)
        return 0.0;
    double t1 = base.g[1] + (double)u[1], t2 = base.g[2] + (double)u[2];
    return mu * sqrt(t1 * t1 + t2 * t2);
}

/* One accelerated step at contact i: writes the next iterate over the previous one, args.x[1 - parity], and adds the
 * sums of the step. */
template <class T, int ROWS, bool GENERAL, bool CHECK, bool EXACT>
static __device__ inline void accelerate_contact(const StepScalars &c, int i, int2 pair, int parity,
                                                 double (&sums)[ITERATE_SUMS])
{
    Base<T, ROWS> base;
    T frame[4], va[8], vb[8], x[ROWS], dx[ROWS], y[ROWS], u[ROWS], du[ROWS], next[ROWS];
    load_frame(i, frame);
    const float here = load_vector<ROWS>((const T *)args.x[parity], i, x);
    const float there = load_vector<ROWS>((const T *)args.x[1 - parity], i, dx);
    load_base(i, {parity ? there : here, parity ? here : there}, base);
    load_records(args.v[parity], pair, va, vb);
    const double mu = contact_friction<ROWS>(c, i);
    const Weights<T> w = contact_weights<T, ROWS, GENERAL>(i, base.compliance, va, vb);
    relative_velocity<T, ROWS, GENERAL>(i, frame, va, vb, u);
    u[0] += base.compliance * x[0];
    load_records(args.v[1 - parity], pair, va, vb);
    relative_velocity<T, ROWS, GENERAL>(i, frame, va, vb, du);
    du[0] += base.compliance * dx[0];
    if constexpr (EXACT)
        base.g[0] += coulomb_shift(base, mu, u);
    for (int k = 0; k < ROWS; k++) {
        dx[k] = x[k] - dx[k];
        du[k] = u[k] - du[k];
        y[k] = x[k] + (T)c.beta * dx[k];
    }
    if constexpr (CHECK) {
        add_residual(base, mu, w, x, u, sums);
        add_step_changes(w, x, dx, du, sums);
    }
    for (int k = 0; k < ROWS; k++)
        u[k] += (T)c.ahead * du[k];
    take_projected_step(base, mu, c.step, w.n, w.t, y, u, next);
    T restart = T(0);
    for (int k = 0; k < ROWS; k++)
        restart += (k ? w.t : w.n) * (y[k] - next[k]) * (next[k] - x[k]);
    sums[RESTART] += (double)restart;
    store_vector<ROWS>((T *)args.x[1 - parity], i, next, fourth_of(base, 1 - parity));
}

/* One Jacobi step at contact i: changes x in place; adds the residual of the old x to the sums if CHECK. */
template <class T, int ROWS, bool GENERAL, bool CHECK>
static __device__ inline void relax_contact(const StepScalars &c, int i, int2 pair,
                                            double (&sums)[ITERATE_SUMS])
{
    Base<T, ROWS> base;
    T frame[4], va[8], vb[8], x[ROWS], unused[ROWS], u[ROWS], next[ROWS];
    load_frame(i, frame);
    load_base(i,
              {load_vector<ROWS>((const T *)args.x[0], i, x),
               load_vector<ROWS>((const T *)args.x[1], i, unused)},
              base);
    load_records(args.v[0], pair, va, vb);
    const double mu = contact_friction<ROWS>(c, i);
    const Weights<T> w = contact_weights<T, ROWS, GENERAL>(i, base.compliance, va, vb);
    relative_velocity<T, ROWS, GENERAL>(i, frame, va, vb, u);
    u[0] += base.compliance * x[0];
    if constexpr (CHECK)
        add_residual(base, mu, w, x, u, sums);
    take_projected_step(base, mu, args.omega, w.d, w.d, x, u, next);
    for (int k = 0; k < ROWS; k++)
        next[k] = x[k] + (T)args.lambda * (next[k] - x[k]);
    store_vector<ROWS>((T *)args.x[0], i, next, fourth_of(base, 0));
}

/* The sums of a thread in a step; CHECK and MOMENTUM as in iterate_kernels.h. */
template <bool MOMENTUM, bool CHECK> struct StepSums {
    CuSums<CHECK ? ITERATE_SUMS - 1 : 0, (int)CHECK> measured;
    long long restart = 0; /* used unless CHECK */

    /* Adds the terms of one contact; with CHECK at most TALUS_BIN_TERMS times before add_to. */
    __device__ void add(const StepScalars &c, const double (&terms)[ITERATE_SUMS])
    {
        if constexpr (CHECK)
            measured.add(terms);
        else if constexpr (MOMENTUM)
            restart += llrint(fmax(-args.restart_limit,
                                   fmin(c.restart_scale * terms[RESTART], args.restart_limit)));
    }

    /* Adds the sums of all threads of the block, which all call it, to the tallies; without CHECK it is called once.
     * `measured` is 0 afterwards. */
    template <int THREADS_HERE> __device__ void add_to(CuTally *tally)
    {
        if constexpr (CHECK)
            add_block_sums<THREADS_HERE>(measured, tally);
        else if constexpr (MOMENTUM)
            add_block_integers<THREADS_HERE>(restart, &tally[RESTART]);
    }
};

/* Returns the pair of this thread's contact in a chunk; (0, 0) beyond the last contact. */
static __device__ inline int2 load_pair(int chunk)
{
    int i = chunk * CONTACT_THREADS + (int)threadIdx.x;
    return i < args.op.blocks ? args.op.pair[i] : make_int2(0, 0);
}

/* The contacts' kernel. It runs from the last contact to the first, the bodies' kernel from the first body to the last:
 * each starts with data that the previous kernel left in the cache. Pairs are loaded one chunk ahead, the first ones
 * before waiting for the previous kernel. */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM, bool EXACT, bool CHECK>
static __global__ void __launch_bounds__(CONTACT_THREADS, CHECK || sizeof(T) == 8 ? 2 : 4)
    iterate_contacts(int parity)
{
    const int chunks = contact_chunks();
    int chunk = chunks - 1 - (int)blockIdx.x;
    int2 pair = chunk >= 0 ? load_pair(chunk) : make_int2(0, 0);
    await_previous_kernel();
    const IterateState *s = &args.state[parity];
    if (s->stop || chunk < 0)
        return;
    const StepScalars c = step_scalars(*s, common_friction<ROWS>());
    StepSums<MOMENTUM, CHECK> sums;
    for (int terms = 1; chunk >= 0; chunk -= CONTACT_BLOCKS, terms++) {
        int i = chunk * CONTACT_THREADS + (int)threadIdx.x;
        int2 ahead = chunk >= CONTACT_BLOCKS ? load_pair(chunk - CONTACT_BLOCKS) : pair;
        if (i < args.op.blocks) {
            double terms_of_contact[ITERATE_SUMS] = {0.0};
            if constexpr (MOMENTUM)
                accelerate_contact<T, ROWS, GENERAL, CHECK, EXACT>(c, i, pair, parity,
                                                                   terms_of_contact);
            else
                relax_contact<T, ROWS, GENERAL, CHECK>(c, i, pair, terms_of_contact);
            if (!args.counted || args.counted[i])
                sums.add(c, terms_of_contact);
        }
        pair = ahead;
        if (chunk < CONTACT_BLOCKS || (CHECK && terms % TALUS_BIN_TERMS == 0))
            sums.template add_to<CONTACT_THREADS>(args.tally[parity]);
    }
}

#endif
