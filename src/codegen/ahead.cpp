// ahead.cpp: loads ahead of their use. Interface: ahead.h.
#include "codegen/ahead.h"

#include <algorithm>
#include <deque>

namespace lathe {
namespace {

using Kind = Instruction::Kind;

void find_written(const Block& block, std::vector<bool>& written) {
  for (const Instruction& i : block) {
    if (i.kind == Kind::store) written[i.tensor] = true;
    find_written(i.body, written);
  }
}

class Ahead {
 public:
  Ahead(Code& code, long most)
      : code_(code),
        most_(most),
        written_(written_tensors(code)),
        waiting_(code.variables.size()) {}

  void run(Block& block) {
    Block result;
    for (size_t first = 0; first < block.size();) {
      size_t end = first;
      while (end < block.size() && is_plain(block[end])) ++end;
      move(block, first, end, result);
      if (end < block.size()) {
        run(block[end].body);
        result.push_back(std::move(block[end++]));
      }
      first = end;
    }
    block = std::move(result);
  }

 private:
  Code& code_;
  long most_;
  std::vector<bool> written_;
  std::vector<bool> waiting_;  // variables that are loaded, and not used yet
  long under_way_ = 0;         // their elements

  static bool is_plain(const Instruction& i) {
    return i.kind != Kind::loop && i.kind != Kind::guard && i.kind != Kind::barrier;
  }

  bool can_move(const Instruction& i) const {
    return i.kind == Kind::load && i.picked.empty() && !written_[i.tensor];
  }

  void move(Block& block, size_t first, size_t end, Block& result) {
    std::deque<size_t> loads;
    for (size_t i = first; i < end; ++i) {
      if (can_move(block[i])) loads.push_back(i);
    }
    auto begin_one = [&] {
      Instruction& load = block[loads.front()];
      loads.pop_front();
      under_way_ += code_.variables[load.to].lanes;
      waiting_[load.to] = true;
      result.push_back(std::move(load));
    };
    for (size_t i = first; i < end; ++i) {
      if (can_move(block[i])) {
        if (!loads.empty() && loads.front() == i) begin_one();
        continue;
      }
      while (!loads.empty() && under_way_ < most_) begin_one();
      for (size_t used : block[i].args) {
        if (!waiting_[used]) continue;
        waiting_[used] = false;
        under_way_ -= code_.variables[used].lanes;
      }
      result.push_back(std::move(block[i]));
    }
  }
};

}  // namespace

void load_ahead(Code& code, long most) { Ahead(code, most).run(code.body); }

std::vector<bool> written_tensors(const Code& code) {
  std::vector<bool> written(code.tensors.size(), false);
  find_written(code.body, written);
  return written;
}

}  // namespace lathe
