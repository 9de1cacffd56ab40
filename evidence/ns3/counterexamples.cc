// One flow in ns-3 on the paths of `scenarios/counterexamples`: a bottleneck with a drop-tail queue, an application that is slow until an
// instant, one lost packet, and a delay that grows at an instant.
//
// It prints one JSON object; numbers are in base SI units and cover the time from the end of the warm-up to the end. Build it with
//
//   g++ -O1 -std=c++17 evidence/ns3/counterexamples.cc -o ns3-counterexamples -Wl,--no-as-needed -lns3-core -lns3-network
//       -lns3-internet -lns3-applications -lns3-point-to-point -lns3-traffic-control

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t PAYLOAD = 1458;
constexpr uint32_t HEADERS = 42;

double
Packets(Ptr<const TcpSocketState> state)
{
    return static_cast<double>(state->m_cWnd) / state->m_segmentSize;
}

// An algorithm whose window does not grow while it is not used, which ns-3 leaves to the algorithms.
template <class Algorithm>
class Used : public Algorithm
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Used" + Algorithm::GetTypeId().GetName())
                               .template SetParent<Algorithm>()
                               .template AddConstructor<Used>();
        return id;
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t acknowledged) override
    {
        // What is acknowledged now no longer counts as in flight.
        const uint32_t flight = state->m_bytesInFlight + (acknowledged + 3) * state->m_segmentSize;
        if (flight >= state->m_cWnd)
        {
            Algorithm::IncreaseWindow(state, acknowledged);
        }
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Used>(Ptr<Used>(this));
    }
};

// H-TCP that adds alpha packets per round trip. ns-3 adds alpha bytes per acknowledgement to Reno's increase.
class PacketHtcp : public TcpHtcp
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("PacketHtcp").SetParent<TcpHtcp>().AddConstructor<PacketHtcp>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t flight) override
    {
        m_congestion = Simulator::Now();
        return TcpHtcp::GetSsThresh(state, flight);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<PacketHtcp>(Ptr<PacketHtcp>(this));
    }

  protected:
    void CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t acknowledged) override
    {
        const double late = std::max((Simulator::Now() - m_congestion).GetSeconds() - 1, 0.0);
        const double alpha = 1 + 10 * late + late * late / 4;
        state->m_cWnd += static_cast<uint32_t>(acknowledged * alpha / Packets(state) * state->m_segmentSize);
    }

  private:
    Time m_congestion;
};

// Writes a packet per interval until an instant, and then whatever the socket takes.
class Source : public Application
{
  public:
    Source(Address to, double rate, double bulk)
        : m_to(to),
          m_interval(rate > 0 ? Seconds(PAYLOAD * 8 / rate) : Time()),
          m_bulk(Seconds(bulk))
    {
    }

    Ptr<Socket> socket;

  private:
    void StartApplication() override
    {
        socket = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
        socket->Bind();
        socket->Connect(m_to);
        socket->SetSendCallback(MakeCallback(&Source::Fill, this));
        Simulator::Schedule(std::max(m_bulk - Simulator::Now(), Time()), &Source::Fill, this, socket, 0);
        if (m_interval.IsStrictlyPositive())
        {
            Write();
        }
    }

    void Write()
    {
        if (Simulator::Now() < m_bulk)
        {
            socket->Send(Create<Packet>(PAYLOAD));
            Simulator::Schedule(m_interval, &Source::Write, this);
        }
    }

    void Fill(Ptr<Socket>, uint32_t)
    {
        if (Simulator::Now() < m_bulk)
        {
            return;
        }
        while (socket->GetTxAvailable() >= PAYLOAD && socket->Send(Create<Packet>(PAYLOAD)) > 0)
        {
        }
    }

    Address m_to;
    Time m_interval;
    Time m_bulk;
};

// Loses the data packet of this number, counted from 1.
class One : public ErrorModel
{
  public:
    One(uint32_t number)
        : m_number(number)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() > PAYLOAD && ++m_seen == m_number;
    }

    void DoReset() override
    {
    }

    uint32_t m_number;
    uint32_t m_seen = 0;
};

struct Counts
{
    uint64_t carried = 0;
    uint64_t dropped = 0;
    double deepest = 0;
    double window = 0;
};

} // namespace

int
main(int argc, char* argv[])
{
    std::string algorithm = "htcp";
    std::string filter = "Tustin";
    std::string trace;
    double rate = 20e6;
    double rtt = 0.04;
    double slow = 0;
    double bulk = 0;
    double step = 0;
    double extra = 0;
    double duration = 32;
    double warmup = 30;
    double memory = 10;
    uint32_t limit = 66;
    uint32_t drop = 0;
    uint32_t seed = 1;
    CommandLine line;
    line.AddValue("algorithm", "htcp, htcp-used, htcp-packets, cubic-used, reno-used, westwood, reno or bbr", algorithm);
    line.AddValue("rate", "bottleneck, bit/s", rate);
    line.AddValue("rtt", "round trip without queueing, s", rtt);
    line.AddValue("limit", "packets that may wait", limit);
    line.AddValue("slow", "payload of the application before `bulk`, bit/s", slow);
    line.AddValue("bulk", "the application has all data from this instant on, s", bulk);
    line.AddValue("drop", "the data packet that is lost, counted from 1; 0 for none", drop);
    line.AddValue("step", "the delay grows at this instant, s", step);
    line.AddValue("extra", "by this much, s", extra);
    line.AddValue("duration", "s", duration);
    line.AddValue("warmup", "s", warmup);
    line.AddValue("memory", "BBR: length of the filter of the round-trip time, s", memory);
    line.AddValue("filter", "Westwood+: Tustin, or None for the last sample of the bandwidth", filter);
    line.AddValue("seed", "draws the instant of the start, within a round trip", seed);
    line.AddValue("trace", "file for the window, every 100 ms", trace);
    line.Parse(argc, argv);

    static const std::map<std::string, TypeId> algorithms = {
        {"htcp", TcpHtcp::GetTypeId()},
        {"htcp-used", Used<TcpHtcp>::GetTypeId()},
        {"htcp-packets", Used<PacketHtcp>::GetTypeId()},
        {"cubic-used", Used<TcpCubic>::GetTypeId()},
        {"reno-used", Used<TcpLinuxReno>::GetTypeId()},
        {"reno", TcpLinuxReno::GetTypeId()},
        {"westwood", TcpWestwood::GetTypeId()},
        {"bbr", TcpBbr::GetTypeId()},
    };
    NS_ABORT_MSG_IF(algorithms.count(algorithm) == 0, "unknown algorithm " << algorithm);
    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(algorithms.at(algorithm)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    Config::SetDefault("ns3::TcpWestwood::FilterType", StringValue(filter));
    Config::SetDefault("ns3::TcpBbr::RttWindowLength", TimeValue(Seconds(memory)));

    NodeContainer nodes;
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    PointToPointHelper slowest;
    slowest.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    slowest.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    slowest.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, limit)));
    slowest.DisableFlowControl();
    auto near = access.Install(nodes.Get(0), nodes.Get(1));
    auto bottleneck = slowest.Install(nodes.Get(1), nodes.Get(2));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(near);
    addresses.NewNetwork();
    const InetSocketAddress address(addresses.Assign(bottleneck).GetAddress(1), 9);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    DynamicCast<PointToPointNetDevice>(bottleneck.Get(1))->SetReceiveErrorModel(CreateObject<One>(drop));
    PacketSinkHelper("ns3::TcpSocketFactory", address).Install(nodes.Get(2));
    auto source = CreateObject<Source>(address, slow, bulk);
    nodes.Get(0)->AddApplication(source);
    const double start = CreateObject<UniformRandomVariable>()->GetValue(0, rtt);
    source->SetStartTime(Seconds(start));

    static Counts counts;
    static std::ofstream out;
    out.open(trace.empty() ? "/dev/null" : trace);
    out << "time_s,window_packets\n";
    auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
    device->TraceConnectWithoutContext(
        "PhyTxEnd", Callback<void, Ptr<const Packet>>([](Ptr<const Packet> packet) { counts.carried += packet->GetSize() > PAYLOAD; }));
    device->GetQueue()->TraceConnectWithoutContext(
        "Drop", Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) { counts.dropped++; }));
    Simulator::Schedule(Seconds(start) + NanoSeconds(1), [&] {
        source->socket->TraceConnectWithoutContext(
            "SlowStartThreshold", Callback<void, uint32_t, uint32_t>([](uint32_t, uint32_t bytes) {
                const double left = static_cast<double>(bytes) / PAYLOAD / counts.window;
                if (counts.window > 0 && left < 1 && counts.deepest == 0)
                {
                    counts.deepest = 1 - left;
                }
            }));
        source->socket->TraceConnectWithoutContext(
            "CongestionWindow", Callback<void, uint32_t, uint32_t>([](uint32_t, uint32_t bytes) {
                counts.window = static_cast<double>(bytes) / PAYLOAD;
            }));
    });
    for (double at = 0; at < duration; at += 0.1)
    {
        Simulator::Schedule(Seconds(at), [] { out << Simulator::Now().GetSeconds() << "," << counts.window << "\n"; });
    }
    Simulator::Schedule(Seconds(warmup), [] { counts.carried = counts.dropped = 0; });
    if (extra > 0)
    {
        auto channel = device->GetChannel();
        Simulator::Schedule(Seconds(step), [=] { channel->SetAttribute("Delay", TimeValue(Seconds((rtt + extra) / 2))); });
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    std::cout << "{\"seed\":" << seed << ",\"loss\":" << static_cast<double>(counts.dropped) / (counts.carried + counts.dropped)
              << ",\"utilisation\":" << counts.carried * (PAYLOAD + HEADERS) * 8.0 / (rate * (duration - warmup))
              << ",\"first_cut\":" << counts.deepest << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
