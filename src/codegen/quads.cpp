// quads.cpp: four accesses at once. Interface: quads.h.
#include "codegen/quads.h"

#include <algorithm>

namespace lathe {
namespace {

using Kind = Instruction::Kind;
using poly::Affine;

constexpr long four = 4;

bool is_same(const Affine& a, const Affine& b);

bool is_same_but_for_constant(const Affine& a, const Affine& b) {
  auto is_same_floor = [](const Affine::Floor& x, const Affine::Floor& y) {
    return x.coefficient == y.coefficient && is_same(x.of, y.of);
  };
  return a.divisor == b.divisor && a.coefficients == b.coefficients &&
         std::equal(a.floors.begin(), a.floors.end(), b.floors.begin(), b.floors.end(),
                    is_same_floor);
}

bool is_same(const Affine& a, const Affine& b) {
  return a.constant == b.constant && is_same_but_for_constant(a, b);
}

/// Is the value a multiple of four, but for the constant?
bool is_multiple(const Affine& a) {
  return a.divisor == 1 &&
         std::all_of(a.coefficients.begin(), a.coefficients.end(),
                     [](long c) { return c % four == 0; }) &&
         std::all_of(a.floors.begin(), a.floors.end(),
                     [](const Affine::Floor& f) { return f.coefficient % four == 0; });
}

/// Finds quads among instructions that run one after the other.
class Run {
 public:
  Run(const Code& code, std::vector<Quad>& found)
      : code_(code), found_(found), touched_(code.variables.size(), 0) {}

  void add(const Instruction& i) {
    ++now_;
    bool is_load = i.kind == Kind::load, is_store = i.kind == Kind::store;
    if (is_store) end_others(i);
    if (is_load) end_if([&](const Open& o) { return !o.is_load && o.first->tensor == i.tensor; });
    // A store of what is set again here would be too late.
    if (!is_store) end_if([&](const Open& o) { return !o.is_load && o.stores(i.to); });
    if ((is_load || is_store) && can_be_part(i)) join(i);
    for (size_t v : i.args) touched_[v] = now_;
    if (!is_store && i.kind != Kind::prefetch) touched_[i.to] = now_;
  }

 private:
  /// A quad that may lack parts.
  struct Open {
    bool is_load;
    const Instruction* first;
    long begin;  // when its first part was seen
    std::array<const Instruction*, 4> parts = {};

    bool stores(size_t v) const {
      return std::any_of(parts.begin(), parts.end(),
                         [&](const Instruction* p) { return p != nullptr && p->args[0] == v; });
    }
  };

  const Code& code_;
  std::vector<Quad>& found_;
  std::vector<long> touched_;  // when each variable was last used or set
  std::vector<Open> open_;
  long now_ = 0;

  template <class Which>
  void end_if(Which which) {
    open_.erase(std::remove_if(open_.begin(), open_.end(), which), open_.end());
  }

  /// A store ends quads of its tensor: of loads, and of stores that may be to the same places.
  void end_others(const Instruction& store) {
    end_if([&](const Open& o) {
      return o.first->tensor == store.tensor &&
             (o.is_load || !is_same_but_for_constant(o.first->offset, store.offset));
    });
  }

  bool can_be_part(const Instruction& i) const {
    size_t variable = i.kind == Kind::load ? i.to : i.args[0];
    long lanes = i.kind == Kind::load ? code_.variables[variable].lanes : i.lane;
    return i.picked.empty() && lanes == 1 && code_.variables[variable].lanes == 1 &&
           code_.variables[variable].number == Number::f32 &&
           code_.tensors[i.tensor].element == Element::f32 && begins_at_multiple(i.tensor) &&
           is_multiple(i.offset);
  }

  /// Inputs and outputs of a unit may begin anywhere within padding.
  bool begins_at_multiple(size_t tensor) const {
    if (code_.spaces[tensor] != Space::global) return code_.spaces[tensor] == Space::shared;
    Role role = code_.tensors[tensor].role;
    return role != Role::input && role != Role::output;
  }

  void join(const Instruction& i) {
    bool is_load = i.kind == Kind::load;
    auto place = static_cast<size_t>((i.offset.constant % four + four) % four);
    auto begin_of = [](const Instruction& part) {
      return part.offset.constant - (part.offset.constant % four + four) % four;
    };
    auto same = std::find_if(open_.begin(), open_.end(), [&](const Open& o) {
      return o.is_load == is_load && o.first->tensor == i.tensor &&
             begin_of(*o.first) == begin_of(i) &&
             is_same_but_for_constant(o.first->offset, i.offset);
    });
    bool is_new = same == open_.end() || same->parts[place] != nullptr ||
                  (is_load && touched_[i.to] >= same->begin);
    if (is_new && same != open_.end()) open_.erase(same);
    if (is_new) same = open_.insert(open_.end(), Open{is_load, &i, now_});
    same->parts[place] = &i;
    if (std::count(same->parts.begin(), same->parts.end(), nullptr) > 0) return;
    found_.push_back({same->parts, is_load ? same->first : &i});
    // All that is stored is used here: no load that sets it may be done earlier.
    for (const Instruction* part : same->parts) {
      if (!is_load) touched_[part->args[0]] = now_;
    }
    open_.erase(same);
  }
};

void find_in(const Code& code, const Block& block, std::vector<Quad>& found) {
  std::optional<Run> run;
  for (const Instruction& i : block) {
    bool is_plain = i.kind != Kind::loop && i.kind != Kind::guard && i.kind != Kind::barrier;
    if (is_plain) {
      if (!run) run.emplace(code, found);
      run->add(i);
    } else {
      run.reset();
      find_in(code, i.body, found);
    }
  }
}

}  // namespace

std::vector<Quad> find_quads(const Code& code) {
  std::vector<Quad> found;
  find_in(code, code.body, found);
  return found;
}

}  // namespace lathe
