import { ManualClock } from '@keelson/clock';
import { describe, expect, test } from 'vitest';
import { Transfers } from './transfers.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const MEGABYTE = 1024 * 1024;

const refused = (code: string) => expect.objectContaining({ code });

describe('a request in parts', () => {
  test('is complete with its last part, and then removed', () => {
    const transfers = new Transfers(new ManualClock());
    const id = transfers.open('one', 6, bytes('ab'));
    expect(transfers.append('one', id, bytes('cd'))).toBeUndefined();
    expect(Buffer.from(transfers.append('one', id, bytes('ef')) ?? []).toString()).toBe('abcdef');
    expect(() => transfers.append('one', id, bytes('g'))).toThrow(refused('replication.malformed'));
  });

  test.for([
    ['of another secondary', 'two', 'c'],
    ['without content', 'one', ''],
    ['longer than announced', 'one', 'cdefg'],
  ] as const)('refuses a part %s', ([, owner, part]) => {
    const transfers = new Transfers(new ManualClock());
    const id = transfers.open('one', 6, bytes('ab'));
    expect(() => transfers.append(owner, id, bytes(part))).toThrow(
      refused('replication.malformed'),
    );
  });
});

test('an answer is read in parts by the secondary that requested it', () => {
  const transfers = new Transfers(new ManualClock());
  const id = transfers.keep('one', bytes('abcde'));
  expect(() => transfers.read('two', id, 0, 2)).toThrow(refused('replication.malformed'));
  const read = (offset: number): string =>
    Buffer.from(transfers.read('one', id, offset, 2)).toString();
  expect([read(0), read(2), read(4)]).toEqual(['ab', 'cd', 'e']);
  expect(() => read(0)).toThrow(refused('replication.malformed'));
});

describe('unfinished transfers', () => {
  test('are limited in number, until left alone for a minute', () => {
    const clock = new ManualClock();
    const transfers = new Transfers(clock);
    for (let count = 0; count < 32; count += 1) transfers.open('one', 10, bytes('a'));
    expect(() => transfers.open('one', 10, bytes('a'))).toThrow(refused('edge.overloaded'));
    clock.advance(60_001);
    expect(transfers.open('one', 10, bytes('a'))).toBeTypeOf('string');
  });

  test('is bounded in memory', () => {
    const transfers = new Transfers(new ManualClock());
    expect(() => transfers.open('one', 257 * MEGABYTE, bytes('a'))).toThrow(
      refused('request.too_large'),
    );
    transfers.open('one', 200 * MEGABYTE, bytes('a'));
    expect(() => transfers.open('one', 57 * MEGABYTE, bytes('a'))).toThrow(
      refused('edge.overloaded'),
    );
  });
});
