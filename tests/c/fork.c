/* fork DATA NTHREADS: forks in the middle of a super-chunk; parent and child both go on.

   C-Blosc2's own worker threads do not survive a fork (with NTHREADS above 1 a child that used its
   parent's context would wait for them for ever, tuner or not), so such a child goes on in a
   super-chunk of its own, which meets the tuner that the parent had. */
/* Of several blocks, so that C-Blosc2 does use its threads. */
#define CHUNK_BYTES (512 * 1024)

#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

#define HALF 40

static void finish(blosc2_schunk *schunk, buffer data, int at, int first) {
  append_chunks(schunk, data, first, first + HALF);
  for (int n = 0; n < HALF; n++) check_chunk(schunk, data, at + n, first + n);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  alarm(60);
  buffer data = read_file(argv[1]);
  int16_t nthreads = (int16_t)atoi(argv[2]);
  blosc2_init();
  blosc2_schunk *schunk = new_tuned(NULL, nthreads);
  append_chunks(schunk, data, 0, HALF);

  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    if (nthreads == 1) finish(schunk, data, HALF, HALF);
    blosc2_schunk *own = new_tuned(NULL, nthreads);
    finish(own, data, 0, 2 * HALF);
    blosc2_schunk_free(own);
    _exit(0);
  }
  finish(schunk, data, HALF, HALF);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (int n = 0; n < HALF; n++) check_chunk(schunk, data, n, n);
  blosc2_schunk_free(schunk);
  blosc2_destroy();
  free(data.bytes);
  puts("both went on");
  return 0;
}
