/** Activation tokens on their two ways: unwrapped at the primary's API, or sealed to a public key. */
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { KeelsonError } from '@keelson/errors';
import {
  deriveLinkKey,
  generateLinkKeyPair,
  type LinkKeyPair,
  openMessage,
  sealMessage,
} from '@keelson/replication';
import type { ActivationBundle } from './domain/activation-bundle.ts';

const SEALED_PREFIX = 'krs1.';
const PURPOSE = 'keelson secondary activation';
const UNWRAP_WITHIN_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

const refuse = (text: string, cause?: unknown): never => {
  throw new KeelsonError('request.invalid', { text }, cause === undefined ? {} : { cause });
};

/** X25519 public keys are base64url in links and standard base64 in documents. */
export const toShownKey = (key: string): string => Buffer.from(key, 'base64url').toString('base64');

/** @throws KeelsonError `request.invalid` */
export const parseShownKey = (text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== text.trim())
    return refuse('secondary_public_key is not a public key of generate-public-key');
  return bytes.toString('base64url');
};

/** The bundle for whoever holds the private key. */
export const sealBundle = (bundle: ActivationBundle, publicKey: string): string => {
  const own = generateLinkKeyPair();
  const key = deriveLinkKey({ own, peerPublicKey: publicKey, clusterId: PURPOSE, secondaryId: '' });
  const sealed = sealMessage(key, PURPOSE, Buffer.from(JSON.stringify(bundle)));
  return `${SEALED_PREFIX}${own.publicKey}.${sealed.toString('base64url')}`;
};

export const isSealedBundle = (token: string): boolean => token.startsWith(SEALED_PREFIX);

/** @throws KeelsonError `request.invalid` */
export const openBundle = (token: string, own: LinkKeyPair): ActivationBundle => {
  const [peerPublicKey = '', sealed = ''] = token.slice(SEALED_PREFIX.length).split('.');
  try {
    const key = deriveLinkKey({ own, peerPublicKey, clusterId: PURPOSE, secondaryId: '' });
    const opened = openMessage(key, PURPOSE, Buffer.from(sealed, 'base64url'));
    return JSON.parse(opened.toString()) as ActivationBundle;
  } catch (cause) {
    return refuse('the token was not made for the public key of this cluster', cause);
  }
};

/** The `addr` claim of a wrapping JWT (its signature is the primary's to check); "" when there is none. */
export const addressIn = (token: string): string => {
  const [, claims = ''] = token.split('.');
  try {
    const parsed = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { addr?: unknown };
    return typeof parsed.addr === 'string' ? parsed.addr : '';
  } catch {
    return '';
  }
};

export interface TrustedRoots {
  /** PEM file, or "". */
  readonly caFile: string;
  /** Directory of PEM files, or "". */
  readonly caPath: string;
}

/** undefined: the system's. @throws KeelsonError `request.invalid` */
export const loadRoots = async ({
  caFile,
  caPath,
}: TrustedRoots): Promise<readonly string[] | undefined> => {
  try {
    if (caFile !== '') return [await readFile(caFile, 'utf8')];
    if (caPath === '') return undefined;
    const names = await readdir(caPath);
    return await Promise.all(names.sort().map((name) => readFile(join(caPath, name), 'utf8')));
  } catch (cause) {
    return refuse('ca_file or ca_path cannot be read', cause);
  }
};

interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
}

const post = (url: URL, token: string, ca: readonly string[] | undefined): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = send(
      url,
      {
        method: 'POST',
        headers: { 'x-service-token': token, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(UNWRAP_WITHIN_MS),
        ...(ca !== undefined && { ca: [...rootCertificates, ...ca] }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            statusText: response.statusMessage ?? '',
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.once('error', reject);
    sent.end('{}');
  });

const parseUrl = (address: string): URL => {
  try {
    const url = new URL('/v1/sys/wrapping/unwrap', address);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url;
  } catch {
    // Refused below.
  }
  return refuse('no API address of the primary: give primary_api_addr');
};

/**
 * Takes the bundle out of a wrapping token, which ends with it.
 * @param ca PEM roots beside those of the system; undefined: none
 * @throws KeelsonError `replication.unwrap_refused`, `replication.unwrap_failed`, `request.invalid`
 */
export const unwrapBundle = async (
  token: string,
  address: string,
  ca: readonly string[] | undefined,
): Promise<ActivationBundle> => {
  const url = parseUrl(address);
  let answer: HttpAnswer;
  try {
    answer = await post(url, token, ca);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'failed';
    throw new KeelsonError('replication.unwrap_failed', { url: url.href, reason }, { cause });
  }
  const { status, statusText } = answer;
  if (status !== 200)
    throw new KeelsonError('replication.unwrap_refused', {
      status,
      message: `${status} ${statusText}`,
    });
  const { data } = JSON.parse(answer.body) as { data?: ActivationBundle };
  return data ?? refuse('the token is no secondary activation token');
};
