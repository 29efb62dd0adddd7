/** Activation tokens in both forms: unwrapped at the primary's API, or encrypted to a public key. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { guarded, isUntrustedCertificate, KeelsonError } from '@keelson/errors';
import {
  deriveLinkKey,
  generateLinkKeyPair,
  type LinkKeyPair,
  openMessage,
  sealMessage,
} from '@keelson/replication';
import {
  type ActivationBundle,
  BUNDLE_FORMAT,
  requireBundleFormat,
  toActivationBundle,
} from './domain/activation-bundle.ts';

// An `import` would evaluate the module's getters, which load undici: 5 MB and 30 ms.
const { request: httpRequest } = process.getBuiltinModule('node:http');

const SEALED_PREFIX = `krs${BUNDLE_FORMAT}.`;
const ANY_SEALED = /^krs(\d{1,9})\./;
const PURPOSE = 'keelson secondary activation';
const UNWRAP_WITHIN_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_ROOTS_BYTES = 4 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const refuse = (text: string, cause?: unknown): never => {
  throw new KeelsonError('request.invalid', { text }, cause === undefined ? {} : { cause });
};

/** Converts an X25519 public key from base64url, used on links, to standard base64, used in documents. */
export const encodePublicKey = (key: string): string =>
  Buffer.from(key, 'base64url').toString('base64');

/** @throws KeelsonError `request.invalid` */
export const decodePublicKey = (text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== text.trim())
    return refuse('secondary_public_key is not a public key of generate-public-key');
  return bytes.toString('base64url');
};

/** Encrypts the bundle for the holder of the private key. */
export const sealBundle = (bundle: ActivationBundle, publicKey: string): string => {
  const own = generateLinkKeyPair();
  const key = deriveLinkKey({ own, peerPublicKey: publicKey, clusterId: PURPOSE, secondaryId: '' });
  const sealed = sealMessage(key, PURPOSE, Buffer.from(JSON.stringify(bundle)));
  return `${SEALED_PREFIX}${own.publicKey}.${sealed.toString('base64url')}`;
};

export const isSealedBundle = (token: string): boolean => ANY_SEALED.test(token);

/** @throws KeelsonError `request.invalid` */
export const openBundle = (token: string, own: LinkKeyPair): ActivationBundle => {
  const [, format] = ANY_SEALED.exec(token) ?? [];
  requireBundleFormat(Number(format));
  const [, peerPublicKey = '', sealed = ''] = token.split('.');
  let held: unknown;
  try {
    const key = deriveLinkKey({ own, peerPublicKey, clusterId: PURPOSE, secondaryId: '' });
    const opened = openMessage(key, PURPOSE, Buffer.from(sealed, 'base64url'));
    held = JSON.parse(opened.toString());
  } catch (cause) {
    return refuse('the token was not made for the public key of this cluster', cause);
  }
  return toActivationBundle(held);
};

/** The `addr` claim of a wrapping JWT, "" when there is none. The primary verifies the signature. */
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

/** The certificates of a file. Anything else in it, such as a private key, is left out. */
const readCertificates = async (path: string): Promise<readonly string[]> => {
  const { size } = await stat(path);
  if (size > MAX_ROOTS_BYTES) throw new Error('the file is too large');
  return (await readFile(path, 'utf8')).match(CERTIFICATE) ?? [];
};

/** The files directly in a folder; subfolders are ignored. */
const filesIn = async (folder: string): Promise<readonly string[]> => {
  const paths = (await readdir(folder)).sort().map((name) => join(folder, name));
  const areFiles = await Promise.all(paths.map(async (path) => (await stat(path)).isFile()));
  return paths.filter((_, at) => areFiles[at]);
};

/** One PEM certificate each; undefined means the system's roots. @throws KeelsonError `request.invalid` */
export const loadRoots = async ({
  caFile,
  caPath,
}: TrustedRoots): Promise<readonly string[] | undefined> => {
  if (caFile === '' && caPath === '') return undefined;
  let roots: readonly string[];
  try {
    // A device or a pipe might never end.
    if (caFile !== '' && !(await stat(caFile)).isFile()) throw new Error('not a file');
    const paths = caFile === '' ? await filesIn(caPath) : [caFile];
    roots = (await Promise.all(paths.map(readCertificates))).flat();
  } catch (cause) {
    return refuse('ca_file or ca_path cannot be read', cause);
  }
  return roots.length > 0 ? roots : refuse('ca_file or ca_path holds no certificate');
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
        response.once(
          'end',
          guarded('sys/replication', () =>
            resolve({
              status: response.statusCode ?? 0,
              statusText: response.statusMessage ?? '',
              body: Buffer.concat(chunks).toString(),
            }),
          ),
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
    // Falls through to the refusal below.
  }
  return refuse(
    address === ''
      ? 'no API address of the primary: give primary_api_addr'
      : 'primary_api_addr must be an address that begins with http: or https:',
  );
};

/** `data` of a response; undefined when the response is not from this API. */
const dataOf = (body: string): unknown => {
  try {
    return (JSON.parse(body) as { readonly data?: unknown } | null)?.data;
  } catch {
    return undefined;
  }
};

const failureOf = (error: unknown): string => {
  if (isUntrustedCertificate(error))
    return 'no authority of the system, of ca_file or ca_path vouches for its certificate';
  return error instanceof Error ? error.message : 'failed';
};

/**
 * Fetches the bundle of a wrapping token, which the request uses up.
 * @param ca PEM roots in addition to those of the system; undefined if there are none
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
    const reason = failureOf(cause);
    throw new KeelsonError('replication.unwrap_failed', { url: url.href, reason }, { cause });
  }
  const { status, statusText, body } = answer;
  const message = `${status} ${statusText}`;
  if (status >= 400 && status < 500)
    throw new KeelsonError('replication.unwrap_refused', { status, message });
  if (status !== 200)
    throw new KeelsonError('replication.unwrap_failed', { url: url.href, reason: message });
  return toActivationBundle(dataOf(body));
};
