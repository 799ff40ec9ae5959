"""What the header of a Blosc chunk says it was compressed with."""

from ._library import UNKNOWN_LEVEL, Record

HEADER_BYTES = 32
# Both shuffle flags together: the header is the longer one of Blosc2.
_SHUFFLE, _STORED, _BITSHUFFLE, _UNSPLIT = 0x01, 0x02, 0x04, 0x10
_EXTENDED = _SHUFFLE | _BITSHUFFLE
# The codecs by their number in the flags; 6 is a codec whose code is in the longer header.
_CODECS = {0: 0, 1: 1, 3: 4, 4: 5}
_LZ4, _LZ4HC = 1, 2


def read_header(chunk):
    """What `chunk`, of which the first 32 bytes are looked at, was compressed with.

    None for a chunk of one repeated value. The level is in no header.
    """
    header = bytes(chunk[:HEADER_BYTES])
    flags = header[2]
    extended = flags & _EXTENDED == _EXTENDED
    if extended and header[31] >> 4 & 7:
        return None
    record = Record(
        nchunks=1,
        codec=_CODECS.get(flags >> 5, header[22] if extended else 0),
        clevel=0 if flags & _STORED else UNKNOWN_LEVEL,
        splitmode=2 if flags & _UNSPLIT else 1,
        blocksize=int.from_bytes(header[8:12], "little"),
    )
    if not extended:
        record.filters[5] = 1 if flags & _SHUFFLE else 2 if flags & _BITSHUFFLE else 0
        return record
    if record.codec == _LZ4 and header[22] == _LZ4HC:
        record.codec = _LZ4HC
    record.codec_meta = header[23]
    record.filters[:] = header[16:22]
    record.filters_meta[:] = header[24:30]
    return record
