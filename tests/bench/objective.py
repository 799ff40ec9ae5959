"""What a tuner minimises, of the sums of a run: bytes in and out, seconds to compress and back."""

import math

# How much size weighs: at a tradeoff of 0.5, 10 % of it is worth about 25 % of time.
K = 2.5
# Compressed bytes travel at 20 GiB/s, and the way there counts as time.
BANDWIDTH = 20 << 30
# What saves less than 3 % is as good as stored.
FLOOR = 1.03


def ratio(sums):
    """Bytes in over bytes out."""
    return sums["nbytes"] / sums["cbytes"]


def speed(sums, mode):
    """GiB per second of the time that counts."""
    return sums["nbytes"] / _seconds(sums, mode) / (1 << 30)


def cost(sums, tradeoff, mode):
    """J: the logarithm of the weighted geometric mean of seconds per byte and of 1 / ratio."""
    time, size = 1 - tradeoff, K * tradeoff
    seconds = _seconds(sums, mode) + sums["cbytes"] / BANDWIDTH
    per_byte = math.log(seconds / sums["nbytes"])
    return (time * per_byte - size * math.log(ratio(sums))) / (time + size)


def must_save(ratios, tradeoff):
    """Whether it is wrong to save less than 3 %: above 0 it is, where something saves more."""
    return tradeoff > 0 and max(ratios) >= FLOOR


def admissible(ratios, tradeoff):
    """For each ratio, whether it may be chosen."""
    floor = FLOOR if must_save(ratios, tradeoff) else 0
    return [r >= floor for r in ratios]


def _seconds(sums, mode):
    times = {"COMP": ("ctime",), "DECOMP": ("dtime",), "BALANCED": ("ctime", "dtime")}
    return sum(sums[name] for name in times[mode])
