/** Names of roles, issuers and keys (reference §0.4). */
import { KeelsonError } from '@keelson/errors';
import { field } from '@keelson/secrets-api';

const NAME = /^\w(?:[\w.-]*\w)?$/;
const MAX_NAME_LENGTH = 256;

export const NAME_FIELD = field.string({ default: '', description: 'Name.' });

/** @throws KeelsonError `request.unsupported_path` for text that no name can be */
export const requireName = (name: string): string => {
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    throw new KeelsonError('request.unsupported_path');
  return name;
};
