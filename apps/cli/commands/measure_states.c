/* cli/commands/measure_states.c - which states of a run talus measure goes through, what of them it takes, and what is said
 * of them. */
#include "measure.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- the choice ---- */

/* True if options choose states by their times. */
static bool chooses_times(const MeasureOptions *o)
{
    return !isnan(o->at) || !isnan(o->every) || !isnan(o->from) || !isnan(o->until);
}

int measure_choose_source(MeasureStates *s, const MeasureOptions *o)
{
    const char *names[TALUS_STATE_SOURCES], *wanted = o->source;
    for (int n = 0; n < TALUS_STATE_SOURCES; n++)
        names[n] = talus_state_source_name((TalusStateSource)n);
    for (int n = 0; wanted && n < TALUS_STATE_SOURCES; n++) {
        s->source = (TalusStateSource)n;
        if (strcmp(wanted, names[n]) == 0)
            return CLI_OK;
    }
    if (wanted)
        return cli_fail_usage(o->command, "--source %s: expected checkpoint, tables or frames",
                              wanted);
    s->source = TALUS_STATE_SOURCES;
    for (int n = TALUS_STATES_FRAMES; n >= 0; n--)
        if (talus_states_exist(s->dir, (TalusStateSource)n) &&
            !(n == TALUS_STATES_CHECKPOINT && chooses_times(o)))
            s->source = (TalusStateSource)n;
    if (s->source == TALUS_STATE_SOURCES)
        return cli_fail("%s: has no %sframes; expected the directory of a run", s->dir,
                        chooses_times(o) ? "" : "checkpoint and no ");
    return CLI_OK;
}

/* Appends state i to those chosen. */
static void choose(MeasureStates *s, int i)
{
    s->chosen[s->count++] = i;
}

/* Chooses the last state at or before --at, else those of --every, --from and --until, else the last one. */
static TalusStatus choose_states(MeasureStates *s, const MeasureOptions *o)
{
    const int total = talus_states_count(s->states);
    const double last = talus_states_time(s->states, total - 1);
    const bool several = chooses_times(o) && isnan(o->at);
    double next = -INFINITY;
    TALUS_TRY(TALUS_ALLOC(s->chosen, (size_t)total, "states of a run"));
    for (int i = 0; several && i < total; i++) {
        const double time = talus_states_time(s->states, i);
        if (time < o->from || time > o->until || time < next) /* NAN, no limit: false */
            continue;
        choose(s, i);
        /* The factor admits a state whose time is early by rounding. */
        next = o->every > 0.0 ? time + o->every * (1.0 - 1e-9) : -INFINITY;
    }
    for (int i = total - 1; !several && i >= 0 && s->count == 0; i--)
        if (isnan(o->at) || talus_states_time(s->states, i) <= o->at * (1.0 + 1e-9))
            choose(s, i);
    if (s->count == 0)
        return talus_fail_file(s->dir, TALUS_ERR_ARGUMENT,
                               "no state is at these times; they go from %g to %g s",
                               talus_states_time(s->states, 0), last);
    return TALUS_OK;
}

TalusStatus measure_states_open(MeasureStates *s, const MeasureOptions *options)
{
    TALUS_TRY(talus_states_open(s->dir, s->source, &s->states));
    return choose_states(s, options);
}

void measure_states_close(MeasureStates *s)
{
    talus_states_close(s->states);
    talus_assembly_free(&s->before);
    talus_release(s->chosen);
}

/* ---- one state ---- */

/* Takes the chosen state i, whatever it lacks. */
static TalusStatus read_state(MeasureStates *s, int tag, int i, TalusAssembly *assembly)
{
    const TalusSnapshot *snapshot;
    const TalusFramesHead *head;
    TALUS_TRY(talus_states_read(s->states, s->chosen[i], &snapshot, &head));
    TALUS_TRY(talus_assembly_take(snapshot, head, tag, assembly));
    if (!talus_states_exact(s->states, s->chosen[i])) {
        s->rounded = true;
        s->quantum = fmax(s->quantum, head->quantum);
    }
    s->data = i == 0 ? assembly->data : s->data & assembly->data;
    s->bodies = assembly->body_count;
    s->assumed_masses = assembly->assumed_masses;
    return TALUS_OK;
}

static TalusStatus fail_lacking(const MeasureStates *s, const char *what, const char *name,
                                const char *needs)
{
    return talus_fail_file(s->dir, TALUS_ERR_UNSUPPORTED,
                           "the %s '%s' needs %s; measure the last state (--source checkpoint), or "
                           "run with --frames exact, whose frames have everything",
                           what, name, needs);
}

/* Fails if a state with this data lacks what the request needs. */
static TalusStatus check_data(const MeasureStates *s, const MeasureRequest *r, unsigned has)
{
    static const struct {
        unsigned bit;
        const char *needs;
    } data[] = {{TALUS_ASSEMBLY_VELOCITY, "velocities, and lean frames have none"},
                {TALUS_ASSEMBLY_SPIN, "spins, and frames have none"},
                {TALUS_ASSEMBLY_CONTACTS,
                 "all contacts, and frames have those with a force above the mean alone"},
                {TALUS_ASSEMBLY_POWER,
                 "\"dissipation\": true in the scene, time since the state before, and dissipated "
                 "energies, which lean frames and those of older versions lack"}};
    for (size_t d = 0; d < sizeof data / sizeof *data; d++) {
        if (has & data[d].bit)
            continue;
        for (int q = 0; q < r->fields.count; q++) {
            const TalusQuantityRow row = talus_quantity_row(r->fields.quantity[q]);
            if (row.data & data[d].bit)
                return fail_lacking(s, "field", row.name, data[d].needs);
        }
        if (r->histogram && data[d].bit == TALUS_ASSEMBLY_CONTACTS)
            return fail_lacking(s, "histogram", talus_distribution_name(r->distribution),
                                data[d].needs);
    }
    return TALUS_OK;
}

/* Sets s->before to the state before the first one that is chosen, if there is one. */
static TalusStatus read_earlier(MeasureStates *s, int tag)
{
    const TalusSnapshot *snapshot;
    const TalusFramesHead *head;
    if (s->chosen[0] == 0)
        return TALUS_OK;
    TALUS_TRY(talus_states_read(s->states, s->chosen[0] - 1, &snapshot, &head));
    TALUS_TRY(talus_assembly_take(snapshot, head, tag, &s->before));
    s->has_before = true;
    return TALUS_OK;
}

/* Makes s->before that of this state; without energies if the state has bodies and no energies of them. */
static TalusStatus remember(MeasureStates *s, const TalusAssembly *assembly)
{
    const size_t bodies = (size_t)assembly->body_count;
    TalusAssembly *b = &s->before;
    talus_assembly_free(b);
    b->time = assembly->time;
    b->body_count = assembly->body_count;
    s->has_before = true;
    if (!assembly->dissipated)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(b->id, bodies, "dissipated energies"));
    TALUS_TRY(TALUS_ALLOC(b->dissipated, bodies, "dissipated energies"));
    memcpy(b->id, assembly->id, bodies * sizeof *b->id);
    memcpy(b->dissipated, assembly->dissipated, bodies * sizeof *b->dissipated);
    return TALUS_OK;
}

/* Sets the powers since the state taken before or, of the first, since the one before it or the start of the run. A state
 * has none after one without energies: what was dissipated since then is not known. */
static TalusStatus find_powers(MeasureStates *s, int tag, int i, TalusAssembly *assembly)
{
    if (i == 0 && assembly->dissipated)
        TALUS_TRY(read_earlier(s, tag));
    TALUS_TRY(talus_assembly_compare(assembly, s->has_before ? &s->before : NULL));
    return remember(s, assembly);
}

TalusStatus measure_take_state(MeasureStates *s, const MeasureRequest *request, int i,
                               TalusAssembly *assembly)
{
    TALUS_TRY(read_state(s, request->tag, i, assembly));
    TalusStatus status = find_powers(s, request->tag, i, assembly);
    TALUS_THEN(status, check_data(s, request, assembly->data));
    if (status != TALUS_OK)
        talus_assembly_free(assembly);
    return status;
}

/* ---- box and width, where the options do not give them ---- */

/* Widens the box of the request to hold the bodies, or to the sides of the periods. */
static void extend_box(MeasureRequest *request, const TalusAssembly *assembly)
{
    double *lo = &request->lo.x, *hi = &request->hi.x;
    for (int k = 0; k < 3; k++) {
        const bool on = assembly->period.on[k];
        for (int i = 0; !on && i < assembly->body_count; i++) {
            const double x = talus_along(assembly->position[i], k), r = assembly->radius[i];
            lo[k] = fmin(lo[k], x - r);
            hi[k] = fmax(hi[k], x + r);
        }
        lo[k] = on ? talus_along(assembly->period.lo, k) : lo[k];
        hi[k] = on ? talus_along(assembly->period.hi, k) : hi[k];
    }
}

/* Takes from a state what the options leave open. */
static TalusStatus complete_from(MeasureRequest *r, const TalusAssembly *assembly)
{
    if (!r->has_box)
        extend_box(r, assembly);
    if (!isnan(r->width) || assembly->body_count == 0)
        return TALUS_OK;
    double radius;
    TALUS_TRY(talus_assembly_median_radius(assembly, &radius));
    r->width = 3.0 * radius;
    return TALUS_OK;
}

TalusStatus measure_complete_request(MeasureStates *s, MeasureRequest *r)
{
    r->series = s->count > 1 && !r->mean;
    if (r->fields.count == 0 || (r->has_box && !isnan(r->width)))
        return TALUS_OK;
    if (!r->has_box) {
        r->lo = talus_vec3(INFINITY, INFINITY, INFINITY);
        r->hi = talus_vec3(-INFINITY, -INFINITY, -INFINITY);
    }
    for (int i = 0; i < s->count; i++) {
        TalusAssembly assembly;
        TALUS_TRY(read_state(s, r->tag, i, &assembly));
        const TalusStatus status = complete_from(r, &assembly);
        talus_assembly_free(&assembly);
        TALUS_TRY(status);
        if (r->has_box && !isnan(r->width))
            return TALUS_OK;
    }
    if (isnan(r->width) || !(r->lo.x < r->hi.x))
        return talus_fail_file(s->dir, TALUS_ERR_ARGUMENT,
                               "no body flows at these times: nothing to measure");
    return TALUS_OK;
}

/* ---- notes ---- */

void measure_print_states(const MeasureStates *s, const MeasureRequest *r, FILE *out)
{
    fprintf(out, "%s: %d state%s from %s, to t = %g s; %d bodies flow\n", s->dir, s->count,
            s->count == 1 ? "" : "s", talus_state_source_name(s->source),
            talus_states_time(s->states, s->chosen[s->count - 1]), s->bodies);
    if (r->fields.count)
        fprintf(out, "box %g:%g,%g:%g,%g:%g m, kernel of half width %g m\n", r->lo.x, r->hi.x,
                r->lo.y, r->hi.y, r->lo.z, r->hi.z, r->width);
    if (s->rounded)
        fprintf(out,
                "positions to %.2g m, %s; exact: the last state (--source checkpoint), or "
                "talus run --frames exact\n",
                0.5 * s->quantum,
                s->data & TALUS_ASSEMBLY_VELOCITY ? "velocities to 0.2 %, no spins"
                                                  : "no velocities");
    else
        fprintf(out, "states are exact, not rounded\n");
    if (!(s->data & TALUS_ASSEMBLY_CONTACTS) && !r->fields.count)
        fprintf(out, "figures of contacts are empty: frames have the contacts with a force above "
                     "the mean alone\n");
    if (talus_states_may_sleep(s->states) && s->data & TALUS_ASSEMBLY_CONTACTS)
        fprintf(out,
                "bodies may sleep in this run: contacts between sleeping bodies are missing in "
                "stress and coordination\n");
    if (s->assumed_masses)
        fprintf(out, "%d masses are not known: those of the materials' densities\n",
                s->assumed_masses);
}
