import { orNull, type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { DecidedLogin } from './command-login-operations.ts';

export const COMMAND_LOGIN_RESOURCE = resourceSchema({
  type: 'command-logins',
  description: 'The sign-in of a command such as `terraform login`, on which its user has decided.',
  attributes: {
    'redirect-to': Type.String({
      format: 'uri',
      description:
        'Where the browser goes: the address of the command, with the state, and the code or the refusal.',
    }),
    'expires-at': orNull(
      timestamp('When the code ends, unless the command has shown it before; null for a refusal.'),
    ),
  },
});

export const toCommandLoginResource = ({
  id,
  address,
  expiresAtMs,
}: DecidedLogin): ResourceOf<typeof COMMAND_LOGIN_RESOURCE> => ({
  id,
  type: 'command-logins',
  attributes: {
    'redirect-to': address,
    'expires-at': expiresAtMs === null ? null : toTimestamp(expiresAtMs),
  },
});
