"""The measured part of the bench of regret: `schunks.py TASK`, a process of python-blosc2.

The task and the answer, on stdout, are JSON: a sequence of chunks, and what they are compressed
with, for each of which the sums over the chunks are answered.
"""

import json
import os
import sys
import time

import blosc2
import numpy as np
import support

CODECS = {
    "blosclz": blosc2.Codec.BLOSCLZ,
    "lz4": blosc2.Codec.LZ4,
    "lz4hc": blosc2.Codec.LZ4HC,
    "zlib": blosc2.Codec.ZLIB,
    "zstd": blosc2.Codec.ZSTD,
}
# Blosc2 leaves bytedelta out of fixed parameters where elements are of one byte; a tuner can have
# it there, and so be better than all of them.
FILTERS = {
    "nofilter": [blosc2.Filter.NOFILTER],
    "shuffle": [blosc2.Filter.SHUFFLE],
    "bitshuffle": [blosc2.Filter.BITSHUFFLE],
    "bytedelta": [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA],
}
SPLITS = {"always": blosc2.SplitMode.ALWAYS_SPLIT, "never": blosc2.SplitMode.NEVER_SPLIT}
TUNED = {"tuner": blosc2.Tuner.BTUNE}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = CLOCKS[os.environ.get("BENCH_CLOCK", "wall")]


def cparams(parameters, typesize):
    """What python-blosc2 is given for fixed parameters; none: the tuner."""
    common = {"typesize": typesize, "nthreads": 1}
    if parameters is None:
        return common | TUNED
    filters = FILTERS[parameters["filter"]]
    return common | {
        "codec": CODECS[parameters["codec"]],
        "clevel": parameters["clevel"],
        "filters": filters,
        "filters_meta": [typesize if f == blosc2.Filter.BYTEDELTA else 0 for f in filters],
        "splitmode": SPLITS[parameters["split"]],
        "blocksize": parameters.get("block", 0),
    }


def sequence(array, count, nbytes):
    """So many chunks of so many bytes: an array from its beginning to its end, over and over."""
    return np.resize(np.ascontiguousarray(array).reshape(-1).view("u1"), (count, nbytes))


def empty_schunk(nbytes, options):
    """A super-chunk for chunks of so many bytes."""
    return blosc2.SChunk(chunksize=nbytes, cparams=options, dparams={"nthreads": 1})


def append(schunk, chunk):
    """Seconds to append a chunk."""
    source = chunk.copy()  # as fresh in the cache as what a program has just computed
    start = clock()
    schunk.append_data(source)
    seconds = clock() - start
    if not np.array_equal(source, chunk):
        raise SystemExit("the source was changed")
    return seconds


def decompress(schunk, i, chunk, buffer):
    """Seconds to decompress the chunk at `i`, which must be as it was."""
    start = clock()
    schunk.decompress_chunk(i, dst=buffer)
    seconds = clock() - start
    if not np.array_equal(buffer, chunk):
        raise SystemExit("what came back is not what was compressed")
    return seconds


def costs(chunks, options):
    """For each chunk bytes in and out, seconds each way, and whether it is stored as it was."""
    schunk = empty_schunk(chunks.shape[1], options)
    ctimes = [append(schunk, chunk) for chunk in chunks]
    buffer = np.empty_like(chunks[0])
    buffer[:] = 0  # its pages are there from now on
    dtimes = [decompress(schunk, i, chunk, buffer) for i, chunk in enumerate(chunks)]
    before = np.full(len(chunks), chunks.shape[1])
    after = np.array([len(schunk.get_chunk(i)) for i in range(len(chunks))])
    return np.array([before, after, ctimes, dtimes, after >= before]).T


def sums(each):
    """Over the chunks."""
    names = ("nbytes", "cbytes", "ctime", "dtime", "raw")
    return dict(zip(names, each.sum(axis=0).tolist(), strict=True))


def main():
    task = json.loads(sys.argv[1])
    array = support.load(task["file"])
    chunks = sequence(array, task["chunks"], task["chunk"])
    if picks := task.get("picks"):
        chunks = chunks[picks]
    if None in task["parameters"]:
        import blosc2_btune  # noqa: F401  as a program does that wants to be tuned
    answers = []
    for parameters in task["parameters"]:
        options = cparams(parameters, array.itemsize)
        # Picked chunks are measured twice, and the better time counts: the first has to warm up.
        passes = 2 if picks else 1
        each = costs(np.concatenate([chunks] * passes), options)
        answers.append(sums(each.reshape(passes, len(chunks), -1).min(axis=0)))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
