/* backend/cuda/iterate/iterate_load.h - shared by the kernels of iterate.h: their arguments, and loads in either
 * precision. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_LOAD_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_LOAD_H

#include "backend/cuda/device/follow.h"
#include "backend/cuda/iterate/iterate.h"

/* Arguments of the kernels in the including .cu file, in constant memory, so that they take no registers. */
namespace
{
__constant__ IterateArgs args;
}

/* ---- loads and stores ---- */

/* Load and store block i of a vector. In single precision a block of three rows has four floats: load_vector returns the
 * fourth one, store_vector stores `fourth`; else that is 0, or not used. */
template <int ROWS>
static __device__ inline float load_vector(const float *from, int i, float (&to)[ROWS])
{
    if constexpr (ROWS == 1) {
        to[0] = from[i];
        return 0.0f;
    } else {
        float4 v = ((const float4 *)from)[i];
        to[0] = v.x;
        to[1] = v.y;
        to[2] = v.z;
        return v.w;
    }
}

template <int ROWS>
static __device__ inline void store_vector(float *to, int i, const float (&from)[ROWS],
                                           double fourth)
{
    if constexpr (ROWS == 1)
        to[i] = from[0];
    else
        ((float4 *)to)[i] = make_float4(from[0], from[1], from[2], (float)fourth);
}

template <int ROWS>
static __device__ inline float load_vector(const double *from, int i, double (&to)[ROWS])
{
    load_block<ROWS>(from, i, to);
    return 0.0f;
}

template <int ROWS>
static __device__ inline void store_vector(double *to, int i, const double (&from)[ROWS], double)
{
    store_block<ROWS>(to, i, from);
}

/* Returns a / b. */
static __device__ inline double divide(double a, double b)
{
    return a / b;
}

/* Returns a / b; on the GPU with an error of a few units in the last place. That is harmless where all formulas of a
 * step use the same quotient (take_projected_step in iterate_contacts.h). */
static __device__ inline float divide(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

/* Loads normal and c of contact i (backend/frame.h); in single precision c is computed. */
static __device__ inline void load_frame(int i, float (&frame)[4])
{
    float4 n = args.normal[i];
    frame[0] = n.x;
    frame[1] = n.y;
    frame[2] = n.z;
    frame[3] = divide(1.0f, 1.0f + fabsf(n.x));
}

static __device__ inline void load_frame(int i, double (&frame)[4])
{
    load_packs<4>(args.op.frame[i], frame);
}

/* Returns the number of chunks of contacts; a chunk has CONTACT_THREADS contacts, one for each thread of a block. */
static __device__ inline int contact_chunks()
{
    return (int)(((int64_t)args.op.blocks + CONTACT_THREADS - 1) / CONTACT_THREADS);
}

#endif
