/** The keys of a mount, and the default for requests that name none. */
import { KeelsonError } from '@keelson/errors';
import { type DamagedReferences, NO_DAMAGE } from './damaged-references.ts';

/** A key as stored. */
export interface Key {
  readonly id: string;
  /** "" when it has none. */
  readonly name: string;
  readonly type: string;
  /** PKCS#8 DER in base64. Secret. */
  readonly privateKey: string;
  /** SubjectPublicKeyInfo DER in base64. */
  readonly publicKey: string;
}

export class KeyRing {
  /** Those that can be decrypted. */
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
