// interpret.cpp: the oracle: slow, obvious. Interface: interpret.h.
//
// It walks the loops as the schedule says. At a statement it knows the iterations, hence (by the
// inverse of the schedule) the instance, hence the elements; all three are composed beforehand
// into one affine offset for each access. Iterations that stand for no instance are skipped.
//
// Where the remaining loops hold a single statement whose offsets are linear in them, the offsets
// are stepped instead of evaluated, and the innermost loop runs as a row: the same instances in the
// same order, some hundred times quicker.
#include "nest/interpret.h"

#include <array>
#include <functional>
#include <random>

#include "base/array.h"
#include "base/error.h"
#include "nest/interpret_numbers.h"

namespace lathe {
namespace {

/// Is the element at this row-major offset padding?
bool is_padding(const Tensor& tensor, long offset) {
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    long index = offset % tensor.shape[i];
    offset /= tensor.shape[i];
    if (index < tensor.pad[i].before) return true;
    if (index >= tensor.shape[i] - tensor.pad[i].after) return true;
  }
  return false;
}

/// Composes an access with the schedule's inverse: iterations -> row-major offset.
poly::Affine offset_of(const Access& access, const Tensor& tensor, const Order& order) {
  return poly::take_apart(row_major(access.at.pullback(order.instance), tensor));
}

/// The offsets of one instance: of the write, then of the reads.
constexpr size_t most_accesses = 8;
using Offsets = std::array<long, most_accesses>;

/// Elements of a row that are evaluated together.
constexpr long block = 64;

template <class T>
class Interpreter {
 public:
  Interpreter(const Nest& nest, Buffers<T>& buffers) : nest_(nest), buffers_(buffers) {
    for (size_t s = 0; s < nest.statements().size(); ++s) plan(s);
  }

  void run() {
    initialise();
    run_places(places(nest_.order));
  }

 private:
  struct Plan {
    const Statement* statement;
    bool guarded;
    std::vector<std::vector<poly::Constraint>> guard;
    poly::Affine write;
    std::vector<poly::Affine> reads;
    std::vector<long> extents;
    std::vector<Offsets> strides;  // of each loop
    size_t strided_from;           // the loops from here on can be stepped
  };
  const Nest& nest_;
  Buffers<T>& buffers_;
  std::vector<Plan> plans_;
  std::vector<long> iteration_;

  void plan(size_t index) {
    const Statement& s = nest_.statements()[index];
    const Order& order = nest_.order[index];
    isl::set domain = poly::boxed(iterations(s, order));
    Plan p{&s,
           !poly::is_box(domain, extents(order)),
           poly::constraints(domain),
           {},
           {},
           extents(order),
           {},
           0};
    p.write = offset_of(s.write, nest_.tensors()[s.write.tensor], order);
    for (const Access& access : s.reads) {
      p.reads.push_back(offset_of(access, nest_.tensors()[access.tensor], order));
    }
    find_strides(p);
    plans_.push_back(std::move(p));
  }

  /// Finds the loops that can be stepped: no condition, no offset with a floor of them, and no
  /// instance reads what another one wrote.
  static void find_strides(Plan& p) {
    size_t depth = p.extents.size();
    p.strides.resize(depth);
    p.strided_from = depth;
    if (p.guarded || p.reads.size() + 1 > most_accesses) return;
    for (const Access& access : p.statement->reads) {
      if (access.tensor == p.statement->write.tensor) return;
    }
    for (size_t loop = depth; loop-- > 0;) {
      if (!set_stride(p.write, loop, p.strides[loop][0])) return;
      for (size_t r = 0; r < p.reads.size(); ++r) {
        if (!set_stride(p.reads[r], loop, p.strides[loop][r + 1])) return;
      }
      p.strided_from = loop;
    }
  }

  /// Is the offset linear in "loop"? Sets by how much an iteration moves it.
  static bool set_stride(const poly::Affine& offset, size_t loop, long& stride) {
    if (offset.divisor != 1) return false;
    for (const auto& floor : offset.floors) {
      if (poly::involved(floor.of)[loop]) return false;
    }
    stride = offset.coefficients[loop];
    return true;
  }

  /// Elements that are only updated start at the neutral element of the update: of the first
  /// statement listed, whenever it runs, so that no order changes it.
  void initialise() {
    std::vector<bool> done(buffers_.size(), false);
    for (const Statement& statement : nest_.statements()) {
      size_t tensor = statement.write.tensor;
      if (done[tensor]) continue;
      done[tensor] = true;
      T neutral = statement.update == Update::maximum ? lowest<T>() : T(0);
      std::fill(buffers_[tensor].begin(), buffers_[tensor].end(), neutral);
    }
  }

  void run_places(const std::vector<Place>& list) {
    for (const Place& place : list) {
      const Plan& first = plans_[place.statements.front()];
      if (!place.is_loop) {
        run_instance(first);
        continue;
      }
      if (place.statements.size() == 1 && first.strided_from <= place.depth) {
        run_strided(first);
        continue;
      }
      long extent = nest_.order[place.statements.front()].loops[place.depth].extent;
      for (long i = 0; i < extent; ++i) {
        iteration_.push_back(i);
        run_places(place.body);
        iteration_.pop_back();
      }
    }
  }

  void run_instance(const Plan& p) {
    if (p.guarded && !poly::contains(p.guard, iteration_)) return;
    const Statement& s = *p.statement;
    T value = evaluate_expr(s.value, p);
    T& element = buffers_[s.write.tensor][static_cast<size_t>(poly::evaluate(p.write, iteration_))];
    switch (s.update) {
      case Update::assign:
        element = value;
        break;
      case Update::add:
        element += value;
        break;
      case Update::maximum:
        element = larger(element, value);
        break;
    }
  }

  /// Runs all loops of the statement further in than those that have an iteration.
  void run_strided(const Plan& p) {
    size_t from = iteration_.size();
    iteration_.resize(p.extents.size(), 0);
    Offsets offsets{};
    offsets[0] = poly::evaluate(p.write, iteration_);
    for (size_t r = 0; r < p.reads.size(); ++r) {
      offsets[r + 1] = poly::evaluate(p.reads[r], iteration_);
    }
    iteration_.resize(from);
    step(p, from, offsets);
  }

  void step(const Plan& p, size_t loop, Offsets offsets) {
    if (loop + 1 == p.extents.size()) return run_row(p, offsets);
    const Offsets& strides = p.strides[loop];
    for (long i = 0; i < p.extents[loop]; ++i) {
      step(p, loop + 1, offsets);
      for (size_t k = 0; k <= p.reads.size(); ++k) offsets[k] += strides[k];
    }
  }

  void run_row(const Plan& p, const Offsets& offsets) {
    const Statement& s = *p.statement;
    const Offsets& strides = p.strides.back();
    long extent = p.extents.back();
    T* out = buffers_[s.write.tensor].data() + offsets[0];
    if (s.update == Update::add && s.value.op == Expr::Op::mul &&
        s.value.args[0].op == Expr::Op::read && s.value.args[1].op == Expr::Op::read) {
      size_t a = s.value.args[0].read, b = s.value.args[1].read;
      add_products(out, strides[0], buffers_[s.reads[a].tensor].data() + offsets[a + 1],
                   strides[a + 1], buffers_[s.reads[b].tensor].data() + offsets[b + 1],
                   strides[b + 1], extent);
      return;
    }
    T values[block];
    for (long first = 0; first < extent; first += block) {
      long n = std::min(block, extent - first);
      evaluate_block(s.value, p, offsets, first, n, values);
      update_row(s.update, out + first * strides[0], strides[0], values, n);
    }
  }

  /// Adds a[i] * b[i] to out[i], each with its stride.
  static void add_products(T* out, long so, const T* a, long sa, const T* b, long sb, long n) {
    if (so == 1 && sa == 0 && sb == 1) {
      T factor = *a;
      for (long i = 0; i < n; ++i) out[i] += factor * b[i];
    } else if (so == 1 && sa == 1 && sb == 0) {
      add_products(out, so, b, sb, a, sa, n);
    } else {
      for (long i = 0; i < n; ++i) out[i * so] += a[i * sa] * b[i * sb];
    }
  }

  static void update_row(Update update, T* out, long stride, const T* values, long n) {
    switch (update) {
      case Update::assign:
        for (long i = 0; i < n; ++i) out[i * stride] = values[i];
        break;
      case Update::add:
        for (long i = 0; i < n; ++i) out[i * stride] += values[i];
        break;
      case Update::maximum:
        for (long i = 0; i < n; ++i) out[i * stride] = larger(out[i * stride], values[i]);
        break;
    }
  }

  void evaluate_block(const Expr& e, const Plan& p, const Offsets& offsets, long first, long n,
                      T* values) const {
    if (e.op == Expr::Op::number) {
      std::fill(values, values + n, from_double<T>(e.number));
      return;
    }
    if (e.op == Expr::Op::read) {
      long stride = p.strides.back()[e.read + 1];
      const T* from = buffers_[p.statement->reads[e.read].tensor].data() + offsets[e.read + 1];
      for (long i = 0; i < n; ++i) values[i] = from[(first + i) * stride];
      return;
    }
    if (e.op == Expr::Op::pick) return pick_block(e, p, offsets, first, n, values);
    T args[3][block];
    for (size_t k = 0; k < e.args.size(); ++k) {
      evaluate_block(e.args[k], p, offsets, first, n, args[k]);
    }
    for (long i = 0; i < n; ++i) {
      T element[3] = {args[0][i], args[1][i], args[2][i]};
      values[i] = evaluate(e.op, element);
    }
  }

  void pick_block(const Expr& e, const Plan& p, const Offsets& offsets, long first, long n,
                  T* values) const {
    Pick pick = pick_of(e);
    size_t tensor = p.statement->reads[pick.read].tensor;
    long stride = p.strides.back()[pick.read + 1];
    std::vector<long> at(static_cast<size_t>(n));
    for (long i = 0; i < n; ++i) {
      at[static_cast<size_t>(i)] = offsets[pick.read + 1] + (first + i) * stride;
    }
    T indices[block];
    for (const Pick::Along& along : pick.along) {
      evaluate_block(*along.index, p, offsets, first, n, indices);
      for (long i = 0; i < n; ++i) {
        at[static_cast<size_t>(i)] +=
            picked_offset(nest_.tensors()[tensor], along.dim, static_cast<long>(indices[i]));
      }
    }
    for (long i = 0; i < n; ++i) {
      values[i] = buffers_[tensor][static_cast<size_t>(at[static_cast<size_t>(i)])];
    }
  }

  T picked(const Expr& e, const Plan& p) const {
    Pick pick = pick_of(e);
    size_t tensor = p.statement->reads[pick.read].tensor;
    long at = poly::evaluate(p.reads[pick.read], iteration_);
    for (const Pick::Along& along : pick.along) {
      at += picked_offset(nest_.tensors()[tensor], along.dim,
                          static_cast<long>(evaluate_expr(*along.index, p)));
    }
    return buffers_[tensor][static_cast<size_t>(at)];
  }

  T evaluate_expr(const Expr& e, const Plan& p) const {
    if (e.op == Expr::Op::number) return from_double<T>(e.number);
    if (e.op == Expr::Op::read) {
      auto offset = static_cast<size_t>(poly::evaluate(p.reads[e.read], iteration_));
      return buffers_[p.statement->reads[e.read].tensor][offset];
    }
    if (e.op == Expr::Op::pick) return picked(e, p);
    T args[3] = {};
    for (size_t i = 0; i < e.args.size(); ++i) args[i] = evaluate_expr(e.args[i], p);
    return evaluate(e.op, args);
  }
};

}  // namespace

isl::aff row_major(const isl::multi_aff& at, const Tensor& tensor) {
  isl::aff offset = poly::constant(at.domain().space(), 0);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    offset = offset.scale(tensor.shape[i]).add(at.at(static_cast<int>(i)));
  }
  return offset;
}

long picked_offset(const Tensor& tensor, size_t dim, long value) {
  long stride = 1;
  for (size_t i = dim + 1; i < tensor.shape.size(); ++i) stride *= tensor.shape[i];
  return picked_index(value, tensor.shape[dim]) * stride;
}

template <class T>
Buffers<T> make_buffers(const Nest& nest) {
  Buffers<T> buffers;
  for (const Tensor& tensor : nest.tensors()) {
    std::vector<T> data(static_cast<size_t>(count_of(tensor.shape)), T(0));
    for (size_t i = 0; tensor.padding != 0 && i < data.size(); ++i) {
      if (is_padding(tensor, static_cast<long>(i))) data[i] = from_double<T>(tensor.padding);
    }
    for (size_t i = 0; i < tensor.values.size(); ++i) data[i] = from_double<T>(tensor.values[i]);
    buffers.push_back(std::move(data));
  }
  return buffers;
}

template <class T>
void fill_inputs(const Nest& nest, Buffers<T>& buffers, unsigned seed, long range) {
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::input && tensor.role != Role::weight) continue;
    std::mt19937_64 random(seed + std::hash<std::string>{}(tensor.name));
    auto span = static_cast<unsigned long>(2 * range + 1);
    for (size_t i = 0; i < buffers[t].size(); ++i) {
      if (is_padding(tensor, static_cast<long>(i))) continue;
      buffers[t][i] = static_cast<T>(static_cast<long>(random() % span) - range);
    }
  }
}

template <class T>
void interpret(const Nest& nest, Buffers<T>& buffers) {
  check(buffers.size() == nest.tensors().size(), "every tensor has a buffer");
  Interpreter<T>(nest, buffers).run();
}

template Buffers<double> make_buffers(const Nest&);
template Buffers<long> make_buffers(const Nest&);
template void fill_inputs(const Nest&, Buffers<double>&, unsigned, long);
template void fill_inputs(const Nest&, Buffers<long>&, unsigned, long);
template void interpret(const Nest&, Buffers<double>&);
template void interpret(const Nest&, Buffers<long>&);

}  // namespace lathe
