/** Texts by name that callers attach to namespaces and tokens; they are kept with each, so they are bounded. */
import { KeelsonError } from '@keelson/errors';

const MAX_ENTRIES = 64;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 512;

/**
 * @param parameter what callers know it by: "custom_metadata"
 * @throws KeelsonError `request.invalid` when it is larger than may be kept
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
