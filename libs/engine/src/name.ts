/** Names in the paths of an engine, such as those of roles. */
import { KeelsonError } from '@keelson/errors';
import { field } from '@keelson/secrets-api';

const NAME = /^\w(?:[\w.-]*\w)?$/;
const MAX_NAME_LENGTH = 256;

export const NAME_FIELD = field.string({ default: '', description: 'Name.' });

export const isName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && NAME.test(text);

/** @throws KeelsonError `request.invalid` for a segment of a path that no name can be */
export const requireName = (name: string): string => {
  if (!isName(name))
    throw new KeelsonError('request.invalid', {
      text: `the name in the path has at most ${MAX_NAME_LENGTH} letters, digits, "_", "-" and ".", and begins and ends with a letter, a digit or "_"`,
    });
  return name;
};
