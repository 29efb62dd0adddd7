import { readSession } from './session.ts';

/** The address of a mount for clients that send no header, with the namespace of the session in its path. */
export const mountAddress = (mount: string): string => {
  const { namespace } = readSession();
  return `${location.origin}/v1/${namespace === '' ? '' : `${namespace}/`}${mount}`;
};
