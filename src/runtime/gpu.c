/* Models on GPUs: weights and all values stay in the memory of the device; see gpu.h. */
#include "runtime/gpu.h"

#include "runtime/error.h"
#include "runtime/libc.h"
#include "runtime/made_up.h"

struct gpu_model {
  const struct lathe_network* network;
  const struct lathe_driver* driver;
  void* gpu;
  int opened; /* by this model */
  uint64_t arena, weights, prepared;
  uint64_t *inputs, *outputs;
  struct lathe_slot* slots; /* of every place */
  struct lathe_call* calls; /* of every step */
  void* sequence;           /* all steps of a run; null if the driver has no such thing */
};

int lathe_find_functions(void* library, const char* whose, const struct lathe_function* functions,
                         size_t count) {
  for (size_t i = 0; i < count; ++i) {
    void* found = dlsym(library, functions[i].name);
    if (!found)
      return lathe_fail("%s is too old: it has no %s; install a newer one", whose,
                        functions[i].name);
    *(void**)functions[i].to = found;
  }
  return 0;
}

static int launch_steps(struct gpu_model* model, int32_t first, int32_t end) {
  for (int32_t i = first; i < end; ++i)
    if (model->driver->launch(model->gpu, &model->calls[i])) return -1;
  return 0;
}

static int allocate_faces(struct gpu_model* model, const struct lathe_face* faces, int32_t count,
                          uint64_t** memory) {
  *memory = calloc((size_t)count + 1, sizeof **memory);
  if (!*memory) return lathe_fail("no memory for %d inputs or outputs", count);
  for (int32_t i = 0; i < count; ++i)
    if (model->driver->allocate(model->gpu, faces[i].bytes, &(*memory)[i])) return -1;
  return 0;
}

static int allocate_all(struct gpu_model* model) {
  const struct lathe_network* network = model->network;
  const struct lathe_driver* driver = model->driver;
  model->slots = calloc((size_t)network->places + 1, sizeof *model->slots);
  model->calls = calloc((size_t)network->steps + 1, sizeof *model->calls);
  if (!model->slots || !model->calls) return lathe_fail("no memory for %d steps", network->steps);
  return driver->allocate(model->gpu, network->arena_bytes, &model->arena) ||
                 driver->allocate(model->gpu, network->weight_bytes, &model->weights) ||
                 driver->allocate(model->gpu, network->prepared_bytes, &model->prepared) ||
                 allocate_faces(model, network->input, network->inputs, &model->inputs) ||
                 allocate_faces(model, network->output, network->outputs, &model->outputs)
             ? -1
             : 0;
}

static uint64_t memory_of(const struct gpu_model* model, const struct lathe_place* place) {
  switch (place->where) {
    case LATHE_WEIGHTS:
      return model->weights;
    case LATHE_INPUT:
      return model->inputs[place->index];
    case LATHE_OUTPUT:
      return model->outputs[place->index];
    case LATHE_PREPARED:
      return model->prepared;
    default:
      return model->arena;
  }
}

/* Loads the kernels and says of each step what is launched. */
static int find_calls(struct gpu_model* model) {
  const struct lathe_network* network = model->network;
  for (int64_t i = 0; i < network->modules; ++i)
    if (model->driver->load(model->gpu, &network->module[i])) return -1;
  for (int32_t i = 0; i < network->places; ++i) {
    const struct lathe_place* place = &network->place[i];
    struct lathe_slot slot = {memory_of(model, place), place->offset};
    model->slots[i] = slot;
  }
  for (int32_t i = 0; i < network->steps; ++i) {
    const struct lathe_launch* launch = &network->launch[i];
    struct lathe_call* call = &model->calls[i];
    if (model->driver->find(model->gpu, launch->kernel, &call->kernel)) return -1;
    for (int d = 0; d < 3; ++d) {
      call->blocks[d] = launch->blocks[d];
      call->threads[d] = launch->threads[d];
    }
    call->tensors = model->slots + network->step[i].first;
    call->count = network->step[i].tensors;
  }
  return 0;
}

static int record_run(struct gpu_model* model) {
  int32_t first = (int32_t)model->network->first_step;
  if (!model->driver->record) return 0;
  return model->driver->record(model->gpu, model->calls + first, model->network->steps - first,
                               &model->sequence);
}

static int run_all(struct gpu_model* model) {
  if (model->sequence) return model->driver->replay(model->gpu, model->sequence);
  return launch_steps(model, (int32_t)model->network->first_step, model->network->steps);
}

int lathe_gpu_create_on(void* gpu, const struct lathe_network* network, void** made) {
  if (!network->launch || network->modules < 0 || network->weight_bytes < 0)
    return lathe_fail("damaged network: nothing to launch");
  struct gpu_model* model = calloc(1, sizeof *model);
  if (!model) return lathe_fail("no memory for a model");
  model->network = network;
  model->driver = network->machine->driver;
  model->gpu = gpu;
  if (!gpu) model->opened = model->driver->open(0, &model->gpu) == 0;
  if (model->gpu && allocate_all(model) == 0 && find_calls(model) == 0 &&
      lathe_gpu_prepare(model) == 0 && record_run(model) == 0) {
    *made = model;
    return 0;
  }
  lathe_gpu_destroy(model);
  return -1;
}

int lathe_gpu_create(const struct lathe_network* network, void** model) {
  return lathe_gpu_create_on(NULL, network, model);
}

static void release_faces(struct gpu_model* model, uint64_t* memory, int32_t count) {
  for (int32_t i = 0; memory && i < count; ++i)
    if (memory[i]) model->driver->release(model->gpu, memory[i]);
  free(memory);
}

void lathe_gpu_destroy(void* made) {
  struct gpu_model* model = made;
  const struct lathe_driver* driver = model->driver;
  if (model->gpu) {
    if (model->sequence) driver->forget(model->gpu, model->sequence);
    if (model->arena) driver->release(model->gpu, model->arena);
    if (model->weights) driver->release(model->gpu, model->weights);
    if (model->prepared) driver->release(model->gpu, model->prepared);
    release_faces(model, model->inputs, model->network->inputs);
    release_faces(model, model->outputs, model->network->outputs);
    if (model->opened) driver->close(model->gpu);
  }
  free(model->slots);
  free(model->calls);
  free(model);
}

/* Small numbers of both signs in place of weights: a network without any is there to be measured. */
static int make_weights_up(struct gpu_model* model) {
  enum { NUMBERS = 1 << 18 };
  const int64_t most = NUMBERS * (int64_t)sizeof(float), all = model->network->weight_bytes;
  float* numbers = calloc(NUMBERS, sizeof *numbers);
  if (!numbers) return lathe_fail("no memory for weights");
  lathe_make_up(numbers, NUMBERS, LATHE_MOST_OF_WEIGHTS);
  int broken = 0;
  for (int64_t at = 0; at < all && !broken; at += most) {
    struct lathe_slot slot = {model->weights, at};
    broken = model->driver->write(model->gpu, slot, numbers, all - at < most ? all - at : most);
  }
  if (!broken) broken = model->driver->wait(model->gpu);
  free(numbers);
  return broken;
}

static int write_weights(struct gpu_model* model) {
  const struct lathe_network* network = model->network;
  struct lathe_slot slot = {model->weights, 0};
  if (!network->weights && network->weight_bytes > 0) return make_weights_up(model);
  return model->driver->write(model->gpu, slot, network->weights, network->weight_bytes);
}

int lathe_gpu_prepare(void* made) {
  struct gpu_model* model = made;
  if (write_weights(model)) return -1;
  return launch_steps(model, 0, (int32_t)model->network->first_step) ||
                 model->driver->wait(model->gpu)
             ? -1
             : 0;
}

int lathe_gpu_run(void* made, const void* const* inputs, void* const* outputs) {
  struct gpu_model* model = made;
  const struct lathe_network* network = model->network;
  for (int32_t i = 0; i < network->inputs; ++i) {
    struct lathe_slot slot = {model->inputs[i], 0};
    if (model->driver->write(model->gpu, slot, inputs[i], network->input[i].bytes)) return -1;
  }
  if (run_all(model)) return -1;
  for (int32_t i = 0; i < network->outputs; ++i) {
    struct lathe_slot slot = {model->outputs[i], 0};
    if (model->driver->read(model->gpu, slot, outputs[i], network->output[i].bytes)) return -1;
  }
  return model->driver->wait(model->gpu);
}

int lathe_gpu_run_step(void* made, int32_t step) {
  struct gpu_model* model = made;
  return launch_steps(model, step, step + 1) || model->driver->wait(model->gpu) ? -1 : 0;
}

int lathe_gpu_repeat(void* made, int32_t times, double* seconds) {
  struct gpu_model* model = made;
  if (model->driver->start_clock(model->gpu)) return -1;
  for (int32_t i = 0; i < times; ++i)
    if (run_all(model)) return -1;
  return model->driver->stop_clock(model->gpu, seconds);
}
