/* one_shot DATA: a context for every chunk, as blosc2_compress2 and HDF5's filter make them;
   prints the median of the microseconds that a context takes to make and to free. */
#include <time.h>

#include "common.h"

#define CONTEXTS 200

static double microseconds(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double one_context(buffer data, int n) {
  static uint8_t chunk[CHUNK_BYTES], packed[CHUNK_BYTES + BLOSC2_MAX_OVERHEAD], back[CHUNK_BYTES];
  make_chunk(data, n, chunk);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.tuner_id = BLOSC_BTUNE;

  double start = microseconds();
  blosc2_context *context = blosc2_create_cctx(cparams);
  double made = microseconds() - start;
  CHECK(context != NULL);
  int packed_bytes = blosc2_compress_ctx(context, chunk, CHUNK_BYTES, packed, sizeof packed);
  CHECK(packed_bytes > 0);
  start = microseconds();
  blosc2_free_ctx(context);
  double freed = microseconds() - start;

  CHECK(blosc2_decompress(packed, packed_bytes, back, CHUNK_BYTES) == CHUNK_BYTES);
  CHECK(memcmp(chunk, back, CHUNK_BYTES) == 0);
  return made + freed;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  buffer data = read_file(argv[1]);
  blosc2_init();
  double times[CONTEXTS];
  for (int n = 0; n < CONTEXTS; n++) times[n] = one_context(data, n);
  qsort(times, CONTEXTS, sizeof times[0], compare);
  printf("%.1f\n", times[CONTEXTS / 2]);
  blosc2_destroy();
  free(data.bytes);
  return 0;
}
