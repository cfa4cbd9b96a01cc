"""Opens /api/ws of a loopback-bound dashboard whose engine has embedded chat off by default (0.12 to 0.15).

These engines set the switch in start_server, after plugins were loaded; so we set it again when the server starts
up, before it answers. On any other bind every peer would get a terminal without login: there it stays off, unless
that was allowed when this patch was applied. Where the engine has chat on, nothing is done.
"""

import contextlib
import sys

REVISION = 1
SWITCH = "_DASHBOARD_EMBEDDED_CHAT_ENABLED"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def bound_host(app):
    """The address that the server binds to: as the engine recorded it, else `--host` of this process."""
    recorded = getattr(app.state, "bound_host", None)
    if recorded:
        return recorded
    host = LOOPBACK[0]
    for index, argument in enumerate(sys.argv):
        if argument.startswith("--host="):
            host = argument[len("--host=") :]
        elif argument == "--host" and index + 1 < len(sys.argv):
            host = sys.argv[index + 1]
    return host


def install(app, allow_non_loopback=False):
    """Takes effect when the server starts; returns whether this engine needs it."""
    server = sys.modules["hermes_cli.web_server"]
    if getattr(server, SWITCH, True):
        return False
    before = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(application):
        if allow_non_loopback or bound_host(app) in LOOPBACK:
            setattr(server, SWITCH, True)
        async with before(application) as state:
            yield state

    app.router.lifespan_context = lifespan
    return True
