import { createPrivateKey, X509Certificate } from 'node:crypto';
import { usageError } from '../errors.ts';

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?(?:-----END CERTIFICATE-----|$)/g;

/**
 * What `--ca` and `ca` name: every certificate in it must be one. OpenSSL passes over what it cannot read, and then the server looks guilty.
 *
 * @throws CompatError usage
 */
export function checkAuthorities(pem: string, path: string): void {
  certificatesIn(pem, path);
}

/**
 * What `--client-cert` names: a certificate, first, and the private key that belongs to it.
 *
 * @throws CompatError usage
 */
export function checkClientCertificate(pem: string, path: string): void {
  if (!pem.includes('PRIVATE KEY-----'))
    throw usageError(
      `${path} holds no private key; --client-cert needs one PEM file with the certificate and its key`,
    );
  const [own] = certificatesIn(pem, path);
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(pem))
    throw usageError(`the private key in ${path} is encrypted; give one that is not, readable only for you`);
  let fits = false;
  try {
    fits = own?.checkPrivateKey(createPrivateKey(pem)) === true;
  } catch (error) {
    throw usageError(`the private key in ${path} cannot be read`, { cause: error });
  }
  if (!fits) throw usageError(`the private key in ${path} does not belong to its first certificate`);
}

function certificatesIn(pem: string, path: string): X509Certificate[] {
  const found = pem.match(block) ?? [];
  if (found.length === 0) throw usageError(`${path} holds no PEM certificate`);
  return found.map((text, index) => {
    try {
      return new X509Certificate(text);
    } catch (error) {
      const which = found.length === 1 ? 'the certificate' : `certificate ${index + 1} of ${found.length}`;
      throw usageError(`${which} in ${path} cannot be read`, { cause: error });
    }
  });
}
