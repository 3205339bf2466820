"""A headless Chromium that opens pages and answers questions about them.

It is driven by the DevTools protocol over two pipes, for which the standard library is enough.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAME = "chromium"
INSTALL = "apt install chromium"
PATIENCE = 30  # seconds that an answer may take
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
         "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
         "--hide-scrollbars", "--remote-debugging-pipe")


class BrowserError(Exception):
    """The browser did not do what it was asked for."""


def program() -> str | None:
    """The Chromium that is here."""
    return shutil.which(NAME)


class Browser:
    """One tab of a headless Chromium, as wide and as high as it is told."""

    def __init__(self, width: int, height: int) -> None:
        path = program()
        if path is None:
            raise BrowserError(f"no {NAME} here: {INSTALL}")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        questions, self._to = os.pipe()
        self._from, answers = os.pipe()
        # The browser reads from descriptor 3 and writes to 4, which may be in use here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (questions, answers)]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", path, *FLAGS,
             f"--user-data-dir={self._profile.name}", "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for end in (questions, answers, *ends):
            os.close(end)
        self._bytes = b""
        self._count = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        try:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.ask(f"{domain}.enable")
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._to)  # it ends when nobody asks any more
        os.close(self._from)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()

    def resize(self, width: int, height: int) -> None:
        """Makes the window as wide and as high as this."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """Makes pages "light" or "dark"."""
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address: str) -> list[str]:
        """Opens a page, waits until it is complete, and says what its console complains of."""
        self._events.clear()
        error = self.ask("Page.navigate", url=address).get("errorText")
        if error:
            raise BrowserError(f"{address}: {error}")
        deadline = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._message(deadline))
        # What scripts do on loading they do in frames: two later the page is at rest.
        self.evaluate("new Promise(done => requestAnimationFrame(() => "
                      "requestAnimationFrame(() => setTimeout(done, 50))))")
        return [text for event in self._events if (text := complaint(event))]

    def evaluate(self, script: str) -> Any:
        """What an expression is on the page, waited for if it is a promise."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def picture(self, file: Path) -> None:
        """Writes what the window shows as PNG."""
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(data))

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Sends a command of the protocol and waits for its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to, data):]
        except BrokenPipeError:
            raise BrowserError(f"{NAME} ended") from None
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._message(deadline)
            if "method" in answer:
                self._events.append(answer)
            elif answer.get("id") == self._count:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._bytes:
            if not select.select([self._from], [], [], max(0, deadline - time.monotonic()))[0]:
                raise BrowserError(f"{NAME} did not answer within {PATIENCE} s")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise BrowserError(f"{NAME} ended")
            self._bytes += data
        message, _, self._bytes = self._bytes.partition(b"\0")
        return json.loads(message)


def complaint(event: dict[str, Any]) -> str | None:
    """What an event of the protocol says of an error on the page, if it does."""
    said = event.get("params", {})
    if event["method"] == "Runtime.exceptionThrown":
        details = said["exceptionDetails"]
        return details.get("exception", {}).get("description", details["text"])
    if event["method"] == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"):
        return " ".join(str(word.get("value", word.get("description"))) for word in said["args"])
    if event["method"] == "Log.entryAdded" and said["entry"]["level"] == "error":
        return f"{said['entry']['text']} {said['entry'].get('url', '')}".strip()
    return None
