import { describe, expect, test } from 'vitest';
import { requireMetadata } from './metadata.ts';

const entries = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('metadata', () => {
  test.for([
    [{}],
    [entries(64)],
    [{ ['k'.repeat(128)]: 'v'.repeat(512) }],
    [{ empty: '' }],
  ] as const)('within the limits is accepted', ([metadata]) => {
    expect(() => requireMetadata('custom_metadata', metadata)).not.toThrow();
  });

  test.for([
    [entries(65), 'custom_metadata has at most 64 entries'],
    [{ '': 'v' }, 'a custom_metadata key has 1 to 128 characters'],
    [{ ['k'.repeat(129)]: 'v' }, 'a custom_metadata key has 1 to 128 characters'],
    [{ k: 'v'.repeat(513) }, 'a custom_metadata value has at most 512 characters'],
  ] as const)('beyond a limit is refused', ([metadata, text]) => {
    expect(() => requireMetadata('custom_metadata', metadata)).toThrow(
      expect.objectContaining({ code: 'request.invalid', params: { text } }),
    );
  });
});
