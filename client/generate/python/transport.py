# Sends requests, repeats them where that is safe, and reads what is answered.


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect would send the key to its target."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Call(NamedTuple):
    method: str
    path: str
    query: Mapping[str, Any] = {}
    headers: Mapping[str, Any] = {}
    # JSON, or with `content_type` bytes or a file.
    body: Any = None
    content_type: Optional[str] = None
    accept: str = "application/json, "
    # Idempotent.
    safe: bool = False
    # How many seconds the service may hold its answer.
    hold: Optional[float] = None
    # Where to read what an earlier try of the same call has made of it.
    then: Optional[str] = None
    max_retries: Optional[int] = None

    @property
    def what(self) -> str:
        return f"{self.method} {self.path}"


class _connection_errors:
    """Turns errors of the connection into NoAnswer."""

    def __init__(self, what: str):
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: Optional[BaseException], __: object) -> None:
        if isinstance(error, (urllib.error.HTTPError, JobcastClientError)):
            return
        if isinstance(error, (OSError, http.client.HTTPException)):
            cause = getattr(error, "reason", error)
            answer = NoAnswer(f"no answer to {self._what}: {cause or type(cause).__name__}")
            answer.was_sent = not _never_connected(cause)
            raise answer from error


def _with_all_headers(answer: Any) -> Any:
    """http.client takes headers that were cut for all of them; then what says how long the body is, is missing."""
    headers = answer.headers
    version = getattr(answer if answer.code < 300 else answer.fp, "version", 11)
    is_measured = "Content-Length" in headers or headers.get("Transfer-Encoding") == "chunked"
    if version == 11 and answer.code != 204 and not is_measured:
        answer.close()
        raise ConnectionError("the connection was cut")
    return answer


def _never_connected(cause: object) -> bool:
    if isinstance(cause, (ConnectionRefusedError, socket.gaierror)):
        return True
    return isinstance(cause, OSError) and cause.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH)


def _is_temporary(error: Optional[Exception]) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, NoAnswer):
        return True
    if isinstance(error, (JobcastError, UnexpectedAnswer)) and error.status in (408, 429, 502, 503, 504):
        return True
    # J-502: an earlier copy of this request is still being served.
    return isinstance(error, JobcastError) and error.code == "J-502"


def _may_repeat(error: Exception, safe: bool) -> bool:
    # The service has not processed these.
    if isinstance(error, JobcastError) and (error.status == 429 or error.code in ("J-908", "J-910")):
        return True
    if isinstance(error, NoAnswer) and not error.was_sent:
        return True
    return safe and _is_temporary(error)


def _pause_before(try_no: int, error: Optional[Exception]) -> float:
    """Exponential backoff in seconds; up to half is subtracted as jitter."""
    delay = min(10, 0.2 * 2 ** min(try_no - 1, 10)) * (1 - random.random() / 2)
    return max(delay, min(60, getattr(error, "retry_after", None) or 0))


def _read_error(call: _Call, answer: urllib.error.HTTPError, content: bytes) -> JobcastClientError:
    retry_after = _seconds_of(answer.headers.get("Retry-After"))
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("code"), str):
        return JobcastError(answer.code, problem, retry_after)
    what = f"{call.what} was answered with {answer.code} without an error code"
    return UnexpectedAnswer(what, answer.code, retry_after)


def _seconds_of(header: Optional[str]) -> Optional[float]:
    """Seconds or a date; anything else is ignored."""
    if not header:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _new_request_key() -> str:
    """A UUID of version 7, which begins with the time: the service stores such keys with fewer writes."""
    number = time.time_ns() // 1_000_000 << 80 | 7 << 76 | secrets.randbits(12) << 64
    return str(uuid.UUID(int=number | 2 << 62 | secrets.randbits(62)))


def _path(template: str, *names: Any) -> str:
    for name in names:
        # An empty name or dots would lead to another route.
        if str(name) in ("", ".", ".."):
            raise ValueError(f"{str(name)!r} is not a name")
    return template.format(*(urllib.parse.quote(str(name), safe="") for name in names))


def _query_text(query: Mapping[str, Any]) -> str:
    given = [(name, _query_value(value)) for name, value in query.items() if value is not None]
    return "?" + urllib.parse.urlencode(given) if given else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ",".join(map(str, value))


def _encode(call: _Call) -> Tuple[Any, Dict[str, str]]:
    if call.body is None:
        return None, {}
    if call.content_type is None:
        return json.dumps(call.body, allow_nan=False).encode(), {"Content-Type": "application/json"}
    if isinstance(call.body, bytes):
        return call.body, {"Content-Type": call.content_type}
    call.body.seek(0, os.SEEK_END)
    size = call.body.tell()
    call.body.seek(0)
    return call.body, {"Content-Type": call.content_type, "Content-Length": str(size)}


class _Transport:
    def __init__(
        self,
        url: Optional[str],
        api_key: Optional[str],
        max_retries: int,
        timeout: float,
        headers: Optional[Mapping[str, str]],
        ssl_context: Optional[ssl.SSLContext],
    ):
        url = url or os.environ.get("JOBCAST_URL")
        api_key = api_key or os.environ.get("JOBCAST_API_KEY")
        if not url or not re.match(r"https?://[^/?#]", url):
            raise ValueError(f"url must be like https://jobcast.example.com, it is {url!r}; or set JOBCAST_URL")
        if not api_key:
            raise ValueError("there is no key: pass api_key, or set JOBCAST_API_KEY")
        self._url = url.rstrip("/")
        self._headers = {"User-Agent": "jobcast-python", "X-API-Key": api_key, **(headers or {})}
        self._max_retries = max_retries
        self._timeout = timeout
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=ssl_context)
        )

    def _value(self, call: _Call) -> Any:
        def read() -> Any:
            with self._open(call) as response, _connection_errors(call.what):
                content = response.read()
            try:
                return json.loads(content) if content else None
            except ValueError:
                raise UnexpectedAnswer(f"{call.what} was not answered with JSON", response.status) from None

        return self._retried(call, read)

    def _content(self, call: _Call) -> Content:
        return self._retried(call, lambda: Content(self._open(call), call.what))

    def _retried(self, call: _Call, act: Callable[[], T]) -> Any:
        max_retries = self._max_retries if call.max_retries is None else call.max_retries
        for try_no in range(1, max_retries + 2):
            try:
                return act()
            except JobcastClientError as error:
                # What an earlier try has done is not done again.
                if try_no > 1 and isinstance(error, JobcastError):
                    if call.method == "DELETE" and error.status == 404 and error.code != "J-901":
                        return None
                    if call.then is not None and error.code == "J-303":
                        return self._value(_Call("GET", call.then, safe=True))
                if try_no > max_retries or not _may_repeat(error, call.safe):
                    raise
                time.sleep(_pause_before(try_no, error))

    def _open(self, call: _Call, timeout: Optional[float] = None) -> http.client.HTTPResponse:
        data, content_headers = _encode(call)
        headers = {"Accept": call.accept + "application/problem+json", **self._headers, **content_headers}
        headers.update({name: str(value) for name, value in call.headers.items() if value is not None})
        url = self._url + call.path + _query_text(call.query)
        request = urllib.request.Request(url, data, headers, method=call.method)
        if timeout is None:
            timeout = self._timeout + (call.hold or 0)
        try:
            with _connection_errors(call.what):
                return _with_all_headers(self._opener.open(request, timeout=timeout))
        except urllib.error.HTTPError as error:
            with error, _connection_errors(call.what):
                content = _with_all_headers(error).read()
            raise _read_error(call, error, content) from None
