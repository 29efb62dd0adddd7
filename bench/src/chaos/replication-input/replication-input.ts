/** R4 for replication: bad questions to a primary, and a secondary whose messages are damaged on the way. */
import { hasCode } from '@keelson/errors';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { liveMegabytes, MAX_GROWTH_MEGABYTES } from '../live-memory.ts';
import { Random } from '../random.ts';
import { badQuestion } from './bad-questions.ts';
import { DamagingBus } from './damaging-bus.ts';
import { type LinkedStores, linkStores } from './linked-stores.ts';

const RECORDS = 200;
/** Every n-th input damages a message to the secondary, which then starts again. */
const DAMAGED_EVERY = 50;
const REQUEST_TIMEOUT_MS = 120_000;
const PROGRESS_EVERY = 50_000;

const write = (stores: LinkedStores, turn: number): Promise<unknown> =>
  stores.primary.transact((tx) =>
    tx.write(`shared/bench/${turn % RECORDS}`, Buffer.from(`value ${turn}`)),
  );

const askBadly = async (
  stores: LinkedStores,
  { count, patienceMs, isOver, say }: ChaosContext,
  random: Random,
  broken: string[],
): Promise<Record<string, string | number>> => {
  const answers = new Map<string, number>();
  let slowestMs = 0;
  let megabytesHalfway = 0;
  for (let sent = 0; sent < count && !isOver(); sent += 1) {
    if (sent === Math.floor(count / 2)) megabytesHalfway = liveMegabytes();
    if (sent % PROGRESS_EVERY === 0 && sent > 0) say(`${sent} questions`);
    const question = badQuestion(stores, random);
    const startedAt = performance.now();
    const answer = await stores.bus
      .request(stores.subject, question, { timeoutMs: REQUEST_TIMEOUT_MS })
      .then(
        () => 'answered',
        (error: unknown) => (hasCode(error, 'internal') ? 'internal' : 'refused'),
      );
    const ms = performance.now() - startedAt;
    slowestMs = Math.max(slowestMs, ms);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const shown = (): string => Buffer.from(question).toString('base64').slice(0, 300);
    if (answer === 'internal') broken.push(`an error that is no refusal for ${shown()}`);
    if (ms > patienceMs) broken.push(`${ms.toFixed(0)} ms for ${shown()}`);
  }
  const growth = megabytesHalfway === 0 ? 0 : liveMegabytes() - megabytesHalfway;
  if (growth > MAX_GROWTH_MEGABYTES) broken.push(`live memory grew by ${growth.toFixed(1)} MB`);
  return {
    ...Object.fromEntries([...answers].map(([answer, times]) => [`questions ${answer}`, times])),
    'slowest answer, ms': slowestMs.toFixed(1),
    'growth of live memory, second half, MB': growth.toFixed(1),
  };
};

/** The secondary continues during any damage, and has the primary's data after the damage ends. */
const followThroughDamage = async (
  stores: LinkedStores,
  way: DamagingBus,
  { count, isOver }: ChaosContext,
): Promise<readonly string[]> => {
  way.isDamaging = true;
  for (let turn = 0; way.damaged < count && !isOver(); turn += 1) {
    await write(stores, turn);
    await stores.until(({ state }) => state !== 'shutdown');
  }
  way.isDamaging = false;
  await write(stores, 0);
  const head = await stores.primary.wal.headSequence();
  await stores.until(
    ({ state, lastRemoteWal }) => state === 'stream-wals' && lastRemoteWal >= head,
  );
  const broken: string[] = [];
  for (const path of await stores.primary.list('shared/bench/')) {
    const read = async (store: LinkedStores['primary']): Promise<string> =>
      Buffer.from((await store.read(`shared/bench/${path}`))?.value ?? []).toString();
    const [ours, theirs] = [await read(stores.primary), await read(stores.secondary)];
    if (ours !== theirs)
      broken.push(`${path} is ${ours} on the primary, ${theirs} on the secondary`);
  }
  return broken;
};

export const replicationInput: Chaos = {
  name: 'replication-input',
  promise:
    'R4 bad questions to a primary, also of an admitted secondary, are refused: no crash, no error that is ' +
    'none, no answer over 1 s, memory flat; a secondary whose messages are damaged, lost and doubled holds ' +
    'the same in the end',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1000 },
  run: async (context): Promise<ChaosReport> => {
    const random = new Random(context.seed);
    const way = new DamagingBus(random);
    await using stores = await linkStores((bus) => way.over(bus));
    for (let turn = 0; turn < RECORDS; turn += 1) await write(stores, turn);
    await stores.until(({ state }) => state === 'stream-wals');
    const damaged = Math.ceil(context.count / DAMAGED_EVERY);
    const broken = [...(await followThroughDamage(stores, way, { ...context, count: damaged }))];
    const figures = await askBadly(
      stores,
      { ...context, count: context.count - damaged },
      random,
      broken,
    );
    return { broken, figures: { ...figures, 'messages damaged on the way': way.damaged } };
  },
};
