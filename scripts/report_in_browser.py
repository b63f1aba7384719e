"""Checks pages of `tidegate report` in headless Chromium.

Usage: report_in_browser.py FOLDER, which has the pages; the pictures and the PDFs go there too.

The browser may not print an error or ask for anything; every chart has a drawing; a drag enlarges a part of a
chart, keys do too, and a double click undoes it; at 1280 and at 400 pixels nothing is wider than the window; paper
shows whole charts.
"""

import base64
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDTHS = {1280: 900, 400: 800}
# The fewest charts of each page. A watch needs root, so its page may be missing.
PAGES = {"report": 31, "service": 2, "watch": 1}

# The drawings of each chart, and whether each lies within its chart.
DRAWINGS = """
return [...document.querySelectorAll(".chart")].map((chart) => {
  const box = chart.getBoundingClientRect();
  const paths = [...chart.querySelectorAll(".plot path")];
  return {
    title: chart.querySelector(".title").textContent,
    wide: box.width > 100 && box.height > 40,
    drawn: paths.some((path) => path.getTotalLength() > 0),
    ticks: chart.querySelectorAll(".ticks text").length,
  };
});
"""

# Tables that are wider than the page.
CUT = """
return [...document.querySelectorAll(".scroll")].filter((box) => box.querySelector("table") &&
    box.scrollWidth > box.clientWidth).map((box) => box.textContent.slice(0, 60));
"""

# Texts of one chart that cover each other, or leave their chart.
COLLISIONS = """
return [...document.querySelectorAll(".chart")].flatMap((chart) => {
  const whole = chart.getBoundingClientRect();
  const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const outside = boxes.filter(([, box]) => box.left < whole.left - 1 || box.right > whole.right + 1);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  const pairs = boxes.flatMap(([name, box], index) =>
    boxes.slice(index + 1).filter(([, other]) => meet(box, other)).map(([other]) => `${name} / ${other}`));
  return [...outside.map(([name]) => `outside: ${name}`), ...pairs];
});
"""


def browser() -> webdriver.Chrome:
    """Starts Chromium without a network."""
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--proxy-server=127.0.0.1:1"]:
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def resize(driver: webdriver.Chrome, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def photograph(driver: webdriver.Chrome, path: Path, whole: bool = True) -> None:
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
    path.write_bytes(base64.b64decode(shot["data"]))


def check_charts(driver: webdriver.Chrome, width: int, fewest: int) -> None:
    drawings = driver.execute_script(DRAWINGS)
    assert len(drawings) >= fewest, f"{len(drawings)} charts, not {fewest}"
    for drawing in drawings:
        assert drawing["wide"] and drawing["drawn"] and drawing["ticks"] > 1, drawing
    collisions = driver.execute_script(COLLISIONS)
    assert not collisions, f"at {width} pixels texts collide: {collisions[:8]}"
    # On a phone, tables scroll.
    cut = [] if width < max(WIDTHS) else driver.execute_script(CUT)
    assert not cut, f"at {width} pixels tables are cut: {cut}"
    overflow = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0, f"at {width} pixels the page is {overflow} pixels too wide"


def view(chart) -> str:
    return chart.find_element(By.CSS_SELECTOR, ".plot").get_dom_attribute("viewBox")


def labels(chart) -> list[str]:
    return [tick.get_attribute("textContent") for tick in chart.find_elements(By.CSS_SELECTOR, ".ticks text")]


def check_zoom(driver: webdriver.Chrome) -> None:
    chart = driver.find_element(By.CSS_SELECTOR, ".charts .chart")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    plot = chart.find_element(By.CSS_SELECTOR, ".plot")
    whole, ticks = view(chart), labels(chart)
    quarter = plot.size["width"] // 4
    drag = ActionChains(driver).move_to_element_with_offset(plot, -quarter, 0)
    drag.click_and_hold().move_by_offset(quarter, 0).release().perform()
    enlarged = view(chart)
    assert enlarged != whole and labels(chart) != ticks, "a drag enlarges a part"
    ActionChains(driver).double_click(chart).perform()
    assert (view(chart), labels(chart)) == (whole, ticks), "a double click shows the whole chart"
    chart.send_keys("+")
    assert view(chart) != whole, "+ enlarges"
    chart.send_keys(Keys.ARROW_RIGHT)
    chart.send_keys("0")
    assert view(chart) == whole, "0 shows the whole chart"
    # Paper has whole charts.
    chart.send_keys("+")
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert view(chart) == whole, "paper shows the whole chart"


def check_page(driver: webdriver.Chrome, page: Path, fewest: int) -> None:
    for width, height in WIDTHS.items():
        resize(driver, width, height)
        driver.get(f"file://{page}")
        check_charts(driver, width, fewest)
        photograph(driver, page.with_name(f"{page.stem}-{width}.png"))
        check_zoom(driver)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    photograph(driver, page.with_name(f"{page.stem}-dark.png"))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000, "a PDF"
    page.with_suffix(".pdf").write_bytes(pdf)
    said = driver.get_log("browser")
    assert not said, f"the console says {said}"
    asked = [entry for entry in driver.get_log("performance") if '"http' in entry["message"] and "requestWillBeSent" in entry["message"]]
    assert not asked, f"the page asks for {asked[0]}"


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    pages = [(folder / f"{name}.html", fewest) for name, fewest in PAGES.items()]
    pages = [(page, fewest) for page, fewest in pages if page.exists()]
    driver = browser()
    try:
        for page, fewest in pages:
            check_page(driver, page, fewest)
    finally:
        driver.quit()
    names = ", ".join(page.stem for page, _ in pages)
    print(f"test-browser: {names}: no errors, charts draw and enlarge at {' and '.join(map(str, WIDTHS))} pixels; see {folder}")


main()
