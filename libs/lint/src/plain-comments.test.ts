import { expect, test } from 'vitest';
import { oddPhrase } from './plain-comments.ts';

test.for([
  ['* Of the log, after which it is reset. ', 'Of'],
  [' What the caller is given.', 'What'],
  ['*\n * Whom a token stands for.\n ', 'Whom'],
  [' The tree is built anew.', 'anew'],
  [' It lies beside the log.', 'beside'],
  [' Beside the records: nothing else shows it.', 'Beside'],
  [' Signs what the role lets in.', 'lets in'],
  [' Nothing is asked of another host.', 'asked of'],
  ['* Records\n * of before the change.', 'of before'],
  [' It was refused, and so it is.', 'so it is.'],
  ['* Those whose key signed it.', 'Those whose'],
  [' Refuses a range that is none.', 'that is none'],
  ['* undefined: no limit. ', 'undefined:'],
  ['* The end of its life; null: it has none.', '; null:'],
  [' @param port Absent: any free one.', '@param port Absent:'],
])('a comment such as %j is refused for "%s"', ([comment, phrase]) => {
  expect(oddPhrase(String(comment))).toBe(phrase);
});

test.for([
  '* Log size at which the next checkpoint resets the log. ',
  ' The consumer has no reader, so it is closed.',
  ' The operation that a method stands for.',
  '* The end of its life; null means that it has none.',
  '* The addresses, none of which is undefined: they are distinct.',
  ' Often whatever the caller sends is what it gets.',
])('a comment such as %j is accepted', (comment) => {
  expect(oddPhrase(comment)).toBeUndefined();
});
