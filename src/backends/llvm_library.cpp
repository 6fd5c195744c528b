// llvm_library.cpp: objects and libraries by LLVM's tools. Interface: llvm_library.h.
//
// lld works on files and has its state in global variables: one link at a time, and all that
// belongs to a link lies beside its output.
#include "backends/llvm_library.h"

#include <lld/Common/Driver.h>
#include <llvm/ObjCopy/CommonConfig.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/FileSystem.h>

#include <filesystem>
#include <mutex>

#include "backends/backend_program.h"
#include "backends/llvm_tables.h"
#include "base/error.h"
#include "data/file.h"

LLD_HAS_DRIVER(elf)

namespace lathe {
namespace {

[[noreturn]] void fail_with(const char* what, llvm::Error error) {
  fail("{}: {}", what, llvm::toString(std::move(error)));
}

/// Runs lld with these arguments.
void link(std::vector<std::string> arguments) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  // Written as a whole: a full disk is an error then, and not a signal.
  arguments.insert(arguments.begin(), {"ld.lld", "--no-mmap-output-file", "--build-id=none"});
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  std::string output, errors;
  llvm::raw_string_ostream to(output), errors_to(errors);
  lld::Result result = lld::lldMain(pointers, to, errors_to, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0) return;
  while (!errors.empty() && errors.back() == '\n') errors.pop_back();
  fail("linking: {}", errors.empty() ? "failed" : errors);
}

/// What the runtime calls, and what compilers call without being told to.
constexpr const char* libc_names[] = {
    "__libc_start_main",
    "__tls_get_addr",
    "_exit",
    "access",
    "aligned_alloc",
    "calloc",
    "clock_gettime",
    "close",
    "closedir",
    "dlerror",
    "dlopen",
    "dlsym",
    "fclose",
    "fflush",
    "fopen",
    "fork",
    "fprintf",
    "fputs",
    "fread",
    "free",
    "fwrite",
    "getauxval",
    "kill",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "opendir",
    "pipe",
    "poll",
    "pthread_create",
    "pthread_join",
    "read",
    "readdir",
    "sched_getaffinity",
    "sem_destroy",
    "sem_init",
    "sem_post",
    "sem_wait",
    "setenv",
    "snprintf",
    "stderr",
    "stdout",
    "strcmp",
    "strlen",
    "strstr",
    "strtod",
    "syscall",
    "vsnprintf",
    "waitpid",
    "write",
};

/// The functions of <math.h> on doubles; those on floats have an "f" behind.
constexpr const char* libm_names[] = {
    "acos",      "acosh",    "asin",      "asinh", "atan",   "atan2",     "atanh", "cbrt",
    "ceil",      "copysign", "cos",       "cosh",  "erf",    "erfc",      "exp",   "exp10",
    "exp2",      "expm1",    "fabs",      "floor", "fma",    "fmax",      "fmin",  "fmod",
    "hypot",     "ldexp",    "lgamma",    "log",   "log10",  "log1p",     "log2",  "modf",
    "nearbyint", "pow",      "remainder", "rint",  "round",  "roundeven", "sin",   "sincos",
    "sinh",      "sqrt",     "tan",       "tanh",  "tgamma", "trunc",
};

/// Makes a library that has functions of these names and nothing in them, to link with.
void write_stub(const Target& target, const std::vector<std::string>& names,
                const std::string& soname, const std::string& path) {
  std::string assembly = ".text\n";
  for (const std::string& name : names) {
    assembly += fmt::format(".globl {0}\n.type {0},%function\n{0}:\n", name);
  }
  std::string object = path + ".o";
  write_assembly(target, assembly, object);
  link({"-shared", "-soname", soname, object, "-o", path});
}

/// What a program begins with: calls @MAIN@ by way of libc.
std::string start_of(Architecture architecture, const std::string& main) {
  std::string text = architecture == Architecture::aarch64
                         ? ".globl _start\n"
                           "_start:\n"
                           "  mov x29, #0\n"
                           "  mov x30, #0\n"
                           "  mov x5, x0\n"
                           "  ldr x1, [sp]\n"
                           "  add x2, sp, #8\n"
                           "  mov x6, sp\n"
                           "  adrp x0, @MAIN@\n"
                           "  add x0, x0, :lo12:@MAIN@\n"
                           "  mov x3, #0\n"
                           "  mov x4, #0\n"
                           "  bl __libc_start_main\n"
                         : ".globl _start\n"
                           "_start:\n"
                           "  xorl %ebp, %ebp\n"
                           "  movq %rdx, %r9\n"
                           "  popq %rsi\n"
                           "  movq %rsp, %rdx\n"
                           "  andq $-16, %rsp\n"
                           "  pushq %rax\n"
                           "  pushq %rsp\n"
                           "  leaq @MAIN@(%rip), %rdi\n"
                           "  xorl %ecx, %ecx\n"
                           "  xorl %r8d, %r8d\n"
                           "  call *__libc_start_main@GOTPCREL(%rip)\n"
                           "  hlt\n";
  constexpr std::string_view mark = "@MAIN@";
  for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), main);
  return text;
}

/// Writes what a library is joined from. Returns the paths of the object files.
std::vector<std::string> write_parts(const LibraryParts& parts, const char* machine) {
  std::vector<std::string> objects;
  auto add = [&](const std::string& file, std::string_view bytes) {
    objects.push_back(parts.folder + "/" + file);
    write_file(objects.back(), {std::as_bytes(std::span(bytes))});
  };
  std::string weights = parts.folder + "/weights";
  write_file(weights, {parts.weights});
  objects.push_back(parts.folder + "/tables.o");
  write_tables(parts, machine, weights, objects.back());
  for (size_t i = 0; machine == nullptr && i < parts.kernels.size(); ++i) {
    add(fmt::format("kernels{}.o", i), parts.kernels[i]);
  }
  for (const RuntimeObject& object : parts.runtime) add(object.name, object.bytes);
  return objects;
}

}  // namespace

void llvm_write_library(const LibraryParts& parts) { write_library_for(nullptr, parts); }

void write_library_for(const char* machine, const LibraryParts& parts) {
  const Tables& first = parts.variants.front();
  std::string model = parts.folder + "/model.o";
  join_objects(write_parts(parts, machine), exported_names(first.name), model);
  write_archive(model, first.name + ".o", parts.archive);
  std::string soname = std::filesystem::path(parts.shared).filename().string();
  link_shared(parts.host, model, soname, parts.shared);
}

void join_objects(const std::vector<std::string>& object_files,
                  const std::vector<std::string>& exported, const std::string& object_file) {
  std::string joined = object_file + ".joined";
  std::vector<std::string> arguments = {"-r", "-o", joined};
  arguments.insert(arguments.end(), object_files.begin(), object_files.end());
  link(arguments);

  auto binary = llvm::object::ObjectFile::createObjectFile(joined);
  if (!binary) fail_with("joining objects", binary.takeError());
  llvm::objcopy::ConfigManager config;
  for (const std::string& name : exported) {
    auto error = config.Common.SymbolsToKeepGlobal.addMatcher(llvm::objcopy::NameOrPattern::create(
        name, llvm::objcopy::MatchStyle::Literal, [](llvm::Error e) { return e; }));
    if (error) fail_with("joining objects", std::move(error));
  }
  std::error_code code;
  llvm::raw_fd_ostream stream(object_file, code);
  if (code) fail("cannot write '{}': {}", object_file, code.message());
  auto error = llvm::objcopy::executeObjcopyOnBinary(config, *binary->getBinary(), stream);
  if (error) fail_with("joining objects", std::move(error));
  stream.close();
  if (stream.has_error()) {
    code = stream.error();
    stream.clear_error();
    fail("cannot write '{}': {}", object_file, code.message());
  }
  llvm::sys::fs::remove(joined);
}

void write_archive(const std::string& object_file, const std::string& member,
                   const std::string& archive) {
  auto file = llvm::NewArchiveMember::getFile(object_file, /*Deterministic=*/true);
  if (!file) fail_with("making an archive", file.takeError());
  file->MemberName = member;
  std::vector<llvm::NewArchiveMember> members;
  members.push_back(std::move(*file));
  auto error = llvm::writeArchive(archive, members, llvm::SymtabWritingMode::NormalSymtab,
                                  llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                  /*Thin=*/false);
  if (error) fail_with("making an archive", std::move(error));
}

void link_shared(const Target& target, const std::string& object_file, const std::string& soname,
                 const std::string& library) {
  std::vector<std::string> math;
  for (const char* name : libm_names) {
    math.emplace_back(name);
    math.push_back(std::string(name) + "f");
  }
  std::string libc = library + ".libc", libm = library + ".libm";
  write_stub(target, {std::begin(libc_names), std::end(libc_names)}, "libc.so.6", libc);
  write_stub(target, math, "libm.so.6", libm);
  link({"-shared", "--hash-style=gnu", "-z", "defs", "-z", "relro", "-z", "now", "-soname", soname,
        object_file, libm, libc, "-o", library});
  for (const std::string& stub : {libc, libm}) {
    llvm::sys::fs::remove(stub);
    llvm::sys::fs::remove(stub + ".o");
  }
}

void link_program(const Target& host, const std::vector<RuntimeObject>& objects,
                  const std::string& main, const std::string& program) {
  std::string libc = program + ".libc", start = program + ".start.o";
  write_stub(host, {std::begin(libc_names), std::end(libc_names)}, "libc.so.6", libc);
  write_assembly(host, start_of(host.architecture, main), start);
  const char* loader = host.architecture == Architecture::aarch64 ? "/lib/ld-linux-aarch64.so.1"
                                                                  : "/lib64/ld-linux-x86-64.so.2";
  std::vector<std::string> arguments = {"-pie", "--hash-style=gnu", "-z",   "relro", "-z",
                                        "now",  "-dynamic-linker",  loader, start};
  std::vector<std::string> meanwhile = {libc, libc + ".o", start};
  for (const RuntimeObject& object : objects) {
    meanwhile.push_back(program + "." + object.name);
    write_file(meanwhile.back(), {std::as_bytes(std::span(object.bytes))});
    arguments.push_back(meanwhile.back());
  }
  arguments.insert(arguments.end(), {libc, "-o", program});
  link(arguments);
  for (const std::string& file : meanwhile) llvm::sys::fs::remove(file);
}

}  // namespace lathe
