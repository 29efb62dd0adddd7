import { ManualClock } from '@keelson/clock';
import { expect, test } from 'vitest';
import { createTurnRounds, type NextWork } from './turn-rounds.ts';

/** Work that ends on demand. */
const startWork = (atOnce: number, atOnceOfOwner: number) => {
  const waiting = new Map<string, string[]>();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const nextOf =
    (own: string[]): NextWork =>
    () => {
      const name = own.shift();
      if (name === undefined) return Promise.resolve(undefined);
      return Promise.resolve(() => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    };
  const clock = new ManualClock();
  const round = createTurnRounds({
    clock,
    atOnce,
    atOnceOfOwner,
    find: () => Promise.resolve(new Map([...waiting].map(([owner, own]) => [owner, nextOf(own)]))),
  });
  return {
    waiting,
    started,
    clock,
    round: () => round({}),
    end: (name: string) => ends.get(name)?.(),
  };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('owners take turns, and one has only its part of the places', async () => {
  const { waiting, started, round, end } = startWork(3, 2);
  waiting.set('a', ['a1', 'a2', 'a3', 'a4']).set('b', ['b1']);
  const first = round();
  await settled();
  expect(started).toEqual(['a1', 'b1', 'a2']);
  end('b1');
  await settled();
  expect(started).toEqual(['a1', 'b1', 'a2']);
  end('a1');
  await settled();
  expect(started).toEqual(['a1', 'b1', 'a2', 'a3']);
  for (const name of ['a2', 'a3']) end(name);
  await settled();
  end('a4');
  expect(await first).toBe(true);
  expect(await round()).toBe(false);
});

test('work that becomes due while slow work is under way starts a second later', async () => {
  const { waiting, started, clock, round, end } = startWork(3, 1);
  waiting.set('a', ['a1', 'a2']);
  const first = round();
  await settled();
  waiting.set('b', ['b1']);
  clock.advance(1000);
  expect(await first).toBe(true);
  const second = round();
  await settled();
  expect(started).toEqual(['a1', 'b1']);
  for (const name of ['a1', 'b1']) end(name);
  await settled();
  end('a2');
  await second;
});

test('a round fails with the work, which no later round waits for', async () => {
  const left = [() => Promise.reject(new Error('no store'))];
  const failing: NextWork = () => Promise.resolve(left.shift());
  const round = createTurnRounds({
    clock: new ManualClock(),
    atOnce: 1,
    atOnceOfOwner: 1,
    find: () => Promise.resolve(new Map([['a', failing]])),
  });
  await expect(round({})).rejects.toThrow('no store');
  expect(await round({})).toBe(false);
});
