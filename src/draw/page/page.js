// What a report does when it is used. Without this, all its content is there.
(() => {
  "use strict";
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    if (tag === "button") element.type = "button";
    return element;
  };

  // Light or dark: as the system says, until the reader decides.
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const remembered = (value) => {
    // Some browsers remember nothing for a file.
    try {
      return value ? localStorage.setItem("theme", value) : localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const theme = make("button", "theme", "");
  const nameTheme = () => { theme.textContent = isDark() ? "☀ Light" : "☾ Dark"; };
  const before = remembered();
  if (before === "light" || before === "dark") root.dataset.theme = before;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered(root.dataset.theme);
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();
  document.querySelector("header").append(theme);

  // Tables: each heading sorts; of a long table only the beginning is shown.
  const LONG = 25, SHORT = 15;
  for (const table of document.querySelectorAll(".table table")) {
    const body = table.tBodies[0], rows = [...body.rows], headings = [...table.tHead.rows[0].cells];
    let all = rows.length <= LONG;
    const show = (sorted) => sorted.forEach((row, place) => { row.hidden = !all && SHORT <= place; });
    const compare = (column, isNumber) => (a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      if (!isNumber) return x.textContent.localeCompare(y.textContent, "en", { numeric: true });
      return Number(x.dataset.value) - Number(y.dataset.value);
    };
    headings.forEach((heading, column) => {
      const isNumber = heading.classList.contains("n");
      // No button element: browsers leave it out of the headings of a table's further sheets of paper.
      const button = make("span", "sort", ""), beneath = heading.querySelector(".beneath") || "";
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        button.click();
      });
      button.append(...[...heading.childNodes].filter((node) => node !== beneath));
      heading.append(button, beneath);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        // Numbers begin with the largest, texts with A.
        const first = isNumber ? "descending" : "ascending";
        const other = isNumber ? "ascending" : "descending";
        const order = heading.getAttribute("aria-sort") === first ? other : first;
        headings.forEach((one) => one.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1, by = compare(column, isNumber);
        const isKnown = (row) => !isNumber || "value" in row.cells[column].dataset;
        const sorted = rows.filter(isKnown).sort((a, b) => sign * by(a, b));
        sorted.push(...rows.filter((row) => !isKnown(row)));
        body.append(...sorted);
        show(sorted);
      });
    });
    if (!all) {
      const more = make("button", "more", "");
      const name = () => { more.textContent = all ? "Show fewer rows" : `Show all ${rows.length} rows`; };
      more.addEventListener("click", () => {
        all = !all;
        name();
        show([...body.rows]);
      });
      name();
      table.closest(".table").append(more);
      show(rows);
    }
  }

  // What is to be copied.
  for (const code of document.querySelectorAll(".code")) {
    const copy = make("button", "copy", "Copy"), text = code.querySelector("code");
    const select = () => getSelection().selectAllChildren(text);
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        copy.textContent = "Copied";
      } catch {
        select();
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    code.append(copy);
  }

  // Values under the pointer: of what has `data-tip`, and of marks that have a title, which is
  // taken away so that the browser does not show it a second time.
  const tip = make("div", "tip", "");
  tip.hidden = true;
  document.body.append(tip);
  const textOf = (mark) => {
    const title = mark instanceof SVGElement && mark.querySelector(":scope > title");
    if (title) {
      mark.dataset.tip = title.textContent;
      mark.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    return mark.dataset.tip;
  };
  const markOf = (target) => {
    for (let mark = target; mark instanceof Element && mark.tagName !== "svg"; mark = mark.parentElement) {
      const text = textOf(mark);
      if (text) return text;
    }
    return "";
  };

  // Plots over time: what is at a place, and another part of the time.
  const digits = (value) => String(Math.round(value * 1000) / 1000);
  const clock = (seconds, step) => {
    if (seconds < 60) return `${digits(seconds)} s`;
    const sizes = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]], told = [];
    // What is less than the step is of no account.
    let rest = Math.round(seconds / step) * step;
    for (const [size, unit] of sizes) {
      const count = size === 1 ? Number(digits(rest)) : Math.floor(rest / size + 1e-9);
      rest -= count * size;
      if (count) told.push(`${count} ${unit}`);
    }
    return told.join(" ");
  };
  const exact = (seconds) => clock(seconds, seconds < 3600 ? .001 : 1);
  const STEPS = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  const shape = (tag, attributes, text) => {
    const element = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    if (text) element.textContent = text;
    return element;
  };
  const plots = new Map();
  for (const plot of document.querySelectorAll("svg.time")) {
    const { width: whole, height: lanes } = plot.viewBox.baseVal;
    const [left, top, wide, high] = ["x", "y", "width", "height"].map((name) => Number(plot.getAttribute(name)));
    const first = Number(plot.dataset.first), perSecond = Number(plot.dataset.perSecond);
    const names = plot.dataset.lanes.split("|"), figure = plot.closest("figure");
    let from = 0, width = whole;
    const secondsOf = (units) => first + units / perSecond;
    // Where an event is: the time in units, and the lane.
    const spot = (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.ownerSVGElement.getScreenCTM().inverse());
      return [from + (place.x - left) / wide * width, Math.floor((place.y - top) / high * lanes)];
    };

    const cells = plot.querySelector("[data-begun]");
    const begun = cells && cells.dataset.begun.split("|").map((lane) => lane.split(" ").flatMap((part) => {
      const [count, times] = part.split("x");
      return Array(Number(times || 1)).fill(count);
    }));
    const tellCell = (mark, time, lane) => {
      const columns = Number(cells.dataset.columns), column = Math.floor(time / whole * columns);
      const [start, end] = [column, column + 1].map((edge) => clock(secondsOf(edge / columns * whole), 1));
      return `${names[lane]}, ${start} to ${end}\n${begun[lane][column]} ${cells.dataset.barsAre} begin; ${textOf(mark)}`;
    };
    const known = new Map();
    const barsOf = (mark) => {
      if (!known.has(mark)) {
        const told = mark.dataset.bars.split("|");
        known.set(mark, [...mark.getAttribute("d").matchAll(/M(\d+) (\d+)h(\d+)/g)].map((match, place) => {
          const [start, lane, length] = match.slice(1).map(Number);
          const [number, is] = told[place].split("@"), [since, span] = is ? is.split("+").map(Number) : [start, length];
          return { start, lane, end: start + length, number, since, until: since + span };
        }));
      }
      return known.get(mark);
    };
    const tellBar = (mark, time, lane) => {
      const bar = barsOf(mark).findLast((bar) => bar.lane === lane && bar.start <= time && time <= bar.end);
      if (!bar) return textOf(mark);
      const what = textOf(mark).replace(/( \([^()]*\))?$/, ` ${bar.number}$1`);
      return `${what}\n${names[lane]}\n${exact(secondsOf(bar.since))} to ${exact(secondsOf(bar.until))}, ${mark.dataset.fate}`;
    };
    plots.set(plot, (event) => {
      const mark = event.target.closest(".bars"), [time, lane] = spot(event);
      if (!mark) return "";
      const isThere = 0 <= time && time < whole && names[lane] !== undefined;
      return !isThere ? textOf(mark) : (cells ? tellCell : tellBar)(mark, time, lane);
    });

    const axis = figure.querySelector("g.x"), own = shape("g", { class: "c-soft" }), chosen = shape("rect", { class: "chosen", y: top, height: high });
    axis.after(own);
    const row = make("div", "zoom", "");
    const button = (text, label, act) => {
      const one = make("button", "", text);
      one.setAttribute("aria-label", label);
      one.title = label;
      one.addEventListener("click", act);
      row.append(one);
      return one;
    };
    const show = (start, span) => {
      width = Math.min(Math.max(span, Math.min(whole, perSecond / 20)), whole);
      from = Math.min(Math.max(start, 0), whole - width);
      plot.setAttribute("viewBox", `${from} 0 ${width} ${lanes}`);
      const isWhole = width === whole, seconds = width / perSecond;
      axis.style.display = isWhole ? "" : "none";
      for (const one of [out, back, on, all]) one.disabled = isWhole;
      own.replaceChildren();
      const fine = STEPS.findLast((step) => step <= seconds / 100) || STEPS[0];
      const part = [from, from + width].map((edge) => clock(secondsOf(edge), fine));
      said.textContent = isWhole ? "or drag over the chart" : part.join(" to ");
      if (isWhole) return;
      const step = STEPS.find((step) => seconds / 5 <= step) || STEPS.at(-1), bottom = top + high;
      let lines = "", marks = `M${left} ${bottom}h${wide}`;
      for (let tick = Math.ceil(secondsOf(from) / step); tick * step <= secondsOf(from + width); tick++) {
        const x = left + (tick * step - secondsOf(from)) / seconds * wide;
        lines += `M${x} ${top}v${high}`;
        marks += `M${x} ${bottom}v6`;
        own.append(shape("text", { "text-anchor": "middle", x, y: bottom + 25 }, clock(tick * step, step)));
      }
      own.prepend(shape("path", { class: "thin c-grid", d: lines }), shape("path", { class: "thin", d: marks }));
    };
    const around = (factor) => show(from + width * (1 - factor) / 2, width * factor);
    button("+", "Zoom in", () => around(.5));
    const out = button("−", "Zoom out", () => around(2));
    const back = button("←", "Earlier", () => show(from - width / 2, width));
    const on = button("→", "Later", () => show(from + width / 2, width));
    const all = button("Whole", "The whole time", () => show(0, whole));
    const said = make("span", "", "");
    row.append(said);
    figure.append(row);
    show(0, whole);

    let began = null;
    plot.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      event.preventDefault();
      began = spot(event)[0];
      plot.setPointerCapture(event.pointerId);
    });
    const range = (event) => [began, spot(event)[0]].map((time) => Math.min(Math.max(time, from), from + width)).sort((a, b) => a - b);
    plot.addEventListener("pointermove", (event) => {
      if (began === null) return;
      const [start, end] = range(event), x = (time) => left + (time - from) / width * wide;
      chosen.setAttribute("x", x(start));
      chosen.setAttribute("width", x(end) - x(start));
      plot.after(chosen);
    });
    plot.addEventListener("pointerup", (event) => {
      if (began === null) return;
      const [start, end] = range(event);
      began = null;
      chosen.remove();
      // A click is no choice.
      if (width / 100 < end - start) show(start, end - start);
    });
    plot.addEventListener("dblclick", () => show(0, whole));
  }

  const place = (x, y) => {
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(x - width / 2, 6), innerWidth - width - 6);
    const above = y - height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 6 ? y + 18 : above}px`;
  };
  const tell = (event) => {
    const plot = event.target instanceof Element && event.target.closest("svg.time");
    const text = plot ? plots.get(plot)(event) : markOf(event.target);
    tip.hidden = !text;
    tip.textContent = text;
    if (text) place(event.clientX, event.clientY);
  };
  document.addEventListener("pointerover", tell);
  document.addEventListener("pointermove", (event) => {
    if (event.target instanceof Element && event.target.closest("svg.time")) tell(event);
    else if (!tip.hidden) place(event.clientX, event.clientY);
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
})();
