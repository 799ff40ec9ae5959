/* Compresses a file with C-Blosc2 and btune:

     gcc btune_example.c -o btune_example -lblosc2_btune -lblosc2
     ./btune_example relief.f32 4            # 4: bytes of an item, as of float32

   add -I and -L for the folders of btune.h and libblosc2_btune.so if your compiler does not look
   there, and -Wl,-rpath for the latter (or set LD_LIBRARY_PATH) if your system does not. */

#include <blosc2.h>
#include <btune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (256 * 1024)

static const char *const CODECS[] = {"blosclz", "lz4", "lz4hc", "?", "zlib", "zstd"};

/* Appends the file in chunks; the number of bytes, or negative on failure. */
static int64_t append_file(blosc2_schunk *schunk, FILE *file, int32_t typesize) {
  int32_t chunk_bytes = CHUNK_BYTES / typesize * typesize;
  uint8_t *chunk = (uint8_t *)malloc((size_t)chunk_bytes);
  size_t got;
  while (chunk != NULL && (got = fread(chunk, 1, (size_t)chunk_bytes, file)) > 0) {
    if (blosc2_schunk_append_buffer(schunk, chunk, (int32_t)got) < 0) break;
  }
  free(chunk);
  return feof(file) ? schunk->nbytes : -1;
}

/* Whether the super-chunk holds what is in the file. */
static bool same_as_file(blosc2_schunk *schunk, FILE *file) {
  uint8_t *stored = (uint8_t *)malloc(CHUNK_BYTES), *wanted = (uint8_t *)malloc(CHUNK_BYTES);
  bool same = stored != NULL && wanted != NULL;
  for (int64_t i = 0; same && i < schunk->nchunks; i++) {
    int n = blosc2_schunk_decompress_chunk(schunk, i, stored, CHUNK_BYTES);
    same = n > 0 && fread(wanted, 1, (size_t)n, file) == (size_t)n &&
           memcmp(stored, wanted, (size_t)n) == 0;
  }
  free(stored);
  free(wanted);
  return same && fgetc(file) == EOF;
}

/* What the tuner chose: each row is a run of chunks with the same parameters. */
static void print_choices(const blosc2_schunk *schunk) {
  btune_record runs[64];
  int count = btune_get_record(schunk->cctx, runs, 64);
  printf("%6s  %-8s %5s  %-14s %10s\n", "chunks", "codec", "level", "filters", "block size");
  for (int i = 0; i < count && i < 64; i++) {
    char filters[32] = "";
    size_t used = 0;
    for (int f = 0; f < 6; f++) {
      if (runs[i].filters[f] == 0) continue;
      used += (size_t)snprintf(filters + used, sizeof filters - used, "%d ", runs[i].filters[f]);
    }
    printf("%6d  %-8s %5d  %-14s %10d\n", (int)runs[i].nchunks,
           runs[i].codec < 6 ? CODECS[runs[i].codec] : "?", runs[i].clevel, filters,
           (int)runs[i].blocksize);
  }
}

int main(int argc, char **argv) {
  int typesize = argc == 3 ? atoi(argv[2]) : 0;
  FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || typesize < 1 || typesize > 255) {
    fprintf(stderr, "usage: %s FILE TYPESIZE\n", argv[0]);
    return 2;
  }
  blosc2_init();

  btune_config config = BTUNE_CONFIG_DEFAULTS;
  config.tradeoff[0] = 0.5f; /* between 0 (speed) and 1 (size) */
  config.perf_mode = BTUNE_PERF_COMP;

  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.tuner_id = BLOSC_BTUNE;
  cparams.tuner_params = &config;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;

  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  bool good = schunk != NULL && append_file(schunk, file, typesize) > 0;
  if (good) {
    rewind(file);
    good = same_as_file(schunk, file);
    printf("%lld bytes in %lld, ratio %.2f, %s\n", (long long)schunk->nbytes,
           (long long)schunk->cbytes, (double)schunk->nbytes / (double)schunk->cbytes,
           good ? "read back the same" : "NOT the same when read back");
    print_choices(schunk);
  }
  if (schunk != NULL) blosc2_schunk_free(schunk);
  fclose(file);
  blosc2_destroy();
  return good ? 0 : 1;
}
