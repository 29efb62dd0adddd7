export type GrpcStatusName =
  | 'ABORTED'
  | 'ALREADY_EXISTS'
  | 'CANCELLED'
  | 'DEADLINE_EXCEEDED'
  | 'FAILED_PRECONDITION'
  | 'INTERNAL'
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAUTHENTICATED'
  | 'UNAVAILABLE'
  | 'UNIMPLEMENTED';

export interface ErrorMeaning {
  readonly grpc: GrpcStatusName;
  readonly http: number;
  /** The same request may succeed later without change. */
  readonly retry: boolean;
  /** Text for the client; `{name}` is replaced by a parameter. */
  readonly message: string;
}
