"""Dashboard plugin of hermes-compat: installs the patches that its manifest.json names into the running dashboard.

The engine imports this file when a dashboard starts. Written and removed by `hermes-compat patch`; do not edit.
"""

import importlib.util
import json
import logging
import os
import sys
import time

from fastapi import APIRouter

HERE = os.path.dirname(os.path.abspath(__file__))
log = logging.getLogger("hermes-compat")
router = APIRouter()
state = {"revision": None, "patches": {}}


def load(name):
    """A module beside this file, under a name that collides with nothing of the engine."""
    module_name = "hermes_compat_overlay_" + name
    spec = importlib.util.spec_from_file_location(module_name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def install_all():
    with open(os.path.join(HERE, "manifest.json"), encoding="utf-8") as file:
        wanted = json.load(file)["hermes-compat"]
    state["revision"] = wanted["revision"]
    # Under `plugins.isolation: host` this runs in another process than the dashboard: nothing can be added there.
    server = sys.modules.get("hermes_cli.web_server")
    for patch in wanted["patches"]:
        try:
            if server is None:
                state["patches"][patch["id"]] = "not in the dashboard's process"
                continue
            installed = load(patch["module"]).install(server.app, **patch.get("options", {}))
            state["patches"][patch["id"]] = "installed" if installed else "not needed"
        except Exception as error:
            state["patches"][patch["id"]] = "failed: %s: %s" % (type(error).__name__, error)
            log.warning("hermes-compat could not install %s: %s", patch["id"], error, exc_info=True)


def note_start():
    """Where `hermes-compat hook install overlay` asked for it: notes that a dashboard started, so a re-check is due."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    parent, grandparent = os.path.dirname(home), os.path.dirname(os.path.dirname(home))
    root = grandparent if os.path.basename(parent) == "profiles" else home
    folder = os.path.join(root, "desktop-compat", "hooks")
    if not os.path.isfile(os.path.join(folder, "on-start")):
        return
    temporary = os.path.join(folder, ".due.%d" % os.getpid())
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), "at": time.time()}, file)
    os.replace(temporary, os.path.join(folder, "due"))


@router.get("/status")
def status():
    """Which patches this process carries and what became of each."""
    return state


install_all()
try:
    note_start()
except OSError as problem:
    log.warning("hermes-compat could not note this start: %s", problem)
