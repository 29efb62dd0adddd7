import { createHmac } from 'node:crypto';
import { isSameSecret } from '../model/secret-comparison.ts';

/**
 * Whether a signature is the hexadecimal HMAC-SHA256 of the body under the secret. The body is taken as bytes;
 * `@octokit/webhooks-methods` would decode it first, and so change what is not UTF-8.
 */
export const isSignatureOf = (
  signature: string | undefined,
  body: Uint8Array,
  secret: string,
): boolean => isSameSecret(signature, createHmac('sha256', secret).update(body).digest('hex'));

/** The digest in a header of the form `sha256=<digest>`; undefined for another form. */
export const sha256Of = (header: string | undefined): string | undefined =>
  header?.startsWith('sha256=') ? header.slice('sha256='.length) : undefined;
