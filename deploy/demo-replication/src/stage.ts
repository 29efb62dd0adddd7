/** What the story plays on: three clusters, and the lines between them that can be cut. */
import type { AddressedCluster } from '@keelson/testkit/addressed-cluster';

export interface Line {
  /** Resets what is connected and refuses what comes. */
  cut(): void;
  pass(): void;
}

export interface Stage {
  readonly primary: AddressedCluster;
  readonly secondary: AddressedCluster;
  readonly dr: AddressedCluster;
  /**
   * Between those who follow a cluster and its NATS: one to the primary's, one to that of its spare. A
   * secondary without a primary tries both, so a partition cuts both.
   */
  readonly lines: readonly Line[];
  /** The line to the NATS of the primary, as secondaries are told it. */
  readonly primaryAddress: string;
  /** The one to the spare's: what the primary tells its secondaries about who may take its place. */
  readonly spareAddress: string;
  /** Where secondaries reach the API of the primary; undefined: where we do. */
  readonly primaryApiAddress?: string;
  /** How the primary is lost, and is there again. The texts are steps of the story. */
  readonly loss: {
    readonly text: string;
    readonly lose: () => Promise<void>;
    readonly returnText: string;
    readonly bringBack: () => Promise<void>;
  };
  /** They replicate already; the story needs clusters that never did. */
  readonly wasPlayed: boolean;
  /** For a reader who goes on with them: where each is, and with which token, ready to print. */
  readonly keep: () => Promise<string>;
  /** What the clusters said last, ready to print. */
  readonly newestLog: () => string;
}

export interface Building {
  readonly title: string;
  /** The first step. */
  readonly text: string;
  /** @throws Error what could not be started or reached */
  start(): Promise<Stage>;
  /** Ends everything that was started, also while `start` runs, and removes its folders. */
  stop(): Promise<void>;
}

/** Ends what was started in the reverse order of its start, also what is still starting. */
export class Started {
  /** Each resolves with what ends it. */
  readonly #ends: Promise<() => Promise<void>>[] = [];
  #isStopping = false;

  async add<T>(starting: () => Promise<T>, end: (it: T) => Promise<void>): Promise<T> {
    if (this.#isStopping) throw new Error('stopped');
    const it = starting();
    const ending = it.then((one) => () => end(one));
    ending.catch(() => undefined); // Told by `it`.
    this.#ends.push(ending);
    return it;
  }

  async end(): Promise<void> {
    this.#isStopping = true;
    for (const one of await Promise.allSettled(this.#ends.reverse()))
      if (one.status === 'fulfilled') await one.value();
  }
}
