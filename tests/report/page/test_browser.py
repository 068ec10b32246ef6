"""The page in a real browser: every section is there, it sorts and filters, nothing is fetched."""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constraintrot.report.page.html import html
from tests.report.page.test_page import SECTIONS, full

pytest.importorskip("selenium")

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

pytestmark = pytest.mark.early

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--window-size=1280,800", "--hide-scrollbars", "--disable-background-networking",
)  # fmt: skip


@pytest.fixture(scope="module")
def chrome(pytestconfig: pytest.Config) -> Iterator[Chrome]:
    """A headless browser; without one the tests are skipped, aloud."""
    if CHROMIUM is None or DRIVER is None:
        why = "no chromium or chromedriver here: apt-get install chromium chromium-driver"
        capture: Any = pytestconfig.pluginmanager.get_plugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print(f"\nSKIPPED, the report was looked at by no browser: {why}")
        pytest.skip(why)
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


def shot(chrome: Chrome, path: Path, scheme: str = "light", of: WebElement | None = None) -> None:
    """Keep a picture of the page or a part, as an artefact under pytest's temporary folder."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    height = int(chrome.execute_script("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": 1280, "height": min(height, 12_000), "scale": 0.6}
    if of is not None:
        rect = of.rect
        clip |= {"y": rect["y"], "height": min(rect["height"], 3_000), "scale": 1}
    taken = chrome.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    path.write_bytes(base64.b64decode(taken["data"]))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that holds something of everything."""
    path = tmp_path_factory.mktemp("full") / "report.html"
    path.write_text(html(full()), encoding="utf-8")
    return path


@pytest.fixture
def opened(chrome: Chrome, written: Path) -> Chrome:
    """The browser at that page, as it is when it was just loaded."""
    chrome.get(written.as_uri())
    return chrome


def test_the_answer_is_within_one_screen(opened: Chrome, tmp_path: Path) -> None:
    opened.save_screenshot(str(tmp_path / "first-screen.png"))
    answers = opened.find_elements(By.CSS_SELECTOR, ".answer")
    assert len(answers) == 6
    for answer in answers:
        assert answer.rect["y"] + answer.rect["height"] < 800
    assert opened.find_element(By.CSS_SELECTOR, "#answer svg").is_displayed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1300, 900), (400, 850)])
def test_the_committed_report_answers_for_each_model_within_one_screen(
    chrome: Chrome, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        chrome.get((ROOT / "results/report/report.html").as_uri())
        chrome.save_screenshot(str(tmp_path / f"committed-{width}-{scheme}.png"))
        models = [
            model.find_elements(By.CSS_SELECTOR, ".answer")
            for model in chrome.find_elements(By.CSS_SELECTOR, ".model")
        ]
        said = [[one.text for one in answers] for answers in models]
        ends = [one.rect["y"] + one.rect["height"] for answers in models for one in answers]
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert chrome.execute_script(wide) <= 0
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(models) == 3
    for answers in said:
        assert [one.split("?")[0] for one in answers] == [
            "Does compaction break the policies", "Does the pin hold", "How sure are we",
        ]  # fmt: skip
    assert max(ends) <= height


@pytest.mark.soak
def test_every_section_is_shown_and_reached_from_the_list(opened: Chrome, tmp_path: Path) -> None:
    for scheme in ("light", "dark"):
        shot(opened, tmp_path / f"report-{scheme}.png", scheme)
    links = opened.find_elements(By.CSS_SELECTOR, "nav a")
    targets = [str(link.get_attribute("href")).rsplit("#", 1)[-1] for link in links]
    assert targets == [*SECTIONS, "others", "pairs", "episodes", "runs"]
    for name in targets:
        section = opened.find_element(By.ID, name)
        assert section.is_displayed()
        assert section.find_element(By.TAG_NAME, "h2").text
        assert section.rect["height"] > 40
        shot(opened, tmp_path / f"section-{name}.png", of=section)


def test_nothing_is_wider_than_the_page(opened: Chrome) -> None:
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    try:
        for width in (1280, 420):
            opened.set_window_size(width, 800)
            assert opened.execute_script(wide) <= 0
    finally:
        opened.set_window_size(1280, 800)


def test_a_rate_leads_to_its_episodes(opened: Chrome) -> None:
    rate = opened.find_element(By.CSS_SELECTOR, "#headline .rate")
    target = str(rate.get_attribute("href")).rsplit("#", 1)[-1]
    rate.click()
    listed = opened.find_element(By.ID, target)
    assert listed.is_displayed()
    listed.find_element(By.TAG_NAME, "a").click()
    episode = opened.find_element(By.CSS_SELECTOR, ".episode:target")
    opened.execute_script("return new Promise(requestAnimationFrame)")
    assert "Played under" in episode.text


def test_a_table_is_sorted_and_filtered(opened: Chrome) -> None:
    table = "#headline table.sorts"
    column = "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].filter(r => !r.hidden).map(r => r.cells[1].dataset.value ?? '')"
    head = opened.find_elements(By.CSS_SELECTOR, f"{table} thead th")[1]
    head.find_element(By.TAG_NAME, "button").click()
    up = [float(value) for value in opened.execute_script(column, table) if value]
    assert up == sorted(up)
    assert head.get_attribute("aria-sort") == "ascending"
    head.find_element(By.TAG_NAME, "button").click()
    down = [float(value) for value in opened.execute_script(column, table) if value]
    assert down == up[::-1] != up
    box = opened.find_element(By.CSS_SELECTOR, "#episodes .filter input")
    box.send_keys("defense_pin violated soft_email")
    episodes = opened.find_elements(By.CSS_SELECTOR, ".episode")
    shown = [one.text for one in episodes if one.is_displayed()]
    assert 0 < len(shown) < len(episodes)
    assert all("defense_pin" in one and "violated" in one for one in shown)


def test_a_link_opens_what_it_leads_to_also_within_closed_parts(opened: Chrome) -> None:
    name = opened.find_element(By.CSS_SELECTOR, ".pair").get_attribute("id")
    opened.execute_script(f"location.hash = '{name}'")
    pair = opened.find_element(By.ID, str(name))
    opened.execute_script("return new Promise(requestAnimationFrame)")
    assert pair.find_element(By.CSS_SELECTOR, ".two").is_displayed()


def test_it_is_used_by_keyboard(opened: Chrome) -> None:
    body = opened.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    first = opened.switch_to.active_element
    assert first.get_attribute("class") == "skip"
    first.send_keys(Keys.ENTER)
    assert opened.current_url.endswith("#headline")
    seen: set[str] = set()
    for _ in range(60):
        opened.switch_to.active_element.send_keys(Keys.TAB)
        seen.add(str(opened.switch_to.active_element.get_attribute("class")))
    assert {"scroll", "rate"} <= seen


def test_dark_is_dark_and_drawings_follow(opened: Chrome) -> None:
    ink = "return getComputedStyle(document.querySelector('#answer svg text')).fill"
    back = "return getComputedStyle(document.body).backgroundColor"
    found: list[tuple[str, str]] = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        found.append((str(opened.execute_script(ink)), str(opened.execute_script(back))))
    assert found[0] == ("rgb(28, 31, 38)", "rgb(255, 255, 255)")
    assert found[1] == ("rgb(232, 234, 238)", "rgb(21, 24, 29)")


def test_a_hostile_transcript_does_nothing(
    chrome: Chrome, hostile_report: Path, tmp_path: Path
) -> None:
    chrome.get((hostile_report / "report.html").as_uri())
    shot(chrome, tmp_path / "hostile.png")
    assert chrome.title == "ConstraintRot report"
    assert not chrome.find_elements(By.CSS_SELECTOR, "img, iframe, object")
    assert len(chrome.find_elements(By.TAG_NAME, "script")) == 1
    assert chrome.find_element(By.ID, "episodes").is_displayed()
    assert not chrome.get_log("browser")  # type: ignore[no-untyped-call]
    fetched = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    assert chrome.execute_script(fetched) == []
