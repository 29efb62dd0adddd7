/** Issuers or keys whose records cannot be decrypted: their ids are known, their names are not. */
import { KeelsonError } from '@keelson/errors';

export class DamagedReferences {
  readonly #records: { path(id: string): string };
  readonly #ids: ReadonlySet<string>;

  constructor(records: { path(id: string): string }, ids: readonly string[]) {
    this.#records = records;
    this.#ids = new Set(ids);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** For the lists of what can be read. */
  warnings(kind: 'issuer' | 'key'): readonly string[] {
    return Array.from(
      this.#ids,
      (id) => `the ${kind} ${id} is damaged and cannot be used (docs/runbooks/repair-damage.md)`,
    );
  }

  /** @throws KeelsonError `barrier.damaged_value` when this id is damaged */
  refuseId(id: string): void {
    if (this.#ids.has(id)) throw this.#damaged(id);
  }

  /** @throws KeelsonError `barrier.damaged_value` when a damaged one may have this id or name */
  refuse(reference: string): void {
    this.refuseId(reference);
    const [first] = this.#ids;
    if (first !== undefined) throw this.#damaged(first);
  }

  #damaged(id: string): KeelsonError {
    return new KeelsonError('barrier.damaged_value', { path: this.#records.path(id) });
  }
}

export const NO_DAMAGE = new DamagedReferences({ path: (id) => id }, []);
