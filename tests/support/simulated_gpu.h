// A GPU without a GPU: runs the code of kernels for all threads of a block, one instruction after
// the other, as a warp does. Products of matrices are those that NVIDIA documents for mma.sync:
// which thread holds which element of which matrix.
#pragma once

#include <array>
#include <functional>
#include <map>

#include "codegen/matrices.h"
#include "poly/linear.h"
#include "support/compiled.h"

namespace lathe::test {

class SimulatedGpu {
 public:
  SimulatedGpu(const Code& code, std::vector<WatchedTensor>& memory)
      : code_(code), memory_(memory) {
    threads_.resize(static_cast<size_t>(code.threads()));
  }

  void run() {
    std::vector<long> axis(code_.axes.size(), 0);
    walk_blocks(0, axis);
  }

 private:
  /// What a thread loads that has no such element: it must not matter.
  static constexpr double garbage = 1e6;
  static constexpr long warp = 32;

  struct Thread {
    std::vector<long> at;                     // coordinates
    std::vector<std::vector<double>> values;  // of variables, lane by lane
    std::map<size_t, std::vector<double>> own;
  };
  const Code& code_;
  std::vector<WatchedTensor>& memory_;
  std::vector<Thread> threads_;
  std::map<size_t, std::vector<double>> shared_;

  static constexpr size_t most_depth = 64;

  void walk_blocks(size_t i, std::vector<long>& axis) {
    while (i < axis.size() && !is_block(code_.axes[i].mark)) ++i;
    if (i == axis.size()) return run_block(axis);
    for (axis[i] = 0; axis[i] < code_.axes[i].extent; ++axis[i]) walk_blocks(i + 1, axis);
    axis[i] = 0;
  }

  void run_block(const std::vector<long>& block) {
    shared_.clear();
    for (size_t t = 0; t < threads_.size(); ++t) {
      Thread& thread = threads_[t];
      thread = {std::vector<long>(most_depth, 0), {}, {}};
      thread.values.resize(code_.variables.size());
      auto rest = static_cast<long>(t);
      std::map<Mark, long> index;
      for (Mark mark : {Mark::thread_x, Mark::thread_y, Mark::thread_z}) {
        index[mark] = rest % code_.extent(mark);
        rest /= code_.extent(mark);
      }
      for (size_t i = 0; i < code_.axes.size(); ++i) {
        Mark mark = code_.axes[i].mark;
        thread.at[i] = is_block(mark) ? block[i] : index[mark];
      }
    }
    run(code_.body, std::vector<bool>(threads_.size(), true));
  }

  static long value_of(const poly::Affine& a, const Thread& thread) {
    return poly::evaluate(a, std::span(thread.at).first(a.coefficients.size()));
  }

  static bool holds(const Guard& guard, const Thread& thread) {
    if (guard.empty()) return true;
    return std::any_of(guard.begin(), guard.end(), [&](const auto& piece) {
      return std::all_of(piece.begin(), piece.end(), [&](const poly::Constraint& c) {
        long value = value_of(c.expression, thread);
        return c.equality ? value == 0 : value >= 0;
      });
    });
  }

  /// Returns an element of the memory that a tensor lies in, and sets it if there is a value.
  double touch(size_t tensor, long at, Thread& thread, const double* set) {
    auto element = [&](std::vector<double>& elements) {
      elements.resize(std::max(elements.size(), static_cast<size_t>(code_.layouts[tensor].size)));
      if (set != nullptr) elements.at(static_cast<size_t>(at)) = rounded(*set, tensor);
      return elements.at(static_cast<size_t>(at));
    };
    if (code_.spaces[tensor] == Space::shared) return element(shared_[tensor]);
    if (code_.spaces[tensor] == Space::privately) return element(thread.own[tensor]);
    Element type = code_.tensors[tensor].element;
    auto size = static_cast<size_t>(size_of(type));
    EXPECT_GE(at, 0);
    EXPECT_LT(at, code_.layouts[tensor].size);
    std::byte* place = memory_[tensor].data() + static_cast<size_t>(at) * size;
    if (set != nullptr) {
      Array one = Array::of_reals(type, {1}, std::vector<double>{*set});
      std::memcpy(place, one.bytes().data(), size);
    }
    return Array::of_bytes(type, {1}, std::span(place, size)).reals()[0];
  }

  double rounded(double value, size_t tensor) const {
    Element type = code_.tensors[tensor].element;
    return Array::of_reals(type, {1}, std::vector<double>{value}).reals()[0];
  }

  void run(const Block& block, const std::vector<bool>& active) {
    for (const Instruction& i : block) run(i, active);
  }

  void run(const Instruction& i, const std::vector<bool>& active) {
    using Kind = Instruction::Kind;
    if (i.kind == Kind::loop) {
      for (long k = i.from; k < i.end; ++k) {
        for (Thread& thread : threads_) thread.at[i.depth] = k;
        run(i.body, active);
      }
      return;
    }
    if (i.kind == Kind::guard) {
      std::vector<bool> inside = active;
      for (size_t t = 0; t < threads_.size(); ++t) {
        inside[t] = inside[t] && holds(i.guard, threads_[t]);
      }
      return run(i.body, inside);
    }
    if (i.kind == Kind::barrier) return;
    if (i.kind == Kind::matrix) return multiply(i, active);
    for (size_t t = 0; t < threads_.size(); ++t) {
      if (active[t]) run_one(i, threads_[t]);
    }
  }

  void run_one(const Instruction& i, Thread& thread) {
    using Kind = Instruction::Kind;
    auto& values = thread.values;
    auto lane = [&](size_t variable, size_t k) {
      const std::vector<double>& all = values[variable];
      return all.size() == 1 ? all[0] : all.at(k);
    };
    auto lanes = static_cast<size_t>(i.kind == Kind::store ? i.lane : code_.variables[i.to].lanes);
    std::vector<double> result(lanes);
    for (size_t k = 0; k < lanes; ++k) {
      switch (i.kind) {
        case Kind::load:
          result[k] =
              holds(i.guard, thread)
                  ? touch(i.tensor, value_of(i.offset, thread) + static_cast<long>(k) * i.stride,
                          thread, nullptr)
                  : garbage;
          break;
        case Kind::store: {
          double value = lane(i.args[0], k);
          touch(i.tensor, value_of(i.offset, thread) + static_cast<long>(k) * i.stride, thread,
                &value);
          break;
        }
        case Kind::number:
          result[k] = i.number;
          break;
        case Kind::apply: {
          std::array<double, 3> args{};
          for (size_t a = 0; a < i.args.size(); ++a) args[a] = lane(i.args[a], k);
          result[k] = evaluate(i.op, args.data());
          break;
        }
        case Kind::fma:
          result[k] = lane(i.args[0], k) * lane(i.args[1], k) + lane(i.args[2], k);
          break;
        case Kind::splat:
          result[k] = lane(i.args[0], static_cast<size_t>(i.lane));
          break;
        case Kind::copy:
        case Kind::convert:
          result[k] = lane(i.args[0], k);
          break;
        case Kind::sum:
          for (double x : values[i.args[0]]) result[k] += x;
          break;
        case Kind::maximum:
          result[k] = *std::max_element(values[i.args[0]].begin(), values[i.args[0]].end());
          break;
        default:
          ADD_FAILURE() << "the simulation has no such instruction";
      }
    }
    if (i.kind != Kind::store) values[i.to] = result;
  }

  /// All warps: each of 32 threads in a row.
  void multiply(const Instruction& i, const std::vector<bool>& active) {
    bool wide = code_.variables[i.args[0]].number == Number::tf32;
    size_t pair = wide ? 1 : 2;  // elements of a register
    ASSERT_EQ(threads_.size() % warp, 0U);
    for (size_t first = 0; first < threads_.size(); first += warp) {
      auto begin = active.begin() + static_cast<long>(first);
      if (std::find(begin, begin + warp, true) == begin + warp) continue;  // elsewhere
      std::array<std::array<double, 8>, 16> sums{};
      size_t terms = threads_[first].values[i.args[0]].size();
      for (size_t l = 0; l < warp; ++l) {
        ASSERT_TRUE(active[first + l]) << "a warp is not complete";
        const auto& values = threads_[first + l].values;
        for (size_t s = 0; s < 4; ++s) {
          sums[l / 4 + 8 * (s / 2)][2 * (l % 4) + s % 2] = values[i.args[3 + s]].at(0);
        }
      }
      for (size_t step = 0; step < terms; step += 2 * pair) {
        std::array<std::array<double, 16>, 16> a{};
        std::array<std::array<double, 8>, 16> b{};
        for (size_t l = 0; l < warp; ++l) {
          const auto& values = threads_[first + l].values;
          for (size_t half = 0; half < 2; ++half) {
            for (size_t e = 0; e < pair; ++e) {
              size_t k = pair * (l % 4) + e + 4 * pair * half, from = step + pair * half + e;
              a[l / 4][k] = values[i.args[0]].at(from);
              a[l / 4 + 8][k] = values[i.args[1]].at(from);
              b[k][l / 4] = values[i.args[2]].at(from);
            }
          }
        }
        for (size_t m = 0; m < 16; ++m) {
          for (size_t n = 0; n < 8; ++n) {
            for (size_t k = 0; k < 8 * pair; ++k) sums[m][n] += a[m][k] * b[k][n];
          }
        }
      }
      for (size_t l = 0; l < warp; ++l) {
        std::vector<double>& result = threads_[first + l].values[i.to];
        result.assign(4, 0);
        for (size_t s = 0; s < 4; ++s) {
          result[s] = sums[l / 4 + 8 * (s / 2)][2 * (l % 4) + s % 2];
        }
      }
    }
  }
};

/// Runs the kernels of a case, and expects what they must compute.
inline void run_simulated(const CompiledCase& c, double& worst) {
  std::vector<WatchedTensor> memory = memory_of(c);
  for (const Code& code : c.kernels) SimulatedGpu(code, memory).run();
  expect_computed(c, memory, worst);
}

}  // namespace lathe::test
