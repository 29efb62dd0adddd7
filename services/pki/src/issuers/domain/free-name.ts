import { KeelsonError } from '@keelson/errors';

/** @throws KeelsonError `request.invalid` for a name that is reserved or taken */
export const checkFreeName = (
  kind: 'issuer' | 'key',
  name: string,
  taken: readonly { readonly id: string; readonly name: string }[],
  ownId = '',
): void => {
  if (name === '') return;
  if (name.toLowerCase() === 'default')
    throw new KeelsonError('request.invalid', {
      text: `reserved keyword 'default' can not be used as ${kind} name`,
    });
  if (taken.some((other) => other.name === name && other.id !== ownId))
    throw new KeelsonError('request.invalid', { text: `${kind} name already in use` });
};
