import { expect, test } from 'vitest';
import { WholeWords } from '../whole-words.ts';
import { Mask } from './mask.ts';

const SECRETS = ['eyJhbGciOiJSUzI1NiJ9.claims.signature', 'hvs.secret'];

test.for([
  ['a text without one', 'nothing here\n', 'nothing here\n'],
  ['one alone', 'hvs.secret', '(sensitive value)'],
  ['one within a word', 'TOKEN=hvs.secret;', 'TOKEN=(sensitive value);'],
  ['one after the other', `hvs.secret ${SECRETS[0]}x`, '(sensitive value) (sensitive value)x'],
  ['only a whole one', 'hvs.sec ret\n', 'hvs.sec ret\n'],
] as const)('hides %s in whole words, wherever the text is cut', ([, text, shown]) => {
  for (let first = 0; first <= text.length; first += 1)
    for (let second = first; second <= text.length; second += 1) {
      const mask = new Mask();
      mask.hide(SECRETS);
      let seen = '';
      const words = new WholeWords((piece) => {
        seen += mask.masked(piece);
      });
      for (const piece of [text.slice(0, first), text.slice(first, second), text.slice(second)])
        words.add(piece);
      words.end();
      expect(seen).toBe(shown);
    }
});
