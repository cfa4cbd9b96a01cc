import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { byteStream } from './byte-stream.ts';
import { quote } from '../quote.ts';
import { firstLine, netError, sshError } from './failures.ts';
import { printMark } from './markers.ts';
import type { Pipe, Transport } from './types.ts';

export interface Relayed {
  stream: Duplex;
  /** The program on the host that carries the bytes. */
  via: string;
}

/** Longest text before the answer line: banners of the account. */
const mostBefore = 16 * 1024 * 1024;

/**
 * A byte stream to a port of the host where the server forbids tunnels: a program that is there connects and copies.
 *
 * @throws CompatError SSH_FORWARD_FORBIDDEN when nothing there can do it, or an Error with a code of `node:net`
 */
export async function relay(
  transport: Transport,
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Relayed> {
  const nonce = randomBytes(12).toString('hex');
  const script = relayScript(nonce, host, port);
  const pipe = await transport.open('exec /bin/sh -s', script).catch((error: unknown) => {
    throw forbidden(transport.name, host, port, error);
  });
  pipe.stderr.resume();
  const mark = `@@${nonce}:N0:42@@`;
  const answer = await readAnswer(pipe, mark, timeoutMs);
  if (answer === null) {
    pipe.close();
    throw forbidden(transport.name, host, port, undefined);
  }
  const [word = '', via = ''] = answer.split(' ');
  if (word === 'ok')
    return {
      stream: byteStream(pipe.stdout, pipe.stdin, { gone: pipe.ended, isGone: () => false }, () =>
        pipe.close(),
      ),
      via,
    };
  pipe.close();
  if (word === 'none') throw forbidden(transport.name, host, port, undefined);
  throw netError(firstLine(word), host, port, transport.name);
}

const forbidden = (name: string, host: string, port: number, cause: unknown): Error =>
  sshError(
    'SSH_FORWARD_FORBIDDEN',
    `${name} forbids tunnels, and nothing there can reach ${host}:${port} for us (python3, perl or nc)`,
    { host: name, port },
    cause === undefined ? {} : { cause },
  );

/** One compound command: the shell has read all of it before the bytes of the stream come. */
const relayScript = (
  nonce: string,
  host: string,
  port: number,
): string => `# a login script may read this line
{ ${printMark(nonce, 'N0', '$((6*7))')}
if command -v python3 >/dev/null 2>&1; then exec python3 -c ${quote(python)} ${quote(host)} ${port}
elif command -v perl >/dev/null 2>&1; then exec perl -e ${quote(perl)} ${quote(host)} ${port}
elif command -v nc >/dev/null 2>&1; then echo 'ok nc'; exec nc ${quote(host)} ${port}
else echo none; fi; exit; }
`;

const python = `import errno,os,socket,sys,threading
try: s=socket.create_connection((sys.argv[1],int(sys.argv[2])),10)
except socket.gaierror: os.write(1,b"ENOTFOUND\\n");sys.exit(1)
except socket.timeout: os.write(1,b"ETIMEDOUT\\n");sys.exit(1)
except OSError as e: os.write(1,(errno.errorcode.get(e.errno,"EIO")+"\\n").encode());sys.exit(1)
s.settimeout(None)
os.write(1,b"ok python3\\n")
def up():
  while True:
    d=os.read(0,65536)
    if not d: break
    s.sendall(d)
  s.shutdown(socket.SHUT_WR)
threading.Thread(target=up,daemon=True).start()
while True:
  d=s.recv(65536)
  if not d: break
  while d: d=d[os.write(1,d):]
`;

const perl = `use IO::Socket::INET;use Errno;
my $s=IO::Socket::INET->new(PeerHost=>$ARGV[0],PeerPort=>$ARGV[1],Timeout=>10);
if(!$s){my($n)=grep{$!{$_}}qw(ECONNREFUSED ETIMEDOUT EHOSTUNREACH ENETUNREACH);syswrite STDOUT,($n||"ENOTFOUND")."\\n";exit 1}
syswrite STDOUT,"ok perl\\n";
sub copy{my($f,$t)=@_;while(sysread($f,my $d,65536)){my $o=0;while($o<length $d){my $w=syswrite($t,$d,length($d)-$o,$o);last unless defined $w;$o+=$w}}}
my $p=fork;if(!$p){copy(\\*STDIN,$s);shutdown($s,1);exit}
copy($s,\\*STDOUT);kill 9,$p;
`;

/** The line behind the marker, or null. What follows it stays in the stream. */
async function readAnswer({ stdout, ended }: Pipe, mark: string, timeoutMs: number): Promise<string | null> {
  let seen: Buffer = Buffer.alloc(0);
  const answered = (): string | null => {
    for (let chunk = stdout.read() as Buffer | null; chunk !== null; chunk = stdout.read() as Buffer | null)
      seen = Buffer.concat([seen, chunk]);
    const start = seen.indexOf(mark);
    const end = start < 0 ? -1 : seen.indexOf('\n', start);
    if (end < 0) return null;
    if (end + 1 < seen.length) stdout.unshift(seen.subarray(end + 1));
    return seen.toString('utf8', start + mark.length, end);
  };
  return new Promise((resolve) => {
    const done = (answer: string | null): void => {
      clearTimeout(timer);
      stdout.off('readable', look);
      resolve(answer);
    };
    const look = (): void => {
      const answer = answered();
      if (answer !== null || seen.length > mostBefore) done(answer);
    };
    const timer = setTimeout(() => done(null), timeoutMs);
    stdout.on('readable', look);
    void ended.then(() => done(answered()));
  });
}
