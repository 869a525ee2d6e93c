// A policy for Mumakil. What is above `The policy` speaks with it, and may stay as it is.
// Build it with: c++ -O2 -std=c++17 -o mine mine.cpp
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// ---- JSON, as much of it as is said. ----

struct Json {
    std::string text;                                // a text, or a number as it is written
    std::vector<std::pair<std::string, Json>> parts; // of a list (without keys) or a mapping

    const Json &operator[](const std::string &key) const {
        static const Json nothing;
        for (const auto &[name, part] : parts)
            if (name == key) return part;
        return nothing;
    }
    const Json &at(std::size_t index) const { return parts.at(index).second; }
    std::uint64_t number() const { return std::strtoull(text.c_str(), nullptr, 10); }
    std::array<std::uint64_t, 2> two() const {
        if (parts.size() < 2) return {0, 0};
        return {at(0).number(), at(1).number()};
    }
};

class Reader {
    const char *at;

    void code_point(std::string &to) {
        auto unit = [this] { auto hex = std::string(at, 4); at += 4; return static_cast<unsigned>(std::stoul(hex, nullptr, 16)); };
        unsigned code = unit();
        if (0xD800 <= code && code < 0xDC00) at += 2, code = 0x10000 + ((code - 0xD800) << 10) + (unit() - 0xDC00);
        if (code < 0x80) to += static_cast<char>(code);
        else if (code < 0x800) to += static_cast<char>(0xC0 | code >> 6), to += static_cast<char>(0x80 | (code & 63));
        else {
            if (code < 0x10000) to += static_cast<char>(0xE0 | code >> 12);
            else to += static_cast<char>(0xF0 | code >> 18), to += static_cast<char>(0x80 | (code >> 12 & 63));
            to += static_cast<char>(0x80 | (code >> 6 & 63)), to += static_cast<char>(0x80 | (code & 63));
        }
    }

    std::string words() {
        std::string text;
        for (++at; *at != '"'; ++at) {
            if (*at != '\\') { text += *at; continue; }
            const char escaped = *++at;
            if (escaped == 'u') { ++at; code_point(text); --at; continue; }
            const std::string from = "bfnrt", to = "\b\f\n\r\t";
            const auto place = from.find(escaped);
            text += place == std::string::npos ? escaped : to[place];
        }
        ++at;
        return text;
    }

public:
    explicit Reader(const std::string &line) : at(line.c_str()) {}

    Json value() { // Mumakil writes no spaces
        Json json;
        if (*at == '"') { json.text = words(); return json; }
        if (*at != '{' && *at != '[') {
            while (*at && *at != ',' && *at != '}' && *at != ']') json.text += *at++;
            return json;
        }
        const bool is_map = *at++ == '{';
        while (*at != '}' && *at != ']') {
            std::string key;
            if (is_map) key = words(), ++at;
            json.parts.emplace_back(key, value());
            if (*at == ',') ++at;
        }
        ++at;
        return json;
    }
};

std::string quoted(const std::string &text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return quoted + '"';
}

// ---- The adapter: what Mumakil says, kept as objects. ----

enum Kind { MAP, REDUCE }; // of two numbers side by side the first is of maps, the second of reduces
enum class Reach { Node, Rack, Any };

struct Job {
    std::uint64_t job = 0, priority = 2, arrived_us = 0; // priority 0 is before all others, 2 is usual
    std::string name, user, pool;
    std::array<std::uint64_t, 2> tasks{};   // all its maps and all its reduces, from the first to the last
    std::array<std::uint64_t, 2> pending{}; // those that may be launched now: reduces once enough maps are done
    std::array<std::uint64_t, 2> running{}; // attempts, second ones included
    std::array<std::uint64_t, 2> done{};    // so `tasks` - `done` are left
    bool homeless = false; // whether a map may wait whose input is nowhere
};

/// A tracker's heartbeat: what can be launched there, and what is to be done.
struct Offer {
    std::uint64_t now_us = 0, tracker = 0;
    std::array<std::uint64_t, 2> free{};
    std::map<std::uint64_t, std::array<std::uint64_t, 2>> near; // of each job: on the node, in its rack
    std::array<std::set<std::uint64_t>, 2> not_here;
    std::string deeds;

    /// Whether a task of the job could be launched here, a map at most so far from its input.
    bool can(Kind kind, const Job &job, Reach reach = Reach::Any) const {
        if (!free[kind] || !job.pending[kind] || not_here[kind].count(job.job)) return false;
        const auto found = near.find(job.job);
        return reach == Reach::Any || (found != near.end() && found->second[reach == Reach::Rack]);
    }

    /// Launches the job's best task.
    void launch(Kind kind, Job &job, Reach reach, const std::string &why) {
        static const char *const words[] = {"node", "rack", "any"};
        --free[kind], --job.pending[kind], ++job.running[kind];
        const auto number = "{\"job\":" + std::to_string(job.job);
        const auto rest = ",\"why\":" + quoted(why) + "}}";
        if (kind == REDUCE) return add("{\"reduce\":" + number + rest);
        add("{\"map\":" + number + ",\"reach\":\"" + words[static_cast<int>(reach)] + "\"" + rest);
        const auto found = near.find(job.job);
        if (found == near.end()) return;
        for (auto &count : found->second) count -= count ? 1 : 0;
    }

    /// Orders `kill`, `suspend`, `resume` or `checkpoint` of an attempt, as it was told.
    void order(const std::string &what, const Json &attempt, const std::string &why) {
        std::string name = "[" + attempt.at(0).text + "," + quoted(attempt.at(1).text);
        name += "," + attempt.at(2).text + "," + attempt.at(3).text + "]";
        add("{" + quoted(what) + ":{\"attempt\":" + name + ",\"why\":" + quoted(why) + "}}");
    }

private:
    void add(const std::string &deed) { deeds += (deeds.empty() ? "" : ",") + deed; }
};

using Jobs = std::map<std::uint64_t, Job>;

/// What there is to fill in.
struct Policy {
    std::string wants = "[]"; // such as ["attempts","all_offers"]
    std::uint64_t tick_us = 0; // how often `tick` is to be called, if it is
    virtual ~Policy() = default;
    virtual void begin(const Json & /*hello*/) {}
    virtual void news(const std::string & /*what*/, Job &, const Json & /*said*/) {}
    virtual void tick(Jobs &, Offer &) {}
    virtual void offer(Jobs &jobs, Offer &offer) = 0;
};

void hear(Policy &policy, Jobs &jobs, const Json &entry) {
    const auto &[what, said] = entry.at(1).parts.at(0);
    const auto number = said["job"].number();
    if (what == "submitted") {
        Job &job = jobs[number];
        job.job = number, job.priority = said["priority"].number(), job.arrived_us = entry.at(0).number();
        job.name = said["name"].text, job.user = said["user"].text, job.pool = said["pool"].text;
        job.tasks = said["tasks"].two();
    }
    const auto found = jobs.find(number);
    if (found == jobs.end()) return; // an attempt may outlive its job
    Job &job = found->second;
    if (what == "counts") {
        job.pending = said["pending"].two(), job.running = said["running"].two(), job.done = said["done"].two();
        job.homeless = said["homeless"].text == "true";
    }
    policy.news(what, job, said);
    if (what == "ended") jobs.erase(found);
}

int serve(Policy &policy) {
    Jobs jobs;
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        const Json whole = Reader(line).value();
        const auto &[what, said] = whole.parts.at(0);
        if (what == "end") return 0;
        if (what == "hello") {
            policy.begin(said);
            std::cout << "{\"hello\":{\"protocol\":1,\"wants\":" << policy.wants;
            if (policy.tick_us) std::cout << ",\"tick_us\":" << policy.tick_us;
            std::cout << "}}" << std::endl;
            continue;
        }
        if (what == "inherit") {
            std::cout << "{\"inherit\":false}" << std::endl;
            continue;
        }
        for (const auto &entry : said["news"].parts) hear(policy, jobs, entry.second);
        Offer offer;
        offer.now_us = said["now_us"].number(), offer.tracker = said["tracker"].number();
        offer.free = said["free"].two();
        for (const auto &[_, near] : said["near"].parts)
            offer.near[near.at(0).number()] = {near.at(1).number(), near.at(2).number()};
        for (std::size_t kind = 0; kind < said["not_here"].parts.size(); ++kind)
            for (const auto &job : said["not_here"].at(kind).parts) offer.not_here[kind].insert(job.second.number());
        what == "tick" ? policy.tick(jobs, offer) : policy.offer(jobs, offer);
        std::cout << "{\"answer\":{\"number\":" << said["number"].text << ",\"do\":[" << offer.deeds << "]}}" << std::endl;
    }
    return 1;
}

// ---- The policy. ----

/// First come, first served; of a job's maps those first whose input is on the node, then in its rack.
struct Greedy : Policy {
    void offer(Jobs &jobs, Offer &offer) override {
        std::vector<Job *> line;
        for (auto &[_, job] : jobs) line.push_back(&job);
        std::sort(line.begin(), line.end(), [](const Job *one, const Job *other) {
            return std::tie(one->priority, one->arrived_us, one->job) < std::tie(other->priority, other->arrived_us, other->job);
        });
        for (std::size_t place = 0; place < line.size(); ++place) {
            const std::string behind = std::to_string(place) + " jobs before it";
            for (const auto &[reach, word] : {std::pair{Reach::Node, "node"}, {Reach::Rack, "rack"}, {Reach::Any, "any"}})
                while (offer.can(MAP, *line[place], reach)) offer.launch(MAP, *line[place], reach, std::string(word) + " map, " + behind);
            while (offer.can(REDUCE, *line[place])) offer.launch(REDUCE, *line[place], Reach::Any, behind);
        }
    }
};

int main() {
    Greedy policy;
    return serve(policy);
}
