/** Conversations with a directory at an address that the operator chose. */
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';
import { createOutbound, outboundFailure } from '@keelson/outbound';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import type { Client, Entry } from 'ldapts';
import type { DirectoryFilter } from './directory-names.ts';
import type { LdapConfig, TlsVersion } from './domain/ldap-config.ts';

/** A directory that has not answered, or with something that no login can be decided by. */
export class DirectoryFailure extends Error {}

/** Size of all answers of a conversation together. */
const MAX_BYTES = 8 * 1024 * 1024;

const TLS_NAMES = {
  tls10: 'TLSv1',
  tls11: 'TLSv1.1',
  tls12: 'TLSv1.2',
  tls13: 'TLSv1.3',
} as const satisfies Readonly<Record<TlsVersion, string>>;

/** Results of a bind that say something about the directory instead of the credentials (RFC 4511 A.2). */
const OUTAGES = new Set([1, 2, 3, 8, 10, 11, 13, 51, 52, 54, 80]);

/** An entry, whose attributes are found whatever the case of their names. */
export interface FoundEntry {
  readonly dn: string;
  valuesOf(attribute: string): readonly string[];
}

export interface Search {
  readonly base: string;
  /** Without one, the entry at `base` alone is read. */
  readonly filter?: DirectoryFilter;
  readonly attribute: string;
  /** More entries are a failure. */
  readonly limit: number;
}

export interface Conversation {
  /** Empty texts are an anonymous bind. @returns whether the directory accepts the credentials */
  bind(name: string, password: string): Promise<boolean>;
  search(search: Search): Promise<readonly FoundEntry[]>;
}

interface Place {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

const toPlace = (url: string): Place => {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'ldaps:';
  return {
    url,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 636 : 389) : Number(port),
    isSecure,
  };
};

const tlsOptions = (config: LdapConfig, { host }: Place): ConnectionOptions => ({
  host,
  ...(isIP(host) === 0 && { servername: host }),
  rejectUnauthorized: !config.insecureTls,
  minVersion: TLS_NAMES[config.tlsMinVersion],
  maxVersion: TLS_NAMES[config.tlsMaxVersion],
  ...(config.caPem !== '' && { ca: config.caPem }),
});

const limitAnswers = <S extends Socket>(socket: S): S => {
  let size = 0;
  return socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) socket.destroy(new Error(`more than ${MAX_BYTES} bytes`));
  });
};

const open = async (
  config: LdapConfig,
  place: Place,
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<Socket> => {
  const timeoutMs = config.connectionTimeoutSeconds * 1000;
  const [address = ''] = await createOutbound({ policy, timeoutMs }).addressesOf(place.host);
  const plain = connectPlain({ host: address, port: place.port });
  const socket = place.isSecure
    ? connectSecurely({ ...tlsOptions(config, place), socket: plain })
    : plain;
  plain.on('error', (error) => socket.destroy(error));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    await once(socket, place.isSecure ? 'secureConnect' : 'connect', { signal: limit });
  } catch (error) {
    plain.destroy();
    throw limit.aborted ? new Error('no answer in time', { cause: limit.reason }) : error;
  }
  return limitAnswers(socket);
};

const toEntry = (entry: Entry): FoundEntry => ({
  dn: entry.dn,
  valuesOf: (attribute) => {
    const wanted = attribute.toLowerCase();
    const [, found = []] =
      Object.entries(entry).find(([name]) => name !== 'dn' && name.toLowerCase() === wanted) ?? [];
    return (Array.isArray(found) ? found : [found]).map(String).filter((value) => value !== '');
  },
});

const startConversation = (
  client: Client,
  timeLimit: number,
  isOutage: (error: unknown) => boolean,
): Conversation => ({
  bind: async (name, password) => {
    try {
      await client.bind(name, password);
      return true;
    } catch (error) {
      if (isOutage(error)) throw error;
      return false;
    }
  },
  search: async ({ base, filter, attribute, limit }) => {
    const { searchEntries } = await client.search(base, {
      scope: filter === undefined ? 'base' : 'sub',
      ...(filter !== undefined && { filter }),
      attributes: [attribute],
      sizeLimit: limit + 1,
      timeLimit,
    });
    if (searchEntries.length > limit)
      throw new DirectoryFailure(
        `the directory has found more than ${limit} entries below ${base}`,
      );
    return searchEntries.map(toEntry);
  },
});

const reasonOf = (error: unknown): string => {
  const known = outboundFailure(error);
  return known === 'unknown error' && error instanceof Error ? error.message : known;
};

/** One connection, which nothing opens again: what follows would be sent without TLS and without a bind. */
const onConnection = async <T>(
  config: LdapConfig,
  place: Place,
  socket: Socket,
  talk: (conversation: Conversation) => Promise<T>,
): Promise<T> => {
  const { Client, ResultCodeError } = await import('ldapts');
  const sockets = [socket];
  const client = new Client({
    url: 'ldap://directory',
    createConnection: () => {
      const [first] = sockets.splice(0);
      if (first === undefined) throw new Error('the directory has closed the connection');
      return first;
    },
    createSecureConnection: ((options: ConnectionOptions): TLSSocket =>
      limitAnswers(connectSecurely(options))) as typeof connectSecurely,
  });
  if (config.startTls) await client.startTLS(tlsOptions(config, place));
  const isOutage = (error: unknown): boolean =>
    !(error instanceof ResultCodeError) || OUTAGES.has(error.code);
  return talk(startConversation(client, config.requestTimeoutSeconds, isOutage));
};

/**
 * Talks to the first server of the configuration that can be connected to.
 * @throws DirectoryFailure with the reason, which the operator may read
 */
export const converse = async <T>(
  policy: AddressPolicy,
  config: LdapConfig,
  talk: (conversation: Conversation) => Promise<T>,
): Promise<T> => {
  const failures: string[] = [];
  const signal = AbortSignal.timeout(config.requestTimeoutSeconds * 1000);
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => undefined);
  signal.addEventListener('abort', () => late.reject(new Error('no answer in time')));
  for (const place of config.urls.map(toPlace)) {
    let socket: Socket;
    try {
      socket = await open(config, place, policy, signal);
    } catch (error) {
      failures.push(`${place.url} cannot be reached: ${reasonOf(error)}`);
      continue;
    }
    try {
      return await Promise.race([onConnection(config, place, socket, talk), late.promise]);
    } catch (error) {
      if (error instanceof DirectoryFailure) throw error;
      throw new DirectoryFailure(`${place.url} has not answered: ${reasonOf(error)}`, {
        cause: error,
      });
    } finally {
      socket.destroy();
    }
  }
  throw new DirectoryFailure(failures.join('; '));
};
