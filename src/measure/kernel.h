/* measure/kernel.h - the kernel of coarse-graining along one axis, and Gauss's nodes that integrate it exactly.
 *
 * Along each axis k(t) = 15/16 (1 - t^2)^2 for |t| < 1, with integral 1 and variance 1/7; the kernel of space is the
 * product over the axes, scaled by its width. A product, unlike a function of the distance, has means over boxes in
 * closed form: differences of K, the integral of k. It is not isotropic, but its second moments are. */
#ifndef TALUS_MEASURE_KERNEL_H
#define TALUS_MEASURE_KERNEL_H

/* Returns k(t). */
static inline double talus_kernel(double t)
{
    const double u = 1.0 - t * t;
    return u > 0.0 ? 0.9375 * u * u : 0.0;
}

/* Returns K(t), the integral of k from -infinity to t: 0 up to t = -1, 1 from t = 1 on. */
static inline double talus_kernel_below(double t)
{
    const double s = t * t;
    if (s >= 1.0)
        return t < 0.0 ? 0.0 : 1.0;
    return 0.5 + 0.0625 * t * (15.0 - s * (10.0 - 3.0 * s));
}

/* Gauss-Legendre nodes and weights on [-1, 1]: exact up to degree 15, that of K(x) K(y) K(z) along a line. */
enum { TALUS_GAUSS_NODES = 8 };
static const double talus_gauss_node[TALUS_GAUSS_NODES] = {
    -0.9602898564975363, -0.7966664774136267, -0.525532409916329, -0.1834346424956498,
    0.1834346424956498,  0.525532409916329,   0.7966664774136267, 0.9602898564975363};
static const double talus_gauss_weight[TALUS_GAUSS_NODES] = {
    0.10122853629037626, 0.22238103445337448, 0.31370664587788727, 0.362683783378362,
    0.362683783378362,   0.31370664587788727, 0.22238103445337448, 0.10122853629037626};

#endif
