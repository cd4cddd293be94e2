/* draw/light.c - exposes a picture pass by pass.
 *
 * A point of a surface with colour c and unit normal n sends the light below to the eye, if nothing obstructs the
 * lamps. l is the direction to the key light; h is half way between l and the direction to the eye; the last term is 0
 * unless n.l > 0. least, key, ground, sky and gloss are the constants TALUS_*_LIGHT and TALUS_GLOSS of palette.h:
 *
 *     c (least + key max(0, n.l) + ground + (sky - ground) (1 + n.up) / 2)  +  gloss (n.h)^40
 *
 * The terms of sky and ground are those of a sky all around with radiance a + b d.up in direction d, where a =
 * (sky + ground) / 2 and b = 3/4 (sky - ground): the mean over the sphere of 4 (a + b d.up) max(0, n.d) is
 * a + 2/3 b n.up. The sky is sampled in equally spread directions, a few in each pass, each with a depth map. */
#include "draw/ghost.h"
#include "draw/ground.h"
#include "draw/lamp.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "geometry/kinds.h"

enum {
    MAX_SKY = 4,              /* directions of the sky per pass at most */
    BAND = 16,                /* pixel rows of a chunk */
    MANY_BODIES = 30000,      /* solids above which there are fewer passes (choose_plan) */
    VERY_MANY_BODIES = 300000 /* solids above which there are still fewer */
};

#define GOLDEN_RATIO 0.61803398874989484820 /* multiples of it modulo 1 fill [0, 1) evenly */

/* Effort for a picture: the more bodies, the fewer passes. */
typedef struct ExposurePlan {
    int passes, sky;        /* sky: directions of the sky per pass */
    int key_size, sky_size; /* width of the depth maps of key light and sky, pixels */
} ExposurePlan;

/* State of talus_picture_expose. */
typedef struct Exposure {
    const TalusPicture *picture;
    ExposurePlan plan;
    TalusView view;                  /* camera of the pass */
    TalusRaster seen, chains, walls; /* seen: bodies; walls: only if the container is shown */
    TalusLamp key, sky[MAX_SKY];
    float sky_light[MAX_SKY]; /* of each direction d: 4 (a + b d.up) / directions of the pass */
    float *transmitted; /* [pixels]: share of light that ghosts let through; NULL: no ghosts */
    float *light;       /* mean of the passes, summed up as talus_picture_expose describes it */
    TalusF3 ghost;      /* colour of ghosts, linear light */
    TalusGroundShadow ground;
    float edge;        /* width of lines on either side of sharp edges, m at depth 1 m */
    float decode[256]; /* linear light of each sRGB number */
    TalusCut cut;      /* of the bodies, in coordinates of `view` */
} Exposure;

/* Chooses the effort by the number of bodies and the size of the picture. */
static ExposurePlan choose_plan(const TalusPicture *picture)
{
    int n = picture->bodies.count;
    ExposurePlan plan = n <= MANY_BODIES        ? (ExposurePlan){32, 4, 2048, 768}
                        : n <= VERY_MANY_BODIES ? (ExposurePlan){16, 4, 2048, 1024}
                                                : (ExposurePlan){12, 2, 3072, 1536};
    /* Small pixels smooth noise as passes do, so a large picture needs fewer passes. */
    double pixels = (double)picture->def->width * picture->def->height;
    if (pixels > 8e6 && plan.passes > 16)
        plan.passes = 16;
    /* A smaller picture needs smaller maps. */
    int side =
        picture->def->width > picture->def->height ? picture->def->width : picture->def->height;
    double part = fmin(fmax(side / 1600.0, 0.125), 1.0);
    plan.key_size = (int)(plan.key_size * part);
    plan.sky_size = (int)(plan.sky_size * part);
    return plan;
}

/* ---- light at a point ---- */

/* Linear light of an sRGB colour. */
static TalusF3 linear_colour(const Exposure *e, uint32_t rgb)
{
    return talus_f3(e->decode[rgb >> 16 & 255], e->decode[rgb >> 8 & 255], e->decode[rgb & 255]);
}

/* A point of a surface to be lit. */
typedef struct SurfacePoint {
    TalusF3 point, normal, view; /* view: unit, towards the eye */
    bool unobstructed;           /* true: no shadows fall on it, as on chains */
} SurfacePoint;

/* Returns the diffuse light from a white surface; *specular is the reflection of the key light, added to any colour. */
static float light_at_point(const Exposure *e, const SurfacePoint *s, float *specular)
{
    float facing = talus_f3_dot(s->normal, e->key.direction), sum = TALUS_LEAST_LIGHT;
    *specular = 0.0f;
    if (facing > 0.0f) {
        float part = s->unobstructed ? 1.0f : talus_lamp_visibility(&e->key, s->point, s->normal);
        TalusF3 half = talus_f3_normalize(talus_f3_add(e->key.direction, s->view));
        float h = fmaxf(talus_f3_dot(s->normal, half), 0.0f), h2 = h * h, h8 = h2 * h2 * h2 * h2;
        sum += TALUS_KEY_LIGHT * facing * part;
        *specular = TALUS_GLOSS * part * h8 * h8 * h8 * h8 * h8;
    }
    for (int k = 0; k < e->plan.sky; k++) {
        facing = talus_f3_dot(s->normal, e->sky[k].direction);
        if (facing > 0.0f)
            sum +=
                e->sky_light[k] * facing *
                (s->unobstructed ? 1.0f : talus_lamp_visibility(&e->sky[k], s->point, s->normal));
    }
    return sum;
}

/* ---- pixels ---- */

typedef struct Colour {
    float r, g, b, a; /* premultiplied by a */
} Colour;

/* Colour of `top` in front of `below`. */
static Colour blend_over(Colour top, Colour below)
{
    float left = 1.0f - top.a;
    return (Colour){top.r + left * below.r, top.g + left * below.g, top.b + left * below.b,
                    top.a + left * below.a};
}

/* Multiplies colour and opacity by a factor. */
static Colour scale_colour(Colour c, float by)
{
    return (Colour){by * c.r, by * c.g, by * c.b, by * c.a};
}

/* Returns the lit colour of a surface `rgb` that the ray meets at depth t; ray and normal are in view coordinates. */
static Colour lit_colour(const Exposure *e, TalusRay ray, float t, TalusF3 normal, uint32_t rgb,
                         bool unobstructed)
{
    const TalusView *view = &e->view;
    TalusF3 at = talus_f3_madd(ray.o, t, ray.d);
    SurfacePoint spot = {
        talus_f3_add(view->eye, talus_view_direction_to_world(view, at)),
        talus_view_direction_to_world(view, normal),
        talus_f3_scale(-1.0f, talus_f3_normalize(talus_view_direction_to_world(view, ray.d))),
        unobstructed};
    float specular, white = light_at_point(e, &spot, &specular);
    TalusF3 c = linear_colour(e, rgb);
    return (Colour){white * c.x + specular, white * c.y + specular, white * c.z + specular, 1.0f};
}

/* Returns the normal of a polyhedron at point `at` of facet `face` (-1: the face of the cut), all in view coordinates.
 * Sets *edge to whether a sharp edge is closer than `wide`; leaves it for face -1. */
static TalusF3 facet_normal(const Exposure *e, const TalusViewedSolid *solid, int face, TalusF3 at,
                            float wide, bool *edge)
{
    if (face < 0)
        return e->cut.normal;
    TalusF3 p = talus_viewed_to_axes(solid, talus_f3_sub(at, solid->centre));
    *edge = talus_polyhedron_near_edge(solid->polyhedron, face, p, wide);
    return talus_viewed_from_axes(solid, talus_polyhedron_normal(solid->polyhedron, face, p));
}

/* Returns the colour of the solid that a raster shows at a pixel; `ray` is the pixel's ray. */
static Colour colour_of_solid_at(const Exposure *e, const TalusSolids *solids,
                                 const TalusRaster *raster, size_t pixel, TalusRay ray,
                                 bool unobstructed)
{
    int index = raster->hit[pixel];
    TalusViewedSolid solid = talus_solid_in_view(solids, index, &e->view);
    float t = raster->depth[pixel];
    TalusF3 normal = {0.0f, 0.0f, -1.0f}; /* stays if the ray misses here, by rounding at a rim */
    bool edge = false;
    if (solid.kind == TALUS_FORM_POLYHEDRON)
        normal = facet_normal(e, &solid, raster->face[pixel], talus_f3_madd(ray.o, t, ray.d),
                              e->edge * t, &edge);
    else
        talus_viewed_find_hit(&solid, &e->cut, ray, &t, &normal);
    Colour c = lit_colour(e, ray, t, normal, solids->solid[index].rgb, unobstructed);
    if (!unobstructed && edge) {
        c = scale_colour(c, 1.0f - TALUS_EDGE_SHADE);
        c.a = 1.0f;
    }
    return c;
}

/* Returns the depth of the wall at a pixel; INFINITY without one, or if the container is not shown. */
static float wall_depth(const Exposure *e, size_t pixel)
{
    return e->walls.depth ? e->walls.depth[pixel] : INFINITY;
}

/* Returns the colour of the solid that a raster shows at a pixel, or of a wall in front of it; clear without either. */
static Colour colour_of_nearest_at(const Exposure *e, const TalusSolids *solids,
                                   const TalusRaster *raster, size_t pixel, TalusRay ray,
                                   bool unobstructed)
{
    if (wall_depth(e, pixel) < raster->depth[pixel])
        return colour_of_solid_at(e, &e->picture->walls, &e->walls, pixel, ray, false);
    if (raster->hit[pixel] >= 0)
        return colour_of_solid_at(e, solids, raster, pixel, ray, unobstructed);
    return (Colour){0.0f, 0.0f, 0.0f, 0.0f};
}

/* Returns the colour of a pixel of a picture with chains. Chains and walls hide what is behind them; a body in front of
 * both is a veil of small opacity, of the nearest one alone. */
static Colour colour_with_chains_at(const Exposure *e, size_t pixel, TalusRay ray)
{
    Colour c = colour_of_nearest_at(e, &e->picture->chains, &e->chains, pixel, ray, true);
    float depth = fminf(e->chains.depth[pixel], wall_depth(e, pixel));
    if (!(e->seen.depth[pixel] < depth))
        return c;
    Colour body = colour_of_solid_at(e, &e->picture->bodies, &e->seen, pixel, ray, false);
    return blend_over(scale_colour(body, TALUS_VEIL_OPACITY), c);
}

/* Adds the light of this pass to the pixels of rows begin .. end - 1. */
static void expose_rows(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Exposure *e = context;
    float weight = 1.0f / (float)e->plan.passes;
    (void)chunk;
    for (int y = (int)begin; y < (int)end; y++)
        for (int x = 0; x < e->view.width; x++) {
            size_t pixel = (size_t)y * (size_t)e->view.width + (size_t)x;
            TalusRay ray = talus_view_pixel_ray(&e->view, x, y);
            Colour c = e->picture->def->chains ? colour_with_chains_at(e, pixel, ray)
                                               : colour_of_nearest_at(e, &e->picture->bodies,
                                                                      &e->seen, pixel, ray, false);
            if (e->transmitted) {
                float a = 1.0f - e->transmitted[pixel];
                c = blend_over((Colour){a * e->ghost.x, a * e->ghost.y, a * e->ghost.z, a}, c);
            }
            float *light = e->light + 4 * pixel;
            light[0] += weight * c.r;
            light[1] += weight * c.g;
            light[2] += weight * c.b;
            light[3] += weight * c.a;
        }
}

/* ---- passes ---- */

/* x modulo 1. */
static double fractional_part(double x)
{
    return x - floor(x);
}

/* Sets (u, v) to point k of a sequence that covers the unit square evenly (multiples of 1 / p and 1 / p^2 modulo 1,
 * with the plastic number p). */
static void point_in_square(int k, double *u, double *v)
{
    *u = fractional_part(0.5 + 0.7548776662466927 * k);
    *v = fractional_part(0.5 + 0.5698402909980532 * k);
}

/* Returns direction k of n that are equally spread over the sphere, from near the zenith (k = 0) to near the nadir. */
static TalusVec3 sky_direction(const TalusPicture *picture, int k, int n)
{
    double z = 1.0 - (2.0 * k + 1.0) / n, level = sqrt(1.0 - z * z);
    double turn = 2.0 * TALUS_PI * fractional_part(GOLDEN_RATIO * k);
    TalusVec3 d = talus_scale(z, picture->up);
    d = talus_madd(d, level * cos(turn), picture->east);
    return talus_madd(d, level * sin(turn), picture->north);
}

/* Returns the unit direction from the scene to the point of the key light's disc that this pass uses. */
static TalusVec3 key_direction(const TalusPicture *picture, int pass, int passes)
{
    const TalusDrawDef *def = picture->def;
    double azimuth = def->azimuth + TALUS_KEY_AZIMUTH;
    TalusVec3 d = talus_picture_direction(picture, azimuth, TALUS_KEY_ELEVATION);
    TalusVec3 u = talus_picture_direction(picture, azimuth + 90.0, 0.0), v = talus_cross(d, u);
    /* permutes the passes, so that the radius on the disc does not correlate with the shift of the camera */
    int k = pass * 13 % passes;
    double r = sqrt((k + 0.5) / passes) * tan(TALUS_KEY_SPREAD * TALUS_PI / 180.0);
    double turn = 2.0 * TALUS_PI * fractional_part(GOLDEN_RATIO * k);
    d = talus_madd(d, r * cos(turn), u);
    return talus_normalize(talus_madd(d, r * sin(turn), v), d);
}

/* Draws the depth maps of the key light and of the sky directions of a pass, over the box of moving bodies. */
static TalusStatus draw_depth_maps(Exposure *e, int pass, TalusPool *pool)
{
    const TalusPicture *p = e->picture;
    TalusAabb m = p->moving;
    TalusVec3 middle = talus_sub(talus_scale(0.5, talus_add(m.lo, m.hi)), p->origin);
    TalusF3 half = talus_f3_from_vec3(talus_scale(0.5, talus_sub(m.hi, m.lo))),
            mid = talus_f3_from_vec3(middle);
    int n = e->plan.passes * e->plan.sky;
    TalusVec3 d = key_direction(p, pass, e->plan.passes);
    TALUS_TRY(talus_lamp_draw_depth_map(&e->key, talus_f3_from_vec3(d), &p->bodies, mid, half,
                                        e->plan.key_size, pool));
    float a = 0.5f * (TALUS_SKY_LIGHT + TALUS_GROUND_LIGHT);
    float b = 0.75f * (TALUS_SKY_LIGHT - TALUS_GROUND_LIGHT);
    for (int k = 0; k < e->plan.sky; k++) {
        d = sky_direction(p, pass + k * e->plan.passes, n);
        TALUS_TRY(talus_lamp_draw_depth_map(&e->sky[k], talus_f3_from_vec3(d), &p->bodies, mid,
                                            half, e->plan.sky_size, pool));
        e->sky_light[k] = 4.0f * (a + b * (float)talus_dot(d, p->up)) / (float)e->plan.sky;
    }
    return TALUS_OK;
}

/* Adds the shadows of this pass to the ground. Each lamp gets the half angle of the part that it stands for: the sphere
 * is divided among the sky directions of all passes, the key light's disc among the passes. */
static void add_ground_shadows(Exposure *e, TalusPool *pool)
{
    int passes = e->plan.passes;
    float spread = (float)(TALUS_KEY_SPREAD * TALUS_PI / 180.0 / sqrt(passes));
    TalusGroundLamp lamps[1 + MAX_SKY] = {{&e->key, TALUS_KEY_LIGHT, spread}};
    for (int k = 0; k < e->plan.sky; k++)
        lamps[1 + k] = (TalusGroundLamp){&e->sky[k], e->sky_light[k],
                                         sqrtf(4.0f / (float)(passes * e->plan.sky))};
    talus_ground_shadow_add_pass(&e->ground, e->picture, lamps, 1 + e->plan.sky, passes, pool);
}

/* Draws all rasters of one pass and adds its light to e->light. */
static TalusStatus expose_pass(Exposure *e, int pass, TalusPool *pool)
{
    const TalusPicture *p = e->picture;
    double u, v;
    point_in_square(pass, &u, &v);
    e->view = p->camera;
    e->view.cx += (float)(u - 0.5);
    e->view.cy += (float)(v - 0.5);
    e->cut = talus_cut_in_view(&p->bodies.cut, &e->view);
    TALUS_TRY(draw_depth_maps(e, pass, pool));
    TALUS_TRY(talus_raster_draw(&e->seen, &p->bodies, &e->view, true, pool));
    if (p->def->chains)
        TALUS_TRY(talus_raster_draw(&e->chains, &p->chains, &e->view, true, pool));
    if (p->def->container == TALUS_CONTAINER_SHOWN)
        TALUS_TRY(talus_raster_draw(&e->walls, &p->walls, &e->view, true, pool));
    const TalusRaster *const opaque[2] = {&e->seen, &e->walls};
    if (e->transmitted)
        TALUS_TRY(talus_ghosts_draw(p, &e->view, opaque, pool, e->transmitted));
    if (p->ground)
        add_ground_shadows(e, pool);
    talus_parallel(pool, e->view.height, BAND, expose_rows, e);
    return TALUS_OK;
}

/* Releases all memory but e->light, which the caller owns. */
static void clear_exposure(Exposure *e)
{
    talus_raster_clear(&e->seen);
    talus_raster_clear(&e->chains);
    talus_raster_clear(&e->walls);
    talus_lamp_clear(&e->key);
    for (int k = 0; k < MAX_SKY; k++)
        talus_lamp_clear(&e->sky[k]);
    talus_ground_shadow_free(&e->ground);
    talus_release(e->transmitted);
}

TalusStatus talus_picture_expose(const TalusPicture *picture, TalusPool *pool, float *light)
{
    Exposure e = {.picture = picture, .plan = choose_plan(picture), .light = light};
    size_t pixels = (size_t)picture->def->width * (size_t)picture->def->height;
    for (unsigned k = 0; k < 256; k++)
        e.decode[k] = talus_srgb_decode(k);
    e.ghost = linear_colour(&e, picture->theme->ghost);
    e.edge = (float)(TALUS_EDGE_WIDTH * picture->def->height / 1200.0) / picture->camera.scale;
    TalusStatus status = TALUS_OK;
    if (picture->walls.count + picture->line_count > 0)
        status = TALUS_ALLOC(e.transmitted, pixels, "ghosts");
    if (status == TALUS_OK && picture->ground)
        status = talus_ground_shadow_create(picture, &e.ground);
    for (int pass = 0; pass < e.plan.passes && status == TALUS_OK; pass++)
        status = expose_pass(&e, pass, pool);
    if (status == TALUS_OK && picture->ground)
        talus_ground_shadow_blend(&e.ground, picture, pool, light);
    clear_exposure(&e);
    return status;
}
