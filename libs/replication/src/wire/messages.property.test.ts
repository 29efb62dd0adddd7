/** Messages survive a round trip, and anything else is refused. */
import type { StreamMessage } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveLinkKey, generateLinkKeyPair } from '../cipher/link-key.ts';
import { openMessage, sealMessage } from '../cipher/sealed-message.ts';
import { openQuestion, parseSealedQuestion, sealQuestion } from './questions.ts';
import {
  MAX_PART_BYTES,
  openBatch,
  PartAssembler,
  parsePartHead,
  toParts,
} from './stream-message.ts';
import { membershipTest, toSubpageSet } from './subpage-set.ts';
import { decodeBatch, encodeBatch } from './wal-batch.ts';

const KEY = new Uint8Array(32).fill(7);
const STREAM = 'wal.cluster.pki';
const HEAD = { logId: 'log', epoch: 1, first: 5, last: 6 };
const undecryptable = expect.objectContaining({ code: 'replication.undecryptable' });
const malformed = expect.objectContaining({ code: 'replication.malformed' });

const toMessages = (batch: Uint8Array, from = 1): StreamMessage[] =>
  toParts(STREAM, HEAD, { epoch: 1, key: KEY }, batch).map(({ headers, payload }, index) => ({
    streamSequence: from + index,
    messageId: '',
    headers,
    payload,
  }));

describe('a sealed message', () => {
  test('opens for its purpose with its key, unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (message, purpose) => {
        const sealed = sealMessage(KEY, purpose, message);
        expect(openMessage(KEY, purpose, sealed)).toEqual(Buffer.from(message));
        expect(() => openMessage(KEY, `${purpose}.`, sealed)).toThrow(undecryptable);
        expect(() => openMessage(new Uint8Array(32), purpose, sealed)).toThrow(undecryptable);
      }),
      propertySettings(),
    );
  });

  test('does not open with a bit changed or bytes missing', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), fc.nat(7), (message, place, bit) => {
        const sealed = sealMessage(KEY, 'test', message);
        const changed = Buffer.from(sealed);
        const at = place % sealed.length;
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        expect(() => openMessage(KEY, 'test', changed)).toThrow(undecryptable);
        expect(() => openMessage(KEY, 'test', sealed.subarray(0, at))).toThrow(undecryptable);
      }),
      propertySettings(),
    );
  });
});

describe('the key of a link', () => {
  const [primary, secondary, other] = [1, 2, 3].map(generateLinkKeyPair);
  if (!primary || !secondary || !other) throw new Error('three were made');
  const ids = { clusterId: 'c', secondaryId: 's' };

  test('is the same on both sides, and another for another secondary, id or set', () => {
    const key = deriveLinkKey({ own: primary, peerPublicKey: secondary.publicKey, ...ids });
    expect(deriveLinkKey({ own: secondary, peerPublicKey: primary.publicKey, ...ids })).toEqual(
      key,
    );
    for (const differently of [
      { own: other, peerPublicKey: primary.publicKey, ...ids },
      { own: secondary, peerPublicKey: primary.publicKey, ...ids, secondaryId: 't' },
      { own: secondary, peerPublicKey: primary.publicKey, ...ids, clusterId: 'd' },
    ])
      expect(deriveLinkKey(differently)).not.toEqual(key);
  });

  test.for(['', 'short', Buffer.alloc(32).toString('base64url')])(
    'is not derived from the public key "%s"',
    (peerPublicKey) => {
      expect(() => deriveLinkKey({ own: primary, peerPublicKey, ...ids })).toThrow(malformed);
    },
  );
});

describe('a batch', () => {
  const operation = fc.record({
    path: fc.string({ minLength: 1 }).map((name) => `shared/${name}`),
    stored: fc.option(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      { nil: undefined },
    ),
  });

  test('is received without the records that are not replicated', () => {
    fc.assert(
      fc.property(fc.array(fc.array(operation), { maxLength: 5 }), (commits) => {
        const own = { path: 'node/own', stored: Buffer.from('x') };
        const entries = commits.map((operations, index) => ({
          sequence: 9 + index,
          committedAtMs: 1000 + index,
          operations,
        }));
        const sent = entries.map((entry) => ({ ...entry, operations: [own, ...entry.operations] }));
        const extras = { primaryVersion: '1.2.0', promotion: 2 };
        expect(decodeBatch('dr', encodeBatch('dr', sent, extras))).toEqual({
          ...extras,
          entries,
          wrappedKeyring: undefined,
        });
      }),
      propertySettings(),
    );
  });

  test('with a path that is not replicated is refused', () => {
    const entry = {
      sequence: 1,
      committedAtMs: 0,
      operations: [{ path: 'local/a', stored: undefined }],
    };
    expect(() => decodeBatch('performance', encodeBatch('dr', [entry]))).toThrow(malformed);
  });

  test.for([0, 1, MAX_PART_BYTES - 28, MAX_PART_BYTES, 3 * MAX_PART_BYTES + 17])(
    'of %i bytes is put together from its parts',
    (size) => {
      const assembler = new PartAssembler();
      const batch = Buffer.alloc(size, 'k');
      const whole = toMessages(batch).map((message) => assembler.add(message));
      const last = whole.pop();
      expect(whole.every((none) => none === undefined)).toBe(true);
      expect(last && openBatch(STREAM, last, KEY)).toEqual(batch);
      expect(() => last && openBatch('wal.cluster.sys', last, KEY)).toThrow(undecryptable);
    },
  );

  test('that was interrupted is dropped when it is sent again', () => {
    const assembler = new PartAssembler();
    const batch = Buffer.alloc(2 * MAX_PART_BYTES, 'k');
    const [first] = toMessages(Buffer.alloc(2 * MAX_PART_BYTES, 'x'));
    const whole = [...(first ? [first] : []), ...toMessages(batch, 2)].map((message) =>
      assembler.add(message),
    );
    expect(whole.filter((found) => found !== undefined)).toHaveLength(1);
    const last = whole.at(-1);
    expect(last && openBatch(STREAM, last, KEY)).toEqual(batch);
  });
});

describe('damaged input', () => {
  const isRefusal = (error: unknown): boolean =>
    error instanceof KeelsonError && error.code.startsWith('replication.');
  /** Whether it is read, or refused with a code. */
  const survives = (work: () => unknown): boolean => {
    try {
      work();
      return true;
    } catch (error) {
      return isRefusal(error);
    }
  };

  test('is refused by every reader', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(survives(() => decodeBatch('dr', bytes))).toBe(true);
        expect(survives(() => parseSealedQuestion(bytes))).toBe(true);
        expect(survives(() => openMessage(KEY, '', bytes))).toBe(true);
        expect(survives(() => membershipTest(bytes))).toBe(true);
      }),
      propertySettings({ numRuns: 500 }),
    );
  });

  test.for([
    ['of a newer format', '2', 'the stream has format 2, this version of Keelson reads format 1'],
    ['of an older format', '0', 'the stream has format 0, this version of Keelson reads format 1'],
    ['of a foreign sender', undefined, 'no header format'],
    ['with a damaged format', '1x', 'no header format'],
  ])('%s is refused by name before it is decrypted', ([, format, reason]) => {
    const [message] = toMessages(Buffer.from('batch'));
    const { format: _, ...others } = message?.headers ?? {};
    const headers = { ...others, ...(format !== undefined && { format }) };
    const damaged = message && { ...message, headers, payload: Buffer.alloc(0) };
    expect(() => damaged && new PartAssembler().add(damaged)).toThrow(reason);
  });

  test('in headers is refused', () => {
    const name = fc.constantFrom('format', 'log', 'epoch', 'first', 'last', 'part', 'parts');
    fc.assert(
      fc.property(fc.dictionary(name, fc.oneof(fc.string(), fc.nat().map(String))), (headers) => {
        expect(survives(() => parsePartHead(headers))).toBe(true);
      }),
      propertySettings(),
    );
  });
});

test('an answer opens only for the question to which it was sent', () => {
  const ask = { $case: 'position', value: {} } as const;
  const content = { $case: 'epoch', value: { key: Buffer.from('k') } } as const;
  const [first, second] = [1, 2].map(() =>
    sealQuestion(KEY, 'subject', 'one', { ask, promotion: 3 }),
  );
  if (!first || !second) throw new Error('two were made');
  const opened = openQuestion(KEY, 'subject', parseSealedQuestion(first.payload));
  expect(opened).toMatchObject({ ask, promotion: 3 });
  const answer = opened.sealAnswer(content, 4);
  expect(first.openAnswer(answer)).toEqual({ content, promotion: 4 });
  expect(() => second.openAnswer(answer)).toThrow(undecryptable);
});

test('a set of subpages holds exactly what was put into it', () => {
  const isIn = membershipTest(toSubpageSet([0x0000, 0x12ff, 0xffff]));
  const all = membershipTest(new Uint8Array());
  for (const path of Array.from({ length: 200 }, (_, index) => `shared/${index}`)) {
    expect(isIn(path)).toBe(false);
    expect(all(path)).toBe(true);
  }
});
