/* A program that measures compiled networks on a machine that has nothing but libc and, for GPUs, a
   driver. Each folder NAME in a folder of jobs has a library, libmodel.so, whose functions begin
   with NAME; each file X.jobs holds many jobs (job.h). What was measured becomes a line of the file
   "results" beside them; a job that has a line is not run again, so that an interrupted program goes
   on where it was.

     measure-jobs FOLDER [SECONDS [TOTAL]]

   A job is measured for so many seconds, 0.3 or 0.03 of a file; none begins after the total. Jobs run
   in a child process, one after the other. If one ends the process, or needs more than a minute (a
   unit of a file 30 s, a network of a file 5 minutes), its line says so, and a new process runs the next ones. Where a library has files
   input0, input1, ... and output0, ... beside it, it reads the inputs and must compute the outputs;
   otherwise inputs are made up. A line is

     NAME milliseconds LEAST MEDIAN off LARGEST first MILLISECONDS
     NAME failed WHY

   where LARGEST is the greatest error of all outputs, as a part of their root mean square; -1 if
   there was nothing to compare with. The device of a file's jobs has a line, too:

     device MULTIPROCESSORS CAPABILITY MODEL

   */
#include "runtime/measure.h"

#include <stdint.h>

#include "runtime/job.h"
#include "runtime/libc.h"
#include "runtime/made_up.h"
#include "runtime/timing.h"

enum {
  MOST_FACES = 64,
  SAMPLES = 15,
  LIMIT_SECONDS = 60,
  LIMIT_OF_UNITS = 90,
  LIMIT_OF_NETWORKS = 300,
  NAME_BYTES = 256,
  PATH_BYTES = 4096,
  MOST_FILES = 64,
  MOST_JOBS = 65536
};

/* A job that is to be measured: a library, or one in a file. */
struct entry {
  char name[NAME_BYTES];
  const struct lathe_job_file* file; /* null: a library */
  size_t at;
};

struct job {
  char folder[PATH_BYTES], name[NAME_BYTES];
  void* library;
  char why[320];
};

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
    if (off != off) return off; /* no number */
    if (off > largest) largest = off;
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
      if (largest == largest && !(off <= largest)) largest = off;
    }
    free(must);
  }
  return largest;
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
  lathe_sort(times, SAMPLES);
  return 0;
}

static int measure(struct job* job, double seconds, char* line, size_t size) {
  static struct faces inputs, outputs;
  double times[SAMPLES], began = lathe_now();
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
      lathe_make_up(inputs.memory[i], inputs.bytes[i] / (int64_t)sizeof(float), 1.0f);
  void* model = create(1);
  if (!model || run(model, inputs.memory, outputs.memory)) return broken(job, "%s", error());
  double first = lathe_now() - began, off = compare(job, &outputs);
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

/* The results, after a newline; "" if there are none. It is never given back. */
static const char* read_results(const char* folder) {
  enum { MOST_RESULTS = 1 << 24 };
  static char results[MOST_RESULTS];
  char path[PATH_BYTES + NAME_BYTES];
  size_t size = 0;
  snprintf(path, sizeof path, "%s/results", folder);
  FILE* file = fopen(path, "rb");
  results[0] = '\n';
  if (file) {
    size = fread(results + 1, 1, sizeof results - 2, file);
    fclose(file);
  }
  results[size + 1] = 0;
  return results;
}

static int has_line(const char* results, const char* name) {
  char start[NAME_BYTES + 2];
  snprintf(start, sizeof start, "\n%.253s ", name);
  return strstr(results, start) != NULL;
}

static int ends_with(const char* text, const char* end) {
  size_t all = strlen(text), part = strlen(end);
  return all > part && !strcmp(text + all - part, end);
}

/* Adds the jobs of a file that have no line yet. Returns how many there are then. */
static int add_file(const char* path, const char* results, struct entry* entries, int count) {
  static struct lathe_job_file files[MOST_FILES];
  static int used;
  if (used == MOST_FILES) {
    fprintf(stderr, "measure-jobs: more than %d files: '%s' is left out\n", MOST_FILES, path);
    return count;
  }
  struct lathe_job_file* file = &files[used];
  if (lathe_job_file_read(path, file)) {
    fprintf(stderr, "measure-jobs: %s\n", lathe_last_error());
    return count;
  }
  ++used;
  for (size_t at = 0; count < MOST_JOBS; ++at) {
    struct entry* entry = &entries[count];
    at = lathe_job_next(file, at, entry->name, sizeof entry->name);
    if (at >= file->bytes) break;
    if (has_line(results, entry->name)) continue;
    entry->file = file;
    entry->at = at;
    ++count;
  }
  return count;
}

/* The jobs that are left: those that have no line in the results. */
static int find_jobs(const char* folder, struct entry* entries) {
  char path[PATH_BYTES + 2 * NAME_BYTES];
  int count = 0;
  const char* results = read_results(folder);
  void* listing = opendir(folder);
  if (!listing) return -1;
  for (const struct dirent* item; (item = readdir(listing)) && count < MOST_JOBS;) {
    if (ends_with(item->d_name, ".jobs")) {
      snprintf(path, sizeof path, "%s/%.255s", folder, item->d_name);
      count = add_file(path, results, entries, count);
      continue;
    }
    snprintf(path, sizeof path, "%s/%.255s/libmodel.so", folder, item->d_name);
    if (access(path, 0) || has_line(results, item->d_name)) continue;
    entries[count].file = NULL;
    snprintf(entries[count++].name, NAME_BYTES, "%.255s", item->d_name);
  }
  closedir(listing);
  return count;
}

/* Notes which device there is, unless that is known. */
static void note_device(const char* folder, const struct lathe_job_device* device) {
  struct lathe_device about;
  char line[NAME_BYTES + 64], start[NAME_BYTES + 66];
  memset(&about, 0, sizeof about);
  if (!device->machine || device->machine->driver->describe(0, &about)) return;
  for (char* at = about.model; *at; ++at)
    if (*at == '\n') *at = ' ';
  snprintf(line, sizeof line, "device %d %d %s\n", about.multiprocessors, about.version,
           about.model);
  snprintf(start, sizeof start, "\n%s", line);
  if (!strstr(read_results(folder), start)) note(folder, line);
}

/* Measures a job of a file. Returns 0, or -1 if it failed. */
static int measure_entry(const char* folder, const struct entry* entry, double seconds) {
  static struct lathe_job_device device;
  static struct lathe_job_times times;
  char line[NAME_BYTES + 256];
  int is_first = !device.gpu;
  int broken = lathe_job_measure(entry->file, entry->at, &device, seconds > 0 ? seconds : 0.03, &times);
  if (is_first && device.gpu) note_device(folder, &device);
  if (broken) {
    for (char* at = times.why; *at; ++at)
      if (*at == '\n') *at = ' ';
    note_failure(folder, entry->name, times.why);
    return -1;
  }
  snprintf(line, sizeof line, "%s milliseconds %.6f %.6f off %.3g first %.1f\n", entry->name,
           1e3 * times.least, 1e3 * times.median, times.off, 1e3 * times.first);
  note(folder, line);
  return 0;
}

static int measure_library(const char* folder, const struct entry* entry, double seconds) {
  static struct job job;
  char line[NAME_BYTES + 256];
  memset(&job, 0, sizeof job);
  snprintf(job.folder, sizeof job.folder, "%s", folder);
  snprintf(job.name, sizeof job.name, "%s", entry->name);
  if (measure(&job, seconds > 0 ? seconds : 0.3, line, sizeof line) == 0) {
    note(folder, line);
    return 0;
  }
  note_failure(folder, job.name, job.why);
  return -1;
}

/* Runs jobs in this process, until it is time to end; tells the parent of each one that begins. */
static void run_jobs(const char* folder, const struct entry* entries, int count, double seconds,
                     double end, int parent) {
  for (int i = 0; i < count && lathe_now() < end; ++i) {
    if (write(parent, &i, sizeof i) != sizeof i) return;
    int broken = entries[i].file ? measure_entry(folder, &entries[i], seconds)
                                 : measure_library(folder, &entries[i], seconds);
    if (broken) return; /* the device may be lost: go on in a new process */
  }
}

/* Waits until a child says something, or ends, or needs too long. Returns 1, 0 or -1. */
static int listen(int child, int* job, int limit) {
  struct pollfd poll_for = {child, POLLIN, 0};
  if (poll(&poll_for, 1, limit * 1000) <= 0) return -1;
  return read(child, job, sizeof *job) == (long)sizeof *job;
}

static int limit_of(const struct entry* entry) {
  if (!entry->file) return LIMIT_SECONDS;
  return lathe_job_is_network(entry->file, entry->at) ? LIMIT_OF_NETWORKS : LIMIT_OF_UNITS;
}

/* Runs what is left in a child. Returns how many jobs are done, or failed with it. */
static int run_child(const char* folder, const struct entry* entries, int count, double seconds,
                     double end) {
  int ends[2], job = -1, state = 0, heard, limit = LIMIT_SECONDS;
  if (pipe(ends)) return -1;
  int child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    close(ends[0]);
    run_jobs(folder, entries, count, seconds, end, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  do {
    heard = listen(ends[0], &job, limit);
    if (job >= 0) limit = limit_of(&entries[job]);
  } while (heard == 1);
  if (heard < 0) kill(child, SIGKILL);
  waitpid(child, &state, 0);
  close(ends[0]);
  if (job < 0) return 0;
  /* The end of a process may come after the line of its last job. */
  if ((heard < 0 || state != 0) && !has_line(read_results(folder), entries[job].name)) {
    char why[64];
    snprintf(why, sizeof why, heard < 0 ? "it needs more than %d s" : "it ended the process", limit);
    note_failure(folder, entries[job].name, why);
  }
  return job + 1;
}

int lathe_measure_jobs(const char* folder, double seconds, double total) {
  static struct entry entries[MOST_JOBS];
  int count = find_jobs(folder, entries), done = 0;
  double end = total > 0 ? lathe_now() + total : 1e300;
  if (count < 0) {
    fprintf(stderr, "measure-jobs: there is no folder '%s'\n", folder);
    return 1;
  }
  while (done < count && lathe_now() < end) {
    int ran = run_child(folder, entries + done, count - done, seconds, end);
    if (ran < 0) {
      fprintf(stderr, "measure-jobs: cannot start a process\n");
      return 1;
    }
    done += ran;
  }
  if (done < count) fprintf(stderr, "measure-jobs: %d jobs are left: run it again\n", count - done);
  return 0;
}

int lathe_measure_main(int count, char** arguments) {
  if (count < 2 || count > 4) {
    fprintf(stderr, "usage: measure-jobs FOLDER [SECONDS [TOTAL]]\n");
    return 2;
  }
  return lathe_measure_jobs(arguments[1], count > 2 ? strtod(arguments[2], NULL) : 0,
                            count > 3 ? strtod(arguments[3], NULL) : 0);
}
