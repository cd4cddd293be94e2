/* measure/fields.c - the table of continuum fields, and their formulas in terms of the sums of a cell.
 *
 * Fluctuations are about the mean velocity V of the cell: sum m (v - V)(v - V) W = sum m v v W - P P / rho. */
#include "measure/sums.h"

#include <math.h>
#include <stdbool.h>

/* ---- formulas ---- */

typedef const double *const *Sums;

/* Writes numerator / denominator by components, NAN where the denominator vanishes. */
static void write_quotient(const double *numerator, double denominator, int components, double *out)
{
    for (int c = 0; c < components; c++)
        out[c] = denominator != 0.0 ? numerator[c] / denominator : NAN;
}

static void write_mean(const double *sum, double count, int components, double *out)
{
    for (int c = 0; c < components; c++)
        out[c] = sum[c] / count;
}

static void density(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_MASS], count, 1, out);
}

static void solid(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_VOLUME], count, 1, out);
}

static void momentum(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_MOMENTUM], count, 3, out);
}

static void velocity(Sums sum, double count, double *out)
{
    (void)count;
    write_quotient(sum[TALUS_SUM_MOMENTUM], *sum[TALUS_SUM_MASS], 3, out);
}

static void spin(Sums sum, double count, double *out)
{
    (void)count;
    write_quotient(sum[TALUS_SUM_SPIN], *sum[TALUS_SUM_MASS], 3, out);
}

/* Writes xx yy zz xy yz xz; 0 without mass. */
static void kinetic_stress(Sums sum, double count, double *out)
{
    static const int row[6] = {0, 1, 2, 0, 1, 0}, column[6] = {0, 1, 2, 1, 2, 2};
    const double mass = *sum[TALUS_SUM_MASS];
    const double *p = sum[TALUS_SUM_MOMENTUM];
    for (int c = 0; c < 6; c++) {
        const double mean = mass > 0.0 ? p[row[c]] / mass * p[column[c]] : 0.0;
        out[c] = -(sum[TALUS_SUM_FLUX][c] - mean) / count;
    }
}

static void temperature(Sums sum, double count, double *out)
{
    double stress[6];
    kinetic_stress(sum, count, stress);
    const double energy = -(stress[0] + stress[1] + stress[2]) / 3.0;
    write_quotient(&energy, *sum[TALUS_SUM_MASS] / count, 1, out);
}

/* Returns C_rr = sum m (r - r_mean)(r - r_mean) W. */
static TalusSym3 find_extent(Sums sum)
{
    const double mass = *sum[TALUS_SUM_MASS];
    const double *r = sum[TALUS_SUM_PLACE], *rr = sum[TALUS_SUM_EXTENT];
    return (TalusSym3){.xx = rr[0] - r[0] * r[0] / mass,
                       .yy = rr[1] - r[1] * r[1] / mass,
                       .zz = rr[2] - r[2] * r[2] / mass,
                       .xy = rr[3] - r[0] * r[1] / mass,
                       .yz = rr[4] - r[1] * r[2] / mass,
                       .xz = rr[5] - r[0] * r[2] / mass};
}

/* True if the bodies of such a C_rr do not lie in a plane, nearly. */
static bool spans_space(const TalusSym3 *c)
{
    const double size = (c->xx + c->yy + c->zz) / 3.0;
    const double determinant = c->xx * (c->yy * c->zz - c->yz * c->yz) -
                               c->xy * (c->xy * c->zz - c->xz * c->yz) +
                               c->xz * (c->xy * c->yz - c->xz * c->yy);
    return determinant > 1e-6 * size * size * size;
}

/* Row i of C_vr = sum m (v - V)(r - r_mean) W. */
static TalusVec3 find_shear(Sums sum, int i)
{
    const double *shear = sum[TALUS_SUM_SHEAR] + 3 * i, *r = sum[TALUS_SUM_PLACE];
    const double v = sum[TALUS_SUM_MOMENTUM][i] / *sum[TALUS_SUM_MASS];
    return talus_vec3(shear[0] - v * r[0], shear[1] - v * r[1], shear[2] - v * r[2]);
}

/* Writes the gradient G = C_vr C_rr^-1 of the linear velocity field V + G (r - r_mean) nearest to the velocities around a
 * cell, by least squares weighted by mass and kernel. Returns G : C_vr, by which this field reduces the sum of squares. NAN
 * where the bodies do not span space. */
static double fit_gradient(Sums sum, double gradient[9])
{
    const TalusSym3 extent = find_extent(sum);
    const bool spans = *sum[TALUS_SUM_MASS] > 0.0 && spans_space(&extent);
    const TalusSym3 inverse = talus_sym3_inverse(extent);
    double explained = 0.0;
    for (int i = 0; i < 3; i++) {
        const TalusVec3 shear = find_shear(sum, i), row = talus_sym3_mul(inverse, shear);
        explained += talus_dot(row, shear);
        for (int j = 0; j < 3; j++)
            gradient[3 * i + j] = spans ? talus_along(row, j) : NAN;
    }
    return spans ? explained : NAN;
}

static void velocity_gradient(Sums sum, double count, double *out)
{
    (void)count;
    (void)fit_gradient(sum, out);
}

static void agitation(Sums sum, double count, double *out)
{
    double gradient[9];
    const double explained = fit_gradient(sum, gradient);
    temperature(sum, count, out);
    *out -= explained / (3.0 * *sum[TALUS_SUM_MASS]);
}

static void contact_stress(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_STRESS], count, 9, out);
}

static void stress(Sums sum, double count, double *out)
{
    static const int symmetric[9] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
    double kinetic[6];
    contact_stress(sum, count, out);
    kinetic_stress(sum, count, kinetic);
    for (int c = 0; c < 9; c++)
        out[c] += kinetic[symmetric[c]];
}

static void pressure(Sums sum, double count, double *out)
{
    double all[9];
    stress(sum, count, all);
    *out = -(all[0] + all[4] + all[8]) / 3.0;
}

static void divergence(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_DIVERGENCE], count, 3, out);
}

static void contact_force(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_FORCE], count, 3, out);
}

static void boundary_force(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_BOUNDARY], count, 3, out);
}

static void contacts(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_CONTACTS], count, 1, out);
}

static void fabric(Sums sum, double count, double *out)
{
    (void)count;
    write_quotient(sum[TALUS_SUM_FABRIC], *sum[TALUS_SUM_CONTACTS], 6, out);
}

static void dissipation(Sums sum, double count, double *out)
{
    write_mean(sum[TALUS_SUM_POWER], count, 1, out);
}

/* ---- the table ---- */

#define BIT(kind) (1u << TALUS_SUM_##kind)
#define MOTION (BIT(MASS) | BIT(MOMENTUM) | BIT(FLUX))
#define VELOCITY TALUS_ASSEMBLY_VELOCITY
#define CONTACTS TALUS_ASSEMBLY_CONTACTS

typedef struct Row {
    TalusQuantityRow about;
    unsigned sums;
    void (*compute)(Sums sum, double count, double *out);
} Row;

static const Row table[TALUS_QUANTITIES] = {
    {{"density", "kg/m3", "mass per volume", 1, 0}, BIT(MASS), density},
    {{"solid", "", "volume of the bodies per volume", 1, 0}, BIT(VOLUME), solid},
    {{"momentum", "kg/(m2 s)", "momentum per volume", 3, VELOCITY}, BIT(MOMENTUM), momentum},
    {{"velocity", "m/s", "momentum per mass", 3, VELOCITY}, BIT(MASS) | BIT(MOMENTUM), velocity},
    {{"spin", "rad/s", "mean angular velocity, weighted by mass", 3, TALUS_ASSEMBLY_SPIN},
     BIT(MASS) | BIT(SPIN),
     spin},
    {{"temperature", "m2/s2", "a third of the mean square of velocity fluctuations", 1, VELOCITY},
     MOTION,
     temperature},
    {{"velocity_gradient", "1/s", "of the nearest linear velocity field", 9, VELOCITY},
     MOTION | BIT(PLACE) | BIT(EXTENT) | BIT(SHEAR),
     velocity_gradient},
    {{"agitation", "m2/s2", "temperature about the nearest linear velocity field", 1, VELOCITY},
     MOTION | BIT(PLACE) | BIT(EXTENT) | BIT(SHEAR),
     agitation},
    {{"kinetic_stress", "Pa", "of velocity fluctuations", 6, VELOCITY}, MOTION, kinetic_stress},
    {{"contact_stress", "Pa", "of contact forces", 9, CONTACTS}, BIT(STRESS), contact_stress},
    {{"stress", "Pa", "contact_stress + kinetic_stress", 9, VELOCITY | CONTACTS},
     MOTION | BIT(STRESS),
     stress},
    {{"pressure", "Pa", "minus a third of the trace of stress", 1, VELOCITY | CONTACTS},
     MOTION | BIT(STRESS),
     pressure},
    {{"divergence", "N/m3", "divergence of contact_stress", 3, CONTACTS},
     BIT(DIVERGENCE),
     divergence},
    {{"contact_force", "N/m3", "contact forces on the bodies per volume", 3, CONTACTS},
     BIT(FORCE),
     contact_force},
    {{"boundary_force", "N/m3", "forces of the boundary per volume", 3, CONTACTS},
     BIT(BOUNDARY),
     boundary_force},
    {{"contacts", "1/m3", "loaded contacts per volume", 1, CONTACTS}, BIT(CONTACTS), contacts},
    {{"fabric", "", "mean of n n over loaded contacts", 6, CONTACTS},
     BIT(CONTACTS) | BIT(FABRIC),
     fabric},
    {{"dissipation", "W/m3", "power that contacts dissipate per volume", 1, TALUS_ASSEMBLY_POWER},
     BIT(POWER),
     dissipation},
};

TalusQuantityRow talus_quantity_row(TalusQuantity quantity)
{
    return table[quantity].about;
}

const char *talus_quantity_suffix(int components, int component)
{
    static const char *const vector[] = {"x", "y", "z"};
    static const char *const symmetric[] = {"xx", "yy", "zz", "xy", "yz", "xz"};
    static const char *const tensor[] = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
    switch (components) {
    case 3: return vector[component];
    case 6: return symmetric[component];
    case 9: return tensor[component];
    default: return "";
    }
}

unsigned talus_quantity_sums(TalusQuantity quantity)
{
    return table[quantity].sums;
}

void talus_quantity_compute(TalusQuantity quantity, const double *const sum[TALUS_SUMS],
                            double count, double out[TALUS_QUANTITY_COMPONENTS])
{
    table[quantity].compute(sum, count, out);
}
