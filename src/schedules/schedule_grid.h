// What templates for GPUs share: loops become blocks and threads.
#pragma once

#include "schedules/schedule_choices.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {

/// Binds loops to the blocks of a grid. They are directly inside each other, from outside in. The
/// first ones become one loop if there are more than axes.
void bind_blocks(RecipeWriter& writer, const std::string& prefix, std::vector<std::string> loops);

/// Returns the greatest divisor of "n" that is at most "most".
long greatest_divisor(long n, long most);

}  // namespace lathe::schedules
