"""The first value of filter 32026, in whose upper bits is what a dataset is tuned for."""

FILTER_ID = 32026
PERF_MODES = ("COMP", "DECOMP", "BALANCED")

_REVISION = 1
_TUNED = 1 << 8
_MODE_AT, _MODE_MASK = 9, 0b11
_TRADEOFF_AT, _TRADEOFF_MASK = 11, 0x7F


def pack(tradeoff, perf_mode):
    """The value for a tradeoff, which is rounded to per cents, and the name of a mode."""
    mode = PERF_MODES.index(perf_mode) << _MODE_AT
    return _REVISION | _TUNED | mode | round(tradeoff * 100) << _TRADEOFF_AT


def unpack(value):
    """Tradeoff and mode of a value, both None where it asks for no tuning."""
    mode = value >> _MODE_AT & _MODE_MASK
    percent = value >> _TRADEOFF_AT & _TRADEOFF_MASK
    valid = value & 0xFF == _REVISION and mode < len(PERF_MODES) and percent <= 100
    return (percent / 100, PERF_MODES[mode]) if valid and value & _TUNED else (None, None)
