import type { Logger } from '@keelson/logging';
import type { Outbound } from '@keelson/outbound';
import type { Mailer } from '../../base/mail/mailer.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import type { OrganizationContribution } from './organization-contributions.ts';
import type { OrganizationSteps } from './organization-steps.ts';
import type { TokenOwners } from './token-owners.ts';

/** Context of the operations of this module. */
export interface IdentityContext extends ServiceContext {
  /** Absent where the installation sends no mail. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
  /** Opens requests to the provider of identities. @param caCertificates PEM; "" for the authorities of the system */
  readonly openOutbound: (this: void, caCertificates: string) => Outbound;
  /** Open invitations of one organization. */
  readonly invitationsLimit: number;
  readonly tokenOwners: TokenOwners;
  readonly organizationSteps: readonly OrganizationSteps[];
  readonly organizationContributions: readonly OrganizationContribution[];
}
