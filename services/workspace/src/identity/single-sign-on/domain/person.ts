/** A person as a provider of identities describes them. */
import { isEmail } from '../../model/domain/organization.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Person {
  readonly subject: string;
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined;
  /** From which the name of a new user is made; "" without one. */
  readonly name: string;
  readonly groups: readonly string[];
  /** Whether the provider has signed that it asked for more than one factor. */
  readonly hasTwoFactors: boolean;
}

/** More groups than these are of no use, and each is looked up. */
const MOST_GROUPS = 1000;
const LONGEST = 255;

/** RFC 8176, section 2: more than one factor was used, whichever they were. */
const SEVERAL_FACTORS = 'mfa';

const textOf = (value: unknown): string =>
  typeof value === 'string' && value.length <= LONGEST ? value : '';

const textsOf = (value: unknown): readonly string[] => {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(all.map(textOf).filter((text) => text !== ''))].slice(0, MOST_GROUPS);
};

/**
 * Reads the claims of the signed token, which count where the document about the user says something else. An address
 * counts if the provider says in so many words, and in the same place, that it has verified it.
 * @returns undefined for claims without a subject
 */
export const personOf = (
  token: Claims,
  userInfo: Claims,
  { usernameClaim, groupsClaim }: { readonly usernameClaim: string; readonly groupsClaim: string },
): Person | undefined => {
  const claims: Claims = { ...userInfo, ...token };
  const subject = textOf(claims['sub']);
  if (subject === '') return undefined;
  const { email: address, email_verified: isConfirmed } =
    token['email'] === undefined ? userInfo : token;
  const email = textOf(address);
  const isVerified = isConfirmed === true && isEmail(email);
  return {
    subject,
    email: isVerified ? email : undefined,
    name: textOf(claims[usernameClaim]),
    hasTwoFactors: textsOf(token['amr']).includes(SEVERAL_FACTORS),
    groups: groupsClaim === '' ? [] : textsOf(claims[groupsClaim]),
  };
};
