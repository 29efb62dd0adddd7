/** ACME requests with an error in the bytes, the JWS, its header or its payload. */
import { damageDer, wrongValue } from '../pki-input/damage.ts';
import type { Random } from '../random.ts';
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

const damageText = (text: string, random: Random): string => {
  const at = random.below(text.length + 1);
  const put = Buffer.from(random.bytes(random.below(6))).toString('latin1');
  return text.slice(0, at) + put + text.slice(at + random.below(4));
};

/** Makes one member wrong, removes it, or adds others. */
const damageMembers = (members: Members, random: Random): Members => {
  const name = random.pick([...Object.keys(members), 'nonsense', '__proto__', 'constructor']);
  switch (random.below(4)) {
    case 0:
      return Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));
    case 1:
      return { ...members, [name]: { [name]: wrongValue(random) } };
    case 2: {
      const value = members[name];
      if (typeof value === 'string') return { ...members, [name]: damageText(value, random) };
      return { ...members, [name]: [members[name], wrongValue(random)] };
    }
    default:
      return { ...members, [name]: wrongValue(random) };
  }
};

const wrongIdentifier = (random: Random): unknown =>
  random.once(3)
    ? wrongValue(random)
    : {
        type: random.pick(['dns', 'ip', 'email', '', wrongValue(random)]),
        value: random.pick([
          'localhost',
          '*.a.example',
          '127.0.0.1',
          '::ffff:1.2.3.4',
          'xn--',
          damageText('www.example.com', random),
          wrongValue(random),
        ]),
      };

/** Valid payloads by resource. */
const payloads = (
  session: AcmeSession,
  { csr, certificate, order, authorization }: AcmeSamples,
  random: Random,
): readonly (readonly [string, Members | undefined])[] => {
  const challenge = authorization.replace('/authorization/', '/challenge/');
  const inner = (path: string, payload: Members, key = session.key): Members =>
    signText(
      key,
      JSON.stringify(
        damageMembers({ alg: 'ES256', jwk: key.jwk, url: `${CLUSTER_PATH}/${path}` }, random),
      ),
      JSON.stringify(damageMembers(payload, random)),
    );
  return [
    ['acme/new-account', { contact: ['mailto:a@example.org'], onlyReturnExisting: true }],
    [
      'acme/new-account',
      { onlyReturnExisting: true, externalAccountBinding: inner('acme/new-account', stranger.jwk) },
    ],
    [
      'acme/new-order',
      {
        identifiers: [wrongIdentifier(random), wrongIdentifier(random)],
        notAfter: random.pick(['2030-01-01T00:00:00Z', damageText('2030-01-01T00:00:00Z', random)]),
      },
    ],
    ['acme/new-order', { identifiers: [{ type: 'dns', value: 'localhost' }], replaces: 'AA.AA' }],
    [
      'acme/key-change',
      inner('acme/key-change', { account: session.account, oldKey: session.key.jwk }),
    ],
    ['acme/revoke-cert', { certificate: toText(damageDer(certificate, random)), reason: 0 }],
    [`${order}/finalize`, { csr: toText(damageDer(csr, random)) }],
    [session.account.slice(CLUSTER_PATH.length + 1), { contact: [] }],
    [authorization, { status: 'valid' }],
    [`${challenge}/${random.pick(['http-01', 'dns-01', 'tls-alpn-01'])}`, {}],
    [order, undefined],
    [`${order}/cert`, undefined],
    ['acme/orders', undefined],
    ['acme/new-authz', {}],
  ];
};

const damagePath = (path: string, random: Random): string => {
  switch (random.below(12)) {
    case 0:
      return `${random.pick(['issuer/x/', 'roles/y/', 'external-policy/'])}${path}`;
    case 1:
      return `${path}?${damageText('after=0&cursor=1', random).replaceAll(/[#?]/g, '')}`;
    case 2:
      return path.replace(/[^/]+$/, encodeURIComponent(damageText('abc', random)));
    default:
      return path;
  }
};

/** The request, and whether it may be accepted, because some damage changes nothing. */
export const badAcmeRequest = (
  session: AcmeSession,
  samples: AcmeSamples,
  random: Random,
): BadAcmeRequest => {
  const [resource, payload] = random.pick(payloads(session, samples, random));
  const path = damagePath(resource, random);
  if (random.once(25)) {
    const id = damageText(`${toText(random.bytes(20))}.${toText(random.bytes(20))}`, random);
    const target = random.once(2) ? path : `acme/renewal-info/${encodeURIComponent(id)}`;
    return { method: 'GET', path: target, body: new Uint8Array(0), contentType: '' };
  }
  const good = session.header(path);
  const isKeyed = resource === 'acme/new-account' || random.once(10);
  const header = isKeyed
    ? { alg: good['alg'], nonce: good['nonce'], url: good['url'], jwk: session.key.jwk }
    : good;
  const said = payload === undefined ? '' : JSON.stringify(payload);
  const kind = random.below(6);
  const headerText = JSON.stringify(kind === 0 ? damageMembers(header, random) : header);
  let payloadText = said;
  if (kind === 1) payloadText = damageText(said, random);
  if (kind === 2) payloadText = JSON.stringify(damageMembers(payload ?? {}, random));
  const jws = signText(
    session.key,
    kind === 3 ? damageText(headerText, random) : headerText,
    payloadText,
  );
  const text = JSON.stringify(kind === 4 ? damageMembers(jws, random) : jws);
  return {
    method: 'POST',
    path,
    body: Buffer.from(kind === 5 && random.once(2) ? damageText(text, random) : text),
    contentType: random.once(40) ? random.pick(['', 'application/json', 'text/plain;;']) : JOSE,
  };
};
