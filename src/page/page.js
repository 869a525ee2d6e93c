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
      const button = make("button", "", "");
      button.append(...heading.childNodes);
      heading.append(button);
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
  const place = (x, y) => {
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(x - width / 2, 6), innerWidth - width - 6);
    const above = y - height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 6 ? y + 18 : above}px`;
  };
  document.addEventListener("pointerover", (event) => {
    const text = markOf(event.target);
    tip.hidden = !text;
    tip.textContent = text;
    if (text) place(event.clientX, event.clientY);
  });
  document.addEventListener("pointermove", (event) => {
    if (!tip.hidden) place(event.clientX, event.clientY);
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
})();
