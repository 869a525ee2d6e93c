// The page of `mumakil live`. Pictures come as server-sent events, commands go as JSON. The page is
// drawn from the newest picture only, so a reloaded or a second page shows the same.
// Texts of the scenario enter the page only as text (textContent), never as markup.
"use strict";

const token = new URLSearchParams(location.search).get("token") || "";
const $ = (id) => document.getElementById(id);
const address = (path, more = "") => `${path}?token=${encodeURIComponent(token)}${more}`;
const COLOURS = 8, FREE = -1, DOWN = -2;

let layout = null;      // what does not move
let picture = null;     // the newest
let is_drawn = true;    // whether that is on the screen
let chosen = null;      // the slot that the keyboard is at: {node, slot}
let pages = { shown: 0, since: performance.now(), rate: 0 };

// ---- texts for values ----

function clock(us) {
  const two = (n) => String(n).padStart(2, "0");
  const s = Math.floor(us / 1e6), day = Math.floor(s / 86400);
  const text = `${Math.floor(s / 3600) % 24}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}.${String(Math.floor(us / 1e3) % 1000).padStart(3, "0")}`;
  return day ? `${day} d ${text}` : text;
}

const clock_of_table = (us) => clock(us).replace(/\.\d+$/, "");

// Prints a span as reports and the console do (`tell::span`): `0.4 s`, `14 min 08 s`, `3 h 05 min`, `2 d 01 h`.
function span(us) {
  // A quarter of a second is an exact fraction, which Rust rounds to the even digit, and JavaScript up.
  if (us < 59.95e6) return `${((us % 1e6 === 25e4 ? us - 5e4 : us) / 1e6).toFixed(1)} s`;
  const [seconds, minutes, hours] = [1e6, 60e6, 3600e6].map((unit) => Math.round(us / unit));
  const [small, ratio, large_name, small_name] =
    seconds < 3600 ? [seconds, 60, "min", "s"] : minutes < 1440 ? [minutes, 60, "h", "min"] : [hours, 24, "d", "h"];
  return `${Math.floor(small / ratio).toLocaleString("en")} ${large_name} ${String(small % ratio).padStart(2, "0")} ${small_name}`;
}

// Latencies are often too short for tenths of a second.
function latency(us) {
  if (us < 1e3) return `${us} µs`;
  return us < 999_500 ? `${(us / 1e3).toPrecision(3)} ms` : span(us);
}

const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// Returns a text whose quoted names (`mumakil live`) are set as code.
const marked = (text) => text.split("`").map((part, number) => (number % 2 ? element("code", part) : part));

// Puts rows into a table, and leaves unchanged cells alone. Columns with a name in `names` have it as their class.
// Texts in these columns may be cut, so a title says them in full.
function fill(id, rows, { dress, names = [] } = {}) {
  const body = $(id).tBodies[0];
  rows.forEach((cells, index) => {
    const row = body.rows[index] || body.insertRow();
    cells.forEach((cell, column) => {
      const place = row.cells[column] || row.insertCell();
      if (cell instanceof Node) {
        if (!place.firstChild || place.dataset.key !== cell.dataset.key) {
          place.replaceChildren(cell);
          place.dataset.key = cell.dataset.key;
        }
      } else {
        const text = cell === null || cell === undefined ? "" : typeof cell === "number" ? cell.toLocaleString("en") : cell;
        if (place.textContent !== text) place.textContent = text;
        const kind = [typeof cell === "number" ? "n" : "", names[column] || ""].join(" ").trim();
        if (place.className !== kind) place.className = kind;
        if (names[column] && place.title !== text) place.title = text;
      }
    });
    if (dress) dress(row, index);
  });
  while (body.rows.length > rows.length) body.deleteRow(-1);
}

function complain(text) {
  $("error").replaceChildren(...marked(text || ""));
  $("error").hidden = !text;
}

// ---- commands ----

async function command(what) {
  complain("");
  try {
    const answer = await fetch(address("/command"), {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what),
    });
    if (!answer.ok) complain((await answer.json()).error);
    return answer.ok;
  } catch {
    complain("Mumakil does not answer: the session may be over.");
    return false;
  }
}

async function ask(path, more) {
  const answer = await fetch(address(path, more));
  return answer.ok ? answer.json() : null;
}

const stands = () => picture && (picture.phase === "paused" || picture.phase === "ended");
const toggle = () => command({ do: picture && picture.phase === "paused" ? "run" : "pause" });

$("toggle").addEventListener("click", toggle);
document.querySelectorAll("[data-step]").forEach((button) =>
  button.addEventListener("click", () => command({ do: "step", to: button.dataset.step })));
$("speed").addEventListener("change", () => command({ do: "speed", speed: $("speed").value }));
$("go").addEventListener("submit", (event) => {
  event.preventDefault();
  command({ do: "go", at: $("at").value });
});
$("finish").addEventListener("click", () => command({ do: "finish" }));
$("download").href = address("/scenario");
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|BUTTON|A|SUMMARY)$/.test(event.target.tagName)) return;
  const steps = { h: "heartbeat", d: "decision", j: "job" };
  if (event.key === " ") { event.preventDefault(); toggle(); }
  else if (steps[event.key]) command({ do: "step", to: steps[event.key] });
});

document.querySelectorAll("form[data-deed]").forEach((form) => form.addEventListener("submit", (event) => {
  event.preventDefault();
  const said = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, value.trim()]).filter(([, value]) => value));
  const button = event.submitter || form.querySelector("button");
  command(deed_of(form.dataset.deed, said, button.value));
}));

function deed_of(kind, said, way) {
  switch (kind) {
    case "submit": return { do: "submit", job: { ...said, maps: Number(said.maps), reduces: Number(said.reduces) } };
    case "kill": return { do: "kill", job: said.job };
    case "change": return { do: "change", change: said };
    case "node": return { do: way, node: Number(said.node) - 1 };
    case "scheduler": return { do: "scheduler", scheduler: said.scheduler };
  }
}

// ---- the map ----

// The positions of all slots, in pixels of the page. Racks stand side by side; a node is a block of
// its slots, maps above reduces. Where there is room, the nodes and the two kinds of slots have their
// names. With too many slots for blocks, a node is a cell, filled by the share of its busy slots.
const NAME = 13, MARGIN = 46;
const SMALL = "10px system-ui, sans-serif";

function plan(width) {
  const racks = layout.racks.map(() => []);
  layout.nodes.forEach(([, rack], node) => racks[rack].push(node));
  const most = Math.max(1, ...layout.nodes.map(([, , maps, reduces]) => Math.max(maps, reduces)));
  const full = racks.filter((nodes) => nodes.length);
  const biggest = Math.max(1, ...full.map((nodes) => nodes.length));
  const room = 520;
  const context = $("map").getContext("2d");
  context.font = SMALL;
  const longest = Math.max(0, ...(layout.nodes.length > 300 ? [] : layout.nodes.map(([name]) => context.measureText(name).width)));
  const has_reduces = layout.nodes.some(([, , , reduces]) => reduces);
  // Smaller slots with names tell more than larger ones without.
  const named = layout.nodes.length > 300 ? [] : [26, 22, 18, 14].map((cell) => [cell, [[Math.max(cell * most + 4, longest + 6), 2 * cell + 5 + NAME, NAME, MARGIN]]]);
  const nameless = [26, 22, 18, 14, 12, 10, 8, 6, 5, 4, 3].map((cell) => [cell, [[cell * most + 4, 2 * cell + 5, 0, 0]]]);
  // Without slots, a node is as large as fits, at least two pixels.
  const cells = [9, 7, 5, 4, 3, 2].map((size) => [size, size, 0, 0]);
  for (const [cell, sizes] of [...named, ...nameless, [0, cells]]) {
    for (const [wide, high, name, margin] of sizes) {
      const across = Math.max(1, Math.min(biggest, Math.floor((width - 12 - margin) / wide), Math.ceil(Math.sqrt(biggest * high / wide * 1.6))));
      const rack_wide = Math.max(across * wide + 10 + margin, 46), rack_high = Math.ceil(biggest / across) * high + 24;
      const per_line = Math.max(1, Math.floor(width / rack_wide));
      const height = Math.ceil(full.length / per_line) * rack_high;
      if (height > room && !(cell === 0 && wide === 2)) continue;
      const places = new Array(layout.nodes.length);
      const titles = [], labels = [];
      full.forEach((nodes, number) => {
        const x = (number % per_line) * rack_wide, y = Math.floor(number / per_line) * rack_high;
        titles.push([layout.racks[layout.nodes[nodes[0]][1]], x, y + 12, rack_wide - 8]);
        nodes.forEach((node, index) => {
          const place = [x + margin + (index % across) * wide, y + 18 + name + Math.floor(index / across) * high];
          places[node] = place;
          if (!name) return;
          labels.push([layout.nodes[node][0], place[0], place[1] - 3]);
          if (index % across) return;
          labels.push(["maps", x, place[1] + cell / 2 + 3]);
          if (has_reduces) labels.push(["reduces", x, place[1] + cell * 1.5 + 4]);
        });
      });
      return { cell, wide, high, width, height: Math.max(height, 40), places, titles, labels };
    }
  }
}

let the_plan = null, starts = [], colours = null;

function prepare() {
  const canvas = $("map");
  const width = Math.max(280, canvas.parentElement.clientWidth);
  the_plan = plan(width);
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(the_plan.width * ratio);
  canvas.height = Math.round(the_plan.height * ratio);
  canvas.style.width = `${the_plan.width}px`;
  canvas.style.height = `${the_plan.height}px`;
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  colours = { jobs: [...Array(COLOURS).keys()].map((n) => value(`--c${n}`)), free: value("--free"), edge: value("--edge"), ink: value("--ink"), soft: value("--soft"), line: value("--line") };
  starts = [];
  let start = 0;
  layout.nodes.forEach(([, , maps, reduces]) => { starts.push(start); start += maps + reduces; });
  is_drawn = false;
  draw_history();
}

// The server numbers pools and users, since it counts the slots of the past by colour.
function colour_of_name(by, name) {
  const number = picture.names[by === "pool" ? 0 : 1].indexOf(name);
  return number < 0 ? 6 : number % COLOURS;
}

function colour_of() {
  const by = $("colour").value;
  if (by === "job") return (job) => job % COLOURS;
  const jobs = new Map(picture.jobs.map((job) => [job.id, colour_of_name(by, job[by])]));
  return (job) => (jobs.has(job) ? jobs.get(job) : 6);
}

function draw_map() {
  const { cell, wide, places, titles, labels, width, height } = the_plan;
  const context = $("map").getContext("2d");
  const of = colour_of();
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colours.ink;
  titles.forEach(([text, x, y, room]) => context.fillText(text, x, y, room));
  context.font = SMALL;
  context.fillStyle = colours.soft;
  labels.forEach(([text, x, y]) => context.fillText(text, x, y));
  // Draw colour by colour: changing the colour costs more than filling.
  const boxes = Array.from({ length: COLOURS + 2 }, () => []);
  layout.nodes.forEach(([, , maps, reduces], node) => {
    const [x, y] = places[node], start = starts[node], all = maps + reduces;
    if (cell) {
      for (let slot = 0; slot < all; slot++) {
        const job = picture.slots[start + slot], below = slot >= maps;
        const box = [x + (below ? slot - maps : slot) * cell, y + (below ? cell + 1 : 0), cell - 1, cell - 1];
        boxes[job >= 0 ? of(job) : job === FREE ? COLOURS : COLOURS + 1].push(box);
      }
    } else {
      const counts = new Array(COLOURS).fill(0);
      let busy = 0, is_down = all > 0;
      for (let slot = start; slot < start + all; slot++) {
        const job = picture.slots[slot];
        if (job >= 0) { counts[of(job)]++; busy++; }
        if (job !== DOWN) is_down = false;
      }
      const size = wide - 1;
      if (is_down) { boxes[COLOURS + 1].push([x, y, size, size]); return; }
      boxes[COLOURS].push([x, y, size, size]);
      if (busy) {
        const tall = Math.max(1, Math.round(size * busy / all));
        boxes[counts.indexOf(Math.max(...counts))].push([x, y + size - tall, size, tall]);
      }
    }
  });
  context.fillStyle = colours.free;
  boxes[COLOURS].forEach((box) => context.fillRect(...box));
  boxes.slice(0, COLOURS).forEach((some, number) => {
    context.fillStyle = colours.jobs[number];
    some.forEach((box) => context.fillRect(...box));
  });
  context.strokeStyle = colours.edge;
  context.lineWidth = 1;
  context.beginPath();
  boxes[COLOURS + 1].forEach(([x, y, w, h]) => {
    context.rect(x + .5, y + .5, w - 1, h - 1);
    context.moveTo(x, y + h);
    context.lineTo(x + w, y);
  });
  context.stroke();
  if (chosen) {
    const [x, y, w, h] = box_of(chosen);
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, w + 2, h + 2);
  }
}

function box_of({ node, slot }) {
  const { cell, wide, high, places } = the_plan, [x, y] = places[node], maps = layout.nodes[node][2];
  if (!cell) return [x, y, wide - 1, high - 1];
  return slot < maps ? [x + slot * cell, y, cell - 1, cell - 1] : [x + (slot - maps) * cell, y + cell + 1, cell - 1, cell - 1];
}

// Returns the slot at a position; for a node that is a cell, its first held slot.
function slot_at(event) {
  // Browsers give whole pixels for clicks and fractions for movements: on a border both must name one slot.
  const box = $("map").getBoundingClientRect(), x = Math.floor(event.clientX) - box.left, y = Math.floor(event.clientY) - box.top;
  const { cell, wide, high, places } = the_plan;
  const node = places.findIndex(([left, top]) => x >= left && x < left + wide && y >= top && y < top + high);
  if (node < 0) return null;
  const [, , maps, reduces] = layout.nodes[node];
  if (!cell) {
    const start = starts[node], held = picture.slots.slice(start, start + maps + reduces).findIndex((job) => job >= 0);
    return { node, slot: Math.max(0, held) };
  }
  const [left, top] = places[node], below = y >= top + cell + 1, column = Math.floor((x - left) / cell);
  if (column < 0 || column >= (below ? reduces : maps) || y > top + 2 * cell) return null;
  return { node, slot: below ? maps + column : column };
}

function tell_slot(place) {
  if (!place) return "";
  const [name, rack, maps] = layout.nodes[place.node], job = picture.slots[starts[place.node] + place.slot];
  const known = picture.jobs.find((row) => row.id === job);
  const holder = job === FREE ? "free" : job === DOWN ? "down" : known ? `${known.name} (job ${job})` : `job ${job}`;
  const kind = place.slot < maps ? "map" : "reduce";
  return `${name} in ${layout.racks[rack]}, ${kind} slot ${(place.slot < maps ? place.slot : place.slot - maps) + 1}: ${holder}`;
}

function story(title, facts) {
  const list = element("dl");
  facts.filter(([, fact]) => fact !== null && fact !== undefined && fact !== "").forEach(([word, fact]) =>
    list.append(element("dt", word), element("dd", fact)));
  $("story").replaceChildren(element("strong", title), list);
  $("story").hidden = false;
}

// ---- the time so far ----

// The strips are drawn from the server's averages over equal spans, which it is asked for at most three
// times a second.
let past = { number: 0, by: "", asked: 0, points: null, is_asked: false };
const STRIP = 64, TITLE = 18, AXIS = 16;

async function look_back() {
  const by = $("colour").value;
  const is_known = past.number === picture.number && past.by === by;
  if (past.is_asked || is_known || picture.phase === "finished" || performance.now() - past.asked < 333) return;
  past.is_asked = true;
  const { number } = picture;
  const points = await ask("/history", `&by=${by}`).catch(() => null);
  past = { number, by, asked: performance.now(), points: points || past.points, is_asked: false };
  draw_history();
  tell_history();
}

const slots_of = (kind) => layout.nodes.reduce((sum, node) => sum + node[2 + kind], 0);

function draw_history() {
  const { points } = past, canvas = $("history"), ratio = window.devicePixelRatio || 1;
  if (!points || !colours) return;
  const width = canvas.parentElement.clientWidth - parseFloat(getComputedStyle(canvas.parentElement).paddingLeft) * 2;
  const strips = [["Map slots held", points.maps, slots_of(0)], ["Reduce slots held", points.reduces, slots_of(1)]].filter(([, , most]) => most);
  const height = (strips.length + 1) * (STRIP + TITLE) + AXIS;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  const { span_us, until_us } = points;
  const x_of = (us) => (until_us ? Math.round(Math.min(us, until_us) / until_us * width * ratio) / ratio : 0);
  const head = (text, number, top) => {
    const line = number * (STRIP + TITLE) + TITLE - 5;
    context.fillStyle = colours.ink;
    context.fillText(text, 0, line);
    context.fillStyle = colours.soft;
    context.textAlign = "right";
    context.fillText(`top: ${top.toLocaleString("en")}`, width, line);
    context.textAlign = "left";
    context.fillStyle = colours.free;
    context.fillRect(0, number * (STRIP + TITLE) + TITLE, width, STRIP);
    return (number + 1) * (STRIP + TITLE);
  };
  strips.forEach(([name, all, most], number) => {
    const foot = head(name, number, most);
    const floors = all.map(() => foot);
    for (let colour = 0; colour < COLOURS; colour++) {
      context.fillStyle = colours.jobs[colour];
      all.forEach((held, index) => {
        if (!held[colour]) return;
        const high = held[colour] / most * STRIP, x = x_of(index * span_us);
        floors[index] -= high;
        context.fillRect(x, floors[index], x_of((index + 1) * span_us) - x, high);
      });
    }
  });
  const most = Math.max(1, ...points.waiting.map(([maps, reduces]) => maps + reduces));
  const foot = head("Waiting tasks: maps below, reduces above", strips.length, Math.round(most));
  points.waiting.forEach(([maps, reduces], index) => {
    const x = x_of(index * span_us), wide = x_of((index + 1) * span_us) - x;
    context.fillStyle = colours.soft;
    context.fillRect(x, foot - maps / most * STRIP, wide, maps / most * STRIP);
    context.fillStyle = colours.edge;
    context.fillRect(x, foot - (maps + reduces) / most * STRIP, wide, reduces / most * STRIP);
  });
  context.fillStyle = colours.soft;
  const ends = [["0:00:00", 0, "left"], [clock_of_table(until_us / 2), width / 2, "center"], [clock_of_table(until_us), width, "right"]];
  (until_us ? ends : ends.slice(0, 1)).forEach(([text, x, side]) => {
    context.textAlign = side;
    context.fillText(text, x, height - 3);
  });
}

// Says in words what the strips show at the pointer, or at the present instant.
function tell_history(event) {
  const { points } = past;
  if (!points || !points.maps.length) return;
  const { span_us, until_us, maps, reduces, waiting } = points;
  const box = $("history").getBoundingClientRect();
  const share = event ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) : 1;
  const index = Math.min(maps.length - 1, Math.floor(share * until_us / span_us));
  const sum = (held) => held.reduce((sum, slots) => sum + slots, 0);
  const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
  const [maps_wait, reduces_wait] = waiting[index];
  $("history-words").textContent = `Around ${clock_of_table(Math.min(until_us, index * span_us))}: ${number(sum(maps[index]))} map slots and ${number(sum(reduces[index]))} reduce slots held, ${number(maps_wait)} maps and ${number(reduces_wait)} reduces wait.`;
}
$("history").addEventListener("pointermove", tell_history);
$("history").addEventListener("pointerleave", () => tell_history());

// Asks for the story of a slot or a job, and again at each pause: it is one of the instant shown.
let retell = null, retold = 0;

function begin_story(tell) {
  retell = tell;
  retold = picture.number;
  return tell();
}

function choose_slot(place) {
  if (!place) return;
  chosen = place;
  is_drawn = false;
  document.querySelector("form[data-deed=node] input").value = place.node + 1;
  $("hover").after($("story"));
  begin_story(() => tell_why(place));
}

function choose_job(id) {
  const { name, submitted_us } = picture.jobs.find((job) => job.id === id) || {};
  if (name === undefined) return;
  document.querySelectorAll("form[data-deed=kill] input, form[data-deed=change] input[name=job]").forEach((input) => { input.value = name; });
  // Beside the jobs, of which one was asked for.
  $("counts").after($("story"));
  // After a jump back the job may not be there yet.
  begin_story(async () => {
    if (submitted_us <= picture.now_us) return tell_job(id);
    $("story").hidden = true;
  });
}

async function tell_why(place) {
  const is_held = picture.slots[starts[place.node] + place.slot] >= 0;
  const why = is_held ? await ask("/why", `&node=${place.node}&slot=${place.slot}`) : null;
  if (!why) return story(tell_slot(place), [["at", clock(picture.now_us)], ["why", "nobody holds it: a click on a job says what its tasks wait for"]]);
  story(`${why.attempt} on ${why.node} at ${clock(picture.now_us)}`, [
    ["why", why.reason], ["code", why.code], ["assigned", why.assigned_us === null ? null : clock(why.assigned_us)],
    ["started", why.started_us === null ? null : clock(why.started_us)], ["input", why.locality],
    ["second try", why.speculative ? "yes" : ""], ["job", `${why.name} (${why.job})`], ["pool", why.pool], ["user", why.user],
  ]);
}

// Says why tasks of a kind wait for slots: only what is known at this instant.
function waits(kind, wait) {
  if (!wait) return [];
  const { tasks, held_back, refused, free: [free, all], holders, launched } = wait;
  const facts = [[`${kind}s wait`, held_back ? `${counted(tasks, kind)}: ${held_back}` : counted(tasks, kind)]];
  const held = holders.map(([name, slots]) => `${name} ${slots.toLocaleString("en")}`).join(", ");
  const named = holders.reduce((sum, [, slots]) => sum + slots, 0), others = all - free - named;
  if (held) facts.push([`${kind} slots are held by`, `${held}${others ? `, others ${others.toLocaleString("en")}` : ""}`]);
  facts.push([`free ${kind} slots`, `${free.toLocaleString("en")} of ${all.toLocaleString("en")}${free ? ", which their nodes offer at the next heartbeats" : ""}`]);
  if (refused) {
    const when = refused.times === 1 ? `at ${clock(refused.last_us)}` : `${refused.times.toLocaleString("en")} times from ${clock(refused.from_us)} to ${clock(refused.last_us)}`;
    facts.push(["last refusal", `${refused.reason}; ${when}`]);
  } else if (!held_back) {
    facts.push(["last refusal", `none for a minute, or since its last ${kind} was launched`]);
  }
  if (launched) facts.push([`last ${kind} launched`, `${launched.whom} on ${launched.where} at ${clock(launched.at_us)}: ${launched.why}`]);
  return facts;
}

async function tell_job(id) {
  const job = await ask("/job", `&job=${id}`);
  if (!job) return;
  const at = (us) => (us === null ? null : clock(us));
  const three = ([all, done, held]) => `${done.toLocaleString("en")} of ${all.toLocaleString("en")} done, ${held.toLocaleString("en")} in slots`;
  const [node, rack, off] = job.locality, [failed, killed, suspended] = job.ill;
  const sojourn = job.ended ? span(job.ended_us - job.submitted_us) : null;
  story(`${job.name} (job ${job.id}) at ${clock(picture.now_us)}`, [
    ...waits("map", job.waits[0]), ...waits("reduce", job.waits[1]),
    ["ended", job.ended ? `${job.ended} at ${at(job.ended_us)}` : "not yet"], ["sojourn", sojourn], ["submitted", at(job.submitted_us)],
    ["initialised", at(job.initialised_us)], ["first launch", at(job.first_launch_us)], ["maps done", at(job.maps_done_us)],
    ["maps", three(job.maps)], ["reduces", three(job.reduces)], ["input", `${node} node, ${rack} rack, ${off} off-rack`],
    ["attempts", `${failed} failed, ${killed} killed, ${suspended} suspended`], ["pool", job.pool], ["user", job.user], ["class", job.class],
  ]);
}

const map = $("map");
map.addEventListener("pointermove", (event) => { if (picture && the_plan) $("hover").textContent = tell_slot(slot_at(event)); });
map.addEventListener("click", (event) => { if (picture && the_plan) choose_slot(slot_at(event)); });
map.addEventListener("keydown", (event) => {
  const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  if (!picture || !the_plan) return;
  if (event.key === "Enter" && chosen) { event.preventDefault(); choose_slot(chosen); return; }
  if (!moves[event.key]) return;
  event.preventDefault();
  const [slots, nodes] = moves[event.key];
  let { node, slot } = chosen || { node: 0, slot: -slots };
  const size = (of) => layout.nodes[of][2] + layout.nodes[of][3];
  const last = layout.nodes.length - 1;
  if (nodes) { node = Math.min(last, Math.max(0, node + nodes)); slot = 0; }
  else {
    slot += slots;
    if (slot < 0) { node = Math.max(0, node - 1); slot = size(node) - 1; }
    else if (slot >= size(node)) { node = Math.min(last, node + 1); slot = 0; }
  }
  chosen = { node, slot: Math.max(0, slot) };
  $("hover").textContent = tell_slot(chosen);
  is_drawn = false;
});
$("colour").addEventListener("change", () => { is_drawn = false; legend_key = ""; });
window.addEventListener("resize", () => { if (layout) prepare(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (layout) prepare(); });

// ---- a picture ----

const PHASES = {
  paused: "paused", running: "running", going: "on its way", repeating: "repeating what was", ended: "the run is over", finished: "the session is over",
};

let legend_key = "";
function legend() {
  const by = $("colour").value, of = colour_of();
  let names = [];
  if (by === "job") names = picture.jobs.filter((job) => !job.ended).slice(0, 8).map((job) => [of(job.id), job.name]);
  else names = [...new Set(picture.jobs.map((job) => job[by]))].slice(0, 12).map((name) => [colour_of_name(by, name), name]);
  const key = JSON.stringify([by, names]);
  if (key === legend_key) return;
  legend_key = key;
  $("legend").replaceChildren(...[...names, ["free", "free"], ["down", "down"]].map(([number, name]) => {
    const entry = element("span");
    entry.append(element("span", "", `key k${number}`), name);
    return entry;
  }));
}

function progress([all, done, held]) {
  const made = element("span");
  made.dataset.key = `${all}/${done}/${held}`;
  if (!all) { made.textContent = "none"; return made; }
  const bar = element("progress");
  bar.max = all;
  bar.value = done;
  bar.setAttribute("aria-label", `${done} of ${all}`);
  made.append(bar, `${done.toLocaleString("en")} / ${all.toLocaleString("en")}${held ? ` (${held.toLocaleString("en")})` : ""}`);
  return made;
}

// A farewell that names a report has a link to it, as long as the server answers.
let is_served = true;

function part_with({ farewell, has_report }) {
  const key = `${farewell} ${has_report && is_served}`;
  if ($("farewell").dataset.key === key) return;
  $("farewell").dataset.key = key;
  $("farewell").replaceChildren(...marked(farewell || ""));
  $("farewell").hidden = !farewell;
  if (!has_report || !is_served) return;
  const link = element("a", "Open the report");
  link.href = address("/report");
  link.target = "_blank";
  link.rel = "noopener";
  $("farewell").prepend(link, " ");
}

function name_of(job, colour) {
  const button = element("button", job.name);
  button.title = job.name;
  button.type = "button";
  button.dataset.job = job.id;
  const made = element("span", "", "job");
  made.dataset.key = `${job.id} ${colour} ${job.name}`;
  made.append(element("span", "", `key k${colour}`), button);
  return made;
}
$("jobs").addEventListener("click", (event) => {
  const button = event.target.closest("tr")?.querySelector("[data-job]");
  if (button) choose_job(Number(button.dataset.job));
});

function draw() {
  requestAnimationFrame(draw);
  if (!picture || !layout) return;
  look_back();
  if (is_drawn) return;
  is_drawn = true;
  const p = picture;
  if (!the_plan) prepare();
  is_drawn = true;
  $("now").textContent = clock(p.now_us);
  if ($("phase").textContent !== PHASES[p.phase]) $("phase").textContent = PHASES[p.phase];
  $("toggle").textContent = p.phase === "paused" ? "Run" : "Pause";
  $("toggle").disabled = p.phase === "ended" || p.phase === "finished" || p.phase === "repeating";
  document.querySelectorAll("[data-step]").forEach((button) => { button.disabled = p.phase !== "paused"; });
  document.querySelectorAll("form[data-deed] fieldset").forEach((set) => { set.disabled = !stands(); });
  document.querySelectorAll("#go input, #go button, #finish, #speed").forEach((control) => { control.disabled = p.phase === "finished"; });
  const speed = p.speed === null ? "max" : `${p.speed}x`;
  if (![...$("speed").options].some((option) => option.value === speed)) $("speed").append(new Option(speed, speed));
  if (document.activeElement !== $("speed")) $("speed").value = speed;
  $("first").hidden = p.phase !== "paused" || p.now_us > 0 || p.slots.some((job) => job !== DOWN);
  part_with(p);
  $("about").textContent = `${counted(layout.nodes.length, "node")}, ${counted(p.all_jobs, "job")}, seed ${layout.seed}, policy ${p.policy}`;
  legend();
  draw_map();
  if (retell && stands() && retold !== p.number) { retold = p.number; retell().catch(() => null); }
  const [submitted, ended, hidden] = p.counts;
  $("counts").textContent = `${submitted.toLocaleString("en")} submitted, ${ended.toLocaleString("en")} ended${hidden ? `, ${hidden.toLocaleString("en")} not listed` : ""}`;
  const of = colour_of();
  fill("jobs", p.jobs.map((job) => [name_of(job, of(job.id)), job.pool, job.user, progress(job.maps), progress(job.reduces), clock_of_table(job.submitted_us), job.ended ? span(job.ended_us - job.submitted_us) : ""]),
    { dress: (row, index) => { row.className = p.jobs[index].ended ? "over" : ""; }, names: ["", "pool", "user"] });
  const tenth = (share) => (share === null ? "" : share.toLocaleString("en", { maximumFractionDigits: 1 }));
  fill("pools", p.pools.map((g) => [g.name, g.jobs, g.maps[0], tenth(g.share[0]), g.min_share[0] ?? "", g.maps[1], g.reduces[0], tenth(g.share[1]), g.min_share[1] ?? "", g.reduces[1]]),
    { names: ["name", "", "", "share", "promised", "", "", "share", "promised"] });
  // Most policies have no shares, and most pools no promise: their columns would be empty.
  const has = { share: p.pools.some((g) => g.share.some((share) => share !== null)), promised: p.pools.some((g) => g.min_share.some((share) => share !== null)) };
  Object.entries(has).forEach(([name, is_known]) => $("pools").classList.toggle(`no-${name}`, !is_known));
  document.querySelectorAll("#pools th[colspan]").forEach((head) => { head.colSpan = 2 + has.share + has.promised; });
  fill("users", p.users.map((g) => [g.name, g.jobs, ...g.maps, ...g.reduces]), { names: ["name"] });
  const three = (name, all) => [name, ...(all ? all.map(latency) : ["", "", ""])];
  fill("latencies", [three("heartbeat and reply", p.round_trip), three("in the JobTracker's line", p.queued), three("task waits for a slot", p.waited)]);
  $("beats").textContent = counted(p.beats, "heartbeat") + (pages.rate ? `; ${counted(pages.rate, "picture")} a second` : "");
  fill("said", p.said.map((said) => [clock(said.at_us), said.what, said.whom, said.where, said.why]));
  fill("log", p.log.map((line) => [clock(line.at_us), line.text]));
  const names = [...new Set(p.jobs.filter((job) => !job.ended).map((job) => job.name))];
  if ($("job-names").dataset.key !== names.join("\n")) {
    $("job-names").dataset.key = names.join("\n");
    $("job-names").replaceChildren(...names.map((name) => new Option(name, name)));
  }
  pages.shown++;
  const past = performance.now() - pages.since;
  if (past >= 1000) pages = { shown: 0, since: performance.now(), rate: Math.round(pages.shown * 1000 / past) };
}

// A browser opens six connections to one server. A hidden page leaves them to others.
let source = null;

function listen() {
  if (source || document.hidden || (picture && picture.phase === "finished")) return;
  source = new EventSource(address("/pictures"));
  source.onmessage = (event) => {
    picture = JSON.parse(event.data);
    is_drawn = false;
  };
  source.onerror = () => {
    if (picture && picture.phase === "finished") return take_leave();
    $("phase").textContent = "no connection";
  };
}

// The server ends when no page of a finished session listens any more.
function take_leave() {
  source.close();
  is_served = false;
  is_drawn = false;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return listen();
  if (!source) return;
  if (picture && picture.phase === "finished") take_leave();
  source.close();
  source = null;
});

async function begin() {
  layout = await ask("/layout");
  if (!layout) return complain("This is not the address that Mumakil has printed.");
  document.title = `${layout.scenario} live`;
  $("name").textContent = layout.scenario;
  $("colour").value = layout.colour;
  $("policies").replaceChildren(...layout.policies.map((name) => new Option(name, name)));
  document.querySelector("form[data-deed=node] input").max = layout.nodes.length;
  listen();
  requestAnimationFrame(draw);
}
begin();
