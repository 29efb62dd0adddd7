import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import type { Organization } from '../model/domain/organization.ts';
import type { User } from '../model/user-records.ts';

/** Steps of a later module when an organization or a team changes. */
export interface OrganizationSteps {
  /** Runs in the transaction that creates the organization. May refuse by throwing. */
  onOrganizationCreated?(tx: Transaction, organization: Organization): Promise<void>;
  /** Runs in the transaction that updates the organization. May refuse by throwing. */
  onOrganizationUpdated?(tx: Transaction, before: Organization, after: Organization): Promise<void>;
  /**
   * Runs before the transaction that deletes the organization, for work that takes several
   * transactions.
   */
  beforeOrganizationRemoved?(principal: Principal, organizationName: string): Promise<void>;
  /** Runs in the transaction that deletes the organization. May refuse by throwing. */
  onOrganizationRemoved?(tx: Transaction, organization: Organization): Promise<void>;
  /** Runs in the transaction that erases a user, who is still stored. */
  onUserErased?(tx: Transaction, user: User): Promise<void>;
}
