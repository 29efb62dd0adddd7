import type { Lint } from './lint.ts';

export const serialNumberLint: Lint = {
  citation: 'RFC 5280 §4.1.2.2',
  check: ({ fields: { serialNumber } }) => {
    const first = serialNumber[0] ?? 0;
    // 20 octets with the highest bit set would need a 21st for the sign.
    const octets = serialNumber.byteLength + (first >= 0x80 ? 1 : 0);
    if (first === 0) return 'the serial number is zero or has leading zeros';
    return octets > 20 ? 'the serial number is longer than 20 octets' : undefined;
  },
};
