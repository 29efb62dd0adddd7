/**
 * Limits the concurrent validations of a replica in total, per account and per host, so that no
 * account can block the others or direct the whole replica at one host.
 */
export interface SlotLimits {
  readonly total: number;
  readonly perAccount: number;
  readonly perHost: number;
}

/** The account and host for which an attempt occupies a slot. */
export interface SlotUse {
  readonly accountId: string;
  readonly host: string;
}

const add = (counts: Map<string, number>, key: string, change: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
};

export class ValidationSlots {
  readonly #limits: SlotLimits;
  readonly #accounts = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #taken = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get free(): number {
    return this.#limits.total - this.#taken;
  }

  /** Accounts without a free slot. */
  get busyAccounts(): ReadonlySet<string> {
    return new Set(
      [...this.#accounts].filter(([, n]) => n >= this.#limits.perAccount).map(([id]) => id),
    );
  }

  /** Takes a slot; returns false if the attempt has to wait. */
  take({ accountId, host }: SlotUse): boolean {
    if (
      this.free <= 0 ||
      (this.#accounts.get(accountId) ?? 0) >= this.#limits.perAccount ||
      (this.#hosts.get(host) ?? 0) >= this.#limits.perHost
    )
      return false;
    this.#change(accountId, host, 1);
    return true;
  }

  release({ accountId, host }: SlotUse): void {
    this.#change(accountId, host, -1);
  }

  #change(accountId: string, host: string, change: 1 | -1): void {
    this.#taken += change;
    add(this.#accounts, accountId, change);
    add(this.#hosts, host, change);
  }
}
