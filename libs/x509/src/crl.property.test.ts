import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  authorityKeyIdentifier,
  type CrlEntry,
  createCrl,
  createSigner,
  crlNumber,
  encodeName,
  parseCrl,
  toDistinguishedName,
} from './x509.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const signer = createSigner(privateKey, 'ed25519');
const fields = {
  issuer: encodeName(toDistinguishedName({ commonName: 'Lists' })),
  thisUpdateMs: Date.UTC(2030, 0, 1),
  nextUpdateMs: Date.UTC(2051, 0, 1),
  extensions: [authorityKeyIdentifier(Buffer.alloc(20, 1)), crlNumber(7n)],
};

/** As a list holds it: without leading zero octets. */
const minimal = (serial: Uint8Array): Buffer => {
  let first = 0;
  while (first < serial.byteLength - 1 && serial[first] === 0) first++;
  return Buffer.from(serial.subarray(first));
};

const reason = { oid: '2.5.29.21', critical: false, value: Buffer.from('0a0101', 'hex') };
const entry: fc.Arbitrary<CrlEntry> = fc.record(
  {
    serialNumber: fc.uint8Array({ minLength: 1, maxLength: 24 }),
    revokedAtMs: fc.integer({ min: 0, max: 2_600_000_000 }).map((seconds) => seconds * 1000),
    extensions: fc.constantFrom([], [reason]),
  },
  { requiredKeys: ['serialNumber', 'revokedAtMs'] },
);

async function* inPages(entries: readonly CrlEntry[], size: number) {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}

test('entries are read back as they were written, however they were divided into pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      async (entries, size) => {
        const der = await createCrl(fields, entries, signer);
        expect(await createCrl(fields, inPages(entries, size), signer)).toEqual(der);
        expect(
          parseCrl(der).entries.map(({ serialNumber, revokedAtMs, extensions }) => ({
            serialNumber: Buffer.from(serialNumber).toString('hex'),
            revokedAtMs,
            count: extensions?.length,
          })),
        ).toEqual(
          entries.map(({ serialNumber, revokedAtMs, extensions = [] }) => ({
            serialNumber: minimal(serialNumber).toString('hex'),
            revokedAtMs,
            count: extensions.length,
          })),
        );
      },
    ),
  );
});
