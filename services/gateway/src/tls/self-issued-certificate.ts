/**
 * The certificate of an edge that was given none: Keelson makes an authority of its own in a folder and
 * issues, and in time renews, the server's certificate from it. Clients trust `ca.pem`.
 */
import { createPrivateKey } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '@keelson/clock';
import {
  authorityKeyIdentifier,
  basicConstraints,
  createCertificate,
  createKeyPair,
  createSigner,
  decodePem,
  EXTENDED_KEY_USAGE,
  encodeName,
  encodePem,
  extendedKeyUsage,
  type GeneralName,
  type KeyPair,
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

/** A server certificate with its chain, as node:tls takes it. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateSource {
  current(): ServerCertificate;
  /** Calls back with each renewed certificate; the returned function ends that. */
  onRenewal(listener: (certificate: ServerCertificate) => void): () => void;
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
/** Clients' clocks may be behind. */
const BACKDATED_MS = 30_000;
/** setTimeout takes 32 bits; a look each day is enough to renew in time. */
const LOOK_EVERY_MS = DAY_MS;

interface Authority {
  readonly certificate: ParsedCertificate;
  readonly signer: Signer;
}

const P256 = { type: 'ec', bits: 256 } as const;

const signerOf = (privateKeyDer: Uint8Array): Signer =>
  createSigner(
    createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' }),
    'ecdsa-sha256',
  );

const writeSecret = (file: string, text: string): void => {
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, file);
};

const createAuthority = async (nowMs: number): Promise<{ keys: KeyPair; der: Uint8Array }> => {
  const keys = await createKeyPair(P256);
  const name = encodeName(toDistinguishedName({ commonName: 'Keelson edge authority' }));
  const der = await createCertificate(
    {
      serialNumber: randomSerialNumber(),
      issuer: name,
      subject: name,
      notBeforeMs: nowMs - BACKDATED_MS,
      notAfterMs: nowMs + AUTHORITY_LIFE_MS,
      publicKeyDer: keys.publicKeyDer,
      extensions: [
        basicConstraints({ isCa: true, pathLength: 0 }),
        keyUsage(['CertSign', 'CRLSign']),
        subjectKeyIdentifier(keyIdentifierOf(keys.publicKeyDer)),
      ],
    },
    signerOf(keys.privateKeyDer),
  );
  return { keys, der };
};

const onlyBlock = (file: string): Uint8Array => {
  const [block] = decodePem(readFileSync(file, 'utf8'));
  if (block === undefined) throw new Error(`${file} holds no PEM block`);
  return block.der;
};

/** The authority of the folder, made on first use. The key is written first: a certificate alone would be useless. */
const openAuthority = async (folder: string, nowMs: number): Promise<Authority> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const certificateFile = join(folder, 'ca.pem');
  const keyFile = join(folder, 'ca-key.pem');
  if (!existsSync(certificateFile)) {
    const { keys, der } = await createAuthority(nowMs);
    writeSecret(keyFile, `${encodePem('PRIVATE KEY', keys.privateKeyDer)}\n`);
    writeFileSync(certificateFile, `${encodePem('CERTIFICATE', der)}\n`, { flush: true });
  }
  return {
    certificate: parseCertificate(onlyBlock(certificateFile)),
    signer: signerOf(onlyBlock(keyFile)),
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
 * Opens the folder's authority and issues a certificate for `names`; a new one at every start, so that
 * the server's private key never touches the disk, and again when two thirds of its life have passed.
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
      // The certificate in use has a third of its life left; a failure is tried again tomorrow.
      void look()
        .catch(() => undefined)
        .finally(lookLater);
    });
  };
  lookLater();

  return {
    authorityFile: join(folder, 'ca.pem'),
    current: () => current,
    onRenewal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => cancel(),
  };
};
