/** Passkeys of whoever has signed in. */
import {
  openSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '@keelson/testkit/software-authenticator';
import type { Document, SysHarness } from './sys-harness.ts';

export const PASSKEY_METHODS = 'identity/mfa/method/webauthn';

/** Rules with which a person adds and removes passkeys. */
export const OWN_PASSKEYS = `path "${PASSKEY_METHODS}/own" { capabilities = ["read"] }
path "${PASSKEY_METHODS}/own/*" { capabilities = ["update"] }`;

export interface Enrolment {
  readonly token: string;
  readonly methodId: string;
  readonly origin: string;
  readonly namespace?: string;
  readonly device?: SoftwareAuthenticator;
}

/** Adds the first passkey of an entity. @returns the answer */
export const enrolPasskey = async (
  cluster: SysHarness,
  { token, methodId, origin, namespace = '', device = openSoftwareAuthenticator() }: Enrolment,
): Promise<{ readonly status: number; readonly body: Document }> => {
  const own = (deed: string, body: object) =>
    cluster.call('POST', `${PASSKEY_METHODS}/own/${deed}`, {
      token,
      namespace,
      body: { method_id: methodId, ...body },
    });
  const begun = await own('begin', {});
  if (begun.status !== 200) return begun;
  return own('finish', { credential: device.create(origin, begun.body.data.registration) });
};
