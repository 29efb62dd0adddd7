/** Names of roles, issuers and keys (reference §0.4). */
import { KeelsonError } from '@keelson/errors';
import { field } from '@keelson/secrets-api';

const NAME = /^\w(?:[\w.-]*\w)?$/;
const MAX_NAME_LENGTH = 256;

export const NAME_FIELD = field.string({ default: '', description: 'Name.' });

export const isName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && NAME.test(text);

/** @throws KeelsonError `request.unsupported_path` for a segment of a path that no name can be */
export const requireName = (name: string): string => {
  if (!isName(name)) throw new KeelsonError('request.unsupported_path');
  return name;
};

/**
 * A name from the body of a request; "" is none.
 * @throws KeelsonError `request.invalid`
 */
export const checkGivenName = (kind: 'issuer' | 'key', name: string): void => {
  if (name !== '' && !isName(name))
    throw new KeelsonError('request.invalid', {
      text: `${kind} name contained invalid characters`,
    });
};
