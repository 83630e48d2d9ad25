"""Clean builds: `build/` keeps modules of earlier versions, which wheels would then contain."""

import shutil

from setuptools import setup
from setuptools.command.build import build
from setuptools.command.build_py import build_py


class FreshBuild(build):  # type: ignore[misc]  # untyped
    """Removes the results of an earlier build before building."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class Modules(build_py):  # type: ignore[misc]
    """Leaves this file out of the package, whose folder is also the project's folder."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        return [found for found in super().find_package_modules(package, package_dir) if found[1] != "setup"]


if __name__ == "__main__":
    setup(cmdclass={"build": FreshBuild, "build_py": Modules})
