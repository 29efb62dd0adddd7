/** The setting of the story: three clusters, and the connections between them that can be cut. */
import type { AddressedCluster } from '@keelson/testkit/addressed-cluster';

export interface Line {
  /** Resets open connections and refuses new ones. */
  cut(): void;
  pass(): void;
}

export interface DemoCluster extends AddressedCluster {
  readonly name: string;
  /** Address of its API; a process that starts again listens elsewhere. */
  readonly address: () => string;
}

export interface Stage {
  readonly primary: DemoCluster;
  readonly secondary: DemoCluster;
  readonly dr: DemoCluster;
  /**
   * Connections from the secondaries to NATS: one to the primary's, one to that of its spare. A secondary
   * without a primary tries both, so a partition cuts both.
   */
  readonly lines: readonly Line[];
  /** Address of the line to the primary's NATS, as given to secondaries. */
  readonly primaryAddress: string;
  /** Address of the line to the spare's NATS, which the primary announces as its possible successor. */
  readonly spareAddress: string;
  /** Address at which secondaries reach the primary's API; undefined when the demo's own address works. */
  readonly primaryApiAddress?: string;
  /** How the primary is lost and brought back. The texts are steps of the story. */
  readonly loss: {
    readonly text: string;
    readonly lose: () => Promise<void>;
    readonly returnText: string;
    readonly bringBack: () => Promise<void>;
  };
  /** True if the clusters already replicate; the demo needs fresh ones. */
  readonly wasPlayed: boolean;
  /** Address and token of each cluster, ready to print for a reader who keeps using them. */
  readonly keep: () => Promise<string>;
  /** The latest log lines of the clusters, ready to print. */
  readonly newestLog: () => string;
}

export interface Building {
  readonly title: string;
  /** The first step. */
  readonly text: string;
  /** @throws Error what could not be started or reached */
  start(): Promise<Stage>;
  /** Stops everything that was started, even while `start` runs, and removes its folders. */
  stop(): Promise<void>;
}

/** Stops what was started in reverse order, including what is still starting. */
export class Started {
  /** Each promise resolves to the function that stops the part. */
  readonly #ends: Promise<() => Promise<void>>[] = [];
  #isStopping = false;

  async add<T>(starting: () => Promise<T>, end: (it: T) => Promise<void>): Promise<T> {
    if (this.#isStopping) throw new Error('stopped');
    const it = starting();
    const ending = it.then((one) => () => end(one));
    ending.catch(() => undefined); // Reported by `it`.
    this.#ends.push(ending);
    return it;
  }

  async end(): Promise<void> {
    this.#isStopping = true;
    for (const one of await Promise.allSettled(this.#ends.reverse()))
      if (one.status === 'fulfilled') await one.value();
  }
}
