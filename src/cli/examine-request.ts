import { readFile } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import { proxyFromEnv } from '../target/proxy-env.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import { openHostFor } from './open-host.ts';
import {
  oneOf,
  pathResolver,
  type RawOptions,
  readCredentialOption,
  readHeaderFile,
  readRefinements,
  readSeconds,
  readTextFile,
} from './request.ts';

const text = (options: RawOptions, key: string): string | null => {
  const value = options[key];
  return typeof value === 'string' ? value : null;
};

/** What an examination of one target needs, from the options of `doctor`, `detect` and their like. Secrets are read once for all targets. */
export async function readExamineOptions(
  options: RawOptions,
  io: Io,
): Promise<(target: Target) => ExamineInput> {
  const refinements = readRefinements(options, io);
  const credential = await readCredentialOption(options, io);
  const connection = await readConnection(options, io);
  const patience = oneOf(text(options, 'patience') ?? 'normal', ['normal', 'cold'] as const, '--patience');
  const sessionProbe = oneOf(
    text(options, 'sessionProbe') ?? 'auto',
    ['auto', 'always', 'never'] as const,
    '--session-probe',
  );
  const timeoutMs = readSeconds(text(options, 'timeout'), '--timeout');
  const openHost = openHostFor(options, io);
  return (target) => {
    if (
      target.kind === 'http' &&
      (refinements.url ?? refinements.port ?? refinements.home ?? refinements.profile) !== null
    ) {
      throw usageError(
        '--url, --port, --home and --profile refine a local or ssh target, not an http(s) one',
      );
    }
    return {
      target,
      refinements,
      credential,
      openHost,
      env: io.env,
      client: text(options, 'client'),
      needs: {
        sessionMessages: true,
        modelOptions: true,
        modelLibrary: true,
        modelSet: false,
        asset: true,
        contract: false,
        sessionProbe,
        console: target.kind !== 'http',
      },
      patience,
      timeoutMs,
      ...throughProxy(connection, refinements.url ?? (target.kind === 'http' ? target.url : null), io),
      signal: io.signal,
      started: null,
    };
  };
}

/** `--proxy`, else what the environment names for this address; ssh targets have a way of their own. */
function throughProxy(
  connection: ExamineInput['connection'],
  url: string | null,
  io: Io,
): Pick<ExamineInput, 'connection' | 'proxyFrom'> {
  if (connection.proxy !== undefined) return { connection, proxyFrom: '--proxy' };
  const found = url === null ? null : proxyFromEnv(url, io.env);
  return found === null
    ? { connection, proxyFrom: null }
    : { connection: { ...connection, proxy: found.url }, proxyFrom: found.from };
}

async function readConnection(options: RawOptions, io: Io): Promise<ExamineInput['connection']> {
  const resolvePath = pathResolver(io);
  const headers = await readHeaderFile(text(options, 'headerFile'), io);
  const ca = text(options, 'ca');
  const certificate = text(options, 'clientCert');
  const hold = readSeconds(text(options, 'hold'), '--hold');
  const pem = certificate === null ? null : await readClientCertificate(resolvePath(certificate));
  const proxy = text(options, 'proxy');
  return {
    ...(Object.keys(headers).length === 0 ? {} : { headers: Object.entries(headers) }),
    ...(ca === null ? {} : { ca: await readCertificates(resolvePath(ca)) }),
    ...(pem === null ? {} : { clientCert: { cert: pem, key: pem } }),
    ...(proxy === null ? {} : { proxy: readProxy(proxy) }),
    ...(hold === null ? {} : { holdSeconds: hold / 1000 }),
  };
}

/** @throws CompatError usage */
export async function readCertificates(path: string): Promise<string> {
  const pem = await readTextFile(path, 'the certificate authority');
  const { checkAuthorities } = await import('../target/certificates.ts');
  checkAuthorities(pem, path);
  return pem;
}

/** @throws CompatError usage */
async function readClientCertificate(path: string): Promise<string> {
  const pem = await readTextFile(path, 'the client certificate');
  const { checkClientCertificate } = await import('../target/certificates.ts');
  checkClientCertificate(pem, path);
  return pem;
}

/** A proxy may need a password, but argv is no place for one. */
function readProxy(value: string): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw usageError('--proxy is not a URL');
  }
  if (!/^https?:$/.test(url.protocol)) throw usageError('--proxy must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw usageError('--proxy holds a user name or password; that would be visible to other users');
  return url.href;
}

/** `--from FACTS`: a document that `detect --json` wrote. @throws CompatError usage */
export async function readFactsFile(path: string, io: Io) {
  const [{ factsSchema }, bytes] = await Promise.all([
    import('../probe/schema.ts'),
    path === '-'
      ? readAll(io)
      : readFile(pathResolver(io)(path)).catch((error: NodeJS.ErrnoException) => {
          throw usageError(`cannot read ${path} (${error.code ?? 'unknown reason'})`, { cause: error });
        }),
  ]);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw usageError(`${path} is not JSON`, { cause: error });
  }
  const checked = factsSchema.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw usageError(
      `${path} holds no facts: ${issue?.path.map(String).join('.') || 'the document'}: ${issue?.message ?? 'is wrong'}`,
    );
  }
  if (!checked.data.schemaVersion.startsWith('1.'))
    throw usageError(
      `${path} has schemaVersion ${checked.data.schemaVersion.slice(0, 20)}; this program reads 1.x`,
    );
  return checked.data;
}

async function readAll(io: Io): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}
