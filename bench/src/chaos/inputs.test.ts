import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChaosContext } from './chaos.ts';
import { type Inputs, tryInputs } from './inputs.ts';

const FLAT = { name: 'memory', measure: () => 1, isGrown: () => false };

const run = (context: Partial<ChaosContext>, inputs: Partial<Inputs<number>>) =>
  tryInputs(
    {
      count: 200,
      seed: 7,
      patienceMs: 1000,
      isOver: () => false,
      say: () => undefined,
      ...context,
    },
    {
      begin: async () => fc.noBias(fc.nat(100_000)),
      block: 50,
      send: async () => ({ kind: 'answered' }),
      show: String,
      memory: FLAT,
      ...inputs,
    },
  );

describe('a trial of inputs', () => {
  test('sends the count, of all connections together, and counts the outcomes', async () => {
    const { broken, figures } = await run({}, { connections: 2 });
    expect(broken).toEqual([]);
    expect(figures).toMatchObject({ answered: 200 });
  });

  test('reports a shrunk input with the seed and count that repeat it', async () => {
    const send = async (input: number) => ({
      kind: 'answered',
      broken: input >= 90_000 ? 'too much' : undefined,
    });
    const [first = ''] = (await run({}, { send, connections: 2 })).broken;
    expect(first).toContain('too much for 90000\n');
    const [, seed, count] = /--seed (\d+) --count (\d+)$/.exec(first) ?? [];
    expect((await run({ seed: Number(seed), count: Number(count) }, { send })).broken).toContain(
      first,
    );
  });

  test('reports an error of the sender, slow answers and growing memory', async () => {
    const fail = (): never => {
      throw new Error('no connection');
    };
    const failed = await run({}, { send: fail });
    expect(failed.broken[0]).toContain('Error: no connection for 0\n');
    const slow = await run({}, { isSlow: () => true });
    expect(slow.broken[0]).toMatch(/ ms for 0\n/);
    const grown = await run({}, { memory: { ...FLAT, isGrown: () => true } });
    expect(grown.broken).toEqual(['memory grew by 0.0 MB']);
  });
});
