import { type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { ReservedKey } from './domain/reserved-key.ts';

export const RESERVED_TAG_KEY = resourceSchema({
  type: 'reserved-tag-keys',
  attributes: {
    key: Type.String(),
    'disable-overrides': Type.Boolean({
      description: "Whether a workspace may not override its project's value.",
    }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    created_at: timestamp('The same as `created-at`.'),
    updated_at: timestamp('The same as `updated-at`.'),
  },
});

export const toReservedKeyResource = (
  reserved: ReservedKey,
): ResourceOf<typeof RESERVED_TAG_KEY> => {
  const createdAt = toTimestamp(reserved.createdAtMs);
  const updatedAt = toTimestamp(reserved.updatedAtMs);
  return {
    id: reserved.id,
    type: 'reserved-tag-keys',
    attributes: {
      key: reserved.key,
      'disable-overrides': reserved.disableOverrides,
      'created-at': createdAt,
      'updated-at': updatedAt,
      // Client libraries send and expect these with underscores.
      created_at: createdAt,
      updated_at: updatedAt,
    },
  };
};
