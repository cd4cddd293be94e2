import math

import numpy as np
import pytest

import talus


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "box"
    talus.Scene("settle-box", set={"bodies": 120}).run(folder, until=1.0, every=0.1, frames=("exact",), threads=1)
    return folder


def test_frames(folder):
    run = talus.Run(folder)
    assert len(run) == 11 and run.times[-1] == pytest.approx(1.0)
    assert run.at(0.55).time == pytest.approx(0.5)
    world, last = run.world(), run[-1]
    np.testing.assert_array_equal(last.position, world.position)  # frames are exact
    np.testing.assert_array_equal(last.id, world.id)
    assert len(last.contacts) == last._struct.contact_total > 100
    assert [s.time for s in run[2:4]] == pytest.approx([0.2, 0.3])
    with pytest.raises(IndexError):
        run[11]
    with pytest.raises(AttributeError, match="did you mean position"):
        last.positions
    position = last.position
    del last
    assert np.isfinite(position).all()  # the array keeps its memory


def test_tables(folder):
    run = talus.Run(folder)
    assert {"steps", "probes"} <= set(run.tables)
    steps, probes = run.table("steps"), run.table("probes")
    assert len(steps) == 200 and steps["outcome"][0] in ("converged", "budget")
    floor = probes[probes["probe"] == "floor"]
    assert floor["force_z"][-1] == pytest.approx(-9.81 * 6.28 * 120, rel=0.05)
    with pytest.raises(FileNotFoundError, match="it has probes, steps"):
        run.table("moon")


def test_dataframes(folder):
    pytest.importorskip("pandas", reason="pandas is not installed (Debian: python3-pandas)")
    run = talus.Run(folder)
    assert run.dataframe("steps")["time"].iloc[-1] == pytest.approx(1.0)
    table = run[-1].as_frame()
    assert len(table) == 125 and "position_z" in table and "orientation_w" in table
    assert len(run.world().bodies("id", "velocity").as_frame().columns) == 4


def test_measures_are_those_of_the_program(folder, program):
    run = talus.Run(folder)
    program("measure", folder, "--source", "frames", "-o", "bulk.csv", "--threads", 1)
    theirs = talus.read_table("bulk.csv")
    mine = run[-1].bulk()
    for key in ("bodies", "mass", "coordination", "rattlers", "backbone"):
        assert getattr(mine, key) == pytest.approx(float(theirs[key][-1]), rel=1e-9), key
    assert run.world().snapshot().bulk().coordination == mine.coordination
    program("measure", folder, "--source", "frames", "-f", "stress", "--grid", "1,1,4", "-o", "stress.csv", "--threads", 1)
    stress = talus.read_table("stress.csv")
    ours = run[-1].field("stress", (1, 1, 4))
    assert ours.shape == (1, 1, 4, 9)
    np.testing.assert_allclose(ours[0, 0, :, 8], stress["stress_zz"], rtol=1e-9)


def test_measures():
    world = talus.World()
    world.add_bodies("sphere", [[0, 0, 0], [1, 0, 0]], radius=0.5, mass=2.0, velocity=[[1, 0, 0], [3, 0, 0]])
    state = world.snapshot()
    box = [(-4, -4, -4), (5, 4, 4)]
    assert talus.field([state, state], "density", box=box)[0, 0, 0] == pytest.approx(4.0 / (9 * 64))
    np.testing.assert_allclose(state.field("velocity", box=box)[0, 0, 0], [2, 0, 0], atol=1e-12)
    assert state.packing([(-1, -1, -1), (2, 1, 1)]) == pytest.approx(2 * math.pi / 6 / 12)
    assert state.bulk().bodies == 2 and state.bulk(box=[(-9, -9, -9), (0.5, 9, 9)]).bodies == 1
    assert "stress" in talus.quantities() and talus.quantities()["stress"].unit == "Pa"
    with pytest.raises(ValueError, match="did you mean density"):
        state.field("densty", box=box)
    with pytest.raises(ValueError, match="no snapshots"):
        talus.field([], "density")


def test_a_run_that_does_not_exist():
    with pytest.raises(talus.FileError):
        talus.Run("nowhere")
