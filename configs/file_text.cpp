#include "configs/file_text.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace mkp {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file) return fail_errno(errno, "read " + path);
  std::string text;
  std::array<char, 4096> buffer{};
  std::size_t size = 0;
  while ((size = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    text.append(buffer.data(), size);
    if (text.size() > kLargest) return fail_errno(EFBIG, "read " + path);
  }
  if (std::ferror(file.get()) != 0) return fail_errno(errno, "read " + path);
  return text;
}

std::string warning_if_others_read(const std::string& path, std::string_view what) {
  constexpr unsigned kGroupOrOthersRead = 044;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & kGroupOrOthersRead) == 0) return "";
  return fmt::format("{} has mode {:04o}, so that others than its owner may read {}: chmod 0600 it",
                     path, status.st_mode & 07777, what);
}

}  // namespace mkp
