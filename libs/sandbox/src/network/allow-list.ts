import { createAddressPolicy } from '@keelson/outbound/addresses';

/** The only places that a program may reach, except the servers that it is given. */
export interface AllowList {
  /** Whether a name is listed, or a domain above it. */
  names(host: string): boolean;
  includes(address: string): boolean;
}

const isRange = (entry: string): boolean => /^[\d.]+(?:\/\d+)?$/.test(entry) || entry.includes(':');

/**
 * @param entries addresses, CIDR ranges, names of hosts, and `*.` before the name of a domain for every host in it
 * @throws KeelsonError `request.invalid` naming a malformed range
 */
export const createAllowList = (entries: readonly string[]): AllowList => {
  const permitted = entries.filter(isRange);
  const policy = createAddressPolicy({ permitted, excluded: [] });
  const listed = entries.filter((entry) => !isRange(entry)).map((entry) => entry.toLowerCase());
  const hosts = new Set(listed);
  const domains = listed.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(1));
  return {
    names: (host) => hosts.has(host) || domains.some((domain) => host.endsWith(domain)),
    // Without a range the policy would permit every public address.
    includes: (address) => permitted.length > 0 && policy.allows(address),
  };
};
