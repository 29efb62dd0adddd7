import { randomBytes } from 'node:crypto';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Reads, Store } from '@keelson/storage';
import type { ServiceContext } from '../service-context.ts';
import {
  isSignatureOf,
  SIGNED_URL_LIFETIME_SECONDS,
  type SignedMethod,
  signAddress,
} from './domain/url-signature.ts';
import { signingKeys } from './signing-key-records.ts';

const NAME = 'addresses';

const findKey = async (store: Reads) => {
  const found = await signingKeys.find(store, NAME);
  return found && Buffer.from(found.keyBase64, 'base64');
};

/** Created on first use and shared by all replicas. */
const requireKey = async (store: Store): Promise<Uint8Array> =>
  (await findKey(store)) ??
  store.transact(async (tx) => {
    const existing = await findKey(tx);
    if (existing !== undefined) return existing;
    const key = randomBytes(32);
    signingKeys.write(tx, [NAME], { keyBase64: key.toString('base64') });
    return key;
  });

/** Lifetime of a URL that is followed immediately, such as the target of a redirect. */
export const REDIRECTED_URL_LIFETIME_SECONDS = 60;

/** The caller who is given signed addresses. */
export interface SignedFor {
  /** Address at which the client reached the service. */
  readonly baseUrl: string;
  /** `at-…` of the token whose rights a download has when its address is followed. */
  readonly tokenId: string;
}

/** The caller of a request. */
export const toSignedFor = ({
  baseUrl,
  principal,
}: Pick<RequestHead, 'baseUrl' | 'principal'>): SignedFor => ({
  baseUrl,
  tokenId: principal?.tokenId ?? '',
});

/**
 * Absolute URL of an object below /api/v2, valid from now. That of a download names the token it is made for;
 * the token of an upload is stored with what was announced. The signature is in the query, or at the end of
 * the path for clients that replace the query with their own.
 */
export type SignUrl = (method: SignedMethod, path: string, place?: 'query' | 'path') => string;

export const loadUrlSigner = async (
  { store, clock }: ServiceContext,
  { baseUrl, tokenId }: SignedFor,
  lifetimeSeconds = SIGNED_URL_LIFETIME_SECONDS,
): Promise<SignUrl> => {
  const key = await requireKey(store);
  const expiresAtEpochSeconds = Math.floor(clock.nowMs() / 1000) + lifetimeSeconds;
  return (method, object, place = 'query') => {
    const path = method === 'GET' ? `${object}/${tokenId}` : object;
    const signature = signAddress(key, { method, path, expiresAtEpochSeconds });
    const signed =
      place === 'query'
        ? `${path}?expires=${expiresAtEpochSeconds}&signature=${signature}`
        : `${path}/${expiresAtEpochSeconds}/${signature}`;
    return `${baseUrl}/api/v2${signed}`;
  };
};

/** Whether the signature of a request for `path` is valid. */
export const isSignedRequest = async (
  { store, clock }: ServiceContext,
  method: SignedMethod,
  path: string,
  expires: string,
  signature: string,
): Promise<boolean> => {
  const key = await findKey(store);
  if (key === undefined || !/^\d{1,12}$/.test(expires)) return false;
  const address = { method, path, expiresAtEpochSeconds: Number(expires) };
  return isSignatureOf(key, address, signature, clock.nowMs());
};
