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

// The agent, with a count of the data packets that arrive at it, for the first time or again.
class CountingUdt : public UdtAgent {
public:
    int command(int argc, const char* const* argv) override
    {
        if (argc == 2 && std::strcmp(argv[1], "arrivals") == 0) {
            Tcl::instance().resultf("%ld", arrivals_);
            return TCL_OK;
        }
        return UdtAgent::command(argc, argv);
    }

    void recv(Packet* packet, Handler* handler) override
    {
        const bool control = hdr_udt::access(packet)->flag() == 1;
        arrivals_ += control ? 0 : 1;
        UdtAgent::recv(packet, handler);
    }

private:
    long arrivals_ = 0;
};

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
