// A program on libudt that carries out the steps of its arguments and reports the results as one line of JSON.
//
//   partner [OPTION=VALUE]... (server ADDRESS | client ADDRESS | meet OWN PEER) [STEP]...
//
// ADDRESS is ip:port. Options: type=stream|message, mss=BYTES, window=PACKETS, receive-buffer=BYTES, linger=SECONDS.
// Steps, one after the other on the one connection there is:
//
//   send:BYTES          a stream of bytes that both sides can work out
//   receive:BYTES       such a stream; every byte is compared
//   slow:BYTES,PIECE,MS the same, a piece at a time with a pause before each
//   send-for:SECONDS    as much as goes in that time, of any bytes
//   receive-all         all until the other side is gone, not compared
//   messages:COUNT,SIZE,TTL_MS,ORDER   numbered messages; TTL -1 for none; ORDER 0 or 1
//   expect:COUNT        as many messages, each compared
//   expect-through:N    messages, each compared, until message N, which counts from 0, has come
//   pause:MS
//   close               not only at the end
//
// It ends with 0 if every step was carried out, with 1 otherwise.

#include <arpa/inet.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <udt/udt.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Failed {
    std::string what;
    int code;
};

// What is reported at the end.
struct Report {
    double connect_s = 0;
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t messages = 0;
    uint64_t out_of_order = 0;
    std::vector<uint64_t> received_each_second;
    double transfer_s = 0;
    // What the library counts, looked at after every step: it forgets with the connection.
    UDT::TRACEINFO counts = {};
};

struct Options {
    int type = SOCK_STREAM;
    std::vector<std::pair<std::string, long>> numbers;
};

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char* what) {
    throw Failed{what, UDT::getlasterror().getErrorCode()};
}

void check(int result, const char* what) {
    if (result == UDT::ERROR) {
        fail(what);
    }
}

// The byte at an offset of the stream: neither constant nor of a short period.
char byte_at(uint64_t offset) {
    return static_cast<char>(offset * 31 + (offset >> 8) * 17 + (offset >> 16));
}

// A byte of a message, behind the number it begins with.
char message_byte(uint32_t number, uint64_t offset) {
    return byte_at(offset + 1009 * static_cast<uint64_t>(number));
}

sockaddr_in address(const std::string& text) {
    const size_t colon = text.rfind(':');
    sockaddr_in parsed{};
    parsed.sin_family = AF_INET;
    if (colon == std::string::npos || inet_pton(AF_INET, text.substr(0, colon).c_str(), &parsed.sin_addr) != 1) {
        throw Failed{"address " + text, 0};
    }
    parsed.sin_port = htons(static_cast<uint16_t>(std::atoi(text.c_str() + colon + 1)));
    return parsed;
}

template <typename T>
void set(UDTSOCKET socket, UDT::SOCKOPT option, const T& value, const char* what) {
    check(UDT::setsockopt(socket, 0, option, &value, sizeof value), what);
}

UDTSOCKET make(const Options& options) {
    const UDTSOCKET socket = UDT::socket(AF_INET, options.type, 0);
    if (socket == UDT::INVALID_SOCK) {
        fail("socket");
    }
    for (const auto& [name, value] : options.numbers) {
        const int number = static_cast<int>(value);
        if (name == "mss") {
            set(socket, UDT_MSS, number, "mss");
        } else if (name == "window") {
            set(socket, UDT_FC, number, "window");
        } else if (name == "receive-buffer") {
            set(socket, UDT_RCVBUF, number, "receive-buffer");
        } else if (name == "linger") {
            set(socket, UDT_LINGER, linger{1, number}, "linger");
        } else {
            throw Failed{"option " + name, 0};
        }
    }
    return socket;
}

class Partner {
public:
    Partner(UDTSOCKET socket, Report& report) : socket_(socket), report_(report) {}

    void step(const std::string& text) {
        const size_t colon = text.find(':');
        const std::string name = text.substr(0, colon);
        const std::vector<long> numbers = parse(colon == std::string::npos ? "" : text.substr(colon + 1));
        const auto number = [&](size_t index) {
            if (index >= numbers.size()) {
                throw Failed{"step " + text, 0};
            }
            return numbers[index];
        };
        const auto start = Clock::now();
        if (name == "send") {
            send(static_cast<uint64_t>(number(0)));
        } else if (name == "send-for") {
            const double seconds = static_cast<double>(number(0));
            const std::vector<char> buffer(PIECE);
            while (since(start) < seconds) {
                const int taken = UDT::send(socket_, buffer.data(), PIECE, 0);
                check(taken, "send");
                report_.sent += static_cast<uint64_t>(taken);
            }
        } else if (name == "receive") {
            receive(static_cast<uint64_t>(number(0)), PIECE, 0);
        } else if (name == "slow") {
            receive(static_cast<uint64_t>(number(0)), number(1), number(2));
        } else if (name == "receive-all") {
            receive_all();
        } else if (name == "messages") {
            messages(number(0), number(1), static_cast<int>(number(2)), number(3) != 0);
        } else if (name == "expect") {
            expect(static_cast<uint64_t>(number(0)), UINT32_MAX);
        } else if (name == "expect-through") {
            expect(UINT64_MAX, static_cast<uint32_t>(number(0)));
        } else if (name == "pause") {
            usleep(static_cast<useconds_t>(number(0)) * 1000);
        } else if (name == "close") {
            UDT::close(socket_);
        } else {
            throw Failed{"step " + text, 0};
        }
        report_.transfer_s += since(start);
        UDT::TRACEINFO counts;
        if (UDT::perfmon(socket_, &counts, false) != UDT::ERROR) {
            report_.counts = counts;
        }
    }

private:
    static constexpr long PIECE = 100'000;

    static std::vector<long> parse(const std::string& text) {
        std::vector<long> numbers;
        for (size_t at = 0; at < text.size();) {
            const size_t comma = std::min(text.find(',', at), text.size());
            numbers.push_back(std::atol(text.substr(at, comma - at).c_str()));
            at = comma + 1;
        }
        return numbers;
    }

    void send(uint64_t bytes) {
        std::vector<char> buffer(PIECE);
        while (bytes > 0) {
            const size_t piece = std::min<uint64_t>(bytes, PIECE);
            for (size_t i = 0; i < piece; ++i) {
                buffer[i] = byte_at(report_.sent + i);
            }
            for (size_t done = 0; done < piece;) {
                const int taken = UDT::send(socket_, buffer.data() + done, static_cast<int>(piece - done), 0);
                check(taken, "send");
                done += static_cast<size_t>(taken);
            }
            report_.sent += piece;
            bytes -= piece;
        }
    }

    // One call; 0 if the other side is gone.
    size_t take(std::vector<char>& buffer, size_t most) {
        const int taken = UDT::recv(socket_, buffer.data(), static_cast<int>(most), 0);
        if (taken == UDT::ERROR) {
            if (UDT::getlasterror().getErrorCode() == CUDTException::ECONNLOST) {
                return 0;
            }
            fail("recv");
        }
        return static_cast<size_t>(taken);
    }

    void receive(uint64_t bytes, long piece, long pause_ms) {
        std::vector<char> buffer(static_cast<size_t>(piece));
        const uint64_t until = report_.received + bytes;
        while (report_.received < until) {
            if (pause_ms > 0) {
                usleep(static_cast<useconds_t>(pause_ms) * 1000);
            }
            const size_t taken = take(buffer, std::min<uint64_t>(buffer.size(), until - report_.received));
            if (taken == 0) {
                throw Failed{"the stream ended early", CUDTException::ECONNLOST};
            }
            for (size_t i = 0; i < taken; ++i) {
                if (buffer[i] != byte_at(report_.received + i)) {
                    throw Failed{"wrong byte at " + std::to_string(report_.received + i), 0};
                }
            }
            report_.received += taken;
        }
    }

    void receive_all() {
        std::vector<char> buffer(PIECE);
        Clock::time_point start{};
        while (const size_t taken = take(buffer, buffer.size())) {
            if (start == Clock::time_point{}) {
                start = Clock::now();
            }
            const auto second = static_cast<size_t>(since(start));
            if (second >= report_.received_each_second.size()) {
                report_.received_each_second.resize(second + 1);
            }
            report_.received_each_second[second] += taken;
            report_.received += taken;
        }
    }

    void messages(long count, long size, int ttl, bool order) {
        std::vector<char> buffer(static_cast<size_t>(size));
        for (long i = 0; i < count; ++i) {
            const uint32_t number = next_message_++;
            for (size_t at = 0; at < buffer.size(); ++at) {
                buffer[at] = message_byte(number, at);
            }
            std::memcpy(buffer.data(), &number, std::min<size_t>(sizeof number, buffer.size()));
            check(UDT::sendmsg(socket_, buffer.data(), static_cast<int>(size), ttl, order), "sendmsg");
            report_.sent += static_cast<uint64_t>(size);
        }
    }

    void expect(uint64_t count, uint32_t last) {
        std::vector<char> buffer(12'000'000);
        std::set<uint32_t> seen;
        int64_t highest = -1;
        while (seen.size() < count && seen.count(last) == 0) {
            const int size = UDT::recvmsg(socket_, buffer.data(), static_cast<int>(buffer.size()));
            check(size, "recvmsg");
            uint32_t number = 0;
            if (size < static_cast<int>(sizeof number)) {
                throw Failed{"a message of " + std::to_string(size) + " bytes", 0};
            }
            std::memcpy(&number, buffer.data(), sizeof number);
            for (int at = sizeof number; at < size; ++at) {
                if (buffer[at] != message_byte(number, at)) {
                    throw Failed{"wrong byte " + std::to_string(at) + " in message " + std::to_string(number), 0};
                }
            }
            if (!seen.insert(number).second) {
                throw Failed{"message " + std::to_string(number) + " came twice", 0};
            }
            report_.out_of_order += number < highest;
            highest = std::max<int64_t>(highest, number);
            report_.received += static_cast<uint64_t>(size);
            ++report_.messages;
        }
    }

    UDTSOCKET socket_;
    uint32_t next_message_ = 0;
    Report& report_;
};

UDTSOCKET connect(const Options& options, const std::string& role, const std::vector<std::string>& addresses) {
    const UDTSOCKET socket = make(options);
    const sockaddr_in first = address(addresses.at(0));
    const auto* first_name = reinterpret_cast<const sockaddr*>(&first);
    if (role == "server") {
        check(UDT::bind(socket, first_name, sizeof first), "bind");
        check(UDT::listen(socket, 10), "listen");
        std::fprintf(stderr, "ready\n");
        sockaddr_in peer{};
        int size = sizeof peer;
        const UDTSOCKET accepted = UDT::accept(socket, reinterpret_cast<sockaddr*>(&peer), &size);
        if (accepted == UDT::INVALID_SOCK) {
            fail("accept");
        }
        return accepted;
    }
    sockaddr_in peer = first;
    if (role == "meet") {
        set(socket, UDT_RENDEZVOUS, true, "rendezvous");
        check(UDT::bind(socket, first_name, sizeof first), "bind");
        peer = address(addresses.at(1));
    } else {
        // The library would bind to every interface.
        sockaddr_in own = first;
        own.sin_port = 0;
        check(UDT::bind(socket, reinterpret_cast<sockaddr*>(&own), sizeof own), "bind");
    }
    std::fprintf(stderr, "ready\n");
    check(UDT::connect(socket, reinterpret_cast<const sockaddr*>(&peer), sizeof peer), "connect");
    return socket;
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print(const Report& report, const Failed* failed) {
    std::printf("{\"connect_s\":%.6f,\"sent\":%llu,\"received\":%llu,\"messages\":%llu,\"out_of_order\":%llu,", report.connect_s,
                static_cast<unsigned long long>(report.sent), static_cast<unsigned long long>(report.received),
                static_cast<unsigned long long>(report.messages), static_cast<unsigned long long>(report.out_of_order));
    std::printf("\"received_each_second\":[");
    for (size_t i = 0; i < report.received_each_second.size(); ++i) {
        std::printf("%s%llu", i ? "," : "", static_cast<unsigned long long>(report.received_each_second[i]));
    }
    const UDT::TRACEINFO& counts = report.counts;
    std::printf("],\"transfer_s\":%.6f,\"cpu_s\":%.6f,\"packets_sent\":%lld,\"retransmitted\":%d,\"losses_reported\":%d,"
                "\"period_us\":%.3f,\"rtt_ms\":%.3f,\"failed\":",
                report.transfer_s, processor_seconds(), static_cast<long long>(counts.pktSentTotal), counts.pktRetransTotal,
                counts.pktSndLossTotal, counts.usPktSndPeriod, counts.msRTT);
    if (failed) {
        std::printf("\"%s\",\"code\":%d}\n", failed->what.c_str(), failed->code);
    } else {
        std::printf("null,\"code\":0}\n");
    }
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
    Report report;
    UDT::startup();
    try {
        Options options;
        int at = 1;
        for (; at < count && std::strchr(words[at], '='); ++at) {
            const std::string word = words[at];
            const size_t equals = word.find('=');
            const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
            if (name == "type") {
                options.type = value == "message" ? SOCK_DGRAM : SOCK_STREAM;
            } else {
                options.numbers.emplace_back(name, std::atol(value.c_str()));
            }
        }
        if (at >= count) {
            throw Failed{"nothing to do", 0};
        }
        const std::string role = words[at++];
        std::vector<std::string> addresses;
        for (const int end = at + (role == "meet" ? 2 : 1); at < end && at < count; ++at) {
            addresses.emplace_back(words[at]);
        }
        const auto start = Clock::now();
        const UDTSOCKET socket = connect(options, role, addresses);
        report.connect_s = since(start);
        Partner partner(socket, report);
        for (; at < count; ++at) {
            partner.step(words[at]);
        }
        UDT::close(socket);
        print(report, nullptr);
    } catch (const Failed& failed) {
        print(report, &failed);
        // The library's own end would wait for what lingers.
        _exit(1);
    }
    UDT::cleanup();
    return 0;
}
