import type { AcmeAnswer } from '../answers/acme-answer.ts';
import type { AcmeRequest } from '../directories/open-resource.ts';
import type { SignedRequest, SignerKind } from './signed-request.ts';

/** Handler of a request whose signature has been verified. */
export type SignedHandler = (
  request: AcmeRequest,
  signed: SignedRequest,
) => Promise<AcmeAnswer> | AcmeAnswer;

export interface SignedResource {
  /** Below the directory: "order/:id". */
  readonly path: string;
  readonly summary: string;
  readonly signer: SignerKind;
  readonly handle: SignedHandler;
}
