import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fromBase64,
  fromLocalInput,
  linkOf,
  toBase64,
  toLocalInput,
} from '../src/browser/messages/message.ts';

describe('the text of a message', () => {
  test('survives base64 whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(toBase64(text)).toBe(Buffer.from(text).toString('base64'));
        expect(fromBase64(toBase64(text))).toBe(text);
      }),
    );
  });

  test('that is no UTF-8 is shown as it came', () => {
    expect(fromBase64('//4=')).toBe('//4=');
  });
});

describe('the link of a message', () => {
  test.for([
    ['https://example.com/a', true],
    ['HTTP://example.com', true],
    ['mailto:ops@example.com', true],
    ['/docs', true],
    ['//example.com', false],
    ['javascript:alert(1)', false],
    [' javascript:alert(1)', false],
    ['data:text/html,x', false],
  ] as const)('to %s may be opened: %s', ([href, isOpened]) => {
    expect(linkOf({ link: { Title: href } })).toEqual(
      isOpened ? { title: 'Title', href } : undefined,
    );
  });

  test('is absent without a title or without a link', () => {
    expect(linkOf({ link: null })).toBeUndefined();
    expect(linkOf({ link: {} })).toBeUndefined();
    expect(linkOf({ link: { '': 'https://example.com' } })).toBeUndefined();
  });
});

describe('times in the form', () => {
  test('come back to the minute', () => {
    const time = '2026-03-04T05:06:00.000Z';
    expect(fromLocalInput(toLocalInput(time))).toBe(time);
  });

  test('may be empty', () => {
    expect(toLocalInput(null)).toBe('');
    expect(fromLocalInput('')).toBeNull();
  });
});
