"""The Python client of Jobcast: one file, the standard library only, Python 3.9 or newer.

    from jobcast import Jobcast

    jobcast = Jobcast()  # JOBCAST_URL and JOBCAST_API_KEY
    run = jobcast.trigger("restart", device_ids=["kiosk-1"]).wait(timeout=600)
    print(run["counts"]["SUCCEEDED"], "of", run["total"])

Every operation of the HTTP API is a method: getDevice of the OpenAPI document is `jobcast.get_device(device_id)`.
Arguments have Python names; what is inside of them, and what you get back, are dicts with the names of the
API: `device["deviceName"]`. A list gives all its items in a `for` loop, and fetches them page by page.

A call that is safe to repeat is repeated when the service is busy or cannot be reached. An error of the
service is a JobcastError with a `code`; no answer is a NoAnswer. Threads can share a client.
"""
# Written by `npm run generate` from docs/openapi.json; do not edit.

from __future__ import annotations

import base64
import email.utils
import errno
import hashlib
import http.client
import json
import os
import random
import re
import secrets
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

T = TypeVar("T")

OMIT: Any = type("Omit", (), {"__repr__": lambda self: "OMIT"})()
"""The default of arguments where None has a meaning of its own: null in the body."""

# <types>


class JobcastClientError(Exception):
    """All errors of this client."""


class JobcastError(JobcastClientError):
    """The service rejected the call; `code` says why, see docs/errors.md. `problem` is the body of the response."""

    def __init__(self, status: int, problem: Dict[str, Any], retry_after: Optional[float] = None):
        self.status = status
        self.code: str = problem["code"]
        self.message: str = problem.get("title") or problem.get("message") or f"error {self.code}"
        self.detail: Optional[str] = problem.get("detail")
        self.field: Optional[str] = problem.get("field")
        self.device_ids: Optional[List[str]] = problem.get("deviceIds")
        self.request_id: Optional[str] = problem.get("requestId")
        self.retry_after = retry_after
        self.problem = problem
        super().__init__(f"{self.code}: {self.detail or self.message}")


class UnexpectedAnswer(JobcastClientError):
    """The answer is not from Jobcast, but from a proxy or another service at this address."""

    def __init__(self, message: str, status: int, retry_after: Optional[float] = None):
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class NoAnswer(JobcastClientError, ConnectionError):
    """No answer, or an incomplete one. `__cause__` is the error of the connection."""

    was_sent = True


class WaitTimeout(JobcastClientError, TimeoutError):
    """The run had not finished within the time limit; it continues. `run` is the run as last read."""

    def __init__(self, run: Run, timeout: float):
        super().__init__(f"run {run.run_id} had not finished after {timeout:g} s")
        self.run = run


class Page(NamedTuple):
    """One page of a list; `next_cursor` is None on the last."""

    items: List[Any]
    next_cursor: Optional[str]


class Listing(Generic[T]):
    """A list: all items in a `for` loop, fetched page by page, or one `page()`."""

    def __init__(self, fetch: Callable[[Optional[str]], Page], cursor: Optional[str]):
        self._fetch = fetch
        self._cursor = cursor

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page.items
        while page.next_cursor is not None:
            page = self._fetch(page.next_cursor)
            yield from page.items

    def page(self) -> Page:
        """The page at `cursor`, by default the first."""
        return self._fetch(self._cursor)


class Content:
    """A response that is not JSON: loop over its bytes as they arrive, or read them whole."""

    def __init__(self, response: http.client.HTTPResponse, what: str):
        self._response = response
        self._what = what
        self.headers: Mapping[str, str] = response.headers

    def __iter__(self) -> Iterator[bytes]:
        missing = int(self.headers.get("Content-Length", 0))
        with self:
            while True:
                with _connection_errors(self._what):
                    piece = self._response.read1(65536)
                    if not piece and missing > 0:
                        raise ConnectionError("the connection was cut")
                if not piece:
                    return
                missing -= len(piece)
                yield piece

    def read(self) -> bytes:
        return b"".join(self)

    def text(self) -> str:
        return self.read().decode("utf-8", "replace")

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Run(Dict[str, Any]):
    """All executions of one trigger: a dict with the fields of the API, and methods for what follows."""

    def __init__(self, jobcast: Jobcast, fields: Mapping[str, Any]):
        super().__init__(fields)
        self._jobcast = jobcast

    @property
    def run_id(self) -> int:
        return self["runId"]

    def wait(
        self, timeout: Optional[float] = None, on_progress: Optional[Callable[[Run], object]] = None
    ) -> Run:
        """Waits until it has finished, however its executions ended, and returns it; needs the scope READ.

        Raises WaitTimeout after `timeout` seconds. `on_progress` is called with the run at the start, and
        whenever its counts or its rollout have changed.
        """
        return self._replace(self._jobcast.wait_for_run(self.run_id, timeout, on_progress))

    def refresh(self) -> Run:
        """Reads it again."""
        return self._replace(self._jobcast.get_run(self.run_id))

    def cancel(self, *, force: Optional[bool] = None) -> Run:
        """Cancels its unfinished executions; with `force` without waiting for devices to confirm."""
        return self._replace(self._jobcast.cancel_run(self.run_id, force=force))

    def executions(
        self, *, exec_state: Union[None, ExecState, Iterable[ExecState]] = None
    ) -> Listing[Execution]:
        """Its executions, newest first."""
        return self._jobcast.list_executions(run_id=self.run_id, exec_state=exec_state, limit=200)

    def unsuccessful(self) -> Listing[Execution]:
        """Those that ended otherwise than SUCCEEDED."""
        return self.executions(exec_state=["FAILED", "TIMED_OUT", "REJECTED", "EXPIRED", "CANCELED"])

    def _replace(self, fields: Mapping[str, Any]) -> Run:
        self.clear()
        self.update(fields)
        return self

    if TYPE_CHECKING:
        # <run fields>
        pass


# <transport>


class Jobcast(_Transport):
    """A client of one service with one key; without arguments from JOBCAST_URL and JOBCAST_API_KEY.

    `max_retries`: how often a call is repeated where that is safe. `timeout`: how many seconds a connection may
    be silent, in addition to the time that a call asks the service to wait. `headers` are sent with every
    request. `ssl_context`: for a certificate authority of your own.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        max_retries: int = 4,
        timeout: float = 30,
        headers: Optional[Mapping[str, str]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ):
        super().__init__(url, api_key, max_retries, timeout, headers, ssl_context)

    def __repr__(self) -> str:
        return f"Jobcast({self._url!r})"

    def start_plan(self, plan_id: str) -> Run:
        """Starts exactly what a plan showed, once: whoever starts it again gets the same run.

        Errors: J-505 if the plan is older than 10 minutes, or if something has changed since.
        """
        call = _Call("POST", "/job/api/runs", body={"planId": plan_id}, safe=True, hold=60)
        return self._run(self._value(call))

    def wait_for_run(
        self,
        run_id: int,
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[Run], object]] = None,
    ) -> Run:
        """Waits until a run has finished; see Run.wait."""
        end = None if timeout is None else time.monotonic() + timeout
        run = self.get_run(run_id)
        seen: Any = None
        failures = 0
        while True:
            facts = (run["counts"], run["rollout"])
            if on_progress and facts != seen:
                on_progress(run)
            seen = facts
            if run["finished"]:
                return run
            left = 60.0 if end is None else end - time.monotonic()
            if left <= 0:
                raise WaitTimeout(run, timeout or 0)
            hold = int(min(1 if on_progress else 60, left))
            if hold == 0:
                time.sleep(left)
            try:
                path = _path("/job/api/runs/{}", run_id)
                call = _Call("GET", path, query={"wait": hold}, safe=True, hold=hold, max_retries=0)
                run = self._run(self._value(call))
                failures = 0
            except JobcastClientError as error:
                # Once the run was read, it may be that the service is upgraded.
                if not _is_temporary(error):
                    raise
                failures += 1
                pause = _pause_before(failures, error)
                time.sleep(pause if end is None else max(0, min(pause, end - time.monotonic())))

    # <operations>

    def _run(self, value: Any) -> Any:
        return Run(self, value) if isinstance(value, dict) and "runId" in value else value

    def _list(self, path: str, query: Dict[str, Any], wrap: Callable[[Any], Any] = lambda item: item) -> Any:
        def fetch(cursor: Optional[str]) -> Page:
            value = self._value(_Call("GET", path, query={**query, "cursor": cursor}, safe=True))
            return Page([wrap(item) for item in value["items"]], value["nextCursor"])

        return Listing(fetch, query.get("cursor"))

    def _events(self, query: Dict[str, Any]) -> Iterator[Event]:
        position: Optional[int] = query["after"]
        is_open = False
        failures = 0
        while True:
            cause = None
            try:
                for event_id, data in self._event_blocks(query, position):
                    is_open, failures = True, 0
                    before = -1 if position is None else position
                    position = max(before, before if event_id is None else event_id)
                    event = None if data is None else json.loads(data)
                    if event is not None and event["eventId"] > before:
                        yield event
            except JobcastClientError as error:
                status = getattr(error, "status", 0)
                may_retry = _is_temporary(error) and (is_open or failures < self._max_retries)
                if not may_retry and not (is_open and status >= 500):
                    raise
                cause = error
            failures += 1
            time.sleep(_pause_before(failures, cause))

    def _event_blocks(
        self, query: Dict[str, Any], position: Optional[int]
    ) -> Iterator[Tuple[Optional[int], Optional[str]]]:
        headers = {"Last-Event-ID": position}
        call = _Call("GET", "/job/api/events", query=query, headers=headers, accept="text/event-stream, ")
        # The service sends something every 15 s, at least a heartbeat.
        with self._open(call, timeout=45) as response:
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise UnexpectedAnswer("/job/api/events was not answered with events", response.status)
            event_id: Optional[int] = None
            data: List[str] = []
            while True:
                with _connection_errors(call.what):
                    line = response.readline().decode()
                if line == "":
                    return
                name, _, value = line.rstrip("\r\n").partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "id" and value.isdigit():
                    event_id = int(value)
                elif name == "data":
                    data.append(value)
                elif line.rstrip("\r\n") == "":
                    if event_id is not None or data:
                        yield event_id, "\n".join(data) if data else None
                    event_id, data = None, []


def _given(fields: Mapping[str, Any], nullable: Mapping[str, Any] = {}) -> Dict[str, Any]:
    """The arguments that were given, as a body."""
    kept = {name: value for name, value in fields.items() if value is not None and value is not OMIT}
    return {**kept, **{name: value for name, value in nullable.items() if value is not OMIT}}


def _file_body(content: Union[bytes, IO[bytes], Mapping[str, Any]]) -> Tuple[Any, str, Optional[str]]:
    """What is sent, its type, and the header by which the service verifies it."""
    if isinstance(content, Mapping):
        return json.dumps(content).encode(), "application/vnd.jobcast.file-reference+json", None
    sha256 = hashlib.sha256()
    if isinstance(content, (bytes, bytearray)):
        content = bytes(content)
        sha256.update(content)
    else:
        content.seek(0)
        for piece in iter(lambda: content.read(1 << 20), b""):
            sha256.update(piece)
    digest = base64.b64encode(sha256.digest()).decode()
    return content, "application/octet-stream", f"sha-256=:{digest}:"


def _lines_body(devices: Union[str, Iterable[Mapping[str, Any]]]) -> Tuple[bytes, str]:
    """CSV as it is, or dicts as lines of JSON."""
    if isinstance(devices, str):
        return devices.encode(), "text/csv"
    return "\n".join(json.dumps(device) for device in devices).encode(), "application/x-ndjson"
