#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/flags.h"
#include "informer/signal.h"
#include "netlink/addresses.h"
#include "netlink/conntrack_socket.h"
#include "netlink/nftables.h"
#include "netlink/table_owner.h"
#include "proxy/cluster_feed.h"
#include "proxy/cluster_source.h"
#include "proxy/conntrack_cleanup.h"
#include "proxy/node_rules.h"
#include "proxy/node_servers.h"
#include "proxy/sync_thread.h"
#include "runner/bounded_frequency_runner.h"
#include "runner/clock.h"

namespace mkp {

// The whole program behind its command line: builds every part and owns it; the one place that
// knows them all.
class Daemon {
 public:
  explicit Daemon(Options options);

  // Does what the command line asks for; to be called once. Says the exit status: 0 for success, 1
  // for a failure whose reason is in the log. A dry run's: 0 nothing differs, 1 something does, 2
  // failure.
  int run();

 private:
  Result<> clean_up();
  Result<> prepare();
  Result<std::string> own_name() const;
  Result<> open_kernel();
  Result<> list_addresses();
  asio::awaitable<int> serve();
  asio::awaitable<int> once();
  asio::awaitable<int> sync_once();
  asio::awaitable<int> preview_once();
  asio::awaitable<bool> hear_once();
  asio::awaitable<void> sync_until_signalled();
  asio::awaitable<void> stop_on_signal();
  asio::awaitable<void> wait_for_pod_cidrs();
  asio::awaitable<void> feed_watchdog();
  asio::awaitable<void> follow_addresses();
  asio::awaitable<void> follow_flows();
  void make_servers();
  asio::awaitable<void> serve_node();
  void note_queued();
  asio::awaitable<Result<>> sync();
  asio::awaitable<Result<>> tidy_up(bool due);
  asio::awaitable<Result<>> remove_idle_chains();
  asio::awaitable<Result<PlanSize>> preview();
  asio::awaitable<Result<>> print_preview();
  void announce_ready();
  void run_when_quiet();
  int failed() const { return options_.dry_run ? 2 : 1; }
  bool report_problems() const;

  Options options_;
  SteadyClock clock_;
  std::vector<IpFamily> families_;
  std::unique_ptr<nft::Nftables> kernel_;
  std::optional<TableOwner> owner_;
  std::unique_ptr<NodeRules> rules_;
  std::unique_ptr<ClusterSource> source_;
  std::unique_ptr<ClusterFeed> feed_;
  std::unique_ptr<Addresses> addresses_;
  ConntrackSocket conntrack_;
  ConntrackCleanup flows_{conntrack_, clock_};
  std::unique_ptr<BoundedFrequencyRunner> runner_;
  Signal feed_changed_;  // while nothing is synced yet
  std::optional<TimePoint> cleanup_at_;
  bool ready_ = false;
  bool stopping_ = false;
  asio::io_context loop_;  // suspended tasks die with it, while what they refer to still lives
  std::optional<asio::signal_set> signals_;  // while serving
  std::unique_ptr<NodeServers> servers_;     // while serving, unless in a dry run
  SyncThread sync_thread_;  // dies before the loop: its last job may still want to answer
};

}  // namespace mkp
