/* measure/mixing.c - Lacey's index and the vertical segregation of two classes of bodies.
 *
 * Lacey (1954): M = (s0 - s) / (s0 - sr), with s the variance of the fraction p_k of the first class over samples, s0 =
 * p (1 - p) that of separate classes, sr that of a random mixture. Samples, cubes with n_k of the n bodies, count by their
 * numbers: s = sum n_k (p_k - p)^2 / n, and sr = K s0 / n for K cubes. */
#include "measure/bulk.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* A body in its cube. */
typedef struct Sample {
    int64_t i, j, k;
    bool first; /* of the first class */
} Sample;

static int compare_samples(const void *a, const void *b)
{
    const Sample *x = a, *y = b;
    if (x->i != y->i)
        return x->i < y->i ? -1 : 1;
    if (x->j != y->j)
        return x->j < y->j ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

/* By what bodies are of the first class. */
typedef struct Classes {
    bool by_tag;
    int tag;
    double radius;
} Classes;

static Classes find_classes(const TalusAssembly *a, const TalusBulkDef *def)
{
    int least = INT32_MAX, most = INT32_MIN;
    double small = INFINITY, large = 0.0;
    for (int i = 0; i < a->body_count; i++) {
        if (!talus_bulk_includes(def, a->position[i]))
            continue;
        least = a->tag[i] < least ? a->tag[i] : least;
        most = a->tag[i] > most ? a->tag[i] : most;
        small = fmin(small, a->radius[i]);
        large = fmax(large, a->radius[i]);
    }
    return (Classes){least != most, most, 0.5 * (small + large)};
}

static bool is_first(const Classes *classes, const TalusAssembly *a, int i)
{
    return classes->by_tag ? a->tag[i] == classes->tag : a->radius[i] > classes->radius;
}

/* Lists the bodies that count; returns their number. */
static int list_samples(const TalusAssembly *a, const TalusBulkDef *def, double edge,
                        Sample *sample)
{
    const Classes classes = find_classes(a, def);
    int count = 0;
    for (int i = 0; i < a->body_count; i++) {
        const TalusVec3 x = a->position[i];
        if (talus_bulk_includes(def, x))
            sample[count++] = (Sample){(int64_t)floor(x.x / edge), (int64_t)floor(x.y / edge),
                                       (int64_t)floor(x.z / edge), is_first(&classes, a, i)};
    }
    return count;
}

/* Returns Lacey's index; sorts the samples. */
static double find_lacey(Sample *sample, int count, double p)
{
    double variance = 0.0, cubes = 0.0;
    qsort(sample, (size_t)count, sizeof *sample, compare_samples);
    for (int begin = 0, end; begin < count; begin = end) {
        int first = 0;
        for (end = begin; end < count && compare_samples(&sample[end], &sample[begin]) == 0; end++)
            first += sample[end].first;
        const double n = end - begin, d = first / n - p;
        variance += n * d * d / count;
        cubes += 1.0;
    }
    const double apart = p * (1.0 - p), random = cubes * apart / count;
    return apart > random ? (apart - variance) / (apart - random) : NAN;
}

/* Returns the difference of the mean heights of the two classes over the standard deviation of all. */
static double find_segregation(const TalusAssembly *a, const TalusBulkDef *def)
{
    const Classes classes = find_classes(a, def);
    double count[2] = {0}, height[2] = {0}, squares = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        const double mean = pass ? (height[0] + height[1]) / (count[0] + count[1]) : 0.0;
        for (int i = 0; i < a->body_count; i++) {
            const double h = talus_dot(a->up, a->position[i]);
            const int first = is_first(&classes, a, i);
            if (!talus_bulk_includes(def, a->position[i]))
                continue;
            if (pass)
                squares += (h - mean) * (h - mean);
            count[first] += pass ? 0.0 : 1.0;
            height[first] += pass ? 0.0 : h;
        }
    }
    const double deviation = sqrt(squares / (count[0] + count[1]));
    return deviation > 0.0 ? (height[1] / count[1] - height[0] / count[0]) / deviation : NAN;
}

TalusStatus talus_mixing_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                 TalusMixing *out)
{
    Sample *sample = NULL;
    double radius;
    *out = (TalusMixing){NAN, NAN, NAN};
    TALUS_TRY(talus_assembly_median_radius(assembly, &radius));
    if (!(radius > 0.0))
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(sample, (size_t)assembly->body_count, "mixing"));
    const int count = list_samples(assembly, def, 8.0 * radius, sample);
    int first = 0;
    for (int n = 0; n < count; n++)
        first += sample[n].first;
    if (first > 0 && first < count) {
        out->fraction = (double)first / count;
        out->lacey = find_lacey(sample, count, out->fraction);
        out->segregation = find_segregation(assembly, def);
    }
    talus_release(sample);
    return TALUS_OK;
}
