/**
 * Responses that clients received during faults, to compare with the content of a cluster afterwards: no
 * acknowledged write is lost, or no more than the reported lag allows; no refused write is present; the
 * Merkle roots of primary and secondary are equal.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** From this status on, it is unknown whether the service wrote. */
const FIRST_SERVER_ERROR = 500;
const FIRST_CLIENT_ERROR = 400;
/**
 * The canary changes both roots every few seconds, so that differing roots are compared again this often, at
 * this interval.
 */
const ROOT_COMPARISONS = 200;
const ROOT_COMPARISON_EVERY_MS = 100;

/** State of a ledger when a status was requested. */
export interface LedgerMark {
  /** Writes acknowledged before the request. */
  readonly acknowledged: number;
  /** Entries missing on the secondary, as reported by the primary. */
  readonly lagEntries: number;
}

export class WriteLedger {
  readonly #acknowledged: string[] = [];
  readonly #refused: string[] = [];
  readonly #unknown: string[] = [];

  /** In the order of acknowledgement. */
  get acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  /** Writes answered with a client error, which never took effect. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  /** Writes with an unknown outcome: unanswered, or answered with a server error. */
  get unknown(): readonly string[] {
    return this.#unknown;
  }

  /**
   * Makes a write and records the response.
   * @param key of the write; unique
   * @param write returns the HTTP status; may reject when there is no response
   * @returns the status; undefined without a response
   */
  async attempt(key: string, write: () => Promise<number>): Promise<number | undefined> {
    const status = await write().catch(() => undefined);
    if (status === undefined || status >= FIRST_SERVER_ERROR) this.#unknown.push(key);
    else if (status >= FIRST_CLIENT_ERROR) this.#refused.push(key);
    else this.#acknowledged.push(key);
    return status;
  }

  /** Requests the lag, and records what had been acknowledged before. */
  async mark(lagEntries: () => Promise<number>): Promise<LedgerMark> {
    const acknowledged = this.#acknowledged.length;
    return { acknowledged, lagEntries: await lagEntries() };
  }
}

/** Returns the Merkle root in the status of one cluster. */
export type RootOf = () => Promise<string>;

export interface LedgerCheck {
  readonly ledger: WriteLedger;
  /** Keys present in the cluster that is primary now. */
  readonly held: ReadonlySet<string>;
  /** State after an unplanned switch, which says how much may be missing. Absent if nothing may be. */
  readonly mark?: LedgerMark;
  /** The roots that must be equal, by name of the secondary. */
  readonly roots?: Readonly<Record<string, readonly [primary: RootOf, secondary: RootOf]>>;
  /** Number of comparisons of differing roots, enough for the secondary to catch up. */
  readonly comparisons?: number;
}

const findLosses = ({ ledger, held, mark }: LedgerCheck): string[] => {
  const { acknowledged } = ledger;
  const isLost = (key: string): boolean => !held.has(key);
  if (mark === undefined)
    return acknowledged.filter(isLost).map((key) => `${key} was acknowledged and is lost`);
  const lost = acknowledged.slice(0, mark.acknowledged).filter(isLost);
  return lost.length <= mark.lagEntries
    ? []
    : [
        `${lost.length} of the ${mark.acknowledged} acknowledged writes are lost (${lost[0]} …), the reported lag was ${mark.lagEntries}`,
      ];
};

const areEqualSoon = async (
  [primary, secondary]: readonly [RootOf, RootOf],
  comparisons: number,
): Promise<boolean> => {
  for (let times = 0; times < comparisons; times += 1) {
    const [ours, theirs] = await Promise.all([primary(), secondary()]);
    if (ours === theirs) return true;
    await delay(ROOT_COMPARISON_EVERY_MS);
  }
  return false;
};

/** @returns a sentence for each broken rule; empty if all hold */
export const findBroken = async (check: LedgerCheck): Promise<readonly string[]> => {
  const { ledger, held, roots = {}, comparisons = ROOT_COMPARISONS } = check;
  const made = ledger.refused
    .filter((key) => held.has(key))
    .map((key) => `${key} was refused and is there`);
  const unequal: string[] = [];
  for (const [name, pair] of Object.entries(roots))
    if (!(await areEqualSoon(pair, comparisons)))
      unequal.push(`the Merkle roots of ${name} and its primary differ`);
  return [...findLosses(check), ...made, ...unequal];
};
