/** A CA trusted in addition to the system's, by this process and by terraform. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** Makes this process trust a CA. @returns all authorities that it trusts */
export const trustInProcess = (caFile: string): readonly string[] => {
  const authorities = [...getCACertificates('default'), readFileSync(caFile, 'utf8')];
  setDefaultCACertificates(authorities);
  return authorities;
};

/** @returns the file with all authorities, for programs that take one */
export const trustAuthority = (caFile: string, folder: string): string => {
  const authorities = trustInProcess(caFile);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const bundle = join(folder, 'authorities.pem');
  writeFileSync(bundle, authorities.join('\n'));
  return bundle;
};
