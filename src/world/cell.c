/* world/cell.c - a periodic cell that deforms (cell.h). */
#include "world/cell.h"
#include "world/state.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* bounds of controlled rates: an inertial number, and a share of the rate of shear */
static const double inertial_limit = 0.01, shear_share = 0.2;
/* largest strains of an axis, and of shear, in a step */
static const double axis_strain_limit = 0.1, shear_strain_limit = 1.0;

/* ---- the def ---- */

#define REFUSE(...) talus_error_key("cell", talus_reject("world: " __VA_ARGS__))

/* Returns rate and controlled pressure of an axis. */
static double axis_rate(const TalusGradient *g, int axis)
{
    return axis == 0 ? g->xx : axis == 1 ? g->yy : g->zz;
}

static void set_axis_rate(TalusGradient *g, int axis, double rate)
{
    double *of = axis == 0 ? &g->xx : axis == 1 ? &g->yy : &g->zz;
    *of = rate;
}

static bool has_control(const TalusCellDef *def)
{
    return def->control[0] || def->control[1] || def->control[2];
}

static TalusStatus check_rate(const TalusGradient *rate, double step)
{
    if (!isfinite(rate->xx) || !isfinite(rate->yy) || !isfinite(rate->zz) || !isfinite(rate->xy))
        return REFUSE("a rate of the cell is not finite");
    double most = fmax(fabs(rate->xx), fmax(fabs(rate->yy), fabs(rate->zz)));
    if (!(most * step <= axis_strain_limit) || !(fabs(rate->xy) * step <= shear_strain_limit))
        return REFUSE("the rates of the cell are %g, %g, %g and, of shear, %g per second; expected "
                      "at most %g and %g per step of %g s",
                      rate->xx, rate->yy, rate->zz, rate->xy, axis_strain_limit, shear_strain_limit,
                      step);
    return TALUS_OK;
}

static TalusStatus check_control(const TalusWorldDef *def)
{
    const TalusCellDef *cell = &def->cell;
    for (int k = 0; k < 3; k++) {
        if (!cell->control[k])
            continue;
        if (!(cell->pressure[k] > 0.0) || !isfinite(cell->pressure[k]))
            return REFUSE("the pressure of the cell along %c is %g Pa; expected more than 0",
                          "xyz"[k], cell -> pressure[k]);
        if (axis_rate(&cell->rate, k) != 0.0)
            return REFUSE("the cell has a rate and a pressure along %c; expected one of them",
                          "xyz"[k]);
    }
    if (has_control(cell) && def->compliance == 0.0)
        return REFUSE("a cell with a controlled pressure needs contacts with compliance, whose "
                      "stiffness its sides follow; expected a compliance above 0");
    return TALUS_OK;
}

TalusStatus talus_cell_check(const TalusWorldDef *def)
{
    const TalusPeriod *p = &def->period;
    if (!def->cell.on)
        return p->tilt == 0.0 ? TALUS_OK
                              : talus_error_key("period", talus_reject("world: the period has a "
                                                                       "tilt; a cell makes it"));
    if (!p->on[0] || !p->on[1] || !p->on[2])
        return REFUSE("a cell that deforms needs periods along x, y and z");
    if (p->tilt != 0.0)
        return REFUSE("a cell starts upright: its tilt is %g, expected 0", p->tilt);
    if (def->sleep_speed > 0.0)
        return REFUSE("bodies do not sleep in a cell that deforms; expected sleep_speed 0");
    if (talus_norm(def->gravity) > 0.0)
        return REFUSE("a cell that deforms has no gravity, whose work its sides would change; "
                      "expected gravity 0 and a reference_speed");
    TALUS_TRY(check_rate(&def->cell.rate, def->step));
    return check_control(def);
}

void talus_cell_init(TalusWorld *world)
{
    TalusWorldCell *c = &world->cell;
    const TalusPeriod *p = &world->def.period;
    if (!world->def.cell.on)
        return;
    c->now.cell.period = *p;
    c->now.cell.centre = talus_scale(0.5, talus_add(p->lo, p->hi));
    c->now.rate = world->def.cell.rate;
    c->start = talus_sub(p->hi, p->lo);
    c->state.period = *p;
}

TalusVec3 talus_cell_flow_at(const TalusWorld *world, TalusVec3 x)
{
    const TalusCell *cell = &world->cell.now.cell;
    return talus_flow_at(&cell->last, cell->centre, x);
}

/* Returns the length of a period along an axis, m; 0 without one. */
static double period_length(const TalusPeriod *p, int axis)
{
    return p->on[axis] ? talus_along(p->hi, axis) - talus_along(p->lo, axis) : 0.0;
}

/* A text that grows; what does not fit is an error of this file. */
typedef struct Words {
    char text[320];
    size_t used;
} Words;

static void add_words(Words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    assert(w->used < sizeof w->text);
}

/* Adds "x, 2 m", or "x, none". */
static void add_length(Words *w, int axis, double length)
{
    add_words(w, "%s%c, ", w->used ? "; " : "", "xyz"[axis]);
    add_words(w, length > 0.0 ? "%.9g m" : "none", length);
}

/* Warns if the world has other periods than the earlier state. */
static void compare_periods(const TalusWorld *world, const TalusPeriod *earlier)
{
    static const double rounding = 1e-9;
    Words was = {.used = 0}, is = {.used = 0}, hint = {.used = 0};
    for (int k = 0; k < 3; k++) {
        const double before = period_length(earlier, k), now = period_length(&world->def.period, k);
        if (before > 0.0)
            add_words(&hint, "%s\"%c\": [%.17g, %.17g]", hint.used ? ", " : "", "xyz"[k],
                      talus_along(earlier->lo, k), talus_along(earlier->hi, k));
        if (fabs(before - now) <= rounding * fmax(before, now))
            continue;
        add_length(&was, k, before);
        add_length(&is, k, now);
    }
    if (was.used == 0)
        return;
    talus_log_to(&world->log, TALUS_LOG_WARNING, "start.period",
                 "periods of the earlier state (%s) are not those of this world (%s): bodies at "
                 "its sides may overlap, lie apart or lose contacts; as before: %s%s%s",
                 was.text, is.text, hint.used ? "\"period\": {" : "no \"period\"", hint.text,
                 hint.used ? "}" : "");
}

void talus_cell_continue(TalusWorld *world, const TalusPeriod *earlier, TalusGradient flow)
{
    const double tilt = earlier->tilt;
    compare_periods(world, earlier);
    if (tilt != 0.0)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "start.tilt",
                     "the cell of the earlier state has a tilt of %g m, which stays behind: bodies "
                     "across its sides along y may overlap",
                     tilt);
    if (world->def.cell.on)
        world->cell.now.cell.last = flow;
}

/* ---- a step ---- */

void talus_cell_begin_step(TalusWorld *world)
{
    TalusWorldCell *c = &world->cell;
    c->before = c->now;
    c->virial = (TalusSym3){0};
    c->stiffness = talus_vec3(0.0, 0.0, 0.0);
    c->mass = 0.0;
}

/* Gives the engine the cell as it is. */
static void put_cell(TalusWorld *world)
{
    world->engine.ops->put_cell(world->engine.self, &world->cell.now.cell);
    world->def.period = world->cell.now.cell.period;
}

/* Returns the largest bounding radius of the bodies of all ranks, m. */
static double largest_radius(const TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    double largest = 0.0;
    for (int i = 0; i < b->counts.slots; i++)
        if (talus_slot_is_free(b, i))
            largest = talus_max(b->radius[i], largest);
    talus_comm_find_maxima(world->ranks.comm, &largest, 1);
    return largest;
}

/* Detection takes velocities relative to the flow. Bodies that touch are at most two radii apart, so that the flow brings them
 * together at |G| 2 r: as the envelope has twice the reference speed, |G| r is added to that. */
void talus_cell_begin_part(TalusWorld *world)
{
    TalusWorldCell *c = &world->cell;
    if (!world->def.cell.on)
        return;
    c->now.cell.now = c->now.rate;
    c->closing = talus_gradient_norm(&c->now.cell.now) * largest_radius(world);
    put_cell(world);
}

double talus_cell_closing(const TalusWorld *world)
{
    return world->cell.closing;
}

void talus_cell_add_part(TalusWorld *world, const TalusEngineLedger *part)
{
    TalusWorldCell *c = &world->cell;
    const TalusSym3 *v = &part->virial;
    world->info.ledger.cell += part->cell;
    c->virial.xx += v->xx;
    c->virial.yy += v->yy;
    c->virial.zz += v->zz;
    c->virial.xy += v->xy;
    c->virial.xz += v->xz;
    c->virial.yz += v->yz;
    c->stiffness = part->stiffness;
}

TalusStatus talus_cell_finish_part(TalusWorld *world, double h)
{
    TalusWorldCell *c = &world->cell;
    TalusLedger *ledger = &world->info.ledger;
    talus_move_cell(&c->now.cell, h);
    c->now.shear += h * c->now.cell.now.xy;
    put_cell(world);
    TALUS_TRY(world->engine.ops->wrap_in_cell(world->engine.self, world->def.gravity, &c->motion));
    ledger->kinetic += c->motion.kinetic;
    ledger->kinetic_change += c->motion.kinetic;
    ledger->cell += c->motion.kinetic;
    world->kinetic += c->motion.kinetic;
    return TALUS_OK;
}

void talus_cell_rollback(TalusWorld *world)
{
    TalusWorldCell *c = &world->cell;
    if (!world->def.cell.on)
        return;
    c->now = c->before;
    put_cell(world);
}

/* ---- the state ---- */

/* Returns the tensor over a number. */
static TalusSym3 over(TalusSym3 a, double by)
{
    return talus_sym3_scale(1.0 / by, a);
}

static double axis_of(const TalusSym3 *a, int axis)
{
    return axis == 0 ? a->xx : axis == 1 ? a->yy : a->zz;
}

/* Returns the pressure along an axis, of contacts and motion. */
static double axis_pressure(const TalusCellState *s, int axis)
{
    return -(axis_of(&s->contact_stress, axis) + axis_of(&s->kinetic_stress, axis));
}

/* Changes the controlled rate of an axis after a step of length h; before: the pressure in the step before (cell.h). */
static void control_axis(TalusWorld *world, int axis, double before, double h)
{
    TalusWorldCell *c = &world->cell;
    const TalusPeriod *p = &c->now.cell.period;
    double length = talus_along(p->hi, axis) - talus_along(p->lo, axis), mass = c->motion.mass;
    double volume = talus_cell_volume(p), target = world->def.cell.pressure[axis];
    double pressure = axis_pressure(&c->state, axis);
    double inertia =
        fmax(mass * length * length / 6.0, 4.0 * h * h * talus_along(c->stiffest, axis));
    if (!(inertia > 0.0))
        return;
    double rate = axis_rate(&c->now.rate, axis) +
                  h * volume / inertia * (pressure - target + 4.0 * (pressure - before));
    double limit = inertial_limit * sqrt(target * volume / mass) / (2.0 * world->min_size) +
                   shear_share * fabs(c->now.rate.xy);
    limit =
        talus_min(limit, axis_strain_limit / fmax(h, world->def.step)); /* a whole one follows */
    set_axis_rate(&c->now.rate, axis, talus_max(-limit, talus_min(limit, rate)));
}

/* The larger of the stiffness of this step and 0.99 of that before. */
static TalusVec3 stiffest(TalusVec3 now, TalusVec3 before)
{
    const double fade = 0.99;
    return talus_vec3(talus_max(now.x, fade * before.x), talus_max(now.y, fade * before.y),
                      talus_max(now.z, fade * before.z));
}

void talus_cell_finish_step(TalusWorld *world)
{
    TalusWorldCell *c = &world->cell;
    TalusCellState *s = &c->state;
    const TalusCellState last = *s;
    const double h = world->info.length;
    if (!world->def.cell.on)
        return;
    const TalusPeriod *p = &c->now.cell.period;
    const TalusPeriod *before = &c->before.cell.period;
    s->period = *p;
    s->rate = c->before.rate;
    s->strain[0] = log((p->hi.x - p->lo.x) / c->start.x);
    s->strain[1] = log((p->hi.y - p->lo.y) / c->start.y);
    s->strain[2] = log((p->hi.z - p->lo.z) / c->start.z);
    s->shear = c->now.shear;
    s->contact_stress = over(c->virial, -h * talus_cell_volume(before));
    s->kinetic_stress = over(c->motion.moment, -talus_cell_volume(p));
    s->work = world->info.ledger.cell;
    s->total_work += s->work;
    c->stiffest = stiffest(c->stiffness, c->stiffest);
    for (int k = 0; k < 3; k++)
        if (world->def.cell.control[k])
            control_axis(world, k, axis_pressure(&last, k), h);
}

/* ---- the caller ---- */

bool talus_world_cell_deforms(const TalusWorld *world)
{
    return world->def.cell.on;
}

TalusCellState talus_world_cell(const TalusWorld *world)
{
    return world->cell.state;
}

TalusStatus talus_world_set_cell_rate(TalusWorld *world, TalusGradient rate)
{
    const TalusCellDef *def = &world->def.cell;
    if (!def->on)
        return talus_reject("talus_world_set_cell_rate: the world has no cell that deforms; "
                            "TalusWorldDef.cell.on makes one");
    TALUS_TRY(check_rate(&rate, world->def.step));
    for (int k = 0; k < 3; k++)
        if (def->control[k] && axis_rate(&rate, k) != 0.0)
            return talus_reject("talus_world_set_cell_rate: the pressure along %c is controlled; "
                                "expected a rate of 0 there",
                                "xyz"[k]);
    TalusGradient *now = &world->cell.now.rate;
    for (int k = 0; k < 3; k++)
        if (!def->control[k])
            set_axis_rate(now, k, axis_rate(&rate, k));
    now->xy = rate.xy;
    return TALUS_OK;
}
