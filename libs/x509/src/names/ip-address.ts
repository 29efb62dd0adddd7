/**
 * IP addresses as text and as the 4 or 16 octets in certificates. Text is parsed by Node, because
 * ipaddr.js 2.5 mistakes ::192.0.2.1 for ::ffff:192.0.2.1, which is a different address.
 */
import { isIP } from 'node:net';

/**
 * Octets of an IPv6 address, from the canonical text that Node's URL gives it (RFC 5952, no IPv4
 * tail).
 */
const ipv6Octets = (text: string): number[] => {
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]);
};

/** 4 or 16 octets; undefined when the text is not an address. IPv4 in IPv6 notation becomes 4 octets. */
export const parseIpAddress = (text: string): Uint8Array | undefined => {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return Uint8Array.from(text.split('.').map(Number));
  const octets = Uint8Array.from(ipv6Octets(text));
  const mapped = octets.subarray(0, 10).every((octet) => octet === 0);
  return mapped && octets[10] === 0xff && octets[11] === 0xff ? octets.slice(12) : octets;
};

/** Text of 4 or 16 octets, IPv6 as RFC 5952 writes it; undefined for another length. */
export const formatIpAddress = (octets: Uint8Array): string | undefined => {
  if (octets.byteLength === 4) return octets.join('.');
  if (octets.byteLength !== 16) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((octets[2 * i] as number) << 8) | (octets[2 * i + 1] as number)).toString(16),
  ).join(':');
  // Node's URL serializer compresses zeros by the same rule.
  return new URL(`http://[${groups}]/`).hostname.slice(1, -1);
};

/** Address octets followed by mask octets (RFC 5280 §4.2.1.10); undefined when the text is no CIDR range. */
export const parseIpRange = (cidr: string): Uint8Array | undefined => {
  const slash = cidr.lastIndexOf('/');
  const address = parseIpAddress(cidr.slice(0, Math.max(slash, 0)));
  const bitsText = cidr.slice(slash + 1);
  if (address === undefined || !/^\d{1,3}$/.test(bitsText)) return undefined;
  const bits = Number(bitsText);
  if (bits > address.byteLength * 8) return undefined;
  const mask = address.map((_, i) => (0xff00 >> Math.min(8, Math.max(0, bits - i * 8))) & 0xff);
  return Uint8Array.from([...address.map((octet, i) => octet & (mask[i] as number)), ...mask]);
};
