/** Names of issuers and keys, and references to them (reference §0.4). */
import { isName } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';

/**
 * A name in the body of a request; "" means none.
 * @throws KeelsonError `request.invalid`
 */
export const checkGivenName = (kind: 'issuer' | 'key', name: string): void => {
  if (name !== '' && !isName(name))
    throw new KeelsonError('request.invalid', {
      text: `${kind} name contained invalid characters`,
    });
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` for a name that is reserved or taken by another issuer or key */
export const checkFreeName = (
  kind: 'issuer' | 'key',
  name: string,
  taken: readonly { readonly id: string; readonly name: string }[],
  ownId = '',
): void => {
  if (name === '') return;
  if (name.toLowerCase() === 'default')
    refuse(`reserved keyword 'default' can not be used as ${kind} name`);
  if (taken.some((other) => other.name === name && other.id !== ownId))
    refuse(`${kind} name already in use`);
};

/**
 * The issuer or key that a request makes the default. Clients know one text for both kinds.
 * @throws KeelsonError `request.invalid` for a reference that is empty, or that nothing has
 */
export const requireNewDefault = <T>(
  reference: string,
  find: (reference: string) => T | undefined,
): T => {
  if (reference === '' || reference === 'default')
    return refuse("Invalid issuer specification; must be non-empty and can't be 'default'.");
  return (
    find(reference) ??
    refuse(
      `Error resolving issuer reference: unable to find PKI issuer for reference: ${reference}`,
    )
  );
};
