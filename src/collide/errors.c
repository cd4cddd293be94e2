/* collide/errors.c - checks of detection and the texts of their errors (errors.h). */
#include "collide/errors.h"

#include "base/status.h"

TalusStatus talus_check_detect_options(const TalusDetectOptions *o)
{
    bool fine = o->h >= 0.0 && o->envelope >= 0.0 && o->reference_speed >= 0.0 &&
                o->friction >= 0.0 &&
                o->h + o->envelope + o->reference_speed + o->friction < INFINITY;
    if (fine)
        return TALUS_OK;
    return talus_reject(
        "detect: h %g, envelope %g, reference speed %g and friction %g must be finite and not "
        "negative",
        o->h, o->envelope, o->reference_speed, o->friction);
}

TalusStatus talus_refuse_bad_numbers(long long body)
{
    return talus_fail(TALUS_ERR_NUMERIC,
                      "detect: slot %lld has a position, orientation, velocity or radius that "
                      "is not a finite number, or out of all proportion to the others",
                      body);
}

TalusStatus talus_refuse_sphere_size(long long body, double radius, double size)
{
    return talus_reject(
        "detect: slot %lld is a sphere of radius %g and size %g; they must be equal", body, radius,
        size);
}

TalusStatus talus_refuse_free_wall(long long body, TalusShapeKind kind)
{
    return talus_reject("slot %lld: a %s can only be fixed or driven", body,
                        talus_shape_name(kind));
}

TalusStatus talus_check_period_fit(const TalusFit *fit)
{
    const char axis = "xyz"[fit->axis];
    switch (fit->result) {
    case TALUS_FIT_BODY_TOO_LARGE:
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "period along %c: its length is %g, and the largest body has, with "
                          "its margin, the radius %g; expected more than four times that",
                          axis, fit->length, fit->reach);
    case TALUS_FIT_WALL_TOO_LARGE:
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "period along %c: its length is %g, and slot %u, a %s, reaches %g from "
                          "its centre with the bodies beside it; expected less than half of the "
                          "length, or a plane",
                          axis, fit->length, fit->body, talus_shape_name(fit->kind), fit->reach);
    case TALUS_FIT_PLANE_OBLIQUE:
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "period along %c: the plane in slot %u is not parallel to it; a plane "
                          "that is would be its own image",
                          axis, fit->body);
    default: return TALUS_OK;
    }
}

TalusStatus talus_refuse_pair(TalusShapeKind kind_a, uint32_t a, TalusShapeKind kind_b, uint32_t b)
{
    return talus_fail(
        TALUS_ERR_UNSUPPORTED,
        "detect: a %s (slot %u) meets a %s (slot %u), and contact between these two "
        "shapes is not available; a revolve is met by spheres alone, and as a mesh by "
        "every shape that moves",
        talus_shape_name(kind_a), a, talus_shape_name(kind_b), b);
}

TalusStatus talus_check_pair_count(double count, int most)
{
    if (count <= most)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "detect: %.0f pairs of bodies are near each other; at most %d "
                      "are possible",
                      count, most);
}

TalusStatus talus_check_contact_count(double count, int most)
{
    if (count <= most)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "detect: %.0f contacts are needed; a list holds at most %d", count, most);
}
