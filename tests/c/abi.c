/* The interface that programs were written and compiled against: C99 and C++17, checked while
   compiling where C99 can, else at the start. Links all exports. */
#include <btune.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The same declaration again and again; an array of -1 items does not compile. */
#define HOLDS(fact) extern char it_holds[(fact) ? 1 : -1]
#define AT(type, field, offset) HOLDS(offsetof(type, field) == (offset))

HOLDS(sizeof(btune_config) == 4144);
AT(btune_config, bandwidth, 0);
AT(btune_config, perf_mode, 4);
AT(btune_config, tradeoff, 8);
AT(btune_config, tradeoff_nelems, 20);
AT(btune_config, behaviour, 24);
AT(btune_config, cparams_hint, 40);
AT(btune_config, use_inference, 44);
AT(btune_config, models_dir, 48);
HOLDS(sizeof(((btune_config *)0)->models_dir) == 4096);
HOLDS(sizeof(((btune_config *)0)->cparams_hint) == sizeof(bool));

HOLDS(sizeof(btune_behaviour) == 16);
AT(btune_behaviour, nwaits_before_readapt, 0);
AT(btune_behaviour, nsofts_before_hard, 4);
AT(btune_behaviour, nhards_before_stop, 8);
AT(btune_behaviour, repeat_mode, 12);

HOLDS(sizeof(btune_performance_mode) == 4 && sizeof(btune_repeat_mode) == 4);
HOLDS(BTUNE_PERF_COMP == 0 && BTUNE_PERF_DECOMP == 1);
HOLDS(BTUNE_PERF_BALANCED == 2 && BTUNE_PERF_AUTO == 3);
HOLDS(BTUNE_STOP == 0 && BTUNE_REPEAT_SOFT == 1 && BTUNE_REPEAT_ALL == 2);
HOLDS(BTUNE_MBPS == 1024 && BTUNE_MBPS10 == 10 * 1024 && BTUNE_MBPS100 == 100 * 1024);
HOLDS(BTUNE_GBPS == 1048576 && BTUNE_GBPS10 == 10 * 1048576 && BTUNE_GBPS100 == 100 * 1048576);
HOLDS(BTUNE_TBPS == 1073741824);

HOLDS(sizeof(btune_record) == 48);
AT(btune_record, nchunks, 0);
AT(btune_record, codec, 8);
AT(btune_record, codec_meta, 9);
AT(btune_record, clevel, 10);
AT(btune_record, splitmode, 11);
AT(btune_record, filters, 12);
AT(btune_record, filters_meta, 18);
AT(btune_record, blocksize, 24);
AT(btune_record, nthreads, 28);
AT(btune_record, perf_mode, 30);
AT(btune_record, origin, 31);
AT(btune_record, tradeoff, 32);

/* A function of another type is an error (C++) or a warning that is made one (C). */
static int (*const INIT)(void *, blosc2_context *, blosc2_context *) = btune_init;
static int (*const OF_CONTEXT[])(blosc2_context *) = {btune_next_blocksize, btune_next_cparams,
                                                      btune_free};
static int (*const UPDATE)(blosc2_context *, double) = btune_update;
static int (*const SET_DEFAULTS)(uint32_t, btune_performance_mode, float *, int, bool, int,
                                 const char *, uint32_t, uint32_t, uint32_t,
                                 btune_repeat_mode) = set_params_defaults;
static void (*const REUSE)(bool) = btune_set_reuse_models;
static void (*const FREE_MODELS)(void) = btune_free_all_models;
static int (*const RECORD)(const blosc2_context *, btune_record *, int) = btune_get_record;
static int (*const SCHUNK_RECORD)(const blosc2_schunk *, btune_record *,
                                  int) = btune_get_schunk_record;
static int (*const READ_RECORD)(const void *, size_t, btune_record *) = btune_read_record;

/* What C-Blosc2 looks up; programs have no use for it. */
#ifdef __cplusplus
extern "C" {
#endif
extern tuner_info info;
#ifdef __cplusplus
}
#endif

#define EXPECT(holds)                            \
  do {                                           \
    if (!(holds)) {                              \
      fprintf(stderr, "not so: %s\n", #holds); \
      failures++;                                \
    }                                            \
  } while (0)

static float half[] = {0.5f, 0, 0}, more_than_one[] = {1.5f};

static int set(float *tradeoff, int count, int mode, int repeat) {
  return SET_DEFAULTS(BTUNE_GBPS, (btune_performance_mode)mode, tradeoff, count, false, 0, "", 0, 5,
                      10, (btune_repeat_mode)repeat);
}

int main(void) {
  int failures = 0;
  const btune_config defaults = BTUNE_CONFIG_DEFAULTS;
  EXPECT(defaults.bandwidth == 2 * BTUNE_GBPS10);
  EXPECT(defaults.perf_mode == BTUNE_PERF_AUTO);
  EXPECT(defaults.tradeoff[0] == 0.5f && defaults.tradeoff[1] == 0 && defaults.tradeoff[2] == 0);
  EXPECT(defaults.tradeoff_nelems == 1);
  EXPECT(defaults.behaviour.nwaits_before_readapt == 0);
  EXPECT(defaults.behaviour.nsofts_before_hard == 5);
  EXPECT(defaults.behaviour.nhards_before_stop == 10);
  EXPECT(defaults.behaviour.repeat_mode == BTUNE_STOP);
  EXPECT(!defaults.cparams_hint);
  EXPECT(defaults.use_inference == -1);
  EXPECT(strlen(defaults.models_dir) == 0);
  EXPECT((float)BTUNE_COMP_HSP == 0.1f);
  EXPECT((float)BTUNE_COMP_BALANCED == 0.5f);
  EXPECT((float)BTUNE_COMP_HCR == 0.9f);

  EXPECT(strcmp(info.init, "btune_init") == 0);
  EXPECT(strcmp(info.next_blocksize, "btune_next_blocksize") == 0);
  EXPECT(strcmp(info.next_cparams, "btune_next_cparams") == 0);
  EXPECT(strcmp(info.update, "btune_update") == 0);
  EXPECT(strcmp(info.free, "btune_free") == 0);

  /* Through the pointers, so that each is linked; what is not tuned has no record. */
  btune_record record;
  EXPECT(INIT != NULL && UPDATE != NULL && OF_CONTEXT[0] != NULL && OF_CONTEXT[2] != NULL);
  EXPECT(RECORD(NULL, &record, 1) < 0);
  EXPECT(SCHUNK_RECORD(NULL, &record, 1) < 0);
  EXPECT(READ_RECORD("not a chunk", 11, &record) < 0);
  EXPECT(set(half, 1, 0, 0) == 0);
  /* All that is refused is explained: a line each on stderr, five in all. */
  EXPECT(set(more_than_one, 1, 0, 0) < 0);
  EXPECT(set(NULL, 1, 0, 0) < 0);
  EXPECT(set(half, 2, 0, 0) < 0);
  EXPECT(set(half, 1, 7, 0) < 0);
  EXPECT(set(half, 1, 0, 7) < 0);
  REUSE(true);
  REUSE(false);
  FREE_MODELS();
  FREE_MODELS();
  return failures;
}
