import { declaredRecords, findDeclaration, recordsMarkdown } from '@keelson/storage';
import { expect, test } from 'vitest';
// Loads every module of every service, and with it every declaration.
import '../src/compose.ts';
import { currentRecords, goldenNames, loadGoldenRecords } from './golden/golden-stores.ts';

const declared = declaredRecords();

test('docs/records.md lists every declared kind of record', async () => {
  const page = [
    '# Records',
    '',
    'Every kind of record is declared with its scope, version and shape ([libs/storage](../libs/storage/README.md)). Below `shared/`, records are replicated to all secondaries; below `local/`, to DR secondaries; below `node/`, nowhere. "*" is the id of a mount or the like, "…" the key of a record. The third column is a digest of the shape: once a release has written a version, a changed digest needs the next version and an upgrade. Records with an owner are deleted with it; the rows of an index, with "~" and the index in their names, are written and deleted with the records of its collection.',
    '',
    'This page is written from the declarations: `npx vitest run --project unit services/standalone -u`.',
    '',
    recordsMarkdown(declared),
    '',
    'Certificates (`local/certs/…`), parts of CRLs, outboxes and fences of mounts are bytes: DER, a record of another kind, or the holder of a lease. Records that are not listed have formats of their own: parts of states (`shared/state-chunks/…`), the keyring, other fences, and positions in the logs of other clusters (`node/applied/…`). Those below `node/replication/sealed/` are encrypted with a key that is derived from the root key.',
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../../docs/records.md');
});

test('no kind of record is declared twice', () => {
  const places = declared.flatMap(({ name, scopes }) => scopes.map((scope) => `${scope}/${name}`));
  expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([]);
});

test('shared/, local/ and node/ are the only scopes, and names have no empty segment', () => {
  for (const { name } of declared)
    expect(name).toMatch(/^([a-z0-9-]+|\*)(\/([a-z0-9-]+|\*))*(~\w+(~complete)?)?$/);
});

test('no shape differs from that of the newest golden store without a higher version', () => {
  const newest = goldenNames().at(-1) ?? '';
  const now = currentRecords();
  const faults = Object.entries(loadGoldenRecords(newest)).flatMap(([path, was]) => {
    const is = now[path];
    if (is === undefined) return [`${path} is no longer declared: stores of ${newest} have it`];
    if (is.version < was.version) return [`${path} had version ${was.version} in ${newest}`];
    const isChanged = is.shape !== was.shape && is.version === was.version;
    return isChanged ? [`${path} has another shape than in ${newest}: raise its version`] : [];
  });
  expect(
    faults,
    'as long as the version of the newest golden store is not released, `npm run golden` makes it again',
  ).toEqual([]);
});

test('an index of records that the newest golden store may have names the version since which it has rows', () => {
  const stored = loadGoldenRecords(goldenNames().at(-1) ?? '');
  const now = currentRecords();
  const faults = declared.flatMap(({ name, scopes, indexOf }) =>
    scopes
      .filter((scope) => indexOf !== undefined && `${scope}/${indexOf}/…` in stored)
      .map((scope) => `${scope}/${name}`)
      .filter((path) => !path.endsWith('~complete') && !(`${path}/…` in stored))
      .filter((path) => !(`${path}~complete` in now)),
  );
  expect(faults).toEqual([]);
});

// Unit tests share a process, so that kinds of records made for a test would be on the page.
test.for([
  ['shared/mounts/m/config/acme', 'mounts/*/config/acme'],
  ['local/mounts/m/config/acme', 'mounts/*/config/acme'],
  ['local/mounts/m/config/acme/more', undefined],
  ['local/mounts/m/config', undefined],
  ['shared/mounts/m/issuers/i', 'mounts/*/issuers'],
  ['local/mounts/m/cert-metadata/a/b', 'mounts/*/cert-metadata'],
  ['shared/mounts/m/cert-metadata/a', undefined],
  ['shared/core/mounts/m', 'core/mounts'],
  ['node/core/seal', 'core/seal'],
  ['local/core/seal', undefined],
  ['shared/workspaces/w', 'workspaces'],
  ['shared/workspaces', undefined],
  ['local/replication/dr/set', 'replication/*/set'],
  ['local/replication/dr/filters/one', 'replication/*/filters'],
  ['local/replication/dr/activation-tokens/one', 'replication/dr/activation-tokens'],
  ['local/replication/log-end', 'replication/log-end'],
  ['node/replication/heartbeats/dr/pki/one', 'replication/heartbeats'],
  ['node/replication/sealed/dr-role', 'replication/sealed/dr-role'],
  ['node/core/origin', 'core/origin'],
  ['node/core/restoration', 'core/restoration'],
] as const)('the declaration of %s is %s', ([path, name]) => {
  expect(findDeclaration(path)?.name).toBe(name);
});
