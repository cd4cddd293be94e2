/* lab/lab_eigenvalues.c - eigenvalues of a small matrix in Hessenberg form.
 *
 * QR steps with Wilkinson's shift in complex arithmetic, by Givens rotations, on the part that is not yet split off
 * (Golub & Van Loan, chapter 7). Eigenvectors are not needed, so rotations act on that part alone. */
#include "lab_eigenvalues.h"

#include "base/memory.h"
#include "base/status.h"

#include <float.h>
#include <math.h>

/* Most QR steps for one eigenvalue; every EXCEPTIONAL-th has another shift, as a shift may repeat itself. */
enum { MAX_STEPS = 200, EXCEPTIONAL = 11 };

typedef double complex Complex;

typedef struct Square {
    Complex *entry; /* by rows */
    int size;
} Square;

static Complex *at(const Square *h, int row, int column)
{
    return &h->entry[(size_t)row * (size_t)h->size + (size_t)column];
}

/* Returns the eigenvalue of the last two rows and columns that is nearer to the last entry. */
static Complex find_shift(const Square *h, int last)
{
    Complex a = *at(h, last - 1, last - 1), b = *at(h, last - 1, last), c = *at(h, last, last - 1),
            d = *at(h, last, last);
    Complex half = 0.5 * (a - d), root = csqrt(half * half + b * c);
    Complex far = cabs(half + root) > cabs(half - root) ? half + root : half - root;
    return cabs(far) > 0.0 ? d - b * c / far : d;
}

/* Rows k and k + 1 are multiplied by the rotation that clears the entry below the diagonal, from column k to `last`. */
static void rotate_rows(Square *h, int k, int last, Complex *c, Complex *s)
{
    double length = hypot(cabs(*at(h, k, k)), cabs(*at(h, k + 1, k)));
    *c = length > 0.0 ? *at(h, k, k) / length : 1.0;
    *s = length > 0.0 ? *at(h, k + 1, k) / length : 0.0;
    for (int j = k; j <= last; j++) {
        Complex upper = *at(h, k, j), lower = *at(h, k + 1, j);
        *at(h, k, j) = conj(*c) * upper + conj(*s) * lower;
        *at(h, k + 1, j) = *c * lower - *s * upper;
    }
}

/* Columns k and k + 1 are multiplied by the adjoint of that rotation, from row `first` on. */
static void rotate_columns(Square *h, int k, int first, Complex c, Complex s)
{
    for (int i = first; i <= k + 1; i++) {
        Complex left = *at(h, i, k), right = *at(h, i, k + 1);
        *at(h, i, k) = left * c + right * s;
        *at(h, i, k + 1) = right * conj(c) - left * conj(s);
    }
}

/* H - shift = Q R becomes R Q + shift, on rows and columns from `first` to `last`. */
static void qr_step(Square *h, int first, int last, Complex shift)
{
    Complex c = 1.0, s = 0.0;
    for (int k = first; k <= last; k++)
        *at(h, k, k) -= shift;
    for (int k = first; k < last; k++) {
        Complex before_c = c, before_s = s;
        rotate_rows(h, k, last, &c, &s);
        if (k > first) /* the rotation before acts on columns that no later row rotation reads */
            rotate_columns(h, k - 1, first, before_c, before_s);
    }
    rotate_columns(h, last - 1, first, c, s);
    for (int k = first; k <= last; k++)
        *at(h, k, k) += shift;
}

/* Returns the first row of the part that ends with row `last` and is coupled to it. */
static int find_first(Square *h, int last)
{
    int k = last;
    for (; k > 0; k--) {
        double size = cabs(*at(h, k - 1, k - 1)) + cabs(*at(h, k, k));
        if (cabs(*at(h, k, k - 1)) <= DBL_EPSILON * size)
            break;
    }
    return k;
}

static bool find_all(Square *h, Complex *out)
{
    int steps = 0;
    for (int last = h->size - 1; last >= 0;) {
        int first = find_first(h, last);
        if (first == last) {
            out[last] = *at(h, last, last);
            last--;
            steps = 0;
            continue;
        }
        if (++steps > MAX_STEPS)
            return false;
        Complex shift = steps % EXCEPTIONAL ? find_shift(h, last)
                                            : *at(h, last, last) + cabs(*at(h, last, last - 1));
        qr_step(h, first, last, shift);
    }
    return true;
}

TalusStatus lab_eigenvalues(const double *h, int stride, int size, double complex *out)
{
    Square copy = {.size = size};
    TALUS_TRY(TALUS_ALLOC(copy.entry, (size_t)size * (size_t)size + 1, "Hessenberg matrix"));
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            *at(&copy, i, j) = i <= j + 1 ? h[(size_t)i * (size_t)stride + (size_t)j] : 0.0;
    bool found = find_all(&copy, out);
    talus_release(copy.entry);
    return found ? TALUS_OK : talus_fail(TALUS_ERR_NUMERIC, "eigenvalues: no convergence");
}
