import { expect, test } from 'vitest';
import { addressForSecondary } from './address-for-secondary.ts';

test.for([
  ['https://k.example', 'http://evil.example', '192.0.2.7', 'https://k.example'],
  ['https://k.example', 'http://127.0.0.1:8200', '127.0.0.1', 'https://k.example'],
  ['', 'http://127.0.0.1:8200', '127.0.0.1', 'http://127.0.0.1:8200'],
  ['', 'https://localhost:8443', '::1', 'https://localhost:8443'],
  ['', 'http://[::1]:8200', '::1', 'http://[::1]:8200'],
  ['', 'http://evil.example', '127.0.0.1', ''],
  ['', 'http://127.evil.example', '127.0.0.1', ''],
  ['', 'http://localhost.evil.example', '127.0.0.1', ''],
  ['', 'http://127.0.0.1:8200', '192.0.2.7', ''],
] as const)(
  'configured "%s", requested at %s by %s: "%s"',
  ([apiAddress, baseUrl, remoteAddress, told]) => {
    expect(addressForSecondary({ apiAddress }, { baseUrl, remoteAddress })).toBe(told);
  },
);
