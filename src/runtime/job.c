/* Jobs in a file: reads a network, makes up its weights and inputs, and measures it; see job.h.

   A unit of work is short: the device would start it more often than run it. So it runs many times
   in one sequence, as it would stand in a network, and each time with weights of its own, which come
   from as far away as the network's would. */
#include "runtime/job.h"

#include "runtime/error.h"
#include "runtime/libc.h"
#include "runtime/made_up.h"
#include "runtime/timing.h"

enum {
  MOST_FACES = 64,
  MOST_STEPS = 4096,
  MOST_PLACES = 32768,
  MOST_MODULES = 1024,
  MOST_RANK = 16,
  SAMPLES = 11,
  MOST_COPIES = 64,      /* of a unit in one sequence */
  MOST_WEIGHT_COPIES = 8,
  JOBS_OF_A_DEVICE = 100 /* after which it is opened anew: it keeps all kernels until then */
};

/* Seconds that a sequence should take at least, and bytes from which weights are read from far. */
static const double long_enough = 0.001;
static const int64_t far_enough = (int64_t)64 << 20;

struct expected {
  const char* sums;
  int64_t bytes;
};

struct job {
  const struct lathe_machine* machine;
  int64_t far, arena, prepared, weights, first;
  int32_t inputs, outputs, steps, places, modules;
  struct lathe_face input[MOST_FACES], output[MOST_FACES];
  int64_t count[2 * MOST_FACES]; /* of elements: of the inputs, then of the outputs */
  uint32_t seed[MOST_FACES];     /* of the inputs */
  char symbol[MOST_STEPS][96];
  struct lathe_step step[MOST_STEPS];
  struct lathe_launch launch[MOST_STEPS];
  struct lathe_place place[MOST_PLACES];
  struct lathe_module module[MOST_MODULES];
  struct expected must[MOST_FACES];
  char* memory; /* the weights of one copy */
};

int64_t lathe_sums(enum lathe_numbers type, const void* elements, int64_t count, float* sums) {
  int64_t done = 0;
  for (int64_t at = 0; at < count; at += LATHE_SUM_OF, ++done) {
    double sum = 0;
    for (int64_t i = at; i < count && i < at + LATHE_SUM_OF; ++i)
      sum += (double)lathe_number_at(type, elements, i) *
             (0.5 + (double)((i - at) * 37 % LATHE_SUM_OF) / LATHE_SUM_OF);
    sums[done] = (float)sum;
  }
  return done;
}

static int is_number(float x) { return x - x == 0; }

double lathe_compare_sums(const float* is, const float* must, int64_t count) {
  double squares = 0, largest = 0;
  int64_t numbers = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!is_number(must[i])) continue;
    double off = (double)is[i] - (double)must[i];
    squares += (double)must[i] * (double)must[i];
    ++numbers;
    if (off < 0) off = -off;
    if (off != off) return off; /* no number */
    if (off > largest) largest = off;
  }
  if (numbers == 0) return -1;
  double mean = squares / (double)numbers, root = mean > 1 ? mean : 1;
  for (int i = 0; i < 80; ++i) root = 0.5 * (root + mean / root);
  return root > 0 ? largest / root : largest;
}

/* ---- text ---------------------------------------------------------------------------------- */

struct cursor {
  const struct lathe_job_file* file;
  size_t at;
  int broken; /* did something else stand where a number was to be? */
};

static char here(const struct cursor* cursor) {
  return cursor->at < cursor->file->bytes ? cursor->file->text[cursor->at] : 0;
}

static void skip_blanks(struct cursor* cursor) {
  while (here(cursor) == ' ') ++cursor->at;
}

static void word(struct cursor* cursor, char* text, size_t size) {
  size_t length = 0;
  skip_blanks(cursor);
  for (char c; (c = here(cursor)) && c != ' ' && c != '\n'; ++cursor->at)
    if (length + 1 < size) text[length++] = c;
  text[length] = 0;
  if (length == 0) cursor->broken = 1;
}

static int64_t number(struct cursor* cursor) {
  int64_t value = 0, digits = 0;
  skip_blanks(cursor);
  int negative = here(cursor) == '-';
  if (negative) ++cursor->at;
  for (char c; (c = here(cursor)) >= '0' && c <= '9'; ++cursor->at, ++digits)
    if (value < ((int64_t)1 << 56)) value = 10 * value + (c - '0');
  if (digits == 0) cursor->broken = 1;
  return negative ? -value : value;
}

/* A number from 0 to "most". */
static int64_t count_up_to(struct cursor* cursor, int64_t most) {
  int64_t value = number(cursor);
  if (value >= 0 && value <= most) return value;
  cursor->broken = 1;
  return 0;
}

static void next_line(struct cursor* cursor) {
  while (cursor->at < cursor->file->bytes && here(cursor) != '\n') ++cursor->at;
  if (cursor->at < cursor->file->bytes) ++cursor->at;
}

/* The bytes behind a line. What follows them becomes a zero, which ends texts. */
static char* bytes_behind(struct cursor* cursor, int64_t count) {
  next_line(cursor);
  if (count < 0 || (size_t)count >= cursor->file->bytes - cursor->at) {
    cursor->broken = 1;
    cursor->at = cursor->file->bytes;
    return NULL;
  }
  char* bytes = cursor->file->text + cursor->at;
  bytes[count] = 0;
  cursor->at += (size_t)count + 1;
  return bytes;
}

static int is_followed_by_bytes(const char* kind) {
  return !strcmp(kind, "expect") || !strcmp(kind, "bytes") || !strcmp(kind, "module");
}

/* The last number of a line: how many bytes follow it. */
static int64_t last_number(struct cursor* cursor) {
  int64_t value = -1;
  char text[256];
  while (here(cursor) && here(cursor) != '\n') {
    word(cursor, text, sizeof text);
    struct lathe_job_file one = {text, strlen(text)};
    struct cursor inside = {&one, 0, 0};
    value = number(&inside);
    skip_blanks(cursor);
  }
  return value;
}

/* ---- files --------------------------------------------------------------------------------- */

int lathe_job_file_read(const char* path, struct lathe_job_file* file) {
  enum { PIECE = 1 << 16 };
  static const char start[] = "lathe jobs 2\n";
  static char piece[PIECE];
  file->text = NULL;
  file->bytes = 0;
  for (int pass = 0; pass < 2; ++pass) {
    size_t all = 0, got;
    FILE* from = fopen(path, "rb");
    if (!from) return lathe_fail("cannot read '%s'", path);
    if (pass == 1) file->text = calloc(file->bytes + 1, 1);
    if (pass == 1 && !file->text) {
      fclose(from);
      return lathe_fail("no memory for '%s'", path);
    }
    while ((got = fread(piece, 1, PIECE, from)) > 0) {
      if (pass == 1) {
        if (all + got > file->bytes) got = file->bytes - all;
        memcpy(file->text + all, piece, got);
        if (got == 0) break;
      }
      all += got;
    }
    fclose(from);
    file->bytes = all;
  }
  if (file->bytes >= sizeof start - 1 && !memcmp(file->text, start, sizeof start - 1)) return 0;
  lathe_job_file_free(file);
  return lathe_fail("'%s' is no file of jobs of this version", path);
}

void lathe_job_file_free(struct lathe_job_file* file) {
  free(file->text);
  file->text = NULL;
  file->bytes = 0;
}

size_t lathe_job_next(const struct lathe_job_file* file, size_t at, char* name, size_t size) {
  struct cursor cursor = {file, at, 0};
  char kind[32];
  size_t found = file->bytes;
  while (cursor.at < file->bytes) {
    size_t line = cursor.at;
    cursor.broken = 0;
    word(&cursor, kind, sizeof kind);
    if (!strcmp(kind, "job") && found == file->bytes) {
      word(&cursor, name, size);
      found = line;
      next_line(&cursor);
    } else if (!strcmp(kind, "end") && found < file->bytes) {
      return found;
    } else if (is_followed_by_bytes(kind)) {
      bytes_behind(&cursor, last_number(&cursor));
    } else {
      next_line(&cursor);
    }
  }
  return file->bytes;
}

static const struct lathe_machine* machine_named(const char* name) {
  if (!strcmp(name, "cuda")) return &lathe_cuda;
  if (!strcmp(name, "opencl")) return &lathe_opencl;
  return NULL;
}

const struct lathe_machine* lathe_job_machine(const struct lathe_job_file* file, size_t at) {
  struct cursor cursor = {file, at, 0};
  char text[256];
  for (int i = 0; i < 3; ++i) word(&cursor, text, sizeof text);
  return machine_named(text);
}

int lathe_job_is_network(const struct lathe_job_file* file, size_t at) {
  struct cursor cursor = {file, at, 0};
  char text[256];
  for (int i = 0; i < 3; ++i) word(&cursor, text, sizeof text);
  return number(&cursor) == 0;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* Affine functions of a repacking as numbers one after the other. */
enum { MOST_NUMBERS = 4096 };
struct repacking {
  int rank;
  int64_t extents[MOST_RANK];
  int64_t numbers[MOST_NUMBERS];
  int used;
  int source, target, pieces; /* where they begin */
};

static void add_number(struct cursor* cursor, struct repacking* to, int64_t value) {
  if (to->used < MOST_NUMBERS)
    to->numbers[to->used++] = value;
  else
    cursor->broken = 1;
}

static void read_affine(struct cursor* cursor, struct repacking* to, int depth) {
  add_number(cursor, to, number(cursor));
  int64_t divisor = number(cursor), rank = count_up_to(cursor, to->rank);
  if (divisor < 1) cursor->broken = 1;
  add_number(cursor, to, divisor);
  add_number(cursor, to, rank);
  for (int64_t i = 0; i < rank; ++i) add_number(cursor, to, number(cursor));
  int64_t floors = count_up_to(cursor, depth < 8 ? 64 : 0);
  add_number(cursor, to, floors);
  for (int64_t i = 0; i < floors && !cursor->broken; ++i) {
    add_number(cursor, to, number(cursor));
    read_affine(cursor, to, depth + 1);
  }
}

static void read_repacking(struct cursor* cursor, struct repacking* to) {
  to->used = 0;
  to->rank = (int)count_up_to(cursor, MOST_RANK);
  for (int i = 0; i < to->rank; ++i) to->extents[i] = count_up_to(cursor, (int64_t)1 << 40);
  to->source = to->used;
  read_affine(cursor, to, 0);
  to->target = to->used;
  read_affine(cursor, to, 0);
  to->pieces = to->used;
  int64_t pieces = count_up_to(cursor, 256);
  add_number(cursor, to, pieces);
  for (int64_t p = 0; p < pieces && !cursor->broken; ++p) {
    int64_t constraints = count_up_to(cursor, 256);
    add_number(cursor, to, constraints);
    for (int64_t c = 0; c < constraints && !cursor->broken; ++c) {
      add_number(cursor, to, number(cursor));
      read_affine(cursor, to, 0);
    }
  }
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The value of the function that begins at *numbers, which is moved behind it. */
static int64_t evaluate(const int64_t** numbers, const int64_t* x) {
  const int64_t* n = *numbers;
  int64_t sum = n[0], divisor = n[1], rank = n[2], floors = n[3 + rank];
  for (int64_t i = 0; i < rank; ++i) sum += n[3 + i] * x[i];
  *numbers = n + 4 + rank;
  for (int64_t i = 0; i < floors; ++i) {
    int64_t coefficient = *(*numbers)++;
    sum += coefficient * evaluate(numbers, x);
  }
  return divisor == 1 ? sum : floor_divide(sum, divisor);
}

static int64_t value_at(const struct repacking* p, int where, const int64_t* x) {
  const int64_t* numbers = p->numbers + where;
  return evaluate(&numbers, x);
}

/* Does the guard hold? Without any pieces it always does. */
static int is_inside(const struct repacking* p, const int64_t* x) {
  const int64_t* numbers = p->numbers + p->pieces;
  int64_t pieces = *numbers++;
  int any = pieces == 0;
  for (int64_t i = 0; i < pieces; ++i) {
    int64_t constraints = *numbers++;
    int all = 1;
    for (int64_t c = 0; c < constraints; ++c) {
      int64_t equal = *numbers++, value = evaluate(&numbers, x);
      if (equal ? value != 0 : value < 0) all = 0;
    }
    if (all) any = 1;
  }
  return any;
}

static int is_linear(const struct repacking* p, int where) {
  const int64_t* n = p->numbers + where;
  return n[1] == 1 && n[2] == p->rank && n[3 + n[2]] == 0;
}

/* Copies elements of so many bytes into another order, none from or to a place outside. */
static int repack(const struct repacking* p, size_t bytes, const char* from, int64_t have, char* to,
                  int64_t room) {
  int64_t at[MOST_RANK] = {0};
  int linear = p->rank > 0 && p->numbers[p->pieces] == 0 && is_linear(p, p->source) &&
               is_linear(p, p->target);
  int64_t inner = linear ? p->extents[p->rank - 1] : 1;
  int64_t s = linear ? p->numbers[p->source + 2 + p->rank] : 0;
  int64_t t = linear ? p->numbers[p->target + 2 + p->rank] : 0;
  for (int i = 0; i < p->rank; ++i)
    if (p->extents[i] == 0) return 0;
  for (;;) {
    if (is_inside(p, at)) {
      int64_t source = value_at(p, p->source, at), target = value_at(p, p->target, at);
      for (int64_t i = 0; i < inner; ++i, source += s, target += t) {
        if (source < 0 || source >= have || target < 0 || target >= room) return -1;
        memcpy(to + (size_t)target * bytes, from + (size_t)source * bytes, bytes);
      }
    }
    int d = p->rank - (linear ? 1 : 0);
    while (d > 0 && ++at[d - 1] == p->extents[d - 1]) at[--d] = 0;
    if (d <= 0) return 0;
  }
}

static void make_up_weights(struct cursor* cursor, struct job* job, int is_packed) {
  static struct repacking packing;
  char text[32];
  word(cursor, text, sizeof text);
  enum lathe_numbers type = lathe_numbers_named(text);
  int64_t bytes = (int64_t)lathe_number_bytes(type);
  int64_t offset = count_up_to(cursor, job->weights), count = count_up_to(cursor, 1 << 30);
  uint32_t seed = (uint32_t)number(cursor);
  int64_t room = (job->weights - offset) / bytes;
  char* to = job->memory + offset;
  if (is_packed) read_repacking(cursor, &packing);
  if (cursor->broken || type == LATHE_NO_NUMBERS || offset % bytes || (!is_packed && count > room)) {
    cursor->broken = 1;
    return;
  }
  if (!is_packed) {
    float most = job->far == 0 ? LATHE_MOST_OF_WEIGHTS : LATHE_MOST_MADE_UP;
    lathe_make_up_from(seed, type, to, count, most);
    return;
  }
  char* numbers = calloc((size_t)count + 1, (size_t)bytes);
  if (!numbers) {
    cursor->broken = 1;
    return;
  }
  lathe_make_up_from(seed, type, numbers, count, LATHE_MOST_MADE_UP);
  if (repack(&packing, (size_t)bytes, numbers, count, to, room)) cursor->broken = 1;
  free(numbers);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static const char* const element_names[] = {"f32", "tf32", "f16", "bf16", "f64", "i64",
                                            "i32", "i16",  "i8",  "u8",   "bool"};
static const int64_t element_bytes[] = {4, 4, 2, 2, 8, 8, 4, 2, 1, 1, 1};

static void read_face(struct cursor* cursor, struct job* job, int is_input) {
  char text[32];
  int32_t at = is_input ? job->inputs : job->outputs;
  struct lathe_face* face = is_input ? &job->input[at] : &job->output[at];
  if (at >= MOST_FACES) {
    cursor->broken = 1;
    return;
  }
  word(cursor, text, sizeof text);
  face->bytes = 0;
  int64_t count = count_up_to(cursor, (int64_t)1 << 36);
  for (size_t i = 0; i < sizeof element_bytes / sizeof *element_bytes; ++i) {
    if (strcmp(text, element_names[i])) continue;
    face->element = element_names[i];
    face->bytes = count * element_bytes[i];
  }
  if (!face->element) cursor->broken = 1;
  face->name = "";
  job->count[is_input ? at : MOST_FACES + at] = count;
  if (is_input) job->seed[at] = (uint32_t)number(cursor);
  ++*(is_input ? &job->inputs : &job->outputs);
}

static void read_step(struct cursor* cursor, struct job* job) {
  int32_t at = job->steps;
  if (at >= MOST_STEPS) {
    cursor->broken = 1;
    return;
  }
  word(cursor, job->symbol[at], sizeof job->symbol[at]);
  job->launch[at].kernel = job->symbol[at];
  for (int d = 0; d < 3; ++d) job->launch[at].blocks[d] = (int32_t)count_up_to(cursor, 1 << 30);
  for (int d = 0; d < 3; ++d) job->launch[at].threads[d] = (int32_t)count_up_to(cursor, 1 << 20);
  int64_t tensors = count_up_to(cursor, MOST_PLACES - job->places);
  job->step[at].first = job->places;
  job->step[at].tensors = (int32_t)tensors;
  job->step[at].count = 1;
  for (int64_t i = 0; i < tensors; ++i) {
    struct lathe_place* place = &job->place[job->places++];
    place->where = (int32_t)count_up_to(cursor, LATHE_PREPARED);
    int32_t most = place->where == LATHE_INPUT    ? job->inputs - 1
                   : place->where == LATHE_OUTPUT ? job->outputs - 1
                                                  : 0;
    place->index = (int32_t)count_up_to(cursor, most);
    place->offset = number(cursor);
  }
  ++job->steps;
}

/* Finds what the outputs must be, anywhere in the file. */
static void find_expected(const struct lathe_job_file* file, const char* key, struct job* job) {
  struct cursor cursor = {file, 0, 0};
  char kind[32], text[128];
  while (cursor.at < file->bytes) {
    cursor.broken = 0;
    word(&cursor, kind, sizeof kind);
    if (!is_followed_by_bytes(kind)) {
      next_line(&cursor);
      continue;
    }
    int64_t output = -1;
    if (!strcmp(kind, "expect")) {
      word(&cursor, text, sizeof text);
      if (!strcmp(text, key)) output = number(&cursor);
    }
    int64_t bytes = last_number(&cursor);
    const char* sums = bytes_behind(&cursor, bytes);
    if (!sums || output < 0 || output >= MOST_FACES) continue;
    job->must[output].sums = sums;
    job->must[output].bytes = bytes;
  }
}

static void read_line(struct cursor* cursor, const char* kind, struct job* job) {
  char text[128];
  if (!strcmp(kind, "must")) {
    word(cursor, text, sizeof text);
    find_expected(cursor->file, text, job);
  } else if (!strcmp(kind, "memory")) {
    const int64_t most = (int64_t)1 << 38;
    job->arena = count_up_to(cursor, most);
    job->prepared = count_up_to(cursor, most);
    job->weights = count_up_to(cursor, most);
    free(job->memory);
    job->memory = aligned_alloc(64, ((size_t)job->weights + 127) / 64 * 64);
    if (job->memory)
      memset(job->memory, 0, (size_t)job->weights);
    else
      cursor->broken = 1;
  } else if (!strcmp(kind, "input") || !strcmp(kind, "output")) {
    read_face(cursor, job, kind[0] == 'i');
  } else if (!job->memory) {
    cursor->broken = 1;
  } else if (!strcmp(kind, "numbers") || !strcmp(kind, "packed")) {
    make_up_weights(cursor, job, kind[0] == 'p');
  } else if (!strcmp(kind, "bytes")) {
    int64_t offset = count_up_to(cursor, job->weights), bytes = number(cursor);
    const char* from = bytes_behind(cursor, bytes);
    if (!from || bytes > job->weights - offset)
      cursor->broken = 1;
    else
      memcpy(job->memory + offset, from, (size_t)bytes);
    return;
  } else if (!strcmp(kind, "module")) {
    int64_t bytes = number(cursor);
    const char* code = bytes_behind(cursor, bytes);
    if (job->modules >= MOST_MODULES || !code) {
      cursor->broken = 1;
      return;
    }
    job->module[job->modules].code = code;
    job->module[job->modules++].bytes = bytes;
    return;
  } else if (!strcmp(kind, "step")) {
    read_step(cursor, job);
  } else if (!strcmp(kind, "first")) {
    job->first = count_up_to(cursor, job->steps);
  } else {
    cursor->broken = 1;
  }
  next_line(cursor);
}

static int read_job(const struct lathe_job_file* file, size_t at, struct job* job) {
  struct cursor cursor = {file, at, 0};
  char kind[32], text[256];
  word(&cursor, kind, sizeof kind);
  word(&cursor, text, sizeof text);
  word(&cursor, text, sizeof text);
  job->machine = machine_named(text);
  job->far = number(&cursor);
  next_line(&cursor);
  if (!job->machine) return lathe_fail("this program knows no machine '%.64s'", text);
  while (!cursor.broken) {
    word(&cursor, kind, sizeof kind);
    if (cursor.broken || !strcmp(kind, "end")) break;
    read_line(&cursor, kind, job);
  }
  if (cursor.broken) return lathe_fail("the job is damaged: its line '%.32s'", kind);
  return 0;
}

/* ---- measuring ----------------------------------------------------------------------------- */

/* What one model runs: the steps so many times, with so many copies of the weights. */
struct repeated {
  struct lathe_network network;
  struct lathe_step* step;
  struct lathe_launch* launch;
  struct lathe_place* place;
  char* weights;
  void* model;
};

static void end_repeated(struct repeated* repeated) {
  if (repeated->model) lathe_gpu_destroy(repeated->model);
  free(repeated->step);
  free(repeated->launch);
  free(repeated->place);
  free(repeated->weights);
  memset(repeated, 0, sizeof *repeated);
}

static int64_t rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

static void add_steps(const struct job* job, struct repeated* to, int32_t from, int32_t end,
                      int64_t copy) {
  for (int32_t i = from; i < end; ++i) {
    struct lathe_network* network = &to->network;
    struct lathe_step step = job->step[i];
    for (int32_t t = 0; t < step.tensors; ++t) {
      struct lathe_place place = job->place[step.first + t];
      if (place.where == LATHE_WEIGHTS) place.offset += copy * rounded(job->weights);
      if (place.where == LATHE_PREPARED) place.offset += copy * rounded(job->prepared);
      to->place[network->places + t] = place;
    }
    step.first = network->places;
    network->places += step.tensors;
    to->launch[network->steps] = job->launch[i];
    to->step[network->steps++] = step;
  }
}

static int begin_repeated(const struct job* job, void* gpu, int64_t times, int64_t copies,
                          int with_modules, struct repeated* to) {
  int64_t steps = job->first * copies + (job->steps - job->first) * times;
  int64_t places = job->places * (times + copies);
  memset(to, 0, sizeof *to);
  to->step = calloc((size_t)steps + 1, sizeof *to->step);
  to->launch = calloc((size_t)steps + 1, sizeof *to->launch);
  to->place = calloc((size_t)places + 1, sizeof *to->place);
  to->weights = calloc((size_t)(copies * rounded(job->weights)) + 1, 1);
  if (!to->step || !to->launch || !to->place || !to->weights)
    return lathe_fail("no memory for %lld steps", (long long)steps);
  for (int64_t c = 0; c < copies; ++c)
    memcpy(to->weights + c * rounded(job->weights), job->memory, (size_t)job->weights);
  for (int64_t c = 0; c < copies; ++c) add_steps(job, to, 0, (int32_t)job->first, c);
  to->network.first_step = to->network.steps;
  for (int64_t i = 0; i < times; ++i)
    add_steps(job, to, (int32_t)job->first, job->steps, i % copies);
  to->network.version = LATHE_RUNTIME_VERSION;
  to->network.name = to->network.target = "job";
  to->network.inputs = job->inputs;
  to->network.outputs = job->outputs;
  to->network.step = to->step;
  to->network.place = to->place;
  to->network.input = job->input;
  to->network.output = job->output;
  to->network.weights = to->weights;
  to->network.arena_bytes = job->arena;
  to->network.prepared_bytes = copies * rounded(job->prepared);
  to->network.machine = job->machine;
  to->network.launch = to->launch;
  to->network.module = job->module;
  to->network.modules = with_modules ? job->modules : 0;
  to->network.weight_bytes = copies * rounded(job->weights);
  return lathe_gpu_create_on(gpu, &to->network, &to->model);
}

static double compare_output(const struct job* job, int32_t i, const void* output) {
  enum lathe_numbers type = lathe_numbers_named(job->output[i].element);
  int64_t count = job->count[MOST_FACES + i];
  int64_t sums = (count + LATHE_SUM_OF - 1) / LATHE_SUM_OF;
  if (!job->must[i].sums || type == LATHE_NO_NUMBERS ||
      job->must[i].bytes != sums * (int64_t)sizeof(float))
    return -1;
  float* is = calloc((size_t)sums + 1, sizeof *is);
  float* must = calloc((size_t)sums + 1, sizeof *must);
  double off = -1;
  if (is && must) {
    memcpy(must, job->must[i].sums, (size_t)job->must[i].bytes);
    lathe_sums(type, output, count, is);
    off = lathe_compare_sums(is, must, sums);
  }
  free(is);
  free(must);
  return off;
}

struct buffers {
  void* memory[2 * MOST_FACES]; /* inputs, then outputs */
};

static int allocate_buffers(const struct job* job, struct buffers* to) {
  memset(to, 0, sizeof *to);
  for (int32_t i = 0; i < job->inputs + job->outputs; ++i) {
    int is_input = i < job->inputs;
    const struct lathe_face* face = is_input ? &job->input[i] : &job->output[i - job->inputs];
    to->memory[i] = aligned_alloc(64, ((size_t)face->bytes + 127) / 64 * 64);
    if (!to->memory[i]) return lathe_fail("no memory for its inputs and outputs");
    memset(to->memory[i], 0, (size_t)face->bytes);
    enum lathe_numbers type = lathe_numbers_named(face->element);
    if (is_input && type != LATHE_NO_NUMBERS)
      lathe_make_up_from(job->seed[i], type, to->memory[i], job->count[i], LATHE_MOST_MADE_UP);
  }
  return 0;
}

/* Runs a model as often as fits into so many seconds. The times are of one of "each" in it. */
static int sample(void* model, double seconds, double each, struct lathe_job_times* times) {
  double samples[SAMPLES], once = 0;
  if (lathe_gpu_repeat(model, 2, &once)) return -1;
  int runs = (int)(seconds / SAMPLES / (once / 2 + 1e-9));
  runs = runs < 1 ? 1 : runs > 10000 ? 10000 : runs;
  for (int i = 0; i < SAMPLES; ++i) {
    if (lathe_gpu_repeat(model, runs, &samples[i])) return -1;
    samples[i] /= (double)runs * each;
  }
  lathe_sort(samples, SAMPLES);
  times->least = samples[0];
  times->median = samples[SAMPLES / 2];
  return 0;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

static int measure_on(const struct job* job, void* gpu, double seconds, struct buffers* buffers,
                      struct repeated* repeated, struct lathe_job_times* times) {
  double began = lathe_now(), once = 0;
  void** outputs = buffers->memory + job->inputs;
  if (begin_repeated(job, gpu, 1, 1, 1, repeated) ||
      lathe_gpu_run(repeated->model, (const void* const*)buffers->memory, outputs))
    return -1;
  times->first = lathe_now() - began;
  times->off = job->outputs > 0 ? 0 : -1;
  for (int32_t i = 0; i < job->outputs; ++i) {
    double off = compare_output(job, i, outputs[i]);
    if (!(off <= times->off)) times->off = off;
    if (off < 0) times->off = -1; /* what was not compared did not pass */
    if (!(off >= 0)) break;
  }
  if (lathe_gpu_repeat(repeated->model, 2, &once)) return -1;
  int64_t steps = job->steps - job->first;
  int64_t copies = job->far == 0 ? 1 : clamp((int64_t)(long_enough / (once / 2 + 1e-9)), 1,
                                             clamp(MOST_STEPS / clamp(steps, 1, MOST_STEPS), 1,
                                                   MOST_COPIES));
  if (copies > 1) {
    int64_t near = job->far < far_enough ? job->far : far_enough;
    int64_t of_weights = clamp(near / clamp(job->weights, 1, near + 1), 1, MOST_WEIGHT_COPIES);
    end_repeated(repeated);
    if (begin_repeated(job, gpu, copies, of_weights < copies ? of_weights : copies, 0, repeated) ||
        lathe_gpu_run(repeated->model, (const void* const*)buffers->memory, outputs))
      return -1;
  }
  return sample(repeated->model, seconds, (double)copies, times);
}

static int open_device(const struct job* job, struct lathe_job_device* device) {
  int is_other = device->machine != job->machine || device->jobs >= JOBS_OF_A_DEVICE;
  if (device->gpu && is_other) {
    device->machine->driver->close(device->gpu);
    device->gpu = NULL;
  }
  device->machine = job->machine;
  if (device->gpu) return 0;
  device->jobs = 0;
  return job->machine->driver->open(0, &device->gpu);
}

int lathe_job_measure(const struct lathe_job_file* file, size_t at, struct lathe_job_device* device,
                      double seconds, struct lathe_job_times* times) {
  static struct buffers buffers;
  struct repeated repeated;
  struct job* job = calloc(1, sizeof *job);
  memset(times, 0, sizeof *times);
  memset(&repeated, 0, sizeof repeated);
  memset(&buffers, 0, sizeof buffers);
  if (!job) return lathe_fail("no memory for a job");
  int broken = read_job(file, at, job) || open_device(job, device) ||
               allocate_buffers(job, &buffers) ||
               measure_on(job, device->gpu, seconds, &buffers, &repeated, times);
  if (broken) snprintf(times->why, sizeof times->why, "%s", lathe_last_error());
  ++device->jobs;
  end_repeated(&repeated);
  for (int32_t i = 0; i < 2 * MOST_FACES; ++i) free(buffers.memory[i]);
  free(job->memory);
  free(job);
  return broken ? -1 : 0;
}
