/**
 * Replacements of the key file of real processes: what a former file opens afterwards, and how a start completes
 * a replacement that a crash interrupted.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '@keelson/errors';
import { createBarrier } from '@keelson/storage';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { callsOf } from '@keelson/testkit/replication-cluster';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STORE_SERVICES } from '../../src/first-start.ts';
import { barrierKeyOf, rootKeyOf, storedOf } from '../golden/golden-records.ts';

let base: TemporaryDirectory;
let data: string;
let keelson: KeelsonProcess;
beforeEach(async () => {
  base = await temporaryDirectory();
  data = join(base.path, 'data');
  keelson = await startKeelson({ dataFolder: data });
});
afterEach(async () => {
  await keelson.stop();
  await base[Symbol.asyncDispose]();
});

const { v1, api: apiAs } = callsOf(
  () => keelson.http,
  () => keelson.rootToken,
  '',
);
const api = (method: string, path: string, body: unknown) =>
  apiAs(method, path, body, keelson.apiToken);
const keyFile = (folder = data): string => join(folder, 'unseal.key');
const keyFiles = (): readonly string[] =>
  readdirSync(data).filter((name) => name.startsWith('unseal'));
const statusOf = async (name: string): Promise<number> =>
  (await v1('GET', `sys/policies/acl/${name}`)).status;
const write = async (name: string): Promise<void> => {
  const policy = 'path "sys/health" { capabilities = ["read"] }';
  expect((await v1('POST', `sys/policies/acl/${name}`, { policy })).status).toBe(204);
};
const restart = async (
  signal: NodeJS.Signals = 'SIGINT',
  change: () => void = () => undefined,
): Promise<void> => {
  await keelson.stop(signal);
  change();
  keelson = await startKeelson({ dataFolder: data });
};
/** A copy of the data as it is now, which a backup or a thief has. */
const copyAs = (name: string): string => {
  const folder = join(base.path, name);
  cpSync(data, folder, { recursive: true });
  return folder;
};

/** The records of a later copy that can be read with the key file and everything in an earlier copy, by service. */
const readsWith = async (copy: string, later: string) => {
  const rootKey = await rootKeyOf(copy);
  return STORE_SERVICES.map((service) => {
    const key = barrierKeyOf(rootKey, service);
    const barrier = createBarrier();
    const { keyring, rows } = storedOf(later, service);
    let isKeyringOpen = true;
    try {
      barrier.unseal(key, keyring);
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
      isKeyringOpen = false;
      barrier.unseal(key, storedOf(copy, service).keyring);
    }
    const known = new Map(storedOf(copy, service).rows.map(({ path, stored }) => [path, stored]));
    const read = rows.filter(({ path, stored }) => {
      if (path.startsWith('node/') || Buffer.compare(known.get(path) ?? stored, stored) === 0)
        return false;
      try {
        return barrier.decrypt(path, stored).length > 0;
      } catch (error) {
        if (!hasCode(error, 'barrier.unknown_term')) throw error;
        return false;
      }
    });
    barrier.seal();
    return { service, isKeyringOpen, read: read.map(({ path }) => path) };
  });
};

test('whoever has a former key file and a copy of that time reads nothing that was written after the replacement', async () => {
  const policy = 'path "sys/health" { capabilities = ["read"] }';
  const writeEverywhere = async (path: string): Promise<void> => {
    expect(
      (await v1('POST', 'sys/policies/acl/changed', { policy: `${policy} # ${path}` })).status,
    ).toBe(204);
    expect(
      (await v1('POST', `pki/roles/changed`, { max_ttl: '1h', allowed_domains: path })).status,
    ).toBe(200);
    expect((await v1('POST', 'auth/approle/role/changed', { token_policies: path })).status).toBe(
      204,
    );
    expect(
      (
        await api('PATCH', 'account/update', {
          data: { type: 'users', attributes: { username: path } },
        })
      ).status,
    ).toBe(200);
  };
  expect((await v1('POST', 'sys/mounts/pki', { type: 'pki' })).status).toBe(204);
  expect((await v1('POST', 'sys/auth/approle', { type: 'approle' })).status).toBe(204);
  await writeEverywhere('before');
  let former = '';
  await restart('SIGINT', () => {
    former = copyAs('former');
  });
  await writeEverywhere('between');
  // Without a replacement, the thief reads on.
  let between = '';
  await restart('SIGINT', () => {
    between = copyAs('between');
  });
  for (const { isKeyringOpen, read } of await readsWith(former, between))
    expect([isKeyringOpen, read.length > 0]).toEqual([true, true]);

  expect((await v1('POST', 'sys/rotate/unseal-key')).status).toBe(204);
  await writeEverywhere('after');
  let later = '';
  await restart('SIGKILL', () => {
    later = copyAs('later');
  });
  await writeEverywhere('once-more');
  for (const thief of [former, between]) {
    for (const { service, isKeyringOpen, read } of await readsWith(thief, later))
      expect({
        service,
        isKeyringOpen,
        written: read.filter((path) => /changed|users\//.test(path)),
      }).toEqual({ service, isKeyringOpen: false, written: [] });
  }
});

test('a former key file opens no copy made after its replacement, and every copy made before', async () => {
  await write('before');
  let former = '';
  await restart('SIGINT', () => {
    former = copyAs('former');
  });
  expect((await v1('POST', 'sys/rotate/unseal-key')).status).toBe(204);
  await write('after');
  let later = '';
  await restart('SIGINT', () => {
    later = copyAs('later');
  });
  expect([await statusOf('before'), await statusOf('after')]).toEqual([200, 200]);

  cpSync(keyFile(former), keyFile(later));
  await expect(startKeelson({ dataFolder: later })).rejects.toThrow(
    /unseal\.key: the unseal key is missing or does not open this cluster/,
  );
  await keelson.stop();
  keelson = await startKeelson({ dataFolder: former });
  expect([await statusOf('before'), await statusOf('after')]).toEqual([200, 404]);
});

test('a start after SIGKILL completes a replacement, whichever step was the last', async () => {
  const former = readFileSync(keyFile());
  const next = `${randomBytes(32).toString('base64')}\n`;
  // Killed when the new key was made: the former one opens the seal.
  await restart('SIGKILL', () => writeFileSync(`${keyFile()}.next`, next, { mode: 0o600 }));
  expect([keyFiles(), readFileSync(keyFile(), 'utf8')]).toEqual([['unseal.key'], next]);

  // Killed when the seal was changed: a file that is mounted cannot be replaced before.
  execFileSync('mount', ['--bind', keyFile(), keyFile()]);
  try {
    expect((await v1('POST', 'sys/rotate/unseal-key')).body.warnings).toHaveLength(1);
    await write('later');
    await keelson.stop('SIGKILL');
  } finally {
    execFileSync('umount', [keyFile()]);
  }
  expect([keyFiles(), readFileSync(keyFile(), 'utf8')]).toEqual([
    ['unseal.key', 'unseal.key.next'],
    next,
  ]);
  const last = readFileSync(`${keyFile()}.next`);
  keelson = await startKeelson({ dataFolder: data });
  expect([keyFiles(), readFileSync(keyFile())]).toEqual([['unseal.key'], last]);

  // Killed when the key was in its place, and the file of the next key not yet removed.
  await restart('SIGKILL', () => writeFileSync(`${keyFile()}.next`, last));
  expect([keyFiles(), await statusOf('later')]).toEqual([['unseal.key'], 200]);
  await keelson.stop();

  for (const old of [former, next]) {
    writeFileSync(keyFile(), old);
    await expect(startKeelson({ dataFolder: data })).rejects.toThrow('does not open this cluster');
  }
});
