#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// What is wrong with one object on its way from bytes to a value, and where. Decoding goes on after
// a problem, as the object's name may come later; only the first one is kept.
class DecodeProblem {
 public:
  // For as long as it lives, what is noted lies within this field, or within this element of it.
  class Within {
   public:
    Within(DecodeProblem& problem, std::string_view field,
           std::optional<std::size_t> element = std::nullopt)
        : problem_(problem), outer_(problem.innermost_), field_(field), element_(element) {
      problem_.innermost_ = this;
    }
    ~Within() { problem_.innermost_ = outer_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    friend class DecodeProblem;
    DecodeProblem& problem_;
    const Within* outer_;
    std::string_view field_;
    std::optional<std::size_t> element_;
  };

  DecodeProblem() = default;
  DecodeProblem(const DecodeProblem&) = delete;
  DecodeProblem& operator=(const DecodeProblem&) = delete;

  // The object cannot be used. An empty `field` is the field that encloses.
  void note(std::string_view field, std::string_view what);
  // The object can be used without a part of it, which only a newer server knows.
  void leave_out(std::string_view field, std::string_view what);

  bool found() const { return !text_.empty(); }
  // "spec.ports[0].port: 70000 is not a port (1-65535)"; empty when nothing is wrong.
  const std::string& text() const { return text_; }
  const std::string& left_out() const { return left_out_; }

 private:
  std::string located(std::string_view field, std::string_view what) const;

  const Within* innermost_ = nullptr;
  std::string text_;
  std::string left_out_;
};

// Text that came from elsewhere, for a message: in quotes, shortened, without anything unprintable.
std::string brief(std::string_view text);

}  // namespace mkp
