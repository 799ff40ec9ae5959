"""What the chunks of a super-chunk were compressed with."""

from ._header import read_header
from ._library import Record, schunk_records
from ._runs import SPECIAL, describe, run_lengths

NAME = "btune"


def record(schunk, store=True):
    """Lists what the chunks of a blosc2 SChunk or NDArray were compressed with.

    Each entry stands for `chunks` alike in a row. What is stored decides; the level, the threads,
    the tradeoff and the origin are those of the tuner, and None where it cannot tell (as for a
    file that was opened again). With `store` the list is kept in `schunk.vlmeta["btune"]`.
    """
    schunk = getattr(schunk, "schunk", schunk)
    if not hasattr(schunk, "get_lazychunk"):
        raise TypeError(f"a blosc2.SChunk or NDArray is needed, not {type(schunk).__name__}")
    if store and schunk.urlpath is not None and schunk.mode == "r":
        raise ValueError(f"{schunk.urlpath} is open for reading only: use record(…, store=False)")
    headers = [read_header(schunk.get_lazychunk(i)) for i in range(schunk.nchunks)]
    runs = run_lengths(_descriptions(headers, _tuned(schunk)))
    if store:
        schunk.vlmeta[NAME] = runs
    return runs


def _tuned(schunk):
    """The record of the tuner for each chunk that it has seen, in the order of compression."""
    runs = schunk_records(schunk.c_schunk)
    # A count beyond the chunks there are says that the runs are not of these: see _descriptions.
    most = schunk.nchunks + 1
    return [run for run in runs for _ in range(min(run.nchunks, most))]


def _descriptions(headers, tuned):
    """What each header says, completed by the tuner if all of its records are of these chunks."""
    known = len(headers) == len(tuned) and all(map(_agree, headers, tuned))
    if not known:
        return [describe(header, False) if header else SPECIAL for header in headers]
    return [
        describe(_completed(header, run), True) if header else SPECIAL
        for header, run in zip(headers, tuned, strict=True)
    ]


def _agree(header, run):
    """Whether the chunk of this header can be the one of this record."""
    # The tuner's parameters left no mark on chunks of one value, nor on those that are stored.
    return header is None or header.clevel == 0 or (run.clevel > 0 and _made(header) == _made(run))


def _made(record):
    """What both a header and the tuner know."""
    filters = bytes(record.filters), bytes(record.filters_meta)
    return record.codec, record.codec_meta, *filters, record.splitmode, record.blocksize


def _completed(header, run):
    """The record of the tuner, of a chunk that may have been stored in spite of it."""
    completed = Record.from_buffer_copy(run)
    completed.blocksize = header.blocksize
    if header.clevel == 0:
        completed.clevel = 0
    return completed
