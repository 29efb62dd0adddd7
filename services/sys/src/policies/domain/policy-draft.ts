/** The names and texts of policies that a client may write. */
import { KeelsonError } from '@keelson/errors';
import { DEFAULT_POLICY, INTERNAL_POLICIES, ROOT_POLICY } from './default-policy.ts';
import { parsePolicyText, type ReadDuration } from './policy-text.ts';

const MAX_NAME_LENGTH = 256;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isBuiltIn = (name: string): boolean =>
  name === ROOT_POLICY || INTERNAL_POLICIES.includes(name);

/** The name in lower case; slashes are refused because they would nest the record's path. */
const requireName = (given: string): string => {
  const name = given.trim().toLowerCase();
  if (name === '') refuse("'name' parameter not supplied or empty");
  if (name.length > MAX_NAME_LENGTH || /[\p{Cc}/]/u.test(name)) refuse('invalid policy name');
  return name;
};

/** @throws KeelsonError `request.invalid` for a name that no policy can be written under */
export const requireWritableName = (given: string): string => {
  const name = requireName(given);
  if (isBuiltIn(name)) refuse(`cannot update "${name}" policy`);
  return name;
};

/** @throws KeelsonError `request.invalid` for a policy that cannot be deleted */
export const requireDeletableName = (given: string): string => {
  const name = requireName(given);
  if (name === DEFAULT_POLICY) refuse('cannot delete default policy');
  if (isBuiltIn(name)) refuse(`cannot delete "${name}" policy`);
  return name;
};

/**
 * The text as given, or decoded from base64, which older clients send.
 * @throws KeelsonError `request.invalid`, `sys.policy_unparsable`
 */
export const requirePolicyText = (given: string, readDuration: ReadDuration): string => {
  if (given.trim() === '') refuse("'policy' parameter not supplied or empty");
  try {
    parsePolicyText(given, readDuration);
    return given;
  } catch (error) {
    if (!/^[A-Za-z0-9+/\s]+={0,2}$/.test(given)) throw error;
    const text = Buffer.from(given, 'base64').toString();
    try {
      parsePolicyText(text, readDuration);
    } catch {
      // The text was not base64 either, so the error of the given text is the helpful one.
      throw error;
    }
    return text;
  }
};
