"""The interpreters that are measured in: python-blosc2 with our wheel, or with the original Btune.

They are virtual environments under .venv-bench, made on demand.
"""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import support

HERE = Path(__file__).resolve().parent
HOME = support.ROOT / ".venv-bench"
DIST = support.ROOT / "dist"
LIBRARY = DIST / "lib" / "libblosc2_btune.so"
# The newest blosc2 that the original works with.
PINS = ["blosc2==3.12.2", "numpy==2.4.6"]
ORIGINAL = "blosc2-btune==1.2.1"
TIMEOUT = 900


class Failed(Exception):
    """A process that gave no answer, and why."""


def make(name):
    """Makes the environment `btune` or `original`, or brings our wheel in it up to date."""
    if name == "original":
        _environment(name, [*PINS, ORIGINAL])
    else:
        _environment(name, PINS)
        _pip(name, "--no-index", "--no-deps", "--force-reinstall", _wheel())


def ask(name, worker, task, **env):
    """The answer of a worker, a fresh process in the environment `name`, to a task."""
    folder = HOME / name / "bin"
    env = support.clean_env(**env)
    # Where C-Blosc2 finds the tuner: it asks the `python` of the PATH for the library.
    env["PATH"] = f"{folder}:{env['PATH']}"
    command = [folder / "python", HERE / worker, json.dumps(task)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer within {TIMEOUT} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise Failed(f"exited with {done.returncode} and said: {said[-1]}")
    # A tuner may print as well.
    return json.loads(done.stdout.splitlines()[-1])


def _environment(name, requirements):
    home = HOME / name
    ready = home / ".ready"  # the last thing made: an interrupted set-up starts afresh
    wanted = " ".join(requirements)
    if not ready.exists() or ready.read_text() != wanted:
        venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(home)
        _pip(name, *requirements)
        ready.write_text(wanted)


def _pip(name, *what):
    python = HOME / name / "bin" / "python"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, *pip, *what], check=True)


def _wheel():
    """Our wheel, if it has the library that was built last."""
    wheels = list(DIST.glob("btune-*.whl"))
    if len(wheels) == 1:
        with zipfile.ZipFile(wheels[0]) as wheel:
            if wheel.read(f"blosc2_btune/{LIBRARY.name}") == LIBRARY.read_bytes():
                return wheels[0]
    sys.exit(f"{DIST} has no wheel with the library of now: run `make wheel`")
