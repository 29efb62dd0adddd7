/** A TlsIdentity that is renewed after half its lifetime, with a new key each time. */
import type { Clock } from '@keelson/clock';
import {
  createCsr,
  createKeyPair,
  createSigner,
  encodeName,
  encodePem,
  toDistinguishedName,
} from '@keelson/x509';
import { TlsIdentity, type TlsMaterial } from '../tls-identity.ts';
import { type IssuedCertificate, toPrivateKey } from './internal-authority.ts';

export interface RenewedIdentity {
  readonly identity: TlsIdentity;
  /** Stops the renewal. */
  stop(this: void): void;
}

export interface RenewedIdentityOptions {
  readonly service: string;
  readonly caCertificatesPem: string;
  readonly clock: Clock;
  /** @param current the identity in use, undefined the first time */
  issue(csr: Uint8Array, current: TlsIdentity | undefined): Promise<IssuedCertificate>;
  /** Called with each failed renewal; the next attempt follows before the certificate expires. */
  readonly report: (error: unknown) => void;
}

/** A failed renewal is retried after this fraction of the remaining lifetime. */
const RETRY_FRACTION = 1 / 12;
const SHORTEST_WAIT_MS = 1_000;

/** The first certificate is fetched before this resolves. */
export const renewIdentity = async (options: RenewedIdentityOptions): Promise<RenewedIdentity> => {
  const { service, caCertificatesPem, clock } = options;
  let notAfterMs = 0;

  const obtain = async (current: TlsIdentity | undefined): Promise<TlsMaterial> => {
    const keys = await createKeyPair({ type: 'ec', bits: 256 });
    const subject = encodeName(toDistinguishedName({ commonName: service }));
    const csr = await createCsr(
      { subject, publicKeyDer: keys.publicKeyDer, extensions: [] },
      createSigner(toPrivateKey(keys.privateKeyDer), 'ecdsa-sha256'),
    );
    const issued = await options.issue(csr, current);
    ({ notAfterMs } = issued);
    return {
      certificateChainPem: issued.chain.map((der) => encodePem('CERTIFICATE', der)).join('\n'),
      privateKeyPem: encodePem('PRIVATE KEY', keys.privateKeyDer),
      caCertificatesPem,
    };
  };

  const identity = new TlsIdentity(await obtain(undefined));
  let cancel: () => void = () => undefined;
  let isStopped = false;

  const renewIn = (fraction: number): void => {
    if (isStopped) return;
    const waitMs = Math.max((notAfterMs - clock.nowMs()) * fraction, SHORTEST_WAIT_MS);
    cancel = clock.after(waitMs, () => void renew());
  };
  const renew = async (): Promise<void> => {
    try {
      identity.replace(await obtain(identity));
      renewIn(1 / 2);
    } catch (error) {
      options.report(error);
      renewIn(RETRY_FRACTION);
    }
  };
  renewIn(1 / 2);
  return {
    identity,
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
};
