/** Accounts (RFC 8555 §7.1.2): who orders, known by the key that signs. */
import { type PublicJwk } from '../../../keys/domain/jwk-thumbprint.ts';
import type { BoundIdentity } from '../../eab/domain/external-account-binding.ts';
import { AcmeProblem, malformed } from '../../problems/problem.ts';

/** The external account binding that an account was made with. */
export interface AccountBinding {
  readonly keyId: string;
  readonly keyType: string;
  readonly createdAtMs: number;
  readonly identity?: BoundIdentity | undefined;
  /** The JWS as the client sent it: it is part of the account (RFC 8555 §7.1.2). */
  readonly presented: unknown;
}

export interface Account {
  /** "roles/web/acme/": accounts belong to one directory. */
  readonly directory: string;
  readonly key: PublicJwk;
  /** RFC 7638, base64url: what key authorizations end in. */
  readonly thumbprint: string;
  readonly contacts: readonly string[];
  readonly termsAgreed: boolean;
  /** URL of the terms that it agreed to; undefined where there were none, or it did not. */
  readonly termsUrl?: string | undefined;
  /** `deactivated` by the client, `revoked` by the server. */
  readonly status: 'valid' | 'deactivated' | 'revoked';
  readonly createdAtMs: number;
  /** When it was closed, by whichever of them. */
  readonly revokedAtMs?: number | undefined;
  readonly binding?: AccountBinding | undefined;
}

const MAX_CONTACTS = 10;
const MAX_CONTACT_LENGTH = 320;
/** RFC 6068 without its options: one address, nothing else. */
const MAILTO =
  /^mailto:[^\s@?,%<>"]+@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/**
 * The contacts a client gives (RFC 8555 §7.3), without the white space that some clients leave around an
 * address.
 * @returns undefined where none are given, which leaves those there are
 * @throws AcmeProblem `malformed`, `unsupportedContact`, `invalidContact`
 */
export const parseContacts = (raw: unknown): readonly string[] | undefined => {
  if (raw === undefined) return undefined;
  if (!Array.isArray(raw) || !raw.every((one) => typeof one === 'string'))
    throw malformed('"contact" must be a list of URLs');
  if (raw.length > MAX_CONTACTS) throw malformed(`an account has at most ${MAX_CONTACTS} contacts`);
  const contacts = (raw as readonly string[]).map((one) =>
    one.trim().replace(/^(mailto:)\s+/i, '$1'),
  );
  for (const contact of contacts) {
    if (contact.length > MAX_CONTACT_LENGTH)
      throw new AcmeProblem('invalidContact', 'a contact is too long');
    if (!/^mailto:/i.test(contact))
      throw new AcmeProblem('unsupportedContact', 'only mailto: contacts are supported');
    if (!MAILTO.test(contact))
      throw new AcmeProblem(
        'invalidContact',
        'a mailto: contact must hold one address and no header fields',
      );
  }
  return contacts;
};
