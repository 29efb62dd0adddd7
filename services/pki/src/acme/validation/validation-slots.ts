/**
 * Limits the concurrent validations of a replica in total, per mount, per account and per host, so that no
 * account can block the others or direct the whole replica at one host, nor all accounts of a mount, which anybody
 * may create, block another mount.
 */
export interface SlotLimits {
  readonly total: number;
  readonly perMount: number;
  readonly perAccount: number;
  readonly perHost: number;
}

/** The mount, account and host for which an attempt occupies a slot. */
export interface SlotUse {
  /** Its uuid. */
  readonly mount: string;
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
  readonly #mounts = new Map<string, number>();
  readonly #accounts = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #taken = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Slots that attempts of the mount may take now. */
  freeOf(mount: string): number {
    const { total, perMount } = this.#limits;
    return Math.min(total - this.#taken, perMount - (this.#mounts.get(mount) ?? 0));
  }

  /** Accounts without a free slot. */
  get busyAccounts(): ReadonlySet<string> {
    return new Set(
      [...this.#accounts].filter(([, n]) => n >= this.#limits.perAccount).map(([id]) => id),
    );
  }

  /** Takes a slot; returns false if the attempt has to wait. */
  take(use: SlotUse): boolean {
    const { mount, accountId, host } = use;
    if (
      this.freeOf(mount) <= 0 ||
      (this.#accounts.get(accountId) ?? 0) >= this.#limits.perAccount ||
      (this.#hosts.get(host) ?? 0) >= this.#limits.perHost
    )
      return false;
    this.#change(use, 1);
    return true;
  }

  release(use: SlotUse): void {
    this.#change(use, -1);
  }

  #change({ mount, accountId, host }: SlotUse, change: 1 | -1): void {
    this.#taken += change;
    add(this.#mounts, mount, change);
    add(this.#accounts, accountId, change);
    add(this.#hosts, host, change);
  }
}
