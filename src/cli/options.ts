import type { Command } from 'commander';

/** Options that several commands share, in groups. Values stay text here; `cli/request.ts` checks them. */

export function targetOptions(command: Command): Command {
  return command
    .option('--url <URL>', 'where the dashboard is, as seen from the target host')
    .option('--port <PORT>', 'its port on the target host')
    .option('--home <DIR>', 'the HERMES_HOME to look at')
    .option('--profile <NAME>', 'a Hermes profile')
    .option('--origin <URL>', 'the Origin that your client sends (default: none)')
    .option('--mode <MODE>', 'auto, dashboard or legacy (the API server)', 'auto');
}

export function credentialOptions(command: Command): Command {
  return command
    .option('--token-env <NAME>', 'token from this environment variable')
    .option('--token-file <FILE>', 'token from this file')
    .option('--token-stdin', 'token from standard input')
    .option('--token-command <CMD>', 'token from what this command prints')
    .option('--username <NAME>', 'log in with this name')
    .option('--password-env <NAME>', 'password from this environment variable')
    .option('--password-file <FILE>', 'password from this file')
    .option('--password-stdin', 'password from standard input');
}

export function connectionOptions(command: Command): Command {
  return reachOptions(command, 'limit of one target as a whole')
    .option('--hold <SECONDS>', 'keep the WebSocket open and quiet this long')
    .option(
      '--session-probe <WHEN>',
      'read the contract by a memory-only session: auto, always, never',
      'auto',
    );
}

/** The way to a dashboard, for commands that use it instead of probing it. */
export function reachOptions(command: Command, limits = 'limit of the run as a whole'): Command {
  return command
    .option('--timeout <SECONDS>', limits)
    .option('--patience <WORD>', 'normal (15 s for an answer) or cold (90 s)', 'normal')
    .option('--ca <FILE>', 'trust this certificate authority (PEM)')
    .option('--client-cert <FILE>', 'client certificate and key (PEM)')
    .option('--header-file <FILE>', 'extra request headers, one "Name: value" a line')
    .option('--proxy <URL>', 'reach the dashboard through this HTTP proxy');
}

export function sshOptions(command: Command): Command {
  return command
    .option('--ssh-command', 'use the system ssh instead of the built-in client')
    .option('--allow-config-exec', 'let Match exec and ProxyCommand of ssh_config run')
    .option('--accept-new-host-key', 'record an unknown host key')
    .option('--ssh-password-env <NAME>', 'SSH password or passphrase from this variable')
    .option('--ssh-password-file <FILE>', 'SSH password or passphrase from this file')
    .option('--ssh-config <FILE>', 'read this instead of ~/.ssh/config')
    .option('--become <USER>', 'act as this user on the host (sudo -n)');
}

export function outputOptions(command: Command, formats: readonly string[]): Command {
  return command
    .option('--json', 'the same as --format json')
    .option('--format <FORMAT>', formats.join(', '))
    .option('--output <FILE>', 'write the report there instead of stdout')
    .option('-q, --quiet', 'no report when nothing is wrong')
    .option('--no-color', 'no colour')
    .option('-v, --verbose', 'also what passed, and timings');
}

export function checkOptions(command: Command): Command {
  return command
    .option('--client <NAME>', "whose needs are checked (see 'contract')", 'hermes-one')
    .option('--only <CHECK>', 'only these checks (repeatable, or with commas)', collect)
    .option('--skip <CHECK>', 'not these checks (repeatable, or with commas)', collect)
    .option('--list-checks', 'list the checks and end')
    .option('--fail-on <LEVEL>', 'error, or warn to fail on warnings too', 'error');
}

/** Repeatable and comma-separated. */
export const collect = (value: string, before: string[] = []): string[] => [
  ...before,
  ...value.split(',').filter((part) => part !== ''),
];
