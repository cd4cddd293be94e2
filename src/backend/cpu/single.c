/* backend/cpu/single.c - units of numbers in single precision. */
#include "backend/cpu/single.h"

/* Returns the power of two that is at most `value` and above half of it; 1 if the value is 0 or not finite. */
static double unit_of(double value)
{
    int exponent;
    if (!(value > 0.0) || !isfinite(value))
        return 1.0;
    frexp(value, &exponent);
    return ldexp(1.0, exponent - 1);
}

/* A parallel loop over bodies. */
typedef struct BodyLoop {
    const TalusOperator *op;
    const double (*velocity)[8];
    double *partial;
} BodyLoop;

/* Returns the largest |bias| and |slip| of the contacts that belong to a chunk of bodies: as many to each chunk. */
static double largest_bias(const TalusOperator *op, int64_t chunk)
{
    const int64_t chunks = talus_chunks(op->bodies, BODY_GRAIN);
    double most = 0.0;
    for (int64_t i = chunk * op->blocks / chunks; i < (chunk + 1) * op->blocks / chunks; i++) {
        most = talus_max(fabs(op->bias[i]), most);
        for (int k = 0; op->slip && k < 2; k++)
            most = talus_max(fabs(op->slip[i][k]), most);
    }
    return most;
}

/* Writes the largest numbers of bodies [begin, end): of velocities, and of biases of contacts, to entry 2 chunk, of
 * inverse masses to the next. */
static void measure_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BodyLoop *loop = context;
    Lane most[4] = {lane(0.0), lane(0.0), lane(0.0), lane(0.0)};
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++) {
            Lane value = lane_load(loop->velocity[i] + 2 * k);
            value = lane_select(value < 0.0, -value, value);
            most[k] = lane_select(value > most[k], value, most[k]);
        }
    double speed = talus_max(talus_max(most[1][0], most[3][0]), largest_bias(loop->op, chunk));
    for (int k = 0; k < 4; k += 2)
        speed = talus_max(talus_max(most[k][0], most[k][1]), speed);
    loop->partial[2 * chunk] = speed;
    loop->partial[2 * chunk + 1] = talus_max(most[1][1], most[3][1]);
}

SingleUnits talus_single_units(const TalusOperator *op, const double (*velocity)[8],
                               double *partial)
{
    BodyLoop loop = {op, velocity, partial};
    double speed = 0.0, inverse_mass = 0.0;
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, measure_bodies_chunk, &loop);
    for (int64_t c = 0; c < talus_chunks(op->bodies, BODY_GRAIN); c++) {
        speed = talus_max(partial[2 * c], speed);
        inverse_mass = talus_max(partial[2 * c + 1], inverse_mass);
    }
    speed = talus_cpu_find_maximum(op, speed);
    inverse_mass = talus_cpu_find_maximum(op, inverse_mass);
    SingleUnits units = {.speed = unit_of(speed), .inverse_mass = unit_of(inverse_mass)};
    units.impulse = units.speed / units.inverse_mass;
    units.per_speed = 1.0 / units.speed;
    units.per_inverse_mass = 1.0 / units.inverse_mass;
    units.per_impulse = 1.0 / units.impulse;
    return units;
}
