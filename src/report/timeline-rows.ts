import { schemaVersion, tool } from '../tool.ts';
import { rowsOfTurn } from '../turn/index.ts';
import { safe } from './json.ts';
import type { TimelineWriter } from './timeline.ts';

/** The rows that a client with a flat transcript shows, as one JSON document; every row names its turn. */
export function timelineRows(): TimelineWriter {
  let rows = 0;
  let name = '';
  let several = false;
  return {
    begin(files) {
      several = files > 1;
      const head = JSON.stringify({ kind: 'rows', schemaVersion, tool });
      return `${head.slice(0, -1)},"rows":[`;
    },
    head(file) {
      name = file;
      return '';
    },
    turn(turn) {
      const place = several ? { file: name, turn: turn.index } : { turn: turn.index };
      const lines = rowsOfTurn(turn, `turn-${turn.index}`).map((row) =>
        safe(JSON.stringify({ ...place, ...row })),
      );
      const text = lines.map((line) => `${rows++ > 0 ? ',' : ''}\n${line}`);
      return text.join('');
    },
    foot: () => '',
    end: () => '\n]}\n',
  };
}
