/** Limits that no deployment has to choose. Tests pass others to `composeWorkspace`. */
export interface WorkspaceLimits {
  /** Variable sets of one organization, those of its projects included. */
  readonly variableSets: number;
  /** Notification configurations of one workspace, project or team. */
  readonly notifications: number;
  /** Open invitations of one organization. */
  readonly invitations: number;
  /**
   * Pieces of work of one organization that may wait for its repository providers; further deliveries are
   * refused with 429. Waiting events of one branch or pull request are one piece.
   */
  readonly repositoryWork: number;
  /** Audit events of one organization, of which the newest are kept: about 50 MB. */
  readonly auditEvents: number;
}

export const WORKSPACE_LIMITS: WorkspaceLimits = {
  variableSets: 1000,
  notifications: 20,
  invitations: 100,
  repositoryWork: 2000,
  auditEvents: 50_000,
};
