import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Converts the IPv4-mapped form that a dual-stack socket reports for IPv4 clients. */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=[\d.]+$)/i, '');

/**
 * The unit that limits of a client address count: an IPv4 address, or the first 64 bits of an IPv6 address,
 * since one customer gets at least a network of that size (RFC 6177 §2).
 */
export const clientNetwork = (address: string): string => {
  if (!isIPv6(address)) return address;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
};
