import type { ResponseHeaders } from '../../probe/exchange-schema.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { pathPrefix, proxyRemedies } from '../remedies/proxy.ts';
import { sawHttp } from '../saw.ts';
import type { Remedy } from '../schema.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

type Cookie = ResponseHeaders['setCookies'][number];

/** A program replays the cookie by hand and is green; a browser keeps it only when its attributes fit the address (RFC 6265bis §5.7). */
export const loginCookie: CheckDefinition = {
  id: 'login-cookie',
  summary: 'a browser would keep the login cookie',
  probes: ['login'],
  run({ reading }) {
    const login = reading.http('login');
    if (login?.status !== 200) return skip('no login was made');
    const cookies = (login.headers?.setCookies ?? []).filter((each) =>
      /hermes_session_(at|rt)$/.test(each.name),
    );
    if (cookies.length === 0) return skip('the login set no cookie');
    const url = reading.facts.service?.url ?? login.url;
    const faults = cookies.flatMap((cookie) => {
      const why = refusal(cookie, url);
      return why === null ? [] : [{ cookie, why }];
    });
    const [first] = faults;
    if (first === undefined) return done([]);
    return done([
      draft('COOKIE_NOT_STORED', {
        args: { cookie: first.cookie.name, why: first.why, url },
        evidence: [
          sawHttp(login),
          ...faults.map(({ cookie, why }) => `Set-Cookie ${cookie.name}${attributes(cookie)}: ${why}`),
        ],
        remedies: remediesOf(reading, first.why),
      }),
    ]);
  },
};

/** Path and Secure of the cookie follow what the proxy tells the engine of itself. */
function remediesOf(reading: Reading, why: string): Remedy[] {
  if (why.startsWith('its Path')) return proxyRemedies(reading, 'prefix-header');
  return why.endsWith('the address is http') ? proxyRemedies(reading, 'forwarded-proto') : [];
}

const attributes = (cookie: Cookie): string =>
  [
    cookie.secure ? '; Secure' : '',
    cookie.path === null ? '' : `; Path=${cookie.path}`,
    cookie.domain === null ? '' : `; Domain=${cookie.domain}`,
    cookie.sameSite === null ? '' : `; SameSite=${cookie.sameSite}`,
  ].join('');

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function refusal(cookie: Cookie, url: string): string | null {
  const match = /^(https?):\/\/(\[[^\]]*\]|[^/:?#]+)/i.exec(url);
  if (match === null) return null;
  const [, scheme = '', host = ''] = match;
  const plainHttp = scheme.toLowerCase() === 'http' && !loopback.test(host);
  const path = cookie.path ?? '/';
  const under = `${pathPrefix(url)}/`;
  if (cookie.secure && plainHttp) return 'it is Secure, and the address is http';
  if (/^__(Host|Secure)-/.test(cookie.name) && !cookie.secure)
    return 'its name asks for Secure, which it lacks';
  if (cookie.name.startsWith('__Host-') && (path !== '/' || cookie.domain !== null))
    return 'its name asks for Path=/ and no Domain';
  if (path !== '/' && !under.startsWith(path.endsWith('/') ? path : `${path}/`))
    return `its Path ${path} does not cover the address`;
  const domain = cookie.domain?.replace(/^\./, '').toLowerCase();
  if (domain !== undefined && host.toLowerCase() !== domain && !host.toLowerCase().endsWith(`.${domain}`))
    return `its Domain ${domain} is not the host of the address`;
  if (cookie.sameSite?.toLowerCase() === 'none' && !cookie.secure) return 'SameSite=None asks for Secure';
  return null;
}
