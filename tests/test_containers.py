"""Dockerfile and docker-compose.yml: linted, gold only where it belongs, and every command one that we have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from workers.sandbox.profile import profile

ROOT = Path(__file__).resolve().parent.parent
WITH_GOLD = {"worker", "program-worker", "gpu-worker", "worker-2"}
OURS = ("migrate", "web", "sweep", "web-2", "sweep-2", "environments", *sorted(WITH_GOLD))
#: The encodings of gold, which are as secret as gold itself: programs need none.
WITH_VECTORS = WITH_GOLD - {"program-worker"}
WITH_KEYS = WITH_GOLD | {"keys"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    found: dict[str, Any] = compose["services"]
    return found


def stages() -> dict[str, str]:
    """The lines of each build stage, by its name."""
    parts = re.split(r"^FROM \S+ AS ([\w-]+)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_dockerfile_passes_hadolint() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint is not built for this platform")
    result = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_images_install_both_distributions_for_the_commands_of_the_server() -> None:
    """A copied folder alone has no entry points: `evergold web` would not be known."""
    copied, installed = stages()["base"].index("COPY migrations"), stages()["base"].index("pip install --no-deps")
    assert copied < installed
    assert "--editable ./evergold --editable ." in stages()["base"]


def test_our_code_is_compiled_where_it_is_copied() -> None:
    """Check the stages: at run time nobody may write there, and each start of a process would compile the
    code again.
    """
    copied, compiled = set(), set()
    for stage in stages().values():
        copied |= {name for name in re.findall(r"^COPY (\w+) \1$", stage, flags=re.MULTILINE) if name != "docs"}
        compiled |= {name for line in re.findall(r"python -m compileall -q ([\w ]+)", stage) for name in line.split()}
    assert compiled == copied == {"app", "evergold", "migrations", "workers"}


def test_whatever_an_image_copies_is_sent_to_the_builder() -> None:
    """Check that `.dockerignore` excludes no source of COPY: such an image could not be built."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    sources = [Path(source) for line in copied for source in line.split()]
    assert Path("docs") in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert not [pattern for pattern in ignored for part in (source, *source.parents) if part.match(pattern)], source


@pytest.mark.parametrize("name", [".env", "keys", "gold", "backups", "competitions", "texts"])
def test_what_a_server_in_containers_keeps_in_the_checkout_goes_neither_to_the_builder_nor_into_git(name: str) -> None:
    assert name in (ROOT / ".dockerignore").read_text().split()
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().split()}
    assert name in ignored


def test_web_image_has_neither_workers_code_nor_gold() -> None:
    image = stages()["base"] + stages()["web"]
    assert "workers" not in image
    assert "gold" not in image.lower().replace("evergold", "")
    assert "GOLD_DIR" not in image
    assert "COPY . " not in image


def test_only_workers_mount_gold_and_what_is_as_secret(services: dict[str, Any]) -> None:
    mounting = {name for name, service in services.items() if any("/gold" in v for v in service.get("volumes", []))}
    assert mounting == WITH_KEYS
    keeping = {name for name, service in services.items() if any("vectors" in v for v in service.get("volumes", []))}
    assert keeping == WITH_VECTORS
    for name in WITH_GOLD:
        writable = [volume for volume in services[name]["volumes"] if ":ro" not in volume]
        vectors = {"vectors:/srv/vectors"} if name in WITH_VECTORS else set()
        shared = {"sealed:/srv/sealed", "cache:/srv/cache", *vectors}
        assert set(writable) == ({"cache-2:/srv/cache", "vectors-2:/srv/vectors"} if name == "worker-2" else shared)
    told = {name for name, service in services.items() if "EVERGOLD_GOLD" in str(service.get("environment"))}
    assert not told - WITH_KEYS


def test_only_the_workers_side_has_the_keys_and_only_its_commands_change_them(services: dict[str, Any]) -> None:
    mounting = {
        name: volume
        for name, service in services.items()
        for volume in service.get("volumes", [])
        if "/srv/keys" in volume
    }
    assert set(mounting) == WITH_KEYS
    assert {name for name, volume in mounting.items() if ":ro" not in volume} == {"keys"}
    assert services["keys"]["profiles"] == ["keys"], "it is started by hand"
    assert "GOLD_KEY_FILE" not in stages()["base"] + stages()["web"]


def test_whoever_seals_and_whoever_opens_has_what_is_sealed(services: dict[str, Any]) -> None:
    sharing = {name for name, service in services.items() if any("sealed:" in v for v in service.get("volumes", []))}
    assert sharing == {"web", "sweep", *WITH_KEYS} - {"worker-2"}


def test_what_the_bucket_s_profile_adds_shares_no_folder_with_the_rest(services: dict[str, Any]) -> None:
    """Check the folders: like other machines, the services share only database, broker and bucket."""

    def volumes_of(names: set[str]) -> set[str]:
        mounted = (volume for name in names for volume in services[name].get("volumes", []))
        return {volume.partition(":")[0] for volume in mounted if not volume.startswith("./")}

    second = {name for name in services if name.endswith("-2")}
    assert second == {"web-2", "worker-2", "sweep-2"}
    assert not volumes_of(second) & volumes_of(set(services) - second)
    for name in (*second, "bucket", "make-bucket"):
        assert services[name]["profiles"] == ["bucket"], "nobody who has a folder starts it"
    for name in second:
        assert services[name]["environment"]["EVERGOLD_STORAGE"] == "${EVERGOLD_STORAGE:-folder}"
        assert services[name]["depends_on"]["make-bucket"] == {"condition": "service_completed_successfully"}
    # It stores the files of baselines, and is started where there is no bucket as well.
    waits = services["migrate"]["depends_on"]["make-bucket"]
    assert waits == {"condition": "service_completed_successfully", "required": False}


def test_the_lean_image_has_no_torch_and_the_other_a_model_and_no_network_at_run_time() -> None:
    assert "torch" not in stages()["base"] + stages()["lean-worker"]
    lines = stages()["worker"]
    assert re.search(r"^ARG MODEL=bert-base-multilingual-cased$", lines, re.MULTILINE)
    fetched, recorded = lines.index('models fetch "$MODEL"'), lines.index("selfcheck --record")
    offline = lines.index("HF_HUB_OFFLINE=1")
    readable = lines.index("chmod -R a+rX /srv/models /srv/selfcheck")
    assert fetched < recorded < readable < offline, "whoever runs it is not who made it; offline from then on"
    assert "TRANSFORMERS_OFFLINE=1" in lines


def test_the_gpu_worker_is_started_only_where_it_is_asked_for_and_reserves_a_device(services: dict[str, Any]) -> None:
    worker = services["gpu-worker"]
    assert worker["profiles"] == ["gpu"]
    [device] = worker["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]
    assert worker["command"][:3] == ["worker", "--queues", "gpu"]
    assert "profiles" not in services["worker"]


def test_programs_of_organisers_have_a_sandbox_and_building_has_no_secret(services: dict[str, Any]) -> None:
    """Namespaces of users for one service alone; its profile is the one that the code derives."""
    worker, builder = services["program-worker"], services["environments"]
    assert worker["profiles"] == ["programs"], "it is started only where it is asked for"
    assert "seccomp=program-worker.seccomp.json" in worker["security_opt"]
    assert "no-new-privileges:true" in worker["security_opt"]
    allowing = [name for name, one in services.items() if "seccomp" in str(one.get("security_opt"))]
    assert allowing == ["program-worker"]
    written = json.loads((ROOT / "program-worker.seccomp.json").read_text())
    assert written == profile(), "python -m workers.sandbox.profile > program-worker.seccomp.json"
    assert {"unshare", "mount", "pivot_root"}.isdisjoint(written["syscalls"][0]["names"])
    assert {"bpf", "ptrace", "keyctl", "io_uring_setup"} <= set(written["syscalls"][0]["names"])
    assert builder["volumes"] == ["environments:/srv/environments", "./competitions:/srv/competitions:ro"]
    assert "environment" not in builder, "neither database nor broker"
    assert "environments:/srv/environments:ro" in worker["volumes"]
    stage = stages()["program-worker"]
    assert stage.index('install --yes --no-install-recommends "bubblewrap=0.8.*"') < stage.index("environments build")


def test_pins_of_torch_are_found_where_the_image_looks_for_them() -> None:
    pins = (ROOT / "requirements" / "bertscore.txt").read_text()
    for package in ("torch", "bert-score", "transformers", "sudachipy", "sudachidict-core"):
        assert re.search(rf"^{package}==\S+$", pins, re.MULTILINE | re.IGNORECASE)


def test_images_run_as_nobody_special_and_read_only(services: dict[str, Any]) -> None:
    for stage in ("web", "lean-worker", "program-worker", "worker"):
        assert re.findall(r"^USER (\S+)$", stages()[stage], re.MULTILINE)[-1] == "10001:10001"
    for name in OURS:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]


def test_every_setting_of_env_arrives_in_every_service(services: dict[str, Any]) -> None:
    """Settings with another default than elsewhere are set here as well; .env decides about these, too."""
    assert services["environments"]["env_file"] == [], "code of packages runs there"
    for name in {*OURS, "keys"} - {"environments"}:
        assert services[name]["env_file"] == [".env"], name
        for setting, value in services[name]["environment"].items():
            if setting != "EVERGOLD_RUN_MEMORY_MEBIBYTES":
                assert value.startswith(f"${{{setting}:-"), (name, setting)


@pytest.mark.parametrize("name", OURS)
def test_command_of_each_service_is_one_of_ours(services: dict[str, Any], name: str) -> None:
    arguments = services[name].get("command") or re.findall(r'^CMD \["(\w+)"', stages()["web"], re.MULTILINE)
    known = subprocess.run(
        [sys.executable, "-m", "evergold.cli", arguments[0], "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert known.returncode == 0, known.stderr
    assert all(option in known.stdout for option in arguments if option.startswith("--"))


def test_every_dependency_between_services_exists(services: dict[str, Any]) -> None:
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)


def test_files_that_the_images_copy_exist() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert copied
    assert all((ROOT / name).exists() for names in copied for name in names.split())
