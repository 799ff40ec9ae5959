/* What the C programs share: chunks of real and other data, tuned super-chunks, checks. */
#ifndef BTUNE_TESTS_COMMON_H
#define BTUNE_TESTS_COMMON_H

#include <blosc2.h>
#include <blosc2/tuners-registry.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHUNK_BYTES
#define CHUNK_BYTES 32768
#endif

/* abort and not exit: it also ends a child that was forked, and the sanitizers show where. */
#define CHECK(holds)                                                       \
  do {                                                                     \
    if (!(holds)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
      abort();                                                             \
    }                                                                      \
  } while (0)

typedef struct {
  uint8_t *bytes;
  size_t length;
} buffer;

static inline buffer read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK(fseek(file, 0, SEEK_END) == 0);
  long length = ftell(file);
  CHECK(length >= 2 * CHUNK_BYTES);
  rewind(file);
  uint8_t *bytes = (uint8_t *)malloc((size_t)length);
  CHECK(bytes != NULL);
  CHECK(fread(bytes, 1, (size_t)length, file) == (size_t)length);
  fclose(file);
  buffer data = {bytes, (size_t)length};
  return data;
}

/* Chunk number n: mostly a window on the data, each at a place of its own; else noise or a constant. */
static inline void make_chunk(buffer data, int n, uint8_t *chunk) {
  if (n % 7 == 3) {
    uint32_t state = (uint32_t)n + 1;
    for (int i = 0; i < CHUNK_BYTES; i++) {
      state = state * 1664525u + 1013904223u;
      chunk[i] = (uint8_t)(state >> 24);
    }
  } else if (n % 7 == 5) {
    memset(chunk, n & 0xff, CHUNK_BYTES);
  } else {
    size_t places = (data.length - CHUNK_BYTES) / 4;
    memcpy(chunk, data.bytes + 4 * ((size_t)n * 4099 % places), CHUNK_BYTES);
  }
}

/* A super-chunk of 4-byte items that is tuned with `config` (NULL: the defaults). */
static inline blosc2_schunk *new_tuned(void *config, int16_t nthreads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.nthreads = nthreads;
  cparams.tuner_id = BLOSC_BTUNE;
  cparams.tuner_params = config;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  return schunk;
}

/* Appends the chunks first … last - 1; the tuner must leave the caller's buffer as it was. */
static inline void append_chunks(blosc2_schunk *schunk, buffer data, int first, int last) {
  uint8_t *source = (uint8_t *)malloc(CHUNK_BYTES), *copy = (uint8_t *)malloc(CHUNK_BYTES);
  CHECK(source != NULL && copy != NULL);
  for (int n = first; n < last; n++) {
    make_chunk(data, n, source);
    memcpy(copy, source, CHUNK_BYTES);
    CHECK(blosc2_schunk_append_buffer(schunk, source, CHUNK_BYTES) == schunk->nchunks);
    CHECK(memcmp(source, copy, CHUNK_BYTES) == 0);
  }
  free(source);
  free(copy);
}

/* Compares what chunk number `at` of the super-chunk holds with chunk number `n`. */
static inline void check_chunk(blosc2_schunk *schunk, buffer data, int at, int n) {
  uint8_t *want = (uint8_t *)malloc(CHUNK_BYTES), *got = (uint8_t *)malloc(CHUNK_BYTES);
  CHECK(want != NULL && got != NULL);
  make_chunk(data, n, want);
  CHECK(blosc2_schunk_decompress_chunk(schunk, at, got, CHUNK_BYTES) == CHUNK_BYTES);
  CHECK(memcmp(want, got, CHUNK_BYTES) == 0);
  free(want);
  free(got);
}

#endif
