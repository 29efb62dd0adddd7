/** PEM of lists that may be tens of megabytes: encoded in steps, once for each list. */
import { setImmediate } from 'node:timers/promises';
import type { CurrentCrl } from './crl-operations.ts';

/** Octets of one line. */
const LINE_BYTES = 48;
/** Octets encoded in one step; whole lines. */
const STEP_BYTES = LINE_BYTES * 8192;

const encodeInSteps = async (der: Uint8Array): Promise<Buffer> => {
  const parts = [Buffer.from('-----BEGIN X509 CRL-----\n')];
  for (let at = 0; at < der.byteLength; at += STEP_BYTES) {
    const step = der.subarray(at, at + STEP_BYTES);
    const base64 = Buffer.from(step.buffer, step.byteOffset, step.byteLength).toString('base64');
    parts.push(Buffer.from(base64.replaceAll(/.{1,64}/g, '$&\n'), 'latin1'));
    if (at > 0) await setImmediate();
  }
  parts.push(Buffer.from('-----END X509 CRL-----'));
  return Buffer.concat(parts);
};

const encoded = new WeakMap<CurrentCrl, Promise<Buffer>>();

/** The same bytes for every caller, for as long as the list is current. */
export const crlPem = (crl: CurrentCrl): Promise<Buffer> => {
  let pem = encoded.get(crl);
  if (pem === undefined) {
    pem = encodeInSteps(crl.der);
    encoded.set(crl, pem);
  }
  return pem;
};
