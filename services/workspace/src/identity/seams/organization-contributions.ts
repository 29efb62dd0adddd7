import type { Resource, ResourceType } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { OrganizationAccessResult } from '../access/organization-access-operations.ts';

/** Entitlements that depend on the records of an organization. */
export type ContributedEntitlements = Readonly<{ operations?: boolean }>;

export interface OrganizationInclude {
  /** Types of the resources. */
  readonly types: readonly ResourceType[];
  load(this: void, reads: Reads, access: OrganizationAccessResult): Promise<readonly Resource[]>;
}

/** Parts that a later module adds to organization documents. */
export interface OrganizationContribution {
  /** Entitlements that depend on the organization's records; attributes of its entitlement set. */
  entitlements?(reads: Reads, organizationId: string): Promise<ContributedEntitlements>;
  /** By name in `include`. */
  readonly includes?: Readonly<Record<string, OrganizationInclude>>;
}
