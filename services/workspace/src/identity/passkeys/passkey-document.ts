import { orNull, type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { BegunRegistration, PasskeyView } from './passkey-account-operations.ts';

export const PASSKEY = resourceSchema({
  type: 'passkeys',
  description: 'A passkey with which its user signs in.',
  attributes: {
    name: Type.String(),
    'created-at': timestamp(),
    'last-used-at': orNull(timestamp('As this cluster has seen it; null before the first use.')),
    'is-synced': Type.Boolean({
      description: 'Whether its authenticator has copied it to other devices of the user.',
    }),
  },
});

export const toPasskeyResource = ({ own, use }: PasskeyView): ResourceOf<typeof PASSKEY> => ({
  id: own.id,
  type: 'passkeys',
  attributes: {
    name: own.passkey.name,
    'created-at': toTimestamp(own.passkey.createdAtMs),
    'last-used-at': use === undefined ? null : toTimestamp(use.lastUsedAtMs),
    'is-synced': use?.backedUp ?? own.passkey.backedUp,
  },
});

const options = (description: string) =>
  Type.Object({}, { description, additionalProperties: true });

export const PASSKEY_CHALLENGE = resourceSchema({
  type: 'passkey-challenges',
  description:
    'The questions that a page gives to its browser. Each is answered within five minutes, once. The id is `none` where there is no question.',
  attributes: {
    'sign-in': orNull(
      options('For `PublicKeyCredential.parseRequestOptionsFromJSON()`: a passkey that there is.'),
    ),
    registration: orNull(
      options('For `PublicKeyCredential.parseCreationOptionsFromJSON()`: a new passkey.'),
    ),
  },
});

export const toChallengeResource = ({
  registration,
  confirmation,
}: Partial<BegunRegistration>): ResourceOf<typeof PASSKEY_CHALLENGE> => ({
  id: registration?.challenge ?? confirmation?.challenge ?? 'none',
  type: 'passkey-challenges',
  attributes: {
    'sign-in': confirmation === undefined ? null : { ...confirmation },
    registration: registration === undefined ? null : { ...registration },
  },
});
