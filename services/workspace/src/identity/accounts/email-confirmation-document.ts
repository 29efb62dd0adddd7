import { orNull, type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { EmailConfirmationView } from './email-confirmation-operations.ts';

export const EMAIL_CONFIRMATION = resourceSchema({
  type: 'email-confirmations',
  description:
    'An address that an account has given and not confirmed, as the link of its mail shows it.',
  attributes: {
    email: Type.String({ format: 'email' }),
    username: Type.String({ description: 'Name of the account that gave the address.' }),
    'expires-at': orNull(timestamp('When the link ends.')),
  },
});

export const toEmailConfirmationResource = ({
  id,
  user,
  address,
  code,
}: EmailConfirmationView): ResourceOf<typeof EMAIL_CONFIRMATION> => ({
  id,
  type: 'email-confirmations',
  attributes: {
    email: address,
    username: user.username,
    'expires-at': code.expiresAtMs === null ? null : toTimestamp(code.expiresAtMs),
  },
});
