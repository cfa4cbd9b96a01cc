/** What the command line of an engine says. */
export interface EngineCommand {
  /** `update`: without `--check`, which only asks. */
  command: 'dashboard' | 'serve' | 'gateway' | 'update' | 'other';
  /** `-p NAME`, as the engine picks it out before anything else (`hermes_cli/main.py`, _apply_profile_override). */
  profile: string | null;
  host: string | null;
  /** 0 means any free port. */
  port: number | null;
  isolated: boolean;
  openProfile: string | null;
}

const profileName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** `argv` of a Python process: interpreter, its options, script or `-m module` or `-c code`, then ours. */
export function parseEngineArgv(argv: readonly string[]): EngineCommand {
  const args = engineArguments(argv);
  const profile = valueOf(args, ['-p', '--profile']);
  const port = valueOf(args, ['--port']);
  return {
    command: commandOf(args),
    profile: profile !== null && profileName.test(profile) ? profile : null,
    host: valueOf(args, ['--host']),
    port: port !== null && /^\d{1,5}$/.test(port) && Number(port) < 65_536 ? Number(port) : null,
    isolated: args.includes('--isolated'),
    openProfile: valueOf(args, ['--open-profile']),
  };
}

/** Arguments after the script, module or code. */
export function engineArguments(argv: readonly string[]): string[] {
  for (let i = 1; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '-m' || arg === '-c') return argv.slice(i + 2);
    if (arg === '-X' || arg === '-W') i += 1;
    else if (!arg.startsWith('-')) return argv.slice(i + 1);
  }
  return [];
}

function commandOf(args: string[]): EngineCommand['command'] {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '-p' || arg === '--profile') i += 1;
    else if (!arg.startsWith('-'))
      return arg === 'update' && args.includes('--check')
        ? 'other'
        : (commands.find((each) => each === arg) ?? 'other');
  }
  return 'other';
}

const commands = ['dashboard', 'serve', 'gateway', 'update'] as const;

function valueOf(args: string[], names: string[]): string | null {
  for (const [i, arg] of args.entries()) {
    if (names.includes(arg)) return args[i + 1] ?? null;
    const name = names.find((each) => each.startsWith('--') && arg.startsWith(`${each}=`));
    if (name !== undefined) return arg.slice(name.length + 1);
  }
  return null;
}

const secretName = /token|secret|passw|api[-_]?key|ticket|cookie|authori[sz]ation|credential|nonce/i;
/** A flag that names a place is no secret itself. */
const placeName = /[-_](file|path|dir|env|url|command)$/i;

/** The command line without secrets: values of flags and variables with such a name, credentials and queries in URLs, `-c` programs. */
export function redactArgv(argv: readonly string[]): string[] {
  return argv.map((arg, i) => {
    const before = argv[i - 1] ?? '';
    if (before === '-c') return '[code]';
    if (isSecret(before) && before.startsWith('-') && !before.includes('=')) return '[redacted]';
    const named = /^(-{0,2}[\w.-]+)=/.exec(arg)?.[1];
    if (named !== undefined && isSecret(named)) return `${named}=[redacted]`;
    return arg
      .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, '$1[redacted]@')
      .replace(/([?&][\w.-]*(?:token|secret|key|ticket|code|state|passw)[\w.-]*=)[^&\s#]*/gi, '$1[redacted]')
      .slice(0, 1000);
  });
}

const isSecret = (name: string): boolean => secretName.test(name) && !placeName.test(name);
