// interpret.cpp: the oracle: slow, obvious. Interface: interpret.h.
//
// It walks the loops as the schedule says. At a statement it knows the iterations, hence (by the
// inverse of the schedule) the instance, hence the elements; all three are composed beforehand
// into one affine offset for each access. Iterations that stand for no instance are skipped.
#include "nest/interpret.h"

#include <functional>
#include <limits>
#include <random>

#include "base/error.h"

namespace lathe {
namespace {

long element_count(const Tensor& tensor) {
  long n = 1;
  for (long extent : tensor.shape) n *= extent;
  return n;
}

/// Is the element at this row-major offset padding?
bool is_padding(const Tensor& tensor, long offset) {
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    long index = offset % tensor.shape[i];
    offset /= tensor.shape[i];
    if (index < tensor.pad[i] || index >= tensor.shape[i] - tensor.pad[i]) return true;
  }
  return false;
}

template <class T>
T lowest() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

/// Converts a value of the text form; -inf becomes the lowest integer.
template <class T>
T from_double(double value) {
  if (value == -std::numeric_limits<double>::infinity()) return lowest<T>();
  return static_cast<T>(value);
}

/// Composes an access with the schedule's inverse: iterations -> row-major offset.
poly::Affine offset_of(const Access& access, const Tensor& tensor, const Order& order) {
  isl::multi_aff at = access.at.pullback(order.instance);
  isl::aff offset = poly::constant(at.domain().space(), 0);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    offset = offset.scale(tensor.shape[i]).add(at.at(static_cast<int>(i)));
  }
  return poly::take_apart(offset);
}

template <class T>
class Interpreter {
 public:
  Interpreter(const Nest& nest, Buffers<T>& buffers) : nest_(nest), buffers_(buffers) {
    for (size_t s = 0; s < nest.statements().size(); ++s) prepare(s);
  }

  void run() {
    initialise();
    run_places(places(nest_.order));
  }

 private:
  struct Prepared {
    const Statement* statement;
    bool guarded;
    std::vector<std::vector<poly::Constraint>> guard;
    poly::Affine write;
    std::vector<poly::Affine> reads;
  };
  const Nest& nest_;
  Buffers<T>& buffers_;
  std::vector<Prepared> prepared_;
  std::vector<long> iteration_;

  void prepare(size_t index) {
    const Statement& s = nest_.statements()[index];
    const Order& order = nest_.order[index];
    isl::set domain = poly::boxed(iterations(s, order));
    Prepared p{&s, !poly::is_box(domain, extents(order)), poly::constraints(domain), {}, {}};
    p.write = offset_of(s.write, nest_.tensors()[s.write.tensor], order);
    for (const Access& access : s.reads) {
      p.reads.push_back(offset_of(access, nest_.tensors()[access.tensor], order));
    }
    prepared_.push_back(std::move(p));
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
      if (!place.is_loop) {
        run_instance(prepared_[place.statements.front()]);
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

  void run_instance(const Prepared& p) {
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
        element = std::max(element, value);
        break;
    }
  }

  T evaluate_expr(const Expr& e, const Prepared& p) const {
    if (e.op == Expr::Op::number) return from_double<T>(e.number);
    if (e.op == Expr::Op::read) {
      auto offset = static_cast<size_t>(poly::evaluate(p.reads[e.read], iteration_));
      return buffers_[p.statement->reads[e.read].tensor][offset];
    }
    T args[2] = {};
    for (size_t i = 0; i < e.args.size(); ++i) args[i] = evaluate_expr(e.args[i], p);
    return evaluate(e.op, args);
  }
};

}  // namespace

template <class T>
Buffers<T> make_buffers(const Nest& nest) {
  Buffers<T> buffers;
  for (const Tensor& tensor : nest.tensors()) {
    std::vector<T> data(static_cast<size_t>(element_count(tensor)), T(0));
    for (size_t i = 0; tensor.padding != 0 && i < data.size(); ++i) {
      if (is_padding(tensor, static_cast<long>(i))) data[i] = from_double<T>(tensor.padding);
    }
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
