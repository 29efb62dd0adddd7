/** Rules for passwords. Length protects; a longer text than this costs time to hash and protects nobody better. */
import { normalizedEmail } from '../../model/domain/organization.ts';

const LEAST_LENGTH = 12;
export const LONGEST_PASSWORD = 1024;
const LEAST_DIFFERENT = 5;

/** Equal for texts that look the same, whatever the keyboard composes them of. */
export const normalizedPassword = (password: string): string => password.normalize('NFC');

/** The faults for which nobody may have this password. */
export const passwordFaults = (
  password: string,
  { username, email }: { readonly username: string; readonly email: string },
): readonly string[] => {
  const characters = Array.from(normalizedPassword(password));
  const isOwnName = [username, email].some(
    (text) => normalizedEmail(text) === normalizedEmail(password),
  );
  return [
    ...(characters.length < LEAST_LENGTH
      ? [`must have at least ${LEAST_LENGTH} characters; several words are easy to remember`]
      : []),
    ...(new Set(characters).size < LEAST_DIFFERENT && characters.length >= LEAST_LENGTH
      ? [`must have at least ${LEAST_DIFFERENT} different characters`]
      : []),
    ...(isOwnName ? ['must not be the name or the mail address of the account'] : []),
  ];
};
