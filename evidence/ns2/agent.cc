// Makes one of the author's agents of UDT, `udt.cc` and `udt.h` on the include path, a library that ns-2 loads, unchanged.
//
// The agents are of 2003 to 2006 and were compiled into ns-2. What they need of their surroundings is defined here, ahead of
// them: the packet type that ns-2's list was extended by, the classes that they name as friends before they declare them, and
// memory that is zero when it is new, since they read some members that they never set. What they print goes nowhere.

#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "agent.h"
#include "connector.h"
#include "packet.h"

static packet_t PT_UDT = p_info::addPacket(const_cast<char*>("UDT"));

void* operator new(std::size_t size)
{
    void* memory = std::calloc(1, size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

class SndTimer;
class SynTimer;
class AckTimer;
class NakTimer;
class ExpTimer;

#define printf(...) 0
#include "udt.cc"
#undef printf

// The agent, with a count of the data packets that arrive at it, for the first time or again. If it is told to, it prints what arrives
// and what it makes of that.
class CountingUdt : public UdtAgent {
public:
    int command(int argc, const char* const* argv) override
    {
        if (argc == 2 && std::strcmp(argv[1], "print-steps") == 0) {
            prints_ = true;
            return TCL_OK;
        }
        if (argc == 2 && std::strcmp(argv[1], "arrivals") == 0) {
            Tcl::instance().resultf("%ld", arrivals_);
            return TCL_OK;
        }
        return UdtAgent::command(argc, argv);
    }

    void recv(Packet* packet, Handler* handler) override
    {
        const hdr_udt header = *hdr_udt::access(packet);
        arrivals_ += header.flag_ == 1 ? 0 : 1;
        UdtAgent::recv(packet, handler);
        if (prints_) {
            print(header);
        }
    }

private:
    // A line of a step: when, what arrived, and the state after it. Intervals and round trips are in nanoseconds.
    void print(const hdr_udt& header)
    {
        char what[64] = "";
        if (header.flag_ != 1) {
            std::snprintf(what, sizeof what, "data %d", header.seqno_);
        } else if (header.type_ == 2) {
            std::snprintf(what, sizeof what, "ack %d %d %d", header.ack_, header.recv_, header.bandwidth_);
        } else if (header.type_ == 3) {
            std::snprintf(what, sizeof what, "nak %d", header.loss_[0] & 0x7fffffff);
        } else if (header.type_ == 4) {
            std::snprintf(what, sizeof what, "warning");
        } else {
            std::snprintf(what, sizeof what, "ack2 %d", header.ackseq_);
        }
        std::fprintf(stdout, "%.9f %s : %.0f %d %d %.0f %d\n", Scheduler::instance().clock(), what, snd_interval_ * 1e9,
            flow_window_size_, bandwidth_, rtt_ * 1e9, slow_start_ ? 1 : 0);
        // Tcl prints to the same file from a buffer of its own.
        std::fflush(stdout);
    }

    long arrivals_ = 0;
    bool prints_ = false;
};

// Loses the data packets of some numbers when they pass for the first time.
class Loser : public Connector {
public:
    int command(int argc, const char* const* argv) override
    {
        if (argc == 3 && std::strcmp(argv[1], "lose") == 0) {
            numbers_.push_back(std::atoi(argv[2]));
            return TCL_OK;
        }
        return Connector::command(argc, argv);
    }

    void recv(Packet* packet, Handler* handler) override
    {
        const hdr_udt* header = hdr_udt::access(packet);
        for (std::size_t i = 0; header->flag_ != 1 && i < numbers_.size(); ++i) {
            if (numbers_[i] == header->seqno_) {
                numbers_.erase(numbers_.begin() + i);
                Packet::free(packet);
                return;
            }
        }
        Connector::recv(packet, handler);
    }

private:
    std::vector<int> numbers_;
};

static class LoserClass : public TclClass {
public:
    LoserClass() : TclClass("Loser") {}
    TclObject* create(int, const char* const*) override { return new Loser; }
} loser_class;

static class CountingUdtClass : public TclClass {
public:
    CountingUdtClass() : TclClass("Agent/UDT/Counting") {}
    TclObject* create(int, const char* const*) override { return new CountingUdt; }
} counting_udt_class;

// Called by Tcl's `load`. ns-2 stops at floating-point errors, and release 1.1 takes the logarithm of zero.
extern "C" int Udt_Init(Tcl_Interp*)
{
    fedisableexcept(FE_ALL_EXCEPT);
    // ns-2 binds the headers of packets at its own start.
    static_cast<PacketHeaderClass&>(class_udthdr).bind();
    return TCL_OK;
}
