/**
 * What clients were told while faults happened, to be compared with what a cluster holds afterwards:
 * nothing acknowledged is lost, or no more than the reported lag allows; what was refused is not there;
 * Merkle roots of primary and secondary are equal.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Statuses of a service that cannot say whether it wrote. */
const FIRST_SERVER_ERROR = 500;
const FIRST_CLIENT_ERROR = 400;
/** The canary moves both roots every few seconds: they are compared again so often, and so far apart. */
const ROOT_COMPARISONS = 200;
const ROOT_COMPARISON_EVERY_MS = 100;

/** How far a ledger was when a status was asked for. */
export interface LedgerMark {
  /** Writes acknowledged before the question. */
  readonly acknowledged: number;
  /** What the answer, of the primary, said is missing on the secondary. */
  readonly lagEntries: number;
}

export class WriteLedger {
  readonly #acknowledged: string[] = [];
  readonly #refused: string[] = [];
  readonly #unknown: string[] = [];

  /** In the order of their acknowledgements. */
  get acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  /** Answered with a client error: never made. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  /** Not answered, or with a server error: made or not. */
  get unknown(): readonly string[] {
    return this.#unknown;
  }

  /**
   * Makes a write and notes how it was answered.
   * @param key of what is written; each is written once
   * @param write returns the HTTP status; may reject when there is no answer
   * @returns the status; undefined without an answer
   */
  async attempt(key: string, write: () => Promise<number>): Promise<number | undefined> {
    const status = await write().catch(() => undefined);
    if (status === undefined || status >= FIRST_SERVER_ERROR) this.#unknown.push(key);
    else if (status >= FIRST_CLIENT_ERROR) this.#refused.push(key);
    else this.#acknowledged.push(key);
    return status;
  }

  /** Asks for the lag, and remembers what had been acknowledged before. */
  async mark(lagEntries: () => Promise<number>): Promise<LedgerMark> {
    const acknowledged = this.#acknowledged.length;
    return { acknowledged, lagEntries: await lagEntries() };
  }
}

/** One side of a replication set, as its status shows it. */
export type RootOf = () => Promise<string>;

export interface LedgerCheck {
  readonly ledger: WriteLedger;
  /** Keys that are in the cluster that leads now. */
  readonly held: ReadonlySet<string>;
  /** After an unplanned switch: what may be missing. Absent: nothing. */
  readonly mark?: LedgerMark;
  /** By name of the secondary: the roots that must be equal. */
  readonly roots?: Readonly<Record<string, readonly [primary: RootOf, secondary: RootOf]>>;
  /** How often roots that differ are compared again; as long as it may take to catch up. */
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

/** @returns a sentence for each rule that was broken; empty: all hold */
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
