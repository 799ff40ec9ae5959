"""README's commands are run as they stand, from top to bottom, in one shell; and the demo.

Every ```sh and ```python block is run, but for those after `<!-- not run: … -->`.
"""

import os
import re
import sys

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

BLOCK = re.compile(r"(<!-- not run: [^\n]*-->\n)?^```(sh|python)\n(.*?)^```$", re.M | re.S)

# `$PWD` is a scratch folder that looks like the checkout; cargo works in the real one.
PRELUDE = """
set -euo pipefail
cargo() { command cargo "$1" --manifest-path "$CHECKOUT/Cargo.toml" "${@:2}"; }
"""


def script(text):
    """README as one shell script."""
    parts = [PRELUDE]
    for skipped, kind, code in BLOCK.findall(text):
        if not skipped:
            parts.append(code if kind == "sh" else f"python - <<'EOF'\n{code}EOF\n")
    return "\n".join(parts)


def test_every_command_of_the_readme_works(tmp_path, wheel_python):
    text = (support.ROOT / "README.md").read_text()
    blocks = BLOCK.findall(text)
    assert len(blocks) >= 6
    assert sum(bool(skipped) for skipped, _, _ in blocks) <= 3

    for name in ("dist", "examples", ".venv"):
        (tmp_path / name).symlink_to(support.ROOT / name)
    path = os.pathsep.join([str(wheel_python.parent), os.environ["PATH"]])
    env = support.clean_env(PATH=path, CHECKOUT=support.ROOT)
    done = support.run(["bash", "-c", script(text)], env=env, cwd=tmp_path, timeout=600)
    assert "[[-3401. -3398. -3395.]" in done.stdout


def test_the_demo_prints_a_line_for_every_array_and_setting():
    demo = [sys.executable, support.ROOT / "examples" / "hdf5_tune.py", "--rounds", "1"]
    lines = support.run(demo).stdout.splitlines()
    rows = [line for line in lines if re.search(r" (stock|0\.[159]) +[\d.]+ +\d+ +\d+  \w", line)]
    assert len(rows) == 4 * len(support.sample_paths())
    assert sum(line.startswith("tradeoff 0.") for line in lines) == 3
