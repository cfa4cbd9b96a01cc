import type { RunResult } from '../types.ts';
import { within } from './clock.ts';
import { cutError } from './failures.ts';
import type { Login } from './login.ts';
import type { StreamEvent } from './markers.ts';
import { requestText, timeoutOf, type Work } from './requests.ts';

/** A result, or what was not there to run: `cwd`, `command`, or the `right` to run it. */
export type Outcome = RunResult & { missing: string | null };

/** A remote `/bin/sh` that runs one request after the other. Requests are sent before earlier ones have ended. */
export interface Shell {
  /** How many requests have not ended. */
  waiting(): number;
  /** None of those takes long. */
  brief(): boolean;
  usable(): boolean;
  run(work: Work): Promise<Outcome>;
  close(): void;
}

interface Job {
  id: number;
  work: Work;
  kept: Record<Stream, { chunks: Buffer[]; total: number }>;
  open: Set<Stream>;
  begun: boolean;
  code: number | null;
  missing: string | null;
  settle(outcome: Outcome): void;
  fail(error: unknown): void;
  /** Nobody needs to be told about an interruption any more. */
  forget(): void;
}

/** Thrown for a request that waited behind one that was stopped: it may be given to another shell. */
export const notRun = new Error('the request was not run');

type Stream = 'stdout' | 'stderr';
type Stop = 'timedOut' | 'overflow' | 'aborted';

const MiB = 1024 * 1024;
const mostEndingMs = 3000;

/**
 * @param abandon ends what the shell runs; called when a request is past its deadline, aborted or too loud. The shell is of no
 * more use then, and what waits behind that request has not run
 */
export function requestShell(login: Login, host: string, abandon: () => Promise<void>): Shell {
  const { pipe, nonce } = login;
  const jobs: Job[] = [];
  let usable = true;
  let stopping = false;
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;

  const armTimer = (): void => {
    clearTimeout(timer);
    const [head] = jobs;
    if (head !== undefined) timer = setTimeout(() => stop(head, 'timedOut'), timeoutOf(head.work));
  };
  const finish = (job: Job, how: Partial<Outcome>): void => {
    jobs.splice(jobs.indexOf(job), 1);
    armTimer();
    job.forget();
    job.settle(outcomeOf(job, how));
  };
  /** `clean`: the shell was ended and all its output is read, so that what has not begun has not run. */
  const failAll = (clean: boolean): void => {
    clearTimeout(timer);
    usable = false;
    for (const job of jobs.splice(0)) {
      job.forget();
      job.fail(clean && !job.begun ? notRun : cutError(host));
    }
  };
  const stop = (job: Job, why: Stop): void => {
    if (!usable || !jobs.includes(job)) return;
    usable = false;
    stopping = true;
    clearTimeout(timer);
    jobs.splice(jobs.indexOf(job), 1);
    job.forget();
    const outcome = outcomeOf(job, { signal: 'SIGKILL', ...(why === 'aborted' ? {} : { [why]: true }) });
    const ended = abandon().finally(() => {
      pipe.close();
      failAll(false);
    });
    // It is said to be over when it is, unless the host does not answer any more.
    void within(ended, mostEndingMs).then(() => job.settle(outcome));
  };
  // The two streams run apart: one may be at the next request while the other still ends this one.
  const current: Record<Stream, Job | undefined> = { stdout: undefined, stderr: undefined };
  login.listen((stream, event) => {
    if (event.kind === 'mark' && event.name.startsWith('B'))
      current[stream] = jobs.find(({ id }) => event.name === `B${id}`);
    const job = current[stream];
    if (job === undefined) return;
    job.begun = true;
    if (event.kind === 'data' && !keep(job, stream, event.bytes)) stop(job, 'overflow');
    if (event.kind === 'mark' && ends(job, stream, event)) finish(job, { code: job.code });
  });
  void pipe.ended.then(() => failAll(stopping));
  return {
    waiting: () => jobs.length,
    brief: () => jobs.every((job) => job.work.brief),
    usable: () => usable,
    run: (work) =>
      new Promise((settle, fail) => {
        const job = newJob(++lastId, work, settle, fail);
        const text = requestText(nonce, job.id, work);
        const { signal } = work.options;
        if (signal?.aborted === true) return settle(outcomeOf(job, { signal: 'SIGKILL' }));
        const abort = (): void => stop(job, 'aborted');
        job.forget = () => signal?.removeEventListener('abort', abort);
        signal?.addEventListener('abort', abort, { once: true });
        jobs.push(job);
        if (jobs.length === 1) armTimer();
        pipe.stdin.write(text);
      }),
    close: () => {
      pipe.close();
      failAll(false);
    },
  };
}

const newJob = (id: number, work: Work, settle: Job['settle'], fail: Job['fail']): Job => ({
  id,
  work,
  kept: { stdout: { chunks: [], total: 0 }, stderr: { chunks: [], total: 0 } },
  open: new Set(['stdout', 'stderr']),
  begun: false,
  code: null,
  missing: null,
  settle,
  fail,
  forget: () => {},
});

const outcomeOf = (job: Job, how: Partial<Outcome>): Outcome => ({
  code: null,
  signal: null,
  timedOut: false,
  overflow: false,
  missing: job.missing,
  stdout: Buffer.concat(job.kept.stdout.chunks),
  stderr: Buffer.concat(job.kept.stderr.chunks),
  ...how,
});

/** False when the limit is passed; what came before stays. */
function keep(job: Job, stream: Stream, bytes: Buffer): boolean {
  if (stream === 'stdout') job.work.options.onOutput?.(bytes);
  const kept = job.kept[stream];
  if (kept.total + bytes.length > (job.work.options.maxOutput ?? 32 * MiB)) return false;
  kept.chunks.push(bytes);
  kept.total += bytes.length;
  return true;
}

/** Notes what a marker says; true when both streams have ended. */
function ends(job: Job, stream: Stream, event: Extract<StreamEvent, { kind: 'mark' }>): boolean {
  if (event.name === `M${job.id}`) job.missing = event.value;
  if (event.name !== `E${job.id}`) return false;
  if (stream === 'stdout') job.code = Number(event.value);
  job.open.delete(stream);
  return job.open.size === 0;
}
