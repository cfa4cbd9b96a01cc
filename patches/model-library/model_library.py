"""The model library of hermes-compat: a small list of saved models in HERMES_HOME.

    GET    /api/model/library        -> {"models": [row, ...]}, the configured model first
    POST   /api/model/library        {provider, model, baseUrl?, name?} -> row
    PATCH  /api/model/library/{id}   any of name, provider, model, baseUrl -> {"ok": true, "model": row}
    DELETE /api/model/library/{id}   -> {"ok": true}

Each takes `?profile=`. Rows are kept in <home>/models.json, a JSON array. Writers hold a lock on the folder and
replace the file by rename, so that concurrent writers, also of two processes, lose nothing. A file that is not
such an array is never overwritten: every call answers 500 and names it. Keys that we do not know are kept.

Runs inside the engine, on Python 3.8 and later, and uses nothing but FastAPI and the standard library.
"""

import contextlib
import functools
import glob
import json
import math
import os
import re
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Optional
from urllib.parse import urlsplit, urlunsplit

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

try:
    import fcntl
except ImportError:
    fcntl = None

REVISION = 1
ROUTE = "/api/model/library"
FIELDS = ("id", "name", "provider", "model", "baseUrl", "base_url", "createdAt")
PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")

_threads = threading.Lock()


class Problem(Exception):
    """An answer other than 200."""

    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status
        self.detail = detail


# --- where the list lies ---


def root_home():
    import hermes_constants

    if hasattr(hermes_constants, "get_default_hermes_root"):
        return Path(hermes_constants.get_default_hermes_root())
    home = Path(hermes_constants.get_hermes_home())
    return home.parent.parent if home.parent.name == "profiles" else home


def home_of(profile):
    from hermes_constants import get_hermes_home

    name = (profile or "").strip()
    if name.lower() in ("", "current"):
        return Path(get_hermes_home())
    if name.lower() == "default":
        return root_home()
    if not PROFILE_NAME.match(name):
        raise Problem(400, "Invalid profile name %r: lower-case letters, digits, '-' and '_'." % name)
    home = root_home() / "profiles" / name
    if not home.is_dir():
        raise Problem(404, "Profile '%s' does not exist." % name)
    return home


def file_of(home):
    """The real file, so that a linked models.json stays a link."""
    return os.path.realpath(str(home / "models.json"))


# --- rows ---


def text(value):
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    value = str(value)
    return (value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")).strip()


def label(model):
    return model.rsplit("/", 1)[-1] or model


def path_without_dots(path):
    kept = []
    for part in path.split("/"):
        plain = part.lower().replace("%2e", ".")
        if plain == "..":
            if len(kept) > 1:
                kept.pop()
        elif plain != ".":
            kept.append(part)
    return "/".join(kept)


@functools.lru_cache(maxsize=4096)
def same_url(url):
    """The form in which two base URLs are compared."""
    try:
        parts = urlsplit(url)
        if not parts.scheme or not parts.hostname:
            return url.rstrip("/")
        host = parts.hostname.lower()
        if ":" in host:
            host = "[" + host + "]"
        user, at, _ = parts.netloc.rpartition("@")
        scheme = parts.scheme.lower()
        if parts.port is not None and (scheme, parts.port) not in (("http", 80), ("https", 443)):
            host += ":%d" % parts.port
        path = path_without_dots(parts.path).rstrip("/")
        return urlunsplit((scheme, user + at + host, path, parts.query, parts.fragment))
    except ValueError:
        return url.rstrip("/")


def key_of(row):
    return row["provider"].lower(), row["model"].lower(), same_url(row["baseUrl"])


def row_of(item, index):
    """What clients see of one entry of the file; None for an entry that is no model."""
    if not isinstance(item, dict):
        return None
    provider, model = text(item.get("provider")), text(item.get("model"))
    if not provider or not model:
        return None
    created = item.get("createdAt")
    if isinstance(created, bool) or not isinstance(created, (int, float)) or not math.isfinite(created):
        created = 0
    return {
        "id": text(item.get("id")) or "remote:library:%s:%d:%s" % (provider, index, model),
        "name": text(item.get("name")) or label(model),
        "provider": provider,
        "model": model,
        "baseUrl": text(item.get("baseUrl", item.get("base_url"))),
        "createdAt": created,
    }


def rows_of(items):
    """{key: (index in the file, row)} in the order of the file, the first of equal rows only."""
    rows = {}
    for index, item in enumerate(items):
        row = row_of(item, index)
        if row is not None:
            rows.setdefault(key_of(row), (index, row))
    return rows


# --- the file ---


@contextlib.contextmanager
def locked(path):
    """Excludes every other writer of this file, of this process and of others."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    with _threads:
        if fcntl is None:
            yield
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def read_items(path):
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Problem(500, "%s cannot be read (%s)." % (path, error.strerror))
    try:
        items = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Problem(500, "%s is damaged and was left as it is: %s. Repair it or move it away." % (path, error))
    if not isinstance(items, list):
        raise Problem(500, "%s is not a list of models and was left as it is. Repair it or move it away." % path)
    return items


def text_of(items):
    """A row a line: easy to read, and much faster than json's own indentation."""
    return "[" + ",".join("\n  " + json.dumps(item) for item in items) + ("\n]\n" if items else "]\n")


def write_items(path, items):
    folder, name = os.path.split(path)
    try:
        before = os.stat(path)
    except FileNotFoundError:
        before = None
    forget_leftovers(folder, name)
    handle, temporary = tempfile.mkstemp(prefix="." + name + ".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text_of(items).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            with contextlib.suppress(OSError):
                os.chown(temporary, before.st_uid, before.st_gid)
            os.chmod(temporary, before.st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder):
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def forget_leftovers(folder, name):
    """Temporary files of writers that were killed; only under the lock, and only old ones."""
    for path in glob.glob(os.path.join(glob.escape(folder), "." + name + ".*.tmp")):
        with contextlib.suppress(OSError):
            if time.time() - os.stat(path).st_mtime > 3600:
                os.unlink(path)


@contextlib.contextmanager
def changing(profile):
    """Gives the entries of the file to change in place, and their rows; written when the block ends without an error.

    The file is written only when the entries differ. Rows that have no id get the one that clients were shown,
    because its index would move.
    """
    path = file_of(home_of(profile))
    with locked(path):
        items = read_items(path)
        rows = rows_of(items)
        for index, row in rows.values():
            if not text(items[index].get("id")):
                items[index] = dict(items[index], id=row["id"])
        before = list(items)
        yield items, rows
        if items != before:
            write_items(path, items)


# --- the four calls ---


def active_row(profile):
    """The configured model, or None."""
    model = configured_model(profile)
    if not isinstance(model, dict):
        return None
    provider, name = text(model.get("provider")), text(model.get("default") or model.get("name"))
    if not provider or not name:
        return None
    row = {
        "id": "remote:active:%s:%s" % (provider, name),
        "name": label(name),
        "provider": provider,
        "model": name,
        "baseUrl": text(model.get("base_url")),
        "createdAt": 0,
    }
    try:
        length = int(model.get("context_length") or 0)
    except (TypeError, ValueError, OverflowError):
        length = 0
    if length > 0:
        row["contextLength"] = length
    return row


def configured_model(profile):
    """`model` of config.yaml, as the engine reads it for its own home, as it stands for another profile."""
    from hermes_constants import get_hermes_home

    home = home_of(profile)
    try:
        if home == Path(get_hermes_home()):
            from hermes_cli.config import load_config

            return load_config().get("model")
        import yaml

        with open(str(home / "config.yaml"), encoding="utf-8") as file:
            config = yaml.safe_load(file)
        return config.get("model") if isinstance(config, dict) else None
    except Exception:
        # The library works without a readable configuration; the engine reports that itself.
        return None


def list_models(profile):
    rows = rows_of(read_items(file_of(home_of(profile))))
    active = active_row(profile)
    if active is not None:
        rows.pop(key_of(active), None)
    return {"models": ([] if active is None else [active]) + [row for _, row in rows.values()]}


def add_model(body, profile):
    provider, model = text(body.get("provider")), text(body.get("model"))
    if not provider or not model:
        raise Problem(400, "provider and model required")
    row = {
        "id": "remote:library:" + secrets.token_hex(8),
        "name": text(body.get("name")) or label(model),
        "provider": provider,
        "model": model,
        "baseUrl": text(body.get("baseUrl", body.get("base_url"))),
        "createdAt": int(time.time() * 1000),
    }
    with changing(profile) as (items, rows):
        if key_of(row) in rows:
            return rows[key_of(row)][1]
        items.append(row)
    return row


def change_model(model_id, body, profile):
    with changing(profile) as (items, rows):
        index, saved = find(rows, model_id)
        item = dict(items[index])
        for field in ("name", "provider", "model"):
            if field in body:
                item[field] = text(body[field])
        if "baseUrl" in body or "base_url" in body:
            item.pop("base_url", None)
            item["baseUrl"] = text(body.get("baseUrl", body.get("base_url")))
        row = row_of(item, index)
        if row is None:
            raise Problem(400, "provider and model required")
        item["name"] = row["name"]
        gone = doubles(items, (key_of(saved), key_of(row))) - {index}
        for other in sorted(gone):
            for field, value in items[other].items():
                if field not in FIELDS:
                    item.setdefault(field, value)
        items[index] = item
        drop(items, gone)
        return {"ok": True, "model": row}


def remove_model(model_id, profile):
    with changing(profile) as (items, rows):
        _, saved = find(rows, model_id)
        drop(items, doubles(items, (key_of(saved),)))
        return {"ok": True}


def find(rows, model_id):
    for index, row in rows.values():
        if row["id"] == model_id:
            return index, row
    raise Problem(404, "model not found")


def doubles(items, keys):
    """Every place of the file that holds one of these models, also those that are not shown."""
    rows = ((index, row_of(item, index)) for index, item in enumerate(items))
    return {index for index, row in rows if row is not None and key_of(row) in keys}


def drop(items, places):
    items[:] = [item for index, item in enumerate(items) if index not in places]


# --- routes ---


async def body_of(request):
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Problem(400, "The body is not JSON.")
    if not isinstance(body, dict):
        raise Problem(400, "The body is not a JSON object.")
    return body


async def answer(call, *args):
    """Runs one call outside the event loop and turns its problems into answers."""
    try:
        return JSONResponse(await run_in_threadpool(call, *args))
    except Problem as problem:
        return JSONResponse({"detail": problem.detail}, status_code=problem.status)
    except OSError as error:
        detail = "The model library could not be written (%s)." % (error.strerror or type(error).__name__)
        return JSONResponse({"detail": detail}, status_code=500)


async def with_body(request, call, *args):
    try:
        body = await body_of(request)
    except Problem as problem:
        return JSONResponse({"detail": problem.detail}, status_code=problem.status)
    return await answer(call, *args, body)


def install(app):
    """Adds the routes to the engine's app; does nothing where some code has added them before."""
    if any(getattr(route, "path", None) == ROUTE for route in app.router.routes):
        return False

    async def get_model_library(profile: Optional[str] = None):
        return await answer(list_models, profile)

    async def post_model_library(request: Request, profile: Optional[str] = None):
        return await with_body(request, lambda body: add_model(body, profile))

    async def patch_model_library(model_id: str, request: Request, profile: Optional[str] = None):
        return await with_body(request, lambda body: change_model(model_id, body, profile))

    async def delete_model_library(model_id: str, profile: Optional[str] = None):
        return await answer(remove_model, model_id, profile)

    app.add_api_route(ROUTE, get_model_library, methods=["GET"])
    app.add_api_route(ROUTE, post_model_library, methods=["POST"])
    app.add_api_route(ROUTE + "/{model_id:path}", patch_model_library, methods=["PATCH"])
    app.add_api_route(ROUTE + "/{model_id:path}", delete_model_library, methods=["DELETE"])
    return True
