import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { OrganizationAccessResult } from '../access/organization-access-operations.ts';

/** Parts that a later module adds to organization documents. */
export interface OrganizationContribution {
  /** Entitlements that depend on the organization's records; attributes of its entitlement set. */
  entitlements?(reads: Reads, organizationId: string): Promise<Readonly<Record<string, boolean>>>;
  /** Loaders of included resources, by their name in `include`. */
  readonly includes?: Readonly<
    Record<string, (reads: Reads, access: OrganizationAccessResult) => Promise<readonly Resource[]>>
  >;
}
