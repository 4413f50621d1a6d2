#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runner/result.h"

struct z_stream_s;

namespace mkp {

// Undoes gzip, piece by piece; several members in a row are one stream, as a server that flushes
// after each event writes them.
class Gunzip {
 public:
  Gunzip();

  // Appends to `out` what the bytes stand for. Fails with Invalid for what is not gzip.
  Result<> put(std::string_view bytes, std::string& out);
  // Whether a member is under way: an end of the stream now is premature.
  bool is_open() const { return open_; }

 private:
  struct Free {
    void operator()(z_stream_s* stream) const noexcept;
  };
  std::unique_ptr<z_stream_s, Free> stream_;
  bool open_ = false;
};

}  // namespace mkp
