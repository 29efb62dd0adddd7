import { KeelsonError } from '@keelson/errors';
import { type KeyAlgorithm, keyBits, toKeyAlgorithm } from '@keelson/x509';
import { checkKeySize } from '../../keys/domain/key-size.ts';
import type { Role } from '../../roles/domain/role.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Refuses a CSR's key that the role does not allow (reference §3.3). */
export const checkCsrKey = (role: Role, key: KeyAlgorithm): void => {
  checkKeySize(key);
  if (role.keyType === 'any') return;
  if (role.keyType !== key.type) refuse(`role requires keys of type ${role.keyType}`);
  if (keyBits(key) < role.keyBits)
    refuse(
      `role requires a minimum of a ${role.keyBits}-bit key, but CSR's key is ${keyBits(key)} bits`,
    );
};

/** A key as a request describes it. */
export interface KeyRequest {
  /** Empty if not requested. */
  readonly type: string;
  /** 0 if not requested. */
  readonly bits: number;
}

/**
 * The key to make for a certificate under a role: the role's, or the request's where the role is of
 * type any (reference §4.2).
 * @throws KeelsonError `request.invalid`
 */
export const decideIssuedKey = (
  role: Pick<Role, 'keyType' | 'keyBits'>,
  asked: KeyRequest,
): { readonly algorithm: KeyAlgorithm; readonly warnings: readonly string[] } => {
  if (role.keyType === 'any') {
    if (asked.type === '')
      refuse('role key type "any" not allowed for issuing certificates, only signing');
    return { algorithm: toKeyAlgorithm(asked.type, asked.bits), warnings: [] };
  }
  const isIgnored = asked.type !== '' || asked.bits !== 0;
  return {
    algorithm: toKeyAlgorithm(role.keyType, role.keyBits),
    warnings: isIgnored
      ? ['parameters key_type and key_bits ignored as role had specific values']
      : [],
  };
};
