#!/usr/bin/env node
/**
 * `keelson-internal-ca <folder>`: creates the internal CA of a distributed installation, the join token of each
 * service, its passwords for PostgreSQL and Redis, and the nkey with which services are admitted to NATS. Keeps those
 * that exist already.
 */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  authorityCertificatePem,
  createInternalAuthorityPem,
  joinToken,
  parseInternalAuthority,
} from './internal-authority.ts';
import { SERVICE_NAMES, type ServiceName, STORE_SERVICES } from './internal-issuer.ts';
import { createNatsUser, toServerConfiguration } from './nats-user.ts';
import { createPassword, toAccessControlList, toSettingsFile } from './store-users.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-')) {
  console.error(
    'usage: keelson-internal-ca <folder>\n' +
      'writes <folder>/sys/internal-ca.pem (secret, for sys alone) and, in the folder of each other\n' +
      'service, internal-ca-certificate.pem and join-token (secret); in those of the services that use\n' +
      'NATS, and in standby, nats.nkey (secret); and nats/nats.conf, which admits it to a NATS server;\n' +
      'in postgres, the password of each role (secret), and redis/users.acl, which admits the services to\n' +
      'a Redis server; and settings.yaml (secret) of each service, with its passwords for both',
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

/** Services that publish or follow logs, and the clusters of the other site in compose. */
const NATS_USERS = [...STORE_SERVICES, 'standby'];
const natsUser = createNatsUser();
const ownSeedFile = join(await folderOf('sys'), 'nats.nkey');
await writeFile(ownSeedFile, `${natsUser.seed}\n`, { flag: 'wx', mode: 0o600, flush: true }).catch(
  exists,
);
const seed = (await readFile(ownSeedFile, 'utf8')).trim();
for (const user of NATS_USERS) {
  const seedFile = join(await folderOf(user), 'nats.nkey');
  await writeFile(seedFile, `${seed}\n`, { mode: 0o600 });
  await chmod(seedFile, 0o600);
}
/** The folder of a server, which runs as another user; its configuration has no secret. */
const serverFolderOf = async (server: string): Promise<string> => {
  const path = join(folder, server);
  await mkdir(path, { recursive: true, mode: 0o755 });
  await chmod(path, 0o755);
  return path;
};
await writeFile(join(await serverFolderOf('nats'), 'nats.conf'), toServerConfiguration(seed));

const keptPassword = async (file: string): Promise<string> => {
  await writeFile(file, `${createPassword()}\n`, { flag: 'wx', mode: 0o600, flush: true }).catch(
    exists,
  );
  return (await readFile(file, 'utf8')).trim();
};
const roles = await folderOf('postgres');
await keptPassword(join(roles, 'superuser'));
const databasePasswords = new Map<string, string>();
for (const role of STORE_SERVICES)
  databasePasswords.set(role, await keptPassword(join(roles, role)));
const redisPasswords = new Map<ServiceName, string>();
for (const service of SERVICE_NAMES) {
  const path = await folderOf(service);
  const password = await keptPassword(join(path, 'redis-password'));
  redisPasswords.set(service, password);
  const settingsFile = join(path, 'settings.yaml');
  const settings = toSettingsFile(service, password, databasePasswords.get(service));
  await writeFile(settingsFile, settings, { mode: 0o600 });
  await chmod(settingsFile, 0o600);
}
const accessFile = join(await serverFolderOf('redis'), 'users.acl');
await writeFile(accessFile, toAccessControlList(redisPasswords));
console.log(
  `internal CA, join tokens, passwords for PostgreSQL and Redis, and the nkey for NATS are in ${folder}`,
);
