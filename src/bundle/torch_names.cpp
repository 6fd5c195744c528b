// torch_names.cpp: names as Python can write them. Interface: torch_names.h.
#include "bundle/torch_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lathe {
namespace {

const char* const keywords =
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try "
    "while with yield ";

/// What torch.nn.Module and the classes of the exported file have already.
const char* const members =
    "T_destination add_module apply bfloat16 buffers call_super_init children compile convolutions "
    "cpu cuda double dump_patches eval extra_repr float forward get_buffer get_extra_state "
    "get_parameter get_submodule half ipu load_state_dict modules mtia named_buffers "
    "named_children "
    "named_modules named_parameters parameters place register_backward_hook register_buffer "
    "register_forward_hook register_forward_pre_hook register_full_backward_hook "
    "register_full_backward_pre_hook register_load_state_dict_post_hook "
    "register_load_state_dict_pre_hook register_module register_parameter "
    "register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state "
    "set_submodule share_memory state_dict to to_empty train training type xpu zero_grad ";

bool lists(const char* words, const std::string& word) {
  return (' ' + std::string(words)).find(' ' + word + ' ') != std::string::npos;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_number(const std::string& text) {
  bool leads = text.size() > 1 && text.front() == '0';  // [01] is no number in Python
  return !text.empty() && !leads && std::all_of(text.begin(), text.end(), is_digit);
}

/// Returns the text as an identifier; a leading underscore is for what classes keep to themselves.
std::string identifier(const std::string& text) {
  std::string result;
  for (char c : text) {
    bool fits = c == '_' || (static_cast<unsigned char>(c) < 128 &&
                             std::isalnum(static_cast<unsigned char>(c)) != 0);
    if (fits ? !(result.empty() && c == '_') : !result.empty()) result += fits ? c : '_';
  }
  if (result.empty()) return "value";
  if (is_digit(result.front())) result.insert(0, "n");
  if (lists(keywords, result)) result += '_';
  return result;
}

std::string component(const std::string& text) {
  if (is_number(text)) return text;
  std::string result = identifier(text);
  return lists(members, result) ? result + '_' : result;
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> result(1);
  for (char c : path) {
    if (c == '.') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

std::string path_of(const std::string& name) {
  std::string result;
  for (const std::string& part : components(name)) {
    if (!part.empty()) result += (result.empty() ? "" : ".") + component(part);
  }
  return result.empty() ? "value" : result;
}

/// Returns the path with the last component continued by "more".
std::string continued(const std::string& path, const std::string& more) {
  size_t start = path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1;
  return path.substr(0, start) + component(path.substr(start) + '_' + more);
}

/// Returns the path with underscores for dots behind each beginning that is a path itself.
std::string outside_of(const std::set<std::string>& paths, const std::string& path) {
  std::string result;
  for (const std::string& part : components(path)) {
    if (result.empty()) {
      result = part;
    } else if (paths.contains(result)) {
      result = continued(result, part);
    } else {
      result += '.' + part;
    }
  }
  return result;
}

bool holds_another(const std::set<std::string>& paths, const std::string& path) {
  auto next = paths.lower_bound(path + '.');
  return next != paths.end() && next->starts_with(path + '.');
}

}  // namespace

std::vector<std::string> module_paths(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(path_of(name));
  std::set<std::string> wanted(result.begin(), result.end()), taken;
  for (std::string& path : result) path = outside_of(wanted, path);
  std::set<std::string> all(result.begin(), result.end());
  for (std::string& path : result) {
    while (holds_another(all, path) || taken.contains(path)) path = continued(path, "");
    taken.insert(path);
  }
  return result;
}

std::string print_access(const std::string& path) {
  std::string result = "self";
  for (const std::string& part : components(path)) {
    result += is_number(part) ? fmt::format("[{}]", part) : "." + part;
  }
  return result;
}

std::string VariableNames::unique(const std::string& name) {
  std::string result = identifier(name);
  std::string stem = result;
  for (int i = 2; !taken_.insert(result).second; ++i) result = fmt::format("{}_{}", stem, i);
  return result;
}

std::string print_python(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 32 || byte == 127) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace lathe
