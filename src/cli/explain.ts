import { usageError } from '../errors.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand } from './command.ts';
import { examples } from './command.ts';
import { wantsColor } from './io.ts';
import { emit } from './output.ts';
import type { RawOptions } from './request.ts';

export const explain: BuildCommand = (command, { io }) => {
  command
    .argument('[code]', 'a finding code, such as CHAT_DISABLED; none lists all')
    .option('--json', 'as JSON')
    .option('--no-color', 'no colour')
    .addHelpText('after', examples(['hermes-compat explain CHAT_DISABLED', 'hermes-compat explain']))
    .action(async (code: string | undefined, options: RawOptions) => {
      const {
        explainableCodes,
        explain: page,
        explanation,
        similarCodes,
      } = await import('../report/explain.ts');
      const json = options['json'] === true;
      if (code === undefined) {
        const found = explainableCodes().map((each) => explanation(each));
        return emit(
          io,
          {},
          json
            ? `${JSON.stringify({ ...documentHead('codes'), codes: found }, null, 2)}\n`
            : `${explainableCodes().join('\n')}\n`,
        );
      }
      const found = explanation(code);
      if (found === null) {
        const near = similarCodes(code);
        const hint = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
        throw usageError(`no finding code "${code.slice(0, 40)}"${hint}`, {
          commands: [['hermes-compat', 'explain']],
        });
      }
      const { coloured, plain } = await import('../report/style.ts');
      const style = wantsColor(io, options['color'] as boolean | undefined) ? coloured : plain;
      return emit(
        io,
        {},
        json
          ? `${JSON.stringify({ ...documentHead('explanation'), ...found }, null, 2)}\n`
          : page(found, style),
      );
    });
};
