// job_record.cpp: the text of jobs. Interface: job_record.h.
#include "search/job_record.h"

#include <algorithm>

#include "base/error.h"
#include "compile/objects.h"
#include "runtime/job.h"
#include "search/unit_network.h"

namespace lathe {
namespace {

/// Weights of a network that are no larger are written as they are: they may be numbers of
/// elements, or other constants that must be right.
constexpr long as_they_are = 4096;

std::string key_of_expected(const Unit& unit) { return fingerprint(unit.key).substr(0, 16); }

std::string print_affine(const poly::Affine& a) {
  std::string text = fmt::format(" {} {} {}", a.constant, a.divisor, a.coefficients.size());
  for (long coefficient : a.coefficients) text += fmt::format(" {}", coefficient);
  text += fmt::format(" {}", a.floors.size());
  for (const poly::Affine::Floor& floor : a.floors) {
    text += fmt::format(" {}", floor.coefficient) + print_affine(floor.of);
  }
  return text;
}

std::string print_repacking(const Repacking& p) {
  std::string text = fmt::format(" {}", p.extents.size());
  for (long extent : p.extents) text += fmt::format(" {}", extent);
  text += print_affine(p.source) + print_affine(p.target);
  text += fmt::format(" {}", p.guard.size());
  for (const auto& piece : p.guard) {
    text += fmt::format(" {}", piece.size());
    for (const auto& constraint : piece) {
      text += constraint.equality ? " 1" : " 0";
      text += print_affine(constraint.expression);
    }
  }
  return text;
}

std::string with_bytes(const std::string& line, std::string_view bytes) {
  std::string text = fmt::format("{} {}\n", line, bytes.size());
  text += bytes;
  return text + "\n";
}

std::string_view bytes_at(const std::vector<std::byte>& all, long offset, long count) {
  return {reinterpret_cast<const char*>(all.data()) + offset, static_cast<size_t>(count)};
}

/// Writes what weights hold: those that are given later are made up, and large ones, too.
std::string print_weights(const Compiled& compiled, bool has_pieces_of_size) {
  std::string text;
  for (const WeightPiece& piece : compiled.pieces) {
    bool later = std::any_of(compiled.later.begin(), compiled.later.end(),
                             [&](const CompiledWeight& w) { return w.offset == piece.offset; });
    if (later) continue;
    if (has_pieces_of_size && piece.bytes > as_they_are) {
      text += fmt::format("numbers f32 {} {} {}\n", piece.offset, piece.bytes / 4,
                          seed_of_weight(static_cast<size_t>(piece.offset)));
    } else {
      text += with_bytes(fmt::format("bytes {}", piece.offset),
                         bytes_at(compiled.weights, piece.offset, piece.bytes));
    }
  }
  for (const CompiledWeight& weight : compiled.later) {
    const char* element = name_of(weight.type.element);
    if (lathe_numbers_named(element) == LATHE_NO_NUMBERS) continue;  // zeros
    text += fmt::format("{} {} {} {} {}", weight.repacking ? "packed" : "numbers", element,
                        weight.offset, count_of(weight.type.shape),
                        seed_of_weight(std::stoul(weight.value)));
    if (weight.repacking) text += print_repacking(*weight.repacking);
    text += "\n";
  }
  return text;
}

std::string print_job(const std::string& name, const Compiled& compiled, const std::string& must,
                      long far) {
  bool opencl = compiled.target.architecture == Architecture::opencl;
  std::string text = fmt::format("job {} {} {}\n", name, opencl ? "opencl" : "cuda", far);
  if (!must.empty()) text += fmt::format("must {}\n", must);
  text += fmt::format("memory {} {} {}\n", compiled.arena_bytes, compiled.prepared_bytes,
                      compiled.weights.size());
  for (size_t i = 0; i < compiled.inputs.size(); ++i) {
    const Type& type = compiled.inputs[i].type;
    text += fmt::format("input {} {} {}\n", name_of(type.element), count_of(type.shape),
                        seed_of_input(i));
  }
  for (const CompiledFace& face : compiled.outputs) {
    text += fmt::format("output {} {}\n", name_of(face.type.element), count_of(face.type.shape));
  }
  text += print_weights(compiled, far == 0);
  for (const CompiledStep& step : compiled.steps) {
    text += fmt::format("step {}", step.symbol);
    for (long n : step.grid.blocks) text += fmt::format(" {}", n);
    for (long n : step.grid.threads) text += fmt::format(" {}", n);
    text += fmt::format(" {}", step.places.size());
    for (const lathe_place& place : step.places) {
      text += fmt::format(" {} {} {}", place.where, place.index, place.offset);
    }
    text += "\n";
  }
  text += fmt::format("first {}\n", compiled.first_step);
  for (const std::string& object : compiled.objects) text += with_bytes("module", object);
  return text + "end\n";
}

}  // namespace

std::string job_file_start() { return "lathe jobs 2\n"; }

ExpectedOutputs expected_outputs(const Unit& unit) {
  CompileOptions options;
  options.target = native_target();
  auto made = make_unit(unit, options);
  std::vector<Element> outputs;
  for (const Tensor& tensor : made->code.tensors) {
    if (tensor.role == Role::output) outputs.push_back(tensor.element);
    bool given =
        tensor.role == Role::input || tensor.role == Role::weight || tensor.role == Role::output;
    if (given && lathe_numbers_named(name_of(tensor.element)) == LATHE_NO_NUMBERS) {
      return {"", fmt::format("it has elements that are {}", name_of(tensor.element))};
    }
  }
  UnitRunner runner(*made, made_up_data(unit), options.target, 1);
  ExpectedOutputs result;
  for (size_t i = 0; i < runner.outputs().size(); ++i) {
    const auto& bytes = runner.outputs()[i];
    lathe_numbers type = lathe_numbers_named(name_of(outputs[i]));
    auto count = static_cast<int64_t>(bytes.size() / lathe_number_bytes(type));
    std::vector<float> sums(static_cast<size_t>(count / LATHE_SUM_OF + 1));
    sums.resize(static_cast<size_t>(lathe_sums(type, bytes.data(), count, sums.data())));
    result.records +=
        with_bytes(fmt::format("expect {} {}", key_of_expected(unit), i),
                   {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(float)});
  }
  return result;
}

std::string unit_job(const std::string& name, const Unit& unit, const Made& made,
                     const Target& target, long network_weights) {
  return print_job(name, unit_network_later(made, target), key_of_expected(unit),
                   std::max(1L, network_weights));
}

std::string network_job(const std::string& name, const Compiled& compiled) {
  return print_job(name, compiled, "", 0);
}

}  // namespace lathe
