import { closedPort } from './closed-port.ts';
import { here, node, program } from './paths.ts';
import { compare } from './ratio.ts';
import { ratioSection, type Section } from './section.ts';

/** Start-up against bare node, doctor on a closed port against the bare imports. */
export async function startUp(runs = 21): Promise<Section> {
  const port = await closedPort();
  const rows = [
    compare('`--version` / `node -e 0`', [node, program, '--version'], [node, '-e', '0'], {
      runs,
      limit: 1.5,
    }),
    compare('`--help` / `node -e 0`', [node, program, '--help'], [node, '-e', '0'], { runs, limit: 1.5 }),
    compare(
      '`doctor`, closed port / node importing the same libraries',
      [node, program, 'doctor', `http://127.0.0.1:${port}`],
      [node, here('same-libraries.mjs')],
      { runs, limit: 1.3 },
    ),
  ];
  return ratioSection(
    'Start-up',
    'What every call pays. The last row loads the HTTP client, asks, judges and prints.',
    rows,
  );
}
