import { expect, test } from 'vitest';
import { Mask } from './mask.ts';

const SECRETS = ['eyJhbGciOiJSUzI1NiJ9.claims.signature', 'hvs.secret'];

test.for([
  ['a text without one', 'nothing here\n', 'nothing here\n'],
  ['one alone', 'hvs.secret', '(sensitive value)'],
  ['one within a word', 'TOKEN=hvs.secret;', 'TOKEN=(sensitive value);'],
  ['one after the other', `hvs.secret ${SECRETS[0]}x`, '(sensitive value) (sensitive value)x'],
  ['only a whole one', 'hvs.sec ret\n', 'hvs.sec ret\n'],
] as const)('hides %s, wherever the text is cut', ([, text, shown]) => {
  for (let first = 0; first <= text.length; first += 1)
    for (let second = first; second <= text.length; second += 1) {
      const mask = new Mask();
      mask.hide(SECRETS);
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect(pieces.map((piece) => mask.pass(piece)).join('') + mask.rest()).toBe(shown);
    }
});

test('passes everything on at once where nothing is hidden', () => {
  expect(new Mask().pass('a word')).toBe('a word');
});
