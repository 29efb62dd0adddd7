import { describe, expect, test } from 'vitest';
import { findBroken, WriteLedger } from './write-ledger.ts';

const written = async (statuses: Readonly<Record<string, number>>): Promise<WriteLedger> => {
  const ledger = new WriteLedger();
  for (const [key, status] of Object.entries(statuses))
    await ledger.attempt(key, async () => status);
  return ledger;
};
const root = (text: string) => async () => text;

describe('a ledger of writes', () => {
  test('reports what was acknowledged, refused and left open', async () => {
    const ledger = await written({ a: 204, b: 400, c: 503 });
    await ledger.attempt('d', () => Promise.reject(new Error('no answer')));
    expect(ledger).toMatchObject({ acknowledged: ['a'], refused: ['b'], unknown: ['c', 'd'] });
  });

  test('holds when everything acknowledged is present, and nothing refused', async () => {
    const ledger = await written({ a: 204, b: 400, c: 503 });
    const roots = { branch: [root('1'), root('1')] } as const;
    expect(await findBroken({ ledger, held: new Set(['a']), roots })).toEqual([]);
    expect(await findBroken({ ledger, held: new Set(['a', 'c']), roots })).toEqual([]);
  });

  test('is violated by a lost write, and by a refused one that is present', async () => {
    const ledger = await written({ a: 204, b: 400, c: 200 });
    expect(await findBroken({ ledger, held: new Set(['b', 'c']) })).toEqual([
      'a was acknowledged and is lost',
      'b was refused and is there',
    ]);
  });

  test('allows as many missing writes as the reported lag and later ones, and no more', async () => {
    const ledger = await written({ a: 200, b: 200, c: 200 });
    const mark = await ledger.mark(async () => 1);
    await ledger.attempt('d', async () => 200);
    expect(await findBroken({ ledger, held: new Set(['a', 'b']), mark })).toEqual([]);
    expect(await findBroken({ ledger, held: new Set(['a']), mark })).toEqual([
      '2 of the 3 acknowledged writes are lost (b …), the reported lag was 1',
    ]);
  });

  test('is violated by roots that remain different', async () => {
    const ledger = await written({});
    const roots = { branch: [root('1'), root('2')] } as const;
    expect(await findBroken({ ledger, held: new Set(), roots, comparisons: 2 })).toEqual([
      'the Merkle roots of branch and its primary differ',
    ]);
  });
});
