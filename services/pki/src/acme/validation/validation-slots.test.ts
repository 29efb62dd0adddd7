import { describe, expect, test } from 'vitest';
import { ValidationSlots } from './validation-slots.ts';

const use = (accountId: string, host: string, mount = 'm') => ({ mount, accountId, host });

describe('slots of validation', () => {
  test('are limited in total', () => {
    const slots = new ValidationSlots({ total: 2, perMount: 9, perAccount: 2, perHost: 2 });
    expect([use('a', 'x'), use('b', 'y'), use('c', 'z')].map((one) => slots.take(one))).toEqual([
      true,
      true,
      false,
    ]);
    slots.release(use('a', 'x'));
    expect(slots.take(use('c', 'z'))).toBe(true);
  });

  test('of one account leave slots for others', () => {
    const slots = new ValidationSlots({ total: 9, perMount: 9, perAccount: 1, perHost: 9 });
    expect([use('a', 'x'), use('a', 'y'), use('b', 'y')].map((one) => slots.take(one))).toEqual([
      true,
      false,
      true,
    ]);
    expect(slots.busyAccounts).toEqual(new Set(['a', 'b']));
    slots.release(use('a', 'x'));
    expect(slots.busyAccounts).toEqual(new Set(['b']));
  });

  test('of all accounts of one mount leave slots for other mounts', () => {
    const slots = new ValidationSlots({ total: 3, perMount: 2, perAccount: 9, perHost: 9 });
    const uses = [use('a', 'x'), use('b', 'y'), use('c', 'z'), use('d', 'z', 'other')];
    expect(uses.map((one) => slots.take(one))).toEqual([true, true, false, true]);
    expect([slots.freeOf('m'), slots.freeOf('other')]).toEqual([0, 0]);
    slots.release(use('a', 'x'));
    expect([slots.freeOf('m'), slots.freeOf('other')]).toEqual([1, 1]);
  });

  test('for one host are limited over all accounts', () => {
    const slots = new ValidationSlots({ total: 9, perMount: 9, perAccount: 9, perHost: 1 });
    expect([use('a', 'x'), use('b', 'x'), use('b', 'y')].map((one) => slots.take(one))).toEqual([
      true,
      false,
      true,
    ]);
  });
});
