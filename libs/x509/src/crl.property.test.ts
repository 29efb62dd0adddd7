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
  findReason,
  parseCrl,
  REVOCATION_REASON,
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

/** Serial number as encoded in a list, without leading zero octets. */
const minimal = (serial: Uint8Array): Buffer => {
  let first = 0;
  while (first < serial.byteLength - 1 && serial[first] === 0) first++;
  return Buffer.from(serial.subarray(first));
};

const unknown = { oid: '1.2.3.4', critical: false, value: Buffer.from('0500', 'hex') };
const entry: fc.Arbitrary<CrlEntry> = fc.record(
  {
    serialNumber: fc.uint8Array({ minLength: 1, maxLength: 24 }),
    revokedAtMs: fc.integer({ min: 0, max: 2_600_000_000 }).map((seconds) => seconds * 1000),
    reason: fc.constantFrom(undefined, ...Object.values(REVOCATION_REASON)),
    extensions: fc.constantFrom([], [], [], [unknown]),
  },
  { requiredKeys: ['serialNumber', 'revokedAtMs'] },
);

async function* inPages(entries: readonly CrlEntry[], size: number) {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}

test('entries are parsed as they were written, however they were divided into pages', async () => {
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
            // "unspecified" is not encoded (RFC 5280 §5.3.1).
            reason: findReason(extensions ?? []),
            count: extensions?.length,
          })),
        ).toEqual(
          entries.map(({ serialNumber, revokedAtMs, reason, extensions = [] }) => ({
            serialNumber: minimal(serialNumber).toString('hex'),
            revokedAtMs,
            reason: reason || undefined,
            count: extensions.length + (reason ? 1 : 0),
          })),
        );
      },
    ),
  );
});
