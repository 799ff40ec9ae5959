"""Runs the cases of host.py in wheels of python-blosc2: `matrix.py [VERSION...]`."""

import os
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

ROOT = Path(__file__).resolve().parents[2]
HOST = ROOT / "tests" / "abi" / "host.py"
LIBRARY = ROOT / "dist" / "lib" / "libblosc2_btune.so"
DATA = ROOT / "examples" / "data"
NUMPY = "2.4.6"
# Version -> its layout of the context, and its numpy.
WHEELS = {
    "2.7.1": (2, "1.26.4"),
    "3.3.4": (2, NUMPY),
    "3.12.2": (2, NUMPY),
    "4.0.0": (2, NUMPY),
    "4.2.0": (3, NUMPY),
    "4.4.5": (3, NUMPY),
    "4.14.1": (3, NUMPY),
}


def python(version):
    """The interpreter of a virtual environment with that blosc2, which is made on demand."""
    home = ROOT / ".venv-abi" / version
    ready = home / ".ready"  # the last thing made: an interrupted set-up starts afresh
    if not ready.exists():
        venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(home)
        pins = [f"blosc2=={version}", f"numpy=={WHEELS.get(version, (3, NUMPY))[1]}"]
        pip = [home / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *pins], check=True)
        ready.touch()
    return home / "bin" / "python"


def cases(interpreter):
    """The names of the cases."""
    done = subprocess.run([interpreter, HOST], capture_output=True, text=True, check=True)
    return done.stdout.split()


def run(interpreter, case, library=LIBRARY):
    """What went wrong in one case: "" if nothing did."""
    command = [interpreter, HOST, library, case, DATA]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "stderr"  # a file to write to, which the case reads its trace from
        try:
            with log.open("w") as stderr:
                done = subprocess.run(command, stdout=PIPE, stderr=stderr, text=True, timeout=300)
        except subprocess.TimeoutExpired as error:
            return f"no end after {error.timeout} s"
        with log.open() as lines:
            said = "".join(line for line in lines if not line.startswith("{"))
    if done.returncode == 0 and done.stdout == "ok\n":
        return ""
    return f"exited with {done.returncode}\n{done.stdout}{said}"


def run_all(version):
    """The faults of a version, by case, and the number of cases."""
    interpreter = python(version)
    names = cases(interpreter)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: run(interpreter, name), names))
    return {n: fault for n, fault in zip(names, results, strict=True) if fault}, len(names)


def main(versions):
    failed = {}
    print("blosc2    context  passed/tried", flush=True)
    for version in versions or WHEELS:
        faults, tried = run_all(version)
        layout = WHEELS[version][0] if version in WHEELS else "?"
        print(f"{version:<9} {layout}.x      {tried - len(faults)}/{tried}", flush=True)
        failed |= {(version, name): fault for name, fault in faults.items()}
    for (version, name), fault in failed.items():
        print(f"\n--- {version} {name} {fault}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
