"""Build from an empty folder: `build/` keeps modules of earlier versions, which wheels would ship."""

import shutil

from setuptools import setup
from setuptools.command.build import build


class FreshBuild(build):  # type: ignore[misc]  # untyped
    """Remove what an earlier build left before building."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


if __name__ == "__main__":
    setup(cmdclass={"build": FreshBuild})
