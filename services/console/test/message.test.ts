import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  draftOf,
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

  test('that is not UTF-8 is shown as received', () => {
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

describe('a message that is edited', () => {
  const message = {
    title: 'Note',
    type: 'modal',
    authenticated: false,
    active: true,
    start_time: '2020-01-01T00:00:45.123456789Z',
    end_time: '2090-01-01T00:00:30+02:00',
    message: '//4A',
    link: { Plan: '/plan' },
    options: { dismiss: false },
  } as const;

  test('is sent unchanged where nothing was edited', () => {
    const { active: _, ...sent } = message;
    expect(bodyOf(draftOf(message), message)).toEqual(sent);
    const endless = { ...message, end_time: null, link: null, options: null };
    const { end_time: __, options: ___, ...rest } = { ...sent, link: {} };
    expect(bodyOf(draftOf(endless), endless)).toEqual(rest);
  });

  test('is sent as edited', () => {
    const draft = { ...draftOf(message), text: 'ab', start: '2020-01-02T00:00', end: '' };
    const { active: _, end_time: __, ...sent } = message;
    expect(bodyOf(draft, message)).toEqual({
      ...sent,
      message: 'YWI=',
      start_time: fromLocalInput('2020-01-02T00:00'),
    });
  });
});
