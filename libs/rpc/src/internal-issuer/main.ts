#!/usr/bin/env node
/**
 * `keelson-internal-ca <folder>`: creates the internal CA of a distributed installation and the join token of
 * each service. Does nothing if the CA exists already.
 */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  authorityCertificatePem,
  createInternalAuthorityPem,
  joinToken,
  parseInternalAuthority,
} from './internal-authority.ts';
import { SERVICE_NAMES } from './internal-issuer.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-')) {
  console.error(
    'usage: keelson-internal-ca <folder>\n' +
      'writes <folder>/sys/internal-ca.pem (secret, for sys alone) and, in the folder of each other\n' +
      'service, internal-ca-certificate.pem and join-token (secret)',
  );
  process.exit(2);
}

const exists = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};
const folderOf = async (service: string): Promise<string> => {
  const path = join(folder, service);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
};

const authorityFile = join(await folderOf('sys'), 'internal-ca.pem');
await writeFile(authorityFile, await createInternalAuthorityPem(Date.now()), {
  flag: 'wx',
  mode: 0o600,
  flush: true,
}).catch(exists);
const authority = parseInternalAuthority(await readFile(authorityFile, 'utf8'));
for (const service of SERVICE_NAMES.filter((name) => name !== 'sys')) {
  const path = await folderOf(service);
  await writeFile(join(path, 'internal-ca-certificate.pem'), authorityCertificatePem(authority));
  const tokenFile = join(path, 'join-token');
  await writeFile(tokenFile, `${joinToken(authority, service)}\n`, { mode: 0o600 });
  await chmod(tokenFile, 0o600);
}
console.log(`internal CA and join tokens are in ${folder}`);
