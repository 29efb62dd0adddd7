/**
 * Looks up addresses and TXT records, through the configured DNS server or the system's resolver.
 */

import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { errorCode, ValidationFailure } from './validation-failure.ts';

type Lookup = Pick<ValidationSettings, 'dnsResolver' | 'timeoutsMs'>;

const TRIES = 2;
const MAX_ALIASES = 8;

/** Maximum number of idle resolvers kept. */
const MAX_IDLE = 64;

const openResolver = ({ dnsResolver, timeoutsMs }: Lookup): Resolver => {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutsMs.connect / TRIES), tries: TRIES });
  if (dnsResolver !== '') resolver.setServers([dnsResolver]);
  return resolver;
};

/**
 * Idle resolvers of the most recent DNS server, kept because creating one costs twice as much as a
 * look-up. They cache no answers. None is kept for the system's resolver, whose settings may
 * change.
 */
let idle: { readonly key: string; readonly resolvers: Resolver[] } = { key: '', resolvers: [] };

const idleFor = ({ dnsResolver, timeoutsMs }: Lookup): Resolver[] => {
  const key = `${dnsResolver} ${timeoutsMs.connect}`;
  if (idle.key !== key) idle = { key, resolvers: [] };
  return idle.resolvers;
};

/**
 * A resolver serves one task at a time and is discarded after a failure, because c-ares remembers
 * failures. It also shortens its time limit after quick answers, so a look-up that times out on a
 * reused resolver is repeated on a new one.
 */
const withKeptResolver = async <T>(
  settings: Lookup,
  work: (resolver: Resolver) => Promise<T>,
): Promise<T> => {
  if (settings.dnsResolver === '') return work(openResolver(settings));
  const kept = idleFor(settings).pop();
  try {
    const resolver = kept ?? openResolver(settings);
    const found = await work(resolver);
    const resolvers = idleFor(settings);
    if (resolvers.length < MAX_IDLE) resolvers.push(resolver);
    return found;
  } catch (error) {
    if (kept === undefined || errorCode(error) !== 'ETIMEOUT') throw error;
    return work(openResolver(settings));
  }
};

const isAbsent = (error: unknown): boolean => ['ENODATA', 'ENOTFOUND'].includes(errorCode(error));

const orNone = async <T>(records: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await records;
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
};

/**
 * The records that `query` finds at `name`. Recursive servers follow CNAMEs themselves; for other
 * servers, each alias is looked up in turn.
 */
const queryFollowingAliases = async <T>(
  resolver: Resolver,
  name: string,
  query: (name: string) => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  let owner = name;
  for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
    const found = await query(owner);
    if (found.length > 0) return found;
    const [alias] = await orNone(resolver.resolveCname(owner));
    if (alias === undefined) return [];
    owner = alias;
  }
  throw new ValidationFailure('dns', `${name} has more than ${MAX_ALIASES} aliases`);
};

/** Runs look-ups until done or aborted; DNS errors become problems that name the requested record. */
const withResolver = async <T>(
  settings: Lookup,
  signal: AbortSignal,
  asked: string,
  work: (resolver: Resolver) => Promise<T>,
): Promise<T> => {
  let resolver: Resolver | undefined;
  // A look-up by the system's resolver cannot be cancelled; its result is ignored.
  const aborted = Promise.withResolvers<never>();
  const cancel = (): void => {
    aborted.reject(signal.reason);
    resolver?.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  const found = withKeptResolver(settings, (used) => {
    resolver = used;
    return work(used);
  });
  try {
    return await Promise.race([found, aborted.promise]);
  } catch (error) {
    if (error instanceof ValidationFailure) throw error;
    signal.throwIfAborted();
    throw new ValidationFailure('dns', `looking up ${asked}: ${errorCode(error)}`);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/** Addresses as every program on this machine resolves them, including the hosts file. */
const systemAddresses = async (name: string): Promise<readonly string[]> =>
  (await orNone(lookup(name, { all: true, order: 'ipv6first' }))).map(({ address }) => address);

/** Addresses of a name, IPv6 first. @throws ValidationFailure `dns` when there is none */
export const lookUpAddresses = async (
  name: string,
  settings: Lookup,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const addresses = await withResolver(settings, signal, `addresses of ${name}`, (resolver) =>
    settings.dnsResolver === ''
      ? systemAddresses(name)
      : queryFollowingAliases(resolver, name, async (owner) =>
          (
            await Promise.all([orNone(resolver.resolve6(owner)), orNone(resolver.resolve4(owner))])
          ).flat(),
        ),
  );
  if (addresses.length === 0) throw new ValidationFailure('dns', `${name} has no address`);
  return addresses;
};

/** The addresses of an identifier, which may itself be an address (RFC 8738). */
export const addressesOf = (
  { type, value }: ChallengeAttempt['identifier'],
  settings: Lookup,
  signal: AbortSignal,
): Promise<readonly string[]> =>
  type === 'ip' || isIP(value) !== 0
    ? Promise.resolve([value])
    : lookUpAddresses(value, settings, signal);

/** TXT records, each the concatenation of its strings (RFC 7208 §3.3 does the same). */
export const lookUpTexts = (
  name: string,
  settings: Lookup,
  signal: AbortSignal,
): Promise<readonly string[]> =>
  withResolver(settings, signal, `TXT records of ${name}`, async (resolver) => {
    const texts = await queryFollowingAliases(resolver, name, (owner) =>
      orNone(resolver.resolveTxt(owner)),
    );
    return texts.map((strings) => strings.join(''));
  });
