/**
 * The bundle with which a primary admits a secondary: the primary's address, the keys of the link, and the
 * key shares that apply from then on. Like a root token, it gives access to all data.
 */
import { KeelsonError } from '@keelson/errors';
import { ShapeCheck, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { Clean } from 'typebox/value';

const KINDS = ['performance', 'dr'] as const;
export type Kind = (typeof KINDS)[number];

/** Format of the bundle. One of another format is refused by its number, whatever else is in it. */
export const BUNDLE_FORMAT = 1;

export const activationBundleShape = Type.Object({
  format: Type.Literal(BUNDLE_FORMAT),
  kind: Type.Enum(KINDS),
  /** Software version of the primary. */
  version: Type.String(),
  clusterId: Type.String(),
  secondaryId: Type.String(),
  primaryClusterAddress: Type.String(),
  primaryPublicKey: Type.String(),
  /** Absent when the secondary generated its own keys. */
  secondaryKeys: Type.Optional(
    Type.Object({ publicKey: Type.String(), privateKey: Type.String() }),
  ),
  seal: Type.Object({
    shares: Type.Integer(),
    threshold: Type.Integer(),
    /** Root key wrapped with the key that the primary's shares yield; base64. */
    wrappedForShares: Type.String(),
  }),
  expiresAtMs: Type.Number(),
});
export type ActivationBundle = Shaped<typeof activationBundleShape>;

const check = new ShapeCheck(activationBundleShape);

const formatOf = (held: unknown): unknown =>
  typeof held === 'object' && held !== null && 'format' in held ? held.format : undefined;

/** @throws KeelsonError `request.invalid` */
export const requireBundleFormat = (format: number): void => {
  if (format !== BUNDLE_FORMAT)
    throw new KeelsonError('request.invalid', {
      text: `the secondary activation token has format ${format}, this version of Keelson reads format ${BUNDLE_FORMAT}`,
    });
};

/**
 * Validates the content of a token as the bundle of a primary, because anyone can wrap anything. Fields that only a
 * newer primary knows are left out, so that its version is what is refused.
 * @throws KeelsonError `request.invalid`
 */
export const toActivationBundle = (held: unknown): ActivationBundle => {
  const format = formatOf(held);
  if (Number.isInteger(format)) requireBundleFormat(Number(format));
  const known = Clean(activationBundleShape, structuredClone(held));
  if (check.findFault(known) !== undefined)
    throw new KeelsonError('request.invalid', {
      text: 'the token is not a secondary activation token',
    });
  return known as ActivationBundle;
};

/** @throws KeelsonError `request.invalid` when the bundle is for another kind, or has expired */
export const requireUsable = (
  bundle: ActivationBundle,
  here: { readonly kind: Kind; readonly nowMs: number },
): ActivationBundle => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (bundle.kind !== here.kind)
    refuse(`the token is for ${bundle.kind} replication, not for ${here.kind} replication`);
  if (bundle.expiresAtMs <= here.nowMs) refuse('the secondary activation token is expired');
  return bundle;
};
