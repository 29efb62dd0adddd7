/**
 * The HTTPS certificate when none is configured: Keelson creates a CA in a folder, and issues and
 * renews the server's certificate from it. Clients trust `ca.pem`.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import type { Clock } from '@keelson/clock';
import { syncFolder, writeFileDurably } from '@keelson/runtime';
import {
  authorityKeyIdentifier,
  createCertificate,
  createKeyPair,
  createRootCertificate,
  createSigner,
  decodePem,
  EXTENDED_KEY_USAGE,
  encodeName,
  encodePem,
  extendedKeyUsage,
  type GeneralName,
  keyIdentifierOf,
  keyUsage,
  type ParsedCertificate,
  parseCertificate,
  randomSerialNumber,
  type Signer,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';

/** A server certificate with its chain, in the form node:tls expects. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateSource {
  current(): ServerCertificate;
  /** Calls `listener` with each renewed certificate; the returned function unsubscribes it. */
  onRenewal(listener: (certificate: ServerCertificate) => void): () => void;
  /** Why the newest files are not used, and an earlier certificate is; undefined if they are. */
  refusal(): string | undefined;
  /** Rereads files that an operator may have replaced. @throws Error when they cannot be used */
  reload(): Promise<void>;
  close(): void;
}

export interface SelfIssuedOptions {
  readonly folder: string;
  /** Host names and IP addresses the certificate is for. */
  readonly names: readonly string[];
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const AUTHORITY_LIFE_MS = 3650 * DAY_MS;
const SERVER_LIFE_MS = 90 * DAY_MS;
/** Allowance for clients whose clocks are behind. */
const BACKDATED_MS = 30_000;
/** setTimeout takes 32 bits; a daily check is enough to renew in time. */
const LOOK_EVERY_MS = DAY_MS;

interface Authority {
  readonly certificate: ParsedCertificate;
  readonly signer: Signer;
}

const P256 = { type: 'ec', bits: 256 } as const;

const SIGNED_WITH = 'ecdsa-sha256';
/** Mode of the CA certificate, which other users' clients must be able to read. */
const READABLE = 0o644;

const readKey = (privateKeyDer: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });

/** The CA's own certificate for its existing key. */
const certifyAuthority = (key: KeyObject, nowMs: number): Promise<Uint8Array> => {
  const publicKeyDer = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createRootCertificate(
    {
      commonName: 'Keelson edge authority',
      notBeforeMs: nowMs - BACKDATED_MS,
      notAfterMs: nowMs + AUTHORITY_LIFE_MS,
      publicKeyDer,
    },
    createSigner(key, SIGNED_WITH),
  );
};

/** Parses a PEM file with one block. @throws Error naming the file and the remedy when it is damaged */
const readPem = <T>(file: string, remedy: string, parse: (der: Uint8Array) => T): T => {
  try {
    const [block] = decodePem(readFileSync(file, 'utf8'));
    if (block === undefined) throw new Error('it contains no PEM block');
    return parse(block.der);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be used (${reason}). ${remedy}`, { cause });
  }
};

/**
 * The CA of the folder, created on first use. The key is written first: a certificate without its
 * key would be useless, whereas a key without certificate, as a crash may leave it, gets one at the
 * next start.
 * @throws Error naming a file that is missing or cannot be read
 */
const openAuthority = async (folder: string, nowMs: number): Promise<Authority> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  syncFolder(dirname(folder));
  const certificateFile = join(folder, 'ca.pem');
  const keyFile = join(folder, 'ca-key.pem');
  const isCertified = existsSync(certificateFile);
  if (!existsSync(keyFile)) {
    if (isCertified)
      throw new Error(
        `${keyFile} is missing. Put it back; or remove ${certificateFile} too: clients must then trust a new authority.`,
      );
    const { privateKeyDer } = await createKeyPair(P256);
    writeFileDurably(keyFile, `${encodePem('PRIVATE KEY', privateKeyDer)}\n`);
  }
  const remedy = `Put it back from a copy; or remove ${certificateFile} and ${keyFile}: clients must then trust a new authority.`;
  const key = readPem(keyFile, remedy, readKey);
  if (!isCertified) {
    const der = await certifyAuthority(key, nowMs);
    writeFileDurably(certificateFile, `${encodePem('CERTIFICATE', der)}\n`, READABLE);
  }
  return {
    certificate: readPem(certificateFile, remedy, parseCertificate),
    signer: createSigner(key, SIGNED_WITH),
  };
};

const toGeneralName = (name: string): GeneralName => ({
  kind: isIP(name) === 0 ? 'dns' : 'ip',
  value: name,
});

const issueServerCertificate = async (
  authority: Authority,
  names: readonly string[],
  nowMs: number,
): Promise<ServerCertificate> => {
  const keys = await createKeyPair(P256);
  const { certificate: issuer } = authority;
  const der = await createCertificate(
    {
      serialNumber: randomSerialNumber(),
      issuer: issuer.subject,
      subject: encodeName(toDistinguishedName({ commonName: names[0] ?? 'localhost' })),
      notBeforeMs: nowMs - BACKDATED_MS,
      notAfterMs: Math.min(nowMs + SERVER_LIFE_MS, issuer.notAfterMs),
      publicKeyDer: keys.publicKeyDer,
      extensions: [
        keyUsage(['DigitalSignature']),
        extendedKeyUsage([EXTENDED_KEY_USAGE.ServerAuth]),
        subjectAltName(names.map(toGeneralName)),
        subjectKeyIdentifier(keyIdentifierOf(keys.publicKeyDer)),
        authorityKeyIdentifier(keyIdentifierOf(issuer.publicKeyDer)),
      ],
    },
    authority.signer,
  );
  return {
    cert: `${encodePem('CERTIFICATE', der)}\n${encodePem('CERTIFICATE', issuer.der)}\n`,
    key: `${encodePem('PRIVATE KEY', keys.privateKeyDer)}\n`,
  };
};

/**
 * Opens the folder's CA and issues a certificate for `names`: a new one at every start, so that the
 * server's private key never touches the disk, and again after two thirds of its validity.
 */
export const openSelfIssuedCertificate = async (
  options: SelfIssuedOptions,
): Promise<CertificateSource & { readonly authorityFile: string }> => {
  const { clock, folder, names } = options;
  const authority = await openAuthority(folder, clock.nowMs());
  const listeners = new Set<(certificate: ServerCertificate) => void>();
  let issuedAtMs = clock.nowMs();
  let current = await issueServerCertificate(authority, names, issuedAtMs);
  let cancel: () => void;

  const look = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    if (nowMs - issuedAtMs >= (SERVER_LIFE_MS * 2) / 3) {
      current = await issueServerCertificate(authority, names, nowMs);
      issuedAtMs = nowMs;
      for (const listener of listeners) listener(current);
    }
  };
  const lookLater = (): void => {
    cancel = clock.after(LOOK_EVERY_MS, () => {
      // A third of the current certificate's validity is left, so a failure can wait for tomorrow's
      // attempt.
      void look()
        .catch(() => undefined)
        .finally(lookLater);
    });
  };
  lookLater();

  return {
    authorityFile: join(folder, 'ca.pem'),
    current: () => current,
    refusal: () => undefined,
    onRenewal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    // These files are never replaced by an operator.
    reload: () => Promise.resolve(),
    close: () => cancel(),
  };
};
