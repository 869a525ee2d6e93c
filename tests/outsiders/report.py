"""Opens a report in a browser: nothing fails, charts are seen, tables sort, no width overflows."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = [390, 800, 1400]
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

# Returns the values by which the cells of a table's column are sorted; null if unknown.
COLUMN = """([table, column]) => [...document.querySelectorAll("table")[table].tBodies[0].rows]
    .map((row) => row.cells[column])
    .map((cell) => cell.classList.contains("n")
        ? ("value" in cell.dataset ? Number(cell.dataset.value) : null) : cell.textContent)"""


# The heights of the texts in all charts on the screen: the font size times the scale.
SIZES = """() => [...document.querySelectorAll("figure svg.mk text:not(.name):not(.beneath)")]
    .filter((text) => text.getClientRects().length)
    .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)"""

# The names in the legends that stand for a colour, each with its colour.
KEYS = """() => [...document.querySelectorAll(
        "[id^=slots] g[transform], #attempts g[transform], #sojourn g[transform]")]
    .map((key) => [key.querySelector(":scope > text"),
        key.querySelector("[class*='c-']:not(text)") ])
    .filter(([text, sign]) => text && sign && !sign.matches(".dash, .least, .c-soft, .c-ink, .c-grid"))
    .map(([text, sign]) => [text.textContent, sign.className.baseVal.match(/c-[0-9]/)[0]])"""

# The position of a plot on the screen; `place` is the number of the plot.
AREA = """(place) => {
    const plot = document.querySelectorAll("svg.time")[place];
    const box = plot.querySelector("rect").getBoundingClientRect();
    return {x: box.x, y: box.y, width: box.width, height: box.height};
}"""

# The middle of a plot's widest mark.
INSIDE = """(place) => {
    const plot = document.querySelectorAll("svg.time")[place];
    const area = plot.querySelector("rect").getBoundingClientRect(), box = plot.viewBox.baseVal;
    let best = [0, 0, 0];
    for (const path of plot.querySelectorAll(".bars")) {
        for (const [, from, lane, length] of path.getAttribute("d").matchAll(/M(\d+) (\d+)h(\d+)/g)) {
            if (best[2] < Number(length)) best = [Number(from), Number(lane), Number(length)];
        }
    }
    return [area.x + (best[0] + best[2] / 2) / box.width * area.width,
        area.y + (best[1] + .44) / box.height * area.height];
}"""

HIDDEN = """() => [...document.querySelectorAll("tbody tr")]
    .filter((row) => getComputedStyle(row).display === "none").length"""

CUT = """() => [...document.querySelectorAll("table, figure svg.mk")]
    .filter((one) => innerWidth + 1 < one.getBoundingClientRect().right)
    .map((one) => one.id || one.textContent.slice(0, 40))"""


def check(path, screenshots):
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise ImportError("no Chromium is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        sizes = set()
        for scheme in ["light", "dark"]:
            for width in WIDTHS:
                sizes |= look(browser, path, width, scheme, screenshots)
        # Charts are drawn twice, for wide screens and for narrow ones, and fill the width of these.
        assert all(11.5 <= size <= 16 for size in sizes), f"the text of charts cannot be read: {sizes}"
        yield f"the text of all charts is {sizes.pop()} pixels high at all widths"
        yield f"no error and no overflow at {', '.join(map(str, WIDTHS))} pixels, light and dark"
        page = open_page(browser, path, 1280, "light")
        yield f"{charts(page)} charts are seen"
        yield f"{tips(page)} values are shown under the pointer"
        yield f"{colours(page)} names have one colour each on the whole page"
        yield from zoom(page)
        yield f"{sort(page)} columns sort"
        page.close()
        yield without_script(browser, path)
        yield printed(browser, path)
        if screenshots:
            page = open_page(browser, path, 1280, "light")
            page.pdf(path=screenshots / "print.pdf", prefer_css_page_size=True)
        browser.close()


def open_page(browser, path, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.complaints = []
    note = lambda text: page.complaints.append(text)
    page.on("console", lambda message: note(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: note(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or note(request.url))
    page.goto(Path(path).resolve().as_uri())
    return page


def look(browser, path, width, scheme, screenshots):
    page = open_page(browser, path, width, scheme)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{wide} pixels wide on a screen of {width}"
    page.get_by_role("button", name="Light" if scheme == "dark" else "Dark").click()
    assert not page.complaints, f"at {width} pixels: {page.complaints}"
    page.get_by_role("button", name=scheme.capitalize()).click()
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=screenshots / f"{width}-{scheme}.png", full_page=True)
    sizes = {round(size, 2) for size in page.evaluate(SIZES)}
    page.close()
    return sizes


def charts(page):
    boxes = [chart.bounding_box() for chart in page.locator("figure svg:visible").all()]
    for box in boxes:
        assert box and 100 < box["width"] and 50 < box["height"], f"a chart of {box}"
    return len(boxes)


def tips(page):
    """Points at the first mark of each chart that has a title, and reads what is shown."""
    shown = 0
    for chart in page.locator("figure svg:visible").all():
        mark = chart.locator("xpath=.//*[local-name()='title'][not(parent::*[local-name()='svg'])]/..")
        if mark.count():
            text = mark.first.locator("title").text_content()
            # Do not use the mouse: another mark may be in its way.
            mark.first.dispatch_event("pointerover", {"clientX": 200, "clientY": 200})
            assert page.locator(".tip").text_content() == text, f"not shown: {text}"
            shown += 1
    return shown


def colours(page):
    """Returns how many names the legends of pools, users, jobs and classes have."""
    seen = {}
    for name, colour in page.evaluate(KEYS):
        assert seen.setdefault(name, colour) == colour, f"{name} is {seen[name]} and {colour}"
    return len(seen)


def zoom(page):
    """Points at a bar, zooms in with the mouse and the buttons, and shows the whole plot again."""
    plots = page.locator("svg.time")
    for place in range(plots.count()):
        plot = plots.nth(place)
        marks = plot.locator(".bars")
        if not marks.count():
            continue
        plot.scroll_into_view_if_needed()
        area = page.evaluate(AREA, place)
        whole = plot.get_attribute("viewBox")
        x, y = page.evaluate(INSIDE, place)
        page.mouse.move(x, y)
        told = page.locator(".tip").text_content()
        assert " to " in told and "\n" in told, f"a bar tells {told!r}"
        middle = area["y"] + area["height"] / 2
        page.mouse.move(area["x"] + area["width"] * 0.25, middle)
        page.mouse.down()
        page.mouse.move(area["x"] + area["width"] * 0.5, middle, steps=3)
        page.mouse.up()
        part = float(plot.get_attribute("viewBox").split()[2]) / float(whole.split()[2])
        assert 0.2 < part < 0.3, f"a quarter was chosen, {part} is shown"
        buttons = plot.locator("xpath=ancestor::figure").get_by_role("button")
        buttons.filter(has_text="+").first.click()
        closer = float(plot.get_attribute("viewBox").split()[2]) / float(whole.split()[2])
        assert closer < part, f"{closer} is shown after {part}"
        buttons.filter(has_text="Whole").click()
        assert plot.get_attribute("viewBox") == whole, "the whole plot is not shown again"
        assert not page.complaints, page.complaints
        yield f"a bar tells: {told.splitlines()[0]}; the time can be zoomed"


def sort(page):
    columns = 0
    for table, element in enumerate(page.locator("table").all()):
        for column, heading in enumerate(element.locator("thead th").all()):
            for _ in range(2):
                heading.get_by_role("button").click()
                order = heading.get_attribute("aria-sort")
                check_order(page.evaluate(COLUMN, [table, column]), order)
            columns += 1
        shorter(element)
    assert not page.complaints, page.complaints
    return columns


def check_order(cells, order):
    """Asserts the order of numbers. The browser decides the order of texts."""
    known = [cell for cell in cells if cell is not None]
    assert cells[: len(known)] == known, "an unknown number comes before a known number"
    if known and isinstance(known[0], (int, float)):
        assert known == sorted(known, reverse=order == "descending"), f"{order}: {known[:9]}"


def shorter(table):
    """Shows all rows of a shortened table, and sorts the table with the keyboard."""
    more = table.locator("xpath=ancestor::*[@class='table']").get_by_role("button", name="Show all")
    if more.count():
        more.click()
        rows = table.locator("tbody tr")
        assert rows.last.is_visible(), "a row stays hidden"
    button = table.locator("thead [role=button]").first
    before = table.locator("thead th").first.get_attribute("aria-sort")
    button.focus()
    button.press("Enter")
    after = table.locator("thead th").first.get_attribute("aria-sort")
    assert before != after, "the keyboard does not sort"


def printed(browser, path):
    """Checks that in print every table has all its rows, and nothing scrolls."""
    page = open_page(browser, path, 800, "light")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 900})
    hidden = page.evaluate(HIDDEN)
    assert hidden == 0, f"{hidden} rows are not printed"
    wide = page.evaluate(CUT)
    assert not wide, f"wider than the paper: {wide}"
    page.close()
    return "on paper tables are whole and nothing is cut off"


def without_script(browser, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(Path(path).resolve().as_uri())
    rows = page.locator("tbody tr")
    assert rows.count() == 0 or rows.last.is_visible(), "without the script a row is hidden"
    for heading in page.locator("h1, h2").all():
        assert heading.is_visible(), "without the script a heading is hidden"
    context.close()
    return "all content is there without the script"
