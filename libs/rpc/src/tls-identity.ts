/**
 * Identity of a process on the internal network: a certificate of the internal CA and its key. Servers and
 * clients hold the identity instead of the files, so that a renewed certificate is used from the next
 * handshake on, while open connections and streams continue.
 */
import { ChannelCredentials, experimental, type ServerCredentials } from '@grpc/grpc-js';

export interface TlsMaterial {
  /** Leaf first, PEM. */
  readonly certificateChainPem: string;
  /** PKCS#8, PEM. */
  readonly privateKeyPem: string;
  /** The CAs that peers are verified against, PEM. */
  readonly caCertificatesPem: string;
}

/** TLS of a process without a certificate: it can verify the server, and may only enrol. */
export interface TrustedAuthority {
  readonly caCertificatesPem: string;
}

/** The DNS name in a service's certificate; addresses are not part of an identity. */
export const serviceDnsName = (service: string): string => `${service}.service.keelson`;

/** Service names that a certificate's subjectAltName extension (as Node writes it) proves. */
export const servicesOfSubjectAltName = (subjectAltName: string): readonly string[] =>
  subjectAltName
    .split(', ')
    .map((name) => /^DNS:([a-z][a-z0-9-]*)\.service\.keelson$/.exec(name)?.[1])
    .filter((service) => service !== undefined);

type CertificateProvider = experimental.CertificateProvider;
type CaListener = Parameters<CertificateProvider['addCaCertificateListener']>[0];
type IdentityListener = Parameters<CertificateProvider['addIdentityCertificateListener']>[0];

/** A certificate that is replaced while it is in use. */
export class TlsIdentity {
  #material: TlsMaterial;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();

  constructor(material: TlsMaterial) {
    this.#material = material;
  }

  get material(): TlsMaterial {
    return this.#material;
  }

  /** New handshakes use `material` from now on. */
  replace(material: TlsMaterial): void {
    this.#material = material;
    for (const listener of this.#caListeners) listener(this.#caUpdate());
    for (const listener of this.#identityListeners) listener(this.#identityUpdate());
  }

  /**
   * TLS credentials of a server. A client without a certificate is accepted without an identity; each
   * registration decides which methods such a caller may use (rpc-server.ts).
   */
  serverCredentials(): ServerCredentials {
    const provider = this.#provider();
    return experimental.createCertificateProviderServerCredentials(provider, provider, false);
  }

  channelCredentials(): ChannelCredentials {
    const provider = this.#provider();
    return experimental.createCertificateProviderChannelCredentials(provider, provider);
  }

  #caUpdate(): { caCertificate: Buffer } {
    return { caCertificate: Buffer.from(this.#material.caCertificatesPem) };
  }

  #identityUpdate(): { certificate: Buffer; privateKey: Buffer } {
    return {
      certificate: Buffer.from(this.#material.certificateChainPem),
      privateKey: Buffer.from(this.#material.privateKeyPem),
    };
  }

  // grpc-js 1.14 loses an update that arrives while it is still adding its listener.
  #provider(): CertificateProvider {
    return {
      addCaCertificateListener: (listener) => {
        this.#caListeners.add(listener);
        queueMicrotask(() => listener(this.#caUpdate()));
      },
      removeCaCertificateListener: (listener) => void this.#caListeners.delete(listener),
      addIdentityCertificateListener: (listener) => {
        this.#identityListeners.add(listener);
        queueMicrotask(() => listener(this.#identityUpdate()));
      },
      removeIdentityCertificateListener: (listener) =>
        void this.#identityListeners.delete(listener),
    };
  }
}

/** Credentials of a client: plain text only when `tls` is undefined (loopback and tests). */
export const channelCredentials = (
  tls: TlsIdentity | TrustedAuthority | undefined,
): ChannelCredentials => {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  if (tls instanceof TlsIdentity) return tls.channelCredentials();
  return ChannelCredentials.createSsl(Buffer.from(tls.caCertificatesPem));
};
