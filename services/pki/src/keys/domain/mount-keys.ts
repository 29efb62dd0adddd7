/** The keys of a mount, and the default for requests that name none. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type DamagedReferences, NO_DAMAGE } from './damaged-references.ts';

/** A key as stored. */
export const keyShape = Type.Object({
  id: Type.String(),
  /** "" when it has none. */
  name: Type.String(),
  type: Type.String(),
  /** PKCS#8 DER in base64. Secret. */
  privateKey: Type.String(),
  /** SubjectPublicKeyInfo DER in base64. */
  publicKey: Type.String(),
});
export type Key = Shaped<typeof keyShape>;

export class MountKeys {
  /** The keys that can be decrypted. */
  readonly all: readonly Key[];
  readonly damaged: DamagedReferences;
  readonly #defaultId: () => string;

  /** @param defaultId throws when it cannot be decrypted */
  constructor(
    all: readonly Key[],
    defaultId: () => string,
    damaged: DamagedReferences = NO_DAMAGE,
  ) {
    this.all = all;
    this.#defaultId = defaultId;
    this.damaged = damaged;
  }

  /** "" when there is none. */
  get defaultId(): string {
    return this.#defaultId();
  }

  /**
   * By id, name, or the literal `default`.
   * @throws KeelsonError `barrier.damaged_value`
   */
  find(reference: string): Key | undefined {
    const wanted = reference === 'default' ? this.defaultId : reference;
    if (wanted === '') return undefined;
    this.damaged.refuseId(wanted);
    return this.all.find(({ id }) => id === wanted) ?? this.all.find(({ name }) => name === wanted);
  }

  /** @throws KeelsonError `pki.key_not_found`, `barrier.damaged_value` */
  require(reference: string): Key {
    const found = this.find(reference);
    if (found !== undefined) return found;
    this.damaged.refuse(reference);
    throw new KeelsonError('pki.key_not_found', { reference });
  }
}
