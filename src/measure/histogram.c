/* measure/histogram.c - distributions of forces and gaps over contacts, in bins of equal width. */
#include "measure/bulk.h"

#include <math.h>

static double force_of(const TalusAssemblyContact *contact)
{
    const double force = talus_normal_force(contact);
    return force > 0.0 ? force : NAN;
}

static double gap_of(const TalusAssemblyContact *contact)
{
    return contact->gap;
}

/* A row of the table: the value of a contact, NAN if it does not count. */
static const struct {
    const char *name;
    double (*value)(const TalusAssemblyContact *contact);
    bool relative; /* to the mean, and from 0 */
} table[TALUS_DISTRIBUTIONS] = {{"force", force_of, true}, {"gap", gap_of, false}};

const char *talus_distribution_name(TalusDistribution distribution)
{
    return table[distribution].name;
}

/* Values being counted. */
typedef struct Values {
    const TalusAssembly *assembly;
    const TalusBulkDef *def;
    TalusDistribution distribution;
    double sum, low, high;
} Values;

static double value_at(const Values *v, int i)
{
    const TalusAssemblyContact *contact = &v->assembly->contact[i];
    return talus_bulk_counts(v->assembly, v->def, contact) ? table[v->distribution].value(contact)
                                                           : NAN;
}

static void find_range(Values *v, TalusHistogram *out)
{
    v->low = INFINITY;
    v->high = -INFINITY;
    for (int i = 0; i < v->assembly->contact_count; i++) {
        const double x = value_at(v, i);
        if (isnan(x))
            continue;
        out->total++;
        v->sum += x;
        v->low = fmin(v->low, x);
        v->high = fmax(v->high, x);
    }
}

/* Gives bins a width if all values are equal: around x from x - |x|/2 to x + |x|/2, or around 0 from -1/2 to 1/2. */
static void widen(TalusHistogram *out)
{
    const double half = out->hi == out->lo ? 0.5 * (out->lo != 0.0 ? fabs(out->lo) : 1.0) : 0.0;
    out->lo -= half;
    out->hi += half;
}

static void count_values(const Values *v, double unit, TalusHistogram *out)
{
    const double width = (out->hi - out->lo) / TALUS_HISTOGRAM_BINS;
    for (int i = 0; i < v->assembly->contact_count; i++) {
        const double x = value_at(v, i);
        if (isnan(x))
            continue;
        const double bin = floor((x / unit - out->lo) / width);
        out->count[(int)fmax(0.0, fmin(bin, TALUS_HISTOGRAM_BINS - 1))]++;
    }
}

TalusStatus talus_histogram_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                    TalusDistribution distribution, TalusHistogram *out)
{
    Values v = {.assembly = assembly, .def = def, .distribution = distribution};
    *out = (TalusHistogram){0};
    if (!(assembly->data & TALUS_ASSEMBLY_CONTACTS))
        return talus_reject("histogram: the assembly lacks contacts");
    find_range(&v, out);
    if (out->total == 0)
        return TALUS_OK;
    const double unit = table[distribution].relative ? v.sum / (double)out->total : 1.0;
    out->lo = table[distribution].relative ? 0.0 : v.low;
    out->hi = v.high / unit;
    widen(out);
    count_values(&v, unit, out);
    return TALUS_OK;
}
