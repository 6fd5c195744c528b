/* Runs cases of kernels on the first device of this computer, and compares what they compute with
   what they must. tests/support/device_cases.h writes the files; scripts/check-device compiles this.

   usage: run_cases FILE...

   Each file runs in a process of its own, several at a time. If that crashes, or needs too long for
   a kernel, the case has failed, and a new process goes on behind it. The status is 0 if all cases
   hold, 1 if not, and 77 if there is no device.

   A file holds lines; behind those that are marked with * come as many bytes as their last number
   says, and a newline. Numbers in bytes are those of the machine, which is little-endian.

     lathe cases 1 MACHINE               "cuda" or "opencl"
     module BYTES *                      kernels, as the driver takes them
     case BYTES *                        a case begins: its story
     tensor NAME ELEMENT BYTES FILL      memory, each byte of which is FILL
     bytes BYTES *                       but it holds these
     any                                 and all of it may change; otherwise nothing may, except for
     reals FIRST COUNT BYTES *           elements from byte FIRST on: COUNT steps from one to the
     integers FIRST COUNT BYTES *        next (int32, in elements), as many values that they must
                                         have (double, int64), and errors that they may (double)
     launch KERNEL BLOCKS THREADS N PLACES    three numbers, three numbers, N times TENSOR OFFSET
     end
   */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/gpu.h"

enum {
  MOST_PLACES = 64,
  MOST_RUNNING = 8,   /* processes */
  LIMIT_SECONDS = 60, /* of a kernel */
  LIMIT_OF_LOADING = 300,
  MOST_TOLD = 10, /* failures that are told in full */
  MOST_LINES = 14,
  MOST_COLUMNS = 160,
  NO_DEVICE = 77
};

/* ---- files --------------------------------------------------------------------------------- */

struct tensor {
  char name[64], element[16];
  int64_t size;
  int fill, any, integers;
  const char* bytes; /* null: filled */
  int64_t first, count;
  const char* values; /* steps, values, errors */
};

struct launch {
  char symbol[128];
  int32_t blocks[3], threads[3];
  int32_t count, tensor[MOST_PLACES];
  int64_t offset[MOST_PLACES];
};

struct one_case {
  const char* story;
  int64_t story_bytes;
  struct tensor* tensors;
  struct launch* launches;
  int32_t tensor_count, launch_count;
};

struct cases {
  const struct lathe_machine* machine;
  struct lathe_module* modules;
  struct one_case* cases;
  int32_t module_count, count;
};

struct cursor {
  char *text, *at, *end;
  char why[160]; /* "" as long as all is well */
};

static void damaged(struct cursor* cursor, const char* what) {
  if (!cursor->why[0])
    snprintf(cursor->why, sizeof cursor->why, "damaged at byte %lld: %s",
             (long long)(cursor->at - cursor->text), what);
  cursor->at = cursor->end;
}

/* Reads a word, up to the next blank or the end of the line. */
static void word(struct cursor* cursor, char* text, size_t size) {
  size_t length = 0;
  while (cursor->at < cursor->end && *cursor->at == ' ') ++cursor->at;
  for (; cursor->at < cursor->end && *cursor->at != ' ' && *cursor->at != '\n'; ++cursor->at)
    if (length + 1 < size) text[length++] = *cursor->at;
  text[length] = 0;
  if (length == 0) damaged(cursor, "a word is missing");
}

static int64_t number(struct cursor* cursor, int64_t most) {
  char text[32], *end;
  word(cursor, text, sizeof text);
  long long value = strtoll(text, &end, 10);
  if (!*text || *end || value < 0 || value > most) damaged(cursor, "not a number that can be");
  return cursor->why[0] ? 0 : value;
}

static void end_line(struct cursor* cursor) {
  if (cursor->at < cursor->end && *cursor->at == '\n')
    ++cursor->at;
  else
    damaged(cursor, "a line does not end");
}

/* Reads how many bytes follow the line, and them. What is behind them becomes a zero. */
static const char* bytes_behind(struct cursor* cursor, int64_t* count) {
  *count = number(cursor, INT64_MAX);
  end_line(cursor);
  if (*count >= cursor->end - cursor->at) damaged(cursor, "the file ends too early");
  if (cursor->why[0]) return NULL;
  char* bytes = cursor->at;
  cursor->at += *count;
  end_line(cursor);
  bytes[*count] = 0;
  return bytes;
}

/* Makes room for one more, all zeros. */
static void* add(void* list, int32_t* count, size_t size) {
  char* items = *(char**)list;
  items = realloc(items, ((size_t)*count + 1) * size);
  if (!items) {
    fprintf(stderr, "run_cases: no memory\n");
    exit(2);
  }
  *(char**)list = items;
  return memset(items + (size_t)(*count)++ * size, 0, size);
}

static int64_t element_size(const char* element) {
  static const char* const names[] = {"i8",  "u8",   "bool", "f16", "bf16", "i16", "u16", "f32",
                                      "tf32", "i32", "u32",     "f64", "i64",  "u64"};
  static const int sizes[] = {1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    if (!strcmp(element, names[i])) return sizes[i];
  return 0;
}

static void read_tensor(struct cursor* cursor, struct one_case* in) {
  struct tensor* tensor = add(&in->tensors, &in->tensor_count, sizeof *tensor);
  word(cursor, tensor->name, sizeof tensor->name);
  word(cursor, tensor->element, sizeof tensor->element);
  if (!element_size(tensor->element)) damaged(cursor, "no such element type");
  tensor->size = number(cursor, (int64_t)1 << 40);
  tensor->fill = (int)number(cursor, 255);
  end_line(cursor);
}

/* Do all elements lie within the tensor? */
static int fits(const struct tensor* tensor) {
  int64_t at = 0, size = element_size(tensor->element);
  for (int64_t k = 0; k < tensor->count; ++k) {
    int32_t step;
    memcpy(&step, tensor->values + 4 * k, sizeof step);
    at += step;
    if (at < 0 || tensor->first + (at + 1) * size > tensor->size) return 0;
  }
  return 1;
}

static void read_values(struct cursor* cursor, struct tensor* tensor, int integers) {
  int64_t bytes;
  tensor->integers = integers;
  tensor->first = number(cursor, tensor->size);
  tensor->count = number(cursor, tensor->size);
  tensor->values = bytes_behind(cursor, &bytes);
  if (!cursor->why[0] && (bytes != 20 * tensor->count || !fits(tensor)))
    damaged(cursor, "values that do not fit their tensor");
}

static void read_launch(struct cursor* cursor, struct one_case* in) {
  struct launch* launch = add(&in->launches, &in->launch_count, sizeof *launch);
  word(cursor, launch->symbol, sizeof launch->symbol);
  for (int d = 0; d < 3; ++d) launch->blocks[d] = (int32_t)number(cursor, INT32_MAX);
  for (int d = 0; d < 3; ++d) launch->threads[d] = (int32_t)number(cursor, INT32_MAX);
  launch->count = (int32_t)number(cursor, MOST_PLACES);
  for (int32_t i = 0; i < launch->count; ++i) {
    launch->tensor[i] = (int32_t)number(cursor, in->tensor_count - 1);
    launch->offset[i] = number(cursor, INT64_MAX);
  }
  end_line(cursor);
}

/* Reads what a line is about. Returns 0 behind the last one. */
static int read_line(struct cursor* cursor, struct cases* cases) {
  char kind[16];
  int64_t bytes = 0;
  word(cursor, kind, sizeof kind);
  struct one_case* last = cases->count ? &cases->cases[cases->count - 1] : NULL;
  struct tensor* tensor =
      last && last->tensor_count ? &last->tensors[last->tensor_count - 1] : NULL;
  if (!strcmp(kind, "end")) return 0;
  if (!strcmp(kind, "module")) {
    struct lathe_module* module = add(&cases->modules, &cases->module_count, sizeof *module);
    module->code = bytes_behind(cursor, &module->bytes);
  } else if (!strcmp(kind, "case")) {
    struct one_case* one = add(&cases->cases, &cases->count, sizeof *one);
    one->story = bytes_behind(cursor, &one->story_bytes);
  } else if (last && !strcmp(kind, "tensor")) {
    read_tensor(cursor, last);
  } else if (last && !strcmp(kind, "launch")) {
    read_launch(cursor, last);
  } else if (tensor && !strcmp(kind, "bytes")) {
    tensor->bytes = bytes_behind(cursor, &bytes);
    if (bytes != tensor->size) damaged(cursor, "a tensor has more or fewer bytes");
  } else if (tensor && !strcmp(kind, "any")) {
    tensor->any = 1;
    end_line(cursor);
  } else if (tensor && (!strcmp(kind, "reals") || !strcmp(kind, "integers"))) {
    read_values(cursor, tensor, kind[0] == 'i');
  } else {
    damaged(cursor, "no such line, or not here");
  }
  return !cursor->why[0];
}

static char* read_whole(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  *size = 0;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long bytes = ftell(file);
    rewind(file);
    text = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (text) *size = fread(text, 1, (size_t)bytes, file);
  }
  fclose(file);
  return text;
}

/* Reads a file. Returns 0, or -1 and why not. */
static int read_cases(const char* path, struct cases* cases, char* why, size_t size) {
  size_t bytes;
  char start[4][16];
  struct cursor cursor = {0};
  memset(cases, 0, sizeof *cases);
  cursor.text = cursor.at = read_whole(path, &bytes);
  if (!cursor.text) {
    snprintf(why, size, "cannot be read");
    return -1;
  }
  cursor.end = cursor.text + bytes;
  for (int i = 0; i < 4; ++i) word(&cursor, start[i], sizeof start[i]);
  if (strcmp(start[0], "lathe") || strcmp(start[1], "cases") || strcmp(start[2], "1")) {
    snprintf(why, size, "is no file of cases of this version");
    return -1;
  }
  if (!strcmp(start[3], "cuda")) cases->machine = &lathe_cuda;
  if (!strcmp(start[3], "opencl")) cases->machine = &lathe_opencl;
  if (!cases->machine) damaged(&cursor, "no such machine");
  end_line(&cursor);
  while (!cursor.why[0] && read_line(&cursor, cases)) continue;
  snprintf(why, size, "%s", cursor.why);
  return cursor.why[0] ? -1 : 0;
}

/* ---- what all processes know --------------------------------------------------------------- */

/* How far a file is. Its process writes, the first process reads. */
struct progress {
  int32_t count, next; /* cases, and the first that has not ended */
  int32_t running;     /* did that one begin? */
  int32_t kernel;      /* that it runs */
  int32_t beats;       /* grows as it goes on */
  int32_t failed, lost;
  int64_t kernels;
  double worst; /* error, as a part of what is allowed */
  int32_t over; /* nothing more can come of it */
};

static struct shared {
  char device[160];
  int32_t told, no_device;
  struct progress files[];
} * shared;

static void print_story(const char* story, int64_t bytes) {
  int lines = 0;
  for (const char *at = story, *end = story + bytes; at < end && lines < MOST_LINES; ++lines) {
    const char* next = memchr(at, '\n', (size_t)(end - at));
    int length = (int)((next ? next : end) - at);
    int shown = length > MOST_COLUMNS ? MOST_COLUMNS : length;
    printf("    %.*s%s\n", shown, at, shown < length ? " ..." : "");
    at = next ? next + 1 : end;
  }
}

/* Tells of a case that failed; in full, if there were few. */
static void tell(const char* path, int32_t number, const struct one_case* one, const char* why) {
  if (__atomic_fetch_add(&shared->told, 1, __ATOMIC_RELAXED) >= MOST_TOLD) return;
  const char* name = strrchr(path, '/');
  printf("FAILED %s, case %d: %s\n", name ? name + 1 : path, number, why);
  if (one) print_story(one->story, one->story_bytes);
  fflush(stdout);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static double from_f16(uint16_t bits) {
  int exponent = bits >> 10 & 31, part = bits & 1023;
  double value = exponent == 31 ? (part ? NAN : INFINITY) : part / 1024.0 + (exponent ? 1 : 0);
  for (int e = exponent ? exponent : 1; e < 15; ++e) value /= 2;
  for (int e = exponent; e > 15 && e < 31; --e) value *= 2;
  return bits >> 15 ? -value : value;
}

#define READ(type)                      \
  do {                                  \
    type value;                         \
    memcpy(&value, bytes, sizeof value); \
    *real = (double)value;              \
    *integer = (int64_t)value;          \
  } while (0)

static void read_element(const char* element, const char* bytes, double* real, int64_t* integer) {
  int64_t size = element_size(element);
  int is_signed = element[0] == 'i';
  if (strchr(element, 'f')) {
    uint32_t bits = 0;
    float single;
    *integer = 0;
    if (size == 8) {
      memcpy(real, bytes, sizeof *real);
      return;
    }
    memcpy(&bits, bytes, (size_t)size);
    if (!strcmp(element, "bf16")) bits <<= 16;
    memcpy(&single, &bits, sizeof single);
    *real = strcmp(element, "f16") ? (double)single : from_f16((uint16_t)bits);
  } else if (size == 1) {
    if (is_signed) READ(int8_t);
    else READ(uint8_t);
  } else if (size == 2) {
    if (is_signed) READ(int16_t);
    else READ(uint16_t);
  } else if (size == 4) {
    if (is_signed) READ(int32_t);
    else READ(uint32_t);
  } else {
    if (is_signed) READ(int64_t);
    else READ(uint64_t);
  }
}

/* Compares one element. Returns its error as a part of what is allowed; above 1 it is wrong. */
static double error_of(const struct tensor* tensor, int64_t k, const char* bytes, char* why,
                       size_t size) {
  const char* values = tensor->values + 4 * tensor->count;
  double is, must, allowed;
  int64_t is_integer, must_be_integer;
  memcpy(&must, values + 8 * k, sizeof must);
  memcpy(&must_be_integer, values + 8 * k, sizeof must_be_integer);
  memcpy(&allowed, values + 8 * (tensor->count + k), sizeof allowed);
  if (isinf(allowed)) return 0;
  read_element(tensor->element, bytes, &is, &is_integer);
  if (tensor->integers) {
    snprintf(why, size, "element %lld is %lld, must be %lld", (long long)k, (long long)is_integer,
             (long long)must_be_integer);
    return is_integer == must_be_integer ? 0 : INFINITY;
  }
  snprintf(why, size, "element %lld is %.9g, must be %.9g; allowed are %.3g", (long long)k, is, must,
           allowed);
  if (is == must || (isnan(is) && isnan(must))) return 0;
  double error = __builtin_fabs(is - must) / allowed;
  return error >= 0 ? error : INFINITY; /* no number is not less than any */
}

/* Compares the memory of a tensor with what it was and must be. Returns 0, or -1 and why not. */
static int compare(const struct tensor* tensor, const char* before, char* after, double* worst,
                   char* why, size_t size) {
  int64_t bytes = element_size(tensor->element), at = 0, wrong = 0;
  char one[160], first[160] = "";
  if (tensor->any) return 0;
  for (int64_t k = 0; k < tensor->count; ++k) {
    int32_t step;
    memcpy(&step, tensor->values + 4 * k, sizeof step);
    at += step;
    int64_t place = tensor->first + at * bytes;
    double error = error_of(tensor, k, after + place, one, sizeof one);
    if (error > 1 && !wrong++) snprintf(first, sizeof first, "%s", one);
    if (error > *worst) *worst = error;
    memcpy(after + place, before + place, (size_t)bytes); /* this could change; the rest not */
  }
  if (wrong)
    snprintf(why, size, "%s (%s): %lld of %lld elements are wrong; %s", tensor->name,
             tensor->element, (long long)wrong, (long long)tensor->count, first);
  for (int64_t i = 0; i < tensor->size && !wrong; ++i) {
    if (before[i] == after[i]) continue;
    snprintf(why, size, "%s (%s): byte %lld of %lld changed, behind where the tensor begins",
             tensor->name, tensor->element, (long long)(i - tensor->first),
             (long long)tensor->size);
    return -1;
  }
  return wrong ? -1 : 0;
}

/* ---- running ------------------------------------------------------------------------------- */

struct memory {
  char *before, *after;
  uint64_t there;
};

static int prepare(const struct lathe_driver* driver, void* gpu, const struct tensor* tensor,
                   struct memory* memory) {
  struct lathe_slot slot = {0, 0};
  size_t size = (size_t)tensor->size;
  memory->before = malloc(size + 1);
  memory->after = malloc(size + 1);
  if (!memory->before || !memory->after) return -1;
  if (tensor->bytes) memcpy(memory->before, tensor->bytes, size);
  else memset(memory->before, tensor->fill, size);
  if (driver->allocate(gpu, tensor->size, &memory->there)) return -1;
  slot.memory = memory->there;
  return driver->write(gpu, slot, memory->before, tensor->size);
}

/* Runs a kernel. It waits for its end, so that an error is that of this one. */
static int launch(const struct lathe_driver* driver, void* gpu, const struct launch* launch,
                  const struct memory* memory) {
  struct lathe_slot slots[MOST_PLACES];
  struct lathe_call call = {0};
  call.tensors = slots;
  call.count = launch->count;
  for (int d = 0; d < 3; ++d) {
    call.blocks[d] = launch->blocks[d];
    call.threads[d] = launch->threads[d];
  }
  for (int32_t i = 0; i < launch->count; ++i) {
    slots[i].memory = memory[launch->tensor[i]].there;
    slots[i].offset = launch->offset[i];
  }
  return driver->find(gpu, launch->symbol, &call.kernel) || driver->launch(gpu, &call) ||
                 driver->wait(gpu)
             ? -1
             : 0;
}

/* Runs all kernels of a case and reads its memory. Returns 0, or -1 with an error. */
static int run_kernels(const struct lathe_driver* driver, void* gpu, const struct one_case* one,
                       struct progress* progress, struct memory* memory) {
  for (int32_t t = 0; t < one->tensor_count; ++t)
    if (prepare(driver, gpu, &one->tensors[t], &memory[t])) return -1;
  for (int32_t i = 0; i < one->launch_count; ++i, ++progress->beats) {
    progress->kernel = i;
    if (launch(driver, gpu, &one->launches[i], memory)) return -1;
  }
  for (int32_t t = 0; t < one->tensor_count; ++t) {
    struct lathe_slot slot = {memory[t].there, 0};
    if (driver->read(gpu, slot, memory[t].after, one->tensors[t].size)) return -1;
  }
  return 0;
}

/* Runs a case. Returns 1 if it holds, 0 if not and why, -1 if the device failed. */
static int run_case(const struct lathe_driver* driver, void* gpu, const struct one_case* one,
                    struct progress* progress, double* worst, char* why, size_t size) {
  struct memory* memory = calloc((size_t)one->tensor_count + 1, sizeof *memory);
  int result = memory && run_kernels(driver, gpu, one, progress, memory) == 0 ? 1 : -1;
  if (result < 0) snprintf(why, size, "kernel %d: %s", progress->kernel, lathe_last_error());
  for (int32_t t = 0; t < one->tensor_count && result > 0; ++t)
    if (compare(&one->tensors[t], memory[t].before, memory[t].after, worst, why, size)) result = 0;
  for (int32_t t = 0; memory && t < one->tensor_count; ++t) {
    if (memory[t].there) driver->release(gpu, memory[t].there);
    free(memory[t].before);
    free(memory[t].after);
  }
  free(memory);
  return result;
}

/* Opens the device and loads all kernels. Returns 0, or -1 with an error. */
static int open_device(const struct cases* cases, struct progress* progress, void** gpu) {
  const struct lathe_driver* driver = cases->machine->driver;
  struct lathe_device about;
  void* kernel;
  if (driver->count() <= 0 || driver->describe(0, &about) || driver->open(0, gpu)) {
    shared->no_device = 1;
    return -1;
  }
  snprintf(shared->device, sizeof shared->device, "%s", about.model);
  for (int32_t i = 0; i < cases->module_count; ++i, ++progress->beats)
    if (driver->load(*gpu, &cases->modules[i])) return -1;
  /* Drivers may compile as late as that. */
  const struct one_case* first = cases->count ? cases->cases : NULL;
  return first && first->launch_count ? driver->find(*gpu, first->launches[0].symbol, &kernel) : 0;
}

/* Runs the cases of a file that are left, in this process. */
static void run_file(const char* path, struct progress* progress) {
  struct cases cases;
  char why[512];
  void* gpu = NULL;
  if (read_cases(path, &cases, why, sizeof why)) {
    progress->over = 1;
    progress->lost += 1;
    printf("LOST %s: %s\n", path, why);
    return;
  }
  progress->count = cases.count;
  if (open_device(&cases, progress, &gpu)) {
    progress->over = 1;
    progress->lost += cases.count - progress->next;
    if (!shared->no_device || !shared->told++)
      printf("LOST %s, all cases: %s\n", path, lathe_last_error());
    return;
  }
  for (int result = 0; progress->next < cases.count && result >= 0; ++progress->next) {
    const struct one_case* one = &cases.cases[progress->next];
    double worst = 0;
    progress->running = 1;
    progress->kernel = 0;
    ++progress->beats;
    result = run_case(cases.machine->driver, gpu, one, progress, &worst, why, sizeof why);
    progress->kernels += one->launch_count;
    progress->running = 0;
    if (result == 1 && worst > progress->worst) progress->worst = worst;
    if (result == 1) continue;
    ++progress->failed;
    tell(path, progress->next, one, why);
  }
  /* After an error the device may be lost: a new process goes on. */
}

/* ---- processes ----------------------------------------------------------------------------- */

struct child {
  pid_t process;
  int file;
  int32_t beats;
  double since; /* when it last went on */
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void start(struct child* child, int file, const char* path) {
  struct progress* progress = &shared->files[file];
  fflush(stdout);
  child->file = file;
  child->beats = progress->beats;
  child->since = now();
  child->process = fork();
  if (child->process == 0) {
    run_file(path, progress);
    fflush(stdout);
    _exit(0);
  }
  if (child->process < 0) {
    perror("run_cases: cannot start a process");
    exit(2);
  }
}

/* Notes that a process did not end by itself. */
static void note_death(const char* path, struct progress* progress, int state) {
  char why[160], ignored[160];
  struct cases cases;
  if (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL)
    snprintf(why, sizeof why, "it took too long");
  else
    snprintf(why, sizeof why, "it ended the process (%s %d)", WIFSIGNALED(state) ? "signal" : "status",
             WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state));
  if (!progress->running) {
    printf("LOST %s, before or after a case: %s\n", path, why);
    progress->lost += progress->count > progress->next ? progress->count - progress->next : 1;
    progress->over = 1;
    return;
  }
  int known = read_cases(path, &cases, ignored, sizeof ignored) == 0;
  size_t length = strlen(why);
  snprintf(why + length, sizeof why - length, ", in kernel %d", progress->kernel);
  tell(path, progress->next, known ? &cases.cases[progress->next] : NULL, why);
  ++progress->failed;
  ++progress->next;
  progress->running = 0;
}

/* Waits for a child for a moment. Returns 1 if nothing more is to be done for its file. */
static int look_after(struct child* child, const char* path) {
  struct progress* progress = &shared->files[child->file];
  int state = 0;
  if (waitpid(child->process, &state, WNOHANG) != child->process) {
    if (child->beats != progress->beats) child->since = now();
    child->beats = progress->beats;
    double limit = progress->running ? LIMIT_SECONDS : LIMIT_OF_LOADING;
    if (now() - child->since > limit) kill(child->process, SIGKILL);
    return 0;
  }
  child->process = 0;
  if (state != 0) note_death(path, progress, state);
  if (progress->over || progress->next >= progress->count) return 1;
  start(child, child->file, path);
  return 0;
}

static int print_totals(int files) {
  struct progress all = {0};
  for (int i = 0; i < files; ++i) {
    const struct progress* file = &shared->files[i];
    all.count += file->count;
    all.kernels += file->kernels;
    all.failed += file->failed;
    all.lost += file->lost;
    if (file->worst > all.worst) all.worst = file->worst;
  }
  if (shared->told > MOST_TOLD) printf("... and %d failures more\n", shared->told - MOST_TOLD);
  printf("device %s\n", shared->device[0] ? shared->device : "none");
  printf("%d files, %d cases, %lld kernels: %d failed, %d lost; worst error of the others %.3g of "
         "what is allowed\n",
         files, all.count, (long long)all.kernels, all.failed, all.lost, all.worst);
  if (shared->no_device) return NO_DEVICE;
  return all.failed || all.lost || !all.count ? 1 : 0;
}

int main(int count, char** arguments) {
  static struct child children[MOST_RUNNING];
  int files = count - 1, begun = 0, done = 0;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (files < 1) {
    fprintf(stderr, "usage: run_cases FILE...\n");
    return 2;
  }
  shared = mmap(NULL, sizeof *shared + (size_t)files * sizeof *shared->files,
                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("run_cases");
    return 2;
  }
  while (done < files && (!shared->no_device || done < begun)) {
    for (int i = 0; i < MOST_RUNNING && i < processors; ++i) {
      struct child* child = &children[i];
      if (child->process && look_after(child, arguments[1 + child->file])) ++done;
      if (child->process || begun == files || shared->no_device) continue;
      start(child, begun, arguments[1 + begun]);
      ++begun;
    }
    usleep(5000);
  }
  return print_totals(files);
}
