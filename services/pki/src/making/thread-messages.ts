/** What the answering thread and a maker thread say to each other; many at a time, a message is dear. */
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
import type { Refusal } from '../threads/refusal.ts';
import type { CertificateOrder, MadeCertificate } from './make-certificate.ts';

/** Stands for an issuer or a role that the thread was told; 0 for none. */
export type DefinitionId = number;

export interface Job {
  readonly id: number;
  readonly issuerId: DefinitionId;
  readonly roleId: DefinitionId;
  readonly order: CertificateOrder;
}

export interface ToThread {
  /** Issuers and roles that the jobs name for the first time. */
  readonly issuers: readonly (readonly [DefinitionId, SigningIssuer])[];
  readonly roles: readonly (readonly [DefinitionId, Role])[];
  readonly jobs: readonly Job[];
  /** Definitions that no job will name again. */
  readonly forgotten: readonly DefinitionId[];
}

export type JobResult =
  | { readonly id: number; readonly made: MadeCertificate }
  | { readonly id: number; readonly refusal: Refusal };

/** "up": the thread has loaded. */
export type FromThread = 'up' | readonly JobResult[];
