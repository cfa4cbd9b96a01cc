import { tool } from '../tool.ts';

// The first file of the program: the version is asked most often (by scripts, by editors) and must not load the rest.
const [first, ...rest] = process.argv.slice(2);
if (rest.length === 0 && (first === '--version' || first === '-V')) process.stdout.write(`${tool.version}\n`);
else await import('./start.ts');
