/** A CA trusted in addition to the system's, by this process and by terraform. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** @returns the file with all authorities, for programs that take one */
export const trustAuthority = (caFile: string, folder: string): string => {
  const authorities = [...getCACertificates('default'), readFileSync(caFile, 'utf8')];
  setDefaultCACertificates(authorities);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const bundle = join(folder, 'authorities.pem');
  writeFileSync(bundle, authorities.join('\n'));
  return bundle;
};
