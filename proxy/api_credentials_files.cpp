#include "proxy/api_credentials_files.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "configs/file_text.h"

namespace mkp {
namespace {

constexpr Duration kLookInterval = std::chrono::seconds(1);
// A minute of use less the ten seconds that a request may be on its way, as Kubernetes has it.
constexpr Duration kTokenAge = std::chrono::seconds(50);

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

}  // namespace

bool PemFiles::Stamp::operator==(const Stamp& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
}

PemFiles::PemFiles(std::vector<PemSource> sources, std::string what, Check check)
    : sources_(std::move(sources)), what_(std::move(what)), check_(check) {}

Result<> PemFiles::refresh(TimePoint now) {
  if (next_look_ && now < *next_look_ && !texts_.empty()) return {};
  next_look_ = later(now, kLookInterval);
  std::vector<Stamp> seen = stamps();
  const bool changed = seen != stamps_;
  if (!changed && !unsettled_) return {};
  stamps_ = std::move(seen);
  Result<std::vector<std::string>> texts = read();
  const Result<> usable = texts ? check_(*texts) : Result<>(tl::unexpected<Error>(texts.error()));
  unsettled_ = changed || !usable;
  if (!usable) return keep(usable.error());
  take_over(std::move(*texts));
  return {};
}

std::vector<PemFiles::Stamp> PemFiles::stamps() const {
  std::vector<Stamp> stamps;
  for (const PemSource& source : sources_) {
    Stamp& stamp = stamps.emplace_back();
    struct stat status {};
    if (source.file.empty() || stat(source.file.c_str(), &status) != 0) continue;
    stamp.device = status.st_dev;
    stamp.inode = status.st_ino;
    stamp.size = status.st_size;
    stamp.modified = status.st_mtim;
  }
  return stamps;
}

Result<std::vector<std::string>> PemFiles::read() const {
  std::vector<std::string> texts;
  for (const PemSource& source : sources_) {
    if (source.file.empty()) {
      texts.push_back(source.data);
      continue;
    }
    Result<std::string> text = read_file(source.file);
    if (!text) return tl::unexpected<Error>(text.error());
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::string PemFiles::names() const {
  std::string names;
  for (const PemSource& source : sources_) {
    if (!source.file.empty()) names += (names.empty() ? "" : ", ") + source.file;
  }
  return names.empty() ? "of the kubeconfig" : names;
}

void PemFiles::take_over(std::vector<std::string> texts) {
  if (!texts_.empty() && texts != texts_) {
    spdlog::info("{} {}: replaced; new connections to the API server use what is there now", what_,
                 names());
  } else if (!complaint_.empty()) {
    spdlog::info("{} {}: can be used again", what_, names());
  }
  texts_ = std::move(texts);
  complaint_.clear();
}

Result<> PemFiles::keep(const Error& why) {
  const std::string complaint = fmt::format("{} {}: {}", what_, names(), why.what);
  if (texts_.empty()) return fail(Errc::Internal, complaint);
  if (complaint != complaint_) {
    spdlog::warn(
        "{}; what was read before stays in use, and once it has expired, changes of the cluster "
        "are not seen: complete the files",
        complaint);
  }
  complaint_ = complaint;
  return {};
}

TokenFile::TokenFile(std::string path, std::string token)
    : path_(std::move(path)), token_(std::move(token)) {}

Result<std::string> TokenFile::current(TimePoint now) {
  if (next_read_ && now < *next_read_ && !token_.empty()) return token_;
  next_read_ = later(now, kTokenAge);
  Result<std::string> token = read();
  if (token) {
    if (complained_) spdlog::info("token file {}: can be read again", path_);
    complained_ = false;
    token_ = std::move(*token);
    return token_;
  }
  if (token_.empty()) return token;
  if (!complained_) {
    spdlog::warn(
        "{}; the token read before stays in use, and once it has expired, changes of the cluster "
        "are not seen: bring the file back",
        token.error().what);
  }
  complained_ = true;
  return token_;
}

Result<std::string> TokenFile::read() const {
  const Result<std::string> text = read_file(path_);
  if (!text) {
    return fail(Errc::Internal,
                fmt::format("failed to read token file \"{}\": {}", path_, text.error().what));
  }
  std::string token = trimmed(*text);
  if (token.empty()) {
    return fail(Errc::Internal, fmt::format("read empty token from file \"{}\"", path_));
  }
  const bool fits = std::all_of(token.begin(), token.end(), [](unsigned char letter) {
    return letter >= ' ' && letter != 0x7f;
  });
  if (fits) return token;
  return fail(
      Errc::Internal,
      fmt::format("token file \"{}\" has more than one line, or a control character", path_));
}

}  // namespace mkp
