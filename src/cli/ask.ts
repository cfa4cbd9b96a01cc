import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { shown } from '../report/shown.ts';
import type { Io } from './io.ts';

/** Questions to a person, on stderr, so that stdout stays the report. null when they end the input instead. */
export const askShown = (io: Io, question: string): Promise<string | null> => ask(io, question, true);

/** What is typed is not shown. */
export const askHidden = (io: Io, question: string): Promise<string | null> => ask(io, question, false);

/** Only `y` and `yes` are a yes. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const answer = await askShown(io, `${question} [y/N] `);
  return answer !== null && /^y(es)?$/i.test(answer.trim());
}

function ask(io: Io, question: string, echo: boolean): Promise<string | null> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: io.stdin,
    output: echo ? io.stderr : silent,
    terminal: true,
    historySize: 0,
  });
  io.stderr.write(shown(question));
  return new Promise((resolve) => {
    let answered = false;
    const finish = (answer: string | null): void => {
      // Closing the lines tells of their end at once, which is no second answer.
      if (answered) return;
      answered = true;
      io.signal.removeEventListener('abort', stop);
      lines.close();
      if (!echo || answer === null) io.stderr.write('\n');
      resolve(answer);
    };
    const stop = (): void => finish(null);
    lines.once('line', finish);
    lines.once('close', stop);
    lines.once('SIGINT', stop);
    io.signal.addEventListener('abort', stop, { once: true });
  });
}
