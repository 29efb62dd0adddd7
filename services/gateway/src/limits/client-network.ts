import { isIPv6 } from 'node:net';

/**
 * The unit that limits of a client address count: an IPv4 address, or the first 64 bits of an IPv6 address,
 * since that many networks and no fewer are given to one customer (RFC 6177 §2).
 */
export const clientNetwork = (address: string): string => {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = (tail ?? '').split(':').filter((group) => group !== '');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
};
