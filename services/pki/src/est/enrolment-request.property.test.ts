import { createPrivateKey } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { propertySettings } from '@keelson/testkit';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  describeKey,
  encodeName,
  subjectAltName,
  toDistinguishedName,
} from '@keelson/x509';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkRenewal, readEnrolmentBody } from './domain/enrolment-request.ts';

const { publicKeyDer, privateKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
const key = createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });
const signer = createSigner(key, chooseSignatureScheme(describeKey(key)));
const subject = encodeName(toDistinguishedName({ commonName: 'device' }));
const valid = Buffer.from(await createCsr({ subject, publicKeyDer, extensions: [] }, signer));

describe('the body of an enrolment', () => {
  test('is accepted with any whitespace in its base64', () => {
    const spaces = fc.array(fc.constantFrom(' ', '\t', '\r', '\n'), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(spaces, { minLength: 1, maxLength: 50 }), (runs) => {
        const text = Array.from(valid.toString('base64'))
          .map((letter, index) => letter + (runs[index % runs.length] ?? []).join(''))
          .join('');
        expect(Buffer.from(readEnrolmentBody(Buffer.from(text)).der)).toEqual(valid);
      }),
      propertySettings(),
    );
  });

  test('of any other bytes is refused without a crash', () => {
    const damaged = fc
      .tuple(fc.nat(valid.byteLength - 1), fc.integer({ min: 1, max: 255 }))
      .map(([at, change]) => {
        const bytes = Buffer.from(valid);
        bytes[at] = (bytes[at] as number) ^ change;
        return Buffer.from(bytes.toString('base64'));
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), damaged), (bytes) => {
        let code = 'understood';
        try {
          readEnrolmentBody(bytes);
        } catch (error) {
          if (!(error instanceof KeelsonError)) throw error;
          code = error.code;
        }
        expect(['request.invalid', 'pki.malformed']).toContain(code);
      }),
      propertySettings(),
    );
  });
});

describe('a renewal', () => {
  const label = fc.stringMatching(/^[a-z]{1,8}$/);
  const named = (commonName: string, names: readonly string[]) => ({
    subject: encodeName(toDistinguishedName({ commonName })),
    extensions:
      names.length === 0
        ? []
        : [
            subjectAltName(
              names.map((value) => ({ kind: 'dns' as const, value })),
              false,
            ),
          ],
  });

  test('may have the same names in any order, with or without the common name as alternative name', () => {
    fc.assert(
      fc.property(label, fc.uniqueArray(label, { maxLength: 5 }), (commonName, names) => {
        const had = named(commonName, [...names, commonName]);
        expect(() => checkRenewal(named(commonName, names.toReversed()), had)).not.toThrow();
      }),
      propertySettings(),
    );
  });

  test('may not have other or fewer names', () => {
    fc.assert(
      fc.property(label, fc.uniqueArray(label, { minLength: 1, maxLength: 5 }), (name, names) => {
        const [extra = '', ...rest] = names.map((one) => `${one}0`);
        const [more, less] = [named(name, [extra, ...rest]), named(name, rest)];
        expect(() => checkRenewal(more, less)).toThrow(/alternative names/);
        expect(() => checkRenewal(less, more)).toThrow(/alternative names/);
      }),
      propertySettings(),
    );
  });
});
