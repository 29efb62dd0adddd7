/** A repository that workspaces are connected to, with its webhook at the provider. */
export interface RepositoryHook {
  /** `whk-…`, the last part of the webhook's address. */
  readonly id: string;
  readonly organizationId: string;
  readonly tokenId: string;
  /** `:org/:repo`. */
  readonly identifier: string;
  /** The provider signs deliveries with it, or sends it along. Never shown. */
  readonly secret: string;
  /** The public address under which the webhook is registered. Null if no public address is configured; then the
   * webhook is not registered at the provider. */
  readonly publicUrl: string | null;
  /** The webhook's id at the provider; null until it is registered. */
  readonly providerId: string | null;
  /** The webhook's id at the provider under an earlier address, removed after the registration; null: none. */
  readonly formerProviderId: string | null;
  /** Value at the latest fetch of the repository; null before the first. */
  readonly defaultBranch: string | null;
  /** Why the webhook is not registered; null: it is, or registration has not been tried yet. */
  readonly hookProblem: string | null;
  /** Why the latest fetch of the repository failed; null: it did not. */
  readonly fetchProblem: string | null;
}

/** Where the provider sends deliveries; null where it does not know an address. */
export const webhookUrl = ({
  publicUrl,
  id,
}: Pick<RepositoryHook, 'publicUrl' | 'id'>): string | null =>
  publicUrl && `${publicUrl}/api/v2/webhooks/repositories/${id}`;
