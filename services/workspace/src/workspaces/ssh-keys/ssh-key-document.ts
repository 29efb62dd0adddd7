import { API_PREFIX, type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { SshKey } from '../model/ssh-key-records.ts';

export const SSH_KEY = resourceSchema({
  type: 'ssh-keys',
  description: 'Its value is never shown.',
  attributes: { name: Type.String() },
  links: ['self'],
});

export const toSshKeyResource = (key: SshKey): ResourceOf<typeof SSH_KEY> => ({
  id: key.id,
  type: 'ssh-keys',
  attributes: { name: key.name },
  links: { self: `${API_PREFIX}/ssh-keys/${key.id}` },
});
