"""A report in a browser: nothing fails, charts are seen, tables sort, no width overflows."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = [360, 768, 1280]
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

# Returns the cells of a column of a table: what each is sorted by, and null for the unknown.
COLUMN = """([table, column]) => [...document.querySelectorAll("table")[table].tBodies[0].rows]
    .map((row) => row.cells[column])
    .map((cell) => cell.classList.contains("n")
        ? ("value" in cell.dataset ? Number(cell.dataset.value) : null) : cell.textContent)"""


def check(path, screenshots):
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise ImportError("no Chromium is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in ["light", "dark"]:
            for width in WIDTHS:
                look(browser, path, width, scheme, screenshots)
        yield f"no error and no overflow at {', '.join(map(str, WIDTHS))} pixels, light and dark"
        page = open_page(browser, path, 1280, "light")
        yield f"{charts(page)} charts are seen"
        yield f"{tips(page)} values are shown under the pointer"
        yield f"{sort(page)} columns sort"
        page.close()
        yield without_script(browser, path)
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
    page.close()


def charts(page):
    boxes = [chart.bounding_box() for chart in page.locator("figure svg").all()]
    for box in boxes:
        assert box and 100 < box["width"] and 50 < box["height"], f"a chart of {box}"
    return len(boxes)


def tips(page):
    """Points at the first mark of each chart that has a title, and reads what is shown."""
    shown = 0
    for chart in page.locator("figure svg").all():
        mark = chart.locator("xpath=.//*[local-name()='title'][not(parent::*[local-name()='svg'])]/..")
        if mark.count():
            text = mark.first.locator("title").text_content()
            # Not by the mouse, which another mark may be in the way of.
            mark.first.dispatch_event("pointerover", {"clientX": 200, "clientY": 200})
            assert page.locator(".tip").text_content() == text, f"not shown: {text}"
            shown += 1
    return shown


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
    """Asserts the order of numbers; that of texts is the browser's affair."""
    known = [cell for cell in cells if cell is not None]
    assert cells[: len(known)] == known, "an unknown number stands before a known one"
    if known and isinstance(known[0], (int, float)):
        assert known == sorted(known, reverse=order == "descending"), f"{order}: {known[:9]}"


def shorter(table):
    """Shows all rows of a table that is shortened, and sorts by the keyboard."""
    more = table.locator("xpath=ancestor::*[@class='table']").get_by_role("button", name="Show all")
    if more.count():
        more.click()
        rows = table.locator("tbody tr")
        assert rows.last.is_visible(), "a row stays hidden"
    button = table.locator("thead button").first
    before = table.locator("thead th").first.get_attribute("aria-sort")
    button.focus()
    button.press("Enter")
    after = table.locator("thead th").first.get_attribute("aria-sort")
    assert before != after, "the keyboard does not sort"


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
