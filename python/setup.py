"""Builds the package: what python/talus has, the declarations of the headers, libtalus.so and the scenes. See wheel.sh."""

import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("TALUS_SOURCE_DIR", HERE.parent))
HEADERS = SOURCE / "include" / "talus"


def version():
    text = (HEADERS / "base.h").read_text()
    return ".".join(re.search(rf"TALUS_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class Build(build_py):
    """Adds what is made from the tree and its build."""

    def run(self):
        super().run()
        import sys

        sys.path.insert(0, str(HERE))
        from declarations import write_module

        target = Path(self.build_lib) / "talus"
        write_module(HEADERS, target / "_declarations.py")
        library = Path(os.environ["TALUS_BUILD_DIR"]) / "libtalus.so"
        shutil.copyfile(library.resolve(), target / "libtalus.so")
        shutil.copytree(SOURCE / "scenes", target / "scenes", dirs_exist_ok=True)
        shutil.copyfile(SOURCE / "LICENSE", target / "LICENSE")


class Binary(Distribution):
    """A distribution for one platform, because of libtalus.so."""

    def has_ext_modules(self):
        return True


def commands():
    """The commands: wheels fit every Python 3, because the package has no extension module."""
    from wheel.bdist_wheel import bdist_wheel

    class Wheel(bdist_wheel):
        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])

    return {"build_py": Build, "bdist_wheel": Wheel}


setup(
    version=version(),
    packages=["talus"],
    package_data={"talus": ["py.typed"]},
    distclass=Binary,
    cmdclass=commands(),
)
