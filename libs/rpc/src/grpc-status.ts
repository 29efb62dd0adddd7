/**
 * Converts KeelsonErrors to gRPC statuses and back. The status code is for tools; the metadata contains the
 * error.
 */

import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { ERROR_CODES, type ErrorCode, KeelsonError } from '@keelson/errors';
import { fromWireError, toWireError } from './wire-error.ts';

const CODE_KEY = 'keelson-error-code';
const DETAILS_KEY = 'keelson-error-details-bin';

const TRANSPORT_ERRORS: Readonly<Partial<Record<status, ErrorCode>>> = {
  [status.CANCELLED]: 'request.cancelled',
  [status.DEADLINE_EXCEEDED]: 'request.deadline_exceeded',
  [status.UNAVAILABLE]: 'edge.backend_unavailable',
};

/** Converts an error thrown by a handler to the status that ends the call. */
export const toGrpcStatus = (thrown: unknown): StatusObject => {
  const { code, message, detailsJson } = toWireError(thrown);
  const metadata = new Metadata();
  metadata.set(CODE_KEY, code);
  metadata.set(DETAILS_KEY, Buffer.from(detailsJson));
  return { code: status[ERROR_CODES[code].grpc], details: message, metadata };
};

/**
 * The error that ended a call. A status without Keelson metadata comes from the transport itself.
 * @param service the called service, named in `edge.backend_unavailable`
 */
export const fromGrpcStatus = (error: ServiceError, service: string): KeelsonError => {
  const code = error.metadata?.get(CODE_KEY)[0];
  if (typeof code === 'string') {
    return fromWireError(code, String(error.metadata.get(DETAILS_KEY)[0] ?? ''));
  }
  const transportError = TRANSPORT_ERRORS[error.code] ?? 'internal';
  const params = transportError === 'edge.backend_unavailable' ? { service } : {};
  return new KeelsonError(transportError, params, { cause: error });
};
