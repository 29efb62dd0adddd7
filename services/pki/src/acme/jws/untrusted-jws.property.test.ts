import { generateKeyPairSync, sign } from 'node:crypto';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { thumbprintOf } from '../../keys/domain/jwk-thumbprint.ts';
import { parseIdentifiers } from '../orders/domain/identifier.ts';
import { AcmeProblem } from '../problems/problem.ts';
import {
  isSigned,
  type JsonMembers,
  parseJws,
  parseMembers,
  signedTextOf,
  unsigned,
} from './jws.ts';
import { importPublicJwk, parsePublicJwk } from './public-jwk.ts';

/** The permitted outcomes for untrusted input: it is parsed, or refused with an AcmeProblem. */
const isReadOrRefused = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch (error) {
    return error instanceof AcmeProblem && error.status < 500;
  }
};

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = parsePublicJwk(publicKey.export({ format: 'jwk' }));

const signed = (payload: string): JsonMembers => {
  const header = Buffer.from('{"alg":"ES256"}').toString('base64url');
  const text = Buffer.from(payload).toString('base64url');
  const signature = sign('sha256', Buffer.from(`${header}.${text}`), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return { protected: header, payload: text, signature: signature.toString('base64url') };
};

const verify = (members: JsonMembers): string => {
  const jws = parseJws(members);
  if (!isSigned(signedTextOf(jws, jwk), importPublicJwk(jwk))) throw unsigned();
  return Buffer.from(jws.payload).toString();
};

describe('a JWS', () => {
  test('signed with the key is accepted with its content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (payload) => {
        expect(verify(signed(payload))).toBe(payload);
      }),
      propertySettings(),
    );
  });

  test('with one character changed is refused', () => {
    const good = signed('{"a":1}');
    const changed = fc
      .tuple(fc.constantFrom('protected', 'payload', 'signature'), fc.nat(), fc.nat(62))
      .map(([name, at, shift]) => {
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        const text = String(good[name]);
        // The last character is excluded, because it may contain unused bits.
        const place = at % (text.length - 1);
        const index = alphabet.indexOf(text.charAt(place));
        const put = alphabet.charAt((index + 1 + shift) % 64);
        return { ...good, [name]: text.slice(0, place) + put + text.slice(place + 1) };
      });
    fc.assert(
      fc.property(changed, (members) => {
        expect(() => verify(members)).toThrow(AcmeProblem);
      }),
      propertySettings({ numRuns: 500 }),
    );
  });

  test('with arbitrary content is parsed or refused', () => {
    const member = fc.oneof(fc.base64String(), fc.string(), fc.jsonValue());
    const members = fc.dictionary(
      fc.constantFrom('protected', 'payload', 'signature', 'header', 'signatures', '__proto__'),
      member,
    );
    fc.assert(
      fc.property(fc.oneof(members, fc.object()), (value) => {
        expect(isReadOrRefused(() => parseJws(value))).toBe(true);
      }),
      propertySettings({ numRuns: 1000 }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(isReadOrRefused(() => parseMembers(text, 'the text'))).toBe(true);
      }),
      propertySettings({ numRuns: 1000 }),
    );
  });
});

test('a key with arbitrary content is parsed or refused, and a parsed one has a thumbprint', () => {
  const text = fc.oneof(
    fc.base64String().map((value) => value.replaceAll(/[+/=]/g, '_')),
    fc.string(),
    fc.constant(jwk.kty === 'EC' ? jwk.x : ''),
  );
  const key = fc.record(
    {
      kty: fc.constantFrom('EC', 'RSA', 'OKP', 'oct'),
      crv: fc.constantFrom('P-256', 'P-384', 'Ed25519', '__proto__', 'x'),
      x: text,
      y: text,
      n: text,
      e: text,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(key, fc.jsonValue()), (value) =>
      isReadOrRefused(() => {
        const read = parsePublicJwk(value);
        importPublicJwk(read);
        expect(thumbprintOf(read)).toMatch(/^[\w-]{43}$/);
      }),
    ),
    propertySettings({ numRuns: 1000 }),
  );
});

test('identifiers with arbitrary content are refused, or parsed to their canonical form', () => {
  const value = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string({ unit: 'binary' }));
  const identifier = fc.record({ type: fc.constantFrom('dns', 'ip', 'x'), value });
  fc.assert(
    fc.property(fc.oneof(fc.array(identifier), fc.jsonValue()), (raw) =>
      isReadOrRefused(() => {
        const read = parseIdentifiers(raw);
        expect(parseIdentifiers(read)).toEqual(read);
      }),
    ),
    propertySettings({ numRuns: 2000 }),
  );
});
