/** Nothing remains of a mount that was removed, whatever it had. */
import { OF_MOUNT } from '@keelson/engine';
import { declaredRecords } from '@keelson/storage';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type CertificateTables,
  PKI_PROJECTIONS,
} from '../src/certificates/certificate-projections.ts';
import { openAcme } from './open-acme.ts';
import { aMount } from './open-pki.ts';

let acme: Awaited<ReturnType<typeof openAcme>>;
beforeEach(async () => {
  acme = await openAcme();
}, 60_000);
afterEach(() => acme.close());

const allPaths = async (): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  const note = (path: string): void => void found.add(path);
  for (const scope of ['shared/', 'local/', 'node/'])
    for (const { path } of await acme.pki.store.scan(scope, { onDamaged: note })) note(path);
  return found;
};

const stateWith = (uuids: readonly string[]) => ({
  initialized: true,
  sealed: false,
  serviceKey: Buffer.alloc(32, 7),
  keyringTerm: 0,
  replicationRoles: [],
  clusterId: 'c',
  clusterName: 'c',
  unreadableMountUuids: [],
  formerServiceKeys: [],
  mounts: uuids.map((uuid) => ({ ...acme.pki.mount, uuid })),
});

/** Unmounts everything but these, and waits until a later state was followed. */
const leave = async (uuids: readonly string[]): Promise<void> => {
  for (let round = 0; round < 2; round++)
    await new Promise<void>((applied) => acme.pki.announce(stateWith(uuids), applied));
};

const use = async (): Promise<void> => {
  const { post, pki } = acme;
  await post('root/generate/internal', { common_name: 'Second', ttl: '87600h', key_type: 'ec' });
  await post('config/urls', { issuing_certificates: ['http://ca.example.com/ca'] });
  await post('config/crl', {
    expiry: '48h',
    auto_rebuild: true,
    enable_delta: true,
    unified_crl: true,
  });
  await post('config/auto-tidy', { enabled: false, tidy_cert_store: true });
  await post('config/est', {
    enabled: true,
    default_mount: true,
    default_path_policy: 'sign-verbatim',
    authenticators: {},
  });
  await post('roles/web', { allow_any_name: true, enforce_hostnames: false, key_type: 'ec' });
  const { data } = await post('issue/web', { common_name: 'a.example.com', ttl: '1h' });
  await post('revoke', { serial_number: data.serial_number });
  const other = await post('issue/web', { common_name: 'b.example.com', ttl: '1h' });
  await post('revoke-with-key', {
    serial_number: other.data.serial_number,
    private_key: other.data.private_key,
  });
  await post('acme/new-eab');
  const client = acme.client();
  await acme.obtain(client, 'localhost');
  const open = await client.order('localhost');
  await client.post((await client.post(open.json.authorizations[0])).json.challenges[0].url, {});
  await post('tidy', { tidy_cert_store: true });
  expect((await pki.call('GET', 'crl/rotate')).status).toBe(200);
};

/** A record of every kind that a mount may own, at each place, except those that must be readable when written. */
const writeEveryKind = (uuid: string): Promise<void> =>
  acme.pki.store.transact((tx) => {
    const isProjected = (path: string): boolean =>
      PKI_PROJECTIONS.some(({ source }) => path.startsWith(source.prefix));
    for (const { name, scopes, isSingle, owners } of declaredRecords())
      for (const { isKey } of owners.filter(({ kind }) => kind === OF_MOUNT.kind))
        for (const scope of scopes) {
          const place = name.includes('*') ? name.replace('*', uuid) : `${name}/${uuid}`;
          const path = `${scope}/${place}${isSingle || isKey === true ? '' : '/some/key'}`;
          if (!isProjected(path)) tx.write(path, Buffer.from('{}'));
        }
    return Promise.resolve();
  });

const rowsOfProjections = async (uuid: string): Promise<number> => {
  let rows = 0;
  for (const table of ['pki_certificate', 'pki_revocation', 'pki_cluster_revocation'] as const)
    rows += (
      await acme.pki.store.select<CertificateTables, unknown>((tables) =>
        tables.selectFrom(table).select('mount_uuid').where('mount_uuid', '=', uuid),
      )
    ).length;
  return rows;
};

test('a mount takes everything with it that it used, and leaves another alone', async () => {
  const { pki } = acme;
  const { uuid } = pki.mount;
  const other = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000002' });
  await pki.call('POST', 'roles/web', { key_type: 'ec' }, { mount: other });
  await pki.join(stateWith([uuid, other.uuid]));
  await use();
  const before = await allPaths();
  const used = [...before].filter((path) => path.includes(uuid));
  const kinds = new Set(
    used.map((path) => path.replaceAll(uuid, '*').split('/').slice(0, 4).join('/')),
  );
  expect(kinds.size).toBeGreaterThan(20);
  expect(await rowsOfProjections(uuid)).toBeGreaterThan(3);
  await leave([other.uuid]);
  const after = await allPaths();
  expect([...after].filter((path) => path.includes(uuid))).toEqual([]);
  expect([...before].filter((path) => path.includes(other.uuid) && !after.has(path))).toEqual([]);
  expect(await rowsOfProjections(uuid)).toBe(0);
}, 60_000);

test('no declared kind of record outlives its mount, also where it cannot be read', async () => {
  const uuid = '8f0b1c1e-0000-4000-8000-00000000000a';
  await acme.pki.join(stateWith([acme.pki.mount.uuid, uuid]));
  await writeEveryKind(uuid);
  const before = [...(await allPaths())].filter((path) => path.includes(uuid));
  expect(before.length).toBeGreaterThan(50);
  await leave([acme.pki.mount.uuid]);
  expect([...(await allPaths())].filter((path) => path.includes(uuid))).toEqual([]);
  expect(await rowsOfProjections(uuid)).toBe(0);
}, 60_000);
