import type { Transaction } from '@keelson/storage';
import { describe, expect, test } from 'vitest';
import { writeForAll } from './outbox-contents.ts';

const UUID = '8f0b1c1e-0000-4000-8000-000000000001';
const mount = { uuid: UUID, local: false };
const value = Buffer.from('{}');

const writtenTo = (place: string): readonly string[] => {
  const written: string[] = [];
  const tx = { write: (path: string) => written.push(path) } as unknown as Transaction;
  writeForAll(tx, mount, { place, value });
  return written;
};

describe('the path of a message to other clusters', () => {
  test.for([
    `cluster-revocations/${UUID}/0a-0b/berlin`,
    `mounts/${UUID}/unified-crl-pending/0a-0b`,
    `mounts/${UUID}/revocation-requests/0a-0b`,
    `mounts/${UUID}/revocation-confirmations/0a-0b`,
    `mounts/${UUID}/banned-keys/thumbprint/berlin`,
    `mounts/${UUID}/lifted-bans/thumbprint`,
  ])('may be %s', (place) => {
    expect(writtenTo(place)).toEqual([`shared/${place}`]);
  });

  test.for([
    `mounts/${UUID}/issuers/1`,
    `mounts/${UUID}/config/crl`,
    'cluster-revocations/8f0b1c1e-0000-4000-8000-000000000002/0a-0b/berlin',
    '',
  ])('may not be "%s"', (place) => {
    expect(() => writtenTo(place)).toThrow('a record of another kind');
  });
});
