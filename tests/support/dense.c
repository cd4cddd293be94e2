/* support/dense.c - elimination, and Jacobi's method for eigenvalues. */
#include "dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

void solve_dense(int n, double *a, int stride, double *x)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * stride + k]) > fabs(a[best * stride + k]))
                best = i;
        for (int j = 0; j < n; j++)
            swap(&a[k * stride + j], &a[best * stride + j]);
        swap(&x[k], &x[best]);
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * stride + k] / a[k * stride + k];
            for (int j = k; j < n; j++)
                a[i * stride + j] -= factor * a[k * stride + j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= a[k * stride + j] * x[j];
        x[k] /= a[k * stride + k];
    }
}

/* Rotates rows and columns p and q of `a`, and rows p and q of v, so that a_pq becomes 0. */
static void rotate(int n, double *a, double *v, int p, int q)
{
    double apq = a[p * n + q];
    if (apq == 0.0)
        return;
    double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / hypot(t, 1.0), s = t * c;
    for (int k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = v[p * n + k], y = v[q * n + k];
        v[p * n + k] = c * x - s * y;
        v[q * n + k] = s * x + c * y;
    }
}

int find_kernel(int n, double *a, double share, double *kernel)
{
    enum { SWEEPS = 30 };
    double *v = calloc((size_t)n * (size_t)n, sizeof *v), largest = 0.0;
    int found = 0;
    if (!v)
        abort();
    for (int k = 0; k < n; k++)
        v[k * n + k] = 1.0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(n, a, v, p, q);
    for (int k = 0; k < n; k++)
        largest = fmax(largest, a[k * n + k]);
    for (int k = 0; k < n; k++)
        if (a[k * n + k] < share * largest)
            memcpy(&kernel[found++ * n], &v[k * n], (size_t)n * sizeof *v);
    free(v);
    return found;
}
