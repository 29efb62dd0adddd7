/**
 * Limits on the shape of a JSON document, so that a small body cannot cost a handler out of proportion.
 * Checked on the parsed value: V8's parser does not recurse, and the body's size is limited before.
 */
import { KeelsonError } from '@keelson/errors';

const JSON_LIMITS = {
  depth: 300,
  stringLength: 1 << 20,
  objectEntries: 10_000,
  arrayElements: 10_000,
} as const;

const tooMuch = (what: string, limit: number): never => {
  throw new KeelsonError('request.malformed_json', {
    reason: `${what} exceeds the limit of ${limit}`,
  });
};

/** @throws KeelsonError `request.malformed_json` */
export const checkJsonLimits = (document: unknown): void => {
  // Level by level instead of recursion: the depth is what is being limited.
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > JSON_LIMITS.depth) tooMuch('nesting', JSON_LIMITS.depth);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') {
        if (value.length > JSON_LIMITS.stringLength) tooMuch('a string', JSON_LIMITS.stringLength);
      } else if (Array.isArray(value)) {
        if (value.length > JSON_LIMITS.arrayElements)
          tooMuch('an array', JSON_LIMITS.arrayElements);
        for (const element of value) next.push(element);
      } else if (typeof value === 'object' && value !== null) {
        const entries = Object.entries(value);
        if (entries.length > JSON_LIMITS.objectEntries)
          tooMuch('an object', JSON_LIMITS.objectEntries);
        for (const [key, entry] of entries) {
          if (key.length > JSON_LIMITS.stringLength) tooMuch('a key', JSON_LIMITS.stringLength);
          next.push(entry);
        }
      }
    }
    level = next;
  }
};
