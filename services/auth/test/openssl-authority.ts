/** Certificates, and the authorities that sign them, made by openssl in a temporary folder. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';

export const LEAF = ['basicConstraints=critical,CA:FALSE', 'extendedKeyUsage=clientAuth'];
export const CA = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export interface CertificateOptions {
  readonly subject?: string;
  /** Name of the certificate that signs it; it signs itself without one. */
  readonly signer?: string;
  readonly extensions?: readonly string[];
  readonly days?: string;
}

export const openAuthorities = async () => {
  const folder = await temporaryDirectory();
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder.path, stdio: 'ignore' });
  };
  const pemOf = (name: string): string => readFileSync(join(folder.path, `${name}.pem`), 'utf8');
  return {
    path: folder.path,
    openssl,
    pemOf,
    derOf: (name: string): Buffer =>
      Buffer.from(pemOf(name).replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'),
    /** Signs a certificate. */
    make: (
      name: string,
      {
        subject = '/O=Example/OU=ops/CN=alice',
        signer,
        extensions = [],
        days = '30',
      }: CertificateOptions = {},
    ): void => {
      const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', days];
      const added = extensions.flatMap((extension) => ['-addext', extension]);
      const ca = signer === undefined ? [] : ['-CA', `${signer}.pem`, '-CAkey', `${signer}.key`];
      openssl('req', '-x509', ...KEY, ...files, '-subj', subject, ...added, ...ca);
    },
    close: () => folder[Symbol.asyncDispose](),
  };
};

export type Authorities = Awaited<ReturnType<typeof openAuthorities>>;
