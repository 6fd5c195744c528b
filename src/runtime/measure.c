/* A program that measures compiled networks on a machine that has nothing but libc and, for GPUs, a
   driver. Each folder NAME in a folder of jobs has a library, libmodel.so, whose functions begin
   with NAME. What was measured becomes a line of the file "results" beside them; a job that has a
   line is not run again, so that an interrupted program goes on where it was.

     measure-jobs FOLDER [SECONDS]

   Jobs run in a child process, one after the other. If one ends the process, or needs more than a
   minute, its line says so, and a new process runs the next ones. Where a job has files input0,
   input1, ... and output0, ..., the library reads the inputs and must compute the outputs;
   otherwise inputs are made up. A line is

     NAME milliseconds LEAST MEDIAN off LARGEST first MILLISECONDS
     NAME failed WHY

   where LARGEST is the greatest error of all outputs, as a part of their root mean square; -1 if
   there was nothing to compare with. */
#include "runtime/measure.h"

#include <stdint.h>

#include "runtime/libc.h"
#include "runtime/made_up.h"

enum { MOST_FACES = 64, SAMPLES = 15, LIMIT_SECONDS = 60, NAME_BYTES = 256, PATH_BYTES = 4096 };

struct job {
  char folder[PATH_BYTES], name[NAME_BYTES];
  void* library;
  char why[320];
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int broken(struct job* job, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(job->why, sizeof job->why, format, arguments);
  va_end(arguments);
  for (char* at = job->why; *at; ++at)
    if (*at == '\n') *at = ' ';
  return -1;
}

typedef void (*any_function)(void);

/* Finds the function NAME_x. */
static any_function function(struct job* job, const char* x) {
  char symbol[2 * NAME_BYTES];
  any_function found;
  snprintf(symbol, sizeof symbol, "%s_%s", job->name, x);
  void* address = dlsym(job->library, symbol);
  if (!address) broken(job, "there is no function %s", symbol);
  memcpy(&found, &address, sizeof found);
  return found;
}

/* Reads a file of just so many bytes. Returns 1, or 0 if there is none such. */
static int read_file(struct job* job, const char* kind, int index, void* bytes, size_t count) {
  char path[PATH_BYTES + 2 * NAME_BYTES];
  snprintf(path, sizeof path, "%s/%s/%s%d", job->folder, job->name, kind, index);
  FILE* file = fopen(path, "rb");
  if (!file) return 0;
  size_t got = fread(bytes, 1, count, file);
  fclose(file);
  return got == count;
}

/* The greatest difference of floats, as a part of what they are on average. */
static double difference(const float* is, const float* must, size_t count) {
  double squares = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    double off = (double)is[i] - (double)must[i];
    squares += (double)must[i] * (double)must[i];
    if (off < 0) off = -off;
    if (!(off <= largest)) largest = off; /* also if it is no number */
  }
  double mean = count ? squares / (double)count : 0, root = mean > 1 ? mean : 1;
  for (int i = 0; i < 60; ++i) root = 0.5 * (root + mean / root);
  return root > 0 ? largest / root : largest;
}

/* The inputs and outputs of a network, in memory. */
struct faces {
  int count;
  void* memory[MOST_FACES];
  int64_t bytes[MOST_FACES];
};

static int allocate_faces(struct job* job, const char* kind, struct faces* faces) {
  char name[32];
  snprintf(name, sizeof name, "%s_count", kind);
  int (*count)(void) = (int (*)(void))function(job, name);
  snprintf(name, sizeof name, "%s_bytes", kind);
  int64_t (*bytes)(int) = (int64_t (*)(int))function(job, name);
  if (!count || !bytes) return -1;
  faces->count = count();
  if (faces->count > MOST_FACES) return broken(job, "it has %d %ss", faces->count, kind);
  for (int i = 0; i < faces->count; ++i) {
    faces->bytes[i] = bytes(i);
    faces->memory[i] = aligned_alloc(64, ((size_t)faces->bytes[i] + 64) / 64 * 64);
    if (!faces->memory[i]) return broken(job, "no memory for its %ss", kind);
  }
  return 0;
}

/* Compares all outputs with files. Returns the largest error, or -1 where there are no files. */
static double compare(struct job* job, const struct faces* outputs) {
  double largest = -1;
  for (int i = 0; i < outputs->count; ++i) {
    size_t bytes = (size_t)outputs->bytes[i];
    float* must = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (must && read_file(job, "output", i, must, bytes)) {
      double off = difference(outputs->memory[i], must, bytes / sizeof *must);
      if (!(off <= largest)) largest = off;
    }
    free(must);
  }
  return largest;
}

static void sort(double* numbers, int count) {
  for (int i = 1; i < count; ++i)
    for (int k = i; k > 0 && numbers[k] < numbers[k - 1]; --k) {
      double other = numbers[k];
      numbers[k] = numbers[k - 1];
      numbers[k - 1] = other;
    }
}

/* Runs a network as often as fits into so many seconds; "times" are of one run each. */
static int sample(struct job* job, void* model, double seconds, double* times) {
  int (*repeat)(void*, int, double*) = (int (*)(void*, int, double*))function(job, "repeat");
  const char* (*error)(void) = (const char* (*)(void))function(job, "error");
  double once = 0;
  if (!repeat || !error) return -1;
  if (repeat(model, 3, &once)) return broken(job, "%s", error());
  int runs = (int)(seconds / SAMPLES / (once / 3 + 1e-9));
  if (runs < 1) runs = 1;
  if (runs > 100000) runs = 100000;
  for (int i = 0; i < SAMPLES; ++i) {
    if (repeat(model, runs, &times[i])) return broken(job, "%s", error());
    times[i] /= runs;
  }
  sort(times, SAMPLES);
  return 0;
}

static int measure(struct job* job, double seconds, char* line, size_t size) {
  static struct faces inputs, outputs;
  double times[SAMPLES], began = now();
  char path[PATH_BYTES + 2 * NAME_BYTES];
  snprintf(path, sizeof path, "%s/%s/libmodel.so", job->folder, job->name);
  job->library = dlopen(path, RTLD_NOW);
  if (!job->library) return broken(job, "%s", dlerror());
  void* (*create)(int) = (void* (*)(int))function(job, "create");
  void (*destroy)(void*) = (void (*)(void*))function(job, "destroy");
  int (*run)(void*, void* const*, void* const*) = (int (*)(void*, void* const*, void* const*))function(job, "run");
  const char* (*error)(void) = (const char* (*)(void))function(job, "error");
  if (!create || !destroy || !run || !error || allocate_faces(job, "input", &inputs) ||
      allocate_faces(job, "output", &outputs))
    return -1;
  for (int i = 0; i < inputs.count; ++i)
    if (!read_file(job, "input", i, inputs.memory[i], (size_t)inputs.bytes[i]))
      lathe_make_up(inputs.memory[i], (size_t)inputs.bytes[i] / sizeof(float), 1.0f);
  void* model = create(1);
  if (!model || run(model, inputs.memory, outputs.memory)) return broken(job, "%s", error());
  double first = now() - began, off = compare(job, &outputs);
  int done = sample(job, model, seconds, times);
  destroy(model);
  for (int i = 0; i < inputs.count; ++i) free(inputs.memory[i]);
  for (int i = 0; i < outputs.count; ++i) free(outputs.memory[i]);
  if (done) return -1;
  snprintf(line, size, "%s milliseconds %.6f %.6f off %.3g first %.1f\n", job->name, 1e3 * times[0],
           1e3 * times[SAMPLES / 2], off, 1e3 * first);
  return 0;
}

/* Appends a line to the results, and shows it. */
static void note(const char* folder, const char* line) {
  char path[PATH_BYTES + NAME_BYTES];
  snprintf(path, sizeof path, "%s/results", folder);
  FILE* file = fopen(path, "ab");
  if (file) {
    fputs(line, file);
    fclose(file);
  }
  fputs(line, stdout);
  fflush(stdout);
}

static void note_failure(const char* folder, const char* name, const char* why) {
  char line[NAME_BYTES + 512];
  snprintf(line, sizeof line, "%s failed %s\n", name, why);
  note(folder, line);
}

/* Names of the jobs that are left: those that have no line in the results. */
static int find_jobs(const char* folder, char (*names)[NAME_BYTES], int most) {
  static char results[1 << 22];
  char path[PATH_BYTES + 2 * NAME_BYTES], start[NAME_BYTES + 2];
  size_t size = 0;
  int count = 0;
  snprintf(path, sizeof path, "%s/results", folder);
  FILE* file = fopen(path, "rb");
  results[0] = '\n';
  if (file) {
    size = fread(results + 1, 1, sizeof results - 2, file);
    fclose(file);
  }
  results[size + 1] = 0;
  void* listing = opendir(folder);
  if (!listing) return -1;
  for (const struct dirent* entry; (entry = readdir(listing)) && count < most;) {
    snprintf(path, sizeof path, "%s/%.255s/libmodel.so", folder, entry->d_name);
    snprintf(start, sizeof start, "\n%.253s ", entry->d_name);
    if (access(path, 0) || strstr(results, start)) continue;
    snprintf(names[count++], NAME_BYTES, "%.255s", entry->d_name);
  }
  closedir(listing);
  return count;
}

/* Runs jobs in this process; tells the parent of each one that begins. */
static void run_jobs(const char* folder, char (*names)[NAME_BYTES], int count, double seconds,
                     int parent) {
  static struct job job;
  char line[NAME_BYTES + 256];
  for (int i = 0; i < count; ++i) {
    memset(&job, 0, sizeof job);
    snprintf(job.folder, sizeof job.folder, "%s", folder);
    snprintf(job.name, sizeof job.name, "%s", names[i]);
    if (write(parent, &i, sizeof i) != sizeof i) return;
    if (measure(&job, seconds, line, sizeof line) == 0) {
      note(folder, line);
    } else {
      note_failure(folder, job.name, job.why);
      return; /* the device may be lost: go on in a new process */
    }
  }
}

/* Waits until a child says something, or ends, or needs too long. Returns 1, 0 or -1. */
static int listen(int child, int* job) {
  struct pollfd poll_for = {child, POLLIN, 0};
  if (poll(&poll_for, 1, LIMIT_SECONDS * 1000) <= 0) return -1;
  return read(child, job, sizeof *job) == (long)sizeof *job;
}

/* Runs what is left in a child. Returns how many jobs are done, or failed with it. */
static int run_child(const char* folder, char (*names)[NAME_BYTES], int count, double seconds) {
  int ends[2], job = 0, state = 0, heard;
  if (pipe(ends)) return -1;
  int child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    close(ends[0]);
    run_jobs(folder, names, count, seconds, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  do heard = listen(ends[0], &job);
  while (heard == 1);
  if (heard < 0) kill(child, SIGKILL);
  waitpid(child, &state, 0);
  close(ends[0]);
  if (heard < 0)
    note_failure(folder, names[job], "it needs more than a minute");
  else if (state != 0)
    note_failure(folder, names[job], "it ended the process");
  return job + 1;
}

int lathe_measure_jobs(const char* folder, double seconds) {
  enum { MOST_JOBS = 16384 };
  static char names[MOST_JOBS][NAME_BYTES];
  int count = find_jobs(folder, names, MOST_JOBS), done = 0;
  if (count < 0) {
    fprintf(stderr, "measure-jobs: there is no folder '%s'\n", folder);
    return 1;
  }
  while (done < count) {
    int ran = run_child(folder, names + done, count - done, seconds);
    if (ran < 0) {
      fprintf(stderr, "measure-jobs: cannot start a process\n");
      return 1;
    }
    done += ran;
  }
  return 0;
}

int lathe_measure_main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    fprintf(stderr, "usage: measure-jobs FOLDER [SECONDS]\n");
    return 2;
  }
  return lathe_measure_jobs(arguments[1], count == 3 ? strtod(arguments[2], NULL) : 0.3);
}
