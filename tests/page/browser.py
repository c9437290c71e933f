"""Headless Chromium through chromedriver's own HTTP protocol: no package needed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}
KEYS |= {"Tab": "\ue004", "Home": "\ue011", "End": "\ue010", "Enter": "\ue007"}
PATIENCE = 20.0
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--no-first-run")  # fmt: skip


def missing() -> str:
    """What is not installed, or nothing."""
    return " and ".join(name for name in ("chromium", "chromedriver") if not shutil.which(name))


class Browser:
    """One browser window, moved and read by CSS selectors."""

    def __init__(self, server: str, session: str) -> None:
        self._base = f"{server}/session/{session}"

    def open(self, page: Path) -> None:
        """Load a file, and forget what was logged before."""
        self.logged("performance")
        self.logged("browser")
        self._post("url", {"url": page.as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script's `return`."""
        return self._post("execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A DevTools command."""
        return self._post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector: str) -> dict[str, str]:
        """The first element of a selector."""
        found: dict[str, str] = self._post("element", {"using": "css selector", "value": selector})
        return found

    def hover(self, selector: str) -> None:
        """Put the pointer on an element."""
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": self.find(selector)}
        self._actions({"type": "pointer", "id": "mouse", "actions": [move]})

    def leave(self) -> None:
        """Put the pointer where nothing is."""
        move = {"type": "pointerMove", "duration": 0, "x": 1, "y": 1}
        self._actions({"type": "pointer", "id": "mouse", "actions": [move]})

    def click(self, selector: str) -> None:
        """Click the first element of a selector."""
        self._post(f"element/{self.find(selector)[ELEMENT]}/click", {})

    def follow(self, selector: str, *keys: str) -> None:
        """Click a link to another place of the page, or press keys on it; the page has moved then.

        What listens to a changed address is called later, in the order in which it asked to be.
        """
        self.run("window.moved = new Promise(f => addEventListener('hashchange', f, {once: true}))")
        if keys:
            self.run("document.querySelector(arguments[0]).focus()", selector)
            self.press(*keys)
        else:
            self.click(selector)
        script = "const done = arguments[0]; window.moved.then(() => done())"
        self._post("execute/async", {"script": script, "args": []})

    def type(self, selector: str, text: str) -> None:
        """Write into a field."""
        self._post(f"element/{self.find(selector)[ELEMENT]}/value", {"text": text})

    def press(self, *names: str) -> None:
        """Press and release keys, where the focus is."""
        actions = [
            {"type": kind, "value": KEYS.get(name, name)}
            for name in names
            for kind in ("keyDown", "keyUp")
        ]
        self._actions({"type": "key", "id": "keyboard", "actions": actions})

    def logged(self, kind: str) -> list[dict[str, Any]]:
        """What was logged since the last call."""
        entries: list[dict[str, Any]] = self._post("se/log", {"type": kind})
        return entries

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        messages = (json.loads(entry["message"])["message"] for entry in self.logged("performance"))
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def labels(self) -> list[str]:
        """The names in the accessibility tree."""
        nodes = self.devtools("Accessibility.getFullAXTree")["nodes"]
        return [node["name"]["value"] for node in nodes
                if not node["ignored"] and "value" in node.get("name", {})]  # fmt: skip

    def screenshot(self, path: Path, width: int, *, dark: bool = False) -> None:
        """The whole page as a PNG."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.resize(width)
        height = self.run("return document.documentElement.scrollHeight")
        self.resize(width, height)
        path.write_bytes(b64decode(self.devtools("Page.captureScreenshot")["data"]))

    def resize(self, width: int, height: int = 900) -> None:
        """Lay the page out at this width."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)  # fmt: skip

    def close(self) -> None:
        """End the browser, and wait until it has."""
        _send(self._base, None, "DELETE")

    def _actions(self, source: dict[str, Any]) -> None:
        self._post("actions", {"actions": [source]})

    def _post(self, command: str, body: dict[str, Any]) -> Any:
        return _send(f"{self._base}/{command}", body)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A fresh browser with its own profile in `folder`."""
    driver = subprocess.Popen(
        ["chromedriver", "--port=0", f"--log-path={folder / 'driver.log'}"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        server = f"http://127.0.0.1:{_port(driver)}"
        options = {"args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]}
        capabilities = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }
        body = {"capabilities": {"alwaysMatch": capabilities}}
        window = Browser(server, _send(f"{server}/session", body)["sessionId"])
        try:
            yield window
        finally:
            window.close()
    finally:
        os.killpg(driver.pid, signal.SIGTERM)
        driver.wait(PATIENCE)
        assert driver.stdout is not None
        driver.stdout.close()


def _port(driver: subprocess.Popen[str]) -> int:
    assert driver.stdout is not None
    ends = time.monotonic() + PATIENCE
    for line in driver.stdout:
        if "started successfully on port" in line:
            return int(line.rstrip(". \n").rsplit(" ", 1)[1])
        assert time.monotonic() < ends, line
    raise AssertionError("chromedriver did not start")


def _send(url: str, body: dict[str, Any] | None, method: str = "POST") -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read().decode()[:800]) from None
