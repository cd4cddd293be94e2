// Bullet's sequential impulses (its default solver) on a bed; options in peer.c.
//
// Two settings matter for a fair comparison. Bullet multiplies the friction coefficients of a pair,
// so each side gets sqrt(mu). By default it rubs along one direction per contact only, which lets
// the bed creep and over-compact, so the second direction is switched on. Nothing may fall asleep:
// all engines advance all bodies in all steps. The walls are slabs rather than planes: a plane's
// bounds are infinite, and five pairs per sphere would cost Bullet 7 % of its time and 16 % of its
// memory (4,000 spheres, one run each) for nothing.
#include "peer.h"

#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace
{

struct BulletBox {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies; // the spheres, then the walls
    int n = 0;

    ~BulletBox()
    {
        for (auto &body : bodies)
            world.removeRigidBody(body.get());
    }
};

void add_body(BulletBox &box, btCollisionShape *shape, double mass, double friction,
              const btVector3 &position)
{
    btVector3 inertia(0, 0, 0);
    if (mass > 0)
        shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform.setOrigin(position);
    info.m_friction = btScalar(friction);
    info.m_restitution = 0;
    box.bodies.emplace_back(new btRigidBody(info));
    box.bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    box.world.addRigidBody(box.bodies.back().get());
}

// Slabs as thick as the box is wide, twice as high as the lattice.
void add_walls(BulletBox &box, const Bed *bed, double friction)
{
    double top = 0;
    for (int i = 0; i < bed->n; i++)
        top = std::max(top, bed->x[3 * i + 2]);
    auto w = btScalar(bed->half_width), h = btScalar(top);
    auto add = [&](const btVector3 &centre, const btVector3 &half_extents) {
        box.shapes.emplace_back(new btBoxShape(half_extents));
        add_body(box, box.shapes.back().get(), 0, friction, centre);
    };
    add(btVector3(0, 0, -w), btVector3(3 * w, 3 * w, w));
    for (int side = -1; side <= 1; side += 2) {
        add(btVector3(btScalar(2 * side) * w, 0, h), btVector3(w, 3 * w, h));
        add(btVector3(0, btScalar(2 * side) * w, h), btVector3(3 * w, w, h));
    }
}

void *bullet_create(const Bed *bed)
{
    auto *box = new BulletBox;
    double friction = std::sqrt(bed->mu);
    box->n = bed->n;
    box->world.setGravity(btVector3(0, 0, btScalar(-bed->gravity)));
    box->world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    auto *sphere = new btSphereShape(btScalar(bed->radius));
    box->shapes.emplace_back(sphere);
    for (int i = 0; i < bed->n; i++) {
        const double *x = bed->x + 3 * i;
        add_body(*box, sphere, bed->mass, friction,
                 btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])));
    }
    add_walls(*box, bed, friction);
    return box;
}

void bullet_set_iterations(void *engine, int iterations)
{
    static_cast<BulletBox *>(engine)->world.getSolverInfo().m_numIterations = iterations;
}

void bullet_step(void *engine, double h)
{
    // No substeps: exactly one step of h, whatever the rounding of Bullet's own clock.
    static_cast<BulletBox *>(engine)->world.stepSimulation(btScalar(h), 0);
}

int bullet_contacts(void *engine)
{
    auto &dispatcher = static_cast<BulletBox *>(engine)->dispatcher;
    int contacts = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++)
        contacts += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    return contacts;
}

void bullet_positions(void *engine, double *x)
{
    auto &box = *static_cast<BulletBox *>(engine);
    for (int i = 0; i < box.n; i++)
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = box.bodies[std::size_t(i)]->getCenterOfMassPosition()[k];
}

void bullet_destroy(void *engine)
{
    delete static_cast<BulletBox *>(engine);
}

} // namespace

int main(int argc, char **argv)
{
    const PeerEngine bullet = {"bullet",      bullet_create,   bullet_set_iterations,
                               bullet_step,   bullet_contacts, bullet_positions,
                               bullet_destroy};
    return peer_main(&bullet, argc, argv);
}
