/* The few functions of libc that the runtime calls, declared by hand. One machine compiles the
   runtime for every architecture and has the C headers of its own only, so no header of libc can be
   included. What is declared here is the same in glibc for x86-64 and AArch64. */
#ifndef LATHE_RUNTIME_LIBC_H
#define LATHE_RUNTIME_LIBC_H

#include <stdarg.h>
#include <stddef.h>

/* <stdlib.h>, <string.h>, <stdio.h> */
void* calloc(size_t count, size_t size);
void* aligned_alloc(size_t alignment, size_t size);
void free(void* memory);
void* memset(void* memory, int byte, size_t size);
void* memcpy(void* to, const void* from, size_t size);
int setenv(const char* name, const char* value, int replace);
int memcmp(const void* left, const void* right, size_t size);
size_t strlen(const char* text);
char* strstr(const char* text, const char* part);
int strcmp(const char* left, const char* right);
int vsnprintf(char* text, size_t size, const char* format, va_list arguments);
__attribute__((format(printf, 3, 4))) int snprintf(char* text, size_t size, const char* format,
                                                   ...);
double strtod(const char* text, char** end);
typedef struct _IO_FILE FILE;
extern FILE *stdout, *stderr;
FILE* fopen(const char* path, const char* mode);
int fclose(FILE* file);
int fflush(FILE* file);
size_t fread(void* memory, size_t size, size_t count, FILE* file);
int fputs(const char* text, FILE* file);
__attribute__((format(printf, 2, 3))) int fprintf(FILE* file, const char* format, ...);

/* <dlfcn.h>; part of libc itself since glibc 2.34 */
#define RTLD_NOW 2
void* dlopen(const char* file, int mode);
void* dlsym(void* library, const char* name);
char* dlerror(void);

long syscall(long number, ...);

/* <unistd.h>, <signal.h>, <sys/wait.h>, <poll.h>, <dirent.h> */
#define SIGKILL 9
#define POLLIN 1
struct pollfd {
  int fd;
  short events, revents;
};
struct dirent {
  unsigned long d_ino, d_off;
  unsigned short d_reclen;
  unsigned char d_type;
  char d_name[256];
};
int fork(void);
void _exit(int code) __attribute__((noreturn));
int waitpid(int process, int* state, int options);
int kill(int process, int signal);
int pipe(int ends[2]);
int close(int file);
int access(const char* path, int mode);
long read(int file, void* memory, size_t size);
long write(int file, const void* memory, size_t size);
int poll(struct pollfd* files, unsigned long count, int milliseconds);
void* opendir(const char* path);
struct dirent* readdir(void* folder);
int closedir(void* folder);

/* <sys/auxv.h>; what the kernel says of the processor, in bits that differ by architecture */
#define AT_HWCAP 16
#define AT_HWCAP2 26
unsigned long getauxval(unsigned long type);

/* <time.h> */
struct timespec {
  long tv_sec, tv_nsec;
};
#define CLOCK_MONOTONIC 1
int clock_gettime(int clock, struct timespec* time);

/* <sched.h>; cpu_set_t is an array of bits, of any size that the caller names */
int sched_getaffinity(int process, size_t size, void* processors);

/* <pthread.h>; no attributes: the runtime takes the default ones */
typedef unsigned long pthread_t;
int pthread_create(pthread_t* thread, const void* no_attributes, void* (*start)(void*),
                   void* argument);
int pthread_join(pthread_t thread, void** result);

/* <semaphore.h>; 32 bytes in both, aligned as a long */
typedef union {
  char size[32];
  long align;
} sem_t;
int sem_init(sem_t* semaphore, int shared, unsigned value);
int sem_destroy(sem_t* semaphore);
int sem_wait(sem_t* semaphore);
int sem_post(sem_t* semaphore);

#endif
