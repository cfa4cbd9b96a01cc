"""Starts a dashboard in a throw-away HERMES_HOME, drives it like a client, ends it, and prints one JSON line.

Gets one object, as the global SPEC:
    command   argv of the engine, up to and without the dashboard's own flags
    flags     further flags of the dashboard
    files     {path below HERMES_HOME: text}
    env       added to the environment
    want      ["embedded-chat", "model-library"]
    seconds   until it must answer
Prints {"ok", "steps": [{"step", "ok", "saw"}], "log"}. Runs on the engine's own Python, standard library only, so that
it works on any host. Writes nothing outside a temporary folder, and no bytecode.
"""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PAGE = "<!doctype html><html><head></head><body></body></html>"
PORT_TRIES = 3
PORT_TAKEN = ("already in use", "BACKEND_PORT_IN_USE")
steps = []


class Failed(Exception):
    pass


def step(name, ok, saw):
    steps.append({"step": name, "ok": bool(ok), "saw": str(saw)[:300]})
    if not ok:
        raise Failed(name)


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent():
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def write_home(folder, files, mark):
    home = os.path.join(folder, "home")
    for path, content in files.items():
        target = os.path.join(home, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8", newline="") as file:
            file.write(content)
    for name in ("work", "web/assets"):
        os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, "web", "index.html"), "w", encoding="utf-8") as file:
        file.write(PAGE.replace("<body>", "<body>" + mark))
    return home


def start(spec, folder, port, token, mark):
    home = write_home(folder, spec["files"], mark)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "PYTHON"))}
    env.update(
        HERMES_HOME=home,
        HERMES_WEB_DIST=os.path.join(folder, "web"),
        HERMES_DASHBOARD_SESSION_TOKEN=token,
        HERMES_DISABLE_LAZY_INSTALLS="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
    )
    env.update(spec.get("env", {}))
    argv = spec["command"] + ["dashboard", "--no-open", "--host", "127.0.0.1", "--port", str(port)] + spec["flags"]
    with open(os.path.join(folder, "log"), "wb") as log:
        return subprocess.Popen(
            argv,
            env=env,
            cwd=os.path.join(folder, "work"),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,
            start_new_session=True,
        )


def call(port, method, path, token=None, body=None, timeout=45):
    """(status, content type, text)"""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        headers = {"Authorization": "Bearer " + token} if token else {}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body=data, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type") or "", answer.read(1 << 20).decode("utf-8", "replace")


def wait_until_up(process, port, seconds, mark, folder):
    """False: the port was taken before this dashboard had it."""
    deadline, stranger = time.monotonic() + seconds, False
    while time.monotonic() < deadline:
        if process.poll() is not None:
            if stranger or any(text in log_tail(folder, mark) for text in PORT_TAKEN):
                return False
            step("start", False, "the dashboard ended with exit code %s" % process.returncode)
        with contextlib.suppress(OSError, http.client.HTTPException):
            if call(port, "GET", "/api/status", timeout=5)[0] == 200:
                # Another dashboard may have taken the port meanwhile: only ours has this page, and only ours is driven.
                if mark in call(port, "GET", "/", timeout=5)[2]:
                    step("start", True, "GET /api/status 200")
                    return True
                stranger = True
        time.sleep(0.1)
    step("start", False, "no answer on /api/status within %s s" % seconds)


def working_token(port, given):
    if call(port, "GET", "/api/sessions?limit=1", given)[0] == 200:
        return given
    found = re.search(r'__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"', call(port, "GET", "/")[2])
    token = found.group(1) if found else given
    status = call(port, "GET", "/api/sessions?limit=1", token)[0]
    step("token", status == 200, "GET /api/sessions %s" % status)
    return token


# --- embedded chat ---


def frame_of(text):
    data, mask = text.encode(), os.urandom(4)
    return b"\x81" + struct.pack("!BH", 0x80 | 126, len(data)) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def read_frame(stream):
    head = stream.read(2)
    if len(head) < 2:
        raise OSError("closed")
    length = head[1] & 127
    if length > 125:
        size = 2 if length == 126 else 8
        length = int.from_bytes(stream.read(size), "big")
    return head[0] & 15, stream.read(length)


def check_chat(port, token):
    key = base64.b64encode(os.urandom(16)).decode()
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), 30)) as connection:
        connection.sendall(
            (
                "GET /api/ws?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (token, port, key)
            ).encode()
        )
        stream = connection.makefile("rb")
        line = stream.readline().decode("latin-1").strip()
        headers = {}
        for raw in iter(stream.readline, b"\r\n"):
            if not raw:
                break
            name, _, value = raw.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        step("GET /api/ws", " 101 " in line + " ", line)
        proof = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        accept = headers.get("sec-websocket-accept")
        step("handshake", accept == base64.b64encode(proof).decode(), accept)
        ask = {"jsonrpc": "2.0", "id": "hermes-compat", "method": "hermes-compat.ping", "params": {}}
        connection.sendall(frame_of(json.dumps(ask)))
        step("JSON-RPC", answered(stream), "an answer to our request")


def answered(stream):
    while True:
        code, data = read_frame(stream)
        if code == 8:
            return False
        if code == 1 and json.loads(data.decode()).get("id") == "hermes-compat":
            return True


# --- model library ---


def check_library(port, token):
    path = "/api/model/library"

    def expect(name, answer, status):
        got, kind, text = answer
        step(name, got == status and "json" in kind, "%s %s %s" % (got, kind, text[:120]))
        return json.loads(text)

    expect("GET without a token", call(port, "GET", path), 401)
    listed = expect("GET", call(port, "GET", path, token), 200)
    step("models", isinstance(listed.get("models"), list), "a list")
    saved = expect("POST", call(port, "POST", path, token, {"provider": "hermes-compat", "model": "check/one"}), 200)
    item = path + "/" + str(saved.get("id"))
    ids = [row["id"] for row in expect("GET again", call(port, "GET", path, token), 200)["models"]]
    step("saved", saved.get("id") in ids, "%d rows" % len(ids))
    changed = expect("PATCH", call(port, "PATCH", item, token, {"name": "Two"}), 200)
    step("changed", changed.get("model", {}).get("name") == "Two", changed)
    expect("DELETE", call(port, "DELETE", item, token), 200)
    expect("DELETE of an unknown id", call(port, "DELETE", item, token), 404)


CHECKS = {"embedded-chat": check_chat, "model-library": check_library}


def end(process):
    if process is None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(8)
            return


def log_tail(folder, token):
    with contextlib.suppress(OSError):
        with open(os.path.join(folder, "log"), "rb") as log:
            return log.read()[-4000:].decode("utf-8", "replace").replace(token, "***")
    return ""


def run(spec, folder, token):
    """Starts, drives and ends one dashboard. False: its port was taken by another program."""
    port, mark, process = free_port(), "hermes-compat-" + secrets.token_hex(16), None
    try:
        process = start(spec, folder, port, token, mark)
        if not wait_until_up(process, port, spec["seconds"], mark, folder):
            return False
        proved = working_token(port, token)
        for name in spec["want"]:
            CHECKS[name](port, proved)
        return True
    finally:
        end(process)


def main():
    spec = SPEC  # noqa: F821
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    base = os.path.realpath(tempfile.mkdtemp(prefix="hermes-compat-verify-"))
    folder, token, ok = base, secrets.token_urlsafe(24), False
    try:
        for number in range(PORT_TRIES):
            folder = os.path.join(base, str(number))
            os.mkdir(folder)
            ok = run(spec, folder, token)
            if ok:
                break
        else:
            step("start", False, "%d ports were taken by other programs" % PORT_TRIES)
    except Failed:
        pass
    except Exception as error:
        steps.append({"step": "check", "ok": False, "saw": "%s: %s" % (type(error).__name__, error)})
    finally:
        log = log_tail(folder, token)
        shutil.rmtree(base, ignore_errors=True)
    print(json.dumps({"ok": ok, "steps": steps, "log": "" if ok else log}))


main()
