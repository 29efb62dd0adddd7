import { expect, test } from 'vitest';
import { inPortions } from './in-portions.ts';

test('the work on a page lets others begin between its portions, and keeps the order', async () => {
  const order: string[] = [];
  const items = Array.from({ length: 25 }, (_, index) => index);
  const other = (turn: number): void => {
    order.push(`other ${turn}`);
    if (turn < 2) setImmediate(other, turn + 1);
  };
  setImmediate(other, 1);
  const results = await inPortions(items, (item) => {
    order.push(`item ${item}`);
    return Promise.resolve(item);
  });
  expect(results).toEqual(items);
  expect(order.indexOf('other 1')).toBe(10);
  expect(order.indexOf('other 2')).toBe(21);
});
