/* growth DATA CHUNKS: compresses so many different chunks in one context, then so many more with a
   context for each, and prints the resident memory in KiB after each half. */
#include "common.h"

static long resident_kib(void) {
  FILE *status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  char line[256];
  long kib = -1;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  }
  fclose(status);
  CHECK(kib > 0);
  return kib;
}

static blosc2_context *new_context(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.tuner_id = BLOSC_BTUNE;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  return context;
}

static void compress(blosc2_context *context, buffer data, int n) {
  static uint8_t chunk[CHUNK_BYTES], packed[CHUNK_BYTES + BLOSC2_MAX_OVERHEAD];
  make_chunk(data, n, chunk);
  CHECK(blosc2_compress_ctx(context, chunk, CHUNK_BYTES, packed, sizeof packed) > 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  buffer data = read_file(argv[1]);
  int chunks = atoi(argv[2]);
  blosc2_init();
  blosc2_context *context = new_context();
  for (int n = 0; n < chunks; n++) compress(context, data, n);
  blosc2_free_ctx(context);
  long one = resident_kib();
  for (int n = 0; n < chunks; n++) {
    context = new_context();
    compress(context, data, chunks + n);
    blosc2_free_ctx(context);
  }
  printf("%ld %ld\n", one, resident_kib());
  blosc2_destroy();
  free(data.bytes);
  return 0;
}
