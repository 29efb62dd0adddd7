/** The Kubernetes cluster of a mount. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Issuer of the tokens that are stored in secrets. */
const OLDER_ISSUER = 'kubernetes/serviceaccount';

/** Texts are empty where a parameter is not set. */
export const kubernetesConfigShape = Type.Object({
  /** URL of the API server. */
  host: Type.String(),
  /** Certificates that the API server must chain to. */
  caPem: Type.String(),
  /** The token that may ask the API server about others. */
  reviewerToken: Type.String(),
  /** PEM; empty if the API server alone verifies tokens. */
  pemKeys: Type.Array(Type.String()),
  /** Whether what is not set comes from the pod in which the service runs. */
  usesOwnPod: Type.Boolean(),
  checksIssuer: Type.Boolean(),
  issuer: Type.String(),
});
export type KubernetesConfig = Shaped<typeof kubernetesConfigShape>;

/** The issuer that tokens must name; undefined for any. */
export const issuerOf = ({ checksIssuer, issuer }: KubernetesConfig): string | undefined => {
  if (!checksIssuer) return undefined;
  return issuer === '' ? OLDER_ISSUER : issuer;
};

/** The files of a pod about its own account. */
export interface PodFiles {
  /** Certificates of the API server. */
  readonly caPem: string;
  readonly token: string;
}

export interface ReviewAccess {
  /** URL of the API server. */
  readonly server: string;
  readonly caPem: string;
  /** The token that asks. */
  readonly bearer: string;
}

/**
 * How the API server is asked about a token. The token of the own pod goes only to a server that proves itself by the
 * authority of the pod's cluster: whoever configures a mount must not receive it.
 * @param jwt about which the server is asked, and which asks itself where there is no other
 */
export const reviewAccess = (
  { host, caPem: given, reviewerToken, usesOwnPod }: KubernetesConfig,
  pod: PodFiles | undefined,
  jwt: string,
): ReviewAccess => {
  const own = usesOwnPod ? pod : undefined;
  const caPem = given === '' ? (own?.caPem ?? '') : given;
  const ownToken = own !== undefined && caPem.trim() === own.caPem.trim() ? own.token : '';
  return {
    server: host.replace(/\/$/, ''),
    caPem,
    bearer: [reviewerToken, ownToken].find((token) => token !== '') ?? jwt,
  };
};
