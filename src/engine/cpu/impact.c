/* engine/cpu/impact.c - impacts that propagate from contact to contact before the problem of a step is built.
 *
 * The law. A contact closes if it would overlap within the step and approaches faster than the threshold of rebounds:
 *     gap + h (u_n + change by gravity and loads) < 0,    -u_n > s,    u = D' v.
 * Rounds follow one another, each from the velocities v that the round before has left. In a round the closing contacts
 * form components, connected by the free bodies they share. A component is struck if one of its contacts has a
 * restitution above 0, or one of its bodies has already been struck in this step. For each struck component, whose
 * contacts are the only ones considered:
 *     compression  finds impulses gamma under Coulomb's law on the disc, with u+ = u + D' M^-1 D gamma, such that
 *                  gamma_n >= 0, u+_n >= 0, gamma_n u+_n = 0: the inelastic impact;
 *     restitution  adds r e_i gamma_i at each contact i, e_i being its restitution and 0 <= r <= 1 the same for all.
 * Rounds end when no component is struck. With one value of e this is the generalised reflection of Smith, Kaufman,
 * Vouga, Tamstorf and Grinspun, Reflections on simultaneous impact, ACM Trans. Graph. 31 (2012): impulses travel through
 * a row of touching balls one contact after the other, and contacts that close at once share an impulse symmetrically.
 *
 * Energy. With p = M^-1 D gamma, q = M^-1 D (e gamma), |.| the norm of kinetic energy and <,> its product, the works of
 * impulses at the mean of velocities before and after are
 *     compression  W = sum gamma (u + u+)/2 = sum gamma u+ - |p|^2/2,
 *     restitution  r B + r^2 Q/2,    B = sum e gamma u+,  Q = |q|^2.
 * Under Coulomb's law gamma u+ <= 0 at each contact, so that W <= -|p|^2/2 and B <= 0. If all e are equal, Q = e^2 |p|^2
 * and r = 1 takes no more than compression has set free. If they differ, or the compression is not exact, r is the
 * largest number in [0, 1] with W + r B + r^2 Q/2 <= 0. So impacts never add energy for e <= 1; what they do against
 * driven bodies is work of those. If W > 0, which an inexact compression alone can cause, its impulses are taken back.
 *
 * Compressions are found by sweeps that solve the problem of one contact after the other (sets/one_solve.h), until the
 * residuals, in velocity, are below SETTLED times the largest speed of the component or, after FIRST_SWEEPS, ACCEPTED s:
 * what then still closes faster than s is compressed in the next round. Sweeps need not come so far under Coulomb's law,
 * where several bodies jam; then changes are halved, and if that does not help, the component is compressed under
 * the convex relaxation, where sweeps converge and gamma u+ = 0, so that the energies above hold. Such contacts are
 * counted. Moments against rolling and spinning, cohesion and sections other than the disc play no part; contacts
 * whose law has a stiffness rebound by their spring and are no impacts.
 *
 * The number of rounds may be large where masses differ much, and infinite for the limit s = 0. So the world chooses s
 * above 0, and rounds end after ROUNDS + ROUNDS_PER_CONTACT times the number of contacts that have closed. Contacts then
 * left are counted; the step's own problem stops them without rebound.
 *
 * All loops but the search are serial and follow the contact list, whose order depends on the state alone. */
#include "engine/cpu/engine.h"

#include "base/sum.h"
#include "collide/contact_arms.h"
#include "sets/one_solve.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1000, ROUNDS_PER_CONTACT = 100, FIRST_SWEEPS = 50, SWEEPS = 1000 };
static const double SETTLED = 0x1p-46, ACCEPTED = 0x1p-4, OMEGA = 1.5;

/* A body in the impacts of a step. Those that are not free have inverse mass and inertia 0. */
typedef struct ImpactBody {
    TalusVec3 velocity, spin;
    TalusVec3 velocity_change, spin_change; /* by gravity and loads within h */
    double inverse_mass;
    TalusSym3 inverse_inertia; /* world frame */
    int32_t start;             /* first entry of CpuImpacts.incident */
    bool struck;
} ImpactBody;

/* A closing contact in a component. Velocities are those of b relative to a, in the contact's frame. */
typedef struct ImpactItem {
    int contact, a, b;
    TalusVec3 arm_a, arm_b;
    double frame[4], restitution;
    TalusOneContact one;
    double gamma[3];
    double before[3], compressed[3]; /* velocities before and after the compression */
} ImpactItem;

/* Whether a contact has been in a struck component; FAILED: its compression failed, so that it is no impact. */
enum { PART_NONE, PART_TAKEN, PART_FAILED };

/* Work arrays. */
struct CpuImpacts {
    ImpactBody *body;   /* [slots + 1] */
    int32_t *incident;  /* contacts of free bodies, by body, in the order of the list */
    int32_t *round_of;  /* [contacts]: last round in which the contact was in a component */
    uint8_t *part;      /* [contacts]: PART_* */
    TalusVec3 *impulse; /* [contacts]: sum over rounds, on b, world frame */
    int32_t *candidate; /* [contacts]: contacts that may close in this round */
    int32_t *member;    /* [contacts]: of the round's components, one after the other */
    int32_t *end;       /* [components]: ends in `member` */
    ImpactItem *item;   /* of one component */
    int candidates, members, components;
};

typedef struct ImpactContext {
    CpuEngine *engine;
    struct CpuImpacts *impacts;
    double h, speed; /* speed: s above */
    int round;
    TalusEngineImpacts *out;
} ImpactContext;

void cpu_clear_impacts(CpuEngine *e)
{
    struct CpuImpacts *m = e->impacts;
    if (m)
        TALUS_RELEASE(m->body, m->incident, m->round_of, m->part, m->impulse, m->candidate,
                      m->member, m->end, m->item, m);
    e->impacts = NULL;
}

/* ---- bodies ---- */

/* Returns the inverse inertia, 1/(kg m2), of a free body, world frame. */
static TalusSym3 inverse_inertia(const CpuEngine *e, int64_t slot)
{
    const TalusBodyArrays *b = &e->bodies;
    double l = b->radius[slot];
    return talus_sym3_scale(1.0 / (l * l),
                            talus_body_inverse_inertia(cpu_gyration(e, slot), 1.0 / b->mass[slot],
                                                       l, b->orientation[slot]));
}

/* Returns the body in `slot` as the step finds it, without its inertia. */
static ImpactBody read_motion(const CpuEngine *e, int64_t slot, double h)
{
    const TalusBodyArrays *b = &e->bodies;
    ImpactBody body = {0};
    bool is_free = cpu_is_free(e, slot);
    if (!is_free && !cpu_is_driven(e, slot))
        return body;
    body.velocity = b->velocity[slot];
    body.spin = b->spin[slot];
    if (!is_free)
        return body;
    body.inverse_mass = 1.0 / b->mass[slot];
    body.velocity_change = e->gravity_change;
    if (cpu_has_force(e, slot)) {
        body.velocity_change =
            talus_madd(body.velocity_change, h * body.inverse_mass, e->force[slot]);
        body.spin_change =
            talus_scale(h, talus_sym3_mul(inverse_inertia(e, slot), e->torque[slot]));
    }
    return body;
}

/* As read_motion, with its inertia. */
static ImpactBody read_body(const CpuEngine *e, int64_t slot, double h)
{
    ImpactBody body = read_motion(e, slot, h);
    if (body.inverse_mass > 0.0)
        body.inverse_inertia = inverse_inertia(e, slot);
    return body;
}

/* Returns the normal component of the velocity of b relative to a, given velocities and spins. */
static double normal_part(TalusVec3 n, const TalusArms *arms, TalusVec3 va, TalusVec3 wa,
                          TalusVec3 vb, TalusVec3 wb)
{
    return talus_dot(n, talus_sub(talus_add(vb, talus_cross(wb, arms->b)),
                                  talus_add(va, talus_cross(wa, arms->a))));
}

/* Returns the approach speed -u_n of a contact of these bodies if it closes within h, else 0. */
static double closing_speed(const TalusContact *contact, const TalusArms *arms, double h,
                            const ImpactBody *a, const ImpactBody *b)
{
    TalusVec3 n = contact->normal;
    double u = normal_part(n, arms, a->velocity, a->spin, b->velocity, b->spin);
    double change = normal_part(n, arms, a->velocity_change, a->spin_change, b->velocity_change,
                                b->spin_change);
    return contact->gap + h * (u + change) < 0.0 && u < 0.0 ? -u : 0.0;
}

static TalusArms arms_of(const CpuEngine *e, int i)
{
    return talus_contact_arms(e->contacts, i, e->bodies.position, e->bodies.radius, &e->period);
}

/* ---- search, in every step ---- */

typedef struct FindContext {
    CpuEngine *engine;
    const TalusImpactOptions *options;
} FindContext;

/* Partials: number and largest approach speed of the contacts with restitution that close faster than the threshold. */
static void find_closing(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const FindContext *c = context;
    CpuEngine *e = c->engine;
    double count = 0.0, fastest = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const TalusContact *contact = &e->contacts->contact[i];
        if (cpu_contact_law(e, contact)->restitution == 0.0)
            continue;
        ImpactBody a = read_motion(e, contact->a, c->options->h);
        ImpactBody b = read_motion(e, contact->b, c->options->h);
        TalusArms arms = arms_of(e, (int)i);
        double speed = closing_speed(contact, &arms, c->options->h, &a, &b);
        if (speed > c->options->least_speed) {
            count += 1.0;
            fastest = talus_max(fastest, speed);
        }
    }
    e->partial[chunk][0] = count;
    e->partial[chunk][1] = fastest;
}

TalusStatus cpu_find_impacts(TalusEngine *engine, const TalusImpactOptions *options, int64_t *count,
                             double *fastest)
{
    CpuEngine *e = cpu_engine(engine);
    FindContext c = {e, options};
    int64_t chunks = talus_chunks(e->contacts->count, CPU_GRAIN);
    double sum;
    if (!e->impacts)
        TALUS_TRY(TALUS_ALLOC(e->impacts, 1, "impacts"));
    TALUS_TRY(cpu_reserve_partials(e, chunks));
    talus_parallel(e->pool, e->contacts->count, CPU_GRAIN, find_closing, &c);
    cpu_sum_partials(e, chunks, 1, &sum);
    *fastest = 0.0;
    for (int64_t k = 0; k < chunks; k++)
        *fastest = talus_max(*fastest, e->partial[k][1]);
    *count = (int64_t)sum;
    return TALUS_OK;
}

/* ---- bodies and contacts of a step with impacts ---- */

/* True if contact i can be an impact. */
static bool is_rigid(const CpuEngine *e, int i)
{
    return cpu_contact_law(e, &e->contacts->contact[i])->stiffness == 0.0;
}

/* Enters contact i in the lists of its free bodies: counts (next NULL) or writes. */
static void enter_contact(struct CpuImpacts *m, const CpuEngine *e, int i, int32_t *next)
{
    const TalusContact *contact = &e->contacts->contact[i];
    const uint32_t side[2] = {contact->a, contact->b};
    for (int k = 0; k < 2; k++) {
        if (m->body[side[k]].inverse_mass == 0.0)
            continue;
        if (next)
            m->incident[next[side[k]]++] = i;
        else
            m->body[side[k] + 1].start++;
    }
}

/* Fills body[] and incident[]. `next` is work space [slots]. */
static void link_bodies(const ImpactContext *c, int32_t *next)
{
    const CpuEngine *e = c->engine;
    struct CpuImpacts *m = c->impacts;
    for (int i = 0; i < e->bodies.slots; i++)
        m->body[i] = read_body(e, i, c->h);
    m->body[e->bodies.slots] = (ImpactBody){0};
    for (int i = 0; i < e->contacts->count; i++)
        if (is_rigid(e, i))
            enter_contact(m, e, i, NULL);
    for (int i = 0; i < e->bodies.slots; i++) {
        next[i] = m->body[i].start;
        m->body[i + 1].start += m->body[i].start;
    }
    for (int i = 0; i < e->contacts->count; i++)
        if (is_rigid(e, i))
            enter_contact(m, e, i, next);
}

static TalusStatus prepare(ImpactContext *c)
{
    const CpuEngine *e = c->engine;
    struct CpuImpacts *m = c->impacts;
    size_t slots = (size_t)e->bodies.slots, count = (size_t)e->contacts->count;
    size_t most = count > slots ? count : slots;
    TALUS_TRY(TALUS_GROW(m->body, slots + 1, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->incident, 2 * count, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->round_of, count, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->part, count, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->impulse, count, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->candidate, most, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->member, count, 0, "impacts"));
    TALUS_TRY(TALUS_GROW(m->end, count, 0, "impacts"));
    memset(m->round_of, 0, count * sizeof *m->round_of);
    memset(m->part, PART_NONE, count * sizeof *m->part);
    memset(m->impulse, 0, count * sizeof *m->impulse);
    link_bodies(c, m->candidate);
    m->candidates = 0;
    for (int i = 0; i < e->contacts->count; i++)
        if (is_rigid(e, i))
            m->candidate[m->candidates++] = i;
    return TALUS_OK;
}

/* ---- components of a round ---- */

static bool closes(const ImpactContext *c, int i)
{
    const TalusContact *contact = &c->engine->contacts->contact[i];
    const ImpactBody *body = c->impacts->body;
    TalusArms arms = arms_of(c->engine, i);
    return closing_speed(contact, &arms, c->h, &body[contact->a], &body[contact->b]) > c->speed;
}

static int compare_indices(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_indices(int32_t *index, int count)
{
    if (count > 1)
        qsort(index, (size_t)count, sizeof *index, compare_indices);
}

/* Adds contact i to the round's members if it closes and is not yet one. */
static void add_member(const ImpactContext *c, int i)
{
    struct CpuImpacts *m = c->impacts;
    if (m->round_of[i] == c->round || m->part[i] == PART_FAILED || !closes(c, i))
        return;
    m->round_of[i] = c->round;
    m->member[m->members++] = i;
}

/* Adds the closing contacts of the body in `slot`, if it is free. */
static void add_members_of(const ImpactContext *c, uint32_t slot)
{
    const struct CpuImpacts *m = c->impacts;
    if (m->body[slot].inverse_mass == 0.0)
        return;
    for (int k = m->body[slot].start; k < m->body[slot + 1].start; k++)
        add_member(c, m->incident[k]);
}

/* True if contact i makes its component a struck one. */
static bool starts(const ImpactContext *c, int i)
{
    const TalusContact *contact = &c->engine->contacts->contact[i];
    const ImpactBody *body = c->impacts->body;
    return cpu_contact_law(c->engine, contact)->restitution > 0.0 || body[contact->a].struck ||
           body[contact->b].struck;
}

/* Fills member[] and end[] with the struck components that contain candidates. */
static void find_components(const ImpactContext *c)
{
    struct CpuImpacts *m = c->impacts;
    const TalusContact *contact = c->engine->contacts->contact;
    m->members = m->components = 0;
    for (int k = 0; k < m->candidates; k++) {
        int first = m->members, i = m->candidate[k];
        if (!starts(c, i))
            continue;
        add_member(c, i);
        for (int j = first; j < m->members; j++) {
            add_members_of(c, contact[m->member[j]].a);
            add_members_of(c, contact[m->member[j]].b);
        }
        if (m->members == first)
            continue;
        sort_indices(m->member + first, m->members - first);
        m->end[m->components++] = m->members;
    }
}

/* Makes the contacts of the bodies of this round's members the candidates of the next round. */
static void find_candidates(const ImpactContext *c)
{
    struct CpuImpacts *m = c->impacts;
    const TalusContact *contact = c->engine->contacts->contact;
    m->candidates = 0;
    for (int j = 0; j < m->members; j++) {
        const uint32_t side[2] = {contact[m->member[j]].a, contact[m->member[j]].b};
        for (int s = 0; s < 2; s++) {
            if (m->body[side[s]].inverse_mass == 0.0)
                continue;
            for (int k = m->body[side[s]].start; k < m->body[side[s] + 1].start; k++) {
                int i = m->incident[k];
                if (m->round_of[i] == -c->round)
                    continue; /* entered already */
                m->round_of[i] = -c->round;
                m->candidate[m->candidates++] = i;
            }
        }
    }
    sort_indices(m->candidate, m->candidates);
}

/* ---- one component ---- */

/* Adds the part of one body to the block of a contact. */
static void add_to_block(const ImpactBody *body, TalusVec3 arm, const double axes[3][3],
                         double block[3][3])
{
    TalusVec3 turn[3];
    for (int k = 0; k < 3; k++)
        turn[k] = talus_cross(arm, talus_vec3(axes[k][0], axes[k][1], axes[k][2]));
    for (int k = 0; k < 3; k++) {
        TalusVec3 turned = talus_sym3_mul(body->inverse_inertia, turn[k]);
        for (int l = k; l < 3; l++) {
            double sum = talus_dot(turn[l], turned) + (k == l ? body->inverse_mass : 0.0);
            block[k][l] += sum;
            if (l > k)
                block[l][k] += sum;
        }
    }
}

/* Writes the velocity of b relative to a at the item's contact. */
static void item_velocity(const ImpactBody *body, const ImpactItem *item, double u[3])
{
    const ImpactBody *a = &body[item->a], *b = &body[item->b];
    TalusVec3 w = talus_sub(talus_add(b->velocity, talus_cross(b->spin, item->arm_b)),
                            talus_add(a->velocity, talus_cross(a->spin, item->arm_a)));
    double world[3] = {w.x, w.y, w.z};
    talus_frame_to_local(item->frame, world, u);
}

static void push_body(ImpactBody *body, TalusVec3 arm, double sign, TalusVec3 p)
{
    body->velocity = talus_madd(body->velocity, sign * body->inverse_mass, p);
    body->spin =
        talus_madd(body->spin, sign, talus_sym3_mul(body->inverse_inertia, talus_cross(arm, p)));
}

/* Applies an impulse on b, in the item's frame, and its reaction. */
static void push(ImpactBody *body, const ImpactItem *item, const double impulse[3])
{
    double world[3];
    talus_frame_to_world(item->frame, impulse, world);
    TalusVec3 p = talus_vec3(world[0], world[1], world[2]);
    push_body(&body[item->a], item->arm_a, -1.0, p);
    push_body(&body[item->b], item->arm_b, 1.0, p);
}

static void fill_item(const ImpactContext *c, int i, ImpactItem *item)
{
    const CpuEngine *e = c->engine;
    const TalusContact *contact = &e->contacts->contact[i];
    const TalusLaw *law = cpu_contact_law(e, contact);
    const ImpactBody *body = c->impacts->body;
    TalusArms arms = arms_of(e, i);
    double axes[3][3];
    *item = (ImpactItem){.contact = i,
                         .a = (int)contact->a,
                         .b = (int)contact->b,
                         .arm_a = arms.a,
                         .arm_b = arms.b,
                         .restitution = law->restitution};
    talus_frame_from_normal(item->frame, contact->normal.x, contact->normal.y, contact->normal.z);
    talus_frame_axes(item->frame, axes);
    item->one.mu = law->model.section == TALUS_SECTION_NONE ? 0.0 : law->mu;
    item->one.law = TALUS_LAW_COULOMB;
    item->one.section = TALUS_SECTION_DISC;
    add_to_block(&body[item->a], item->arm_a, axes, item->one.a);
    add_to_block(&body[item->b], item->arm_b, axes, item->one.a);
    item_velocity(body, item, item->before);
}

/* Writes the solution of the item's own problem at the present velocities of its bodies. Returns the velocity change
 * from the item's impulse to it, which is 0 if the item's impulse is the solution. */
static double solve_own(const ImpactBody *body, const ImpactItem *item, double next[3])
{
    double u[3], b[3], change2 = 0.0;
    item_velocity(body, item, u);
    for (int k = 0; k < 3; k++) {
        b[k] = u[k] - talus_one_dot(item->one.a[k], item->gamma);
        next[k] = item->gamma[k];
    }
    talus_one_solve(TALUS_ONE_EXACT, &item->one, b, next);
    for (int k = 0; k < 3; k++) {
        double speed = item->one.a[k][k] * (next[k] - item->gamma[k]);
        change2 += speed * speed;
    }
    return sqrt(change2);
}

/* Solves the item's own problem and applies `share` of the change of its impulse. Returns solve_own. */
static double solve_item(ImpactBody *body, ImpactItem *item, double share)
{
    double next[3], change[3], residual = solve_own(body, item, next);
    for (int k = 0; k < 3; k++)
        next[k] = item->gamma[k] + share * (next[k] - item->gamma[k]);
    if (share > 1.0)
        talus_one_restrict(&item->one, next);
    for (int k = 0; k < 3; k++) {
        change[k] = next[k] - item->gamma[k];
        item->gamma[k] = next[k];
    }
    push(body, item, change);
    return residual;
}

/* Returns the largest residual (solve_own) of a component. */
static double measure_residual(const ImpactBody *body, const ImpactItem *item, int count)
{
    double largest = 0.0, next[3];
    for (int k = 0; k < count; k++)
        largest = talus_max(largest, solve_own(body, &item[k], next));
    return largest;
}

/* Returns the largest speed, of those whose differences are velocities of contacts, in a component. */
static double largest_speed(const ImpactBody *body, const ImpactItem *item, int count)
{
    double largest = 0.0;
    for (int k = 0; k < count; k++) {
        const ImpactBody *side[2] = {&body[item[k].a], &body[item[k].b]};
        const TalusVec3 arm[2] = {item[k].arm_a, item[k].arm_b};
        for (int j = 0; j < 2; j++) {
            TalusVec3 turn = talus_cross(side[j]->spin, arm[j]);
            largest = talus_max(largest, talus_norm(side[j]->velocity) + talus_norm(turn));
        }
    }
    return largest;
}

/* Sweeps until no item's residual was above SETTLED times `speed` in a sweep; after FIRST_SWEEPS, when `share` of each
 * change is made, until none is above `accepted` after one. The latter is the weaker: where contacts are redundant,
 * impulses may go on shifting among them while velocities are settled. Returns false if SWEEPS sweeps do not
 * suffice. */
static bool sweep_items(ImpactBody *body, ImpactItem *item, int count, double share, double speed,
                        double accepted)
{
    for (int sweep = 1; sweep <= SWEEPS; sweep++) {
        double largest = 0.0;
        for (int k = 0; k < count; k++)
            largest =
                talus_max(largest, solve_item(body, &item[k], sweep <= FIRST_SWEEPS ? 1.0 : share));
        if (largest <= SETTLED * speed ||
            (sweep % FIRST_SWEEPS == 0 && measure_residual(body, item, count) <= accepted))
            return true;
    }
    return false;
}

/* Finds the compression of a component. Returns false if the sweeps did not settle under Coulomb's law. */
static bool compress(ImpactBody *body, ImpactItem *item, int count, double accepted)
{
    double speed = largest_speed(body, item, count);
    bool found = sweep_items(body, item, count, OMEGA, speed, accepted) ||
                 sweep_items(body, item, count, 0.5, speed, accepted);
    for (int k = 0; k < count && !found; k++)
        item[k].one.law = TALUS_LAW_CCP;
    if (!found)
        (void)sweep_items(body, item, count, OMEGA, speed, accepted);
    for (int k = 0; k < count; k++)
        item_velocity(body, &item[k], item[k].compressed);
    return found;
}

/* Returns the largest r in [0, 1] with work + r b + r^2 q/2 <= 0, for work <= 0 and q >= 0. */
static double restitution_share(double work, double b, double q)
{
    if (work + b + 0.5 * q <= 0.0)
        return 1.0;
    /* the positive root, in the form without cancellation for either sign of b */
    double root = sqrt(b * b - 2.0 * q * work);
    double r = b > 0.0 ? -2.0 * work / (b + root) : (root - b) / q;
    return talus_min(r, 1.0);
}

/* Applies `factor` e gamma at each item. */
static void push_restitution(ImpactBody *body, const ImpactItem *item, int count, double factor)
{
    for (int k = 0; k < count; k++) {
        double f = factor * item[k].restitution;
        double impulse[3] = {f * item[k].gamma[0], f * item[k].gamma[1], f * item[k].gamma[2]};
        if (f != 0.0)
            push(body, &item[k], impulse);
    }
}

/* Adds the restitution to a compression that did the given work. Returns r. */
static double restore(ImpactBody *body, const ImpactItem *item, int count, double work)
{
    double b = 0.0, q = 0.0, u[3];
    push_restitution(body, item, count, 1.0);
    for (int k = 0; k < count; k++) {
        item_velocity(body, &item[k], u);
        for (int j = 0; j < 3; j++)
            u[j] -= item[k].compressed[j];
        b += item[k].restitution * talus_one_dot(item[k].gamma, item[k].compressed);
        q += item[k].restitution * talus_one_dot(item[k].gamma, u);
    }
    double share = restitution_share(work, b, q);
    if (share < 1.0)
        push_restitution(body, item, count, share - 1.0);
    return share;
}

/* Returns the work of the compression, J. */
static double compression_work(const ImpactItem *item, int count)
{
    double work = 0.0;
    for (int k = 0; k < count; k++)
        work += 0.5 * (talus_one_dot(item[k].gamma, item[k].before) +
                       talus_one_dot(item[k].gamma, item[k].compressed));
    return work;
}

/* Adds the works of an item to the report, its impulse to the sum, and marks its bodies struck. `share` is r. */
static void finish_item(const ImpactContext *c, const ImpactItem *item, double share)
{
    struct CpuImpacts *m = c->impacts;
    TalusEngineImpacts *out = c->out;
    ImpactBody *b = &m->body[item->b];
    double after[3], total[3], world[3], factor = 1.0 + share * item->restitution;
    item_velocity(m->body, item, after);
    for (int k = 0; k < 3; k++)
        total[k] = factor * item->gamma[k];
    out->impact += 0.5 * total[0] * (item->before[0] + after[0]);
    out->friction +=
        0.5 * (total[1] * (item->before[1] + after[1]) + total[2] * (item->before[2] + after[2]));
    talus_frame_to_world(item->frame, total, world);
    TalusVec3 p = talus_vec3(world[0], world[1], world[2]);
    if (cpu_is_driven(c->engine, item->b))
        out->driven -= talus_dot(p, talus_add(b->velocity, talus_cross(b->spin, item->arm_b)));
    m->impulse[item->contact] = talus_add(m->impulse[item->contact], p);
    m->body[item->a].struck = true;
    b->struck = b->inverse_mass > 0.0;
    out->contacts += m->part[item->contact] == PART_NONE;
    m->part[item->contact] = PART_TAKEN;
}

/* Undoes the compression of a component and excludes its contacts from further rounds. */
static void take_back(struct CpuImpacts *m, int count)
{
    for (int k = 0; k < count; k++) {
        const ImpactItem *item = &m->item[k];
        double back[3] = {-item->gamma[0], -item->gamma[1], -item->gamma[2]};
        push(m->body, item, back);
        m->part[item->contact] = PART_FAILED;
    }
}

/* Solves the component member[begin .. end - 1]. */
static TalusStatus strike(const ImpactContext *c, int begin, int end)
{
    struct CpuImpacts *m = c->impacts;
    int count = end - begin;
    TALUS_TRY(TALUS_GROW(m->item, (size_t)count, 0, "impacts"));
    for (int k = 0; k < count; k++)
        fill_item(c, m->member[begin + k], &m->item[k]);
    if (!compress(m->body, m->item, count, ACCEPTED * c->speed))
        c->out->unsettled += count;
    double work = compression_work(m->item, count);
    if (!(work <= 0.0)) {
        take_back(m, count);
        return TALUS_OK;
    }
    double share = restore(m->body, m->item, count, work);
    for (int k = 0; k < count; k++)
        finish_item(c, &m->item[k], share);
    return TALUS_OK;
}

/* ---- all rounds ---- */

static TalusStatus make_rounds(ImpactContext *c)
{
    struct CpuImpacts *m = c->impacts;
    for (c->round = 1;; c->round++) {
        find_components(c);
        if (m->members == 0)
            return TALUS_OK;
        if (c->round > ROUNDS + ROUNDS_PER_CONTACT * c->out->contacts) {
            c->out->left += m->members;
            return TALUS_OK;
        }
        for (int k = 0; k < m->components; k++)
            TALUS_TRY(strike(c, k ? m->end[k - 1] : 0, m->end[k]));
        c->out->rounds++;
        find_candidates(c);
    }
}

/* Returns the change of the kinetic energy of the body in `slot` to the velocities of `to`. */
static double kinetic_change(const CpuEngine *e, int slot, const ImpactBody *to)
{
    const TalusBodyArrays *b = &e->bodies;
    const TalusGyration *gyration = cpu_gyration(e, slot);
    double mass = b->mass[slot], l = b->radius[slot];
    TalusVec3 v = b->velocity[slot], w = b->spin[slot];
    TalusVec3 change = talus_sub(to->spin, w), both = talus_add(to->spin, w);
    TalusVec3 turned = gyration
                           ? talus_sym3_mul_rotated(b->orientation[slot], gyration->inertia, both)
                           : talus_scale(0.4 * l * l, both);
    return 0.5 * mass *
           (talus_dot(talus_sub(to->velocity, v), talus_add(to->velocity, v)) +
            talus_dot(change, turned));
}

/* Gives the struck bodies their velocities and sums the change of kinetic energy, exactly over bodies, so that it does
 * not depend on their slots. */
static void write_bodies(const ImpactContext *c)
{
    const CpuEngine *e = c->engine;
    TalusSum sum = {0};
    for (int i = 0; i < e->bodies.slots; i++) {
        const ImpactBody *body = &c->impacts->body[i];
        if (!body->struck)
            continue;
        double change = kinetic_change(e, i, body);
        talus_sum_add(&sum, &change, 1);
        e->bodies.velocity[i] = body->velocity;
        e->bodies.spin[i] = body->spin;
    }
    c->out->kinetic_change = talus_sum_value(&sum);
}

TalusStatus cpu_propagate_impacts(TalusEngine *engine, const TalusImpactOptions *options,
                                  TalusEngineImpacts *out)
{
    CpuEngine *e = cpu_engine(engine);
    *out = (TalusEngineImpacts){0};
    ImpactContext c = {.engine = e,
                       .impacts = e->impacts,
                       .h = options->h,
                       .speed = options->least_speed,
                       .out = out};
    TALUS_TRY(prepare(&c));
    TALUS_TRY(make_rounds(&c));
    if (e->probes > 0) {
        TALUS_TRY(cpu_group_contacts(e));
        cpu_compute_impact_probes(e, e->impacts->impulse);
    }
    write_bodies(&c);
    return TALUS_OK;
}
