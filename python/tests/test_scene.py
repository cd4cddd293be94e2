import json

import numpy as np
import pytest

import talus


def test_the_hash_is_that_of_the_program(program):
    words = ["settle-box", "--set", "bodies=150", "--set", "mu=0.4", "--until", "0.6"]
    said = json.loads(program("run", *words, "--no-out", "--quiet", "--json", "--threads", "2"))
    world = talus.Scene("settle-box", set={"bodies": 150, "mu": 0.4}).run(until=0.6, threads=1)
    assert world.hash == said["hash"] and world.steps == said["steps"]


def test_a_run_writes_what_the_program_writes(program):
    words = ["hourglass", "--set", "bodies=60", "--until", "0.313", "--every", "0.05"]
    program("run", *words, "--out", "by-program", "--quiet", "--frames", "exact", "--threads", "1")
    scene = talus.Scene("hourglass", set={"bodies": 60})
    world = scene.run("by-python", until=0.313, every=0.05, frames=("exact",), threads=1)
    mine, theirs = talus.Run("by-python"), talus.Run("by-program")
    assert mine.times.tolist() == theirs.times.tolist() and len(mine) == 7
    for a, b in zip(mine, theirs):
        np.testing.assert_array_equal(a.position, b.position)
        np.testing.assert_array_equal(a.contacts["impulse"], b.contacts["impulse"])
    a, b = mine.table("steps"), theirs.table("steps")
    assert a.dtype.names == b.dtype.names
    for name in a.dtype.names:
        if not name.endswith("_seconds"):
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert mine.world().hash == world.hash  # the program's checkpoint is from before the shortened steps
    assert theirs.world().steps < world.steps
    assert mine.names == theirs.names


def test_a_dictionary_is_a_scene(source):
    text = (source / "scenes" / "settle-box.json").read_text()
    data = talus.scene.parse(text)
    data["params"]["bodies"] = 12
    data["materials"]["grain"]["density"] = np.float64(2000.0)
    scene = talus.Scene(data)
    assert scene.title == "Settling box" and scene.params["bodies"] == 12
    world = scene.build(threads=1)
    assert len(world) == 17 and len(world.names["grains"]) == 12
    data["params"]["bodies"] = 99  # the scene has a copy
    assert scene.params["bodies"] == 12
    scene.data["params"]["bodies"] = 13
    assert scene.params["bodies"] == 13


def test_every_shipped_scene_survives_as_a_dictionary():
    for name in talus.shipped():
        scene = talus.Scene(name)
        assert talus.Scene(scene.data, folder=str(talus.scene._folder())).params == scene.params, name


def test_errors_say_where():
    path = "bad.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n "bodies": [\n  {"radius": 0.1, "att": [0, 0, 0]}\n ]\n}\n')
    with pytest.raises(talus.TalusError) as caught:
        talus.Scene(path).build()
    assert caught.value.file.endswith(path) and caught.value.line == 3 and "bodies[0]" in caught.value.key
    with pytest.raises(FileNotFoundError, match="did you mean hourglass"):
        talus.Scene("hourglas")
    with pytest.raises(talus.TalusError, match="did you mean"):
        talus.Scene("hourglass", set={"bodie": 3}).build()
    with pytest.raises(TypeError, match="a scene cannot hold"):
        talus.Scene({"title": object()}).build()


def test_a_failed_callback_leaves_a_readable_run():
    def fail(world, info):
        if info.step == 30:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        talus.Scene("settle-box", set={"bodies": 20}).run("out/run", every=0.05, on_step=fail, threads=1)
    run = talus.Run("out/run")
    assert len(run) == 4 and len(run.table("steps")) == 30
