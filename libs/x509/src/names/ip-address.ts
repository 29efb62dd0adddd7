/** IP addresses as text and as the 4 or 16 octets that certificates hold. */
import { isIP } from 'node:net';

const ipv4Octets = (text: string): number[] => text.split('.').map(Number);

const ipv6Octets = (text: string): number[] => {
  // An embedded IPv4 tail stands for the last two groups.
  const lastColon = text.lastIndexOf(':');
  const tail = text.slice(lastColon + 1);
  const embedded = tail.includes('.') ? ipv4Octets(tail) : [];
  const hexText = embedded.length > 0 ? `${text.slice(0, lastColon)}:0:0` : text;
  const [before, after] = hexText.split('::') as [string, string?];
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const head = groups(before);
  const rest = after === undefined ? [] : groups(after);
  const zeros = Array.from({ length: 8 - head.length - rest.length }, () => 0);
  const octets = [...head, ...zeros, ...rest].flatMap((group) => [group >> 8, group & 0xff]);
  return embedded.length > 0 ? [...octets.slice(0, 12), ...embedded] : octets;
};

/** 4 or 16 octets; undefined when the text is no address. IPv4 in IPv6 notation becomes 4 octets. */
export const parseIpAddress = (text: string): Uint8Array | undefined => {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return Uint8Array.from(ipv4Octets(text));
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
