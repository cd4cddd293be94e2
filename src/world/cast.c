/* world/cast.c - rays and spheres against the bodies of a world (talus/query.h). */
#include <talus/query.h>

#include "collide/cast.h"
#include "collide/period.h"
#include "world/state.h"

#include <inttypes.h>

enum { FILTER_COOKIE = 0x7a10f17e, RAY_GRAIN = 16 };

TalusQueryFilter talus_query_filter_default(void)
{
    return (TalusQueryFilter){
        .cookie = FILTER_COOKIE, .groups = UINT32_MAX, .moving = true, .fixed = true};
}

static TalusStatus check_query(const TalusWorld *world, const TalusQueryFilter *filter)
{
    if (filter->cookie != FILTER_COOKIE)
        return talus_reject("query: the filter was not made by talus_query_filter_default()");
    TALUS_TRY(talus_ranks_refuse(world, "rays and overlaps of queries"));
    if (talus_has_period(&world->def.period))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "query: rays and overlaps do not see the images of bodies in space that "
                          "repeats itself");
    return talus_world_download_bodies(world);
}

static bool sees(const TalusWorld *world, const TalusQueryFilter *filter, int slot)
{
    const TalusBodies *b = &world->bodies;
    if (b->shape[slot] < 0 || b->id[slot] == filter->ignore.number)
        return false;
    if (!(talus_slot_is_dynamic(b, slot) ? filter->moving : filter->fixed))
        return false;
    return filter->groups >> (b->group[slot] % TALUS_GROUPS) & 1;
}

/* Narrows the way [*begin, *end] of the centre to that through the ball around a body at `arm` from the start; false: it
 * passes by. The ball is a little larger than the body, so that rounding cuts nothing off. */
static bool clip_to_ball(const TalusCast *c, TalusVec3 arm, double radius, double *begin,
                         double *end)
{
    const double r = 1.001 * (radius + c->radius), middle = talus_dot(arm, c->direction);
    const TalusVec3 off = talus_sub(arm, talus_scale(middle, c->direction));
    const double half2 = r * r - talus_dot(off, off);
    if (half2 < 0.0)
        return false;
    *begin = fmax(*begin, middle - sqrt(half2));
    *end = fmin(*end, middle + sqrt(half2));
    return *begin <= *end;
}

/* The body in `slot`, in its own frame and from where the way reaches it, so that far starts cost no accuracy. */
static bool cast_body(const TalusWorld *world, int slot, const TalusCast *c, TalusCastHit *hit)
{
    const TalusBodies *b = &world->bodies;
    const TalusQuat q = b->orientation[slot];
    const TalusVec3 arm = talus_sub(b->position[slot], c->from);
    double begin = 0.0, end = hit->distance;
    if (b->radius[slot] > 0.0 && !clip_to_ball(c, arm, b->radius[slot], &begin, &end))
        return false;
    const TalusVec3 from = talus_sub(talus_scale(begin, c->direction), arm);
    const TalusCast own = {talus_rotate_back(q, from), talus_rotate_back(q, c->direction),
                           c->radius};
    TalusCastHit found = {.distance = end - begin};
    if (!talus_cast(&world->shape[b->shape[slot]], b->radius[slot], &own, &found))
        return false;
    *hit = (TalusCastHit){begin + found.distance, talus_rotate(q, found.normal)};
    return true;
}

/* ---- casts ---- */

typedef struct Casts {
    const TalusWorld *world;
    const TalusQueryFilter *filter;
    const TalusRay *ray;
    TalusHit *hit;
} Casts;

static TalusHit cast_ray(const Casts *all, const TalusRay *ray)
{
    const TalusBodies *b = &all->world->bodies;
    const TalusCast c = {ray->from, talus_scale(1.0 / talus_norm(ray->direction), ray->direction),
                         ray->radius};
    TalusHit best = {.distance = ray->length};
    for (int i = 0; i < b->counts.slots; i++) {
        TalusCastHit hit = {.distance = best.distance};
        if (!sees(all->world, all->filter, i) || !cast_body(all->world, i, &c, &hit))
            continue;
        const bool first = best.body.number == 0 || hit.distance < best.distance;
        if (!first && b->id[i] > best.body.number)
            continue;
        const TalusVec3 centre = talus_madd(c.from, hit.distance, c.direction);
        best = (TalusHit){{b->id[i]},
                          hit.distance,
                          hit.distance > 0.0 ? talus_madd(centre, -c.radius, hit.normal) : c.from,
                          hit.normal};
    }
    return best.body.number ? best : (TalusHit){0};
}

static void cast_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Casts *all = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        all->hit[i] = cast_ray(all, &all->ray[i]);
}

static TalusStatus check_ray(const TalusRay *ray, int64_t index)
{
    if (!talus_finite3(ray->from) || !talus_finite3(ray->direction))
        return talus_reject("ray %" PRId64 ": start or direction is not finite", index);
    const double norm = talus_norm(ray->direction);
    if (!(norm > 0.0) || !isfinite(norm) || !isfinite(1.0 / norm))
        return talus_reject("ray %" PRId64
                            ": the direction has length %g; its square, too, has to be "
                            "a number above 0",
                            index, norm);
    if (!(ray->length >= 0.0) || !(ray->radius >= 0.0) || !isfinite(ray->radius))
        return talus_reject("ray %" PRId64 ": length %g, radius %g; expected 0 or more", index,
                            ray->length, ray->radius);
    return TALUS_OK;
}

TalusStatus talus_world_cast(const TalusWorld *world, const TalusQueryFilter *filter,
                             const TalusRay *ray, int64_t count, TalusHit *hit)
{
    const TalusQueryFilter all = talus_query_filter_default();
    Casts casts = {world, filter ? filter : &all, ray, hit};
    TALUS_TRY(check_query(world, casts.filter));
    for (int64_t i = 0; i < count; i++)
        TALUS_TRY(check_ray(&ray[i], i));
    talus_parallel(world->pool, count, RAY_GRAIN, cast_chunk, &casts);
    return TALUS_OK;
}

/* ---- overlaps ---- */

/* An overlap is a cast of length 0. */
TalusStatus talus_world_overlap(const TalusWorld *world, const TalusQueryFilter *filter,
                                TalusVec3 centre, double radius, TalusBodyId *body,
                                int64_t capacity, int64_t *count)
{
    const TalusQueryFilter all = talus_query_filter_default();
    const TalusCast c = {centre, {0.0, 0.0, 1.0}, radius};
    const TalusRay ray = {.from = centre, .direction = c.direction, .radius = radius};
    int64_t found = 0;
    filter = filter ? filter : &all;
    TALUS_TRY(check_query(world, filter));
    TALUS_TRY(check_ray(&ray, 0));
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        TalusCastHit hit = {.distance = 0.0};
        if (!sees(world, filter, i) || !cast_body(world, i, &c, &hit))
            continue;
        if (body && found < capacity)
            body[found] = talus_slot_id(&world->bodies, (uint32_t)i);
        found++;
    }
    *count = found;
    return TALUS_OK;
}
