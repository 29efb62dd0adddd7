/** An authenticator app (RFC 6238), for keys with the settings that methods have unless others are given. */
import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PERIOD_MS = 30_000;

const fromBase32 = (text: string): Buffer => {
  const bits = Array.from(text, (one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join(
    '',
  );
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
};

/** @param address `otpauth://` with the key. @returns the passcode of a moment */
export const passcodeApp = (address: string): ((nowMs: number) => string) => {
  const key = fromBase32(new URL(address).searchParams.get('secret') ?? '');
  return (nowMs) => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / PERIOD_MS)));
    const digest = createHmac('sha1', key).update(counter).digest();
    const code = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff;
    return String(code % 1_000_000).padStart(6, '0');
  };
};
