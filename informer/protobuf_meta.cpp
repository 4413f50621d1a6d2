#include "informer/protobuf_message.h"
#include "informer/protobuf_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

// meta/v1 Time: seconds and nanoseconds, the latter always 0.
std::int64_t read_time(std::string_view bytes, std::string_view name, DecodeProblem& problem) {
  const Within within(problem, name);
  std::int64_t seconds = 0;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) seconds = message.number("seconds").value_or(0);
  }
  return seconds;
}

// An entry of a map of strings: stored when its key is `wanted`.
void read_entry(std::string_view bytes, std::string_view name, std::string_view wanted,
                std::string& stored, DecodeProblem& problem) {
  const Within within(problem, name);
  std::string_view key;
  std::string_view value;
  ProtobufMessage entry(bytes, problem);
  while (entry.next()) {
    if (entry.tag() == 1) key = entry.bytes("key");
    if (entry.tag() == 2) value = entry.bytes("value");
  }
  if (key != wanted) return;
  // Once more, so that the value is checked: values of other keys are nobody's business.
  ProtobufMessage again(bytes, problem);
  while (again.next()) {
    if (again.tag() == 2) stored = again.text(wanted);
  }
}

}  // namespace

void read_protobuf_meta(std::string_view bytes, ObjectMeta& meta, const WantedMeta& wanted,
                        DecodeProblem& problem) {
  const Within within(problem, "metadata");
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        meta.name = message.text("name");
        break;
      case 3:
        meta.name_space = message.text("namespace");
        break;
      case 5:
        meta.uid = message.text("uid");
        break;
      case 6:
        meta.resource_version = message.text("resourceVersion");
        break;
      case 8:
        meta.creation_timestamp =
            read_time(message.bytes("creationTimestamp"), "creationTimestamp", problem);
        break;
      case 9:
        if (wanted.deleting) *wanted.deleting = true;
        break;
      case 11:
        if (!wanted.label_value) break;
        read_entry(message.bytes("labels"), "labels", wanted.label, *wanted.label_value, problem);
        break;
      case 12:
        if (!wanted.annotation_value) break;
        read_entry(message.bytes("annotations"), "annotations", wanted.annotation,
                   *wanted.annotation_value, problem);
        break;
      default:
        break;
    }
  }
}

}  // namespace mkp
