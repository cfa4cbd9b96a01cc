import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Host } from '../../src/host/types.ts';
import { FileError } from '../../src/host/types.ts';

/** A host under test, and a folder on it where the account may write. `dir` exists. */
export interface Subject {
  host: Host;
  dir: string;
  /** As `uname -s` says it there, in small letters; default `linux`. */
  os?: string;
  end(): Promise<void>;
}

const awkward = [
  '',
  ' ',
  "it's",
  '"$HOME"',
  '`id`',
  '$(id)',
  'a\nb',
  '\\n',
  '-n',
  '*',
  'ünïcode ✓',
  '!x',
  'a;b|c&d',
];

const code = (action: Promise<unknown>): Promise<string> =>
  action.then(
    () => 'nothing thrown',
    (error: unknown) => (error instanceof FileError ? error.code : `not a FileError: ${String(error)}`),
  );

/** What every transport must do alike. One suite: a difference here is a difference in verdicts. */
export function hostContract(name: string, open: () => Promise<Subject>): void {
  describe(`${name} as a host`, () => {
    let subject: Subject;
    let host: Host;
    let count = 0;
    const fresh = async (): Promise<string> => {
      const path = `${subject.dir}/t${++count}`;
      await host.mkdir(path, 0o755);
      return path;
    };
    const text = async (path: string): Promise<string> => (await host.readFile(path)).toString('utf8');

    beforeAll(async () => {
      subject = await open();
      host = subject.host;
    });
    afterAll(async () => {
      await subject?.end();
    });

    it('says who it is', async () => {
      const { user, uid, hostname, os } = await host.identity();
      const id = await host.run(['id', '-u']);
      expect(Number(id.stdout.toString())).toBe(uid);
      expect((await host.run(['id', '-un'])).stdout.toString().trim()).toBe(user);
      expect((await host.run(['uname', '-n'])).stdout.toString().trim()).toBe(hostname);
      expect(os).toBe(subject.os ?? 'linux');
    });

    describe('run', () => {
      it('passes every argument as it is', async () => {
        const { stdout, code } = await host.run(['printf', '%s\\0', ...awkward]);
        expect(stdout.toString('utf8').split('\0').slice(0, -1)).toEqual(awkward);
        expect(code).toBe(0);
      });

      it('keeps both streams apart, and bytes as they are', async () => {
        const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) & 0xff));
        const out = await host.run(['cat'], { stdin: bytes });
        expect(out.stdout.equals(bytes)).toBe(true);
        const both = await host.script('printf out; printf err >&2; exit 7');
        expect([both.stdout.toString(), both.stderr.toString(), both.code]).toEqual(['out', 'err', 7]);
      });

      it('gives no input where none is given', async () => {
        expect((await host.run(['cat'])).stdout).toHaveLength(0);
      });

      it('gives PATH, HOME, LANG and what is asked, nothing else', async () => {
        const { stdout } = await host.run(['env'], { env: { HC_X: 'a b\n"c"' } });
        const names = stdout
          .toString()
          .split('\n')
          .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
        const extra = ['PWD', '_', 'SHLVL', 'OLDPWD'];
        expect(names.filter((name) => !extra.includes(name)).toSorted()).toEqual([
          'HC_X',
          'HOME',
          'LANG',
          'PATH',
        ]);
        expect(stdout.toString()).toContain('HC_X=a b\n"c"');
      });

      it('runs in the folder that is named', async () => {
        const dir = await fresh();
        expect((await host.run(['pwd'], { cwd: dir })).stdout.toString().trim()).toBe(
          await host.realpath(dir),
        );
        expect(await code(host.run(['true'], { cwd: `${dir}/none` }))).toBe('not-found');
      });

      it('tells a command that is not there from one that ends with 127', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/plain`, Buffer.from('#!/bin/sh\n'), 0o644);
        expect(await code(host.run(['hc-no-such-command']))).toBe('not-found');
        expect(await code(host.run([`${dir}/none`]))).toBe('not-found');
        expect(await code(host.run([`${dir}/plain`]))).toBe('permission');
        expect((await host.script('exit 127')).code).toBe(127);
      });

      it('ends a command at its deadline, with all that it started', async () => {
        const dir = await fresh();
        const started = Date.now();
        const result = await host.script(`sleep 61 & echo $! >"$1/pid"; echo begun; wait`, [dir], {
          timeoutMs: 700,
        });
        expect(Date.now() - started).toBeLessThan(6000);
        expect([result.timedOut, result.code, result.stdout.toString()]).toEqual([true, null, 'begun\n']);
        const pid = (await text(`${dir}/pid`)).trim();
        for (let i = 0; i < 30; i++) {
          if ((await host.run(['kill', '-0', pid])).code !== 0) return;
          await sleep(100);
        }
        expect.fail(`process ${pid} lives on`);
      });

      it('works on after a deadline', async () => {
        await host.run(['sleep', '62'], { timeoutMs: 300 });
        expect((await host.run(['echo', 'well'])).stdout.toString()).toBe('well\n');
      });

      it('runs what waits behind a command that is ended', async () => {
        const dir = await fresh();
        const late = host.run(['sleep', '66'], { timeoutMs: 500 });
        const behind = Array.from({ length: 4 }, (_, i) =>
          host.script('echo "$2" >>"$1/ran"', [dir, String(i)]),
        );
        expect((await late).timedOut).toBe(true);
        expect((await Promise.all(behind)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
        expect((await text(`${dir}/ran`)).trim().split('\n').toSorted()).toEqual(['0', '1', '2', '3']);
      });

      it('ends a command that prints too much', async () => {
        const result = await host.run(['yes'], { maxOutput: 100_000, timeoutMs: 10_000 });
        expect([result.overflow, result.code, result.timedOut]).toEqual([true, null, false]);
        expect(result.stdout.length).toBeLessThanOrEqual(100_000);
      });

      it('ends a command when it is told to', async () => {
        const stop = new AbortController();
        const started = Date.now();
        setTimeout(() => stop.abort(), 300);
        const result = await host.run(['sleep', '63'], { signal: stop.signal });
        expect([result.code, result.timedOut]).toEqual([null, false]);
        expect(Date.now() - started).toBeLessThan(6000);
      });

      it('runs a dozen at once, a slow one among them', async () => {
        const slow = host.run(['sleep', '1'], { timeoutMs: 60_000 });
        const many = await Promise.all(
          Array.from({ length: 12 }, async (_, i) =>
            (await host.run(['echo', String(i)])).stdout.toString().trim(),
          ),
        );
        expect(many).toEqual(Array.from({ length: 12 }, (_, i) => String(i)));
        expect((await slow).code).toBe(0);
      });
    });

    describe('script', () => {
      it('gets its arguments, and its input apart from its text', async () => {
        const result = await host.script('printf "%s|" "$#" "$@"; cat; echo end', awkward, {
          stdin: 'in\0put\n',
        });
        expect(result.stdout.toString()).toBe(`${awkward.length}|${awkward.join('|')}|in\0put\nend\n`);
      });

      it('has no input but what is given: commands cannot eat its text', async () => {
        const result = await host.script(
          `cat; read -r line; echo "[$line]"\n${'# filler\n'.repeat(3000)}echo last`,
        );
        expect(result.stdout.toString()).toBe('[]\nlast\n');
      });

      it('may be large', async () => {
        const result = await host.script(`x='${'a'.repeat(400_000)}'; echo "\${#x}"`);
        expect(result.stdout.toString()).toBe('400000\n');
      });

      it('ends alone: a syntax error, exit and traps concern nobody else', async () => {
        const broken = await host.script('if then (');
        expect(broken.code).not.toBe(0);
        expect((await host.script('trap "echo bye" EXIT; exit 9')).stdout.toString()).toBe('bye\n');
        expect((await host.script('set -eu; false; echo never')).stdout.toString()).toBe('');
        expect((await host.script('echo "${hc_left:-none}"; hc_left=here')).stdout.toString()).toBe('none\n');
        expect((await host.script('echo "${hc_left:-none}"; exec echo replaced')).stdout.toString()).toBe(
          'none\nreplaced\n',
        );
      });
    });

    describe('files', () => {
      it('come back byte for byte, with their mode', async () => {
        const dir = await fresh();
        const cases: [string, Buffer][] = [
          ['empty', Buffer.alloc(0)],
          ['no end', Buffer.from('no final line end')],
          ['crlf', Buffer.from('\uFEFFa\r\nb\r\n')],
          ['all', Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff))],
        ];
        for (const [name, bytes] of cases) {
          await host.createFile(`${dir}/${name}`, bytes, 0o640);
          expect((await host.readFile(`${dir}/${name}`)).equals(bytes)).toBe(true);
          expect(await host.stat(`${dir}/${name}`)).toMatchObject({
            kind: 'file',
            size: bytes.length,
            mode: 0o640,
          });
        }
      });

      it('are made only where nothing is', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/a`, Buffer.from('first'), 0o600);
        await host.script('ln -s "$1/nowhere" "$1/dangling"', [dir]);
        for (const taken of ['a', 'dangling', '.'])
          expect(await code(host.createFile(`${dir}/${taken}`, Buffer.from('x'), 0o600))).toBe('exists');
        expect(await text(`${dir}/a`)).toBe('first');
        expect(await host.stat(`${dir}/nowhere`)).toBeNull();
        expect(await code(host.createFile(`${dir}/none/a`, Buffer.from('x'), 0o600))).toBe('not-found');
        expect(await code(host.createFile(`${dir}/a/b`, Buffer.from('x'), 0o600))).toBe('not-a-directory');
      });

      it('larger than the limit are not read', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/a`, Buffer.alloc(1001), 0o600);
        expect(await code(host.readFile(`${dir}/a`, 1000))).toBe('too-large');
        expect(await host.readFile(`${dir}/a`, 1001)).toHaveLength(1001);
      });

      it('tell why they cannot be read', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/a`, Buffer.from('x'), 0o600);
        await host.script('ln -s loop "$1/loop"', [dir]);
        expect(await code(host.readFile(`${dir}/none`))).toBe('not-found');
        expect(await code(host.readFile(dir))).toBe('is-a-directory');
        expect(await code(host.readFile(`${dir}/a/b`))).toBe('not-a-directory');
        expect(await code(host.readFile(`${dir}/loop`))).toBe('loop');
      });

      it('have metadata, of the link or of what it names', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/a b`, Buffer.from('12345'), 0o751);
        await host.script(
          'cd "$1"; ln -s "a b" link; ln "a b" hard; ln -s none dangling; mkfifo pipe; touch -d @1600000000 "a b"',
          [dir],
        );
        const { uid } = await host.identity();
        const file = await host.stat(`${dir}/a b`);
        expect(file).toMatchObject({
          kind: 'file',
          size: 5,
          mode: 0o751,
          nlink: 2,
          uid,
          mtimeMs: 1_600_000_000_000,
        });
        expect((await host.stat(`${dir}/link`))?.kind).toBe('symlink');
        expect(await host.stat(`${dir}/link`, true)).toEqual(file);
        expect((await host.stat(`${dir}/dangling`))?.kind).toBe('symlink');
        expect(await host.stat(`${dir}/dangling`, true)).toBeNull();
        expect((await host.stat(`${dir}/pipe`))?.kind).toBe('other');
        expect((await host.stat(dir))?.kind).toBe('dir');
        expect(await host.stat(`${dir}/none`)).toBeNull();
        expect(await host.stat(`${dir}/a b/x`)).toBeNull();
      });

      it('are found through links', async () => {
        const dir = await host.realpath(await fresh());
        await host.mkdir(`${dir}/real`, 0o755);
        await host.createFile(`${dir}/real/f`, Buffer.from('x'), 0o600);
        await host.script(
          'cd "$1"; ln -s real way; ln -s "../elsewhere  x" odd; ln -s real/f first; ln -s "$1/first" second',
          [dir],
        );
        expect(await host.realpath(`${dir}/way`)).toBe(`${dir}/real`);
        expect(await host.realpath(`${dir}/second`)).toBe(`${dir}/real/f`);
        expect(await host.realpath('/')).toBe('/');
        expect(await host.realpath(`${dir}/way/../way/f`)).toBe(`${dir}/real/f`);
        expect(await host.readlink(`${dir}/odd`)).toBe('../elsewhere  x');
        expect(await code(host.realpath(`${dir}/none`))).toBe('not-found');
        expect(await code(host.realpath(`${dir}/odd`))).toBe('not-found');
        expect(await code(host.readlink(`${dir}/none`))).toBe('not-found');
        expect(await code(host.readlink(`${dir}/real`))).toBe('other');
      });

      it('are listed, whatever their name', async () => {
        const dir = await fresh();
        const names = ['.hidden', '..twice', '-dash', 'a\nb', 'sp ace', 'ünï', '*', 'plain'];
        for (const name of names) await host.createFile(`${dir}/${name}`, Buffer.from(name), 0o600);
        expect((await host.readdir(dir)).toSorted()).toEqual(names.toSorted());
        for (const name of names) expect(await text(`${dir}/${name}`)).toBe(name);
        const empty = await fresh();
        expect(await host.readdir(empty)).toEqual([]);
        expect(await code(host.readdir(`${dir}/none`))).toBe('not-found');
        expect(await code(host.readdir(`${dir}/plain`))).toBe('not-a-directory');
      });

      it('take the place of others in one step', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/old`, Buffer.from('old'), 0o600);
        await host.createFile(`${dir}/new`, Buffer.from('new'), 0o644);
        await host.script('ln "$1/old" "$1/kept"', [dir]);
        await host.rename(`${dir}/new`, `${dir}/old`);
        expect(await text(`${dir}/old`)).toBe('new');
        expect(await text(`${dir}/kept`)).toBe('old');
        expect(await host.stat(`${dir}/new`)).toBeNull();
        expect(await code(host.rename(`${dir}/none`, `${dir}/old`))).toBe('not-found');
        await host.mkdir(`${dir}/folder`, 0o755);
        expect(await code(host.rename(`${dir}/old`, `${dir}/folder`))).toBe('is-a-directory');
        expect(await host.readdir(`${dir}/folder`)).toEqual([]);
        await host.script('ln -s folder "$1/way"', [dir]);
        await host.rename(`${dir}/old`, `${dir}/way`);
        expect(await text(`${dir}/way`)).toBe('new');
        expect(await host.readdir(`${dir}/folder`)).toEqual([]);
        await host.rename(`${dir}/folder`, `${dir}/moved`);
        expect((await host.stat(`${dir}/moved`))?.kind).toBe('dir');
      });

      it('are removed; what is not there is no error', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/a`, Buffer.from('x'), 0o600);
        await host.mkdir(`${dir}/d`, 0o700);
        expect(await code(host.removeDir(dir))).toBe('exists');
        expect(await code(host.removeFile(`${dir}/d`))).toBe('is-a-directory');
        await host.removeFile(`${dir}/a`);
        await host.removeFile(`${dir}/a`);
        await host.removeDir(`${dir}/d`);
        await host.removeDir(`${dir}/d`);
        expect(await host.readdir(dir)).toEqual([]);
      });

      it('take on the mode of another', async () => {
        const dir = await fresh();
        await host.createFile(`${dir}/from`, Buffer.from('x'), 0o600);
        await host.script('chmod 4751 "$1/from"', [dir]);
        await host.createFile(`${dir}/to`, Buffer.from('y'), 0o600);
        await host.copyOwnership(`${dir}/from`, `${dir}/to`);
        expect((await host.stat(`${dir}/to`))?.mode).toBe(0o4751);
      });

      it('folders get exactly the mode that is asked', async () => {
        const dir = await fresh();
        await host.mkdir(`${dir}/open`, 0o777);
        await host.mkdir(`${dir}/closed`, 0o700);
        expect((await host.stat(`${dir}/open`))?.mode).toBe(0o777);
        expect((await host.stat(`${dir}/closed`))?.mode).toBe(0o700);
        expect(await code(host.mkdir(`${dir}/open`, 0o777))).toBe('exists');
        expect(await code(host.mkdir(`${dir}/none/x`, 0o777))).toBe('not-found');
      });

      it('say that the disk is full, and leave nothing behind', async (context) => {
        const full = '/dev/full';
        if ((await host.stat(full)) === null) return context.skip();
        const result = await host.script('printf x >/dev/full');
        expect(result.code).not.toBe(0);
      });
    });

    describe('connect', () => {
      let server: Server;
      let port: number;
      beforeAll(async () => {
        server = createServer({ allowHalfOpen: true }, (socket) => {
          socket.on('error', () => {});
          socket.pipe(socket);
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        port = (server.address() as { port: number }).port;
      });
      afterAll(() => server.close());

      it('carries bytes both ways, several at once', async () => {
        const sizes = [1, 1000, 2_000_000];
        await Promise.all(
          sizes.map(async (size) => {
            const sent = Buffer.alloc(size, size & 0xff);
            const stream = await host.connect('127.0.0.1', port);
            stream.end(sent);
            const chunks: Buffer[] = [];
            for await (const chunk of stream) chunks.push(chunk as Buffer);
            expect(Buffer.concat(chunks).equals(sent)).toBe(true);
          }),
        );
      });

      it('says that nobody listens', async () => {
        const closed = createServer();
        await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
        const { port: free } = closed.address() as { port: number };
        await new Promise((resolve) => closed.close(resolve));
        await expect(host.connect('127.0.0.1', free)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      });
    });
  });
}
