import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const queueOf = (...all: readonly (readonly [owner: string, work: string])[]) => {
  const queue = new FairQueue<string>();
  for (const [owner, work] of all) queue.push(owner, work);
  return queue;
};

test('an owner with much work is followed by each other owner after one piece', () => {
  const queue = queueOf(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['b', 'b1'], ['b', 'b2']);
  expect([queue.take(), queue.take()]).toEqual(['a1', 'b1']);
  queue.push('c', 'c1');
  expect([queue.size, queue.takeAll(), queue.size]).toEqual([4, ['a2', 'b2', 'c1', 'a3'], 0]);
  expect(queue.take()).toBeUndefined();
});

test('an owner whose work may not begin keeps its turn', () => {
  const queue = queueOf(['a', 'a1'], ['b', 'b1'], ['b', 'b2']);
  expect(queue.take((_, owner) => owner !== 'a')).toBe('b1');
  expect(queue.take((work) => work !== 'a1' && work !== 'b2')).toBeUndefined();
  expect(queue.takeAll()).toEqual(['a1', 'b2']);
});

test('everything is taken once, in the order of its owner, and no owner waits for two pieces of another', () => {
  const work = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
  fc.assert(
    fc.property(work, (owners) => {
      const queue = new FairQueue<readonly [owner: string, number: number]>();
      for (const [number, owner] of owners.entries()) queue.push(owner, [owner, number]);
      const taken = queue.takeAll();
      expect(taken.toSorted(([, a], [, b]) => a - b).map(([owner]) => owner)).toEqual(owners);
      for (const owner of new Set(owners)) {
        const own = taken.flatMap(([other], at) => (other === owner ? [at] : []));
        const numbers = taken.filter(([other]) => other === owner).map(([, number]) => number);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        // Between two of its own, and before the first, each other owner has at most one.
        for (const [index, at] of own.entries()) {
          const before = taken.slice((own[index - 1] ?? -1) + 1, at).map(([other]) => other);
          expect(new Set(before).size).toBe(before.length);
        }
      }
    }),
  );
});

test('work that is removed is neither counted nor taken, and its owner keeps the turn for the rest', () => {
  const queue = queueOf(['a', 'a1'], ['a', 'a2'], ['b', 'b1']);
  queue.remove('a', 'a1');
  queue.remove('b', 'b1');
  queue.remove('b', 'b1');
  expect([queue.size, queue.countOf('a'), queue.countOf('b')]).toEqual([1, 1, 0]);
  expect(queue.takeAll()).toEqual(['a2']);
});
