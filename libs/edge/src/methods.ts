/** Request methods, and the error for a method that a path does not serve. */
import { type ErrorParams, KeelsonError } from '@keelson/errors';

/** In the order in which errors list them. */
const METHODS = ['GET', 'HEAD', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type EdgeMethod = (typeof METHODS)[number];

const KNOWN: ReadonlySet<string> = new Set(METHODS);

export const isEdgeMethod = (method: string): method is EdgeMethod => KNOWN.has(method);

/**
 * The error for a method.
 * @param served methods of the requested path; GET implies HEAD. Absent means all methods except OPTIONS, which
 * few paths have
 * @returns `request.unsupported_operation`, whose parameter `allowed` is the value of the `Allow` header
 */
export const methodRefused = (served?: Iterable<EdgeMethod>): KeelsonError => {
  const names = new Set<EdgeMethod>(served ?? METHODS.filter((method) => method !== 'OPTIONS'));
  if (names.has('GET')) names.add('HEAD');
  const allowed = METHODS.filter((method) => names.has(method)).join(', ');
  return new KeelsonError('request.unsupported_operation', { allowed });
};

/** The header that RFC 9110 §15.5.6 requires with status 405; empty for other errors. */
export const allowHeader = ({
  httpStatus,
  params: { allowed },
}: {
  readonly httpStatus: number;
  readonly params: ErrorParams;
}): { readonly allow?: string } =>
  httpStatus === 405 && typeof allowed === 'string' ? { allow: allowed } : {};
