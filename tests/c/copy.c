/* One C-Blosc2 at work: writes what is tuned, and checks it. Compiled once for each copy of the
   library, against that copy's own header. */
#include "common.h"

#define SCHUNKS 10
#define CHUNKS 20

int work(const uint8_t *bytes, size_t length, int number);

static void super_chunks(buffer data, int number) {
  for (int i = 0; i < SCHUNKS; i++) {
    int first = (number * SCHUNKS + i) * CHUNKS;
    blosc2_schunk *schunk = new_tuned(NULL, 1);
    append_chunks(schunk, data, first, first + CHUNKS);
    for (int n = 0; n < CHUNKS; n++) check_chunk(schunk, data, n, first + n);
    blosc2_schunk_free(schunk);
  }
}

/* One context with chunks of many sizes: so the size of blocks changes from chunk to chunk, be it
   the tuner's choice (0) or given. */
static void sizes(buffer data, int32_t blocksize) {
  static const int32_t SIZES[] = {1 << 20, 1 << 14, 1 << 18, 1 << 16, 40, 300000, 1 << 12, 100004};
  size_t most = (size_t)SIZES[0];
  uint8_t *packed = (uint8_t *)malloc(most + BLOSC2_MAX_OVERHEAD), *got = (uint8_t *)malloc(most);
  CHECK(packed != NULL && got != NULL && data.length > most + 64);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = blocksize;
  cparams.tuner_id = BLOSC_BTUNE;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  for (int n = 0; n < 64; n++) {
    int32_t size = SIZES[n * 3 % 8];
    int32_t room = (int32_t)most + BLOSC2_MAX_OVERHEAD;
    int packed_bytes = blosc2_compress_ctx(context, data.bytes + n, size, packed, room);
    CHECK(packed_bytes > 0);
    CHECK(blosc2_decompress(packed, packed_bytes, got, size) == size);
    CHECK(memcmp(got, data.bytes + n, (size_t)size) == 0);
  }
  blosc2_free_ctx(context);
  free(packed);
  free(got);
}

int work(const uint8_t *bytes, size_t length, int number) {
  buffer data = {(uint8_t *)bytes, length};
  blosc2_init();
  super_chunks(data, number);
  sizes(data, 0);
  sizes(data, 8192);
  blosc2_destroy();
  return BLOSC2_VERSION_MAJOR;
}
