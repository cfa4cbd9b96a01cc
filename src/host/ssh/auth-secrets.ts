import type { AnyAuthMethod } from 'ssh2';
import type { Ask, Attempt } from './auth.ts';
import type { AuthState } from './auth-failure.ts';
import { firstLine } from './failures.ts';
import type { Questions } from './types.ts';

/** Password, or a dialogue in which the only hidden question for a password is answered with it. */
export function secretAttempt(method: string, state: AuthState, questions: Questions, ask: Ask): Attempt {
  const username = state.settings.user;
  const password = (): Promise<string | null> =>
    state.settings.mayAsk
      ? ask(questions.password?.(state.name) ?? Promise.resolve(null))
      : Promise.resolve(null);
  if (method === 'password') {
    const make = async (): Promise<AnyAuthMethod | null> => {
      const secret = await password();
      return secret === null ? null : { type: 'password', username, password: secret };
    };
    return { method, label: method, make };
  }
  const answer = async (
    title: string,
    prompts: { text: string; echo: boolean }[],
  ): Promise<string[] | null> => {
    const [only] = prompts;
    if (prompts.length === 1 && only !== undefined && !only.echo && /password/i.test(only.text)) {
      const secret = await password();
      return secret === null ? null : [secret];
    }
    return state.settings.mayAsk ? ask(questions.answers?.(title, prompts) ?? Promise.resolve(null)) : null;
  };
  const make = async (): Promise<AnyAuthMethod> => ({
    type: 'keyboard-interactive',
    username,
    prompt: (title, _instructions, _language, prompts, give) => {
      const asked = prompts.map(({ prompt, echo }) => ({ text: prompt, echo: echo === true }));
      const blank = (): void => {
        state.unanswered.push(...asked.map(({ text }) => firstLine(text)));
        give(asked.map(() => ''));
      };
      answer(title, asked).then((answers) => (answers === null ? blank() : give(answers)), blank);
    },
  });
  return { method, label: method, make };
}
