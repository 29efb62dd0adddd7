/** What the answering thread and a maker thread say to each other; many at a time, a message is dear. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
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

/** Errors lose their class on the way. */
export type Refusal =
  | { readonly code: ErrorCode; readonly params: ErrorParams }
  | { readonly thrown: unknown };

export const toRefusal = (thrown: unknown): Refusal =>
  thrown instanceof KeelsonError ? { code: thrown.code, params: thrown.params } : { thrown };

export const toThrown = (refusal: Refusal): unknown =>
  'code' in refusal ? new KeelsonError(refusal.code, refusal.params) : refusal.thrown;

export type JobResult =
  | { readonly id: number; readonly made: MadeCertificate }
  | { readonly id: number; readonly refusal: Refusal };

/** "up": the thread has loaded. */
export type FromThread = 'up' | readonly JobResult[];
