/** R4 for replication: bad questions to a primary, and a secondary whose messages are damaged on the way. */
import { hasCode } from '@keelson/errors';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { tryInputs } from '../inputs.ts';
import { LIVE_MEMORY } from '../memory.ts';
import { badQuestion } from './bad-questions.ts';
import { DamagingBus } from './damaging-bus.ts';
import { type LinkedStores, linkStores } from './linked-stores.ts';

const RECORDS = 200;
/** Number of inputs to one message on the way to the secondary, which starts again if it is damaged. */
const INPUTS_PER_MESSAGE = 17;
const BLOCK = 5000;
const REQUEST_TIMEOUT_MS = 120_000;

const write = (stores: LinkedStores, turn: number): Promise<unknown> =>
  stores.primary.transact((tx) =>
    tx.write(`shared/bench/${turn % RECORDS}`, Buffer.from(`value ${turn}`)),
  );

const askBadly = (stores: LinkedStores, context: ChaosContext): Promise<ChaosReport> => {
  const questions = badQuestion(stores);
  return tryInputs(context, {
    begin: async () => questions,
    block: BLOCK,
    send: async (question) => {
      try {
        await stores.bus.request(stores.subject, question, { timeoutMs: REQUEST_TIMEOUT_MS });
        return { kind: 'answered' };
      } catch (error) {
        if (!hasCode(error, 'internal')) return { kind: 'refused' };
        return { kind: 'internal', broken: 'an error that is no refusal' };
      }
    },
    show: (question) => Buffer.from(question).toString('base64').slice(0, 300),
    isSlow: ({ milliseconds }) => milliseconds > context.patienceMs,
    memory: LIVE_MEMORY,
  });
};

/** The secondary continues during any damage, and has the primary's data after the damage ends. */
const followThroughDamage = async (
  stores: LinkedStores,
  way: DamagingBus,
  { seed, isOver }: ChaosContext,
  messages: number,
): Promise<readonly string[]> => {
  way.damage(messages, seed);
  for (let turn = 0; way.isDamaging && !isOver(); turn += 1) {
    await write(stores, turn);
    await stores.until(({ state }) => state !== 'shutdown');
  }
  way.spare();
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
    const way = new DamagingBus();
    await using stores = await linkStores((bus) => way.over(bus));
    for (let turn = 0; turn < RECORDS; turn += 1) await write(stores, turn);
    await stores.until(({ state }) => state === 'stream-wals');
    const messages = Math.ceil(context.count / INPUTS_PER_MESSAGE);
    const diverged = await followThroughDamage(stores, way, context, messages);
    const { broken, figures } = await askBadly(stores, context);
    return {
      broken: [...diverged, ...broken],
      figures: { ...figures, 'messages damaged on the way': way.damaged },
    };
  },
};
