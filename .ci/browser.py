"""A headless Chromium that opens pages and answers questions about them.

Selenium with Debian's Chromium and its driver: playwright would bring a Node.js along.
"""

import shutil
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException as BrowserError
from selenium.webdriver.chrome.service import Service

__all__ = ["BrowserError", "chromium", "missing", "prefer", "visit"]

PROGRAMS = ("chromium", "chromedriver")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
         "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
         "--hide-scrollbars")
PATIENCE = 30  # seconds that a page may take
# What scripts do on loading they do in frames: two later the page is at rest.
REST = """requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 50)))"""


def missing() -> str:
    """What there is none of here and how to get it; empty where all is here."""
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    return f"no {' and no '.join(lacking)} here: .ci/setup test" if lacking else ""


def chromium(width: int, height: int) -> webdriver.Chrome:
    """One tab, as wide and as high as it is told, to be used in a `with` statement."""
    if missing():
        raise BrowserError(missing())
    program, driver = map(shutil.which, PROGRAMS)
    options = webdriver.ChromeOptions()
    options.binary_location = str(program)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in FLAGS:
        options.add_argument(flag)
    tab = webdriver.Chrome(options, Service(driver))
    tab.set_page_load_timeout(PATIENCE)
    tab.set_script_timeout(PATIENCE)
    tab.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    return tab


def prefer(tab: webdriver.Chrome, scheme: str) -> None:
    """Makes pages "light" or "dark"."""
    tab.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def visit(tab: webdriver.Chrome, address: str) -> list[str]:
    """Opens a page, waits until it is complete, and says what its console complains of."""
    tab.get_log("browser")  # what an earlier page said late is none of this one
    tab.get(address)
    tab.execute_async_script(REST)
    said: list[dict[str, Any]] = tab.get_log("browser")
    return [entry["message"] for entry in said if entry["level"] == "SEVERE"]
