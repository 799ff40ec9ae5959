"""The cases of abi/host.py in a wheel of each layout of the context; `make test-abi` has more."""

import sys
from importlib.metadata import version

import pytest
from abi import matrix

HERE = version("blosc2")
HOSTS = {"4.0.0": matrix.python, HERE: lambda _: sys.executable}
CASES = matrix.cases(sys.executable)


def test_both_layouts_are_tested():
    assert {matrix.WHEELS[name][0] for name in HOSTS} == {2, 3}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("host", HOSTS)
def test_case(host, case, plugin_library):
    fault = matrix.run(HOSTS[host](host), case, plugin_library)
    assert not fault, fault
