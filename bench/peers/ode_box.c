/* ODE's quickstep (its iterative solver) on a bed; options in peer.c.
 *
 * Friction is ODE's closest to Coulomb's law with this solver: a pyramid whose size follows the
 * normal force of the last sweep (dContactApprox1); without that flag mu would be a force. All
 * other settings are ODE's defaults: error reduction 0.2, over-relaxation 1.3, no warm start. */
#include "peer.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct OdeBox {
    dWorldID world;
    dSpaceID space;
    dJointGroupID joints;
    dBodyID *bodies;
    int n, contacts;
    double mu;
} OdeBox;

static void collide_pair(void *data, dGeomID a, dGeomID b)
{
    OdeBox *box = data;
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    dContact contact = {0};
    if ((!body_a && !body_b) || dCollide(a, b, 1, &contact.geom, sizeof(dContact)) == 0)
        return;
    contact.surface.mode = dContactApprox1; /* no dContactBounce: restitution 0 */
    contact.surface.mu = box->mu;
    dJointAttach(dJointCreateContact(box->world, box->joints, &contact), body_a, body_b);
    box->contacts++;
}

static void ode_step(void *engine, double h)
{
    OdeBox *box = engine;
    box->contacts = 0;
    dSpaceCollide(box->space, box, collide_pair);
    dWorldQuickStep(box->world, h);
    dJointGroupEmpty(box->joints);
}

static void add_walls(dSpaceID space, double w)
{
    dCreatePlane(space, 0, 0, 1, 0);
    dCreatePlane(space, 1, 0, 0, -w);
    dCreatePlane(space, -1, 0, 0, -w);
    dCreatePlane(space, 0, 1, 0, -w);
    dCreatePlane(space, 0, -1, 0, -w);
}

static dBodyID add_sphere(OdeBox *box, const Bed *bed, const double *x)
{
    dMass mass;
    dMassSetSphereTotal(&mass, bed->mass, bed->radius);
    dBodyID body = dBodyCreate(box->world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x[0], x[1], x[2]);
    dGeomSetBody(dCreateSphere(box->space, bed->radius), body);
    return body;
}

static void *ode_create(const Bed *bed)
{
    OdeBox *box = calloc(1, sizeof *box);
    dBodyID *bodies = calloc((size_t)bed->n, sizeof *bodies);
    if (!box || !bodies) {
        free(box);
        free(bodies);
        return NULL;
    }
    dInitODE2(0);
    box->world = dWorldCreate();
    box->space = dHashSpaceCreate(NULL);
    box->joints = dJointGroupCreate(0);
    box->bodies = bodies;
    box->n = bed->n;
    box->mu = bed->mu;
    dWorldSetGravity(box->world, 0, 0, -bed->gravity);
    add_walls(box->space, bed->half_width);
    for (int i = 0; i < bed->n; i++)
        bodies[i] = add_sphere(box, bed, bed->x + 3 * i);
    return box;
}

static void ode_set_iterations(void *engine, int iterations)
{
    OdeBox *box = engine;
    dWorldSetQuickStepNumIterations(box->world, iterations);
}

static int ode_contacts(void *engine)
{
    OdeBox *box = engine;
    return box->contacts;
}

static void ode_positions(void *engine, double *x)
{
    OdeBox *box = engine;
    for (int i = 0; i < box->n; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = dBodyGetPosition(box->bodies[i])[k];
}

static void ode_destroy(void *engine)
{
    OdeBox *box = engine;
    dJointGroupDestroy(box->joints);
    dSpaceDestroy(box->space);
    dWorldDestroy(box->world);
    dCloseODE();
    free(box->bodies);
    free(box);
}

int main(int argc, char **argv)
{
    const PeerEngine ode = {"ode",        ode_create,    ode_set_iterations, ode_step,
                            ode_contacts, ode_positions, ode_destroy};
    /* A header compiled for the other precision would link and then compute nonsense. */
    const char *precision = sizeof(dReal) == 8 ? "ODE_double_precision" : "ODE_single_precision";
    if (!dCheckConfiguration(precision)) {
        fprintf(stderr, "the installed libode lacks %s\n", precision);
        return 1;
    }
    return peer_main(&ode, argc, argv);
}
