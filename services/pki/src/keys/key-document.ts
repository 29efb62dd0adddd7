import type { JsonObject } from '@keelson/secrets-api';
import type { Key } from './domain/mount-keys.ts';

export const keyDocument = ({ id, name, type }: Key): JsonObject => ({
  key_id: id,
  key_name: name,
  key_type: type,
});
