/* The program lathe of the wheel: liblathe.so, which lies beside it, is the whole of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[PATH_MAX];
  const size_t room = sizeof path - sizeof "liblathe.so";
  ssize_t length = readlink("/proc/self/exe", path, room);
  if (length < 0) {
    perror("lathe: /proc/self/exe");
    return 2;
  }
  path[length] = '\0';
  strcpy(strrchr(path, '/') + 1, "liblathe.so");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  int (*program)(int, char**) = NULL;
  if (library) *(void**)&program = dlsym(library, "lathe_main");
  if (!program) {
    fprintf(stderr, "lathe: %s\n", dlerror());
    return 2;
  }
  return program(argc, argv);
}
