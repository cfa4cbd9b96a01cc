/** The few lines of a web_server.py that patches look at, in the form of 0.14; small, so that hundreds of runs stay quick. */
export const miniServer = `"""Web server."""
import json
from pathlib import Path

from fastapi import FastAPI

app = FastAPI(title="Hermes", version="0.14.0")

_DASHBOARD_EMBEDDED_CHAT_ENABLED = False


@app.post("/api/model/set")
async def set_model(body: dict):
    return {"ok": True}


@app.websocket("/api/ws")
async def gateway_ws(ws):
    if not _DASHBOARD_EMBEDDED_CHAT_ENABLED:
        await ws.close(code=4403)


def mount_spa(application: FastAPI):
    pass


def _mount_plugin_api_routes():
    pass


# Mount plugin API routes before the SPA catch-all.
_mount_plugin_api_routes()

mount_spa(app)


def start_server(
    host: str = "127.0.0.1",
    port: int = 9119,
    open_browser: bool = True,
    allow_public: bool = False,
    *,
    embedded_chat: bool = False,
):
    """Start the web UI server."""
    import uvicorn

    global _DASHBOARD_EMBEDDED_CHAT_ENABLED
    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat

    uvicorn.run(app, host=host, port=port)
`;
