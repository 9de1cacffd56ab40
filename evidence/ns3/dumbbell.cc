// One dumbbell in ns-3, set up to be the same experiment as `cwnd run` of the scenario that drives it.
//
// Senders S_i and receivers D_i hang on two routers; the line between the routers is the only slow one and the only one
// with a queue worth the name. What a reader must know to compare:
//
//  * a data packet is 1500 bytes on the bottleneck line: 1458 of payload, 20 TCP, 20 IP, 2 PPP; no TCP timestamps;
//  * every packet is acknowledged at once, selective acknowledgements are on, nothing is paced;
//  * socket buffers and windows are far above what any case can fill;
//  * drop-tail is the line's own queue, so that its limit counts the packets that wait and not the one being sent; RED is
//    a queue discipline above a line queue of one packet, which RED therefore does not see;
//  * each flow starts after a uniform draw from zero to one base round trip, its base round trip is scaled by a uniform draw
//    within +-spread, and each data packet leaves late by a uniform draw from zero to a fraction of its time on the
//    bottleneck line, as in `cwnd`: without it the same flow loses again and again at a drop-tail queue.
//
// It prints one JSON object. Numbers are in base SI units and cover the time from the end of the warm-up to the end.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t WIRE_PACKET = 1500;
constexpr uint32_t HEADERS = 42;

struct Options
{
    std::string algorithm = "reno";
    std::string recovery = "prr";
    std::string queue = "droptail";
    uint64_t rate = 100000000;
    double rtt = 0.05;
    uint32_t limit = 417;
    double redMin = 0;
    double redMax = 0;
    double redMaxP = 0.1;
    double redWeight = 0.002;
    double loss = 0;
    uint32_t flows = 1;
    double duration = 60;
    double warmup = 20;
    double spread = 0.05;
    double jitter = 0.9;
    uint32_t seed = 1;
    std::string trace;
    double interval = 0.1;
};

Options
Parse(int argc, char* argv[])
{
    Options o;
    CommandLine line;
    line.AddValue("algorithm", "see ConfigureTcp", o.algorithm);
    line.AddValue("recovery", "classic (the window is the threshold at once) or prr (RFC 6937)", o.recovery);
    line.AddValue("queue", "droptail or red", o.queue);
    line.AddValue("rate", "bottleneck, bit/s", o.rate);
    line.AddValue("rtt", "base round trip, s", o.rtt);
    line.AddValue("limit", "packets that may wait", o.limit);
    line.AddValue("redMin", "RED: lower threshold, packets", o.redMin);
    line.AddValue("redMax", "RED: upper threshold, packets", o.redMax);
    line.AddValue("redMaxP", "RED: probability at the upper threshold", o.redMaxP);
    line.AddValue("redWeight", "RED: weight of a new sample", o.redWeight);
    line.AddValue("loss", "probability that a data packet is lost behind the bottleneck", o.loss);
    line.AddValue("flows", "number of flows", o.flows);
    line.AddValue("duration", "s", o.duration);
    line.AddValue("warmup", "s", o.warmup);
    line.AddValue("spread", "base round trips vary by this fraction", o.spread);
    line.AddValue("jitter", "data packets leave late by up to this fraction of their time on the bottleneck", o.jitter);
    line.AddValue("seed", "equal seeds are equal runs", o.seed);
    line.AddValue("trace", "file for the windows over time, CSV", o.trace);
    line.AddValue("interval", "time between samples of the trace, s", o.interval);
    line.Parse(argc, argv);
    return o;
}

// What follows are algorithms of ns-3 with one habit taken away, to see whether that habit is what makes a result differ.

// Grows by the packets an acknowledgement newly delivers. Every packet is acknowledged here, so that is one; ns-3 counts what the
// acknowledgement covers, and the one that ends a recovery covers what has long been delivered.
template <class Algorithm>
class Delivered : public Algorithm
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Delivered" + Algorithm::GetTypeId().GetName())
                               .template SetParent<Algorithm>()
                               .template AddConstructor<Delivered>();
        return id;
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t acknowledged) override
    {
        Algorithm::IncreaseWindow(state, std::min(acknowledged, 1u));
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Delivered>(Ptr<Delivered>(this));
    }
};

double
Packets(Ptr<const TcpSocketState> state)
{
    return static_cast<double>(state->m_cWnd) / state->m_segmentSize;
}

uint32_t
Bytes(double packets, Ptr<const TcpSocketState> state)
{
    return std::max(packets, 2.0) * state->m_segmentSize;
}

// Removes an eighth. ns-3 truncates to whole packets before the cut and after it, which removes one packet more on average.
class UntruncatedScalable : public TcpScalable
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("UntruncatedScalable").SetParent<TcpScalable>().AddConstructor<UntruncatedScalable>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        return Bytes(Packets(state) * (1 - 0.125), state);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<UntruncatedScalable>(Ptr<UntruncatedScalable>(this));
    }
};

// Follows the formulas of RFC 3649, section 5. ns-3 and the kernel use its table of whole increases and take, between two rows,
// the larger one: 2 packets per round trip from a window of 39 on, where the formula gives 1.
class FormulaHighSpeed : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("FormulaHighSpeed").SetParent<TcpNewReno>().AddConstructor<FormulaHighSpeed>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        const double w = Packets(state);
        return Bytes(w * (1 - Decrease(w)), state);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<FormulaHighSpeed>(Ptr<FormulaHighSpeed>(this));
    }

  protected:
    void CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t acknowledged) override
    {
        const double w = Packets(state);
        m_grown += acknowledged * Increase(w) / w;
        const double whole = std::floor(m_grown);
        m_grown -= whole;
        state->m_cWnd += static_cast<uint32_t>(whole) * state->m_segmentSize;
    }

  private:
    // How far w lies between the windows of 38 and 83000, on a logarithmic scale.
    static double Place(double w)
    {
        return std::log(w / 38) / std::log(83000.0 / 38);
    }

    static double Decrease(double w)
    {
        return w <= 38 ? 0.5 : 0.5 + (0.1 - 0.5) * Place(w);
    }

    static double Increase(double w)
    {
        if (w <= 38)
        {
            return 1;
        }
        const double low = 1.5 / (38 * 38);
        const double p = low * std::pow(1e-7 / low, Place(w));
        return w * w * p * 2 * Decrease(w) / (2 - Decrease(w));
    }

    double m_grown = 0;
};

// The line between a host and its router: packets from the host are late by a draw, and never overtake each other.
class AccessLine : public PointToPointChannel
{
  public:
    AccessLine(Ptr<RandomVariableStream> lateness)
        : m_lateness(lateness)
    {
    }

    bool TransmitStart(Ptr<const Packet> packet, Ptr<PointToPointNetDevice> source, Time time) override
    {
        if (source != GetSource(0))
        {
            return PointToPointChannel::TransmitStart(packet, source, time);
        }
        const Time now = Simulator::Now();
        m_last = std::max(m_last, now + time + GetDelay() + Seconds(m_lateness->GetValue()));
        Ptr<PointToPointNetDevice> router = GetDestination(0);
        Simulator::ScheduleWithContext(router->GetNode()->GetId(), m_last - now, &PointToPointNetDevice::Receive, router,
                                       packet->Copy());
        return true;
    }

  private:
    Ptr<RandomVariableStream> m_lateness;
    Time m_last;
};

// Joins a host to its router by a line so fast that a packet's time on it (0.1 us) does not show.
NetDeviceContainer
Join(Ptr<Node> host, Ptr<Node> router, Time delay, Ptr<RandomVariableStream> lateness)
{
    auto line = CreateObject<AccessLine>(lateness);
    line->SetAttribute("Delay", TimeValue(delay));
    NetDeviceContainer devices;
    for (const auto& node : {host, router})
    {
        auto queue = CreateObject<DropTailQueue<Packet>>();
        queue->SetMaxSize(QueueSize("1000000p"));
        auto device = CreateObject<PointToPointNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        device->SetDataRate(DataRate("100Gbps"));
        device->SetQueue(queue);
        node->AddDevice(device);
        device->Attach(line);
        devices.Add(device);
    }
    return devices;
}

// What is counted on the bottleneck, in the direction of the data.
class Bottleneck
{
  public:
    void Watch(Ptr<NetDevice> sender, Ptr<NetDevice> receiver)
    {
        sender->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Bottleneck::Begins, this));
        sender->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Bottleneck::Ends, this));
        receiver->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Bottleneck::Lost, this));
    }

    void WatchQueue(Ptr<Queue<Packet>> queue)
    {
        queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Bottleneck::Waits, this));
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Bottleneck::Dropped, this));
    }

    void WatchQueue(Ptr<QueueDisc> queue)
    {
        queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Bottleneck::ItemWaits, this));
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Bottleneck::ItemDropped, this));
    }

    // Counting starts here; packets that wait now are no part of it.
    void Reset()
    {
        carriedBytes = carried = dropped = lost = waits = 0;
        waited = 0;
    }

    uint64_t carriedBytes = 0;
    uint64_t carried = 0;
    uint64_t dropped = 0;
    uint64_t lost = 0;
    uint64_t waits = 0;
    double waited = 0;

  private:
    void Waits(Ptr<const Packet>)
    {
        m_since.push_back(Simulator::Now());
    }

    void ItemWaits(Ptr<const QueueDiscItem>)
    {
        m_since.push_back(Simulator::Now());
    }

    void Dropped(Ptr<const Packet>)
    {
        dropped++;
    }

    void ItemDropped(Ptr<const QueueDiscItem>)
    {
        dropped++;
    }

    // First in, first out: the packet that leaves is the one that waited longest.
    void Begins(Ptr<const Packet>)
    {
        waited += (Simulator::Now() - m_since.front()).GetSeconds();
        waits++;
        m_since.pop_front();
    }

    void Ends(Ptr<const Packet> packet)
    {
        carried++;
        carriedBytes += packet->GetSize();
    }

    void Lost(Ptr<const Packet>)
    {
        lost++;
    }

    std::deque<Time> m_since;
};

// The windows of all flows, in packets.
class Windows
{
  public:
    Windows(uint32_t flows, const std::string& path, double interval)
        : m_windows(flows, 0),
          m_interval(Seconds(interval))
    {
        if (!path.empty())
        {
            m_out.open(path);
            m_out << "time_s";
            for (uint32_t i = 0; i < flows; i++)
            {
                m_out << ",window_packets_" << i;
            }
            m_out << "\n";
            Sample();
        }
    }

    // The sockets exist only once the sources have started.
    void Watch(Ptr<BulkSendApplication> source, uint32_t flow)
    {
        source->GetSocket()->TraceConnectWithoutContext("CongestionWindow",
                                                        MakeBoundCallback(&Windows::Changed, this, flow));
    }

  private:
    static void Changed(Windows* self, uint32_t flow, uint32_t, uint32_t bytes)
    {
        self->m_windows[flow] = static_cast<double>(bytes) / (WIRE_PACKET - HEADERS);
    }

    void Sample()
    {
        m_out << Simulator::Now().GetSeconds();
        for (double window : m_windows)
        {
            m_out << "," << window;
        }
        m_out << "\n";
        Simulator::Schedule(m_interval, &Windows::Sample, this);
    }

    std::vector<double> m_windows;
    Time m_interval;
    std::ofstream m_out;
};

void
ConfigureTcp(const Options& o)
{
    static const std::map<std::string, TypeId> algorithms = {
        {"reno", TcpLinuxReno::GetTypeId()},
        {"reno-delivered", Delivered<TcpLinuxReno>::GetTypeId()},
        {"highspeed", TcpHighSpeed::GetTypeId()},
        {"highspeed-formula", Delivered<FormulaHighSpeed>::GetTypeId()},
        {"scalable", TcpScalable::GetTypeId()},
        {"scalable-untruncated", Delivered<UntruncatedScalable>::GetTypeId()},
        {"cubic", TcpCubic::GetTypeId()},
        {"cubic-delivered", Delivered<TcpCubic>::GetTypeId()},
    };
    static const std::map<std::string, std::string> recoveries = {{"classic", "ns3::TcpClassicRecovery"},
                                                                  {"prr", "ns3::TcpPrrRecovery"}};
    NS_ABORT_MSG_IF(algorithms.count(o.algorithm) == 0, "unknown algorithm " << o.algorithm);
    NS_ABORT_MSG_IF(recoveries.count(o.recovery) == 0, "unknown recovery " << o.recovery);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(algorithms.at(o.algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName(recoveries.at(o.recovery))));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(WIRE_PACKET - HEADERS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    // ns-3 adds 1/50 packet per acknowledgement, Kelly's paper and the kernel 1/100.
    Config::SetDefault("ns3::TcpScalable::AIFactor", UintegerValue(100));
    // Slow start ends by loss here, as it does in `cwnd`.
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
}

void
ConfigureQueue(const Options& o, const NetDeviceContainer& line, Bottleneck& bottleneck)
{
    auto device = DynamicCast<PointToPointNetDevice>(line.Get(0));
    if (o.queue == "droptail")
    {
        bottleneck.WatchQueue(device->GetQueue());
        return;
    }
    NS_ABORT_MSG_IF(o.queue != "red", "unknown queue " << o.queue);
    device->GetQueue()->SetMaxSize(QueueSize("1p"));
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
                             "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, o.limit)),
                             "MinTh", DoubleValue(o.redMin),
                             "MaxTh", DoubleValue(o.redMax),
                             "LInterm", DoubleValue(1 / o.redMaxP),
                             "QW", DoubleValue(o.redWeight),
                             "Gentle", BooleanValue(true),
                             "Wait", BooleanValue(true),
                             "MeanPktSize", UintegerValue(WIRE_PACKET),
                             "LinkBandwidth", DataRateValue(DataRate(o.rate)),
                             "LinkDelay", TimeValue(Seconds(o.rtt / 2)));
    bottleneck.WatchQueue(control.Install(line.Get(0)).Get(0));
}

} // namespace

int
main(int argc, char* argv[])
{
    const Options o = Parse(argc, argv);
    RngSeedManager::SetSeed(o.seed);
    ConfigureTcp(o);

    NodeContainer routers;
    NodeContainer senders;
    NodeContainer receivers;
    routers.Create(2);
    senders.Create(o.flows);
    receivers.Create(o.flows);
    InternetStackHelper internet;
    internet.InstallAll();
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");

    PointToPointHelper slow;
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(o.rate)));
    // The draw of each flow adds a share of the delay on its own line; the common line has the rest.
    const double common = o.rtt / 2 * (1 - o.spread);
    slow.SetChannelAttribute("Delay", TimeValue(Seconds(common)));
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, o.limit)));
    if (o.queue == "droptail")
    {
        // Flow control would bring a queue discipline in front of the line's queue.
        slow.DisableFlowControl();
    }
    NetDeviceContainer line = slow.Install(routers);
    Bottleneck bottleneck;
    bottleneck.Watch(line.Get(0), line.Get(1));
    ConfigureQueue(o, line, bottleneck);
    addresses.Assign(line);
    if (o.loss > 0)
    {
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(o.loss);
        DynamicCast<PointToPointNetDevice>(line.Get(1))->SetReceiveErrorModel(loss);
    }

    auto draw = CreateObject<UniformRandomVariable>();
    auto lateness = CreateObject<UniformRandomVariable>();
    lateness->SetAttribute("Max", DoubleValue(o.jitter * WIRE_PACKET * 8 / o.rate));
    auto onTime = CreateObject<ConstantRandomVariable>();
    onTime->SetAttribute("Constant", DoubleValue(0));
    ApplicationContainer sinks;
    Windows windows(o.flows, o.trace, o.interval);
    for (uint32_t i = 0; i < o.flows; i++)
    {
        const double rtt = o.rtt * draw->GetValue(1 - o.spread, 1 + o.spread);
        const double start = draw->GetValue(0, o.rtt);
        addresses.NewNetwork();
        addresses.Assign(Join(senders.Get(i), routers.Get(0), Seconds(rtt / 2 - common), lateness));
        addresses.NewNetwork();
        auto interfaces = addresses.Assign(Join(receivers.Get(i), routers.Get(1), Seconds(0), onTime));

        const InetSocketAddress address(interfaces.GetAddress(0), 9);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", address).Install(receivers.Get(i)));
        BulkSendHelper source("ns3::TcpSocketFactory", address);
        source.SetAttribute("SendSize", UintegerValue(WIRE_PACKET - HEADERS));
        auto application = DynamicCast<BulkSendApplication>(source.Install(senders.Get(i)).Get(0));
        application->SetStartTime(Seconds(start));
        Simulator::Schedule(Seconds(start) + NanoSeconds(1), &Windows::Watch, &windows, application, i);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<uint64_t> before(o.flows, 0);
    auto received = [&](uint32_t flow) { return DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx(); };
    Simulator::Schedule(Seconds(o.warmup), [&] {
        bottleneck.Reset();
        for (uint32_t i = 0; i < o.flows; i++)
        {
            before[i] = received(i);
        }
    });
    Simulator::Stop(Seconds(o.duration));
    const auto wall = std::chrono::steady_clock::now();
    Simulator::Run();
    const double wallTime = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();

    const double measured = o.duration - o.warmup;
    const uint64_t offered = bottleneck.carried + bottleneck.dropped;
    double goodput = 0;
    std::cout << std::setprecision(9) << "{\"seed\":" << o.seed << ",\"flow_goodput_bps\":[";
    for (uint32_t i = 0; i < o.flows; i++)
    {
        const double flow = (received(i) - before[i]) * 8.0 / measured;
        goodput += flow;
        std::cout << (i ? "," : "") << flow;
    }
    std::cout << "],\"goodput_bps\":" << goodput
              << ",\"utilisation\":" << bottleneck.carriedBytes * 8.0 / (o.rate * measured)
              << ",\"loss_rate\":" << static_cast<double>(bottleneck.dropped + bottleneck.lost) / offered
              << ",\"queue_delay_mean_s\":" << bottleneck.waited / bottleneck.waits << ",\"wall_s\":" << wallTime << "}"
              << std::endl;
    Simulator::Destroy();
    return 0;
}
