/**
 * Secondaries with paths filters: withheld data appears nowhere, and all other data is as without a
 * filter.
 */
import { JetStreamBus } from '@keelson/bus/jetstream';
import { Answer, type Page } from '@keelson/proto/replication/v1/replication';
import { type NatsServer, startNats } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveLinkKey, deriveStreamKey } from '../src/cipher/link-key.ts';
import {
  filteredStreamOf,
  KnownPromotion,
  loadStreamEnd,
  PrimaryLink,
  parsePathsFilter,
  streamOf,
} from '../src/replication.ts';
import { openBatch, PartAssembler, type SealedBatch } from '../src/wire/stream-message.ts';
import { decodeBatch } from '../src/wire/wal-batch.ts';
import {
  admit,
  findDeviations,
  put,
  SERVICE,
  startPrimary,
  startSecondary,
  type TestPrimary,
  type TestSecondary,
} from './cluster.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats({ jetstream: true });
}, 120_000);
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

const record = (mount: string, name: string | number): string => `shared/mounts/${mount}/${name}`;

const putAll = (primary: TestPrimary, mounts: readonly string[], count: number, value: string) =>
  Promise.all(
    mounts.map((mount) =>
      put(
        primary.store,
        Object.fromEntries(Array.from({ length: count }, (_, n) => [record(mount, n), value])),
      ),
    ),
  );

/** Deviations of a filtered secondary from its filter, or of its root from the one the primary reports. */
const findFilteredDeviations = async (
  primary: TestPrimary,
  secondary: TestSecondary,
  hidden: readonly string[],
): Promise<readonly string[]> => {
  const isHidden = (path: string): boolean =>
    hidden.some((mount) => path.startsWith(`shared/mounts/${mount}/`));
  const deviations: string[] = [];
  for (const path of await findDeviations(primary, secondary))
    if (!isHidden(path) && path !== 'root of replicated') deviations.push(path);
  const paths = await secondary.store.stored.listPaths('replicated', '', Number.MAX_SAFE_INTEGER);
  deviations.push(...paths.filter(isHidden).map((path) => `${path} is there`));
  const reduced = await primary.views.reducedTree(secondary.id);
  const expected = reduced && Buffer.from((await reduced.current()).rootDigest()).toString('hex');
  if (expected !== (await secondary.store.merkle.roots()).replicated)
    deviations.push('root of what crosses');
  return deviations;
};

/** Follows the log that the filter of this moment leaves, up to its end. */
const untilFiltered = async (primary: TestPrimary, secondary: TestSecondary): Promise<void> => {
  const view = await primary.views.of(secondary.id, []);
  const { logId } = await primary.membership.identity();
  const wanted = view === undefined ? logId : `${logId}.${view.generation}`;
  const head = await primary.store.wal.headSequence();
  let followed: string | undefined;
  await secondary.until(({ state }) => {
    secondary.secondary.followed
      .logId()
      .then((found) => {
        followed = found;
      })
      .catch(() => undefined);
    return (
      followed === wanted &&
      state === 'stream-wals' &&
      secondary.secondary.status().lastRemoteWal >= head
    );
  });
};

const setFilter = async (
  { membership, filtered }: TestPrimary,
  id: string,
  mode: 'allow' | 'deny',
  ...paths: string[]
): Promise<void> => {
  await membership.setFilter(id, parsePathsFilter(mode, paths));
  await filtered.refresh();
};

test('a filter that existed before its secondary', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const identity = await admit(primary, 'secondary-1');
  await setFilter(primary, 'secondary-1', 'deny', 'b');
  await putAll(primary, ['a', 'b', 'c'], 20, 'before');
  await using secondary = await startSecondary(nats.url, primary, identity);
  await putAll(primary, ['a', 'b', 'd'], 20, 'later');
  await untilFiltered(primary, secondary);
  expect(await findFilteredDeviations(primary, secondary, ['b'])).toEqual([]);
  expect(await secondary.store.read(record('d', 1))).toBeDefined();
}, 120_000);

test('allow withholds new records, deny does not', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const [allowed, denied] = [await admit(primary, 'allowing'), await admit(primary, 'denying')];
  await setFilter(primary, 'allowing', 'allow', 'a');
  await setFilter(primary, 'denying', 'deny', 'a');
  await using allowing = await startSecondary(nats.url, primary, allowed);
  await using denying = await startSecondary(nats.url, primary, denied);
  await using whole = await startSecondary(nats.url, primary, 'whole');
  await putAll(primary, ['a', 'new'], 20, 'value');
  await put(primary.store, { 'shared/policies/root/one': 'for all' });
  for (const one of [allowing, denying, whole]) await untilFiltered(primary, one);
  expect(await findFilteredDeviations(primary, allowing, ['new'])).toEqual([]);
  expect(await findFilteredDeviations(primary, denying, ['a'])).toEqual([]);
  expect(await findDeviations(primary, whole)).toEqual([]);
}, 120_000);

test('changes during writes apply to existing records, in both directions', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await putAll(primary, ['a', 'b', 'c'], 1500, 'before');
  await using secondary = await startSecondary(nats.url, primary);
  await untilFiltered(primary, secondary);
  let isWriting = true;
  const writing = (async () => {
    for (let round = 0; isWriting; round += 1)
      await primary.store.transact((tx) => {
        for (const mount of ['a', 'b', 'c']) {
          tx.write(record(mount, round % 1500), Buffer.from(`round ${round}`));
          tx.delete(record(mount, (round * 7) % 1500));
        }
      });
  })();
  for (const [mode, paths, hidden] of [
    ['deny', ['b'], ['b']],
    ['deny', ['b', 'c'], ['b', 'c']],
    ['allow', ['c'], ['a', 'b']],
    ['deny', [], []],
  ] as const) {
    await setFilter(primary, secondary.id, mode, ...paths);
    await untilFiltered(primary, secondary);
    const paths2 = await secondary.store.stored.listPaths('replicated', '', 10_000);
    for (const mount of hidden)
      expect(paths2.filter((path) => path.startsWith(record(mount, '')))).toEqual([]);
  }
  await setFilter(primary, secondary.id, 'deny', 'a');
  await untilFiltered(primary, secondary);
  isWriting = false;
  await writing;
  await untilFiltered(primary, secondary);
  expect(await findFilteredDeviations(primary, secondary, ['a'])).toEqual([]);

  await primary.membership.deleteFilter(secondary.id);
  await primary.filtered.refresh();
  await untilFiltered(primary, secondary);
  expect(await findDeviations(primary, secondary)).toEqual([]);
}, 180_000);

test('records that are no longer withheld are fetched by path, before anything is compared', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const identity = await admit(primary, 'secondary-1');
  await setFilter(primary, 'secondary-1', 'deny', 'b', 'c');
  await putAll(primary, ['a', 'b', 'c'], 300, 'before');
  const answers: Uint8Array[] = [];
  await using secondary = await startSecondary(nats.url, primary, identity, (answer) =>
    answers.push(answer),
  );
  await untilFiltered(primary, secondary);
  answers.length = 0;
  await setFilter(primary, secondary.id, 'deny', 'c');
  await untilFiltered(primary, secondary);
  await primary.membership.deleteFilter(secondary.id);
  await primary.filtered.refresh();
  await untilFiltered(primary, secondary);
  const content = answers.map((answer) => Answer.decode(answer).content);
  const pages = content.flatMap((one) => (one?.$case === 'page' ? [one.value] : []));
  const mountsOf = ({ items }: Page) => new Set(items.map(({ path }) => path.split('/')[2]));
  expect(pages.map(mountsOf)).toEqual([new Set(['b']), new Set(['c'])]);
  expect(pages.map(({ items }) => items.length)).toEqual([300, 300]);
  // The later comparison found no difference.
  expect(content.some((one) => one?.$case === 'subpages' || one?.$case === 'records')).toBe(false);
  expect(await findDeviations(primary, secondary)).toEqual([]);
}, 120_000);

test('a change is announced on the stream, independently of heartbeats', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await putAll(primary, ['a', 'b'], 20, 'before');
  await using secondary = await startSecondary(nats.url, primary, 'quiet', undefined, 3_600_000);
  await secondary.untilCaughtUp(primary);
  for (const change of [
    () => setFilter(primary, 'quiet', 'deny', 'a'),
    () => setFilter(primary, 'quiet', 'deny', 'b'),
    async () => {
      await primary.membership.deleteFilter('quiet');
      await primary.filtered.refresh();
    },
  ]) {
    await change();
    // Written like a primary's canary: an entry that crosses to every secondary.
    await put(primary.store, { 'shared/policies/root/one': 'changed' });
    const view = await primary.views.of('quiet', []);
    const { logId } = await primary.membership.identity();
    await expect
      .poll(() => secondary.secondary.followed.logId(), { timeout: 60_000 })
      .toBe(view === undefined ? logId : `${logId}.${view.generation}`);
    await secondary.untilCaughtUp(primary);
  }
  expect(await findDeviations(primary, secondary)).toEqual([]);
}, 120_000);

test('a filter that was removed before its secondary could request it', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await putAll(primary, ['a', 'b'], 20, 'before');
  await using secondary = await startSecondary(nats.url, primary, 'late', undefined, 3_600_000);
  await secondary.untilCaughtUp(primary);
  primary.silence();
  await setFilter(primary, 'late', 'deny', 'b');
  // Published only for the others, in the stream with which the secondary continues.
  await putAll(primary, ['a', 'b'], 20, 'meanwhile');
  const head = await primary.store.wal.headSequence();
  const stream = streamOf(primary.clusterId, SERVICE);
  await expect
    .poll(async () => (await loadStreamEnd(primary.bus, stream)).published?.walSequence, {
      timeout: 60_000,
    })
    .toBe(head);
  await primary.membership.deleteFilter('late');
  await primary.filtered.refresh();
  await putAll(primary, ['a', 'b'], 20, 'after');
  const serving = new AbortController();
  primary.endings.push(async () => serving.abort());
  await primary.primary.serve(serving.signal);
  await secondary.untilCaughtUp(primary);
  expect(await findDeviations(primary, secondary)).toEqual([]);
}, 120_000);

test('restarts of both sides, and a pruned stream', async () => {
  await using primary = await startPrimary(nats.url);
  const publishing = primary.publish();
  const identity = await admit(primary, 'secondary-1');
  await setFilter(primary, 'secondary-1', 'deny', 'b');
  await putAll(primary, ['a', 'b'], 50, 'before');
  await using secondary = await startSecondary(nats.url, primary, identity);
  await untilFiltered(primary, secondary);
  await secondary.restart();
  await publishing.stop();
  await putAll(primary, ['a', 'b'], 50, 'while nobody publishes');
  const again = primary.publish();
  await untilFiltered(primary, secondary);
  expect(await findFilteredDeviations(primary, secondary, ['b'])).toEqual([]);

  await again.stop();
  await putAll(primary, ['a', 'b'], 50, 'pruned before it was published');
  await primary.store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 0 });
  primary.publish();
  await putAll(primary, ['a', 'b'], 10, 'after');
  await untilFiltered(primary, secondary);
  expect(await findFilteredDeviations(primary, secondary, ['b'])).toEqual([]);
}, 120_000);

test('withheld records are never sent, and the log of other secondaries does not open', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const answers: Uint8Array[] = [];
  await using secondary = await startSecondary(nats.url, primary, 'one', (answer) =>
    answers.push(answer),
  );
  await untilFiltered(primary, secondary);
  const known = await primary.membership.currentEpoch();
  const from = (await primary.bus.tail(streamOf(primary.clusterId, SERVICE))).lastSequence;
  await setFilter(primary, 'one', 'deny', 'hidden-mount');
  await untilFiltered(primary, secondary);
  answers.length = 0;
  await putAll(primary, ['seen-mount', 'hidden-mount'], 300, 'value');
  await untilFiltered(primary, secondary);
  await Promise.resolve(secondary.secondary.compareAgain());
  await secondary.until(({ state }) => state !== 'stream-wals');
  await untilFiltered(primary, secondary);
  expect(await findFilteredDeviations(primary, secondary, ['hidden-mount'])).toEqual([]);

  const sent = [...answers, ...(await loadOwnStream(primary, 'one'))].map((bytes) =>
    Buffer.from(bytes).toString('latin1'),
  );
  expect(sent.some((text) => text.includes('seen-mount'))).toBe(true);
  expect(sent.filter((text) => text.includes('shared/mounts/hidden-mount'))).toHaveLength(0);
  const copies = await primary.store.stored.read(
    Array.from({ length: 300 }, (_, n) => record('hidden-mount', n)),
  );
  expect(copies).toHaveLength(300);
  for (const { stored } of copies)
    expect(sent.some((text) => text.includes(Buffer.from(stored).toString('latin1')))).toBe(false);

  const stream = streamOf(primary.clusterId, SERVICE);
  const { lastSequence: end } = await primary.bus.tail(stream);
  const assembler = new PartAssembler();
  const later: SealedBatch[] = [];
  for await (const message of primary.bus.consume(stream, from, new AbortController().signal)) {
    const batch = assembler.add(message);
    if (batch !== undefined && batch.head.epoch > known.epoch) later.push(batch);
    if (message.streamSequence === end) break;
  }
  expect(later.length).toBeGreaterThan(0);
  for (const batch of later)
    expect(() => openBatch(stream, batch, known.key)).toThrow(
      expect.objectContaining({ code: 'replication.undecryptable' }),
    );
}, 120_000);

/** The decrypted messages of a secondary's own stream. */
const loadOwnStream = async (primary: TestPrimary, id: string): Promise<Uint8Array[]> => {
  const { keys } = await primary.membership.identity();
  const secondary = await primary.membership.findSecondary(id);
  const { clusterId } = primary;
  const linkKey = deriveLinkKey({
    own: keys,
    peerPublicKey: secondary?.publicKey ?? '',
    clusterId,
    secondaryId: id,
  });
  const stream = filteredStreamOf(clusterId, SERVICE, id);
  const { lastSequence } = await primary.bus.tail(stream);
  const assembler = new PartAssembler();
  const opened: Uint8Array[] = [];
  for await (const message of primary.bus.consume(stream, 0, new AbortController().signal)) {
    const batch = assembler.add(message);
    if (batch !== undefined) {
      const bytes = openBatch(stream, batch, deriveStreamKey(linkKey));
      decodeBatch('performance', bytes);
      opened.push(bytes);
    }
    if (message.streamSequence === lastSequence) break;
  }
  return opened;
};

test('a revoked secondary gets nothing more on its own stream, and its id starts without a filter', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const identity = await admit(primary, 'one');
  await setFilter(primary, 'one', 'deny', 'b');
  await using secondary = await startSecondary(nats.url, primary, identity);
  await putAll(primary, ['a', 'b'], 10, 'before');
  await untilFiltered(primary, secondary);
  const stream = filteredStreamOf(primary.clusterId, SERVICE, 'one');
  await primary.membership.revoke('one');
  const head = await primary.store.wal.headSequence();
  await putAll(primary, ['a', 'b'], 10, 'after');
  await primary.filtered.refresh();
  await secondary.until(({ connectionState }) => connectionState === 'transient_failure');
  const { published } = await loadStreamEnd(primary.bus, stream);
  expect(published?.walSequence).toBeLessThanOrEqual(head);
  await admit(primary, 'one');
  expect(await primary.membership.findFilter('one')).toBeUndefined();
}, 120_000);

test('a secondary that requests withheld records learns nothing', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const identity = await admit(primary, 'curious');
  await setFilter(primary, 'curious', 'deny', 'hidden');
  await putAll(primary, ['a', 'hidden', 'z'], 30, 'value');
  await put(primary.store, { [record('hidden', 'large')]: 'x'.repeat(600_000) });
  const bus = new JetStreamBus({ servers: nats.url });
  try {
    const link = new PrimaryLink({
      bus,
      identity,
      service: SERVICE,
      promotion: new KnownPromotion(primary.store, 'performance', identity.clusterId),
      onOutcome: () => undefined,
    });
    for (const withRecords of [true, false]) {
      const question = { tree: 'replicated', after: '', wanted: Buffer.alloc(0), withRecords };
      const { items, upto } = await link.loadPage(question);
      expect(upto).toBe('');
      const mounts = new Set(items.map(({ path }) => path.split('/')[2]));
      expect(mounts).toEqual(new Set(['a', 'z']));
      const inMount = async (mount: string) =>
        link.loadPage({ ...question, after: record(mount, ''), below: record(mount, '') });
      expect(await inMount('hidden')).toEqual({ items: [], upto: '' });
      const own = await inMount('a');
      expect([own.items.length, own.upto]).toEqual([30, '']);
    }
    const asked = [record('hidden', 1), record('a', 1), record('hidden', 'large')];
    const { items } = await link.loadRecords(asked);
    expect(items.map(({ path }) => path)).toEqual([record('a', 1)]);
    expect(await link.loadLargeRecord(record('hidden', 'large'))).toBeUndefined();
    await expect(link.epochKey(1)).rejects.toMatchObject({ code: 'replication.log_broken' });
  } finally {
    await bus.close();
  }
}, 120_000);
