"""The plugin under programs in C: a static C-Blosc2, memory checkers, threads, fork, copies."""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import support

SOURCES = support.ROOT / "tests" / "c"
EXAMPLE = support.ROOT / "examples" / "btune_example.c"
INCLUDE = support.ROOT / "cplugin" / "include"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COMPILERS = {"c": "cc", "c++": "c++"}
STANDARDS = {"c": "c99", "c++": "c++17"}
C99 = ["-std=c99", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS]
SYSTEM = ["-lpthread", "-ldl", "-lm"]


def newest(paths, what):
    """The file of `paths` that was written last."""
    found = sorted(paths, key=lambda p: p.stat().st_mtime)
    assert found, f"{what} not found: run `make build`"
    return found[-1]


def static_blosc2():
    """The C-Blosc2 that cargo has built for the plugin itself."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", support.ROOT / "target"))
    pattern = "release/build/blosc2-rs-sys-*/out/*/lib/libblosc2.a"
    return newest(target.glob(pattern), "libblosc2.a")


def program_of(name, package):
    """A program of the system, which these tests do not do without."""
    found = shutil.which(name)
    assert found, f"{name} is missing: install the package {package}"
    return found


@dataclass(frozen=True)
class Lab:
    """A folder of compiled programs, the plugin they use, and their data."""

    folder: Path
    plugin: Path
    blosc2: Path
    data: Path

    @property
    def include(self):
        """Where blosc2.h is: installed beside the library."""
        return self.blosc2.parent.parent / "include"

    def compile(self, out, *words, cc="cc", include=None):
        """Runs the compiler with the headers of the plugin and of a C-Blosc2."""
        headers = ["-isystem", include or self.include, "-I", INCLUDE]
        support.run([program_of(cc, "gcc or g++"), *headers, *words, "-o", self.folder / out])
        return self.folder / out

    def program(self, name, *flags, sources=(), plugin=False):
        """Builds NAME.c and others with the static C-Blosc2; `plugin` links our library too."""
        files = [SOURCES / f"{source}.c" for source in (name, *sources)]
        linked = ["-L", self.plugin.parent, "-lblosc2_btune"] if plugin else []
        out = "-".join([name, *(re.sub(r"\W", "", flag) for flag in flags)])
        return self.compile(out, *C99, *flags, *files, self.blosc2, *linked, *SYSTEM)

    def standard(self, source, language):
        """Builds a source by the letter of C99 or C++17, linked with our library."""
        flags = [f"-std={STANDARDS[language]}", *WARNINGS, "-x", language, source, "-x", "none"]
        link = ["-L", self.plugin.parent, "-lblosc2_btune", self.blosc2, *SYSTEM]
        return self.compile(f"{source.stem}-{language}", *flags, *link, cc=COMPILERS[language])

    def shared(self, out, *blosc2, include=None):
        """Builds a shared library of copy.c and the C-Blosc2 that the words `blosc2` link."""
        words = [*C99, "-fPIC", "-shared", SOURCES / "copy.c", *blosc2, *SYSTEM]
        return self.compile(out, *words, include=include)

    def run(self, *command, check=True, **env):
        """Runs a program as a user of C does: the library's folder is in LD_LIBRARY_PATH."""
        environment = support.clean_env(LD_LIBRARY_PATH=self.plugin.parent, **env)
        return support.run(command, env=environment, check=check)


@pytest.fixture(scope="module")
def lab(plugin_library, arrays, tmp_path_factory):
    """Where C programs are built and run."""
    folder = tmp_path_factory.mktemp("c")
    data = folder / "relief.f32"
    arrays["relief_etopo5_f32"].tofile(data)
    return Lab(folder, Path(plugin_library).resolve(), static_blosc2(), data)


def rows_of(done):
    """The rows of the trace on stderr, on which nothing else was printed but whole rows."""
    lines = [line for line in done.stderr.splitlines() if line]
    assert lines, "nothing was traced: the plugin was not used"
    return [json.loads(line) for line in lines]


# The interface ------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["c", "c++"])
def test_programs_written_for_the_original_compile_and_link(lab, language):
    done = lab.run(lab.standard(SOURCES / "abi.c", language))
    # Five settings are refused, each with a line that says why.
    assert len(done.stderr.splitlines()) == 5, done.stderr


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_example_tunes_with_a_static_blosc2(lab, language):
    program = lab.standard(EXAMPLE, language)
    needed = support.run(["ldd", program]).stdout
    assert "libblosc2.so" not in needed
    done = lab.run(program, lab.data, 4)
    assert "read back the same" in done.stdout
    assert float(re.search(r"ratio ([\d.]+)", done.stdout)[1]) > 1.5, done.stdout
    runs = [line.split() for line in done.stdout.splitlines()[2:]]
    chunks = lab.data.stat().st_size // (256 * 1024)
    assert sum(int(run[0]) for run in runs) == chunks, done.stdout
    assert all(run[1] in {"blosclz", "lz4", "lz4hc", "zlib", "zstd"} for run in runs)


def test_contexts_of_unknown_layout_are_refused(lab):
    lab.run(lab.program("layout", plugin=True))


# Memory -------------------------------------------------------------------------------------

# Coprime to the numbers of values: all values of all settings occur.
FEW_VARIANTS = 7


def valgrind(lab, *command):
    """Runs a program under memcheck; its log. An error or a lost block fails."""
    log = lab.folder / "valgrind.log"
    options = ["--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite"]
    options += ["--errors-for-leak-kinds=definite", f"--log-file={log}"]
    done = lab.run(program_of("valgrind", "valgrind"), *options, *command, check=False)
    text = log.read_text()
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"
    return text


def in_use_at_exit(log):
    """How many bytes a program under valgrind had not freed when it ended."""
    return int(re.search(r"in use at exit: ([\d,]+) bytes", log)[1].replace(",", ""))


def test_every_variant_of_the_configuration(lab):
    program = lab.program("schunks", plugin=True)
    assert lab.run(program, lab.data, 1, 30).stdout == "120 variants\n"


def test_valgrind_finds_nothing(lab):
    program = lab.program("schunks", plugin=True)
    # C-Blosc2 with its codecs is clean by itself: nothing needs to be suppressed.
    log = valgrind(lab, program, lab.data, FEW_VARIANTS, 10)
    assert "ERROR SUMMARY: 0 errors" in log


def test_the_address_sanitizer_finds_nothing(lab):
    library = support.run(["cc", "-print-file-name=libasan.so"]).stdout.strip()
    assert Path(library).is_absolute(), "gcc's libasan is missing: install its package"
    program = lab.program("schunks", "-fsanitize=address", plugin=True)
    done = lab.run(program, lab.data, 1, 15, ASAN_OPTIONS="detect_leaks=1")
    assert done.stderr == ""


def test_memory_does_not_grow_with_the_chunks(lab):
    program = lab.program("growth")
    few, many = (lab.run(program, lab.data, n).stdout.split() for n in (100, 1000))
    for after_few, after_many in zip(few, many, strict=True):
        assert int(after_many) - int(after_few) < 1024, (few, many)


def test_nothing_is_kept_for_the_chunks(lab):
    program = lab.program("growth")
    # By then all kinds of data have been met, and most parameters that are ever tried.
    few, many = (in_use_at_exit(valgrind(lab, program, lab.data, n)) for n in (1500, 3000))
    assert many - few < 64 * 1024, (few, many)


# Contexts, threads, processes, copies -------------------------------------------------------


def test_contexts_of_one_chunk_go_on_with_the_search(lab):
    program = lab.program("one_shot")
    rows = rows_of(lab.run(program, lab.data, BTUNE_TRACE="json"))
    numbers = [row["chunk"] for row in rows]
    assert len({row["dataset"] for row in rows}) == 1
    assert numbers == sorted(set(numbers))
    assert numbers[-1] - numbers[0] >= 190, numbers[-1]


def test_a_context_costs_little(lab):
    median = float(lab.run(lab.program("one_shot"), lab.data).stdout)
    print(f"a context is made and freed in {median} microseconds")
    assert median <= 100


def test_eight_threads(lab):
    done = lab.run(lab.program("threads"), lab.data, BTUNE_TRACE="json")
    assert done.stdout == "200 super-chunks\n"
    assert len(rows_of(done)) > 1000


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fork_in_the_middle(lab, threads):
    done = lab.run(lab.program("fork"), lab.data, threads, BTUNE_TRACE="json")
    assert done.stdout == "both went on\n"
    assert len(rows_of(done)) >= 80


def test_two_copies_of_blosc2_in_one_process(lab):
    whole = ["-Wl,--whole-archive", lab.blosc2, "-Wl,--no-whole-archive"]
    copies = [lab.shared(f"libcopy{i}.so", *whole) for i in (1, 2)]
    program = lab.program("two_copies", sources=["copy"])
    for used in (copies, ["static", copies[0]], ["static", *copies]):
        done = lab.run(program, lab.data, *used, BTUNE_TRACE="json")
        assert done.stdout.split() == ["2"] * len(used)
        assert len(rows_of(done)) > 150 * len(used)


def test_two_versions_of_blosc2_in_one_process(lab):
    """The one linked in has contexts of the 2.x layout, python-blosc2's library of the 3.x one."""
    wheel = newest(support.ROOT.glob(".venv/lib/python*/site-packages/blosc2"), "python-blosc2")
    library = newest(wheel.glob("lib/libblosc2.so.*"), "python-blosc2's libblosc2")
    link = [library, f"-Wl,-rpath,{library.parent}"]
    version3 = lab.shared("libcopy3.so", *link, include=wheel / "include")
    program = lab.program("two_copies", sources=["copy"])
    done = lab.run(program, lab.data, "static", version3, BTUNE_TRACE="json")
    assert done.stdout.split() == ["2", "3"]
    assert len(rows_of(done)) > 300
