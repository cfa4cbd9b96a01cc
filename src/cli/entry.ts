// The first file of the program: its version and the list of its commands are asked most often (by scripts, by editors, by people who
// look around) and must not load the rest.
const [first, ...rest] = process.argv.slice(2);
const alone = rest.length === 0;
if (alone && (first === '--version' || first === '-V')) say(`${(await import('../tool.ts')).tool.version}\n`);
else if (alone && [undefined, '--help', '-h', 'help'].includes(first))
  say((await import('./root-help.ts')).rootHelp());
else await import('./start.ts');

function say(text: string): void {
  // A closed pipe (`| head`) is the reader's wish; a full disk is not.
  process.stdout.once('error', (error) => {
    void import('./io.ts').then(({ isGone }) => process.exit(isGone(error) ? 0 : 70));
  });
  process.stdout.write(text);
}
