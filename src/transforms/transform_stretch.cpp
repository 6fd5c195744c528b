// transform_stretch.cpp: channels as they lie. Interface: transform_stretch.h.
#include "transforms/transform_stretch.h"

#include "transforms/transform_frame.h"

namespace lathe {

std::optional<ChannelStretch> channels_as_they_lie(const Statement& s, const Sliding& sliding) {
  std::vector<isl::aff> parts = poly::parts(s.reads[sliding.data].at);
  for (size_t d = 0; d < parts.size(); ++d) {
    if (d == sliding.slides[0].in_data || d == sliding.slides[1].in_data) continue;
    std::vector<size_t> in;
    bool alone = true;
    for (size_t i : sliding.others) {
      if (!poly::involves(parts[d], i)) continue;
      in.push_back(i);
      for (size_t e = 0; e < parts.size(); ++e) {
        alone = alone && (e == d || !poly::involves(parts[e], i));
      }
    }
    poly::Affine index = poly::take_apart(parts[d]);
    if (in.size() < 2 || !alone || !index.is_linear()) continue;
    Frame frame(s, in, {});
    isl::aff at = frame.old(parts[d]);
    poly::Interval range = poly::range(frame.domain(), at);
    long elements = poly::count_image(frame.domain(), poly::tuple(frame.domain().space(), {at}));
    bool as_it_lies = index.coefficients[in.back()] == 1 && elements == poly::count(frame.domain());
    if (!as_it_lies && elements == range.size()) return ChannelStretch{d, range.lower, elements};
  }
  return std::nullopt;
}

}  // namespace lathe
