#pragma once

namespace mkp {

// What the kernel knows of this process, in Prometheus' units: seconds and bytes. What cannot be
// read is 0.
struct ProcessFigures {
  double cpu_seconds = 0;
  double start_time = 0;  // since 1970
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double max_virtual_bytes = 0;
  double open_files = 0;
  double max_open_files = 0;
  double received_bytes = 0;  // by the network namespace
  double sent_bytes = 0;
};

ProcessFigures process_figures();

}  // namespace mkp
