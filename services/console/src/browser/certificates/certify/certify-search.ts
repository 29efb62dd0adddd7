/** How far a key has come on its way to a certificate, as kept in the address, so that the page can go on from there. */

export interface CertifySearch {
  /** Id of the key. */
  readonly key?: string;
  /** Name for a key that has no certificate yet. */
  readonly name?: string;
  /** Path of the authority that signs. */
  readonly signer?: string;
  /** Id of its issuer. */
  readonly by?: string;
  /** Serial number of the certificate that it has signed, and that is not imported yet. */
  readonly signed?: string;
}

const MEMBERS = ['key', 'name', 'signer', 'by', 'signed'] as const;

export const parseCertifySearch = (search: Readonly<Record<string, unknown>>): CertifySearch =>
  Object.fromEntries(
    MEMBERS.flatMap((member) => {
      const value = search[member];
      return (typeof value === 'string' || typeof value === 'number') && value !== ''
        ? [[member, String(value)]]
        : [];
    }),
  );
