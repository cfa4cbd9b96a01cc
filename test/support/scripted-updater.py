"""The entry point of a small tree, whose `update` does the steps of the real updater of 0.14 (hermes_cli/main.py).

Behaviour is set by $HERMES_HOME/updater.json: `cut` ends it at a step as a crash would, `fail` with exit 1, `slow` waits.
"""

import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*words, check=True):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    if check and done.returncode != 0:
        print(done.stderr, flush=True)
        sys.exit(1)
    return done


def settings():
    try:
        with open(os.path.join(os.environ["HERMES_HOME"], "updater.json"), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        return {}


def main():
    if sys.argv[1:2] != ["update"]:
        print("only update is here")
        return 2
    wanted = settings()

    def at(step):
        print("step", step, flush=True)
        if wanted.get("cut") == step:
            os._exit(137)
        if wanted.get("fail") == step:
            sys.exit(1)
        if wanted.get("slow") == step:
            time.sleep(wanted["seconds"])

    lock = os.path.join(os.environ["HERMES_HOME"], ".hermes-update-in-progress")
    if os.path.exists(lock):
        # A holder that is gone is passed over (hermes_cli/update_lock.py, 0.20 and newer).
        with open(lock, encoding="utf-8") as file:
            holder = file.readline().strip()
        if os.path.exists(f"/proc/{holder}"):
            return 2
        os.remove(lock)
    at("begin")
    git("fetch", "origin")
    stashed = False
    branch = git("rev-parse", "--abbrev-ref", "HEAD").stdout.strip()
    if git("status", "--porcelain").stdout:
        git("stash", "push", "--include-untracked", "-m", "hermes-update-autostash-20261130-120000")
        stashed = True
    at("stashed")
    if branch != "main":
        git("checkout", "main")
    if git("merge", "--ff-only", "origin/main", check=False).returncode != 0:
        git("reset", "--hard", "origin/main")
    at("merged")
    if stashed and wanted.get("discard"):
        git("stash", "drop")
    elif stashed and not wanted.get("park"):
        if git("stash", "apply", check=False).returncode == 0:
            git("stash", "drop")
        else:
            git("reset", "--hard", "HEAD")
            print("restoring local changes hit conflicts", flush=True)
    at("restored")
    print("Update complete!", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
