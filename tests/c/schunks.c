/* Super-chunks in all variants of the configuration: schunks DATA STEP CHUNKS
   takes each STEP-th of the 120 variants, and writes and checks CHUNKS chunks in it. */
#include <btune.h>

#include "common.h"

static const float TRADEOFFS[] = {0.0f, 0.1f, 0.5f, 0.9f, 1.0f};
#define VARIANTS (4 * 5 * 2 * 3)

static btune_config variant(int number) {
  btune_config config = BTUNE_CONFIG_DEFAULTS;
  config.perf_mode = (btune_performance_mode)(number % 4);
  config.tradeoff[0] = TRADEOFFS[number / 4 % 5];
  config.cparams_hint = number / 20 % 2 == 1;
  config.behaviour.repeat_mode = (btune_repeat_mode)(number / 40);
  /* A short search: so its end and what comes after it are seen too. */
  config.behaviour.nhards_before_stop = 2;
  config.behaviour.nsofts_before_hard = 1;
  config.behaviour.nwaits_before_readapt = (uint32_t)(number % 2);
  return config;
}

/* The runs of the record are in the order of the chunks and add up to all of them. */
static void check_record(const blosc2_schunk *schunk, const btune_config *config, int chunks) {
  btune_record *runs = (btune_record *)calloc((size_t)chunks, sizeof(btune_record));
  CHECK(runs != NULL);
  int n = btune_get_record(schunk->cctx, runs, chunks);
  CHECK(n >= 1 && n <= chunks);
  uint64_t total = 0;
  for (int i = 0; i < n; i++) {
    total += runs[i].nchunks;
    CHECK(runs[i].nchunks >= 1);
    CHECK(runs[i].tradeoff[0] == config->tradeoff[0]);
    CHECK(config->perf_mode == BTUNE_PERF_AUTO || runs[i].perf_mode == config->perf_mode);
    CHECK(runs[i].clevel <= 9);
  }
  CHECK(total == (uint64_t)chunks);
  CHECK(btune_get_schunk_record(schunk, runs, chunks) == n);
  CHECK(btune_get_record(schunk->cctx, NULL, 0) == n);
  CHECK(btune_get_record(schunk->dctx, runs, chunks) < 0);
  free(runs);
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  buffer data = read_file(argv[1]);
  int step = atoi(argv[2]), chunks = atoi(argv[3]), count = 0;
  blosc2_init();
  for (int number = 0; number < VARIANTS; number += step, count++) {
    btune_config config = variant(number);
    blosc2_schunk *schunk = new_tuned(&config, 1);
    append_chunks(schunk, data, 0, chunks);
    check_record(schunk, &config, chunks);
    for (int n = 0; n < chunks; n++) check_chunk(schunk, data, n, n);
    blosc2_schunk_free(schunk);
  }
  blosc2_destroy();
  free(data.bytes);
  printf("%d variants\n", count);
  return 0;
}
