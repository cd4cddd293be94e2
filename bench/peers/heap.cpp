// Bullet and Talus on one heap of boxes, in one process, by one clock and one judge.
//
//     heap [--boxes N] [--iterations K] [--budget K] [--tolerance X] [--solver NAME] [--only ENGINE]
//          [--time S] [--step H] [--threads T]
//
// N cubes start at rest on a jittered lattice, each turned at random, over a floor without walls; they fall
// and spread into a heap. Both engines start from the same numbers and take turns of ten steps, so that what
// else the machine does falls on both. CPU seconds are those of the stepping alone. The judge knows neither
// engine: every fourth turn of the last third it looks at the poses, and at the overlap of every two boxes
// (separating axes, in double precision) and of every box with the floor; and once in the midst of the fall.
//
// Without a tolerance Talus makes as many sweeps a step as --budget says, as Bullet makes iterations; with one
// it makes as many iterations, of the solver that it chooses, as the tolerance takes, with both at most --budget of
// sweeps: few in a step that changes little, more where bodies collide.
//
// Bullet is set up as in bullet_box.cpp: sqrt(mu) on each side, two directions of friction, nothing asleep.
#include <btBulletDynamicsCommon.h>
#include <talus/talus.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace
{

struct Options {
    int boxes = 10000, iterations = 10, threads = 1; // 10 iterations are Bullet's own default
    int budget = 0;       // iterations of Talus at most; 0: 4 sweeps, with a tolerance as many as it takes
    double tolerance = 0; // over g h; 0: none
    double time = 3, step = 0.005;
    const char *solver = ""; // "": gs-coulomb:omega=1.5, with a tolerance auto
    const char *only = ""; // "bullet" or "talus": that engine alone
};

struct Pose {
    TalusVec3 x;
    TalusQuat e;
};

constexpr double half = 0.1, mu = 0.5, density = 1000, gravity = 9.81;
constexpr int turn = 10; // steps of an engine before the other's

double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double wall_seconds()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// A block of boxes about as wide as it is high. The spacing holds a cube's diagonal and the jitter.
std::vector<Pose> lattice(int n)
{
    const double spacing = 2 * half * std::sqrt(3.0) * 1.05;
    const int side = std::max(1, int(std::ceil(std::cbrt(double(n)))));
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> jitter(-0.02 * half, 0.02 * half);
    std::normal_distribution<double> normal;
    std::vector<Pose> pose;
    for (int i = 0; i < n; i++) {
        TalusQuat e = {normal(random), normal(random), normal(random), normal(random)};
        TalusVec3 x = {(i % side - 0.5 * (side - 1)) * spacing + jitter(random),
                       (i / side % side - 0.5 * (side - 1)) * spacing + jitter(random),
                       (i / side / side + 0.6) * spacing + jitter(random)};
        pose.push_back({x, talus_quat_normalize(e)});
    }
    return pose;
}

// ---- Talus ----

void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    std::fprintf(stderr, "heap: %s: %s\n", talus_status_name(status), talus_error());
    std::exit(1);
}

struct Talus {
    TalusWorld *world = nullptr;
    TalusStepInfo info{};
    double iterations = 0, contacts = 0;

    Talus(const Options &o, const std::vector<Pose> &pose)
    {
        TalusWorldDef def = talus_world_def_default();
        def.gravity = talus_vec3(0, 0, -gravity);
        def.step = o.step;
        def.tolerance = o.tolerance;
        def.solver = o.solver;
        if (o.budget > 0)
            def.max_iterations = o.budget;
        def.threads = o.threads;
        must(talus_world_create(&def, &world));
        TalusMaterialDef material = talus_material_def_default();
        material.name = "stone";
        material.friction = mu;
        material.density = density;
        TalusShapeDef plane{}, box{};
        plane.kind = TALUS_SHAPE_PLANE;
        box.kind = TALUS_SHAPE_BOX;
        box.half = talus_vec3(half, half, half);
        TalusBodyBatch floor = talus_body_batch_default(), boxes = talus_body_batch_default();
        must(talus_world_add_material(world, &material, &boxes.material));
        must(talus_world_add_shape(world, &plane, &floor.shape));
        must(talus_world_add_shape(world, &box, &boxes.shape));
        std::vector<TalusVec3> x;
        std::vector<TalusQuat> e;
        for (const Pose &p : pose) {
            x.push_back(p.x);
            e.push_back(p.e);
        }
        TalusVec3 origin = {0, 0, 0};
        floor.fixed = true, floor.count = 1, floor.position = &origin;
        floor.material = boxes.material;
        boxes.count = int(pose.size()), boxes.position = x.data(), boxes.orientation = e.data();
        must(talus_world_add_bodies(world, &boxes, nullptr));
        must(talus_world_add_bodies(world, &floor, nullptr));
    }

    ~Talus()
    {
        talus_world_destroy(world);
    }

    void step()
    {
        must(talus_world_step(world, &info));
        iterations += info.solve.iterations;
        contacts += info.contacts;
    }

    std::vector<Pose> poses(std::size_t n) const
    {
        std::vector<TalusVec3> x(n + 1);
        std::vector<TalusQuat> e(n + 1);
        TalusBodyState state{};
        state.position = x.data();
        state.orientation = e.data();
        talus_world_get_state(world, &state);
        std::vector<Pose> pose;
        for (std::size_t i = 0; i < n; i++)
            pose.push_back({x[i], e[i]});
        return pose;
    }
};

// ---- Bullet ----

struct Bullet {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btBoxShape cube{btVector3(half, half, half)}, slab{btVector3(500, 500, 10)};
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    double h, contacts = 0;

    Bullet(const Options &o, const std::vector<Pose> &pose) : h(o.step)
    {
        world.setGravity(btVector3(0, 0, btScalar(-gravity)));
        world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
        world.getSolverInfo().m_numIterations = o.iterations;
        for (const Pose &p : pose)
            add(&cube, density * 8 * half * half * half, p);
        add(&slab, 0, {{0, 0, -10}, {1, 0, 0, 0}});
    }

    ~Bullet()
    {
        for (auto &body : bodies)
            world.removeRigidBody(body.get());
    }

    void add(btCollisionShape *shape, double mass, const Pose &p)
    {
        btVector3 inertia(0, 0, 0);
        if (mass > 0)
            shape->calculateLocalInertia(btScalar(mass), inertia);
        btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
        info.m_startWorldTransform.setOrigin(
            btVector3(btScalar(p.x.x), btScalar(p.x.y), btScalar(p.x.z)));
        info.m_startWorldTransform.setRotation(
            btQuaternion(btScalar(p.e.x), btScalar(p.e.y), btScalar(p.e.z), btScalar(p.e.w)));
        info.m_friction = btScalar(std::sqrt(mu));
        info.m_restitution = 0;
        bodies.emplace_back(new btRigidBody(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(bodies.back().get());
    }

    void step()
    {
        world.stepSimulation(btScalar(h), 0);
    }

    int count_contacts()
    {
        int count = 0;
        for (int i = 0; i < dispatcher.getNumManifolds(); i++)
            count += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
        return count;
    }

    std::vector<Pose> poses(std::size_t n) const
    {
        std::vector<Pose> pose;
        for (std::size_t i = 0; i < n; i++) {
            btVector3 x = bodies[i]->getCenterOfMassPosition();
            btQuaternion q = bodies[i]->getOrientation();
            pose.push_back(
                {{x.x(), x.y(), x.z()}, talus_quat_normalize({q.w(), q.x(), q.y(), q.z()})});
        }
        return pose;
    }
};

// ---- the judge ----

struct Verdict {
    // penetration over half an edge: mean, what one in a hundred exceeds, worst; mean height of centres
    double mean = 0, tail = 0, worst = 0, height = 0;
    int states = 0; // judged
    std::vector<double> depth; // of every overlap
};

using Axes = std::array<TalusVec3, 3>;

Axes axes_of(const Pose &p)
{
    return {talus_rotate(p.e, {1, 0, 0}), talus_rotate(p.e, {0, 1, 0}),
            talus_rotate(p.e, {0, 0, 1})};
}

double shadow(const Axes &axes, TalusVec3 d)
{
    double sum = 0;
    for (const TalusVec3 &axis : axes)
        sum += half * std::fabs(talus_dot(axis, d));
    return sum;
}

// The largest separation over all 15 axes: below 0 minus the depth.
double separation(const Pose &p, const Axes &a, const Pose &q, const Axes &b)
{
    TalusVec3 between = talus_sub(q.x, p.x);
    double best = -INFINITY;
    auto look = [&](TalusVec3 d) {
        double length = talus_norm(d);
        if (length > 1e-6) {
            d = talus_scale(1 / length, d);
            best = std::max(best, std::fabs(talus_dot(between, d)) - shadow(a, d) - shadow(b, d));
        }
    };
    for (int i = 0; i < 3; i++) {
        look(a[std::size_t(i)]);
        look(b[std::size_t(i)]);
        for (int j = 0; j < 3; j++)
            look(talus_cross(a[std::size_t(i)], b[std::size_t(j)]));
    }
    return best;
}

void note(Verdict &v, double gap)
{
    if (gap >= 0)
        return;
    v.depth.push_back(-gap / half);
}

void sum_up(Verdict &v)
{
    if (v.depth.empty())
        return;
    std::sort(v.depth.begin(), v.depth.end());
    for (double depth : v.depth)
        v.mean += depth / double(v.depth.size());
    v.tail = v.depth[v.depth.size() * 99 / 100];
    v.worst = v.depth.back();
}

// Adds the overlaps of a state to the verdict, and sets its height.
void judge(const std::vector<Pose> &pose, Verdict &v)
{
    const double cell = 2 * half * std::sqrt(3.0);
    auto key = [&](double x) { return int(std::floor(x / cell)); };
    std::map<std::array<int, 3>, std::vector<std::size_t>> grid;
    std::vector<Axes> axes;
    v.states++;
    v.height = 0;
    for (std::size_t i = 0; i < pose.size(); i++) {
        axes.push_back(axes_of(pose[i]));
        grid[{key(pose[i].x.x), key(pose[i].x.y), key(pose[i].x.z)}].push_back(i);
        note(v, pose[i].x.z - shadow(axes[i], {0, 0, 1}));
        v.height += pose[i].x.z / double(pose.size());
    }
    for (const auto &[at, members] : grid)
        for (int k = 0; k < 27; k++) {
            auto other = grid.find({at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1});
            if (other == grid.end())
                continue;
            for (std::size_t i : members)
                for (std::size_t j : other->second)
                    if (i < j)
                        note(v, separation(pose[i], axes[i], pose[j], axes[j]));
        }
}

// ---- the run ----

struct Clock {
    double cpu = 0, wall = 0, late_cpu = 0, late_wall = 0; // late: of the last third

    template <class Engine> void run(Engine &engine, int steps, bool late)
    {
        double c = cpu_seconds(), w = wall_seconds();
        for (int i = 0; i < steps; i++)
            engine.step();
        c = cpu_seconds() - c;
        w = wall_seconds() - w;
        cpu += c;
        wall += w;
        late_cpu += late ? c : 0;
        late_wall += late ? w : 0;
    }
};

// An engine's share of the run: its clock and what the judge saw in the fall and in the last third.
struct Record {
    Clock clock;
    Verdict fall, end;

    template <class Engine> void run(Engine &engine, const Options &o, int round, int rounds)
    {
        bool late = round >= 2 * rounds / 3;
        clock.run(engine, turn, late);
        if (round + 1 == rounds / 3)
            judge(engine.poses(std::size_t(o.boxes)), fall);
        if (late && (rounds - 1 - round) % 4 == 0)
            judge(engine.poses(std::size_t(o.boxes)), end);
    }
};

void print(const char *name, const Record &r, int steps, int late, double contacts)
{
    const Verdict &v = r.end, &f = r.fall;
    std::printf("%-8s %8.1f %8.1f %8.1f %8.1f   %8.2e %8.2e %8.2e   %8.2e %8.2e %8.2e %7zu %7.3f "
                "%8.0f\n",
                name, 1e3 * r.clock.cpu / steps, 1e3 * r.clock.wall / steps,
                1e3 * r.clock.late_cpu / late, 1e3 * r.clock.late_wall / late, v.mean, v.tail,
                v.worst, f.mean, f.tail, f.worst, v.depth.size() / std::size_t(v.states), v.height,
                contacts);
}

Options parse(int argc, char **argv)
{
    Options o;
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!std::strcmp(name, "--boxes"))
            o.boxes = std::atoi(value);
        else if (!std::strcmp(name, "--iterations"))
            o.iterations = std::atoi(value);
        else if (!std::strcmp(name, "--threads"))
            o.threads = std::atoi(value);
        else if (!std::strcmp(name, "--tolerance"))
            o.tolerance = std::atof(value);
        else if (!std::strcmp(name, "--solver"))
            o.solver = value;
        else if (!std::strcmp(name, "--budget"))
            o.budget = std::atoi(value);
        else if (!std::strcmp(name, "--only"))
            o.only = value;
        else if (!std::strcmp(name, "--time"))
            o.time = std::atof(value);
        else if (!std::strcmp(name, "--step"))
            o.step = std::atof(value);
        else
            std::fprintf(stderr, "heap: no option '%s'\n", name), std::exit(2);
    }
    if (o.budget == 0 && o.tolerance == 0)
        o.budget = 4;
    if (o.boxes < 1 || o.iterations < 1 || o.budget < 0 || !(o.time > 0) || !(o.step > 0) ||
        !(o.tolerance >= 0))
        std::fprintf(stderr, "heap: boxes, iterations, budget, time and step must be positive, and "
                             "the tolerance not negative\n"),
            std::exit(2);
    if (*o.only && std::strcmp(o.only, "bullet") && std::strcmp(o.only, "talus"))
        std::fprintf(stderr, "heap: --only %s; expected bullet or talus\n", o.only), std::exit(2);
    if (!*o.solver)
        o.solver = o.budget > 0 ? "gs-coulomb:omega=1.5" : "auto";
    return o;
}

} // namespace

int main(int argc, char **argv)
{
    const Options o = parse(argc, argv);
    const std::vector<Pose> start = lattice(o.boxes);
    Talus talus(o, start);
    auto bullet = std::make_unique<Bullet>(o, start);
    Record of_talus, of_bullet;
    const bool both = !*o.only;
    const int rounds = std::max(3, int(o.time / o.step / turn)), steps = rounds * turn;
    const int late = (rounds - 2 * rounds / 3) * turn;
    for (int r = 0; r < rounds; r++) {
        if (both || !std::strcmp(o.only, "bullet"))
            of_bullet.run(*bullet, o, r, rounds);
        if (both || !std::strcmp(o.only, "talus"))
            of_talus.run(talus, o, r, rounds);
        if (r % 10 == 9)
            std::fprintf(stderr, "heap: %d of %d steps, Bullet %.1f s, Talus %.1f s of CPU\n",
                         (r + 1) * turn, steps, of_bullet.clock.cpu, of_talus.clock.cpu);
    }
    for (Verdict *v : {&of_bullet.fall, &of_bullet.end, &of_talus.fall, &of_talus.end})
        sum_up(*v);
    std::printf("%d boxes, h %g s, %d steps; Bullet %d iterations, Talus %s ", o.boxes, o.step,
                steps, o.iterations, o.solver);
    if (o.tolerance > 0)
        std::printf("to %g g h", o.tolerance);
    if (o.budget > 0)
        std::printf("%s %d", o.tolerance > 0 ? " with at most" : "with", o.budget);
    std::printf(" on %d thread(s), %.1f iterations a step\n", o.threads, talus.iterations / steps);
    std::printf("%-8s %8s %8s %8s %8s   %8s %8s %8s   %8s %8s %8s %7s %7s %8s\n", "engine",
                "cpu ms", "wall ms", "late cpu", "wall", "pen mean", "99 %", "worst", "in fall",
                "99 %", "worst", "overlap", "height", "contacts");
    if (of_bullet.end.states)
        print("bullet", of_bullet, steps, late, bullet->count_contacts());
    if (of_talus.end.states)
        print("talus", of_talus, steps, late, talus.info.contacts);
    if (both)
        std::printf("Bullet over Talus: CPU %.2f, wall %.2f; last third CPU %.2f, wall %.2f\n",
                    of_bullet.clock.cpu / of_talus.clock.cpu,
                    of_bullet.clock.wall / of_talus.clock.wall,
                    of_bullet.clock.late_cpu / of_talus.clock.late_cpu,
                    of_bullet.clock.late_wall / of_talus.clock.late_wall);
    return 0;
}
