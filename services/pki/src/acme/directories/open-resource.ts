import type { EdgeMethod } from '@keelson/edge';
import type { AcmeAnswer } from '../answers/acme-answer.ts';
import type { OpenDirectory } from './directory-operations.ts';

/** A request to a resource of an open directory. */
export interface AcmeRequest {
  readonly directory: OpenDirectory;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** A resource that is read without a signature. */
export interface OpenResource {
  readonly path: string;
  readonly summary: string;
  readonly method: EdgeMethod;
  /** Responses that may be cached by anyone carry no nonce. */
  readonly hasNonce: boolean;
  /** Whether it can also be read by POST-as-GET. */
  readonly isReadSigned?: true;
  readonly handle: (request: AcmeRequest) => Promise<AcmeAnswer> | AcmeAnswer;
}
