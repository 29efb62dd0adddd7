/** Key-value metadata of namespaces and tokens. It is stored with each of them, so its size is limited. */
import { KeelsonError } from '@keelson/errors';

const MAX_ENTRIES = 64;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 512;

/**
 * @param parameter name of the parameter in the request: "custom_metadata"
 * @throws KeelsonError `request.invalid` when the metadata exceeds the limits
 */
export const requireMetadata = (
  parameter: string,
  metadata: Readonly<Record<string, string>>,
): void => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  const entries = Object.entries(metadata);
  if (entries.length > MAX_ENTRIES) refuse(`${parameter} has at most ${MAX_ENTRIES} entries`);
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_KEY_LENGTH)
      refuse(`a ${parameter} key has 1 to ${MAX_KEY_LENGTH} characters`);
    if (value.length > MAX_VALUE_LENGTH)
      refuse(`a ${parameter} value has at most ${MAX_VALUE_LENGTH} characters`);
  }
};
