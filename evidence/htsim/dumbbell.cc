// One dumbbell in htsim, set up to cost as little as the same experiment can there, and timed.
//
// Senders without end share one link; each has a pipe of its own in front of it, so that base round trips differ. Data crosses that
// pipe, the bottleneck's queue and its pipe; acknowledgements cross a queue of the same rate and its pipe. Packets have 1500 bytes and
// acknowledgements 40, one for each packet. What a reader must know to compare:
//
//  * the TCP is htsim's own, NewReno without selective acknowledgements. Slow start ends at a flow's share of path and half of the
//    queue (`--threshold`): with the overshoot that an unbounded one ends in, NewReno repairs one packet per round trip;
//  * nothing is logged, and what htsim prints about timeouts is discarded;
//  * packets that arrived are counted at the sinks, those that arrived twice among them;
//  * the processor time is that of the event loop alone, without building the network.
//
// It prints one JSON object: packets delivered, processor time in seconds.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace
{

constexpr int PACKET = 1500;

double processor_time()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// A sink that says what has arrived.
double arrived(const std::vector<TcpSink*>& sinks)
{
    double packets = 0;
    for (const TcpSink* sink : sinks)
    {
        packets += static_cast<double>(sink->_packets / PACKET);
    }
    return packets;
}

} // namespace

int main(int count, char** words)
{
    std::map<std::string, double> options;
    for (int at = 1; at < count; ++at)
    {
        const std::string word = words[at];
        const auto equals = word.find('=');
        if (word.rfind("--", 0) != 0 || equals == std::string::npos)
        {
            std::fprintf(stderr, "not --NAME=NUMBER: %s\n", words[at]);
            return 2;
        }
        options[word.substr(2, equals - 2)] = std::atof(word.c_str() + equals + 1);
    }
    for (const char* name : {"flows", "rate", "access", "delay", "spread", "limit", "threshold", "duration", "seed"})
    {
        if (options.count(name) == 0)
        {
            std::fprintf(stderr, "missing: --%s\n", name);
            return 2;
        }
    }
    std::cout.rdbuf(nullptr);

    std::mt19937_64 draws(static_cast<uint64_t>(options["seed"]));
    std::uniform_real_distribution<double> unit(0, 1);
    std::srand(static_cast<unsigned>(options["seed"]));
    Packet::set_packet_size(PACKET);
    EventList& events = EventList::getTheEventList();
    EventList::setEndtime(timeFromSec(options["duration"]));

    const auto rate = static_cast<linkspeed_bps>(options["rate"]);
    const auto limit = static_cast<mem_b>(options["limit"]) * PACKET;
    Queue there(rate, limit, events, nullptr);
    Queue back(rate, limit, events, nullptr);
    Pipe there_pipe(timeFromSec(options["delay"]), events);
    Pipe back_pipe(timeFromSec(options["delay"]), events);
    TcpRtxTimerScanner timers(timeFromMs(10), events);

    const double rtt = options["access"] + 2 * options["delay"];
    std::vector<TcpSink*> sinks;
    for (int flow = 0; flow < options["flows"]; ++flow)
    {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        auto* access = new Pipe(timeFromSec(options["access"] + rtt * options["spread"] * (2 * unit(draws) - 1)), events);
        source->set_ssthresh(static_cast<uint64_t>(options["threshold"] * PACKET));
        auto* out = new Route();
        for (PacketSink* hop : {static_cast<PacketSink*>(access), static_cast<PacketSink*>(&there),
                                static_cast<PacketSink*>(&there_pipe), static_cast<PacketSink*>(sink)})
        {
            out->push_back(hop);
        }
        auto* home = new Route();
        for (PacketSink* hop : {static_cast<PacketSink*>(&back), static_cast<PacketSink*>(&back_pipe),
                                static_cast<PacketSink*>(source)})
        {
            home->push_back(hop);
        }
        source->connect(*out, *home, *sink, timeFromSec(rtt * unit(draws)));
        timers.registerTcp(*source);
        sinks.push_back(sink);
    }

    const double before = processor_time();
    while (EventList::doNextEvent())
    {
    }
    std::printf("{\"packets\":%.0f,\"processor_s\":%.6f}\n", arrived(sinks), processor_time() - before);
    return 0;
}
