/** Certificates of servers that speak TLS, from an authority of their own. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinary } from './find-binary.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly authorityFile: string;
  /** For localhost and 127.0.0.1. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export const writeCertificates = async (folder: string): Promise<CertificateFiles> => {
  const openssl = await findBinary('openssl', 'openssl');
  const make = (...args: readonly string[]): void => {
    execFileSync(openssl, args, { stdio: 'ignore' });
  };
  const fileOf = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const ca = ['-keyout', fileOf('ca.key'), '-out', fileOf('ca.pem'), '-subj', '/CN=CA'];
  make('req', '-x509', ...key, ...ca);
  await writeFile(fileOf('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const request = ['-keyout', fileOf('end.key'), '-out', fileOf('end.csr'), '-subj', '/CN=end'];
  make('req', ...key, ...request);
  const signer = ['-CA', fileOf('ca.pem'), '-CAkey', fileOf('ca.key'), '-CAcreateserial'];
  const files = ['-in', fileOf('end.csr'), '-out', fileOf('end.pem'), '-extfile', fileOf('names')];
  make('x509', '-req', ...signer, ...files);
  return {
    authorityFile: fileOf('ca.pem'),
    certificateFile: fileOf('end.pem'),
    keyFile: fileOf('end.key'),
  };
};
