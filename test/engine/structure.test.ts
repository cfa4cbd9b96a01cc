import { describe, expect, it } from 'vitest';
import { contractOnDisk, readStructure, stringConstant } from '../../src/engine/structure.ts';

const chatOff = `app = FastAPI(title="Hermes")
_DASHBOARD_EMBEDDED_CHAT_ENABLED = False
@app.websocket("/api/ws")
async def ws(socket):
    if not _DASHBOARD_EMBEDDED_CHAT_ENABLED:
        return
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
def later():
    _DASHBOARD_EMBEDDED_CHAT_ENABLED = True
`;
const always = `_DASHBOARD_EMBEDDED_CHAT_ENABLED = True
@app.websocket("/api/ws")
async def ws(socket): ...
def start_server(
    host: str = "127.0.0.1",
    initial_profile: str = "",
    headless: bool = False,
) -> None:
    pass
`;
const sourceLines = (text: string) => text.split('\n').map((line, i) => ({ number: i + 1, text: line }));
const read = (text: string, chatWs = false) => readStructure(sourceLines(text), chatWs);

describe('readStructure', () => {
  it('0.12 to 0.15: the assignment takes the parameter', () =>
    expect(read(chatOff)).toEqual({
      generation: 'G0',
      chatAssignment: 'from-parameter',
      chatDefaultOnly: false,
      profileServesFrom: 'profile',
    }));

  it.each([
    ['the default alone', chatOff.replace('embedded_chat: bool = False', 'embedded_chat: bool = True')],
    ['the constant alone', chatOff.replace('ENABLED = False', 'ENABLED = True')],
  ])('%s has no effect', (_, text) =>
    expect(read(text)).toMatchObject({
      generation: 'G0',
      chatAssignment: 'from-parameter',
      chatDefaultOnly: true,
    }),
  );

  it('the assignment alone has', () =>
    expect(read(chatOff.replace('= embedded_chat\n', '= True\n'))).toMatchObject({
      generation: 'G0',
      chatAssignment: 'always-on',
      chatDefaultOnly: false,
    }));

  it('another value of the assignment is unknown', () =>
    expect(read(chatOff.replace('= embedded_chat\n', '= bool(os.getenv("X"))\n'))).toMatchObject({
      generation: 'G0',
      chatAssignment: 'unknown',
    }));

  it('0.16 and later', () =>
    expect(read(always)).toEqual({
      generation: 'G1',
      chatAssignment: 'always-on',
      chatDefaultOnly: false,
      profileServesFrom: 'root',
    }));

  it('split routers', () =>
    expect(read(always.replace(/@app.websocket.*\n.*\n/, ''), true)).toMatchObject({
      generation: 'G2',
      chatAssignment: 'always-on',
    }));

  it('without the route there is no generation', () =>
    expect(read(always.replace('/api/ws', '/api/pty'))).toMatchObject({ generation: null }));

  it('a file of another program', () =>
    expect(read('print("hello")\n')).toEqual({
      generation: null,
      chatAssignment: 'unknown',
      chatDefaultOnly: false,
      profileServesFrom: 'unknown',
    }));

  it('0.9 to 0.11: a signature of one line, no chat at all', () =>
    expect(read('def start_server(host: str = "x", port: int = 9119):\n    pass\n')).toEqual({
      generation: null,
      chatAssignment: 'absent',
      chatDefaultOnly: false,
      profileServesFrom: 'profile',
    }));

  it('a constant that is gone from a later release is no switch', () =>
    expect(read(always.replace('_DASHBOARD_EMBEDDED_CHAT_ENABLED = True\n', ''), true)).toMatchObject({
      generation: 'G2',
      chatAssignment: 'absent',
    }));

  it.each([
    ['CRLF', chatOff.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${chatOff}`],
    ['comments', chatOff.replace('= embedded_chat\n', '= embedded_chat  # gate\n')],
  ])('reads through %s', (_, text) => expect(read(text)).toEqual(read(chatOff)));
});

describe('contractOnDisk', () => {
  const line = (text: string, file = '/r/tui_gateway/server.py') => ({ file, text });
  it.each([
    ['DESKTOP_BACKEND_CONTRACT = 8', { value: 8, state: 'known', raw: '8' }],
    ['DESKTOP_BACKEND_CONTRACT: int = 0  # x', { value: 0, state: 'known', raw: '0' }],
    ['DESKTOP_BACKEND_CONTRACT = "8"', { value: null, state: 'unknown', raw: '"8"' }],
    ['DESKTOP_BACKEND_CONTRACT = -1', { value: null, state: 'unknown', raw: '-1' }],
    ['DESKTOP_BACKEND_CONTRACT = 7.5', { value: null, state: 'unknown', raw: '7.5' }],
    ['DESKTOP_BACKEND_CONTRACT = 1e309', { value: null, state: 'unknown', raw: '1e309' }],
    ['DESKTOP_BACKEND_CONTRACT = BASE + 1', { value: null, state: 'unknown', raw: 'BASE + 1' }],
  ])('%s', (text, expected) => expect(contractOnDisk([line(text)], true)).toEqual(expected));

  it('no line: none where the tree could be read, unknown where not', () => {
    expect(contractOnDisk([], true)).toEqual({ value: null, state: 'none', raw: null });
    expect(contractOnDisk([], false)).toEqual({ value: null, state: 'unknown', raw: null });
  });

  it('server.py comes before other modules, another module before nothing', () => {
    const other = line('DESKTOP_BACKEND_CONTRACT = 9', '/r/tui_gateway/contract.py');
    expect(contractOnDisk([other, line('DESKTOP_BACKEND_CONTRACT = 8')], true).value).toBe(8);
    expect(contractOnDisk([other], true).value).toBe(9);
  });
});

it('stringConstant takes a plain text only', () => {
  expect(stringConstant('__version__', '__version__ = "0.14.0"  # x')).toBe('0.14.0');
  expect(stringConstant('__version__', "__version__: str = '0.14.0'")).toBe('0.14.0');
  expect(stringConstant('__version__', '__version__ = get()')).toBeNull();
  expect(stringConstant('__version__', '__version__ = "a" + "b"')).toBeNull();
});
