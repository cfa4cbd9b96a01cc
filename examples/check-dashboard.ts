// Does a dashboard work for a client? Arguments: URL, client. The token, if it needs one, is in HERMES_COMPAT_TOKEN.
import { check, CompatError, explanation, render } from 'hermes-compat';

const [url = 'http://127.0.0.1:9119', client = 'hermes-one'] = process.argv.slice(2);
try {
  const report = await check(url, {
    client,
    token: process.env['HERMES_COMPAT_TOKEN'],
    timeoutMs: 30_000,
  });
  console.log(report.verdict);
  for (const { code, confidence } of report.findings)
    console.log(`${code} (${confidence}): ${explanation(code)?.means ?? ''}`);
  console.log(await render(report, 'human'));
  process.exitCode = report.exitCode;
} catch (error) {
  // What you gave was wrong: an address that is none, a client that nobody knows.
  if (!(error instanceof CompatError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
