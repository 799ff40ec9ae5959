/* two_copies DATA COPY…: several C-Blosc2 libraries in one process, each in a thread of its own,
   all at once. A COPY is a shared library with `work` of copy.c; "static" is the one linked in. */
#include <dlfcn.h>
#include <pthread.h>

#include "common.h"

#define MOST 4

typedef int (*work_function)(const uint8_t *bytes, size_t length, int number);

int work(const uint8_t *bytes, size_t length, int number);

typedef struct {
  buffer data;
  int number;
  work_function run;
  int version;
} task;

static work_function find(const char *copy) {
  if (strcmp(copy, "static") == 0) return work;
  void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  work_function found;
  *(void **)&found = dlsym(library, "work"); /* as POSIX has it */
  CHECK(found != NULL && found != work);
  return found;
}

static void *start(void *argument) {
  task *mine = (task *)argument;
  mine->version = mine->run(mine->data.bytes, mine->data.length, mine->number);
  return NULL;
}

int main(int argc, char **argv) {
  int copies = argc - 2;
  CHECK(copies >= 1 && copies <= MOST);
  buffer data = read_file(argv[1]);
  pthread_t threads[MOST];
  task tasks[MOST];
  for (int i = 0; i < copies; i++) {
    tasks[i] = (task){data, i, find(argv[2 + i]), 0};
  }
  for (int i = 0; i < copies; i++) {
    CHECK(pthread_create(&threads[i], NULL, start, &tasks[i]) == 0);
  }
  for (int i = 0; i < copies; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    printf("%d\n", tasks[i].version);
  }
  free(data.bytes);
  return 0;
}
