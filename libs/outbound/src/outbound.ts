/**
 * HTTP requests to destinations that users choose. Every address of a name is checked, and the
 * connection is made to a checked address, so that neither a DNS change after the check nor a
 * redirect can lead elsewhere.
 */
import { lookup } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, fetch } from 'undici';
import type { AddressPolicy } from './address-policy.ts';

/** The policy permits no address of the destination. */
export class AddressRefused extends Error {
  /** @param host name or address */
  constructor(host: string) {
    super(`the address policy permits no address of ${host}`);
  }
}

export interface OutboundOptions {
  readonly policy: AddressPolicy;
  /** Limits the connection, the time to the head of the answer, and each pause in its body. */
  readonly timeoutMs: number;
  /** Certificates, PEM, that the destination's chain must end in, in place of the system's. */
  readonly ca?: string | undefined;
}

export interface Outbound {
  /** As the `fetch` of the platform; fails with a cause of `AddressRefused` or a system error. */
  readonly fetch: typeof fetch;
  /**
   * The permitted addresses of a host, for programs that open their own connections.
   * @throws AddressRefused when there is none
   */
  addressesOf(host: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

const permittedLookup =
  (policy: AddressPolicy): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const permitted = found.filter(({ address }) => policy.allows(address));
      const [first] = permitted;
      if (first === undefined) return callback(new AddressRefused(hostname), []);
      return options.all === true
        ? callback(null, permitted)
        : callback(null, first.address, first.family);
    });

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

interface Client {
  readonly agent: Agent;
  readonly fetch: typeof fetch;
}

const openClient = async ({ policy, timeoutMs, ca }: OutboundOptions): Promise<Client> => {
  // Loaded by the first request: it costs 5 MB, and many processes never send one.
  const { Agent, buildConnector, fetch } = await import('undici');
  const connect = buildConnector({
    lookup: permittedLookup(policy),
    timeout: timeoutMs,
    ...(ca !== undefined && { ca }),
  });
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A literal address is not looked up, so it is checked here.
    connect: (options, callback) => {
      const host = withoutBrackets(options.hostname);
      if (isIP(host) !== 0 && !policy.allows(host)) callback(new AddressRefused(host), null);
      else connect(options, callback);
    },
  });
  return { agent, fetch };
};

export const createOutbound = (options: OutboundOptions): Outbound => {
  const { policy } = options;
  let opening: Promise<Client> | undefined;
  return {
    fetch: async (input, init) => {
      opening ??= openClient(options);
      const client = await opening;
      return client.fetch(input, { ...init, dispatcher: client.agent });
    },
    addressesOf: async (host) => {
      const name = withoutBrackets(host);
      const found = await resolve(name, { all: true });
      const permitted = found
        .map(({ address }) => address)
        .filter((address) => policy.allows(address));
      if (permitted.length === 0) throw new AddressRefused(name);
      return permitted;
    },
    close: async () => (await opening)?.agent.close(),
  };
};

/** The reason why a request failed, as the user who named its destination may read it. */
export const outboundFailure = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof AddressRefused) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code === 'string') return code;
  return cause instanceof Error && cause.name === 'TimeoutError' ? 'ETIMEDOUT' : 'unknown error';
};

/**
 * The first bytes of an answer's body; the rest is not read.
 * @param maxBytes kept of it
 */
export const readBytes = async (
  response: Awaited<ReturnType<typeof fetch>>,
  maxBytes: number,
): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    size += piece.byteLength;
    // Leaving the loop cancels the body.
    if (size >= maxBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, maxBytes);
};

/**
 * The beginning of an answer's body, as text; the rest is not read.
 * @param maxBytes kept of it
 */
export const readBeginning = async (
  response: Awaited<ReturnType<typeof fetch>>,
  maxBytes: number,
): Promise<string> => (await readBytes(response, maxBytes)).toString();
