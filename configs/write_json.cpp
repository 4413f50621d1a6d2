#include "configs/write_json.h"

#include "configs/json_text.h"
#include "configs/write.h"

namespace mkp {

Result<std::string> to_json(const Config& config) { return json_of(YAML::Load(to_yaml(config))); }

}  // namespace mkp
