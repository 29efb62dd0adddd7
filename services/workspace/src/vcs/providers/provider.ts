/** Differences between the hosting services of repositories: requests, payloads and signatures. */
import type { DeliveredEvent } from '../../workspaces/model/domain/repository-event.ts';
import type { ProviderConnection } from '../../workspaces/model/repository-records.ts';

/** A request to the API of a provider. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request from a provider to the address of a webhook. */
export interface Delivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** How far a run of a commit has come; `attention`: it waits for a person. */
export type CommitState = 'running' | 'attention' | 'success' | 'failure' | 'canceled';

export interface CommitStatus {
  readonly commitSha: string;
  readonly state: CommitState;
  /** Distinguishes the statuses of one commit. */
  readonly context: string;
  readonly description: string;
  /** Where the run is shown. */
  readonly targetUrl: string;
}

export interface NewWebhook {
  readonly url: string;
  readonly secret: string;
}

/** A repository at a provider. */
export interface RemoteRepository {
  readonly connection: ProviderConnection;
  /** `:org/:repo`. */
  readonly identifier: string;
}

export interface Provider {
  /** Source of its configuration versions. */
  readonly source: string;
  /** Whether the sender knows the secret of the webhook. */
  isAuthentic(delivery: Delivery, secret: string): boolean;
  /** Whether the signature covers the body, so that a copy of it is a replay. */
  readonly signsBody: boolean;
  /** Id of the delivery, the same when it is sent again; undefined when it has none. */
  deliveryId(headers: Delivery['headers']): string | undefined;
  /** The provider's name of what happened, for the log of deliveries. */
  eventName(headers: Delivery['headers']): string;
  /**
   * The events of a delivery that can start runs.
   * @param payload parsed JSON
   * @throws KeelsonError `request.invalid` for a payload that lacks required members
   */
  toEvents(eventName: string, payload: unknown): readonly DeliveredEvent[];
  createHook(repository: RemoteRepository, hook: NewWebhook): ProviderRequest;
  /** The webhook's id in the answer to its creation; undefined when there is none. */
  hookIdOf(answer: unknown): string | undefined;
  deleteHook(repository: RemoteRepository, hookId: string): ProviderRequest;
  reportStatus(repository: RemoteRepository, status: CommitStatus): ProviderRequest;
  /** For git over HTTP. */
  username: string;
  cloneUrl(repository: RemoteRepository): string;
  /** Where repositories are fetched over SSH, because their provider takes a signed request for one address only. */
  readonly ssh?: {
    /** Asks for the address. */
    findAddress(repository: RemoteRepository): ProviderRequest;
    /** @throws RepositoryFailure unless the answer names one */
    addressOf(answer: unknown): string;
  };
  commitUrl(repository: RemoteRepository, commitSha: string): string;
}
