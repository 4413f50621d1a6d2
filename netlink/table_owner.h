#pragma once

#include <string_view>

#include "runner/result.h"

namespace mkp {

// Keeps a second process from writing the same table: an abstract unix socket, of which there is
// one of a name in each network namespace, as there is of the table. Ours for as long as this
// lives; the kernel gives it back however the process ends.
class TableOwner {
 public:
  // Exists when another process owns it; the error names its pid where the kernel tells it.
  static Result<TableOwner> acquire(std::string_view name);

  TableOwner(TableOwner&& other) noexcept;
  TableOwner& operator=(TableOwner&& other) noexcept;
  TableOwner(const TableOwner&) = delete;
  TableOwner& operator=(const TableOwner&) = delete;
  ~TableOwner();

 private:
  explicit TableOwner(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace mkp
