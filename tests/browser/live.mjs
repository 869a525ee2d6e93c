// The page of `mumakil live` in a real browser: pause, step, speed, click, an injected fault, a page that is
// loaded anew in the middle, two browsers at once, the end; and how it looks, in pictures beside this.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [mumakil, executablePath, place] = process.argv.slice(2);
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

function serve(...more) {
  const server = spawn(mumakil, ["live", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  // A step that fails must leave no server behind.
  process.on("exit", () => server.kill("SIGTERM"));
  const lines = createInterface({ input: server.stdout });
  return { server, lines };
}

const { server, lines } = serve("quickstart", "--speed", "60x", "--out", `${place}/session`);
const said = [];
const [address] = await once(lines, "line");
lines.on("line", (line) => said.push(line));
assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);

const browser = await chromium.launch({ executablePath, args });
const errors = [];
async function open(look) {
  const page = await (await browser.newContext(look)).newPage();
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address);
  return page;
}
const phase = (page, words) => page.waitForFunction((words) => document.getElementById("phase").textContent === words, words);
const now = (page) => page.textContent("#now");
async function seconds(page) {
  const [h, min, s] = (await now(page)).split(":");
  return h * 3600 + min * 60 + Number(s);
}
const step = (name) => console.log(`ok: ${name}`);

const page = await open({ viewport: { width: 1400, height: 1000 } });
await phase(page, "paused");
assert.equal(await now(page), "0:00:00.000");
assert.match(await page.textContent("#first"), /press Run/);
assert.ok(await page.isVisible("#first") && await page.isVisible("#keys"));
assert.equal(await page.isVisible("#farewell"), false);
step("it waits at the beginning, and says what to press");

await page.click("text=Next heartbeat");
await page.waitForFunction(() => document.getElementById("beats").textContent.startsWith("1 heartbeat"));
await page.click("text=Next decision");
await page.waitForFunction(() => document.querySelectorAll("#said tbody tr").length === 1);
await phase(page, "paused");
assert.equal(await page.textContent("#said tbody tr td:nth-child(2)"), "launch");
step("it steps to a heartbeat and to a decision");

await page.selectOption("#speed", "10x");
await page.click("#toggle");
await phase(page, "running");
const slow = await seconds(page);
await page.waitForTimeout(1000);
const tenfold = (await seconds(page)) - slow;
assert.ok(5 < tenfold && tenfold < 20, `10x: ${tenfold} s in a second`);
await page.selectOption("#speed", "60x");
const fast = await seconds(page);
await page.waitForTimeout(1000);
const sixtyfold = (await seconds(page)) - fast;
assert.ok(30 < sixtyfold && sixtyfold < 110, `60x: ${sixtyfold} s in a second`);
await page.click("#toggle");
await phase(page, "paused");
step(`speeds: ${tenfold.toFixed(1)} s and ${sixtyfold.toFixed(1)} s in a second`);

await page.fill("#at", "1min 30s");
await page.click("#go button");
await page.waitForFunction(() => document.getElementById("now").textContent === "0:01:30.000");
await phase(page, "paused");
const slot = await page.evaluate(() => {
  const index = picture.slots.findIndex((job) => job >= 0);
  const node = starts.findLastIndex((start) => start <= index);
  const [x, y, w, h] = box_of({ node, slot: index - starts[node] });
  return { x: x + w / 2, y: y + h / 2 };
});
await page.click("#map", { position: slot });
await page.waitForFunction(() => document.querySelector("#story dd")?.textContent);
assert.match(await page.textContent("#story"), /why.+(line|input|policy)/);
assert.equal(await page.isVisible("#first"), false);
const waiting = await page.evaluate(() => picture.jobs.find((job) => !job.ended && job.maps[1] + job.maps[2] < job.maps[0]).id);
await page.click(`#jobs [data-job="${waiting}"]`);
await page.waitForFunction(() => document.getElementById("story").textContent.includes("submitted"));
assert.match(await page.textContent("#story"), /maps wait\d+ maps.*map slots are held by\w.+ \d+.*free map slots\d+ of 40.*last refusal.+last map launched.+ on node-\d+ at /);
await page.fill("#at", "20s");
await page.click("#go button");
await page.waitForFunction(() => document.getElementById("story").hidden);
await page.fill("#at", "1min 30s");
await page.click("#go button");
await page.waitForFunction(() => document.querySelector("#story:not([hidden]) strong")?.textContent.endsWith("at 0:01:30.000"));
step("a click on a slot says why, a click on a job why it waits, at the instant shown");

// The strips: the last points are the slots and the queue of the picture, and the canvas shows colours of jobs.
const strips = (page) => page.waitForFunction(() => past.points && past.number === picture.number && past.by === document.getElementById("colour").value);
await strips(page);
const last = await page.evaluate(() => {
  const sum = (held) => held.reduce((sum, slots) => sum + slots, 0), { points } = past, end = points.maps.length - 1;
  const canvas = document.getElementById("history"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const shown = new Set();
  for (let at = 0; at < data.length; at += 4) shown.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
  const held = picture.slots.filter((job) => job >= 0).length;
  const wait = picture.pools.reduce((sum, pool) => sum + pool.maps[1] + pool.reduces[1], 0);
  return { until: points.until_us, held, wait, slots: sum(points.maps[end]) + sum(points.reduces[end]), waiting: sum(points.waiting[end]), shown: [...shown] };
});
assert.equal(last.until, 90e6);
// The last point is an average over some tenths of a second.
assert.ok(Math.abs(last.slots - last.held) < 4 && Math.abs(last.waiting - last.wait) < 4, JSON.stringify(last));
assert.ok(last.shown.includes("213,94,0"), "the colour of the second job");
await page.selectOption("#colour", "pool");
await strips(page);
await page.selectOption("#colour", "job");
await strips(page);
step("strips show the slots and the queue so far");

const second = await open({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
await phase(second, "paused");
assert.equal(await now(second), await now(page));
await page.fill("form[data-deed=node] input", "3");
await page.click("form[data-deed=node] button[value=stop]");
const has = (page, text) => page.waitForFunction((text) => document.getElementById("log").textContent.includes(text), text);
await has(page, "node-3 is stopped");
await has(second, "node-3 is stopped");
await phase(page, "paused");
assert.equal(await now(page), "0:01:30.000");
await page.click("form[data-deed=submit] button");
await has(second, "the job urgent is submitted");
await phase(second, "paused");
step("a fault and a job are injected, and another browser sees it");

await second.click("text=Next job's end");
await second.waitForFunction(() => document.getElementById("now").textContent !== "0:01:30.000");
await phase(second, "paused");
await page.waitForFunction((text) => document.getElementById("now").textContent === text, await now(second));
await page.reload();
await phase(page, "paused");
assert.equal(await now(page), await now(second));
assert.match(await page.textContent("#log"), /node-3 is stopped/);
assert.ok(await page.evaluate(() => picture.slots.includes(-2)), "a node is down");
step("a page that is loaded anew shows the same");

const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const narrow = await second.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
await page.screenshot({ path: `${place}/wide.png`, fullPage: true });
await second.screenshot({ path: `${place}/narrow-dark.png`, fullPage: true });
assert.ok(wide && narrow, `no page is wider than its window: ${wide}, ${narrow}`);
const cut = (page) => page.$$eval(".scroll", (parts) => parts.filter((part) => part.clientWidth < part.scrollWidth).map((part) => part.firstElementChild.id));
await page.setViewportSize({ width: 1280, height: 900 });
await page.waitForFunction(() => the_plan.width <= document.getElementById("map").parentElement.clientWidth);
assert.deepEqual([await cut(page), await cut(second)], [[], []], "no table is cut");
const sojourns = await page.$$eval("#jobs tr.over td:nth-child(7)", (cells) => cells.map((cell) => cell.textContent));
assert.ok(sojourns.length && sojourns.every((text) => /^(\d+\.\d s|\d+ min \d\d s)$/.test(text)), `${sojourns}`);
const high = (page) => page.$$eval("#jobs tbody tr, #pools tbody tr", (rows) => Math.max(...rows.map((row) => row.clientHeight / parseFloat(getComputedStyle(row).fontSize))));
assert.ok((await high(page)) < 2.4 && (await high(second)) < 2.4, `no row has two lines: ${await high(page)}, ${await high(second)}`);
await second.focus("#map");
await second.keyboard.press("ArrowRight");
assert.match(await second.textContent("#hover"), /node-1 in rack-1, map slot 1/);
step("it fits 1,400 and 390 pixels, and the map is reached by the keyboard");

const scenario = await page.evaluate(async () => (await fetch(document.getElementById("download").href)).text());
assert.match(scenario, /stop: node-3/);
writeFileSync(`${place}/session.yaml`, scenario);
await second.close();
const over = once(server, "exit");
await page.click("#finish");
await page.waitForSelector("#farewell:not([hidden])");
assert.match(await page.textContent("#farewell"), /The report: \/.+session\/report\.html/);
assert.ok(await page.isDisabled("#go button") && await page.isDisabled("#finish"));
const [report] = await Promise.all([page.context().waitForEvent("page"), page.click("#farewell a")]);
await report.waitForSelector("svg");
await report.close();
await page.close();
step("the page of a finished session has a link to the report");
const [code] = await over;
assert.equal(code, 0);
const digest = (text) => text.match(/digest\s+(\S+)/)[1];
const again = execFileSync(mumakil, ["run", `${place}/session.yaml`, "--out", `${place}/again`], { encoding: "utf8" });
assert.equal(digest(said.join("\n")), digest(again));
step(`the session's scenario has its digest: ${digest(again)}`);
assert.deepEqual(errors.filter((text) => !/ERR_|Failed to fetch/.test(text)), []);

// Shares that a jump and a step show, beside those of a page that has come there another way.
{
  const { server, lines } = serve("quickstart", "--set", "scheduler=fair");
  const [address] = await once(lines, "line");
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 1000 } })).newPage();
  await page.goto(address);
  const shares = () => page.evaluate(() => picture.pools.map((pool) => [pool.name, pool.share[0]]));
  const shown = () => page.$$eval("#pools tbody tr", (rows) => rows.map((row) => [row.cells[0], row.cells[3]].map((cell) => cell.textContent)));
  async function go(at, clock) {
    await page.fill("#at", at);
    await page.click("#go button");
    await page.waitForFunction((clock) => document.getElementById("now").textContent === clock, clock);
    await phase(page, "paused");
  }
  await go("1min 30s", "0:01:30.000");
  await go("2min 45s", "0:02:45.000");
  // With colours for all jobs or without, the swatches in the table are those of the slots.
  for (const by of ["pool", "job"]) {
    await page.selectOption("#colour", by);
    await page.waitForFunction(() => is_drawn);
    const [drawn, due] = await page.evaluate(() => [
      [...document.querySelectorAll("#jobs .key")].map((key) => key.className), picture.jobs.map((job) => `key k${colour_of()(job.id)}`),
    ]);
    assert.deepEqual(drawn, due);
  }
  await page.click("#jobs tbody tr td:nth-child(6)");
  await page.waitForFunction(() => document.querySelector("#story:not([hidden]) strong")?.textContent.startsWith(picture.jobs[0].name));
  step("swatches follow the colouring, and a click in a row of a job chooses it");
  const spans = await page.evaluate(() => [44e4, 59.94e6, 59.97e6, 65e6, 250826e3, 848e6, 3599.7e6, 3840e6, 11100e6, 86399e6, 176400e6].map(span));
  assert.deepEqual(spans, ["0.4 s", "59.9 s", "1 min 00 s", "1 min 05 s", "4 min 11 s", "14 min 08 s", "1 h 00 min", "1 h 04 min", "3 h 05 min", "1 d 00 h", "2 d 01 h"]);
  await go("5min 30s", "0:05:30.000");
  assert.match(await page.textContent("#jobs tr.over:has-text('index') td:nth-child(7)"), /^4 min 11 s$/);
  await go("2min 45s", "0:02:45.000");
  step("times are those of the report");
  assert.deepEqual(await shown(), [["ann", "1"], ["bob", "19.5"], ["carl", "19.5"]]);
  // A step to a decision behind the jump: the pools are asked again, and a jump to its instant says the same.
  await page.click("text=Next decision");
  await page.waitForFunction(() => document.getElementById("now").textContent !== "0:02:45.000");
  await phase(page, "paused");
  const [stepped, instant] = [await shares(), await page.evaluate(() => picture.now_us)];
  await go("1min", "0:01:00.000");
  await go(`${instant}us`, await page.evaluate((us) => clock(us), instant));
  assert.deepEqual(await shares(), stepped);
  step("shares are those of the instant, after a jump and a step");

  // A movement may be a fraction of a pixel beside the click.
  const border = await page.evaluate(() => {
    const [x, y, , h] = box_of({ node: 0, slot: 0 }), place = document.getElementById("map").getBoundingClientRect();
    return Array.from({ length: 40 }, (_, tenth) => {
      const at = { clientX: Math.floor(place.left + x + 2), clientY: Math.floor(place.top + y + h) + tenth / 10 - 1 };
      return [slot_at(at), slot_at({ ...at, clientY: Math.floor(at.clientY) })];
    });
  });
  border.forEach(([hover, click]) => assert.deepEqual(hover, click));
  step("hover and click name one slot on a border");
  const over = once(server, "exit");
  await page.click("#finish");
  await page.waitForSelector("#farewell:not([hidden])");
  assert.match(await page.textContent("#farewell"), /Nothing was kept.+--out/);
  await over;
  step("without --out the page says that nothing was kept");
  await page.close();
}

// How fast, and how much memory, if asked.
for (const nodes of (process.env.MUMAKIL_LIVE_NODES || "").split(" ").filter(Boolean)) {
  const load = "workload={jobs: [{name: load, maps: 200000, map_time: 20s, reduces: 20, reduce_time: 20s}]}";
  const { server, lines } = serve("quickstart", "--speed", "10x", "--set", `cluster.nodes=${nodes}`, "--set", `cluster.racks=${Math.ceil(nodes / 40)}`, "--set", load);
  const [address] = await once(lines, "line");
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 1000 } })).newPage();
  await page.goto(address);
  await phase(page, "paused");
  await page.click("#toggle");
  await page.waitForTimeout(5000);
  const measured = await page.evaluate(() => new Promise((done) => {
    let from = picture.number, drawn = 0, last = from;
    const began = performance.now();
    const look = () => {
      if (picture.number !== last) { last = picture.number; drawn++; }
      const past = (performance.now() - began) / 1000;
      if (past < 8) return requestAnimationFrame(look);
      done({ sent: (picture.number - from) / past, drawn: drawn / past, heap: performance.memory?.usedJSHeapSize / 1048576 });
    };
    look();
  }));
  const memory = readFileSync(`/proc/${server.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1] / 1024;
  await page.screenshot({ path: `${place}/nodes-${nodes}.png` });
  console.log(`${nodes} nodes: ${measured.sent.toFixed(1)} pictures a second made, ${measured.drawn.toFixed(1)} drawn, server ${memory.toFixed(0)} MiB, page's heap ${measured.heap?.toFixed(0)} MiB`);
  server.kill("SIGTERM");
  await page.close();
}
await browser.close();
