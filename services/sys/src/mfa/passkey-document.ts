/** Documents of passkeys. */
import type { JsonObject } from '@keelson/secrets-api';
import { toTimestamp } from '../identity/alias-members.ts';
import type { PasskeyMethod } from './domain/passkey-method.ts';
import type { BegunChange, OwnPasskey } from './passkey-enrolment-operations.ts';

/** The public key stays here: nobody else needs it. */
export const passkeyDocument = ({ methodId, passkey, use }: OwnPasskey): JsonObject => ({
  id: passkey.id,
  method_id: methodId,
  name: passkey.name,
  creation_time: toTimestamp(passkey.createdAtMs),
  last_use_time: use === undefined ? null : toTimestamp(use.lastUsedAtMs),
  relying_party_id: passkey.relyingPartyId,
  aaguid: passkey.aaguid,
  transports: passkey.transports,
  backup_eligible: passkey.backupEligible,
  backed_up: (use ?? passkey).backedUp,
  sign_count: (use ?? passkey).signCount,
});

export const ownPasskeysDocument = (
  methods: readonly PasskeyMethod[],
  passkeys: readonly OwnPasskey[],
): JsonObject => ({
  methods: methods.map(({ id, name, relyingPartyName }) => ({
    id,
    name,
    relying_party_name: relyingPartyName,
  })),
  passkeys: passkeys.map(passkeyDocument),
});

export const begunChangeDocument = ({ registration, confirmation }: BegunChange): JsonObject => ({
  registration: registration ?? null,
  confirmation: confirmation ?? null,
});
