"""Starts an engine detached and waits until it answers, dies, or the time is over.

`main` takes and gives the objects of src/launch/start-script.ts. Runs on the engine's own Python, imports no engine module.
The environment of the engine, with its token, comes on stdin with this script and appears in no command line.
"""

import errno
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

DEFAULT_PORT = 9119
WRONG_STATUS_PATIENCE = 5.0


def start_ticks(pid):
    """Start time as the kernel gives it (ps elsewhere); with the pid it names one process for good."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[19]
    except OSError:
        pass
    if os.path.isdir("/proc/self"):
        return None
    return run(["ps", "-o", "lstart=", "-p", str(pid)]).strip() or None


def executable(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return run(["ps", "-o", "comm=", "-p", str(pid)]).strip() or None


def run(argv):
    if shutil.which(argv[0]) is None:
        return ""
    env = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", env=env).stdout


def listeners(port):
    """Pids that listen on this port, as far as we may see."""
    if not os.path.isdir("/proc/self"):
        return [int(p) for p in run(["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-t"]).split()]
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as f:
                rows = [line.split() for line in f.readlines()[1:]]
        except OSError:
            continue
        inodes |= {r[9] for r in rows if r[3] == "0A" and int(r[1].rpartition(":")[2], 16) == port}
    found = set()
    for fd in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            link = os.readlink(fd)
        except OSError:
            continue
        if link.startswith("socket:[") and link[8:-1] in inodes:
            found.add(int(fd.split("/")[2]))
    return sorted(found)


def holder(port):
    pids = listeners(port)
    if not pids:
        return None
    return {"pid": pids[0], "command": os.path.basename(executable(pids[0]) or "")}


def free_port(host, port):
    """The port to give to the engine (one of our choice for 0), or None when it is taken. Other troubles are the engine's to name."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        infos = []
    for family, kind, proto, _, address in infos:
        try:
            with socket.socket(family, kind, proto) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(address)
                port = port or s.getsockname()[1]
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return None
    return port or DEFAULT_PORT


def home_problem(home):
    """What the engine would stumble over: (outcome, path) or None."""
    if not os.path.isdir(home):
        return ("home-missing", home)
    if not os.access(home, os.R_OK | os.X_OK):
        return ("home-unreadable", home)
    env_file = os.path.join(home, ".env")
    if os.path.exists(env_file) and not os.access(env_file, os.R_OK):
        return ("home-unreadable", env_file)
    if not os.access(home, os.W_OK):
        return ("home-read-only", home)
    return None


def status_of(host, port):
    """HTTP status of GET /api/status, or None while nothing answers."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/api/status", headers={"Connection": "close"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def serves(pid, port):
    """The pid of the session that we made which listens there; None when another process does; pid when nobody can tell."""
    pids = listeners(port)
    for other in pids:
        try:
            if other == pid or os.getsid(other) == pid:
                return other
        except OSError:
            continue
    can_see = os.path.isdir("/proc/self") or shutil.which("lsof") is not None
    return None if can_see else pid


def tail(path):
    with open(path, "rb") as f:
        f.seek(0, os.SEEK_END)
        f.seek(max(0, f.tell() - 16384))
        return f.read().decode("utf-8", "replace").splitlines()[-60:]


def write_record(path, record):
    temporary = f"{path}.{os.getpid()}"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as f:
        json.dump(record, f)
    os.replace(temporary, path)


def spawn(ask, argv, record):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(tuple(ask["unset"]))}
    # Unbuffered, so that the last words of an engine that is killed are in its log.
    env = {"PYTHONUNBUFFERED": "1", **inherited, **ask["env"]}
    folder = os.path.expanduser("~")
    log = os.open(ask["log"], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)

    def claim():
        # Before exec, so that whoever interrupts us always finds the pid.
        write_record(ask["recordPath"], {**record, "pid": os.getpid(), "startTicks": start_ticks(os.getpid())})

    try:
        return subprocess.Popen(
            argv, env=env, cwd=folder if os.path.isdir(folder) else ask["home"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, close_fds=True, preexec_fn=claim,
        )
    finally:
        os.close(log)


def wait(ask, child, port):
    """How the start went: (outcome, HTTP status, pid that serves)."""
    deadline = time.monotonic() + ask["seconds"]
    bad_since = None
    status = None
    while time.monotonic() < deadline:
        if child.poll() is not None:
            return "exited", status, None
        status = status_of(ask["connectTo"], port)
        pid = serves(child.pid, port) if status is not None else None
        if pid is not None:
            if status == 200:
                return "up", status, pid
            bad_since = bad_since or time.monotonic()
            if time.monotonic() - bad_since > WRONG_STATUS_PATIENCE:
                return "unhealthy", status, pid
        time.sleep(0.1)
    return "timeout", status, None


def end(child):
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def main(ask):
    began = time.monotonic()
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        signal.signal(getattr(signal, name), stop_waiting)
    problem = home_problem(ask["home"])
    if problem:
        return {"outcome": problem[0], "path": problem[1]}
    port = next(filter(None, (free_port(ask["host"], wanted) for wanted in ask["ports"])), None)
    if port is None:
        return {"outcome": "busy", "port": ask["ports"][0], "holder": holder(ask["ports"][0])}
    record = {**ask["record"], "port": port}
    try:
        child = spawn(ask, [*ask["argv"], "--port", str(port)], record)
    except (OSError, subprocess.SubprocessError) as error:
        return {"outcome": "not-started", "message": str(error)}
    settled = False
    try:
        outcome, status, pid = wait(ask, child, port)
        settled = outcome == "up"
    finally:
        if not settled:
            end(child)
    result = {
        "outcome": outcome,
        "port": port,
        "status": status,
        "exitCode": child.returncode,
        "holder": None if settled else holder(port),
        "tail": tail(ask["log"]),
        "seconds": round(time.monotonic() - began, 3),
    }
    if settled:
        identity = {"pid": pid, "startTicks": start_ticks(pid), "executable": executable(pid)}
        write_record(ask["recordPath"], {**record, **identity})
        result.update(identity)
    return result


def stop_waiting(number, _frame):
    raise SystemExit(128 + number)
