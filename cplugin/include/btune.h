// The tuner BLOSC_BTUNE of C-Blosc2. Made by cbindgen from the crate `blosc2_btune`: change it there.

#ifndef BTUNE_H
#define BTUNE_H


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __has_include
#if __has_include(<blosc2.h>)
#include <blosc2.h>
#include <blosc2/tuners-registry.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef BLOSC_BLOSC2_H
typedef struct blosc2_context_s blosc2_context;
typedef struct blosc2_schunk blosc2_schunk;
#endif

// Bandwidths in kB/s.
enum {
  BTUNE_MBPS = 1024,
  BTUNE_MBPS10 = 10 * BTUNE_MBPS,
  BTUNE_MBPS100 = 100 * BTUNE_MBPS,
  BTUNE_GBPS = 1024 * BTUNE_MBPS,
  BTUNE_GBPS10 = 10 * BTUNE_GBPS,
  BTUNE_GBPS100 = 100 * BTUNE_GBPS,
  BTUNE_TBPS = 1024 * BTUNE_GBPS,
};

// Tradeoffs: speed, balance, ratio.
#define BTUNE_COMP_HSP 0.1
#define BTUNE_COMP_BALANCED 0.5
#define BTUNE_COMP_HCR 0.9

// Which time counts: compression, decompression, their sum; AUTO: what the environment says.
typedef enum {
  BTUNE_PERF_COMP,
  BTUNE_PERF_DECOMP,
  BTUNE_PERF_BALANCED,
  BTUNE_PERF_AUTO,
} btune_performance_mode;

// What happens when all readapts have been made: the best parameters stay; soft readapts go on; all of it
// starts again.
typedef enum {
  BTUNE_STOP,
  BTUNE_REPEAT_SOFT,
  BTUNE_REPEAT_ALL,
} btune_repeat_mode;

#ifdef __cplusplus
}  // extern "C"
#endif

// What chunks in a row were compressed with. The codes are those of `blosc2.h`.
typedef struct {
  // How many chunks in a row.
  uint64_t nchunks;
  // The codec.
  uint8_t codec;
  // Codec metadata.
  uint8_t codec_meta;
  // The level; 0: stored; 255: not known.
  uint8_t clevel;
  // `BLOSC_ALWAYS_SPLIT` or `BLOSC_NEVER_SPLIT`.
  uint8_t splitmode;
  // Filters, in the order of their use.
  uint8_t filters[6];
  // Filter metadata.
  uint8_t filters_meta[6];
  // Bytes per block.
  int32_t blocksize;
  // Threads that compressed.
  int16_t nthreads;
  // `BTUNE_PERF_COMP`, `_DECOMP` or `_BALANCED`.
  uint8_t perf_mode;
  // Where the parameters come from: 0 a model, 1 the genetic search, 2 the user's hint, 3 a fixed choice.
  uint8_t origin;
  // Ratio, speed and quality.
  float tradeoff[3];
} btune_record;

// When the search looks again for better parameters.
typedef struct {
  // Chunks that pass between two readapts.
  uint32_t nwaits_before_readapt;
  // Soft readapts before a hard one.
  uint32_t nsofts_before_hard;
  // Hard readapts before the repeat mode decides.
  uint32_t nhards_before_stop;
  // What happens then.
  btune_repeat_mode repeat_mode;
} btune_behaviour;

// The settings of a context: what `cparams.tuner_params` points to. Start from `BTUNE_CONFIG_DEFAULTS`.
typedef struct {
  // Speed in kB/s at which compressed bytes travel; the way there counts as time. Above 0.
  uint32_t bandwidth;
  // Which time counts. `BTUNE_PERF_AUTO`: what `BTUNE_PERF_MODE` says, else compression time.
  btune_performance_mode perf_mode;
  // From 0 (speed) to 1 (ratio); or ratio, speed and quality with a sum of 1. `BTUNE_TRADEOFF` in the
  // environment wins.
  float tradeoff[3];
  // Numbers in `tradeoff` that count: 1 or 3.
  int tradeoff_nelems;
  // When the search looks again.
  btune_behaviour behaviour;
  // Start from the compression parameters of the context, instead of a hard readapt.
  bool cparams_hint;
  // Chunks whose parameters a model proposes: -1 all, 0 none, N the first N. `BTUNE_USE_INFERENCE` wins.
  int use_inference;
  // Where models are, up to a zero byte; empty for the one that is built in. `BTUNE_MODELS_DIR` wins.
  char models_dir[4096];
} btune_config;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Begins to tune a compression context. `config` is a `btune_config`, or NULL for the defaults; `dctx` is not
// used. Returns 0, or a negative number, after one line on stderr, if the configuration is not valid or if the
// context is of a C-Blosc2 that is not known: nothing is written to it then.
//
// # Safety
// `config` is NULL or points to a `btune_config`, and `cctx` to a context that was just made.
int btune_init(void *config,
               blosc2_context *cctx,
               blosc2_context *dctx);

// Leaves the block size as it is: `btune_next_cparams` sets it.
//
// # Safety
// `context` is not looked at.
int btune_next_blocksize(blosc2_context *context);

// Sets the parameters for the chunk that the context is about to compress. Always returns 0: where nothing
// can be chosen, they stay as they are.
//
// # Safety
// `context` has been through `btune_init`.
int btune_next_cparams(blosc2_context *context);

// Takes note of the chunk that the context has compressed in `ctime` seconds. Always returns 0.
//
// # Safety
// `context` has been through `btune_init`.
int btune_update(blosc2_context *context, double ctime);

// Ends the tuning of a context. Always returns 0.
//
// # Safety
// `context` has been through `btune_init`.
int btune_free(blosc2_context *context);

// Changes the settings of contexts to come that bring none of their own. Returns 0, or a negative number,
// after one line on stderr, if a value is not valid: nothing is changed then. The parameters are the fields of
// `btune_config`; `tradeoff` points to 1 or 3 numbers, and `models_dir` may be NULL.
//
// # Safety
// `tradeoff` points to `tradeoff_nelems` numbers, and `models_dir`, if not NULL, to a string.
int set_params_defaults(uint32_t bandwidth,
                        btune_performance_mode perf_mode,
                        float *tradeoff,
                        int tradeoff_nelems,
                        bool cparams_hint,
                        int use_inference,
                        const char *models_dir,
                        uint32_t nwaits_before_readapt,
                        uint32_t nsofts_before_hard,
                        uint32_t nhards_before_stop,
                        btune_repeat_mode repeat_mode);

// Whether models are kept from context to context. They always are: it makes no difference.
void btune_set_reuse_models(bool new_value);

// Frees the models that are kept; the next search reads its model again.
void btune_free_all_models(void);

// What the chunks of a context were compressed with: runs of chunks in the order of compression, the newest
// last (16384 runs at most: then the oldest is forgotten). Writes at most `capacity` of them to `records`,
// which may be NULL if `capacity` is 0, and returns how many there are; a negative number if the context is not
// one that this process tunes.
//
// # Safety
// `records` has room for `capacity` of them. `context` is not looked at: it may have been freed.
int btune_get_record(const blosc2_context *context,
                     btune_record *records,
                     int capacity);

// The same for the context that a super-chunk compresses with.
//
// # Safety
// As for `btune_get_record`.
int btune_get_schunk_record(const blosc2_schunk *schunk, btune_record *records, int capacity);

// What a stored chunk was compressed with: a Blosc2 frame of one chunk (as HDF5's filter 32026 stores it), or a
// chunk. Returns 1 if a record was stored with it, 0 if `record` holds what the chunk's header shows, and a
// negative number if it is no chunk of Blosc2, or not a valid one.
//
// # Safety
// `stored` points to `length` bytes, and `record` to one record.
int btune_read_record(const void *stored,
                      size_t length,
                      btune_record *record);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

// What to start a configuration from.
static const btune_config BTUNE_CONFIG_DEFAULTS = {
  2 * BTUNE_GBPS10,
  BTUNE_PERF_AUTO,
  {0.5f, 0.0f, 0.0f},
  1,
  {0, 5, 10, BTUNE_STOP},
  false,
  -1,
  {0},
};

#endif  // BTUNE_H
