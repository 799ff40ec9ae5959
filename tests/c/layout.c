/* Fabricated contexts: the plugin may write only into one whose layout it knows for certain. */
#include <btune.h>
#include <unistd.h>

#include "common.h"

#define SIZE 2048

/* Where the fields are that the decision rests on. */
typedef struct {
  const char *name;
  int typesize, compcode, clevel, filters, schunk, do_compress, tuner_params, nthreads, new_nthreads;
  int splitmode;
} layout;

static const layout LAYOUTS[] = {
    {"2.x", 56, 76, 84, 129, 832, 848, 856, 928, 930, 40},
    {"3.x", 60, 116, 124, 169, 872, 888, 896, 968, 970, 44},
};

/* Room on both sides, so that a context can be shifted; aligned as malloc would. */
static union {
  uint8_t bytes[SIZE + 64];
  long double aligned;
} room;

static void put(uint8_t *context, int offset, const void *value, size_t size) {
  memcpy(context + offset, value, size);
}

static void put_int(uint8_t *context, int offset, int32_t value) {
  put(context, offset, &value, sizeof value);
}

static void put_short(uint8_t *context, int offset, int16_t value) {
  put(context, offset, &value, sizeof value);
}

/* What blosc2_create_cctx has filled in when it calls the tuner: 4-byte items, LZ4, shuffle. */
static void fill(uint8_t *context, const layout *at) {
  put_int(context, at->typesize, 4);
  put_int(context, at->compcode, BLOSC_LZ4);
  put_int(context, at->clevel, 5);
  put_int(context, at->splitmode, BLOSC_FORWARD_COMPAT_SPLIT);
  put_int(context, at->do_compress, 1);
  context[at->filters + 5] = BLOSC_SHUFFLE;
  put_short(context, at->nthreads, 1);
  put_short(context, at->new_nthreads, 1);
}

static uint8_t *zeroed(void) {
  memset(room.bytes, 0, sizeof room.bytes);
  return room.bytes;
}

static uint8_t *plausible(const layout *at) {
  uint8_t *context = zeroed();
  fill(context, at);
  return context;
}

/* btune_init on the context, and how many lines it wrote on stderr, for which a pipe stands in. */
static int init(uint8_t *context, int *lines) {
  int ends[2], terminal = dup(2);
  CHECK(terminal >= 0 && pipe(ends) == 0);
  CHECK(dup2(ends[1], 2) == 2);
  close(ends[1]);
  int code = btune_init(NULL, (blosc2_context *)(void *)context, NULL);
  CHECK(dup2(terminal, 2) == 2); /* now the pipe has no writer, and an end */
  close(terminal);
  *lines = 0;
  char c;
  while (read(ends[0], &c, 1) == 1) *lines += c == '\n';
  close(ends[0]);
  return code;
}

static int failures = 0;

static void expect(bool holds, const char *what, const char *where) {
  if (holds) return;
  fprintf(stderr, "%s: not so: %s\n", where, what);
  failures++;
}

static void refused(uint8_t *context, const char *what) {
  uint8_t before[sizeof room.bytes];
  memcpy(before, room.bytes, sizeof before);
  int lines;
  int code = init(context, &lines);
  expect(code < 0, "refused", what);
  expect(memcmp(before, room.bytes, sizeof before) == 0, "left as it was", what);
  expect(lines == 1, "one line on stderr", what);
  if (code >= 0) btune_free((blosc2_context *)(void *)context);
}

static void accepted(uint8_t *context, const layout *at, const char *what) {
  uint8_t before[sizeof room.bytes];
  memcpy(before, room.bytes, sizeof before);
  int lines;
  int code = init(context, &lines);
  void *params;
  memcpy(&params, context + at->tuner_params, sizeof params);
  expect(code == 0, "accepted", what);
  expect(params != NULL, "tuner_params set", what);
  /* The tuner's parameters and, after them, its number; nothing else. */
  size_t first = (size_t)at->tuner_params, last = first + sizeof(void *) + sizeof(int);
  expect(memcmp(before, context, first) == 0, "nothing written before", what);
  expect(memcmp(before + last, context + last, SIZE - last) == 0, "nothing written after", what);
  expect(lines == 0, "nothing on stderr", what);
  if (code < 0) return;
  btune_record record;
  expect(btune_get_record((blosc2_context *)(void *)context, &record, 1) == 0, "no chunk yet", what);
  expect(btune_free((blosc2_context *)(void *)context) >= 0, "freed", what);
  expect(btune_get_record((blosc2_context *)(void *)context, &record, 1) < 0, "forgotten", what);
}

static void garbage(void) {
  for (uint32_t seed = 1; seed <= 1000; seed++) {
    uint32_t state = seed * 2654435761u;
    for (size_t i = 0; i < sizeof room.bytes; i++) {
      state = state * 1664525u + 1013904223u;
      room.bytes[i] = (uint8_t)(state >> 24);
    }
    refused(room.bytes, "garbage");
  }
}

static void shifted(const layout *at) {
  static const int SHIFTS[] = {4, 8, 16, 40};
  for (int i = 0; i < 4; i++) {
    uint8_t *context = plausible(at);
    memmove(context + SHIFTS[i], context, SIZE);
    memset(context, 0, (size_t)SHIFTS[i]);
    /* The 2.x layout is not the 3.x one shifted, though much of it is, by 40 bytes. */
    refused(context, at->name);
    context = plausible(at);
    memmove(context, context + SHIFTS[i], SIZE);
    refused(context, at->name);
  }
}

/* Each field that is out of range is enough. */
static void out_of_range(const layout *at) {
  const struct {
    const char *name;
    int offset, size;
    int value;
  } WRONG[] = {
      {"do_compress 0", at->do_compress, 4, 0},     {"do_compress 2", at->do_compress, 4, 2},
      {"typesize 0", at->typesize, 4, 0},           {"typesize -4", at->typesize, 4, -4},
      {"clevel 10", at->clevel, 4, 10},             {"clevel -1", at->clevel, 4, -1},
      {"codec 300", at->compcode, 4, 300},          {"codec -1", at->compcode, 4, -1},
      {"filter 9", at->filters + 5, 1, 9},          {"filter 9 first", at->filters, 1, 9},
      {"split mode 9", at->splitmode, 4, 9},        {"nthreads 0", at->nthreads, 2, 0},
      {"nthreads -1", at->nthreads, 2, -1},         {"nthreads 2 of 1", at->nthreads, 2, 2},
      {"new_nthreads 0", at->new_nthreads, 2, 0},   {"new_nthreads 3", at->new_nthreads, 2, 3},
      {"tuner_params set", at->tuner_params, 4, 16},
  };
  for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
    uint8_t *context = plausible(at);
    put(context, WRONG[i].offset, &WRONG[i].value, (size_t)WRONG[i].size); /* little-endian */
    char what[64];
    snprintf(what, sizeof what, "%s: %s", at->name, WRONG[i].name);
    refused(context, what);
  }
}

/* A super-chunk that says the same speaks for the layout, one that differs against it. */
static void with_schunk(const layout *at) {
  blosc2_schunk schunk;
  memset(&schunk, 0, sizeof schunk);
  schunk.typesize = 4;
  schunk.compcode = BLOSC_LZ4;
  schunk.clevel = 5;
  schunk.splitmode = BLOSC_FORWARD_COMPAT_SPLIT;
  schunk.filters[5] = BLOSC_SHUFFLE;
  schunk.tuner_id = BLOSC_BTUNE;
  blosc2_schunk *pointer = &schunk;

  uint8_t *context = plausible(at);
  put(context, at->schunk, &pointer, sizeof pointer);
  accepted(context, at, at->name);
  /* Not the level or the type size: the environment may have changed those of the context. */
  schunk.filters_meta[5] = 4;
  context = plausible(at);
  put(context, at->schunk, &pointer, sizeof pointer);
  refused(context, "a super-chunk with other parameters of filters");
}

int main(void) {
  CHECK((sizeof room.bytes) % sizeof(void *) == 0);
  refused(zeroed(), "zeros");
  garbage();
  for (int i = 0; i < 2; i++) {
    const layout *at = &LAYOUTS[i];
    accepted(plausible(at), at, at->name);
    shifted(at);
    out_of_range(at);
    with_schunk(at);
  }
  uint8_t *context = plausible(&LAYOUTS[0]);
  fill(context, &LAYOUTS[1]);
  refused(context, "both layouts at once");
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
