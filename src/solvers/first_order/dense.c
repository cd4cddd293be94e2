/* solvers/first_order/dense.c - Cholesky's factorisation of a scaled Gram matrix (dense.h). */
#include "solvers/first_order/dense.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Overwrites the lower triangle of a by Cholesky's factor L. False if a is not positive definite. */
static bool factorise_cholesky(int n, double a[TALUS_DENSE_MAX][TALUS_DENSE_MAX])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++)
                a[i][j] -= a[i][k] * a[j][k];
        if (!(a[j][j] > 0.0) || !isfinite(a[j][j]))
            return false;
        double root = sqrt(a[j][j]);
        for (int i = j; i < n; i++)
            a[i][j] /= root;
    }
    return true;
}

/* Solves L L'x = c with the factor L in a; x overwrites c. */
static void solve_cholesky(int n, double a[TALUS_DENSE_MAX][TALUS_DENSE_MAX], double *c)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            c[i] -= a[i][k] * c[k];
        c[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            c[i] -= a[k][i] * c[k];
        c[i] /= a[i][i];
    }
}

_Bool talus_dense_least_squares(int n, int stride, const double *gram, const double *right,
                                double relative, double *c)
{
    double a[TALUS_DENSE_MAX][TALUS_DENSE_MAX], length[TALUS_DENSE_MAX];
    bool ok = true;
    for (int i = 0; i < n; i++)
        length[i] = gram[i * stride + i] > 0.0 ? sqrt(gram[i * stride + i]) : INFINITY;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            a[i][j] = gram[i * stride + j] / length[i] / length[j];
        a[i][i] = 1.0 + relative;
        c[i] = right[i] / length[i];
    }
    ok = factorise_cholesky(n, a);
    if (ok)
        solve_cholesky(n, a, c);
    for (int i = 0; i < n; i++) {
        c[i] /= length[i];
        ok = ok && isfinite(c[i]);
    }
    if (!ok)
        memset(c, 0, (size_t)n * sizeof *c);
    return ok;
}
