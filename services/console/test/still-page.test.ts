/** Texts in pictures: those that differ by chance have one form, and all others stay. */
import { expect, test } from 'vitest';
import { stillText } from './still-page.ts';

test.each([
  ['run-CZcmD7eagjhyX0vN', 'run-AAAAAAAAAAAAAAAA'],
  ['ran ws-1b3d5f7h9jkmnpqr', 'ran ws-AAAAAAAAAAAAAAAA'],
  ['IZJbMOqDcfOqukrZxyMHMozH.WXzoU', 'AAAAAAAAAAAAAAAAAAAAAAAA'],
  ['0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', '4a4a4a4a-4a4a-4a4a-4a4a-4a4a4a4a4a4a'],
  ['http://127.0.0.1:40123/v1/pki', 'http://127.0.0.1:8200/v1/pki'],
  ['/tmp/keelson-ab12/audit.log', '/var/lib/keelson/audit.log'],
  ['file_path=/tmp/suite-1aB3/keelson-x9Y8z7/audit.log', 'file_path=/var/lib/keelson/audit.log'],
  ['Mar 1, 2027, 9:03 AM', 'Mar 1, 2027, 9:00 AM'],
  ['2027-03-01T09:03:12.123Z', '2027-03-01T9:00Z'],
  ['1 h 19 min', '1 h 5 min'],
  ['2 min 4 s', '5 min'],
  ['0.3 s', '5 s'],
  ['Keelson 0.1.0-dev.3', 'Keelson 1.2.3'],
  ['-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', expect.stringContaining('AAAA')],
])('%s', (text, still) => {
  expect(stillText(text)).toEqual(still);
  // A changed text is not changed again.
  expect(stillText(stillText(text))).toBe(stillText(text));
});

test('two serial numbers or fingerprints look alike', () => {
  const octets = (count: number, first: string) =>
    [first, ...Array(count - 1).fill('0b')].join(':');
  expect(stillText(octets(19, '01'))).toBe(stillText(octets(20, '7f')));
  expect(stillText(octets(32, '01'))).toBe(stillText(octets(32, '7f')));
});

test.each([
  'Certificate authorities',
  'organization-memberships of version-control-administrators',
  'in 3 days',
  '1 hour ago',
  'curl -X POST https://policy.example/decide',
  'module.network.machine.one',
])('%s stays', (text) => expect(stillText(text)).toBe(text));
