export interface Repository {
  /** `:org/:repo`. */
  readonly identifier: string;
  readonly branch: string | null;
  readonly 'tags-regex': string | null;
  readonly 'oauth-token-id': string;
  readonly 'ingress-submodules': boolean;
  readonly 'repository-http-url': string | null;
  /** The repository or webhook that cannot be reached, and why. */
  readonly problem: string | null;
}

/** A workspace as the workspace API returns it; members that the console does not use are left out. */
export interface WorkspaceAttributes {
  readonly name: string;
  readonly description: string | null;
  readonly locked: boolean;
  readonly 'locked-reason': string | null;
  readonly 'execution-mode': string;
  readonly 'terraform-version': string | null;
  readonly 'working-directory': string | null;
  readonly 'file-triggers-enabled': boolean;
  readonly 'trigger-patterns': readonly string[];
  readonly 'trigger-prefixes': readonly string[];
  readonly 'vcs-repo': Repository | null;
  readonly 'auto-apply': boolean;
  readonly 'global-remote-state': boolean;
  readonly 'resource-count': number;
  readonly 'tag-names': readonly string[];
  readonly 'created-at': string;
  readonly 'latest-change-at': string;
  readonly 'run-failures': number;
  readonly 'workspace-kpis-runs-count': number;
  readonly permissions: {
    readonly 'can-update': boolean;
    readonly 'can-manage-tags': boolean;
    readonly 'can-lock': boolean;
    readonly 'can-unlock': boolean;
    readonly 'can-force-unlock': boolean;
    readonly 'can-queue-run': boolean;
    readonly 'can-queue-destroy': boolean;
    readonly 'can-read-variable': boolean;
    readonly 'can-update-variable': boolean;
    readonly 'can-read-state-versions': boolean;
    readonly 'can-read-state-outputs': boolean;
    readonly 'can-create-state-versions': boolean;
    readonly 'can-destroy': boolean;
    readonly 'can-force-delete': boolean | null;
  };
}
