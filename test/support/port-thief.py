"""An engine whose port another dashboard takes before it binds: on its first start it lets a stranger listen there.

Writes what the stranger was asked to `asked` beside this file.
"""

import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
PORT = int(sys.argv[sys.argv.index("--port") + 1])
FIRST = os.path.join(HERE, "started")
rows = []


def page(token):
    with open(os.path.join(os.environ["HERMES_WEB_DIST"], "index.html"), encoding="utf-8") as file:
        text = file.read()
    return text.replace("</head>", '<script>window.__HERMES_SESSION_TOKEN__="%s"</script></head>' % token)


class Engine(BaseHTTPRequestHandler):
    token = os.environ["HERMES_DASHBOARD_SESSION_TOKEN"]

    def answer(self, status, value, kind="application/json"):
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def home(self):
        return page(self.token)

    def handle_call(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        path = self.path.split("?")[0]
        if path == "/api/status":
            return self.answer(200, {})
        if path == "/":
            return self.answer(200, self.home(), "text/html")
        if self.headers.get("Authorization") != "Bearer " + self.token:
            return self.answer(401, {})
        if path == "/api/sessions":
            return self.answer(200, {})
        return self.library(path.replace("/api/model/library", "").lstrip("/"), body)

    def library(self, key, body):
        if self.command == "GET":
            return self.answer(200, {"models": rows})
        if self.command == "POST":
            rows.append(dict(body, id="one"))
            return self.answer(200, rows[-1])
        found = [row for row in rows if row["id"] == key]
        if not found:
            return self.answer(404, {"detail": "model not found"})
        if self.command == "DELETE":
            rows.clear()
            return self.answer(200, {"ok": True})
        found[0].update(body)
        return self.answer(200, {"ok": True, "model": found[0]})

    do_GET = do_POST = do_PATCH = do_DELETE = handle_call

    def log_message(self, *_):
        pass


class Stranger(Engine):
    token = "of-the-stranger"

    def home(self):
        return re.sub("<body>.*</body>", "<body></body>", page(self.token))

    def do(self):
        with open(os.path.join(HERE, "asked"), "a", encoding="utf-8") as file:
            file.write("%s %s\n" % (self.command, self.path))
        self.handle_call()

    do_GET = do_POST = do_PATCH = do_DELETE = do


first = not os.path.exists(FIRST)
open(FIRST, "a").close()
server = ThreadingHTTPServer(("127.0.0.1", PORT), Stranger if first else Engine)
if first:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(2)
    print("[Errno 98] error while attempting to bind on address: address already in use")
    sys.exit(3)
server.serve_forever()
