/** The calls between the first thread, which owns the data folder, and the others that serve clients, too. */
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '@keelson/config';
import type {
  CountedRequest,
  Counting,
  EdgePorts,
  RateWindow,
  SealRequest,
  ServerCertificate,
  SiblingAnswers,
  SiblingGateways,
} from '@keelson/gateway-service';
import type { LeaseRecords } from '@keelson/locks';
import type { standaloneConfig } from '../config.ts';
import type { OwnRunner } from '../own-runner.ts';
import type { StoreMemories } from '../stores.ts';

/** All that a thread is given when it starts. */
export interface ThreadPlan {
  readonly config: Config<typeof standaloneConfig>;
  /** Path of the data folder. */
  readonly folder: string;
  readonly memories: StoreMemories;
  /** To the thread that writes the files. */
  readonly writer: MessagePort;
  readonly certificate: ServerCertificate;
  readonly runner: Omit<OwnRunner, 'prepared'>;
  /** Number of threads that serve clients, with the first one. */
  readonly threads: number;
}

/** Functions of a thread that the first one calls. */
export interface ServingThreadCalls extends SiblingAnswers {
  /** Resolves when the services can answer. */
  prepare(none: undefined): Promise<void>;
  listen(ports: EdgePorts): Promise<void>;
  renew(certificate: ServerCertificate): Promise<void>;
  reload(none: undefined): Promise<void>;
  /** Finishes requests in progress. */
  stop(none: undefined): Promise<void>;
}

/** The other gateways, asked by `ask`. */
export const siblingsBy = (
  gateways: number,
  counting: Counting,
  ask: (question: Question) => Promise<readonly unknown[]>,
): SiblingGateways => ({
  gateways,
  counting,
  seal: (given) => ask({ name: 'seal', given }) as ReturnType<SiblingGateways['seal']>,
  areOpen: () => ask({ name: 'isOpen' }) as ReturnType<SiblingGateways['areOpen']>,
  faults: () => ask({ name: 'faults' }) as ReturnType<SiblingGateways['faults']>,
  metrics: () => ask({ name: 'metrics' }) as ReturnType<SiblingGateways['metrics']>,
  recentRequests: () =>
    ask({ name: 'recentRequests' }) as ReturnType<SiblingGateways['recentRequests']>,
});

/** A question to all threads but the one that asks. */
export interface Question {
  readonly name: keyof SiblingAnswers;
  readonly given?: SealRequest;
}

type Lease<Name extends 'acquire' | 'renew' | 'release'> = Parameters<LeaseRecords[Name]>;

/** Functions of the first thread that the others call. */
export interface FirstThreadCalls {
  acquireLease(lease: Lease<'acquire'>): ReturnType<LeaseRecords['acquire']>;
  renewLease(lease: Lease<'renew'>): ReturnType<LeaseRecords['renew']>;
  releaseLease(lease: Lease<'release'>): ReturnType<LeaseRecords['release']>;
  count(request: { readonly window: RateWindow; readonly caller: string }): Promise<CountedRequest>;
  askOthers(question: Question): Promise<readonly unknown[]>;
}
