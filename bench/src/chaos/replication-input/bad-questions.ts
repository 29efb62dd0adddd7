/**
 * Questions to a primary: from unknown senders, damaged in transit, or from an admitted secondary with bad
 * intent.
 */
import { messageOf } from '@keelson/proto/message';
import { PageQuestion, Question, SealedQuestion } from '@keelson/proto/replication/v1/replication';
import { sealMessage } from '@keelson/replication';
import type { Random } from '../random.ts';
import type { LinkedStores } from './linked-stores.ts';

type Ask = NonNullable<Question['ask']>;

const PATHS = [
  '',
  'shared/',
  'shared/bench/1',
  'local/../x',
  'node/secret',
  '\0',
  '🂡',
  'x'.repeat(5000),
];
const NUMBERS = [0n, 1n, 8191n, 2n ** 31n, 2n ** 53n, 2n ** 64n - 1n];
const SMALL = [0, 1, 255, 256, 65_535, 2 ** 31, 2 ** 32 - 1];
const TREES = ['replicated', 'local', '', '__proto__', 'node'];

const many = <T>(random: Random, make: () => T): T[] =>
  Array.from({ length: random.pick([0, 1, 3, 40]) }, make);

const anAsk = (random: Random): Ask => {
  const path = (): string => random.pick(PATHS);
  const number = (): bigint => random.pick(NUMBERS);
  const small = (): number => random.pick(SMALL);
  const bytes = (): Buffer => Buffer.from(random.bytes(random.pick([0, 1, 30, 8192])));
  const tree = random.pick(TREES);
  const asks: readonly (() => Ask)[] = [
    () => ({ $case: 'position', value: {} }),
    () => ({ $case: 'digests', value: { tree, pages: many(random, small) } }),
    () => ({
      $case: 'page',
      value: messageOf(PageQuestion, {
        tree,
        after: path(),
        wanted: bytes(),
        withRecords: random.once(2),
      }),
    }),
    () => ({ $case: 'subpages', value: { tree, subpages: many(random, small) } }),
    () => ({ $case: 'records', value: { paths: many(random, path) } }),
    () => ({ $case: 'recordPart', value: { path: path(), offset: number() } }),
    () => ({ $case: 'keyring', value: {} }),
    () => ({ $case: 'epoch', value: { epoch: number() } }),
    () => ({ $case: 'filter', value: {} }),
    () => ({
      $case: 'heartbeat',
      value: {
        sentAtMs: number(),
        lastRemoteWal: number(),
        canaryAgeMs: random.once(2) ? number() : undefined,
        apiAddress: path(),
        clusterAddress: path(),
        localClusterId: path(),
        clockSkewMs: random.pick([0n, -(2n ** 63n), 2n ** 63n - 1n]),
        roundTripMs: number(),
        bytesReceived: number(),
        resyncRecords: number(),
        resyncBytes: number(),
      },
    }),
    () => ({
      $case: 'forward',
      value: { request: bytes(), totalBytes: number(), transfer: path() },
    }),
    () => ({ $case: 'forwardRest', value: { transfer: path(), offset: number() } }),
  ];
  return random.pick(asks)();
};

export const damageBytes = (bytes: Uint8Array, random: Random): Uint8Array => {
  const at = random.below(bytes.length + 1);
  switch (random.below(4)) {
    case 0: {
      const damaged = Uint8Array.from(bytes);
      for (let changes = 1 + random.below(4); changes > 0 && bytes.length > 0; changes -= 1)
        damaged[random.below(damaged.length)] = random.below(256);
      return damaged;
    }
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        random.bytes(1 + random.below(9)),
        bytes.subarray(at),
      ]);
    default:
      return random.bytes(random.below(200));
  }
};

/** The next message to the primary. */
export const badQuestion = (
  { subject, secondaryId, linkKey }: LinkedStores,
  random: Random,
): Uint8Array => {
  if (random.once(20)) return random.bytes(random.below(300));
  const asked = Question.encode({
    ask: anAsk(random),
    promotion: BigInt(random.below(2)),
  }).finish();
  const question = random.once(2) ? damageBytes(asked, random) : asked;
  const sealed = sealMessage(linkKey, `question ${subject} ${secondaryId}`, question);
  const travelling = SealedQuestion.encode({
    secondaryId: random.once(20) ? random.pick(PATHS) : secondaryId,
    sealed,
  }).finish();
  return random.once(10) ? damageBytes(travelling, random) : travelling;
};
