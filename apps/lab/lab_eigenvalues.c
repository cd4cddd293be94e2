/* lab/lab_eigenvalues.c - eigenvalues of a small matrix in Hessenberg form.
 *
 * QR steps with Wilkinson's shift in complex arithmetic, by Givens rotations (Golub & Van Loan, chapter 7). Once an
 * eigenvalue has converged, its row and column are left out. Eigenvectors are not needed, so rotations act on the
 * remaining diagonal block alone. */
#include "lab_eigenvalues.h"

#include "base/memory.h"
#include "base/status.h"

#include <float.h>
#include <math.h>

/* MAX_STEPS: limit of QR steps for one eigenvalue. Every EXCEPTIONAL-th of them has an arbitrary shift, because
 * Wilkinson's shifts may run into a cycle. */
enum { MAX_STEPS = 200, EXCEPTIONAL = 11 };

typedef double complex Complex;

typedef struct Square {
    Complex *entry; /* by rows */
    int size;
} Square;

/* Returns a pointer to an entry of the matrix. */
static Complex *entry_at(const Square *h, int row, int column)
{
    return &h->entry[(size_t)row * (size_t)h->size + (size_t)column];
}

/* Returns Wilkinson's shift: the eigenvalue of rows and columns last - 1 and last that is nearer to the last entry. */
static Complex find_shift(const Square *h, int last)
{
    Complex a = *entry_at(h, last - 1, last - 1), b = *entry_at(h, last - 1, last),
            c = *entry_at(h, last, last - 1), d = *entry_at(h, last, last);
    Complex half = 0.5 * (a - d), root = csqrt(half * half + b * c);
    Complex far = cabs(half + root) > cabs(half - root) ? half + root : half - root;
    return cabs(far) > 0.0 ? d - b * c / far : d;
}

/* Multiplies rows k and k + 1, in columns k to `last`, by the rotation that makes entry (k + 1, k) zero; writes the
 * rotation's cosine and sine. */
static void rotate_rows(Square *h, int k, int last, Complex *c, Complex *s)
{
    double length = hypot(cabs(*entry_at(h, k, k)), cabs(*entry_at(h, k + 1, k)));
    *c = length > 0.0 ? *entry_at(h, k, k) / length : 1.0;
    *s = length > 0.0 ? *entry_at(h, k + 1, k) / length : 0.0;
    for (int j = k; j <= last; j++) {
        Complex upper = *entry_at(h, k, j), lower = *entry_at(h, k + 1, j);
        *entry_at(h, k, j) = conj(*c) * upper + conj(*s) * lower;
        *entry_at(h, k + 1, j) = *c * lower - *s * upper;
    }
}

/* Multiplies columns k and k + 1, in rows `first` to k + 1, by the adjoint of the rotation of rotate_rows. */
static void rotate_columns(Square *h, int k, int first, Complex c, Complex s)
{
    for (int i = first; i <= k + 1; i++) {
        Complex left = *entry_at(h, i, k), right = *entry_at(h, i, k + 1);
        *entry_at(h, i, k) = left * c + right * s;
        *entry_at(h, i, k + 1) = right * conj(c) - left * conj(s);
    }
}

/* One QR step: replaces H by R Q + shift, where Q R = H - shift, in rows and columns `first` to `last`. */
static void qr_step(Square *h, int first, int last, Complex shift)
{
    Complex c = 1.0, s = 0.0;
    for (int k = first; k <= last; k++)
        *entry_at(h, k, k) -= shift;
    for (int k = first; k < last; k++) {
        Complex before_c = c, before_s = s;
        rotate_rows(h, k, last, &c, &s);
        if (k >
            first) /* columns k - 1 and k of rows up to k are no longer changed by row rotations */
            rotate_columns(h, k - 1, first, before_c, before_s);
    }
    rotate_columns(h, last - 1, first, c, s);
    for (int k = first; k <= last; k++)
        *entry_at(h, k, k) += shift;
}

/* Returns the first row of the diagonal block that ends with row `last`: no subdiagonal entry in it is negligible. */
static int find_first_row(Square *h, int last)
{
    int k = last;
    for (; k > 0; k--) {
        double size = cabs(*entry_at(h, k - 1, k - 1)) + cabs(*entry_at(h, k, k));
        if (cabs(*entry_at(h, k, k - 1)) <= DBL_EPSILON * size)
            break;
    }
    return k;
}

/* Writes the diagonal of the Schur form, from the last row up; returns false if MAX_STEPS are not enough. */
static bool find_all_eigenvalues(Square *h, Complex *out)
{
    int steps = 0;
    for (int last = h->size - 1; last >= 0;) {
        int first = find_first_row(h, last);
        if (first == last) {
            out[last] = *entry_at(h, last, last);
            last--;
            steps = 0;
            continue;
        }
        if (++steps > MAX_STEPS)
            return false;
        Complex shift = steps % EXCEPTIONAL
                            ? find_shift(h, last)
                            : *entry_at(h, last, last) + cabs(*entry_at(h, last, last - 1));
        qr_step(h, first, last, shift);
    }
    return true;
}

TalusStatus lab_find_eigenvalues(const double *h, int stride, int size, double complex *out)
{
    Square copy = {.size = size};
    TALUS_TRY(TALUS_ALLOC(copy.entry, (size_t)size * (size_t)size + 1, "Hessenberg matrix"));
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            *entry_at(&copy, i, j) = i <= j + 1 ? h[(size_t)i * (size_t)stride + (size_t)j] : 0.0;
    bool found = find_all_eigenvalues(&copy, out);
    talus_release(copy.entry);
    return found ? TALUS_OK : talus_fail(TALUS_ERR_NUMERIC, "eigenvalues: no convergence");
}
