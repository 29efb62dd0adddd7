/** The certificate of HTTPS from files, read again when they change. */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { periodOf, toExpiryFault } from './certificate-expiry.ts';
import type { CertificateSource, ServerCertificate } from './self-issued-certificate.ts';

/**
 * Polling interval. Polling works on every file system, also where a mounted secret is replaced by
 * switching a symbolic link.
 */
const LOOK_EVERY_MS = 10_000;

interface FilePair {
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface CertificateFiles extends FilePair {
  /**
   * Called with the reason when the files cannot be used; the current certificate remains in use.
   */
  readonly report: (error: unknown) => void;
}

const read = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // Node omits the path from the error when it is a folder.
    throw Object.assign(error as Error, { path: file });
  }
};

const load = async ({ certificateFile, keyFile }: FilePair): Promise<ServerCertificate> => {
  const [cert, key] = await Promise.all([read(certificateFile), read(keyFile)]);
  try {
    // Fails when key and certificate do not match, for example while only one of them has been written.
    createSecureContext({ cert, key });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `KEELSON_TLS_CERTIFICATE_FILE, KEELSON_TLS_KEY_FILE: ${certificateFile} and ${keyFile} are not a certificate and its private key, PEM: ${reason}`,
      { cause },
    );
  }
  return { cert, key };
};

export const openCertificateFiles = async (files: CertificateFiles): Promise<CertificateSource> => {
  const listeners = new Set<(certificate: ServerCertificate) => void>();
  let current = await load(files);
  let refusal: string | undefined;
  const reload = async (): Promise<void> => {
    const renewed = await load(files).catch((error: Error) => {
      refusal = error.message;
      throw error;
    });
    refusal = undefined;
    if (renewed.cert === current.cert && renewed.key === current.key) return;
    current = renewed;
    for (const listener of listeners) listener(current);
  };
  const onChange = (): void => void reload().catch(files.report);
  const watched = [files.certificateFile, files.keyFile];
  for (const file of watched)
    watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
  return {
    current: () => current,
    refusal: () => refusal,
    onRenewal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload,
    close: () => {
      for (const file of watched) unwatchFile(file, onChange);
    },
  };
};

/** @returns what is wrong with the files; undefined if a server could use them for a while */
export const examineCertificateFiles = async (
  files: FilePair,
  nowMs: number,
): Promise<string | undefined> => {
  try {
    const certificate = await load(files);
    return toExpiryFault(periodOf(certificate), nowMs);
  } catch (error) {
    return (error as Error).message;
  }
};
