const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Services make the keys, so an invalid key is a bug. @throws Error */
export const requireKey = (key: string): string => {
  if (!KEY.test(key)) throw new Error(`${key} is no key of an object`);
  return key;
};
