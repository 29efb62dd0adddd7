/** The installation as browsers know it: passkeys are bound to its domain. */
import { isIP } from 'node:net';
import { PasskeyRefusal } from './refusal.ts';

export interface RelyingParty {
  /** Shown to people. */
  readonly name: string;
  /** A domain. A passkey of one is of no use at another. */
  readonly id: string;
  /** Addresses of the pages that may ask for passkeys. */
  readonly origins: readonly string[];
}

const refuse = (field: string, text: string): never => {
  throw new PasskeyRefusal('relying-party', field, text);
};

const isLocal = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

const toOrigin = (address: string): URL => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol))
    return refuse('origins', 'an origin is a scheme, a host and an optional port');
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    return refuse('origins', 'browsers have passkeys for names of hosts only, not for addresses');
  if (url.protocol === 'http:' && !isLocal(url.hostname))
    return refuse('origins', 'browsers have passkeys over HTTPS only');
  return url;
};

/**
 * The relying party of an installation.
 * @param id "" for the host of the public address
 * @param origins none for the public address
 * @throws PasskeyRefusal for addresses at which browsers have no passkeys
 */
export const relyingPartyOf = (
  publicUrl: string | undefined,
  { name, id, origins }: RelyingParty,
): RelyingParty => {
  const given = origins.length > 0 || publicUrl === undefined ? origins : [publicUrl];
  const urls = given.map(toOrigin);
  const [first] = urls;
  if (first === undefined) return refuse('origins', 'the installation has no public address');
  const domain = id === '' ? first.hostname : id;
  for (const { hostname } of urls)
    if (hostname !== domain && !hostname.endsWith(`.${domain}`))
      refuse('id', 'the id of the relying party is the host of each origin, or a domain above it');
  return { name, id: domain, origins: urls.map(({ origin }) => origin) };
};
