import gc
import logging
import threading
import time

import numpy as np
import pytest

import talus


def heap(threads=1, **options):
    """A floor and a tower of 27 balls that falls apart."""
    world = talus.World(threads=threads, **options)
    sand = world.add_material("sand", friction=0.4, density=2600)
    world.add_bodies("plane", [0, 0, 0], fixed=True, material=sand)
    at = 0.21 * np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3) + [0, 0, 0.11]
    at[:, :2] += 0.02 * at[:, 2:] * [1, -0.5]
    world.add_bodies("sphere", at, radius=0.1, material=sand)
    return world


def test_a_thrown_ball_follows_the_scheme():
    world = talus.World(gravity=(0, 0, -10), step=0.01)
    [ball] = world.add_bodies("sphere", [1, 2, 3], radius=0.1, velocity=[1, 0, 5], spin=[0, 0, 2])
    world.step(100)
    # symplectic Euler: z = z0 + v t - g h^2 n (n + 1) / 2
    np.testing.assert_allclose(world.position[0], [2, 2, 3 + 5 - 10 * 1e-4 * 100 * 101 / 2], rtol=1e-12)
    np.testing.assert_allclose(world.velocity[0], [1, 0, -5], atol=1e-12)
    assert world.time == pytest.approx(1.0) and world.steps == 100 and list(world.id) == [ball]


def test_bits_do_not_depend_on_threads_or_on_saving():
    one, two = heap(1), heap(2)
    one.step(40), two.step(40)
    assert one.hash == two.hash
    again = talus.World.load(one.save("state.bin"), threads=2)
    assert again.hash == one.hash
    one.step(40), again.step(40)
    assert again.hash == one.hash
    from_file = talus.World.load("state.bin")
    from_file.step(40)
    assert from_file.hash == one.hash


def test_contacts_carry_the_weight():
    world = heap(tolerance=1e-6)
    world.run(1.5)
    mass = world.bodies("mass").mass
    before = mass @ world.velocity[:, 2]
    info = world.step()
    gained = (mass @ world.velocity[:, 2] - before) / info.length
    contacts = world.contacts()
    floor = contacts[(contacts["a"] == 1) | (contacts["b"] == 1)]
    up = np.where(floor["a"] == 1, 1.0, -1.0) @ floor["impulse"][:, 2] / info.length
    assert up == pytest.approx(9.81 * mass.sum() + gained, rel=1e-9)
    assert len(world.contacts(least=1e-9)) <= len(contacts) == info.contacts
    force, touching = world.forces()
    assert len(force) == 28 and touching.sum() > 0 and force[0] == pytest.approx(up, rel=1e-9)


def test_a_view_is_the_memory_of_the_world():
    world = heap()
    view = world.view().position
    assert view.shape == (28, 3) and not view.flags.writeable
    np.testing.assert_array_equal(view, world.position)
    part = view[3:5]  # keeps the memory in use, as the whole does
    del view
    for change in (world.step, lambda: world.add_bodies("sphere", [9, 9, 9], radius=1.0), lambda: world.remove_body(3)):
        with pytest.raises(BufferError, match="still in use"):
            change()
    del part
    before = world.position
    world.step()
    assert not np.array_equal(world.view().position, before)
    world.remove_body(3)
    rows = world.view()
    living = rows.shape >= 0
    assert living.sum() == len(world) == 27
    np.testing.assert_array_equal(rows.id[living], world.id)


def test_a_view_keeps_its_world():
    position = heap().view().position
    gc.collect()
    assert position[1, 2] == pytest.approx(0.11)


def test_other_threads_run_during_a_step():
    at = 0.2 * np.stack(np.meshgrid(*[np.arange(18.0)] * 3), axis=-1).reshape(-1, 3)
    world = talus.World(threads=1, tolerance=1e-6)
    world.add_bodies("plane", [0, 0, -0.1], fixed=True)
    world.add_bodies("sphere", at, radius=0.1)
    ticks, refused, done = [], [], threading.Event()

    def watch():
        while not done.is_set():
            ticks.append(time.perf_counter())
            try:
                world._reading()
            except RuntimeError as error:
                refused.append(str(error))
            time.sleep(1e-3)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    world.step()
    end = time.perf_counter()
    done.set()
    watcher.join()
    assert end - begin > 0.03 and sum(begin < t < end for t in ticks) > 5
    assert "is going on" in refused[-1]  # the world is not to be used meanwhile


def test_callbacks():
    world, times = heap(), []
    world.run(1.0, on_step=lambda world, info: times.append(info.time) or len(times) < 7)
    assert len(times) == 7 and world.steps == 7

    def fail(world, info):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        world.run(1.0, on_step=fail)
    assert world.steps == 8


def test_errors_are_exceptions_with_the_words_of_the_library():
    with pytest.raises(talus.ArgumentError, match="step") as caught:
        talus.World(step=-1.0)
    assert caught.value.key == "step" and caught.value.code == "argument" and caught.value.domain == "world"
    assert isinstance(caught.value, ValueError)
    with pytest.raises(TypeError, match="did you mean tolerance"):
        talus.World(tolerence=1e-3)
    with pytest.raises(ValueError, match="norm: 'mox' is none of rms, max, siconos"):
        talus.World(norm="mox")
    with pytest.raises(talus.ArgumentError, match="did you mean 'apgd'"):
        talus.World(solver="apdg")
    with pytest.raises(talus.TalusError):
        talus.World.load(b"no world")
    world = talus.World()
    with pytest.raises(talus.ArgumentError):
        world.set_velocity(99, (0, 0, 0))
    with pytest.raises(ValueError, match="position: expected"):
        world.add_bodies("sphere", [[1, 2]], radius=1.0)
    with pytest.raises(ValueError, match="velocity: expected one value or 2"):
        world.add_bodies("sphere", [[1, 2, 3], [4, 5, 6]], radius=1.0, velocity=np.zeros((3, 3)))
    assert len(world) == 0


def test_a_missed_tolerance_may_stop():
    world = heap(tolerance=1e-12, max_iterations=1, solver="gs", on_miss="stop", recovery=0)
    with pytest.raises(talus.ToleranceError):
        world.run(1.0)


def test_the_log_goes_to_logging(caplog):
    world = heap(tolerance=1e-12, max_iterations=1, solver="gs")
    with caplog.at_level(logging.INFO, logger="talus"):
        world.run(0.3)
    assert any("step.missed" in message for message in caplog.messages)


def test_shapes_pairs_joints_drives_probes():
    world = talus.World(threads=1)
    ice = world.add_material("ice", friction=0.5)
    world.set_pair(0, ice, friction=0.0)
    [floor] = world.add_bodies("plane", [0, 0, 0], fixed=True)
    box = world.add_shape("box", half=(0.1, 0.1, 0.1))
    [slider] = world.add_bodies(box, [0, 0, 0.1], material=ice, velocity=[1, 0, 0])
    hull = {"kind": "hull", "vertex": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    world.add_bodies(hull, [20, 0, 5])
    halves = [{"kind": "sphere", "radius": 0.1, "position": (x, 0, 0)} for x in (-0.1, 0.1)]
    world.add_bodies({"kind": "compound", "part": halves}, [30, 0, 5])
    world.add_bodies({"kind": "field", "height": np.zeros((4, 3)), "spacing": 1.0}, [50, 0, 0], fixed=True)
    world.add_bodies({"kind": "revolve", "profile": [[1, 0], [1, 1]]}, [70, 0, 0], fixed=True)
    assert world.view().shape.max() == 5
    probe = world.add_probe("floor", "body", body=floor)
    [paddle] = world.add_bodies(box, [0, 9, 9], fixed=True)
    world.set_drive(paddle, velocity=(0, 0, 1))
    [bob] = world.add_bodies("sphere", [0, 5, 9], radius=0.1)
    hinge = world.add_joint("revolute", bob, point=(0, 5, 10), axis=(0, 1, 0), name="hinge")
    world.set_motor(hinge, "speed", target=2.0)
    world.run(0.5)
    where = dict(zip(world.id.tolist(), world.position))
    assert where[slider][0] == pytest.approx(0.5, abs=1e-6)  # without friction
    assert where[paddle][2] == pytest.approx(9.5)
    state = world.joint(hinge)
    assert state.name == "hinge" and state.kind == "revolute" and state.speed == pytest.approx(2.0, abs=1e-3)
    value = world.probe("floor")
    mass = world.bodies("mass").mass
    assert value.force[2] == pytest.approx(-9.81 * mass[1], rel=0.02)  # of the slider alone: the others still fall
    assert world.probe(probe).contacts == value.contacts
    with pytest.raises(KeyError, match="did you mean floor"):
        world.probe("flor")


def test_emitters_and_sinks():
    world = talus.World(threads=1)
    world.add_emitter(lo=(-1, -1, 4), hi=(1, 1, 5), rate=100, count=20, radius_min=0.05, radius_max=0.1, density=1000)
    world.add_sink(2, 0.0, name="drain")
    world.run(0.3)
    assert len(world) == 20
    radius = world.bodies("radius").radius
    assert 0.05 <= radius.min() < radius.max() <= 0.1
    world.run(2.0)
    assert len(world) == 0


def test_overhead_of_a_step():
    """An empty step from Python takes 4 us more than from C on the machine of docs/how-to/python.md."""
    world = talus.World(threads=1)
    world.step(100)

    def seconds(call):
        begin = time.perf_counter()
        for _ in range(200):
            call()
        return (time.perf_counter() - begin) / 200

    from talus._library import ffi, lib

    info = ffi.new("TalusStepInfo *")
    bare = min(seconds(lambda: lib.talus_world_step(world._handle, info)) for _ in range(10))
    assert min(seconds(world.step) for _ in range(10)) - bare < 20e-6


def test_records():
    info = heap().step()
    values = info.as_dict()
    assert values["solve"]["outcome"] == info.solve.outcome == "converged"
    assert "TalusStepInfo(" in repr(info) and "ledger" in dir(info)
    with pytest.raises(AttributeError, match="did you mean contacts"):
        info.contact
