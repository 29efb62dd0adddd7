import { KeelsonError } from '@keelson/errors';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * How many authorities may follow below a new one (RFC 5280 §4.2.1.9).
 * @param requested -1: as many as the issuer allows
 * @param issuerPathLength undefined means no limit
 * @returns undefined for no limit
 * @throws KeelsonError `request.invalid`
 */
export const decidePathLength = (
  requested: number,
  issuerPathLength: number | undefined,
): number | undefined => {
  if (issuerPathLength === undefined) return requested < 0 ? undefined : requested;
  if (issuerPathLength === 0)
    refuse(
      'signing certificate has a max path length of zero, and cannot issue further CA certificates',
    );
  if (requested >= issuerPathLength)
    refuse(
      `max_path_length ${requested} is not below that of the signing certificate, which is ${issuerPathLength}`,
    );
  return requested < 0 ? issuerPathLength - 1 : requested;
};
