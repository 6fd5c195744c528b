// The only include of isl. Spaces are anonymous everywhere: names of loops, statements and tensors
// are Lathe's own, so that they may contain dots and so that isl compares plain tuples of integers.
// isl's reference counts are not atomic: a value belongs to the thread that owns its context.
#pragma once

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/cpp.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <memory>

namespace lathe {

/// Owns an isl context. Every isl value made from it must die before it.
class Context {
 public:
  Context() : ctx_(isl_ctx_alloc(), isl_ctx_free) {
    isl_options_set_on_error(ctx_.get(), ISL_ON_ERROR_CONTINUE);
  }
  operator isl::ctx() const { return isl::ctx(ctx_.get()); }

 private:
  std::unique_ptr<isl_ctx, void (*)(isl_ctx*)> ctx_;
};

}  // namespace lathe
