/** Accounts (RFC 8555 §7.1.2), identified by the key that signs their requests. */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { publicJwkShape } from '../../../keys/domain/jwk-thumbprint.ts';
import { boundIdentityShape } from '../../eab/domain/external-account-binding.ts';
import { AcmeProblem, malformed } from '../../problems/problem.ts';

/** The external account binding with which an account was created. */
export const accountBindingShape = Type.Object({
  keyId: Type.String(),
  keyType: Type.String(),
  createdAtMs: Type.Number(),
  identity: Type.Optional(boundIdentityShape),
  /** The JWS as the client sent it: it is part of the account (RFC 8555 §7.1.2). */
  presented: Type.Unknown(),
});
export type AccountBinding = Shaped<typeof accountBindingShape>;

export const accountShape = Type.Object({
  /** "roles/web/acme/": accounts belong to one directory. */
  directory: Type.String(),
  key: publicJwkShape,
  /** RFC 7638, base64url; the last part of every key authorization. */
  thumbprint: Type.String(),
  contacts: Type.Array(Type.String()),
  termsAgreed: Type.Boolean(),
  /** URL of the terms it agreed to; undefined if there were none or it did not agree. */
  termsUrl: Type.Optional(Type.String()),
  /** `deactivated` by the client, `revoked` by the server. */
  status: Type.Enum(['valid', 'deactivated', 'revoked']),
  createdAtMs: Type.Number(),
  /** When the client or the server closed it. */
  revokedAtMs: Type.Optional(Type.Number()),
  binding: Type.Optional(accountBindingShape),
});
export type Account = Shaped<typeof accountShape>;

const MAX_CONTACTS = 10;
const MAX_CONTACT_LENGTH = 320;
/** RFC 6068 restricted to a single address without header fields. */
const MAILTO =
  /^mailto:[^\s@?,%<>"]+@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/**
 * Parses the contacts sent by a client (RFC 8555 §7.3), without the white space that some clients
 * leave around an address. @returns undefined if absent, which leaves the stored contacts unchanged
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
        'a mailto: contact must have one address and no header fields',
      );
  }
  return contacts;
};
