/**
 * Questions to a primary: from unknown senders, damaged in transit, or from an admitted secondary with bad
 * intent.
 */
import { messageOf } from '@keelson/proto/message';
import { PageQuestion, Question, SealedQuestion } from '@keelson/proto/replication/v1/replication';
import { sealMessage } from '@keelson/replication';
import fc from 'fast-check';
import { byteDamage, damaged, oneIn } from '../malformed.ts';
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

const path = fc.constantFrom(...PATHS);
const number = fc.constantFrom(...NUMBERS);
const small = fc.constantFrom(...SMALL);
const tree = fc.constantFrom(...TREES);
const bytes = fc
  .constantFrom(0, 1, 30, 8192)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  .map((given) => Buffer.from(given));
const many = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  oneIn(4, fc.array(one, { minLength: 40, maxLength: 40 }), fc.array(one, { maxLength: 3 }));

const ask = <K extends Ask['$case']>(
  kind: K,
  value: fc.Arbitrary<Extract<Ask, { $case: K }>['value']>,
): fc.Arbitrary<Ask> => value.map((given) => ({ $case: kind, value: given }) as Ask);

const ASK = fc.oneof(
  ask('position', fc.constant({})),
  ask('digests', fc.record({ tree, pages: many(small) })),
  ask(
    'page',
    fc
      .record({ tree, after: path, wanted: bytes, withRecords: fc.boolean() })
      .map((given) => messageOf(PageQuestion, given)),
  ),
  ask('subpages', fc.record({ tree, subpages: many(small) })),
  ask('records', fc.record({ paths: many(path) })),
  ask('recordPart', fc.record({ path, offset: number })),
  ask('keyring', fc.constant({})),
  ask('epoch', fc.record({ epoch: number })),
  ask('filter', fc.constant({})),
  ask(
    'heartbeat',
    fc.record({
      sentAtMs: number,
      lastRemoteWal: number,
      canaryAgeMs: fc.option(number, { nil: undefined }),
      apiAddress: path,
      clusterAddress: path,
      localClusterId: path,
      clockSkewMs: fc.constantFrom(0n, -(2n ** 63n), 2n ** 63n - 1n),
      roundTripMs: number,
      bytesReceived: number,
      resyncRecords: number,
      resyncBytes: number,
    }),
  ),
  ask('forward', fc.record({ request: bytes, totalBytes: number, transfer: path })),
  ask('forwardRest', fc.record({ transfer: path, offset: number })),
);

/** Messages to the primary. */
export const badQuestion = ({
  subject,
  secondaryId,
  linkKey,
}: LinkedStores): fc.Arbitrary<Uint8Array> => {
  const question = damaged(
    fc
      .record({ ask: ASK, promotion: fc.constantFrom(0n, 1n) })
      .map((given): Uint8Array => Question.encode(given).finish()),
    byteDamage,
    2,
  );
  const sealed = fc.tuple(question, oneIn(20, path, fc.constant(secondaryId))).map(
    ([asked, sender]): Uint8Array =>
      SealedQuestion.encode({
        secondaryId: sender,
        sealed: sealMessage(linkKey, `question ${subject} ${secondaryId}`, asked),
      }).finish(),
  );
  const nonsense = fc.uint8Array({ maxLength: 300, size: 'max' });
  return oneIn(20, nonsense, damaged(sealed, byteDamage, 10));
};
