/** ACME requests with an error in the bytes, the JWS, its header or its payload. */
import fc from 'fast-check';
import {
  type Damage,
  damaged,
  documentDamage,
  once,
  oneIn,
  textDamage,
  usually,
  weighted,
  wrongValue,
} from '../malformed.ts';
import { derDamage } from '../pki-input/damage.ts';
import {
  type AcmeSession,
  CLUSTER_PATH,
  JOSE,
  type Members,
  newKey,
  signText,
} from './acme-session.ts';

export interface AcmeSamples {
  readonly csr: Uint8Array;
  readonly certificate: Uint8Array;
  /** Path of an order that waits for its CSR. */
  readonly order: string;
  readonly authorization: string;
}

export interface BadAcmeRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly contentType: string;
}

const stranger = newKey();
const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Members with one that is wrong, missing or too many. */
const damagedMembers = (members: Members): fc.Arbitrary<Members> =>
  documentDamage.map((damage) => damage(members) as Members);

const WRONG_IDENTIFIER = oneIn(
  3,
  wrongValue,
  fc.record({
    type: fc.oneof(fc.constantFrom('dns', 'ip', 'email', ''), wrongValue),
    value: fc.oneof(
      fc.constantFrom('localhost', '*.a.example', '127.0.0.1', '::ffff:1.2.3.4', 'xn--'),
      damaged(fc.constant('www.example.com'), textDamage),
      wrongValue,
    ),
  }),
);
const NOT_AFTER = damaged(fc.constant('2030-01-01T00:00:00Z'), textDamage, 2);

type Target = readonly [resource: string, payload: Members | undefined];

/** Resources, with payloads that they take. */
const targets = (
  session: AcmeSession,
  { csr, certificate, order, authorization }: AcmeSamples,
): fc.Arbitrary<Target> => {
  const challenge = authorization.replace('/authorization/', '/challenge/');
  const inner = (path: string, payload: Members, key = session.key): fc.Arbitrary<Members> =>
    fc
      .tuple(
        damagedMembers({ alg: 'ES256', jwk: key.jwk, url: `${CLUSTER_PATH}/${path}` }),
        damagedMembers(payload),
      )
      .map(([header, said]) => signText(key, JSON.stringify(header), JSON.stringify(said)));
  const damagedDer = (bytes: Uint8Array): fc.Arbitrary<string> =>
    derDamage.map((damage) => toText(damage(bytes)));
  const valid = fc.constantFrom<Target[]>(
    ['acme/new-account', { contact: ['mailto:a@example.org'], onlyReturnExisting: true }],
    ['acme/new-order', { identifiers: [{ type: 'dns', value: 'localhost' }], replaces: 'AA.AA' }],
    [session.account.slice(CLUSTER_PATH.length + 1), { contact: [] }],
    [authorization, { status: 'valid' }],
    [`${challenge}/http-01`, {}],
    [`${challenge}/dns-01`, {}],
    [`${challenge}/tls-alpn-01`, {}],
    [order, undefined],
    [`${order}/cert`, undefined],
    ['acme/orders', undefined],
    ['acme/new-authz', {}],
  );
  const damagedInside = fc.oneof<fc.Arbitrary<Target>[]>(
    inner('acme/new-account', stranger.jwk).map((externalAccountBinding) => [
      'acme/new-account',
      { onlyReturnExisting: true, externalAccountBinding },
    ]),
    fc
      .record({ identifiers: fc.tuple(WRONG_IDENTIFIER, WRONG_IDENTIFIER), notAfter: NOT_AFTER })
      .map((payload) => ['acme/new-order', payload]),
    inner('acme/key-change', { account: session.account, oldKey: session.key.jwk }).map(
      (payload) => ['acme/key-change', payload],
    ),
    damagedDer(certificate).map((der) => ['acme/revoke-cert', { certificate: der, reason: 0 }]),
    damagedDer(csr).map((der) => [`${order}/finalize`, { csr: der }]),
  );
  return weighted([2, valid], [1, damagedInside]);
};

const PATH_DAMAGE = fc.oneof<fc.Arbitrary<Damage<string>>[]>(
  fc
    .constantFrom('issuer/x/', 'roles/y/', 'external-policy/')
    .map((before) => (path) => `${before}${path}`),
  textDamage.map(
    (damage) => (path) => `${path}?${damage('after=0&cursor=1').replaceAll(/[#?]/g, '')}`,
  ),
  textDamage.map((damage) => (path) => path.replace(/[^/]+$/, encodeURIComponent(damage('abc')))),
);

const idPart = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toText);
const RENEWAL_ID = damaged(
  fc.tuple(idPart, idPart).map((parts) => parts.join('.')),
  textDamage,
);

/** The part of a POST that is damaged, in its members or its text. */
const PLACES = 'header,header text,payload,payload text,jws,jws text,nothing'.split(',');

/** Signed when it is generated, because each response brings the nonce of the next request. */
export const badAcmeRequest = (
  session: AcmeSession,
  samples: AcmeSamples,
): fc.Arbitrary<BadAcmeRequest> => {
  const target = fc
    .tuple(
      targets(session, samples),
      oneIn(
        4,
        PATH_DAMAGE,
        fc.constant((path: string) => path),
      ),
    )
    .map(([[resource, payload], damage]) => ({ resource, payload, path: damage(resource) }));
  const reading = oneIn(
    2,
    target.map(({ path }) => path),
    RENEWAL_ID.map((id) => `acme/renewal-info/${encodeURIComponent(id)}`),
  ).map((path) => ({ method: 'GET', path, body: Buffer.of(), contentType: '' }));
  const posting = fc
    .record({
      target,
      isKeyed: once(10),
      place: fc.constantFrom(...PLACES),
      damageMembers: documentDamage,
      damageText: textDamage,
      contentType: usually(JOSE, 40, ['', 'application/json', 'text/plain;;']),
    })
    .map(({ target: { resource, payload, path }, place, contentType, ...given }) => {
      const write = (members: Members | undefined, name: 'header' | 'payload' | 'jws'): string => {
        const changed = place === name ? given.damageMembers(members ?? {}) : members;
        const text = changed === undefined ? '' : JSON.stringify(changed);
        return place === `${name} text` ? given.damageText(text) : text;
      };
      const { kid, ...header } = session.header(path);
      const signer =
        given.isKeyed || resource === 'acme/new-account' ? { jwk: session.key.jwk } : { kid };
      const jws = signText(
        session.key,
        write({ ...header, ...signer }, 'header'),
        write(payload, 'payload'),
      );
      return { method: 'POST', path, body: Buffer.from(write(jws, 'jws')), contentType };
    });
  return oneIn(25, reading, posting);
};
