"""The module blosc2_btune of the installed wheel: names, settings, library, header."""

import shutil
import sys
from pathlib import Path

import blosc2
import pytest
import support

NAMES = """VERSION PerformanceMode RepeatMode ReuseModels get_include get_libpath params_defaults
print_libpath record set_params_defaults"""


@pytest.fixture(scope="module")
def package(wheel_python):
    """The folder of the installed module."""
    code = "import blosc2_btune; print(blosc2_btune.__path__[0])"
    return Path(support.run_python(code, python=wheel_python).stdout.strip())


def test_all_names_are_there(wheel_python):
    support.run_python(
        """
        import sys, importlib.metadata
        import blosc2_btune as b
        missing = [name for name in sys.argv[1].split() if not hasattr(b, name)]
        assert not missing, missing
        assert b.VERSION == b.__version__ == importlib.metadata.version("btune")
        assert {m.name: m.value for m in b.PerformanceMode} == {
            "COMP": 0, "DECOMP": 1, "BALANCED": 2, "AUTO": 3}
        assert {m.name: m.value for m in b.RepeatMode} == {"STOP": 0, "SOFT": 1, "ALL": 2}
        assert b.params_defaults == {
            "bandwidth": 20 * 1024**2, "perf_mode": b.PerformanceMode.AUTO, "tradeoff": 0.5,
            "cparams_hint": False, "use_inference": -1, "models_dir": "", "nwaits": 0,
            "nsofts": 5, "nhards": 10, "repeat_mode": b.RepeatMode.STOP}
        with b.ReuseModels():
            pass
        try:
            with b.ReuseModels():
                raise KeyError("mine")
        except KeyError:
            pass
        """,
        NAMES,
        python=wheel_python,
    )


def test_the_import_is_quick_and_brings_nothing_else(wheel_python):
    code = """
        import sys, time
        start = time.perf_counter()
        import blosc2_btune
        print(time.perf_counter() - start)
        brought = {"numpy", "blosc2", "h5py", "pathlib"} & set(sys.modules) - before
        assert not brought, brought
    """.replace("start =", "before = set(sys.modules); start =", 1)
    times = [float(support.run_python(code, python=wheel_python).stdout) for _ in range(5)]
    assert min(times) < 0.03, times


def test_the_path_is_printed_without_a_newline(wheel_python, package):
    code = "import blosc2_btune; blosc2_btune.print_libpath()"
    printed = support.run_python(code, python=wheel_python).stdout
    assert printed == str(package / "libblosc2_btune.so")
    assert Path(printed).is_file()


def test_the_library_is_found_by_its_soname_once_imported(wheel_python):
    support.run_python(
        """
        import ctypes
        try:
            ctypes.CDLL("libblosc2_btune.so")
        except OSError:
            pass
        else:
            raise AssertionError("found without the import: this shows nothing")
        import blosc2_btune
        found = ctypes.CDLL("libblosc2_btune.so")
        assert found._handle == ctypes.CDLL(blosc2_btune.get_libpath())._handle
        """,
        python=wheel_python,
    )


BAD = [
    ("speed=1", "speed", "nhards"),
    ("tradeoff=1.01", "1.01", "from 0 to 1"),
    ("tradeoff=float('nan')", "nan", "from 0 to 1"),
    ("tradeoff=True", "True", "from 0 to 1"),
    ("tradeoff='0.5'", "'0.5'", "from 0 to 1"),
    ("tradeoff=[0.5]", "[0.5]", "sum to 1"),
    ("tradeoff=(0.5, 0.5)", "(0.5, 0.5)", "sum to 1"),
    ("tradeoff=(0.5, 0.5, 0.1)", "(0.5, 0.5, 0.1)", "sum to 1"),
    ("tradeoff=(1.5, -0.5, 0)", "(1.5, -0.5, 0)", "sum to 1"),
    ("tradeoff=None", "None", "from 0 to 1"),
    ("bandwidth=0", "0", "4294967295"),
    ("bandwidth=2**32", "4294967296", "4294967295"),
    ("perf_mode='FAST'", "'FAST'", "PerformanceMode.BALANCED"),
    ("perf_mode=RepeatMode.STOP", "RepeatMode.STOP", "PerformanceMode.BALANCED"),
    ("repeat_mode=1", "1", "RepeatMode.ALL"),
    ("cparams_hint='no'", "'no'", "True or False"),
    ("use_inference=-2", "-2", "-1"),
    ("use_inference=1.0", "1.0", "-1"),
    ("models_dir=5", "5", "path"),
    ("models_dir='x' * 4096", "xxx", "4095"),
    ("nwaits=-1", "-1", "from 0"),
    ("nsofts=2.5", "2.5", "from 0"),
    ("nhards=True", "True", "from 0"),
]


def test_bad_values_are_named_with_what_is_allowed(wheel_python):
    support.run_python(
        """
        import sys
        from blosc2_btune import *
        for words, value, allowed in eval(sys.argv[1]):
            try:
                eval(f"set_params_defaults({words})")
            except ValueError as error:
                told = str(error)
            else:
                raise AssertionError(words + " is taken")
            assert all(part in told for part in (words.split("=")[0], value, allowed)), told
            assert "\\n" not in told
        """,
        repr(BAD),
        python=wheel_python,
    )


WRITE = """
import numpy as np, blosc2, blosc2_btune
from blosc2_btune import PerformanceMode, RepeatMode, params_defaults, set_params_defaults

def written(**kwargs):
    "What chunks are tuned for after set_params_defaults(**kwargs)."
    if kwargs is not None:
        set_params_defaults(**kwargs)
    return tuned_for()

def tuned_for():
    data = np.arange(30_000, dtype="i4")
    cparams = {"tuner": blosc2.Tuner.BTUNE, "typesize": 4}
    schunk = blosc2.SChunk(chunksize=40_000, data=data, cparams=cparams)
    (first, *_) = blosc2_btune.record(schunk)
    return first["tradeoff"], first["perf_mode"]
"""


def test_settings_reach_the_tuner_and_do_not_add_up(wheel_python):
    support.run_python(
        WRITE
        + """
assert tuned_for() == ([0.5, 0.5, 0.0], "COMP")
assert written(tradeoff=0.25, perf_mode=PerformanceMode.DECOMP) == ([0.25, 0.75, 0.0], "DECOMP")
assert tuned_for() == ([0.25, 0.75, 0.0], "DECOMP")
assert written(perf_mode="BALANCED") == ([0.5, 0.5, 0.0], "BALANCED")
assert written(tradeoff=np.float32(0.75)) == ([0.75, 0.25, 0.0], "COMP")
assert written(tradeoff=[1, 0, 0]) == ([1.0, 0.0, 0.0], "COMP")
assert written(tradeoff=(0.6, 0.2, 0.2))[0] == [0.6, 0.2, 0.2]
try:
    set_params_defaults(tradeoff=0.1, nhards=-1)
except ValueError:
    assert tuned_for()[0] == [0.6, 0.2, 0.2], "a refused call changed something"
else:
    raise AssertionError("nhards=-1 is taken")
set_params_defaults(bandwidth=1024, cparams_hint=True, use_inference=3, models_dir="/models",
                    nwaits=1, nsofts=2, nhards=3, repeat_mode=RepeatMode.ALL)
params_defaults["tradeoff"] = 0.125
assert written() == ([0.125, 0.875, 0.0], "COMP")
""",
        python=wheel_python,
    )


def test_the_environment_wins_over_settings(wheel_python):
    support.run_python(
        WRITE
        + """
assert written(tradeoff=0.25) == ([0.75, 0.25, 0.0], "DECOMP")
assert written(perf_mode=PerformanceMode.BALANCED) == ([0.75, 0.25, 0.0], "BALANCED")
""",
        python=wheel_python,
        BTUNE_TRADEOFF="0.75",
        BTUNE_PERF_MODE="DECOMP",
    )


LAYOUT = """
#include <stddef.h>
#include <btune.h>
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
#define AT(type, field, offset) static_assert(offsetof(type, field) == offset, #field)
AT(btune_config, bandwidth, 0); AT(btune_config, perf_mode, 4); AT(btune_config, tradeoff, 8);
AT(btune_config, tradeoff_nelems, 20); AT(btune_config, behaviour, 24);
AT(btune_config, cparams_hint, 40); AT(btune_config, use_inference, 44);
AT(btune_config, models_dir, 48); static_assert(sizeof(btune_config) == 4144, "config");
AT(btune_behaviour, nwaits_before_readapt, 0); AT(btune_behaviour, nsofts_before_hard, 4);
AT(btune_behaviour, nhards_before_stop, 8); AT(btune_behaviour, repeat_mode, 12);
AT(btune_record, nchunks, 0); AT(btune_record, codec, 8); AT(btune_record, codec_meta, 9);
AT(btune_record, clevel, 10); AT(btune_record, splitmode, 11); AT(btune_record, filters, 12);
AT(btune_record, filters_meta, 18); AT(btune_record, blocksize, 24);
AT(btune_record, nthreads, 28); AT(btune_record, perf_mode, 30); AT(btune_record, origin, 31);
AT(btune_record, tradeoff, 32); static_assert(sizeof(btune_record) == 48, "record");
static_assert(BTUNE_PERF_COMP == 0 && BTUNE_PERF_DECOMP == 1, "modes");
static_assert(BTUNE_PERF_BALANCED == 2 && BTUNE_PERF_AUTO == 3, "modes");
static_assert(BTUNE_STOP == 0 && BTUNE_REPEAT_SOFT == 1 && BTUNE_REPEAT_ALL == 2, "repeat");
static_assert(BTUNE_MBPS == 1024 && BTUNE_GBPS == 1024 * 1024, "bandwidth");
int main(void) {
  btune_config config = BTUNE_CONFIG_DEFAULTS;
  return config.tradeoff[0] == 0.5f && config.tradeoff_nelems == 1 && config.use_inference == -1
      && config.bandwidth == 20 * BTUNE_GBPS && config.behaviour.nhards_before_stop == 10
      && config.perf_mode == BTUNE_PERF_AUTO ? 0 : 1;
}
"""


@pytest.mark.parametrize("blosc2_is_there", [True, False])
@pytest.mark.parametrize(("compiler", "name"), [("gcc", "layout.c"), ("g++", "layout.cpp")])
def test_the_header_compiles(wheel_python, tmp_path, compiler, name, blosc2_is_there):
    code = "import blosc2_btune; print(blosc2_btune.get_include())"
    include = support.run_python(code, python=wheel_python).stdout.strip()
    theirs = Path(blosc2.__file__).parent / "include"
    source, program = tmp_path / name, tmp_path / "layout"
    source.write_text(LAYOUT)
    # Optimised, so that inline functions of blosc2.h that are not called need no library.
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-I", include]
    flags += ["-isystem", theirs] if blosc2_is_there else []
    support.run([compiler, *flags, source, "-o", program])
    support.run([program])


def test_what_the_wheel_brings(wheel_python, package):
    site = package.parent
    libraries = sorted(str(path.relative_to(site)) for path in site.glob("*/**/*.so"))
    ours = [path for path in libraries if "btune" in path]
    assert ours == [
        "blosc2_btune/libblosc2_btune.so",
        "btune/libbtune_zarr.so",
        "btune/plugins/libh5btune.so",
    ]
    assert [path.name for path in (site / "btune" / "plugins").iterdir()] == ["libh5btune.so"]
    info = next(site.glob("btune-*.dist-info"))
    assert "Tag: py3-none-linux_x86_64\n" in (info / "WHEEL").read_text()
    metadata = (info / "METADATA").read_text().splitlines()
    needs = [line for line in metadata if line.startswith("Requires-Dist") and "extra" not in line]
    assert not needs, needs
    licences = {path.name for path in (info / "licenses").iterdir()}
    assert licences >= {"LICENSE-MIT", "LICENSE-APACHE"}
    text = "".join(path.read_text() for path in site.glob("*btune/*.py"))
    assert str(support.ROOT) not in text
    assert wheel_python.exists()


def test_a_library_that_is_missing_is_told_in_one_line(wheel_python, package, tmp_path):
    shutil.copytree(package, tmp_path / "blosc2_btune", ignore=shutil.ignore_patterns("*.so"))
    code = "import sys; sys.path.insert(0, sys.argv[1]); import blosc2_btune"
    done = support.run_python(code, tmp_path, python=wheel_python, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: btune's library cannot be loaded: "), done.stderr
    assert "libblosc2_btune.so" in last


def test_a_wheel_is_not_built_without_libraries(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    env = support.clean_env(BTUNE_LIBS=tmp_path)
    done = support.run(command, env=env, cwd=support.ROOT / "python", check=False)
    assert done.returncode == 1
    missing = f"btune: {tmp_path / 'libblosc2_btune.so'} is missing: "
    assert [line for line in done.stderr.splitlines() if line.startswith(missing)], done
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
