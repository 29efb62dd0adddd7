/** Requests to providers, such as those for their key sets, at addresses that operators choose. */
import { parseJson } from '@keelson/edge';
import { createOutbound, type Outbound, outboundFailure, readBeginning } from '@keelson/outbound';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import { type KeySource, parseJwks, type VerificationKey } from './domain/verification-keys.ts';

/** A provider that has not answered, or with something else than its keys. */
export class ProviderFailure extends Error {
  /** Status of an answer that is not the expected one. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** For all requests of one source together. */
const TIME_LIMIT_MS = 5000;
/** Providers have some twenty keys, with certificates. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_KEYS = 100;

const JSON_LIMITS = {
  depth: 16,
  stringLength: MAX_ANSWER_BYTES,
  objectEntries: 1000,
  arrayElements: 1000,
  documentEntries: 10_000,
} as const;

/** A document of a provider, such as the one by which it describes itself. */
export type ProviderDocument = Readonly<Record<string, unknown>>;

export interface FetchedKeys {
  readonly keys: readonly VerificationKey[];
  /** Undefined unless the keys were found by discovery. */
  readonly metadata: ProviderDocument | undefined;
}

export interface ProviderRequests {
  /** @throws ProviderFailure with the reason, which the operator may read */
  fetchKeys(source: KeySource): Promise<FetchedKeys>;
  /** Asks one provider several questions, for which together there are 5 s. */
  converse<T>(caPem: string, talk: (ask: Ask) => Promise<T>): Promise<T>;
}

const parseDocument = (host: string, text: string): ProviderDocument => {
  try {
    const document = parseJson(Buffer.from(text), JSON_LIMITS);
    if (typeof document === 'object' && document !== null) return document as ProviderDocument;
  } catch {
    // The answer is not JSON, or one of a shape that no provider needs.
  }
  throw new ProviderFailure(`${host} answered with something that is not a JSON document`);
};

/** A question to a provider that knows the token which asks. */
export interface Question {
  readonly bearer: string;
  /** A document that is created, which is answered with 201. */
  readonly body?: object;
}

/** @throws ProviderFailure */
export type Ask = (url: string, question: Question) => Promise<ProviderDocument>;

const toRequest = ({ bearer, body }: Partial<Question>) => ({
  headers: {
    accept: 'application/json',
    'user-agent': 'keelson',
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  },
  ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
});

/**
 * The document at an address. Redirects are not followed: the keys of an address come from that address.
 * @throws ProviderFailure
 */
const fetchDocument = async (
  { fetch }: Pick<Outbound, 'fetch'>,
  url: string,
  signal: AbortSignal,
  question?: Question,
): Promise<ProviderDocument> => {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, { ...toRequest(question ?? {}), redirect: 'manual', signal });
    if (response.status !== (question?.body === undefined ? 200 : 201)) {
      await response.body?.cancel();
      throw new ProviderFailure(`${host} answered with ${response.status}`, response.status);
    }
    const text = await readBeginning(response, MAX_ANSWER_BYTES + 1);
    if (Buffer.byteLength(text) > MAX_ANSWER_BYTES)
      throw new ProviderFailure(`${host} answered with more than ${MAX_ANSWER_BYTES} bytes`);
    return parseDocument(host, text);
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    throw new ProviderFailure(`${host} cannot be reached: ${outboundFailure(error)}`);
  }
};

/** The document by which a provider describes itself (OpenID Connect Discovery 1.0 §4). */
const discover = async (
  outbound: Pick<Outbound, 'fetch'>,
  issuer: string,
  signal: AbortSignal,
): Promise<ProviderDocument & { readonly jwks_uri: string }> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = await fetchDocument(outbound, url, signal);
  const { issuer: named, jwks_uri: keySet } = metadata;
  if (named !== issuer)
    throw new ProviderFailure(
      `the issuer of the provider is another one than oidc_discovery_url, from which it must not differ in a single character`,
    );
  if (typeof keySet !== 'string' || !URL.canParse(keySet) || !/^https?:/.test(keySet))
    throw new ProviderFailure('the discovery document has no jwks_uri');
  return { ...metadata, jwks_uri: keySet };
};

export const createProviderRequests = (policy: AddressPolicy): ProviderRequests => {
  /** Requests are so rare that no connection is kept. */
  const withOutbound = async <T>(
    caPem: string,
    send: (outbound: Pick<Outbound, 'fetch'>, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const outbound = createOutbound({
      policy,
      timeoutMs: TIME_LIMIT_MS,
      ...(caPem !== '' && { ca: caPem }),
    });
    try {
      return await send(outbound, AbortSignal.timeout(TIME_LIMIT_MS));
    } finally {
      await outbound.close();
    }
  };
  return {
    fetchKeys: ({ kind, url, caPem }) =>
      withOutbound(caPem, async (outbound, signal) => {
        const metadata = kind === 'jwks' ? undefined : await discover(outbound, url, signal);
        const { keys } = await fetchDocument(outbound, metadata?.jwks_uri ?? url, signal);
        if (!Array.isArray(keys)) throw new ProviderFailure('the answer is no JSON Web Key Set');
        if (keys.length > MAX_KEYS)
          throw new ProviderFailure(`the key set has more than ${MAX_KEYS} keys`);
        return { keys: parseJwks(keys), metadata };
      }),
    converse: (caPem, talk) =>
      withOutbound(caPem, (outbound, signal) =>
        talk((url, question) => fetchDocument(outbound, url, signal, question)),
      ),
  };
};
