import { expect, test } from 'vitest';
import { accountLabel } from './dns-account-01.ts';

test('the label of an account is the one of the draft', () => {
  expect(accountLabel('https://example.com/acme/acct/ExampleAccount')).toBe('_ujmmovf2vn55tgye');
});
