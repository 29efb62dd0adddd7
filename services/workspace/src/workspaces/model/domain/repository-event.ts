/** Events in a repository, as deliveries of its provider report them. */

/** Who caused it, with the names and addresses at the provider. */
export interface Sender {
  readonly username: string;
  readonly avatarUrl: string | null;
  readonly htmlUrl: string | null;
}

interface Sent {
  /** Full commit hash; null if the provider does not send it. */
  readonly commitSha: string | null;
  readonly sender: Sender | null;
}

export type RepositoryEvent =
  /** A workspace was connected to the repository: its branch is fetched for the first time. */
  | { readonly kind: 'connection'; readonly workspaceId: string }
  | (Sent & {
      readonly kind: 'push';
      readonly branch: string;
      /** The branch's previous commit; null for a new branch. */
      readonly baseSha: string | null;
      readonly compareUrl: string | null;
    })
  | (Sent & { readonly kind: 'tag'; readonly tag: string })
  | (Sent & {
      readonly kind: 'pull-request';
      readonly number: number;
      readonly title: string;
      readonly body: string;
      readonly url: string | null;
      readonly sourceBranch: string;
      readonly targetBranch: string;
      /** The merge base, or the target's commit; null if the provider does not send it. */
      readonly baseSha: string | null;
    });

/** An event that a provider reports. */
export type DeliveredEvent = Exclude<RepositoryEvent, { readonly kind: 'connection' }>;
