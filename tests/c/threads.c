/* threads DATA: 200 super-chunks made, filled, checked and freed over 8 threads. */
#include <pthread.h>

#include "common.h"

#define THREADS 8
#define EACH 25
#define CHUNKS 6

typedef struct {
  buffer data;
  int number;
} task;

static void *work(void *argument) {
  const task *mine = (const task *)argument;
  for (int i = 0; i < EACH; i++) {
    int first = (mine->number * EACH + i) * CHUNKS;
    blosc2_schunk *schunk = new_tuned(NULL, 1);
    append_chunks(schunk, mine->data, first, first + CHUNKS);
    for (int n = 0; n < CHUNKS; n++) check_chunk(schunk, mine->data, n, first + n);
    blosc2_schunk_free(schunk);
  }
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  buffer data = read_file(argv[1]);
  blosc2_init();
  /* C-Blosc2 looks the plugin up at its first use, without a lock: once, before the threads. */
  blosc2_schunk_free(new_tuned(NULL, 1));

  pthread_t threads[THREADS];
  task tasks[THREADS];
  for (int t = 0; t < THREADS; t++) {
    tasks[t].data = data;
    tasks[t].number = t;
    CHECK(pthread_create(&threads[t], NULL, work, &tasks[t]) == 0);
  }
  for (int t = 0; t < THREADS; t++) CHECK(pthread_join(threads[t], NULL) == 0);
  blosc2_destroy();
  free(data.bytes);
  printf("%d super-chunks\n", THREADS * EACH);
  return 0;
}
