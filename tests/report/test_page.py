"""The report page in a browser: its script, and its look on a phone, on paper and in the dark."""

from __future__ import annotations

import io
import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ddr_cli.papers.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the path")

RESULTS = Path(__file__).parents[2] / "results"
HOSTILE = "</script><img src=x onerror=console.error(1)>"
CCDR = {
    "name": "ccdr",
    "mode": "transductive",
    "params": {"n_components": 14, "n_neighbors": 4, "beta": 0.5},
}
PLANES = [{"name": name, "params": {"n_components": 2}} for name in ("lda", "lfda")]


def _kept(reducer):
    points = np.random.default_rng(len(reducer)).normal(size=(40, 2))
    return {
        "reducer": reducer,
        "mode": "out_of_sample",
        "params": {"n_components": 2},
        "split": "resample-0",
        "split_hash": "0",
        "n_components": 2,
        "classes": ["one", HOSTILE],
        "y": [0, 1] * 20,
        "part": ["train"] * 30 + ["test"] * 10,
        "subclass_names": None,
        "subclasses": None,
        "coordinates": points.round(4).tolist(),
        "prototypes": None,
    }


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, make_spec, write_results):
    """Return the page of a paper's curve, a paper's table and a run with embeddings."""
    results = tmp_path_factory.mktemp("page") / "results"
    classifiers = [{"name": "knn", "params": {"n_neighbors": 3}}, {"name": "linear"}]
    beta = make_spec(
        "landsat_ccdr_beta",
        reducers=[CCDR],
        classifiers=classifiers,
        sweep={"reducer.beta": [0.01, 0.1, 0.5, 1.0, 10.0]},
        repeats=3,
        log=True,
        paper={"name": "ccdr", "artefact": "fig2"},
        title=HOSTILE,
    )
    # The curves differ, so that a pointer is on one of them.
    levels = {"knn": 0.09, "linear": 0.11}
    write_results(results, beta, lambda trial: levels[trial.classifier] + (trial.index or 0) / 1000)
    dots = make_spec(
        "landsat_ccdr", reducers=[{"name": "none"}, CCDR], classifiers=classifiers, repeats=3
    )
    write_results(results, dots, lambda trial: 0.2 if trial.classifier == "linear" else 0.09)
    mine = make_spec("mine", reducers=PLANES, repeats=3, predefined=False, title="My own")
    folder = write_results(
        results, mine, lambda trial: {"lda": 0.1, "lfda": 0.05}[trial.reducer] + trial.index / 100
    )
    (folder / "embeddings").mkdir()
    for item in PLANES:
        text = json.dumps(_kept(str(item["name"])))
        (folder / "embeddings" / f"{item['name']}.json").write_text(text, encoding="utf-8")
    page = write_report(results).page
    assert page is not None
    return page


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        # Chromium only runs as root without its sandbox, and some test machines run as root.
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def tabs(browser, page_file):
    """Return a function that opens the page once per set of options, and the list of messages."""
    said: list[str] = []

    @cache
    def tab(width=1280, **options):
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request", lambda r: said.append(r.url) if r.url[:5] not in ("file:", "data:") else 0
        )
        page.goto(page_file.as_uri())
        return page

    return tab, said


@pytest.fixture
def opened(tabs):
    """Return a function that opens the page; at the end, the console must be empty."""
    tab, said = tabs
    said.clear()
    yield tab
    assert said == []


def test_a_column_is_sorted_up_and_down_by_number(opened):
    page = opened()
    table = page.locator("#run-mine table.sortable").last
    table.locator("xpath=ancestor::details").locator("summary").click()
    column = table.locator("thead th").all_inner_texts().index("mean") + 1
    cells = f"tbody tr td:nth-child({column})"

    def values():
        return [float(text.split()[0]) for text in table.locator(cells).all_inner_texts()]

    before = values()
    head = table.locator(f"thead th:nth-child({column})")
    head.locator("button").click()
    assert (values(), head.get_attribute("aria-sort")) == (sorted(before), "ascending")
    head.locator("button").click()
    assert (values(), head.get_attribute("aria-sort")) == (sorted(before)[::-1], "descending")
    assert len(set(before)) > 1


def test_the_filter_shows_what_was_asked_for(opened):
    page = opened()
    items = page.locator(".item:visible")
    everything = items.count()
    page.select_option("#filter [name=verdict]", "holds")
    some = items.count()
    assert 0 < some < everything
    assert page.locator("#filter output").inner_text().startswith(f"{some} of ")
    assert all("holds" in each.get_attribute("data-verdict") for each in items.all())
    page.fill("#filter [name=text]", "no such words anywhere")
    assert items.count() == 0
    page.click("#filter button[type=reset]")
    playwright.expect(items).to_have_count(everything)


def test_every_link_leads_somewhere_and_opens_it(opened, page_file):
    page = opened()
    links = set(page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))"))
    ids = set(page.eval_on_selector_all("[id]", "all => all.map(e => e.id)"))
    assert {link[1:] for link in links if link[0] == "#"} <= ids
    assert all((page_file.parent / link).exists() for link in links if link[0] != "#")
    claim = page.locator(".claim").last
    name = claim.get_attribute("id")
    assert not claim.locator(".inside").is_visible()
    page.evaluate(f"location.hash = '{name}'")
    playwright.expect(claim.locator(".inside")).to_be_visible()


def test_points_are_linked_across_planes(opened):
    page = opened()
    page.click("summary:has-text('2 linked scatter plots')")
    first, second = page.locator(".planes canvas").all()
    shot = second.screenshot()
    box = first.bounding_box()
    first.hover(position={"x": 4, "y": 4})
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    page.mouse.up()
    assert "40 samples: 20 one, 20 </script>" in page.locator("#run-mine").inner_text()
    page.get_by_role("button", name="one", exact=True).click()
    assert second.screenshot() != shot


def test_a_hostile_title_stays_text(opened):
    page = opened()
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator("#ccdr-fig2 .chart title").first.text_content()


def test_on_a_phone_everything_fits_or_scrolls_with_a_hint(opened):
    page = opened(390)
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    frames = page.eval_on_selector_all(
        ".wide",
        """all => all.map(each => [each.scrollWidth - each.clientWidth,
            getComputedStyle(each.nextElementSibling).display, each.tabIndex])""",
    )
    assert frames
    assert any(over > 2 for over, _, _ in frames)
    assert all(over <= 2 or (hint == "block" and at == 0) for over, hint, at in frames)
    assert page.eval_on_selector_all("table", "all => all.every(t => t.closest('.wide'))")


def test_on_paper_nothing_is_folded_or_cut(opened):
    page = opened(900, java_script_enabled=False)
    page.emulate_media(media="print")
    hidden = page.eval_on_selector_all(
        "details > :not(summary)",
        "all => all.filter(each => !each.checkVisibility({contentVisibilityAuto: true})).length",
    )
    assert hidden == 0
    assert page.eval_on_selector_all(
        ".wide", "all => all.every(each => getComputedStyle(each).overflowX === 'visible')"
    )
    assert not page.locator("nav").is_visible()


def test_without_a_script_the_page_is_read_as_it_is(opened):
    page = opened(java_script_enabled=False)
    assert not page.locator("#filter").is_visible()
    page.locator(".claim summary").first.click()
    assert page.locator(".claim .inside").first.is_visible()


def test_a_dark_page_has_no_white_slab(opened):
    page = opened(color_scheme="dark")
    for place in ("#ccdr-fig2 .chart", "#ccdr-headline table", "#run-mine .chart", "#overview"):
        with Image.open(io.BytesIO(page.locator(place).first.screenshot())) as picture:
            light = np.asarray(picture.convert("L"))
        assert (light > 200).mean() < 0.15, place
        assert np.median(light) < 60, place


def test_nothing_keeps_a_reader_out(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened()
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        options = {"resultTypes": ["violations"], **rules}
        found = axe.Axe().run(page, options=options).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert not serious, [(each["id"], each["nodes"][0]["html"][:200]) for each in serious]


def test_the_script_is_small(page_file):
    assert len(page_file.read_text(encoding="utf-8").rpartition("<script>")[2]) < 30_000
