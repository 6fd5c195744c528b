// units.cpp: units of work to kernels and objects. Interface: units.h.
#include "compile/units.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "compile/objects.h"
#include "compile/padding.h"
#include "compile/sums.h"
#include "nest/border.h"
#include "nest/footprint.h"
#include "nest/wide_sums.h"

namespace lathe {
namespace {

/// Returns the text that decides what a kernel's object is.
std::string signature(const Code& code) {
  std::string text = fmt::format("{}\n{}", static_cast<int>(code.number), print(code));
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    text += fmt::format("{} {} {};", name_of(code.tensors[t].element), code.scratch[t],
                        static_cast<bool>(code.used[t]));
  }
  return text;
}

/// Says of each operand whether it is known beforehand: then it is a weight, and can be packed.
Nest with_roles(const Nest& nest, const std::vector<bool>& constant) {
  std::vector<Tensor> tensors = nest.tensors();
  size_t in = 0;
  for (Tensor& tensor : tensors) {
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    tensor.role = constant.at(in++) ? Role::weight : Role::input;
  }
  auto meaning = std::make_shared<Meaning>(std::move(tensors), nest.statements(), nest.order);
  return {nest.name, std::move(meaning), nest.order};
}

Nest nest_for(isl::ctx ctx, const Unit& unit) {
  if (unit.border_only) {
    return border_of(ctx, unit.border_type.shape, unit.border, unit.padding,
                     unit.border_type.element);
  }
  Nest nest = nest_of(ctx, unit.call);
  size_t in = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    const std::vector<Pad>& border = unit.borders.at(in++);
    if (border.empty() && is_padded(tensor.pad)) nest = without_padding(nest, t);
    if (!border.empty()) nest = with_wider_padding(nest, t, border);
  }
  return with_roles(nest, unit.constant);
}

/// Returns where the tensors of a unit's nest lie; locals have no layout yet.
std::vector<Layout> layouts_for(const Nest& nest, const Unit& unit) {
  std::vector<Layout> layouts(nest.tensors().size());
  size_t in = 0, out = 0;
  for (size_t t = 0; t < layouts.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role == Role::local || tensor.role == Role::constant) continue;
    bool output = tensor.role == Role::output;
    layouts[t] = output ? unit.outputs.at(out++) : unit.inputs.at(in++);
    if (layouts[t].axes.size() != tensor.shape.size()) {
      layouts[t] = row_major_layout(tensor.shape);
    }
  }
  return layouts;
}

Unset unset_in(const Unit& unit) { return unit.border_only ? Unset::kept : Unset::zero; }

std::shared_ptr<const Made> make_one(isl::ctx ctx, Compiler& compiler, const Unit& unit,
                                     const CompileOptions& options) {
  auto made = std::make_shared<Made>(lowered(ctx, unit, options.target, Listing::none,
                                             choice_for(options, unit), options.max_error));
  std::string text =
      fmt::format("{} {} {} {} {}", backend_for(options.target).version, program_version(),
                  full_name(options.target), options.target.features,
                  options.effort == Effort::quick ? "quick" : "thorough");
  for (const Code& code : made->code.kernels) text += signature(code);
  std::string name = fingerprint(text);
  std::vector<NamedCode> named;
  for (size_t i = 0; i < made->code.kernels.size(); ++i) {
    made->symbols.push_back(fmt::format("lathe_kernel_{}_{}", name, i));
    named.push_back({made->symbols.back(), made->code.kernels[i]});
  }
  if (named.empty()) return made;
  auto kept = options.cache ? kept_object(name) : std::nullopt;
  made->object = kept ? *kept : compiler.object(named);
  if (options.cache && !kept) keep_object(name, made->object);
  return made;
}

}  // namespace

std::string print_layout(const Layout& layout) {
  std::string text = fmt::format("{}", layout.size);
  for (const Layout::Axis& axis : layout.axes) {
    text += fmt::format(" {}/{}/{}", axis.block, axis.outer, axis.inner);
  }
  return text;
}

UnitNest nest_of(isl::ctx ctx, const Unit& unit) {
  Nest nest = with_wide_sums(nest_for(ctx, unit));
  std::vector<Layout> layouts = layouts_for(nest, unit);
  return {std::move(nest), std::move(layouts)};
}

Made lowered(isl::ctx ctx, const Unit& unit, const Target& target, Listing listing,
             const std::optional<Choice>& choice, double max_error) {
  auto [nest, layouts] = nest_of(ctx, unit);
  Made made;
  made.flops = 2 * static_cast<double>(operations(nest).macs);
  nest = with_blocked_sums(nest, layouts);
  made.code = lower_node(nest, layouts, target, listing, unset_in(unit), choice, max_error);
  return made;
}

std::vector<Fitting> fitting_schedules(isl::ctx ctx, const Unit& unit, const Target& target) {
  auto [nest, layouts] = nest_of(ctx, unit);
  nest = with_blocked_sums(nest, layouts);
  return fitting_schedules(nest, layouts, target, unset_in(unit));
}

std::shared_ptr<const Made> make_unit(const Unit& unit, const CompileOptions& options) {
  Context context;
  std::unique_ptr<Compiler> compiler = make_compiler(options.target, options.effort);
  return make_one(context, *compiler, unit, options);
}

std::string name_of_kernels(const NodeCode& code) {
  std::string text;
  for (const Code& kernel : code.kernels) text += signature(kernel);
  return fingerprint(text);
}

std::optional<Choice> choice_for(const CompileOptions& options, const Unit& unit) {
  return options.choose ? options.choose(unit.key) : std::nullopt;
}

std::shared_ptr<const Made> MadeUnits::find(const std::string& key) const {
  std::lock_guard lock(mutex_);
  auto found = made_.find(key);
  return found == made_.end() ? nullptr : found->second;
}

void MadeUnits::keep(const std::string& key, std::shared_ptr<const Made> made) {
  std::lock_guard lock(mutex_);
  made_.insert_or_assign(key, std::move(made));
}

std::vector<std::shared_ptr<const Made>> make_units(const std::vector<Unit>& units,
                                                    const CompileOptions& options) {
  std::map<std::string, size_t> first;
  std::vector<size_t> kinds;  // that are not made yet
  std::vector<std::shared_ptr<const Made>> made(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    if (!first.try_emplace(units[i].key, i).second) continue;
    if (options.made) made[i] = options.made->find(units[i].key);
    if (!made[i]) kinds.push_back(i);
  }
  const Backend& backend = backend_for(options.target);
  std::atomic<size_t> next = 0, done = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  auto work = [&] {
    Context context;
    std::unique_ptr<Compiler> compiler = backend.compiler(options.target, options.effort);
    for (size_t i = next++; i < kinds.size(); i = next++) {
      try {
        made[kinds[i]] = make_one(context, *compiler, units[kinds[i]], options);
        if (options.made) options.made->keep(units[kinds[i]].key, made[kinds[i]]);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = kinds.size();
      }
      std::lock_guard lock(mutex);
      ++done;
      if (options.progress) options.progress(done, kinds.size());
    }
  };
  size_t count = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  count = std::clamp<size_t>(count, 1, std::max<size_t>(1, kinds.size()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
  if (!kinds.empty()) work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  for (size_t i = 0; i < units.size(); ++i) made[i] = made[first[units[i].key]];
  return made;
}

}  // namespace lathe
