/* cli/study/student.c - mean of a sample and how well it is known.
 *
 * With theta = atan(t / sqrt(n)), the probability that |T| < t for n degrees of freedom is a finite sum (Abramowitz and Stegun
 * 1964, 26.7.3 and 26.7.4):
 *
 *     n = 1:  2/pi theta
 *     n odd:  2/pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ... + (2 4 .. (n-3))/(3 5 .. (n-2)) cos^(n-2) theta))
 *     n even: sin theta (1 + 1/2 cos^2 theta + (1 3)/(2 4) cos^4 theta + ... + (1 3 .. (n-3))/(2 4 .. (n-2)) cos^(n-2) theta)
 *
 * It rises with theta, so that halving an interval finds the quantile. */
#include "student.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Returns the probability that |T| < sqrt(n) tan(theta). */
static double probability_within(int n, double theta)
{
    const double c = cos(theta);
    double term = n % 2 ? c : 1.0, sum = n == 1 ? 0.0 : term;
    for (int k = n % 2 ? 3 : 2; k <= n - 2; k += 2) {
        term *= c * c * (k - 1.0) / k;
        sum += term;
    }
    return n % 2 ? 2.0 / pi * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double study_student_quantile(int degrees)
{
    double low = 0.0, high = 0.5 * pi;
    for (int i = 0; i < 200 && low < high; i++) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high)
            break;
        if (probability_within(degrees, middle) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return sqrt(degrees) * tan(low);
}

StudySample study_summarise(const double *value, int count)
{
    StudySample s = {.mean = 0.0, .deviation = NAN, .error = NAN, .interval = NAN};
    double squares = 0.0;
    for (int i = 0; i < count; i++)
        if (!isnan(value[i])) {
            s.mean += value[i];
            s.count++;
        }
    s.mean = s.count ? s.mean / s.count : NAN;
    if (s.count < 2)
        return s;
    for (int i = 0; i < count; i++)
        if (!isnan(value[i]))
            squares += (value[i] - s.mean) * (value[i] - s.mean);
    s.deviation = sqrt(squares / (s.count - 1));
    s.error = s.deviation / sqrt(s.count);
    s.interval = study_student_quantile(s.count - 1) * s.error;
    return s;
}
