// The colours of pictures on pages, which report_style.h defines for light and dark pages.
#pragma once

namespace lathe {

inline constexpr const char* cool = "var(--cool)";
inline constexpr const char* warm = "var(--warm)";
inline constexpr const char* good = "var(--good)";
inline constexpr const char* grey = "var(--grey)";

}  // namespace lathe
