import type { Messages } from './message.ts';
import { has, value } from './message.ts';

const host = (args: Parameters<Messages[string]['says']>[0]): string => value(args, 'host', 'the host');

/** Key files that were left alone, each with the reason in words. */
const refused = (args: Parameters<Messages[string]['says']>[0]): string =>
  value(args, 'refused', '').replaceAll('(permissions)', '(others may read it: chmod 600)');

/** SSH, before anything of Hermes is seen. */
export const sshMessages: Messages = {
  SSH_UNREACHABLE: {
    says: (args) =>
      `No SSH connection to ${host(args)}${has(args, 'error') ? `: ${value(args, 'error', '')}` : ''}`,
    means: 'The machine or its SSH port cannot be reached, or something else listens there.',
    seen: 'No SSH greeting came within the limit.',
    todo: 'Check host, port, VPN and firewall.',
  },
  SSH_HOSTKEY_UNKNOWN: {
    says: (args) =>
      `The host key of ${host(args)} is not known${has(args, 'fingerprint') ? ` (${value(args, 'fingerprint', '')})` : ''}`,
    means: 'Nothing was sent, because nobody has confirmed yet that this is the right machine.',
    seen: 'The key is in none of the known_hosts files.',
    todo: 'Compare the fingerprint with the machine’s own, then use --accept-new-host-key once.',
  },
  SSH_HOSTKEY_CHANGED: {
    says: (args) => `The host key of ${host(args)} has changed`,
    means: 'It is another machine, it was reinstalled, or somebody is in between. Nothing was sent.',
    seen: 'known_hosts has another key of the same type for it.',
    todo: 'Find out why. When it is right, remove the old line from known_hosts yourself; there is no option for it.',
  },
  SSH_HOSTKEY_REVOKED: {
    says: (args) => `The host key of ${host(args)} is revoked`,
    means: 'Somebody marked exactly this key as not to be trusted. Nothing was sent.',
    seen: 'A @revoked line in known_hosts.',
    todo: 'Ask who runs the machine for its new key.',
  },
  SSH_AUTH_FAILED: {
    says: (args) =>
      `${host(args)} ${args['partial'] === true ? 'accepted the first step of the login and not the next' : 'lets us not in'} (tried ${value(args, 'tried', 'nothing')}; it offers ${value(args, 'offered', 'unknown')}${has(args, 'refused') ? `; not used: ${refused(args)}` : ''})`,
    means: 'User, key or password is not accepted, or a second factor is missing.',
    seen: 'Every method that both sides know was refused.',
    todo: 'Check the user name and which key the account accepts; passwords come from --ssh-password-file or a prompt.',
  },
  SSH_KEY_ENCRYPTED: {
    says: (args) =>
      args['wrong'] === true
        ? `The passphrase does not open the key ${value(args, 'key', '')}`
        : `The key ${value(args, 'key', '')} has a passphrase and there is no terminal to ask for it`,
    means: 'Without the passphrase the key cannot be used.',
    seen: 'The key file is encrypted.',
    todo: 'Add it to an SSH agent, run this on a terminal, or give the passphrase by --ssh-password-file.',
  },
  SSH_AGENT_MISSING: {
    says: () => 'The SSH agent does not answer',
    means: 'The configuration names an agent, and its socket is not there.',
    seen: 'The agent’s socket could not be opened.',
    todo: 'Start the agent, or name a key file.',
  },
  SSH_KEX_MISMATCH: {
    says: (args) => `${host(args)} and this program share no key exchange or host key type`,
    means: 'The server allows only methods that the built-in SSH does not have.',
    seen: 'The handshake ended without a common algorithm.',
    todo: 'Use --ssh-command, which runs the system’s ssh.',
  },
  SSH_NEEDS_SYSTEM_CLIENT: {
    says: (args) =>
      `This connection needs the system’s ssh (${value(args, 'why', 'a feature that the built-in one lacks')})`,
    means: 'Certificates, security keys, GSSAPI and @cert-authority are not in the built-in SSH.',
    seen: 'The configuration of this host asks for it.',
    todo: 'Use --ssh-command.',
  },
  SSH_CONFIG_UNSUPPORTED: {
    says: (args) =>
      `The SSH configuration has ${value(args, 'directive', 'a directive')} that is not honoured`,
    means: 'Going on without it might reach another machine or run a command that nobody asked for.',
    seen: 'The settings for this host in ssh_config.',
    todo: 'Use --ssh-command, or --allow-config-exec where it runs a command.',
  },
  SSH_SHELL_UNUSABLE: {
    says: (args) =>
      `The account on ${host(args)} gives no usable shell${has(args, 'line') ? `: ${value(args, 'line', '')}` : ''}`,
    means: 'A forced command, nologin, or an rc file that takes over the session.',
    seen: 'The begin mark of our script did not come back.',
    todo: 'Use another account, or take the forced command off for this key.',
  },
  SSH_FORWARD_FORBIDDEN: {
    says: (args) => `${host(args)} forbids forwarding, so the probes ran on the machine itself`,
    means: 'The dashboard was asked there with python3 or curl, which see less.',
    seen: 'The server refused a direct-tcpip channel.',
    todo: 'Allow it with AllowTcpForwarding local for this account.',
  },
  SSH_SFTP_UNUSABLE: {
    says: (args) =>
      `SFTP on ${host(args)} is broken${has(args, 'line') ? `: ${value(args, 'line', '')}` : ''}`,
    means: 'An rc file that prints something spoils the file transfer.',
    seen: 'The first bytes were text instead of SFTP.',
    todo: 'Let the rc files print nothing in sessions without a terminal.',
  },
  SSH_CUT: {
    says: (args) => `The SSH connection to ${host(args)} was cut in the middle`,
    means: 'What was running there may have ended; changes are all or nothing.',
    seen: 'The connection closed before the end mark came.',
    todo: 'Run the same command again; it looks first where things stand.',
  },
  SUDO_REFUSED: {
    says: (args) => `sudo does not let us become ${value(args, 'user', 'that user')} without a password`,
    means: '--become uses sudo -n and never asks.',
    seen: 'sudo -n answered with an error.',
    todo: 'Log in as that user, or allow the command in sudoers.',
  },
  STDOUT_NOISE: {
    says: (args) =>
      `Login files print text in sessions without a terminal${has(args, 'line') ? `: ${value(args, 'line', '')}` : ''}`,
    means: 'It was filtered out here; other tools break on it.',
    seen: 'Text before the begin mark of our script.',
    todo: 'Let the rc files print only on a terminal.',
  },
};
