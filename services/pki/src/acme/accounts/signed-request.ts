/** Reads a POST and verifies its signature (RFC 8555 §6.2–6.5). */

import type { RouteExchange } from '@keelson/edge';
import type { Store } from '@keelson/storage';
import { type PublicJwk } from '../../keys/domain/jwk-thumbprint.ts';
import type { OpenDirectory } from '../directories/directory-operations.ts';
import {
  type JsonMembers,
  type ParsedJws,
  parseJws,
  parseMembers,
  requireAlgorithm,
  signedTextOf,
  unsigned,
} from '../jws/jws.ts';
import { parsePublicJwk } from '../jws/public-jwk.ts';
import type { SignatureChecks } from '../jws/signature-checks.ts';
import type { Nonces } from '../nonces/nonces.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';
import { type KnownAccount, requireOpenAccount } from './account-operations.ts';
import { accountRecords } from './account-records.ts';
import { type ImportedKey, importKey, keyOfAccount } from './imported-keys.ts';

/** RFC 8555 §6.2: most requests name their account; two resources accept a key instead. */
export type SignerKind = 'account' | 'key' | 'either';

export interface SignedRequest {
  readonly jwk: PublicJwk;
  readonly key: ImportedKey;
  /** undefined if the request contains a key. */
  readonly signer: KnownAccount | undefined;
  /** URL of this request. */
  readonly url: string;
  readonly payload: string;
}

export interface RequestParts {
  readonly store: Store;
  readonly nonces: Nonces;
  readonly signatures: SignatureChecks;
}

const MAX_BODY_BYTES = 256 * 1024;
const MEDIA_TYPE = 'application/jose+json';

const readBody = async ({ head, body }: RouteExchange): Promise<JsonMembers> => {
  const [type = ''] = (head.headers['content-type'] ?? '').split(';');
  // RFC 8555 §6.2.
  if (type.trim().toLowerCase() !== MEDIA_TYPE)
    throw malformed(`the content type must be ${MEDIA_TYPE}`, { status: 415 });
  const bytes = await body.bytes(MAX_BODY_BYTES);
  return parseMembers(Buffer.from(bytes).toString(), 'the request');
};

const accountIdOf = (kid: unknown, { urls }: OpenDirectory): string => {
  const prefix = urls.account('');
  if (typeof kid !== 'string' || !kid.startsWith(prefix))
    throw new AcmeProblem(
      'accountDoesNotExist',
      '"kid" is not the URL of an account of this directory',
    );
  return kid.slice(prefix.length);
};

const requireAccount = async (
  { store }: RequestParts,
  directory: OpenDirectory,
  kid: unknown,
): Promise<KnownAccount> => {
  const id = accountIdOf(kid, directory);
  const account = /^[0-9a-f-]{36}$/.test(id)
    ? await accountRecords(directory.mount).find(store, id)
    : undefined;
  if (account?.directory !== directory.path)
    throw new AcmeProblem(
      'accountDoesNotExist',
      '"kid" is not the URL of an account of this directory',
    );
  return { id, account };
};

/** The signer named by the header; the resource decides whether it may be a key or an account. */
const findSigner = async (
  parts: RequestParts,
  directory: OpenDirectory,
  { protectedHeader }: ParsedJws,
  kind: SignerKind,
): Promise<Pick<SignedRequest, 'jwk' | 'key' | 'signer'>> => {
  const { jwk: presented, kid } = protectedHeader;
  if ((presented === undefined) === (kid === undefined))
    throw malformed('the protected header must have exactly one of "jwk" and "kid"');
  if (kid === undefined) {
    if (kind === 'account') throw malformed('this resource needs a "kid"');
    const jwk = parsePublicJwk(presented);
    return { jwk, key: importKey(jwk), signer: undefined };
  }
  if (kind === 'key') throw malformed('this resource needs a "jwk"');
  const signer = await requireAccount(parts, directory, kid);
  return { jwk: signer.account.key, key: keyOfAccount(signer.account), signer };
};

const urlOf = ({ head }: RouteExchange, { urls, path }: OpenDirectory): string => {
  // The path below the mount is compared as the client sent it, after the configured URL of the
  // mount.
  const mountUrl = urls.base.slice(0, urls.base.length - path.length - 1);
  return mountUrl + head.path + (head.query === '' ? '' : `?${head.query}`);
};

/**
 * Reads a POST and checks all rules of RFC 8555 §6.
 * @throws AcmeProblem
 */
export const readSignedRequest = async (
  parts: RequestParts,
  directory: OpenDirectory,
  exchange: RouteExchange,
  kind: SignerKind,
): Promise<SignedRequest> => {
  const jws = parseJws(await readBody(exchange));
  const { nonce, url } = jws.protectedHeader;
  requireAlgorithm(jws.protectedHeader);
  // RFC 8555 §6.4: the request must have been signed for this resource.
  const expectedUrl = urlOf(exchange, directory);
  if (typeof url !== 'string') throw malformed('the protected header lacks "url"');
  if (url !== expectedUrl)
    throw new AcmeProblem('unauthorized', `"url" must be that of the request, ${expectedUrl}`);
  if (nonce === undefined) throw new AcmeProblem('badNonce', 'the protected header lacks "nonce"');
  if (typeof nonce !== 'string' || !/^[A-Za-z0-9_-]+$/.test(nonce))
    throw malformed('"nonce" is not base64url');
  const found = await findSigner(parts, directory, jws, kind);
  if (!(await parts.signatures.isSigned(signedTextOf(jws, found.jwk), found.key.derText)))
    throw unsigned();
  // Only after the signature was verified, so that nobody can use up the nonces of other clients.
  if (!(await parts.nonces.redeem(nonce)))
    throw new AcmeProblem('badNonce', 'the nonce is unknown, too old or used');
  if (found.signer !== undefined) checkAccount(directory, found.signer);
  return { ...found, url, payload: Buffer.from(jws.payload).toString() };
};

const checkAccount = ({ config }: OpenDirectory, { account }: KnownAccount): void => {
  requireOpenAccount(account);
  if (config.eabPolicy === 'always-required' && account.binding === undefined)
    throw new AcmeProblem(
      'externalAccountRequired',
      'an external account binding is required; register again with one',
    );
};

/**
 * The members of a payload. Null counts as absent, because some clients always send all members.
 * @throws AcmeProblem `malformed`
 */
export const parsePayload = ({ payload }: Pick<SignedRequest, 'payload'>): JsonMembers =>
  Object.fromEntries(
    Object.entries(parseMembers(payload, 'the payload')).filter(([, value]) => value !== null),
  );

/** RFC 8555 §6.3: a read has an empty payload. */
export const requireEmptyPayload = ({ payload }: SignedRequest): void => {
  if (payload !== '') throw malformed('this resource is read with an empty payload (POST-as-GET)');
};

/**
 * The octets of a member of a payload.
 * @throws AcmeProblem `malformed`
 */
export const base64UrlOf = (value: unknown, name: string): Buffer => {
  if (typeof value !== 'string' || value === '' || !/^[A-Za-z0-9_-]+$/.test(value))
    throw malformed(`"${name}" must be base64url without padding`);
  return Buffer.from(value, 'base64url');
};

/**
 * The account that signed.
 * @throws AcmeProblem `malformed` if the request was signed with a key instead
 */
export const signerOf = ({ signer }: SignedRequest): KnownAccount => {
  if (signer === undefined) throw malformed('this resource needs a "kid"');
  return signer;
};
