#!/bin/sh
# What people script by hand: is it up, does the token count, does the WebSocket answer? Arguments: URL, a Python with websocket-client. BARE_TOKEN.
set -eu
curl -fsS "$1/api/status" >/dev/null
curl -fsS "$1/" >/dev/null
printf 'header = "X-Hermes-Session-Token: %s"\n' "$BARE_TOKEN" | curl -fsS -K - "$1/api/sessions?limit=1" >/dev/null
URL="$1" "$2" - <<'END'
import json, os, websocket
url = os.environ["URL"].replace("http", "ws", 1) + "/api/ws?token=" + os.environ["BARE_TOKEN"]
ws = websocket.create_connection(url, timeout=15)
ws.send(json.dumps({"jsonrpc": "2.0", "id": "1", "method": "bare.probe"}))
while json.loads(ws.recv()).get("id") != "1":
    pass
ws.close()
END
