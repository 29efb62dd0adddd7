const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Keys are made by the services, so a bad one is a fault of the program. @throws Error */
export const requireKey = (key: string): string => {
  if (!KEY.test(key)) throw new Error(`${key} is no key of an object`);
  return key;
};
