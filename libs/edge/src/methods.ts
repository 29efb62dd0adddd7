/** The methods of requests, and the refusal of one that a path does not have. */
import { type ErrorParams, KeelsonError } from '@keelson/errors';

/** In the order in which a refusal names them. */
const METHODS = ['GET', 'HEAD', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type EdgeMethod = (typeof METHODS)[number];

const KNOWN: ReadonlySet<string> = new Set(METHODS);

export const isEdgeMethod = (method: string): method is EdgeMethod => KNOWN.has(method);

/**
 * The refusal of a method.
 * @param served by the path that was asked; GET serves HEAD too. Without them: all methods but OPTIONS,
 *   which few paths have
 * @returns `request.unsupported_operation`, whose parameter `allowed` is for the header `Allow`
 */
export const methodRefused = (served?: Iterable<EdgeMethod>): KeelsonError => {
  const names = new Set<EdgeMethod>(served ?? METHODS.filter((method) => method !== 'OPTIONS'));
  if (names.has('GET')) names.add('HEAD');
  const allowed = METHODS.filter((method) => names.has(method)).join(', ');
  return new KeelsonError('request.unsupported_operation', { allowed });
};

/** The header that RFC 9110 §15.5.6 wants with 405; none with other refusals. */
export const allowHeader = ({
  httpStatus,
  params: { allowed },
}: {
  readonly httpStatus: number;
  readonly params: ErrorParams;
}): { readonly allow?: string } =>
  httpStatus === 405 && typeof allowed === 'string' ? { allow: allowed } : {};
